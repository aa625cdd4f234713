/** Compiles the AssemblyScript kernel to build/kernel.wasm. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import asc from "assemblyscript/asc";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../../build/kernel.wasm");
mkdirSync(dirname(out), { recursive: true });

// relaxed-simd stays off: fused multiply-add differs between machines, and the state hash must not
const { error, stderr } = await asc.main([
  "index.ts", "--baseDir", join(here, "assembly"), "--outFile", "kernel.wasm", "-O3", "--converge", "--noAssert", "--runtime", "stub", "--use", "abort=",
  "--enable", "simd", "--enable", "threads", "--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", "65536",
], {
  readFile: (name, base) => { try { return readFileSync(join(base, name), "utf8"); } catch { return null; } },
  writeFile: (name, data) => { if (name === "kernel.wasm") writeFileSync(out, data); },
  listFiles: () => [],
});
if (error) { console.error(stderr.toString() || error.message); process.exit(1); }
