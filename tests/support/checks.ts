/** What is checked without running anything of the project: form, unused code, types. Each counts as one test. */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Check {
  name: string;
  /** Program of a package: its name, and the file below its folder. */
  program: [name: string, file: string];
  args: string[];
}

export const CHECKS: readonly Check[] = [
  { name: "form (biome)", program: ["@biomejs/biome", "bin/biome"], args: ["check", "--error-on-warnings"] },
  { name: "unused code (knip)", program: ["knip", "bin/knip.js"], args: [] },
  { name: "types (tsc)", program: ["typescript", "bin/tsc"], args: ["-p", "tsconfig.json"] },
];

const packageFolder = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Runs a program with this same Node and returns whether it ended well. */
export function succeeds(entry: string, args: string[], env: NodeJS.ProcessEnv = {}): boolean {
  const { status, signal, error } = spawnSync(process.execPath, [entry, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (error) console.error(`${entry}: ${error.message}`);
  if (signal) console.error(`${entry} was ended by ${signal}`);
  return status === 0;
}

/** Runs all checks, one after another. @returns how many passed */
export function runChecks(): number {
  let passed = 0;
  for (const { name, program, args } of CHECKS) {
    const [packageName, file] = program;
    const good = succeeds(join(packageFolder(packageName), file), args);
    console.log(`${name} ${good ? "passed" : "FAILED"}`);
    if (good) passed++;
  }
  return passed;
}
