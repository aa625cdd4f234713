/** Compiles a folder of AssemblyScript: the kernel (server/kernel) and the codec (shared/snapshot). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import asc from "assemblyscript/asc";

/** relaxed-simd stays off: fused multiply-add differs between machines, and the same inputs must give the same bits. */
const FLAGS = ["-O3", "--converge", "--noAssert", "--runtime", "stub", "--use", "abort=", "--enable", "simd"];

/**
 * `// @inline` on the line before a function stands for AssemblyScript's decorator, which is no TypeScript outside a
 * class: so formatter, linter and editors read these sources like all others.
 * @param {string} text
 * @returns {string} with the same lines
 */
const withDecorators = (text) => text.replace(/^(\s*)\/\/ @inline$/gm, "$1@inline");

/**
 * @param {string} folder holds index.ts
 * @param {string[]} flags of asc, beside FLAGS
 * @param {(name: string, text: string) => string} [change] what to compile instead of a source file's text
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages
 */
export async function compileAssembly(folder, flags, change = (_name, text) => text) {
  let bytes;
  const readFile = (asked, base) => {
    // TypeScript wants an extension where asc adds one
    const name = asked.replace(/\.ts\.ts$/, ".ts");
    try {
      return withDecorators(change(name, readFileSync(join(base, name), "utf8")));
    } catch {
      return null;
    }
  };
  const writeFile = (name, data) => {
    if (name === "out.wasm") bytes = data;
  };
  const files = ["index.ts", "--baseDir", folder, "--outFile", "out.wasm"];
  const { error, stderr } = await asc.main([...files, ...FLAGS, ...flags], {
    readFile,
    writeFile,
    listFiles: () => [],
  });
  if (error) throw new Error(stderr.toString() || error.message);
  return bytes;
}
