/**
 * Closest points of a vertex and a triangle, and of two edges, on f32x4 positions (the fourth lane is not read). First
 * the problem is solved without bounds. If the solution lies inside both primitives, the difference is along the normal
 * n = u x v,
 *   vertex-triangle   q = p - a:   b = (q x v).n / n^2,  c = (u x q).n / n^2                       (u, v: edges from a)
 *   edges             q = a0 - b0: s = (v x q).n / n^2,  t = (u x q).n / n^2                       (u, v: edges a, b)
 * Otherwise the closest points lie on a side that it violates (the squared distance is convex): points against
 * segments. All in float64: differences of float32 numbers and their products are exact to the last bit or nearly. So
 * needles, nearly parallel edges and gaps far below the float32 steps of the edges get the right normal. Degenerate
 * triangles and edges count as segments and points. Results are globals of the instance, so of the thread.
 * Tried: Voronoi regions by Gram determinants (closestOnTriangle.ts). In float32 a pair of edges at an angle of 1e-4 is
 * off by a thousandth of its length.
 */

/** Weights of the triangle's corners. */
export let weightA: f32, weightB: f32, weightC: f32;
/** Place of the closest point on edge a (0: a0, 1: a1) and on edge b. */
export let edgeS: f32, edgeT: f32;
/** Vector from the second primitive's closest point to the first's, m: not a unit vector. */
export let differenceX: f64, differenceY: f64, differenceZ: f64;
/** Their squared distance, m^2. */
let squared: f64;

/**
 * A point on a segment: two roundings (2^-53 each) of three coordinates leave 1.5e-31 of |q|^2, which has no meaningful
 * direction.
 */
const ROUNDING: f64 = 1e-30;

// foot of the last `segment`
let foot: f64;

/**
 * Finds the vector from the closest point of the segment 0..u to a point q.
 * @returns whether it is closer than `squared`; then difference, squared and foot are set
 */
// @inline
function segment(qx: f64, qy: f64, qz: f64, ux: f64, uy: f64, uz: f64): bool {
  const length2 = ux * ux + uy * uy + uz * uz;
  let t: f64 = 0;
  if (length2 > 0) t = min<f64>(1, max<f64>(0, (qx * ux + qy * uy + qz * uz) / length2));
  let x = qx - t * ux;
  let y = qy - t * uy;
  let z = qz - t * uz;
  let d = x * x + y * y + z * z;
  if (!(d < squared)) return false;
  if (d <= ROUNDING * (qx * qx + qy * qy + qz * qz)) {
    x = 0;
    y = 0;
    z = 0;
    d = 0;
  }
  squared = d;
  differenceX = x;
  differenceY = y;
  differenceZ = z;
  foot = t;
  return true;
}

// @inline
function x(a: v128): f64 {
  return <f64>f32x4.extract_lane(a, 0);
}
// @inline
function y(a: v128): f64 {
  return <f64>f32x4.extract_lane(a, 1);
}
// @inline
function z(a: v128): f64 {
  return <f64>f32x4.extract_lane(a, 2);
}

/**
 * Closest points of vertex p and triangle a, b, c.
 * @returns their squared distance, m^2, infinite if a coordinate is NaN; also sets `squared`, the difference from the
 * triangle to the vertex, and the three weights
 */
