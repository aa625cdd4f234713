/**
 * The last line of a test run and its exit code, from what the parts of the run say. They cannot disagree: 0 failed is
 * exit code 0 and nothing else is.
 */
import { noCounts, type TestCounts } from "./countsReporter.ts";

interface Outcome {
  counts: TestCounts;
  /** Every Vitest's exit code was 0. */
  tested: boolean;
  /** Checks (form, unused code, types) that there are; each counts as one test. */
  checks: number;
  checksPassed: number;
}

/** @param runs of several Vitests; undefined, one that ended before it could report, is one failure */
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
  // A failure that Vitest knows of and the counts do not, or a run in which nothing ran, is one failure.
  const failures = Math.max(failed, tested && !nothingRan ? 0 : 1) + checks - checksPassed;
  const line = `${passed + checksPassed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  return { line, exitCode: failures === 0 ? 0 : 1 };
}
