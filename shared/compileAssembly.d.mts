/** Types of compileAssembly.mjs, which is not TypeScript because it also runs on Node 20 (setup.mjs). */
export function compileAssembly(
  folder: string,
  flags: readonly string[],
  change?: (name: string, text: string) => string,
): Promise<Uint8Array>;
