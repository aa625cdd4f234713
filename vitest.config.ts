/**
 * Five kinds of tests. `pure` files only compute and change nothing outside of themselves, so one process runs many:
 * each costs 0.8 s of processor less. `alone` files only compute, too, each in a process of its own. `unit` files may
 * start threads and programs, and may look at the clock; they run side by side, many in a process: what they change in
 * it they put back. `servers` start real servers and wait most of the time; `pages` draw in a real browser. Of these
 * two, one file at a time, one after another in a process that loads the server and compiles its kernel once. `npm
 * test` runs `servers` beside `pages`, then `unit`; what only computes fills the cores that those leave, at a low
 * priority (tests/run.ts).
 */
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongestFirst from "./tests/support/longestFirst.ts";

const pages = ["tests/e2e/**/*.test.ts"];
const servers = ["tests/{integration,ops,load-tests}/**/*.test.ts", "tests/**/*.serial.test.ts"];
const pure = [
  "tests/{architecture,parity,physics,shared,statics}/**/*.test.ts",
  "tests/server/{meshing,sim}/**/*.test.ts",
];
const alone = ["tests/{determinism,report,simulation}/**/*.test.ts"];
const sideBySide = {
  maxWorkers: "100%", // The default leaves one core idle, and there are two.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  sequence: { groupOrder: 1 },
};
/**
 * Nothing in them looks at the clock: however little of a processor they get (a thirtieth of a core for fifteen
 * minutes, once), they come to the same. The limit is for what hangs.
 */
const patient = { ...sideBySide, testTimeout: 1_800_000, hookTimeout: 1_800_000 };
const oneByOne = { maxWorkers: 1, fileParallelism: false, testTimeout: 360_000, hookTimeout: 360_000 };

// Processes that are started from here have it, too.
if (process.env.TEST_NICE) setPriority(Number(process.env.TEST_NICE));

export default defineConfig({
  test: {
    reporters: ["default", "./tests/support/countsReporter.ts"],
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    setupFiles: ["./tests/support/cpuTime.ts"],
    // Hundreds of servers and commands are started: each would compile the same modules, half of what a short one
    // takes.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("./build/cache/compiled", import.meta.url)) },
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
          globalSetup: "./tests/e2e/shared.ts",
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
          // What is asked again and again is most often the metrics, which take some milliseconds.
          expect: { poll: { interval: 200 } },
          globalSetup: "./tests/support/builtClient.ts",
          ...oneByOne,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
