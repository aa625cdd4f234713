/**
 * The rotation that best fits one cloud of points to another: R maximizes tr(R^T A), A = sum m r q^T. As a unit
 * quaternion it is the eigenvector of the largest eigenvalue of a symmetric 4x4 matrix (Horn 1987, Closed-form solution
 * of absolute orientation using unit quaternions). It is found by cyclic Jacobi rotations in float64: + - * / sqrt in a
 * fixed order, so the bits are the same everywhere. R is a proper rotation for any A: for an inverted cloud the nearest
 * one (the smallest singular value negated), for a flat one the only one, for a straight one or a point one of many.
 * Tried: Newton's polar iteration (R + R^-T)/2 needs a positive determinant and a fallback; the eigenvector costs 2 us
 * a body.
 */

/** 4x4 matrix and its eigenvectors (rows): f64x32. */
export const ROTATION_SCRATCH = 256;

/** Quadratic convergence: 4 to 6 sweeps of 6 rotations reach rounding from anywhere. */
const MAX_SWEEPS = 12;

// R of the last fit, row by row; each thread has its own instance
export let r00: f64, r01: f64, r02: f64, r10: f64, r11: f64, r12: f64, r20: f64, r21: f64, r22: f64;

// @inline
function at(m: usize, i: i32, j: i32): usize {
  return m + ((<usize>(4 * i + j)) << 3);
}

/**
 * Sets r00 .. r22 to the rotation nearest to A.
 * @param m ROTATION_SCRATCH bytes; a00 .. a22 A row by row
 */
export function fitRotation(
  m: usize,
  a00: f64,
  a01: f64,
  a02: f64,
  a10: f64,
  a11: f64,
  a12: f64,
  a20: f64,
  a21: f64,
  a22: f64,
): void {
  const v = m + 128;
  store<f64>(at(m, 0, 0), a00 + a11 + a22);
  store<f64>(at(m, 1, 1), a00 - a11 - a22);
  store<f64>(at(m, 2, 2), a11 - a00 - a22);
  store<f64>(at(m, 3, 3), a22 - a00 - a11);
  pair(m, 0, 1, a21 - a12);
  pair(m, 0, 2, a02 - a20);
  pair(m, 0, 3, a10 - a01);
  pair(m, 1, 2, a10 + a01);
  pair(m, 1, 3, a02 + a20);
  pair(m, 2, 3, a21 + a12);
  let total: f64 = 0;
  for (let i = 0; i < 4; i++) {
    for (let j = 0; j < 4; j++) {
      const value = load<f64>(at(m, i, j));
      total += value * value;
      store<f64>(at(v, i, j), i === j ? 1 : 0);
    }
  }
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    let off: f64 = 0;
    for (let i = 0; i < 3; i++) for (let j = i + 1; j < 4; j++) off += load<f64>(at(m, i, j)) * load<f64>(at(m, i, j));
    if (!(off > 1e-36 * total)) break; // entries below 1e-18 of the whole: the remaining angle is below rounding
    for (let i = 0; i < 3; i++) for (let j = i + 1; j < 4; j++) turn(m, v, i, j);
  }
  let best = 0;
  for (let i = 1; i < 4; i++) if (load<f64>(at(m, i, i)) > load<f64>(at(m, best, best))) best = i;
  let w = load<f64>(at(v, best, 0));
  let x = load<f64>(at(v, best, 1));
  let y = load<f64>(at(v, best, 2));
  let z = load<f64>(at(v, best, 3));
  const s: f64 = 1 / sqrt(w * w + x * x + y * y + z * z);
  w *= s;
  x *= s;
  y *= s;
  z *= s;
  r00 = w * w + x * x - y * y - z * z;
  r01 = 2 * (x * y - w * z);
  r02 = 2 * (x * z + w * y);
  r10 = 2 * (x * y + w * z);
  r11 = w * w - x * x + y * y - z * z;
  r12 = 2 * (y * z - w * x);
  r20 = 2 * (x * z - w * y);
  r21 = 2 * (y * z + w * x);
  r22 = w * w - x * x - y * y + z * z;
}

// @inline
function pair(m: usize, i: i32, j: i32, value: f64): void {
  store<f64>(at(m, i, j), value);
  store<f64>(at(m, j, i), value);
}

/** One Jacobi rotation: zeroes entry (p, q), by the smaller of the two angles. */
function turn(m: usize, v: usize, p: i32, q: i32): void {
  const g = load<f64>(at(m, p, q));
  if (g === 0) return;
  const theta = (load<f64>(at(m, q, q)) - load<f64>(at(m, p, p))) / (2 * g);
  // theta^2 may overflow to infinity: then t = 0, which is correct
  const t: f64 = (theta >= 0 ? 1 : -1) / (abs(theta) + sqrt(theta * theta + 1));
  const c: f64 = 1 / sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < 4; k++) {
    const a = load<f64>(at(m, k, p));
    const b = load<f64>(at(m, k, q));
    store<f64>(at(m, k, p), c * a - s * b);
    store<f64>(at(m, k, q), s * a + c * b);
  }
  for (let k = 0; k < 4; k++) {
    const a = load<f64>(at(m, p, k));
    const b = load<f64>(at(m, q, k));
    store<f64>(at(m, p, k), c * a - s * b);
    store<f64>(at(m, q, k), s * a + c * b);
    const d = load<f64>(at(v, p, k));
    const e = load<f64>(at(v, q, k));
    store<f64>(at(v, p, k), c * d - s * e);
    store<f64>(at(v, q, k), s * d + c * e);
  }
}
