/**
 * Writes the counts of a test run, and what its files took, as JSON to the file that TEST_COUNTS_FILE names, for the
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
  /** Full names of skipped tests, with the reason where the test gave one. */
  skippedNames: string[];
  files: TestFile[];
}

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

export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const path = process.env.TEST_COUNTS_FILE;
    if (!path) return;
    const counts: TestCounts = { passed: 0, failed: unhandledErrors.length, skipped: 0, skippedNames: [], files: [] };
    for (const module of modules) {
      counts.files.push(fileOf(module));
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") counts.passed++;
        else if (result.state === "skipped") {
          counts.skipped++;
          counts.skippedNames.push(
            `${module.relativeModuleId} > ${test.fullName}${result.note ? ` (${result.note})` : ""}`,
          );
        } else counts.failed++; // "pending": the run was cut off before the test ended.
      }
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(counts, null, 2));
  }
}
