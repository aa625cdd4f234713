/** Compiles the AssemblyScript sources of assembly/ to the bytes of the kernel. */
import { fileURLToPath } from "node:url";
import { compileAssembly } from "../../shared/compileAssembly.mjs";

const sources = fileURLToPath(new URL("./assembly", import.meta.url));
const MEMORY = ["--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", "65536"];

/**
 * @param {(name: string, text: string) => string} [change] returns a replacement for a source file's text: for
 *   measurements of the cost of a line
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages
 */
export const compileKernel = (change) => compileAssembly(sources, ["--enable", "threads", ...MEMORY], change);
