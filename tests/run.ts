/**
 * `npm test`: type check, then every test, then a closing line `N passed, N failed[, N skipped]` alone on its line.
 * Arguments go to Vitest (`npm test -- tests/meshing`). The exit code is 0 only if something ran and nothing failed.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { closingLine } from "./support/closingLine.ts";
import type { TestCounts } from "./support/countsReporter.ts";
import { installTools } from "./support/tools.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const countsPath = fileURLToPath(new URL("../artifacts/test-counts.json", import.meta.url));

/** Runs a package's command with this same Node and returns whether it ended well. */
function succeeds(entry: string, args: string[], env: NodeJS.ProcessEnv = {}): boolean {
  const { status, signal, error } = spawnSync(process.execPath, [entry, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (error) console.error(`${entry}: ${error.message}`);
  if (signal) console.error(`${entry} was ended by ${signal}`);
  return status === 0;
}

function readCounts(): TestCounts | undefined {
  try {
    return JSON.parse(readFileSync(countsPath, "utf8")) as TestCounts;
  } catch {
    return undefined; // Vitest ended before it could report.
  }
}

installTools();
console.log("typecheck ...");
const typed = succeeds("node_modules/typescript/bin/tsc", ["-p", "tsconfig.json"]);
console.log(typed ? "typecheck passed" : "typecheck FAILED");

rmSync(countsPath, { force: true });
const tested = succeeds("node_modules/vitest/vitest.mjs", ["run", ...process.argv.slice(2)], {
  TEST_COUNTS_FILE: countsPath,
});

const counts = readCounts();
for (const name of counts?.skippedNames ?? []) console.log(`SKIPPED ${name}`);
const { line, exitCode } = closingLine({ counts, tested, typed });
console.log(line);
process.exitCode = exitCode;
