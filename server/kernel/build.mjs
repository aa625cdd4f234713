/** Compiles the AssemblyScript kernel to build/kernel.wasm. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname } from "node:path";
import { compileKernel } from "./compile.mjs";

const out = fileURLToPath(new URL("../../build/kernel.wasm", import.meta.url));
mkdirSync(dirname(out), { recursive: true });
try {
  writeFileSync(out, await compileKernel());
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
