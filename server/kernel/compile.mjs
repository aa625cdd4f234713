/** AssemblyScript sources of assembly/ -> bytes of the kernel. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";
import asc from "assemblyscript/asc";

const sources = join(dirname(fileURLToPath(import.meta.url)), "assembly");

/**
 * @param {(name: string, text: string) => string} [change] what to compile instead of a source file's text: for
 *   measurements of what a line costs
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages
 */
export async function compileKernel(change = (_name, text) => text) {
  let bytes;
  // relaxed-simd stays off: fused multiply-add differs between machines, and the state hash must not
  const { error, stderr } = await asc.main(
    [
      "index.ts",
      "--baseDir",
      sources,
      "--outFile",
      "kernel.wasm",
      "-O3",
      "--converge",
      "--noAssert",
      "--runtime",
      "stub",
      "--use",
      "abort=",
      "--enable",
      "simd",
      "--enable",
      "threads",
      "--importMemory",
      "--sharedMemory",
      "--initialMemory",
      "1",
      "--maximumMemory",
      "65536",
    ],
    {
      readFile: (name, base) => {
        try {
          return change(name, readFileSync(join(base, name), "utf8"));
        } catch {
          return null;
        }
      },
      writeFile: (name, data) => {
        if (name === "kernel.wasm") bytes = data;
      },
      listFiles: () => [],
    },
  );
  if (error) throw new Error(stderr.toString() || error.message);
  return bytes;
}
