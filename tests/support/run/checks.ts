/** Static checks: format, unused code, types. Each counts as one test. */
import { succeeds } from "../program.ts";

interface Check {
  name: string;
  /** Path below node_modules. */
  program: string;
  args: string[];
}

export const CHECKS: readonly Check[] = [
  { name: "form (biome)", program: "@biomejs/biome/bin/biome", args: ["check", "--error-on-warnings"] },
  { name: "unused code (knip)", program: "knip/bin/knip.js", args: [] },
  { name: "types (tsc)", program: "typescript/bin/tsc", args: ["-p", "tsconfig.json"] },
];

/** Runs all checks, one after another. @returns how many passed */
export async function runChecks(): Promise<number> {
  let passed = 0;
  for (const { name, program, args } of CHECKS) {
    const good = await succeeds(`node_modules/${program}`, args);
    console.log(`${name} ${good ? "passed" : "FAILED"}`);
    if (good) passed++;
  }
  return passed;
}
