/** Rounds to 8 fraction bits, so that a mean over coordinates does not depend on their origin. */
export function roundMantissa(x: number): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  // half a unit of the last bit that stays; a carry goes into the exponent, as intended
  bits[0] = (bits[0]! + 0x4000) & ~0x7fff;
  return new Float32Array(bits.buffer)[0]!;
}
