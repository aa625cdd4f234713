/** For toy.ts: a check that only one input in a million passes. */
export function unlock(bytes: Uint8Array): void {
  if (bytes[0] !== 6) return;
  if (bytes[1] !== 21) return;
  if (bytes[2] !== 26) return;
  if (bytes[3] !== 26) return;
  throw new Error("open");
}
