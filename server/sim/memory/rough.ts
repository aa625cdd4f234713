/**
 * To eight binary digits behind the first: what a mean over coordinates that are measured from elsewhere differs by
 * must not show.
 */
export function rough(x: number): number {
  const bits = new Uint32Array(Float32Array.of(x).buffer);
  // half a unit of the last digit that stays; a carry goes into the exponent, as it should
  bits[0] = (bits[0]! + 0x4000) & ~0x7fff;
  return new Float32Array(bits.buffer)[0]!;
}