export function closestVertexTriangle(p: v128, a: v128, b: v128, c: v128): f64 {
  const ax = x(a);
  const ay = y(a);
  const az = z(a);
  const ux = x(b) - ax;
  const uy = y(b) - ay;
  const uz = z(b) - az;
  const vx = x(c) - ax;
  const vy = y(c) - ay;
  const vz = z(c) - az;
  const qx = x(p) - ax;
  const qy = y(p) - ay;
  const qz = z(p) - az;
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const n2 = nx * nx + ny * ny + nz * nz;
  let wb: f64 = -1;
  let wc: f64 = -1;
  let wa: f64 = -1;
  if (n2 > 0) {
    wb = (qy * vz - qz * vy) * nx + (qz * vx - qx * vz) * ny + (qx * vy - qy * vx) * nz;
    wc = (uy * qz - uz * qy) * nx + (uz * qx - ux * qz) * ny + (ux * qy - uy * qx) * nz;
    wa = n2 - wb - wc;
    if (wa >= 0 && wb >= 0 && wc >= 0) {
      const inverse = 1 / n2;
      const along = (qx * nx + qy * ny + qz * nz) * inverse;
      differenceX = along * nx;
      differenceY = along * ny;
      differenceZ = along * nz;
      weightA = <f32>(wa * inverse);
      weightB = <f32>(wb * inverse);
      weightC = <f32>(wc * inverse);
      squared = along * along * n2;
      return squared;
    }
  }
  squared = Infinity;
  if (!(n2 >= 0)) return squared; // a coordinate is NaN
  if (wc < 0 && segment(qx, qy, qz, ux, uy, uz)) {
    weightA = <f32>(1 - foot);
    weightB = <f32>foot;
    weightC = 0;
  }
  if (wb < 0 && segment(qx, qy, qz, vx, vy, vz)) {
    weightA = <f32>(1 - foot);
    weightB = 0;
    weightC = <f32>foot;
  }
  if (wa < 0 && segment(qx - ux, qy - uy, qz - uz, vx - ux, vy - uy, vz - uz)) {
    weightA = 0;
    weightB = <f32>(1 - foot);
    weightC = <f32>foot;
  }
  return squared;
}

/**
 * Closest points of edge a0 a1 and edge b0 b1.
 * @returns their squared distance, m^2, infinite if a coordinate is NaN; also sets `squared`, the difference from b to
 * a, edgeS and edgeT
 */
export function closestEdges(a0: v128, a1: v128, b0: v128, b1: v128): f64 {
  const ax = x(a0);
  const ay = y(a0);
  const az = z(a0);
  const bx = x(b0);
  const by = y(b0);
  const bz = z(b0);
  const ux = x(a1) - ax;
  const uy = y(a1) - ay;
  const uz = z(a1) - az;
  const vx = x(b1) - bx;
  const vy = y(b1) - by;
  const vz = z(b1) - bz;
  const qx = ax - bx;
  const qy = ay - by;
  const qz = az - bz;
  const nx = uy * vz - uz * vy;
  const ny = uz * vx - ux * vz;
  const nz = ux * vy - uy * vx;
  const n2 = nx * nx + ny * ny + nz * nz;
  // parallel, or an edge without length: test all sides
  let low = true;
  let high = true;
  let left = true;
  let right = true;
  if (n2 > 0) {
    const s = (vy * qz - vz * qy) * nx + (vz * qx - vx * qz) * ny + (vx * qy - vy * qx) * nz;
    const t = (uy * qz - uz * qy) * nx + (uz * qx - ux * qz) * ny + (ux * qy - uy * qx) * nz;
    low = s < 0;
    high = s > n2;
    left = t < 0;
    right = t > n2;
    if (!(low || high || left || right)) {
      const inverse = 1 / n2;
      const along = (qx * nx + qy * ny + qz * nz) * inverse;
      differenceX = along * nx;
      differenceY = along * ny;
      differenceZ = along * nz;
      edgeS = <f32>(s * inverse);
      edgeT = <f32>(t * inverse);
      squared = along * along * n2;
      return squared;
    }
  }
  squared = Infinity;
  if (!(n2 >= 0)) return squared; // a coordinate is NaN
  if (low && segment(qx, qy, qz, vx, vy, vz)) {
    edgeS = 0;
    edgeT = <f32>foot;
  }
  if (high && segment(qx + ux, qy + uy, qz + uz, vx, vy, vz)) {
    edgeS = 1;
    edgeT = <f32>foot;
  }
  // b's ends against a: the difference leads from a's foot to b's end, and is negated below
  let ofA = false;
  if (left && segment(-qx, -qy, -qz, ux, uy, uz)) {
    edgeS = <f32>foot;
    edgeT = 0;
    ofA = true;
  }
  if (right && segment(vx - qx, vy - qy, vz - qz, ux, uy, uz)) {
    edgeS = <f32>foot;
    edgeT = 1;
    ofA = true;
  }
  if (ofA) {
    differenceX = -differenceX;
    differenceY = -differenceY;
    differenceZ = -differenceZ;
  }
  return squared;
}
