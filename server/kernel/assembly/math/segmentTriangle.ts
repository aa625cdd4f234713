/**
 * Tests whether a segment meets a triangle. Uses signs of determinants in float64 on float32 points. A sign counts if
 * the value exceeds the rounding bound (Shewchuk 1997: 7.77e-16 times the permanent of a 3 x 3 determinant of
 * differences; below 2^-50). APART is a proof: both ends on one side of the plane; the line passes the triangle; or a
 * gap between them in the projection along an axis, which decides coplanar cases. Uncertain signs prove nothing, so
 * primitives that touch, or are separated by no more than rounding, meet.
 */
export const APART: i32 = 0;
const MEETING: i32 = 1;
export const CROSSING: i32 = 2;

const BOUND: f64 = 8.881784197001252e-16; // 2^-50

// @inline
function x(p: usize): f64 {
  return <f64>load<f32>(p);
}
// @inline
function y(p: usize): f64 {
  return <f64>load<f32>(p, 4);
}
// @inline
function z(p: usize): f64 {
  return <f64>load<f32>(p, 8);
}

/** Returns the sign of (b - a) x (c - a) . (d - a), 0 if rounding may have made it. */
function orient(a: usize, b: usize, c: usize, d: usize): i32 {
  const ax = x(a);
  const ay = y(a);
  const az = z(a);
  const ux = x(b) - ax;
  const uy = y(b) - ay;
  const uz = z(b) - az;
  const vx = x(c) - ax;
  const vy = y(c) - ay;
  const vz = z(c) - az;
  const wx = x(d) - ax;
  const wy = y(d) - ay;
  const wz = z(d) - az;
  const yz = vy * wz;
  const zy = vz * wy;
  const zx = vz * wx;
  const xz = vx * wz;
  const xy = vx * wy;
  const yx = vy * wx;
  const value = ux * (yz - zy) + uy * (zx - xz) + uz * (xy - yx);
  const size =
    Math.abs(ux) * (Math.abs(yz) + Math.abs(zy)) +
    Math.abs(uy) * (Math.abs(zx) + Math.abs(xz)) +
    Math.abs(uz) * (Math.abs(xy) + Math.abs(yx));
  return Math.abs(value) > BOUND * size ? (value > 0 ? 1 : -1) : 0;
}

/**
 * Returns the side of the line a b that c is on, in the plane of two axes (byte offsets of their coordinates); 0 if
 * rounding may have made it.
 */
// @inline
function side(a: usize, b: usize, c: usize, i: usize, j: usize): i32 {
  const ai = <f64>load<f32>(a + i);
  const aj = <f64>load<f32>(a + j);
  const p = (<f64>load<f32>(b + i) - ai) * (<f64>load<f32>(c + j) - aj);
  const q = (<f64>load<f32>(b + j) - aj) * (<f64>load<f32>(c + i) - ai);
  const value = p - q;
  return Math.abs(value) > BOUND * (Math.abs(p) + Math.abs(q)) ? (value > 0 ? 1 : -1) : 0;
}

/**
 * Returns whether one of their sides separates segment a b and triangle c d e in the projection along the third axis.
 */
function gapAlong(a: usize, b: usize, c: usize, d: usize, e: usize, i: usize, j: usize): bool {
  // all corners strictly on one side of the segment
  const s = side(a, b, c, i, j);
  if (s && side(a, b, d, i, j) === s && side(a, b, e, i, j) === s) return true;
  return outside(c, d, e, a, b, i, j) || outside(d, e, c, a, b, i, j) || outside(e, c, d, a, b, i, j);
}

/** Returns whether both ends are strictly beyond the side p q of the triangle with third corner r. */
// @inline
function outside(p: usize, q: usize, r: usize, a: usize, b: usize, i: usize, j: usize): bool {
  const s = side(p, q, r, i, j);
  return s !== 0 && side(p, q, a, i, j) === -s && side(p, q, b, i, j) === -s;
}

// @inline
function sum(p: usize): f64 {
  return Math.abs(x(p)) + Math.abs(y(p)) + Math.abs(z(p));
}

/**
 * Segment a b against triangle c d e, addresses of float32 x y z.
 * @returns APART, MEETING or CROSSING: through the inside, for certain
 */
export function meeting(a: usize, b: usize, c: usize, d: usize, e: usize): i32 {
  const first = orient(c, d, e, a);
  const second = orient(c, d, e, b);
  if (first * second > 0) return APART;
  const s = orient(a, b, c, d);
  const t = orient(a, b, d, e);
  const u = orient(a, b, e, c);
  if (s * t < 0 || t * u < 0 || u * s < 0) return APART;
  if (first * second < 0 && s * t > 0 && t * u > 0) return CROSSING;
  // NaN or infinite: nothing to untangle
  if (!(sum(a) + sum(b) + sum(c) + sum(d) + sum(e) < Infinity)) return APART;
  return gapAlong(a, b, c, d, e, 0, 4) || gapAlong(a, b, c, d, e, 4, 8) || gapAlong(a, b, c, d, e, 8, 0)
    ? APART
    : MEETING;
}
