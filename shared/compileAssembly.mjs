/** Compiles a folder of AssemblyScript: the kernel (server/kernel) and the codec (shared/snapshot). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import asc from "assemblyscript/asc";

/** relaxed-simd stays off: fused multiply-add differs between machines, and equal inputs must give equal bits. */
const FLAGS = ["-O3", "--converge", "--noAssert", "--runtime", "stub", "--use", "abort=", "--enable", "simd"];

/**
 * Replaces `// @inline` on the line before a function by AssemblyScript's decorator. The decorator is not valid
 * TypeScript outside a class; as a comment, formatter, linter and editors accept these sources.
 * @param {string} text
 * @returns {string} with the same lines
 */
const withDecorators = (text) => text.replace(/^(\s*)\/\/ @inline$/gm, "$1@inline");

/**
 * @param {string} folder holds index.ts
 * @param {string[]} flags of asc, in addition to FLAGS
 * @param {(name: string, text: string) => string} [change] replaces the text of a source file
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages
 */
export async function compileAssembly(folder, flags, change = (_name, text) => text) {
  let bytes;
  const readFile = (asked, base) => {
    // TypeScript needs an extension; asc adds another one
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
