/** Converts drawing modes to triangles. Source: glTF 2.0 specification (Khronos, ISO/IEC 12113), section 3.7.2.1. */

const TRIANGLES = 4;
const STRIP = 5;
const FAN = 6;

/**
 * @param corners of the primitive, in the order of drawing
 * @returns uint32[3m]; undefined for points and lines
 */
export function trianglesOf(mode: number, corners: Uint32Array): Uint32Array | undefined {
  if (mode === TRIANGLES)
    return corners.length % 3 === 0 ? corners : corners.slice(0, corners.length - (corners.length % 3));
  if (mode !== STRIP && mode !== FAN) return undefined;
  const count = Math.max(0, corners.length - 2);
  const triangles = new Uint32Array(3 * count);
  for (let i = 0; i < count; i++) {
    // Every second triangle of a strip has the opposite orientation.
    const [a, b, c] = mode === FAN ? [i + 1, i + 2, 0] : i % 2 === 0 ? [i, i + 1, i + 2] : [i, i + 2, i + 1];
    triangles.set([corners[a!]!, corners[b!]!, corners[c!]!], 3 * i);
  }
  return triangles;
}
