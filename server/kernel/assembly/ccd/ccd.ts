/**
 * Continuous collision of one pair: a vertex and a triangle, or two edges, whose points move in straight lines, x(t) =
 * (1-t) x0 + t x1. Closed primitives: touching counts.
 *
 *     boxes      corners apart along an axis at t0 and at t1, on the same side (exact)            -> no
 *     cubic      f(t) = det(A, B, C) is zero if points touch; Bernstein coefficients all of one
 *                sign, beyond their rounding                                                      -> no
 *     repeat     first interval from `now` on in which f may be zero (ccdRoots.ts): none          -> no
 *                    else now = its begin
 *                direction between the closest points at `now` (ccdDirections.ts) separates
 *                    to the end                                                                   -> no
 *                    for a while: now = its end
 *                a plain contact, well inside both primitives, f's sign change enclosed narrowly  -> yes, at `now`
 *                not separated: once, f with three times the digits (ccdRefine.ts); twice         -> yes, at `now`
 *
 * Guarantee. -1 is returned only if the primitives do not touch at any t in [0,1], in exact arithmetic with the given
 * float64 numbers. The reason: [0,1] is covered by intervals in which f, whose error is bounded, is not zero, and
 * intervals in which a fixed direction, whose rounding is bounded, separates. Neither argument depends on shape, so
 * parallel, coplanar, degenerate or resting primitives are treated alike: if f may be zero everywhere, directions
 * decide. For the same reason a returned time is never later than the first touch: all times before it are covered. It
 * may be earlier by rounding, or if BUDGET directions were used up. False alarms are pairs whose gap at some time is of
 * the order of the rounding of their differences, 10^-16 of their extent. Scaling all numbers by a power of two gives
 * the same bits. Non-finite numbers: 0.
 *
 * Bounds. Differences have one relative rounding u = 2^-53 each. A Bernstein coefficient is a sum of triple products
 * with at most 10 roundings on a path (12 with the factor 1/3). The magnitudes of its terms add up to at most V = |A|
 * |B| |C| (1-norms, largest of both ends): 12 u V, taken as 14 u V. Underflow loses less than 2^-1074, times at most
 * LARGE^2: UNDERFLOW covers it.
 *
 * Sources: Provot 1997 and Bridson et al. 2002 (coplanarity); Wang et al. 2021 (requirements of a test); closest points
 * as in Ericson 2005. Two lanes hold t0 and t1.
 * Tried: directions normal to edges in the common plane (clear nothing that closest points do not); two instead of
 * three times the digits.
 */
import { setCubic, nextRoot, rootLow, rootHigh } from "./ccdRoots";
import { at, swap } from "./ccdLanes";
import { refineCubic } from "./ccdRefine";
import { clearHigh, clearLow, closestEdgeEdge, closestVertexTriangle, inside, separate } from "./ccdDirections";

/** Half a unit in the last place of 1. */
const U: f64 = 1.0 / 9007199254740992.0;
/** Sizes for which products of four differences neither overflow nor lose more to underflow than UNDERFLOW. */
const LARGE: f64 = 1.2676506002282294e30; // 2^100
const SMALL: f64 = 7.888609052210118e-31; // 2^-100
const UNDERFLOW: f64 = 1.3e-259; // 2^-860
/** If the cubic's error exceeds this share of its largest coefficient, it is refined: 2^-20. */
const VAGUE: f64 = 9.5367431640625e-7;
/** Width of an interval that contains a zero of f, not a near miss, which ccdRoots.ts leaves 2^-12 wide: 2^-30. */
const NARROW: f64 = 9.313225746154785e-10;
/** Width that more digits of f would not improve, t being a float64 number near 1: 2^-45. */
const SHARP: f64 = 2.842170943040401e-14;
/**
 * Most directions tried before the answer is "yes". If gap and extent vanish together (at t = 1, in one plane),
 * directions approach that time by 1/n only.
 */
const BUDGET: i32 = 32;

// @inline
function size(x: v128, y: v128, z: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.abs(x), f64x2.abs(y)), f64x2.abs(z));
}

// @inline
function minor(a: v128, b: v128, c: v128, d: v128): v128 {
  return f64x2.sub(f64x2.mul(a, b), f64x2.mul(c, d));
}

// @inline
function dot(ax: v128, ay: v128, az: v128, bx: v128, by: v128, bz: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(ax, bx), f64x2.mul(ay, by)), f64x2.mul(az, bz));
}

/** Returns whether both lanes of a are above b. */
// @inline
function above(a: v128, b: v128): bool {
  return i64x2.all_true(f64x2.gt(a, b));
}

/** Returns lanes that are not zero if one number is not finite. */
// @inline
function loose(p0: v128, p1: v128, p2: v128, p3: v128): v128 {
  return v128.or(v128.or(f64x2.sub(p0, p0), f64x2.sub(p1, p1)), v128.or(f64x2.sub(p2, p2), f64x2.sub(p3, p3)));
}

