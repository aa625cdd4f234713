/** Types of compile.mjs, which is not TypeScript because it also runs on Node 20 (setup.mjs). */
export function compileKernel(change?: (name: string, text: string) => string): Promise<Uint8Array>;
