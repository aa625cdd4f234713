/**
 * Four kinds of tests. `unit` files run side by side. `servers` start real servers and other programs and wait most of
 * the time: three files at a time. `alone` are those of them that measure (memory, shares of a core, how soon) or that
 * load the machine; `pages` draw in a real browser, which takes all the cores that there are. Of these two, one file at
 * a time. `npm test` runs `servers` and `alone` beside the other two (tests/run.ts).
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongestFirst from "./tests/support/longestFirst.ts";

const pages = ["tests/e2e/**/*.test.ts"];
const alone = [
  "tests/**/*.serial.test.ts",
  "tests/integration/{reclaim,shares,storeAway,threadMemory}.test.ts",
  "tests/integration/parked/*.test.ts",
  "tests/load-tests/soak.test.ts",
  "tests/ops/{dockerfile,slowMotion}.test.ts",
];
const servers = ["tests/{integration,ops,load-tests}/**/*.test.ts"];
const patient = { testTimeout: 360_000, hookTimeout: 120_000 };
const oneByOne = { maxWorkers: 1, fileParallelism: false, ...patient };
const withClient = { globalSetup: "./tests/support/builtClient.ts" };

export default defineConfig({
  test: {
    reporters: ["default", "./tests/support/countsReporter.ts"],
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // Hundreds of servers and commands are started: each would compile the same modules, half of what a short one takes.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("./build/cache/compiled", import.meta.url)) },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: [...pages, ...servers, ...alone],
          maxWorkers: "100%", // The default leaves one core idle, and there are two.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "pages", include: pages, ...oneByOne, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: "servers",
          include: servers,
          exclude: alone,
          maxWorkers: 3,
          ...patient,
          ...withClient,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: alone, ...oneByOne, ...withClient, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
