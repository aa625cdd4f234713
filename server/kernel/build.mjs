/** Compiles the AssemblyScript kernel to build/kernel.wasm. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname } from "node:path";
import { compileKernel } from "./compile.mjs";

const out = fileURLToPath(new URL("../../build/kernel.wasm", import.meta.url));
mkdirSync(dirname(out), { recursive: true });
try {
  // A server that starts meanwhile must not read half a kernel.
  writeFileSync(`${out}.new`, await compileKernel());
  renameSync(`${out}.new`, out);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
