/**
 * The last line of a test run and its exit code, computed from the reports of the run's parts. They always agree: the
 * exit code is 0 if and only if 0 tests failed.
 */
import { noCounts, type TestCounts } from "./countsReporter.ts";

interface Outcome {
  counts: TestCounts;
  /** Every Vitest's exit code was 0. */
  tested: boolean;
  /** Number of checks (format, unused code, types); each counts as one test. */
  checks: number;
  checksPassed: number;
}

/** @param runs of several Vitests; undefined: one that ended before it could report, which counts as one failure */
export function together(runs: readonly (TestCounts | undefined)[]): TestCounts {
  const sum = noCounts();
  for (const run of runs) {
    sum.passed += run?.passed ?? 0;
    sum.failed += run?.failed ?? 1;
    sum.skipped += run?.skipped ?? 0;
    sum.skippedNames.push(...(run?.skippedNames ?? []));
    sum.failures.push(...(run?.failures ?? ["a Vitest ended before it could report"]));
    sum.files.push(...(run?.files ?? []));
  }
  return sum;
}

export function closingLine({ counts, tested, checks, checksPassed }: Outcome): { line: string; exitCode: 0 | 1 } {
  const { passed, failed, skipped } = counts;
  const nothingRan = passed + failed === 0;
  // A failure that Vitest knows of and the counts do not, or a run without tests, is one failure.
  const failures = Math.max(failed, tested && !nothingRan ? 0 : 1) + checks - checksPassed;
  const line = `${passed + checksPassed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return { line, exitCode: failures === 0 ? 0 : 1 };
}
