/**
 * Writes the counts of a test run and the times of its files as JSON to the file that TEST_COUNTS_FILE names, for the
 * closing line of tests/run.ts. Anything that makes Vitest's exit code non-zero counts as failed: a file that cannot be
 * loaded, a hook that throws, an error outside of any test.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { TestFile } from "./times.ts";

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
  /** Full names of skipped tests, with the reason if the test gave one. */
  skippedNames: string[];
  /** Place and first line of the message of each failure. */
  failures: string[];
  files: TestFile[];
}

/** @param errors from Vitest; empty if a test was cut off */
const failureOf = (where: string, errors: readonly { message?: string }[] = []): string =>
  `${where}: ${errors[0]?.message?.split("\n")[0] ?? "cut off before it ended"}`;

function fileOf(module: TestModule): TestFile {
  const { prepareDuration, environmentSetupDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const ms = prepareDuration + environmentSetupDuration + collectDuration + setupDuration + duration;
  return {
    path: module.relativeModuleId,
    project: module.project.name,
    seconds: ms / 1000,
    cpu: module.meta().cpu ?? 0,
  };
}

export const noCounts = (): TestCounts => ({
  passed: 0,
  failed: 0,
  skipped: 0,
  skippedNames: [],
  failures: [],
  files: [],
});

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const path = process.env.TEST_COUNTS_FILE;
    if (!path) return;
    const counts = noCounts();
    const fail = (where: string, errors?: readonly { message?: string }[]): void => {
      counts.failures.push(failureOf(where, errors));
    };
    for (const error of unhandledErrors) fail("outside of any test", [error as { message?: string }]);
    for (const module of modules) {
      const file = module.relativeModuleId;
      counts.files.push(fileOf(module));
      for (const error of module.errors()) fail(file, [error]);
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) fail(`${file} > ${suite.fullName}`, [error]);
      for (const test of module.children.allTests()) {
        const result = test.result();
        const where = `${file} > ${test.fullName}`;
        if (result.state === "passed") counts.passed++;
        else if (result.state === "skipped") {
          counts.skipped++;
          counts.skippedNames.push(`${where}${result.note ? ` (${result.note})` : ""}`);
        } else fail(where, result.errors); // "pending": the run was cut off before the test ended.
      }
    }
    counts.failed = counts.failures.length;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(counts, null, 2));
  }
}
