/**
 * Finds the first interval in [0,1], from a given time on, that may contain a zero of a cubic in Bernstein form, known
 * up to a bound.
 *
 *     f(t) = b0 (1-t)^3 + 3 b1 (1-t)^2 t + 3 b2 (1-t) t^2 + b3 t^3
 *
 * Guarantee: no t between the given time and `rootLow` has f(t) = 0 exactly, and no t at all if the answer is false.
 * The reason: `bound` covers the error of the coefficients and of every value and coefficient computed here (see
 * `setCubic`), so
 *   - coefficients of [a,b] that are all above the bound, or all below its negative: f, a convex combination of them,
 *     is not zero in [a,b];
 *   - first differences that are all above twice the bound: f' > 0 in [a,b]; then f(t0) <= -bound (as computed)
 *     excludes zeros in [a,t0], f(t1) >= bound in [t1,b];
 *   - any other interval is halved. It is a possible zero if it is all within the bound, or after HALVINGS.
 * Coefficients of a part are blossoms of the whole cubic's, never of another part's, so errors do not add up.
 */

let b0: f64 = 0;
let b1: f64 = 0;
let b2: f64 = 0;
let b3: f64 = 0;
let bound: f64 = 0;

/** The interval found: [rootLow, rootHigh]. */
export let rootLow: f64 = 0;
export let rootHigh: f64 = 0;

/** Most halvings: an interval around a double zero ends with a width of 2^-12, and other tests examine it. */
const HALVINGS: i32 = 12;
/** Newton's method is quadratic; a zero not reached by then is bracketed less tightly. */
const NEWTON_STEPS: i32 = 10;

/**
 * @param margin >= error of each coefficient, plus 10 u max |b_i|, u = 2^-53: a blossom is three levels of (1-t) x + t
 * y, 3 roundings of at most max |b_i| each, so 9 u max |b_i| and terms of u^2
 */
export function setCubic(c0: f64, c1: f64, c2: f64, c3: f64, margin: f64): void {
  b0 = c0;
  b1 = c1;
  b2 = c2;
  b3 = c3;
  bound = margin;
}

// @inline
function mix(x: f64, y: f64, t: f64): f64 {
  return (1.0 - t) * x + t * y;
}

/** Returns f(t) within the bound. */
function value(t: f64): f64 {
  const p = mix(b0, b1, t);
  const q = mix(b1, b2, t);
  const r = mix(b2, b3, t);
  return mix(mix(p, q, t), mix(q, r, t), t);
}

/**
 * Brackets the one zero in [a,b] of a monotone f, c its coefficients there. Newton's method on F(s) = rise f(a + s
 * (b-a)), with bisection if a step leaves the bracket. Then a few bounds to each side, verified by values of f.
 */
function bracket(a: f64, b: f64, c0: f64, c1: f64, c2: f64, c3: f64, rise: f64): bool {
  const first = rise * c0;
  const last = rise * c3;
  if (first > bound || last < -bound) return false;
  const k1 = 3.0 * rise * (c1 - c0);
  const k2 = 3.0 * rise * (c2 - 2.0 * c1 + c0);
  const k3 = rise * (c3 - c0 - 3.0 * (c2 - c1));
  let low: f64 = 0;
  let high: f64 = 1;
  let s = last > first ? min(max(-first / (last - first), 0.0), 1.0) : 0.0;
  let slope = k1;
  for (let i = 0; i < NEWTON_STEPS; i++) {
    const f = first + s * (k1 + s * (k2 + s * k3));
    slope = k1 + s * (2.0 * k2 + s * 3.0 * k3);
    if (abs(f) <= 0.25 * bound) break;
    if (f > 0.0) high = s;
    else low = s;
    let next = s - f / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next === s) break;
    s = next;
  }
  const width = b - a;
  const root = a + s * width;
  rootLow = a;
  rootHigh = b;
  for (let i = 0, reach = ((2.0 * bound) / slope) * width + 2.3e-16; i < 4 && reach < width; i++, reach *= 8.0) {
    // 2^-52: the distance of neighboring float64 numbers near 1
    const t = root - reach;
    if (t <= a) break;
    if (rise * value(t) < -bound) {
      rootLow = t;
      break;
    }
  }
  for (let i = 0, reach = ((2.0 * bound) / slope) * width + 2.3e-16; i < 4 && reach < width; i++, reach *= 8.0) {
    const t = root + reach;
    if (t >= b) break;
    if (rise * value(t) > bound) {
      rootHigh = t;
      break;
    }
  }
  return true;
}

function search(a: f64, b: f64, halvings: i32): bool {
  // Blossoms f[a,a,a], f[a,a,b], f[a,b,b], f[b,b,b].
  const pa = mix(b0, b1, a);
  const qa = mix(b1, b2, a);
  const ra = mix(b2, b3, a);
  const pb = mix(b0, b1, b);
  const qb = mix(b1, b2, b);
  const rb = mix(b2, b3, b);
  const ua = mix(pa, qa, a);
  const va = mix(qa, ra, a);
  const ub = mix(pb, qb, b);
  const vb = mix(qb, rb, b);
  const c0 = mix(ua, va, a);
  const c1 = mix(ua, va, b);
  const c2 = mix(ub, vb, a);
  const c3 = mix(ub, vb, b);
  const low = min(min(c0, c1), min(c2, c3));
  const high = max(max(c0, c1), max(c2, c3));
  if (low > bound || high < -bound) return false;
  const d0 = c1 - c0;
  const d1 = c2 - c1;
  const d2 = c3 - c2;
  const steep = 2.5 * bound;
  if (min(d0, min(d1, d2)) > steep) return bracket(a, b, c0, c1, c2, c3, 1.0);
  if (max(d0, max(d1, d2)) < -steep) return bracket(a, b, c0, c1, c2, c3, -1.0);
  const middle = 0.5 * (a + b);
  if (halvings === 0 || (low >= -2.0 * bound && high <= 2.0 * bound) || !(middle > a && middle < b)) {
    rootLow = a;
    rootHigh = b;
    return true;
  }
  return search(a, middle, halvings - 1) || search(middle, b, halvings - 1);
}

/** @returns whether there may be a zero in [from, 1]; rootLow and rootHigh then enclose the first */
export function nextRoot(from: f64): bool {
  return search(from, 1.0, HALVINGS);
}
