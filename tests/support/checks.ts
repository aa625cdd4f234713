/** What is checked without running anything of the project: form, unused code, types. Each counts as one test. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Check {
  name: string;
  /** Below node_modules. */
  program: string;
  args: string[];
}

export const CHECKS: readonly Check[] = [
  { name: "form (biome)", program: "@biomejs/biome/bin/biome", args: ["check", "--error-on-warnings"] },
  { name: "unused code (knip)", program: "knip/bin/knip.js", args: [] },
  { name: "types (tsc)", program: "typescript/bin/tsc", args: ["-p", "tsconfig.json"] },
];

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
    const good = succeeds(`node_modules/${program}`, args);
    console.log(`${name} ${good ? "passed" : "FAILED"}`);
    if (good) passed++;
  }
  return passed;
}
