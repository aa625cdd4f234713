/** Compiles a folder of AssemblyScript: the kernel (server/kernel) and the codec (shared/snapshot). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import asc from "assemblyscript/asc";

/**
 * relaxed-simd stays off: fused multiply-add differs between machines, and equal inputs must give equal bits. Tried:
 * --converge for the kernel, too. It took three times as long to compile, and no tick was shorter.
 */
const FLAGS = ["-O3", "--noAssert", "--runtime", "stub", "--use", "abort=", "--enable", "simd"];

/**
 * Replaces `// @inline` on the line before a function by AssemblyScript's decorator. The decorator is not valid
 * TypeScript outside a class; as a comment, formatter, linter and editors accept these sources.
 * @param {string} text
 * @returns {string} with the same lines
 */
const withDecorators = (text) => text.replace(/^(\s*)\/\/ @inline$/gm, "$1@inline");

/** Section of a module that is written into memory whenever an instance is made. */
const DATA_SECTION = 11;

/**
 * Refuses static data. Its addresses belong to our own layout, and each instance that is made writes it again: into the
 * shared memory of a running step, if a helper comes late. Tables of Math.pow once replaced the helpers' claims.
 * @param {Uint8Array} bytes a module
 * @throws Error
 */
function refuseStaticData(bytes) {
  let at = 8;
  const read = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const length = read();
    if (section === DATA_SECTION)
      throw new Error(`static data: ${length} bytes, limit 0 (does a source use **, Math.pow or a string?)`);
    at += length;
  }
}

/**
 * @param {string} folder holds index.ts
 * @param {string[]} flags of asc, in addition to FLAGS
 * @param {(name: string, text: string) => string} [change] replaces the text of a source file
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages, or if the module has static data
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
  refuseStaticData(bytes);
  return bytes;
}
