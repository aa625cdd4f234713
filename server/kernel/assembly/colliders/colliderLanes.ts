/**
 * Finds which of four particles may collide with any collider. Most are nowhere near one. They are cleared four at a
 * time by the first tests of collide.ts in float32, with room for rounding, so that no contact is missed. Moving
 * colliders, cylinders and funnels are tested by their bounding balls only.
 */
import * as L from "../layout/layout";
import { add, mul, sub, ws, xs, ys, zs } from "../math/lanes";
import { meets } from "../state/filters";

const ALL = 15;
/** Rounding of a distance or a motion in parts of all coordinates: low words have half a step of them, sums a few. */
const ROUNDING: f32 = 2.384185791015625e-7;

// @inline
function splat(at: usize): v128 {
  return v128.load32_splat(at);
}

/** Returns a . b, summed in the order of scalar code. */
// @inline
function dotInOrder(ax: v128, bx: v128, ay: v128, by: v128, az: v128, bz: v128): v128 {
  return add(add(mul(ax, bx), mul(ay, by)), mul(az, bz));
}

/** Returns signed distances of four points to a plane, a sphere, a capsule or a box. */
function distances(c: usize, type: i32, x: v128, y: v128, z: v128): v128 {
  const ax = splat(c + L.COLLIDER_A);
  const ay = splat(c + L.COLLIDER_A + 4);
  const az = splat(c + L.COLLIDER_A + 8);
  if (type === L.COLLIDER_PLANE) return sub(dotInOrder(x, ax, y, ay, z, az), splat(c + L.COLLIDER_A + 12));
  let dx = sub(x, ax);
  let dy = sub(y, ay);
  let dz = sub(z, az);
  if (type === L.COLLIDER_BOX) return boxDistances(c, dx, dy, dz);
  if (type === L.COLLIDER_CAPSULE) {
    const bx = sub(splat(c + L.COLLIDER_B), ax);
    const by = sub(splat(c + L.COLLIDER_B + 4), ay);
    const bz = sub(splat(c + L.COLLIDER_B + 8), az);
    const along = f32x4.div(dotInOrder(dx, bx, dy, by, dz, bz), dotInOrder(bx, bx, by, by, bz, bz));
    const s = f32x4.pmin(f32x4.pmax(along, f32x4.splat(0)), f32x4.splat(1));
    dx = sub(dx, mul(s, bx));
    dy = sub(dy, mul(s, by));
    dz = sub(dz, mul(s, bz));
  }
  return sub(f32x4.sqrt(dotInOrder(dx, dx, dy, dy, dz, dz)), splat(c + L.COLLIDER_RADIUS));
}

/** Returns distances of points given relative to the box's center. */
function boxDistances(c: usize, px: v128, py: v128, pz: v128): v128 {
  const r = c + L.COLLIDER_ROTATION;
  const zero = f32x4.splat(0);
  const qx = sub(f32x4.abs(dotInOrder(splat(r), px, splat(r + 4), py, splat(r + 8), pz)), splat(c + L.COLLIDER_B));
  const qy = sub(
    f32x4.abs(dotInOrder(splat(r + 12), px, splat(r + 16), py, splat(r + 20), pz)),
    splat(c + L.COLLIDER_B + 4),
  );
  const qz = sub(
    f32x4.abs(dotInOrder(splat(r + 24), px, splat(r + 28), py, splat(r + 32), pz)),
    splat(c + L.COLLIDER_B + 8),
  );
  const within = f32x4.pmax(qx, f32x4.pmax(qy, qz));
  const gx = f32x4.pmax(qx, zero);
  const gy = f32x4.pmax(qy, zero);
  const gz = f32x4.pmax(qz, zero);
  return v128.bitselect(within, f32x4.sqrt(dotInOrder(gx, gx, gy, gy, gz, gz)), f32x4.le(within, zero));
}

/**
 * @param xAt four consecutive particles; prevAt their previous places, and radii; table colliders that they may touch
 * @returns a bit for each that may collide
 */
