/** CI relies on the closing line and the exit code: they must agree, and a run without tests must fail. */
import { expect, test } from "vitest";
import { closingLine, together } from "./closingLine.ts";

const counts = (passed: number, failed: number, skipped: number) => ({
  passed,
  failed,
  skipped,
  skippedNames: Array.from({ length: skipped }, (_, i) => `skipped ${i}`),
  failures: Array.from({ length: failed }, (_, i) => `failed ${i}`),
  files: [{ path: "a.test.ts", project: "unit", seconds: passed, cpu: passed }],
});
const checked = { checks: 3, checksPassed: 3 };
const mistyped = { checks: 3, checksPassed: 2 };
const NO_REPORT = together([undefined]);

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
  ["no report", { counts: NO_REPORT, tested: false, ...checked }, "3 passed, 1 failed", 1],
  ["no report but a good exit code", { counts: NO_REPORT, tested: true, ...checked }, "3 passed, 1 failed", 1],
  ["nothing but skips", { counts: counts(0, 0, 5), tested: true, ...checked }, "3 passed, 1 failed, 5 skipped", 1],
  [
    "a part without checks",
    { counts: counts(4, 0, 0), tested: true, checks: 0, checksPassed: 0 },
    "4 passed, 0 failed",
    0,
  ],
  [
    "one of two without a report",
    { counts: together([counts(4, 0, 0), undefined]), tested: true, ...checked },
    "7 passed, 1 failed",
    1,
  ],
] as const)("%s", (_, outcome, line, exitCode) => {
  expect(closingLine(outcome)).toEqual({ line, exitCode });
});

test("several runs count as one", () => {
  expect(together([counts(3, 1, 1), counts(4, 0, 1), undefined])).toEqual({
    passed: 7,
    failed: 2,
    skipped: 2,
    skippedNames: ["skipped 0", "skipped 0"],
    failures: ["failed 0", "a Vitest ended before it could report"],
    files: [3, 4].map((seconds) => ({ path: "a.test.ts", project: "unit", seconds, cpu: seconds })),
  });
});
