/**
 * Sums and products of lanes. Each function is inlined, and each operation rounds once, in the order that ../predict.ts
 * repeats.
 */

/** Lane n of the result: the sum (r0 + r1) + (r2 + r3) over the lanes of the n-th argument. */
// @inline
export function sums(a: v128, b: v128, c: v128, d: v128): v128 {
  const ab01 = v128.shuffle<f32>(a, b, 0, 4, 1, 5); // a0 b0 a1 b1
  const ab23 = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
  const cd01 = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
  const cd23 = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
  const l0 = v128.shuffle<f32>(ab01, cd01, 0, 1, 4, 5); // a0 b0 c0 d0
  const l1 = v128.shuffle<f32>(ab01, cd01, 2, 3, 6, 7);
  const l2 = v128.shuffle<f32>(ab23, cd23, 0, 1, 4, 5);
  const l3 = v128.shuffle<f32>(ab23, cd23, 2, 3, 6, 7);
  return f32x4.add(f32x4.add(l0, l1), f32x4.add(l2, l3));
}

// @inline
export function sum1(a: v128): f32 {
  return f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + (f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3));
}

// @inline
export function dot(ax: v128, ay: v128, az: v128, ux: v128, uy: v128, uz: v128): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(ax, ux), f32x4.mul(ay, uy)), f32x4.mul(az, uz));
}

/** q . (e + q / 2): half the change of an edge's squared length */
// @inline
export function excess(ex: v128, ey: v128, ez: v128, qx: v128, qy: v128, qz: v128, half: v128): v128 {
  return dot(
    qx,
    qy,
    qz,
    f32x4.add(ex, f32x4.mul(qx, half)),
    f32x4.add(ey, f32x4.mul(qy, half)),
    f32x4.add(ez, f32x4.mul(qz, half)),
  );
}

/** x, y, z in lanes 0, 1, 2; lane 3 is undefined. z is inserted last, because it is computed last. */
// @inline
export function lanes3(x: f32, y: f32, z: f32): v128 {
  return f32x4.replace_lane(f32x4.replace_lane(f32x4.splat(x), 1, y), 2, z);
}

// @inline
export function all(x: v128, lane: u8): v128 {
  return lane === 0
    ? v128.shuffle<f32>(x, x, 0, 0, 0, 0)
    : lane === 1
      ? v128.shuffle<f32>(x, x, 1, 1, 1, 1)
      : v128.shuffle<f32>(x, x, 2, 2, 2, 2);
}
