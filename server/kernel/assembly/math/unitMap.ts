/**
 * The linear map of unit volume nearest to a given one, measured by the motion of a body's points:
 *   B minimizes |(F - B) L|, det B = 1;  L L^T = A_qq, the second moments of the body, scaled to det L = 1
 * With F L = R P (R a rotation, P symmetric with eigenvectors Q and eigenvalues s, of which only the least may be
 * negative), B L = R Q diag(t) Q^T. There is one u with s_i - t_i = -u/t_i for all i, and t_0 t_1 t_2 = 1.
 * The least t, t_2, tells u = t_2 (t_2 - s_2) and the others, t_i = (s_i + sqrt(s_i^2 + 4 u))/2. The product rises with
 * t_2 above s_2/2, and has its root there unless the body is about twice as long in all directions; then the nearest
 * map is flat, with t_2 below s_2/2, where the product rises from 0 and may fall to more than 1 at s_2/2.
 */
import { cofactors, multiply } from "./matrix3";
import { diagonalize, nearestRotation } from "./rotation";

/** More halvings than float64 has distinct numbers in an interval of t. */
const HALVINGS = 1100;

/**
 * @param scratch ROTATION_SCRATCH bytes; metric L; rotation, room, to f64x9, different from each other and from F
 */
export function nearestUnitMap(scratch: usize, F: usize, metric: usize, rotation: usize, room: usize, to: usize): void {
  multiply(F, metric, to);
  nearestRotation(scratch, to, rotation);
  stretchToUnit(scratch, rotation, to, room);
  // B = R (Q t Q^T) L^-1; det L = 1, so L^-1 is the transpose of the cofactors
  multiply(rotation, room, to);
  cofactors(metric, rotation);
  transpose(rotation);
  memory.copy(room, to, 72);
  multiply(room, rotation, to);
}

/** Stores Q diag(t) Q^T for P = R^T M in `to`. */
function stretchToUnit(scratch: usize, R: usize, M: usize, to: usize): void {
  memory.fill(scratch, 0, 128);
  for (let i: usize = 0; i < 3; i++)
    for (let j: usize = 0; j < 3; j++)
      // the mean of P and its transpose, which differ by rounding
      store<f64>(scratch + 32 * i + 8 * j, 0.5 * (columns(R, i, M, j) + columns(R, j, M, i)));
  diagonalize(scratch);
  const a = load<f64>(scratch);
  const b = load<f64>(scratch, 40);
  const c = load<f64>(scratch, 80);
  const least = min(a, min(b, c));
  // the two others, whichever is the least
  const first = a === least ? b : a;
  const second = c === least ? b : c;
  const t = leastOf(first, second, least);
  const u = t * (t - least);
  const ta = a === least ? t : stretch(a, u);
  const tb = b === least && a !== least ? t : stretch(b, u);
  const tc = c === least && a !== least && b !== least ? t : stretch(c, u);
  const v = scratch + 128;
  for (let i: usize = 0; i < 24; i += 8)
    for (let j: usize = 0; j < 24; j += 8)
      store<f64>(
        to + 3 * i + j,
        ta * load<f64>(v + i) * load<f64>(v + j) +
          tb * load<f64>(v + i, 32) * load<f64>(v + j, 32) +
          tc * load<f64>(v + i, 64) * load<f64>(v + j, 64),
      );
}

/** Product of column i of A and column j of B. */
// @inline
function columns(A: usize, i: usize, B: usize, j: usize): f64 {
  const a = A + 8 * i;
  const b = B + 8 * j;
  return load<f64>(a) * load<f64>(b) + load<f64>(a, 24) * load<f64>(b, 24) + load<f64>(a, 48) * load<f64>(b, 48);
}

// @inline
function stretch(s: f64, u: f64): f64 {
  return 0.5 * (s + sqrt(max<f64>(s * s + 4 * u, 0)));
}

/** The least t, t_2, by bisection. @param s0 s1 the two larger eigenvalues; s2 the least */
function leastOf(s0: f64, s1: f64, s2: f64): f64 {
  // from 1 + s_2 on, u and with it all t are at least 1
  const half = 0.5 * max<f64>(s2, 0);
  let low: f64 = product(s0, s1, s2, half) < 1 ? half : 0;
  let high: f64 = low > 0 || !(half > 0) ? 2 * half + 1 : half;
  for (let n = 0; n < HALVINGS; n++) {
    const t = 0.5 * (low + high);
    if (!(t > low && t < high)) break;
    if (product(s0, s1, s2, t) < 1) low = t;
    else high = t;
  }
  return high;
}

// @inline
function product(s0: f64, s1: f64, s2: f64, t: f64): f64 {
  const u = t * (t - s2);
  return t * stretch(s0, u) * stretch(s1, u);
}

function transpose(A: usize): void {
  swap(A + 8, A + 24);
  swap(A + 16, A + 48);
  swap(A + 40, A + 56);
}

// @inline
function swap(a: usize, b: usize): void {
  const kept = load<f64>(a);
  store<f64>(a, load<f64>(b));
  store<f64>(b, kept);
}

/**
 * Cube root by Newton's iteration from above, which falls until rounding stops it: the same bits everywhere, unlike a
 * library's cbrt.
 * @param a > 0
 */
export function cubeRoot(a: f64): f64 {
  let x: f64 = max<f64>(a, 1);
  for (let i = 0; i < 200; i++) {
    const next = x - (x * x * x - a) / (3 * x * x);
    if (!(next < x)) break;
    x = next;
  }
  return x;
}