// @inline
function apart(edges: bool, p0: v128, p1: v128, p2: v128, p3: v128): bool {
  return edges
    ? above(f64x2.pmin(p0, p1), f64x2.pmax(p2, p3)) || above(f64x2.pmin(p2, p3), f64x2.pmax(p0, p1))
    : above(p0, f64x2.pmax(p1, f64x2.pmax(p2, p3))) || above(f64x2.pmin(p1, f64x2.pmin(p2, p3)), p0);
}

// @inline
function mix(x: v128, t: f64): f64 {
  return (1.0 - t) * f64x2.extract_lane(x, 0) + t * f64x2.extract_lane(x, 1);
}

/** @returns NaN if the query is not finite, or its size is out of range, so that it must be scaled */
// @inline
function collide(q: usize, edges: bool, scaling: f64): f64 {
  const scale = f64x2.splat(scaling);
  const x0 = at(q, 0, scale);
  const x1 = at(q, 24, scale);
  const x2 = at(q, 48, scale);
  const x3 = at(q, 72, scale);
  const y0 = at(q, 8, scale);
  const y1 = at(q, 32, scale);
  const y2 = at(q, 56, scale);
  const y3 = at(q, 80, scale);
  const z0 = at(q, 16, scale);
  const z1 = at(q, 40, scale);
  const z2 = at(q, 64, scale);
  const z3 = at(q, 88, scale);
  if (v128.any_true(v128.or(v128.or(loose(x0, x1, x2, x3), loose(y0, y1, y2, y3)), loose(z0, z1, z2, z3)))) return NaN;
  if (apart(edges, x0, x1, x2, x3) || apart(edges, y0, y1, y2, y3) || apart(edges, z0, z1, z2, z3)) return -1.0;

  // A, B, C
  const ax = edges ? f64x2.sub(x1, x0) : f64x2.sub(x2, x1);
  const ay = edges ? f64x2.sub(y1, y0) : f64x2.sub(y2, y1);
  const az = edges ? f64x2.sub(z1, z0) : f64x2.sub(z2, z1);
  const bx = edges ? f64x2.sub(x3, x2) : f64x2.sub(x3, x1);
  const by = edges ? f64x2.sub(y3, y2) : f64x2.sub(y3, y1);
  const bz = edges ? f64x2.sub(z3, z2) : f64x2.sub(z3, z1);
  const cx = edges ? f64x2.sub(x2, x0) : f64x2.sub(x0, x1);
  const cy = edges ? f64x2.sub(y2, y0) : f64x2.sub(y0, y1);
  const cz = edges ? f64x2.sub(z2, z0) : f64x2.sub(z0, z1);
  return impactOf(q, edges, scaling, ax, ay, az, bx, by, bz, cx, cy, cz);
}

/**
 * The points are coplanar if det(A, B, C) = 0. Computes its coefficients, and the first touch if their signs leave a
 * doubt.
 */
// @inline
function impactOf(
  q: usize,
  edges: bool,
  scaling: f64,
  ax: v128,
  ay: v128,
  az: v128,
  bx: v128,
  by: v128,
  bz: v128,
  cx: v128,
  cy: v128,
  cz: v128,
): f64 {
  const sa = size(ax, ay, az);
  const sb = size(bx, by, bz);
  const sc = size(cx, cy, cz);
  const sum = f64x2.add(f64x2.add(sa, sb), sc);
  const extent = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  if (!(extent >= SMALL && extent <= LARGE)) return NaN;
  const nx = minor(ay, bz, az, by);
  const ny = minor(az, bx, ax, bz);
  const nz = minor(ax, by, ay, bx);
  const ex = swap(bx);
  const ey = swap(by);
  const ez = swap(bz);
  let mx = minor(ay, ez, az, ey);
  let my = minor(az, ex, ax, ez);
  let mz = minor(ax, ey, ay, ex);
  mx = f64x2.add(mx, swap(mx));
  my = f64x2.add(my, swap(my));
  mz = f64x2.add(mz, swap(mz));
  const outer = dot(nx, ny, nz, cx, cy, cz); // b0, b3
  const inner = f64x2.mul(
    f64x2.add(dot(nx, ny, nz, swap(cx), swap(cy), swap(cz)), dot(mx, my, mz, cx, cy, cz)),
    f64x2.splat(0.3333333333333333),
  ); // b1, b2
  const volume = f64x2.mul(f64x2.mul(f64x2.pmax(sa, swap(sa)), f64x2.pmax(sb, swap(sb))), f64x2.pmax(sc, swap(sc)));
  const error = f64x2.add(f64x2.mul(volume, f64x2.splat(14.0 * U)), f64x2.splat(UNDERFLOW));
  if (above(f64x2.pmin(outer, inner), error) || above(f64x2.neg(error), f64x2.pmax(outer, inner))) return -1.0;
  setCubic(
    f64x2.extract_lane(outer, 0),
    f64x2.extract_lane(inner, 0),
    f64x2.extract_lane(inner, 1),
    f64x2.extract_lane(outer, 1),
    f64x2.extract_lane(error, 0) + 12.0 * U * f64x2.extract_lane(volume, 0),
  );
  const largest = f64x2.pmax(f64x2.abs(outer), f64x2.abs(inner));
  const vague =
    f64x2.extract_lane(error, 0) > VAGUE * max(f64x2.extract_lane(largest, 0), f64x2.extract_lane(largest, 1));
  return firstTouch(q, edges, scaling, vague, ax, ay, az, bx, by, bz, cx, cy, cz);
}

