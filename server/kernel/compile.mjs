/** AssemblyScript sources of assembly/ -> bytes of the kernel. */
import { fileURLToPath } from "node:url";
import { compileAssembly } from "../../shared/compileAssembly.mjs";

const sources = fileURLToPath(new URL("./assembly", import.meta.url));
const MEMORY = ["--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", "65536"];

/**
 * @param {(name: string, text: string) => string} [change] what to compile instead of a source file's text: for
 *   measurements of what a line costs
 * @returns {Promise<Uint8Array>}
 * @throws Error with the compiler's messages
 */
export const compileKernel = (change) => compileAssembly(sources, ["--enable", "threads", ...MEMORY], change);
