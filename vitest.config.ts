/**
 * Four kinds of tests. `unit` files run side by side, each in a process of its own. `pure` files do, too, but change
 * nothing outside of themselves, so one process runs many: each costs 0.8 s of processor less. `servers` start real
 * servers and other programs and wait most of the time; `pages` draw in a real browser, which takes all the cores that
 * there are. Of these two, one file at a time. `npm test` runs `servers` beside the others (tests/run.ts); `unit` and
 * `pure` are the last of those, as they fill what cores they find.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongestFirst from "./tests/support/longestFirst.ts";

const pages = ["tests/e2e/**/*.test.ts"];
const servers = ["tests/{integration,ops,load-tests}/**/*.test.ts", "tests/**/*.serial.test.ts"];
const pure = [
  "tests/{architecture,parity,physics,shared,statics}/**/*.test.ts",
  "tests/server/{meshing,sim}/**/*.test.ts",
];
const sideBySide = {
  maxWorkers: "100%", // The default leaves one core idle, and there are two.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  sequence: { groupOrder: 1 },
};
const oneByOne = { maxWorkers: 1, fileParallelism: false, testTimeout: 360_000, hookTimeout: 120_000 };

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
          exclude: [...pages, ...servers, ...pure],
          ...sideBySide,
        },
      },
      { extends: true, test: { name: "pure", include: pure, isolate: false, ...sideBySide } },
      {
        extends: true,
        test: {
          name: "pages",
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
          include: servers,
          globalSetup: "./tests/support/builtClient.ts",
          ...oneByOne,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
