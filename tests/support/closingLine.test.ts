/** CI believes the closing line and the exit code: they must agree, and a run that tested nothing must fail. */
import { expect, test } from "vitest";
import { closingLine } from "./closingLine.ts";

const counts = (passed: number, failed: number, skipped: number) => ({ passed, failed, skipped, skippedNames: [] });
const checked = { checks: 3, checksPassed: 3 };
const mistyped = { checks: 3, checksPassed: 2 };

test.each([
  ["all well", { counts: counts(10, 0, 0), tested: true, ...checked }, "13 passed, 0 failed", 0],
  [
    "skipped tests are named",
    { counts: counts(9, 0, 2), tested: true, ...checked },
    "12 passed, 0 failed, 2 skipped",
    0,
  ],
  ["a failing test", { counts: counts(9, 1, 0), tested: false, ...checked }, "12 passed, 1 failed", 1],
  ["a failing check", { counts: counts(10, 0, 0), tested: true, ...mistyped }, "12 passed, 1 failed", 1],
  [
    "Vitest fails without a failing test",
    { counts: counts(9, 0, 0), tested: false, ...checked },
    "12 passed, 1 failed",
    1,
  ],
  ["no report", { counts: undefined, tested: false, ...checked }, "3 passed, 1 failed", 1],
  ["no report but a good exit code", { counts: undefined, tested: true, ...checked }, "3 passed, 1 failed", 1],
  ["nothing but skips", { counts: counts(0, 0, 5), tested: true, ...checked }, "3 passed, 1 failed, 5 skipped", 1],
] as const)("%s", (_, outcome, line, exitCode) => {
  expect(closingLine(outcome)).toEqual({ line, exitCode });
});
