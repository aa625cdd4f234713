/** Types of build.mjs. */
export function compileCodec(): Promise<Uint8Array>;
export function moduleText(bytes: Uint8Array): string;