export function mayBeAnswered(xAt: usize, prevAt: usize, table: usize): i32 {
  const zero = f32x4.splat(0);
  const two = f32x4.splat(2);
  let a = v128.load(xAt);
  let b = v128.load(xAt, 16);
  let c = v128.load(xAt, 32);
  let d = v128.load(xAt, 48);
  const x = xs(a, b, c, d);
  const y = ys(a, b, c, d);
  const z = zs(a, b, c, d);
  a = v128.load(prevAt);
  b = v128.load(prevAt, 16);
  c = v128.load(prevAt, 32);
  d = v128.load(prevAt, 48);
  const px = xs(a, b, c, d);
  const py = ys(a, b, c, d);
  const pz = zs(a, b, c, d);
  const r = ws(a, b, c, d);
  const dx = sub(x, px);
  const dy = sub(y, py);
  const dz = sub(z, pz);
  const size = add(f32x4.abs(x), add(f32x4.abs(y), f32x4.abs(z)));
  const move = f32x4.sqrt(dotInOrder(dx, dx, dy, dy, dz, dz));
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  let may = 0;
  for (let n = 0, at = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, at += L.COLLIDER_BYTES) {
    const type = load<i32>(at, L.COLLIDER_TYPE);
    if (type === L.COLLIDER_MESH || !meets(table, n)) continue;
    if (load<u32>(at, L.COLLIDER_MOTION)) return ALL;
    const cx = sub(x, splat(at + L.COLLIDER_A));
    const cy = sub(y, splat(at + L.COLLIDER_A + 4));
    const cz = sub(z, splat(at + L.COLLIDER_A + 8));
    const far = add(f32x4.abs(cx), add(f32x4.abs(cy), f32x4.abs(cz)));
    const rounding = mul(f32x4.splat(ROUNDING), add(size, far));
    const bound = add(add(splat(at + L.COLLIDER_BOUND), r), rounding);
    const way = add(move, rounding);
    const way2 = mul(way, way);
    let clear = f32x4.gt(dotInOrder(cx, cx, cy, cy, cz, cz), mul(two, add(mul(bound, bound), way2)));
    if (!v128.all_true<i32>(clear) && type <= L.COLLIDER_CAPSULE) {
      const within = add(r, rounding);
      const end = sub(distances(at, type, x, y, z), within);
      const begin = sub(distances(at, type, px, py, pz), within);
      const outside = f32x4.gt(end, zero);
      const past = v128.and(f32x4.gt(begin, zero), f32x4.gt(add(begin, end), way));
      clear = v128.or(clear, v128.and(outside, v128.or(f32x4.gt(end, way), past)));
    }
    may |= ALL ^ i32x4.bitmask(clear);
    if (may === ALL) return ALL;
  }
  return may;
}

/**
 * Returns a bit for each of four particles that may be within its margin of a collider, at its place at the end of the
 * substep. Particles have any addresses.
 */
export function mayBeWithin(p0: usize, p1: usize, p2: usize, p3: usize): i32 {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const a = v128.load(p0);
  const b = v128.load(p1);
  const c = v128.load(p2);
  const d = v128.load(p3);
  const x = xs(a, b, c, d);
  const y = ys(a, b, c, d);
  const z = zs(a, b, c, d);
  const r = f32x4(
    load<f32>(p0 + toPrev, 12),
    load<f32>(p1 + toPrev, 12),
    load<f32>(p2 + toPrev, 12),
    load<f32>(p3 + toPrev, 12),
  );
  const size = add(f32x4.abs(x), add(f32x4.abs(y), f32x4.abs(z)));
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  let may = 0;
  for (let n = 0, at = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, at += L.COLLIDER_BYTES) {
    const type = load<i32>(at, L.COLLIDER_TYPE);
    if (type === L.COLLIDER_MESH) continue;
    if (type > L.COLLIDER_CAPSULE || load<u32>(at, L.COLLIDER_MOTION)) return ALL;
    const far = add(
      add(f32x4.abs(splat(at + L.COLLIDER_A)), f32x4.abs(splat(at + L.COLLIDER_A + 4))),
      f32x4.abs(splat(at + L.COLLIDER_A + 8)),
    );
    const within = add(r, mul(f32x4.splat(ROUNDING), add(size, far)));
    may |= ALL ^ i32x4.bitmask(f32x4.gt(distances(at, type, x, y, z), within));
    if (may === ALL) return ALL;
  }
  return may;
}
