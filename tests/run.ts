/**
 * `npm test`: the checks of `npm run lint`, then every test, then a closing line `N passed, N failed[, N skipped]` alone
 * on its line. Arguments go to Vitest (`npm test -- tests/meshing`). The exit code is 0 only if something ran and
 * nothing failed.
 */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CHECKS, runChecks, succeeds } from "./support/checks.ts";
import { closingLine } from "./support/closingLine.ts";
import type { TestCounts } from "./support/countsReporter.ts";
import { installTools } from "./support/tools.ts";

const countsPath = fileURLToPath(new URL("../artifacts/test-counts.json", import.meta.url));

function readCounts(): TestCounts | undefined {
  try {
    return JSON.parse(readFileSync(countsPath, "utf8")) as TestCounts;
  } catch {
    return undefined; // Vitest ended before it could report.
  }
}

installTools();
const checksPassed = runChecks();

rmSync(countsPath, { force: true });
const tested = succeeds("node_modules/vitest/vitest.mjs", ["run", ...process.argv.slice(2)], {
  TEST_COUNTS_FILE: countsPath,
});

const counts = readCounts();
for (const name of counts?.skippedNames ?? []) console.log(`SKIPPED ${name}`);
const { line, exitCode } = closingLine({ counts, tested, checks: CHECKS.length, checksPassed });
console.log(line);
process.exitCode = exitCode;
