/**
 * Interpolates between two frames of positions: out = a + (b - a) alpha. It is linear because a curve through the
 * frames would overshoot at impacts.
 */

/**
 * @param out float32[n] m, out; may be `a` or `b`
 * @param a float32[n] m, in
 * @param b float32[n] m, in
 * @param alpha 0..1; clamped, so that a caller cannot extrapolate by mistake
 */
export function interpolateInto(out: Float32Array, a: Float32Array, b: Float32Array, alpha: number): void {
  const t = alpha > 0 ? (alpha < 1 ? alpha : 1) : 0;
  if (t === 0 || a === b) {
    if (out !== a) out.set(a);
    return;
  }
  if (t === 1) {
    if (out !== b) out.set(b);
    return;
  }
  for (let i = 0; i < out.length; i++) {
    const from = a[i]!;
    out[i] = from + (b[i]! - from) * t;
  }
}
