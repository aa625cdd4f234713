/**
 * Defines five kinds of tests.
 *
 * - `pure` files only compute and change no global state, so one process runs many of them; each saves 0.8 s of CPU
 * time.
 * - `alone` files only compute, too, but change global state: each has a process of its own.
 * - `unit` files may start threads and programs and may read the clock. They run in parallel, many in a process, and
 * restore the state that they change.
 * - `servers` start real servers and wait most of the time.
 * - `pages` draw in a real browser.
 *
 * `servers` and `pages` run one file after another, in a process that loads the server and compiles its kernel once.
 * `npm test` runs `servers` beside `pages`, then `unit`. `pure` and `alone` fill the remaining cores at a low priority
 * (tests/run.ts).
 */
import { setPriority } from "node:os";
import { defineConfig } from "vitest/config";
import { bundledThreads } from "./tests/support/run/bundledThreads.ts";
import LongestFirst from "./tests/support/run/longestFirst.ts";

const pages = ["tests/e2e/**/*.test.ts"];
const servers = ["tests/{integration,ops,load-tests}/**/*.test.ts", "tests/**/*.serial.test.ts"];
const pure = [
  "tests/{architecture,determinism,parity,physics,report,shared,statics}/**/*.test.ts",
  "tests/server/{meshing,sim}/**/*.test.ts",
];
const alone = ["tests/simulation/**/*.test.ts"];
const sideBySide = {
  maxWorkers: "100%", // The default leaves one core idle, and there are only two.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  sequence: { groupOrder: 1 },
};
/**
 * These tests do not read the clock, so they pass with any amount of CPU time (once a thirtieth of a core for fifteen
 * minutes). The limit only stops hung tests.
 */
const patient = { ...sideBySide, testTimeout: 1_800_000, hookTimeout: 1_800_000 };
const oneByOne = {
  maxWorkers: 1,
  fileParallelism: false,
  testTimeout: 360_000,
  hookTimeout: 360_000,
  // Without collections that only save memory: 6 % less CPU time with servers, but 3 % more in tests that compute.
  execArgv: ["--no-memory-reducer", "--initial-heap-size=400"],
};

// Started processes inherit it.
if (process.env.TEST_NICE) setPriority(Number(process.env.TEST_NICE));

export default defineConfig({
  plugins: [bundledThreads()],
  test: {
    reporters: ["default", "./tests/support/run/countsReporter.ts"],
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    setupFiles: ["./tests/support/run/cpuTime.ts", "./tests/support/run/removeFolders.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          isolate: false,
          include: ["tests/**/*.test.ts"],
          exclude: [...pages, ...servers, ...pure, ...alone],
          ...sideBySide,
        },
      },
      { extends: true, test: { name: "pure", include: pure, isolate: false, ...patient } },
      { extends: true, test: { name: "alone", include: alone, ...patient } },
      {
        extends: true,
        test: {
          name: "pages",
          isolate: false,
          include: pages,
          globalSetup: "./tests/e2e/sharedServer.ts",
          ...oneByOne,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "servers",
          isolate: false,
          include: servers,
          // Polled tests mostly read the metrics, which takes some milliseconds.
          expect: { poll: { interval: 200 } },
          globalSetup: "./tests/support/builtClient.ts",
          ...oneByOne,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
