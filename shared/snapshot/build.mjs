/**
 * `npm run build:codec`: compiles assembly/ and writes it into wasm.ts as text, which Node and every bundler can load
 * synchronously, without a fetch.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileAssembly } from "../compileAssembly.mjs";

const folder = dirname(fileURLToPath(import.meta.url));

/** @returns {Promise<Uint8Array>} @throws Error with the compiler's messages */
export const compileCodec = () =>
  compileAssembly(join(folder, "assembly"), ["--converge", "--importMemory", "--initialMemory", "1"]);

/** @param {Uint8Array} bytes @returns {string} the text of wasm.ts */
export function moduleText(bytes) {
  const lines = Buffer.from(bytes)
    .toString("base64")
    .match(/.{1,140}/g)
    .map((line) => `  "${line}"`)
    .join(" +\n");
  return `/** assembly/, compiled by \`npm run build:codec\`: do not edit. tests/shared/snapshot/wasm.test.ts compares it with its source. */\nexport const WASM_BASE64 =\n${lines};\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const bytes = await compileCodec();
    writeFileSync(join(folder, "wasm.ts"), moduleText(bytes));
    console.log(`shared/snapshot/wasm.ts: ${bytes.length} bytes`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
