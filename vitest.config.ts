/**
 * Two kinds of tests. `unit` files run side by side. `serial` files start real servers, browsers and other programs,
 * measure time, and run one at a time after all of the others, so that on two cores a deadline means what it says.
 */
import { defineConfig } from "vitest/config";

const serial = ["tests/{integration,e2e,ops,load-tests}/**/*.test.ts", "tests/**/*.serial.test.ts"];

export default defineConfig({
  test: {
    reporters: ["default", "./tests/support/countsReporter.ts"],
    pool: "forks",
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["tests/**/*.test.ts"],
          exclude: serial,
          maxWorkers: "100%", // The default leaves one core idle, and there are two.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "serial",
          include: serial,
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 360_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