/**
 * Goes from interval to interval in which the cubic may be zero, skipping those in which a direction separates.
 * @param vague whether the cubic's error is large
 */
// @inline
function firstTouch(
  q: usize,
  edges: bool,
  scaling: f64,
  vague: bool,
  ax: v128,
  ay: v128,
  az: v128,
  bx: v128,
  by: v128,
  bz: v128,
  cx: v128,
  cy: v128,
  cz: v128,
): f64 {
  let now: f64 = 0;
  let refined = false;
  for (let tries = 0; tries < BUDGET; tries++) {
    if (!nextRoot(now)) return -1.0;
    now = rootLow;
    if (edges)
      closestEdgeEdge(
        mix(ax, now),
        mix(ay, now),
        mix(az, now),
        mix(bx, now),
        mix(by, now),
        mix(bz, now),
        mix(cx, now),
        mix(cy, now),
        mix(cz, now),
      );
    else
      closestVertexTriangle(
        mix(ax, now),
        mix(ay, now),
        mix(az, now),
        mix(bx, now),
        mix(by, now),
        mix(bz, now),
        mix(cx, now),
        mix(cy, now),
        mix(cz, now),
      );
    separate(q, edges, scaling);
    const width = rootHigh - rootLow;
    const plain = inside && !vague && width < NARROW;
    if (plain && clearHigh <= rootHigh) return now;
    if (!(clearLow <= now && clearHigh > now)) {
      if (refined || plain || (!vague && width < SHARP)) return now;
      if (edges) refineCubic(q, scaling, 0, 24, 48, 72, 0, 48);
      else refineCubic(q, scaling, 24, 48, 24, 72, 24, 0);
      refined = true;
      continue;
    }
    now = clearHigh;
    if (now >= 1.0) return -1.0;
  }
  return now;
}

/** Returns |A| + |B| + |C| of both ends, of the largest differences. */
function extentOf(q: usize, scaling: f64): f64 {
  let extent: f64 = 0;
  for (let axis: usize = 0; axis < 24; axis += 8) {
    for (let point: usize = 24; point < 192; point += 24) {
      const partner = point < 96 ? axis : axis + 96;
      extent += abs(load<f64>(q + point + axis) * scaling - load<f64>(q + partner) * scaling);
    }
  }
  return extent;
}

/**
 * A power of two that brings the query into range; 0 if its points coincide, are not finite, or differ in size by more
 * than float64 spans.
 */
function scalingOf(q: usize): f64 {
  for (let byte: usize = 0; byte < 192; byte += 8) {
    const x = load<f64>(q + byte);
    if (x - x !== 0.0) return 0.0;
  }
  let scaling: f64 = 1;
  let extent = extentOf(q, 1.0);
  if (extent === 0.0) return 0.0;
  while (extent > 0.0625 * LARGE) {
    scaling *= SMALL;
    extent = extentOf(q, scaling);
  }
  while (extent < 16.0 * SMALL) {
    scaling *= LARGE;
    extent = extentOf(q, scaling);
  }
  return extent <= 0.0625 * LARGE ? scaling : 0.0;
}

function rescaled(q: usize, edges: bool): f64 {
  const scaling = scalingOf(q);
  if (scaling === 0.0) return 0.0;
  const t = edges ? collide(q, true, scaling) : collide(q, false, scaling);
  return t === t ? t : 0.0;
}

/**
 * Collides vertex and triangle.
 * @param q address of f64[24]: v f0 f1 f2 at t0, then at t1
 * @returns time of impact in [0,1], not after the first touch; -1 only if they never touch
 */
export function vertexTriangle(q: usize): f64 {
  const t = collide(q, false, 1.0);
  return t === t ? t : rescaled(q, false);
}

/**
 * Collides edge and edge.
 * @param q address of f64[24]: a0 a1 b0 b1 at t0, then at t1
 * @returns time of impact in [0,1], not after the first touch; -1 only if they never touch
 */
export function edgeEdge(q: usize): f64 {
  const t = collide(q, true, 1.0);
  return t === t ? t : rescaled(q, true);
}
