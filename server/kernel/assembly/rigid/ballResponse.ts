/**
 * Response of a ball and a surface in contact (balls.ts): separated along the normal, held by friction, or moved as
 * one.
 */
import * as L from "../layout/layout";
import { noteMet, rigidRow, surfaceOf } from "../state/owners";
import { depthOfPoint, nx, ny, nz, wa, wb, wc } from "./ballSweep";
import { bounce } from "../colliders/coefficients";
import { lowFrom, lowPrevFrom, place, put, rounding } from "../math/places";
import { dragHeld, heldFriction } from "./heldCorners";
import { inverseMassAt, measure, pushAt } from "./rigidBody";

/**
 * Ball and particle share their motion in this substep by their masses: afterwards they have their relative position of
 * its start.
 */
export function stick(shape: usize, at: usize): void {
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const w: f64 = load<f32>(at, 12);
  const heavy = load<f64>(shape, L.SHAPE_INVERSE_MASS);
  const W = w + heavy;
  // a rigid body must not be deformed: the verification at the end of the substep handles it
  if (!(W > 0) || rigidRow(at)) return;
  const x = displacement(shape, 0) - moved(at, toPrev, 0);
  const y = displacement(shape, 8) - moved(at, toPrev, 4);
  const z = displacement(shape, 16) - moved(at, toPrev, 8);
  const length = sqrt(x * x + y * y + z * z);
  if (!(length > 0)) return;
  pushAt(shape, 0, 0, 0, -x / length, -y / length, -z / length, length / W, 0);
  noteMet(at);
  shift(at, lowFrom(), w / W, x, y, z);
}

// @inline
function shift(at: usize, toLow: usize, s: f64, x: f64, y: f64, z: f64): void {
  put(at, place(at, toLow) + s * x, toLow);
  put(at + 4, place(at + 4, toLow) + s * y, toLow);
  put(at + 8, place(at + 8, toLow) + s * z, toLow);
}

/** Part of the radius above which a ball's way in one substep is fast. */
const FAST: f64 = 0.05;

function isFast(shape: usize, R: f64): bool {
  const x = displacement(shape, 0);
  const y = displacement(shape, 8);
  const z = displacement(shape, 16);
  return x * x + y * y + z * z > FAST * FAST * R * R;
}

/**
 * Returns the displacement that must undo an approach `approach`: reversed by restitution, or undone up to the contact.
 * While all of it was undone, light corners that sprang against a heavy ball in each substep kept their distance from
 * it. They pushed more when the ball rose than when it sank: 40 kg bounced on a soft cube for ever. Of a fast ball's
 * approach all is undone: else a pellet of 200 m/s pressed cloth into itself for ten times as long.
 * @param depth to separate; impact the part of the approach that is reversed; first, second particles of the two; fast
 * `isFast` of the first
 */
function turned(approach: f64, depth: f64, impact: f64, e: f32, first: usize, second: usize, fast: bool): f64 {
  if (!(approach > 0)) return 0;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const back = min<f32>(bounce(e, <f32>impact, first + toAcc, h), bounce(e, <f32>impact, second + toAcc, h));
  if (back > 0) return approach + <f64>back;
  return fast ? approach : min<f64>(approach, depth);
}

/** Square root of the restitution of the surface that owns a particle. */
// @inline
function rootBounceOf(particle: usize): f32 {
  return load<f32>(surfaceOf(particle), L.SURFACE_RESTITUTION);
}

/** Measures a rigid body that a ball touches, once an iteration. */
function open(row: usize, scratch: usize): void {
  if (load<i32>(row, L.SHAPE_MEASURED)) return;
  store<i32>(row, 1, L.SHAPE_MEASURED);
  measure(row, scratch);
}

let wayX: f64;
let wayY: f64;
let wayZ: f64;

/** Stores the displacement of the ball against the triangle since the start of the substep in wayX .. wayZ. */
function measureWay(shape: usize, two: usize, A: usize, B: usize, C: usize, ox: f64, oy: f64, oz: f64): void {
  wayX = displacement(shape, 0);
  wayY = displacement(shape, 8);
  wayZ = displacement(shape, 16);
  if (two) {
    const x = turn(two, 0);
    const y = turn(two, 8);
    const z = turn(two, 16);
    wayX -= displacement(two, 0) + y * oz - z * oy;
    wayY -= displacement(two, 8) + z * ox - x * oz;
    wayZ -= displacement(two, 16) + x * oy - y * ox;
    return;
  }
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  wayX -= wa * moved(A, toPrev, 0) + wb * moved(B, toPrev, 0) + wc * moved(C, toPrev, 0);
  wayY -= wa * moved(A, toPrev, 4) + wb * moved(B, toPrev, 4) + wc * moved(C, toPrev, 4);
  wayZ -= wa * moved(A, toPrev, 8) + wb * moved(B, toPrev, 8) + wc * moved(C, toPrev, 8);
}

/**
 * Returns how far the corners of a triangle have moved along n beyond their velocities before the substep, m. That is
 * the pull of their body, which is no impact (rigidRow.ts).
 */
function pulledAlong(A: usize, B: usize, C: usize): f64 {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const h: f64 = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  let sum: f64 = 0;
  for (let k: usize = 0; k < 3; k++) {
    const by =
      wa * (moved(A, toPrev, k << 2) - h * <f64>load<f32>(A + toV + (k << 2))) +
      wb * (moved(B, toPrev, k << 2) - h * <f64>load<f32>(B + toV + (k << 2))) +
      wc * (moved(C, toPrev, k << 2) - h * <f64>load<f32>(C + toV + (k << 2)));
    sum += by * (k === 0 ? nx : k === 1 ? ny : nz);
  }
  return sum;
}

/**
 * Share of an older depth in a prefactored sheet that a push takes out. Such a sheet answers after the contacts
 * (prefactored/answer.ts), so a small depth is left in every substep. When a ball of 50 kg took out all of it, an edge
 * of a hammock was stretched to 1.84 instead of 1.44.
 */
const RELEASE: f64 = 0.05;

/** Marks the corners of a triangle of a prefactored sheet. @returns false: no prefactored sheet owns them */
function noteCorners(A: usize, B: usize, C: usize): bool {
  return noteMet(A) && noteMet(B) && noteMet(C);
}

/**
 * Separates ball and triangle by `depth` along n, with friction.
 * @param scratch ROTATION_SCRATCH bytes
 */
export function respond(shape: usize, A: usize, B: usize, C: usize, depth: f64, R: f64, scratch: usize): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const two = rigidRow(A);
  const light = two ? 0 : weighed(A, wa) + weighed(B, wb) + weighed(C, wc);
  const n0 = nx;
  const n1 = ny;
  const n2 = nz;
  // both sides are pushed at one point: at the particles, or for a rigid body at a point on the sphere
  const arm = R + (light > 0 ? <f64>load<f32>(A + toPrev, 12) : 0);
  const sx = -arm * n0;
  const sy = -arm * n1;
  const sz = -arm * n2;
  let ox: f64 = 0;
  let oy: f64 = 0;
  let oz: f64 = 0;
  let W = light + load<f64>(shape, L.SHAPE_INVERSE_MASS);
  if (two) {
    open(two, scratch);
    ox = center(shape) + sx - center(two);
    oy = center(shape + 8) + sy - center(two + 8);
    oz = center(shape + 16) + sz - center(two + 16);
    W += inverseMassAt(two, ox, oy, oz, n0, n1, n2);
  }
  if (!(W > 0)) return;
  measureWay(shape, two, A, B, C, ox, oy, oz);
  const dx = wayX;
  const dy = wayY;
  const dz = wayZ;
  const first = <usize>load<u32>(shape, L.SHAPE_FIRST);
  const approach = -(dx * n0 + dy * n1 + dz * n2);
  const root = rootBounceOf(first);
  const e: f32 = root > 0 ? root * rootBounceOf(A) : 0;
  const pulled = e > 0 && !two ? pulledAlong(A, B, C) : 0;
  const back = turned(approach, depth, min<f64>(approach, approach - pulled), e, first, A, isFast(shape, R));
  const answers = !two && noteCorners(A, B, C);
  const still = (max<f64>(0, depth - back) / W) * (answers ? RELEASE : 1);
  const lambda = answers ? back / W + still : max<f64>(depth, back) / W;
  pushAt(shape, 0, 0, 0, n0, n1, n2, lambda, still);
  if (two) pushAt(two, ox, oy, oz, n0, n1, n2, -lambda, -still);
  else {
    shiftCorners(A, B, C, -lambda, n0, n1, n2, 0);
    if (still > 0) shiftCorners(A, B, C, -still, n0, n1, n2, toPrev);
  }
  // friction between the surfaces, including the ball's turn
  const turnX = turn(shape, 0);
  const turnY = turn(shape, 8);
  const turnZ = turn(shape, 16);
  const tx = dx + approach * n0 + turnY * sz - turnZ * sy;
  const ty = dy + approach * n1 + turnZ * sx - turnX * sz;
  const tz = dz + approach * n2 + turnX * sy - turnY * sx;
  const mu = <f64>load<f32>(first + toAcc, 12) * <f64>load<f32>(A + toAcc, 12);
  const under = two ? mu : heldFriction(A, B, C, mu);
  const slip = rub(shape, two, A, B, C, sx, sy, sz, ox, oy, oz, tx, ty, tz, light, under * (lambda - still));
  if (!(under < mu) || !(slip > 0)) return;
  const k: f64 = 1 / sqrt(tx * tx + ty * ty + tz * tz);
  const heavy = inverseMassAt(shape, sx, sy, sz, k * tx, k * ty, k * tz);
  const most = (mu - under) * (lambda - still);
  const cut = dragHeld(A, B, C, wa, wb, wc, slip, heavy, most, k * tx, k * ty, k * tz);
  pushAt(shape, sx, sy, sz, k * tx, k * ty, k * tz, -cut, 0);
}

/**
 * Applies friction between ball and triangle.
 * @param s, o where they are pushed, from the centers of the ball and of the rigid body `two`; t slip of the surfaces,
 * m; light 1/kg of the corners there; most limit of friction, kg m
 * @returns the slip that is left, m
 */
function rub(
  shape: usize,
  two: usize,
  A: usize,
  B: usize,
  C: usize,
  sx: f64,
  sy: f64,
  sz: f64,
  ox: f64,
  oy: f64,
  oz: f64,
  tx: f64,
  ty: f64,
  tz: f64,
  light: f64,
  most: f64,
): f64 {
  const slide = sqrt(tx * tx + ty * ty + tz * tz);
  if (!(slide > 0)) return 0;
  tx /= slide;
  ty /= slide;
  tz /= slide;
  const meets =
    light + inverseMassAt(shape, sx, sy, sz, tx, ty, tz) + (two ? inverseMassAt(two, ox, oy, oz, tx, ty, tz) : 0);
  const cut = min<f64>(slide / meets, most);
  pushAt(shape, sx, sy, sz, tx, ty, tz, -cut, 0);
  if (two) pushAt(two, ox, oy, oz, tx, ty, tz, cut, 0);
  else shiftCorners(A, B, C, cut, tx, ty, tz, 0);
  return slide - cut * meets;
}

/** Moves corners by their weights in the answer. @param to 0, or offset from X to another array */
function shiftCorners(A: usize, B: usize, C: usize, by: f64, x: f64, y: f64, z: f64, to: usize): void {
  const toLow = to ? lowPrevFrom() - to : lowFrom();
  shift(A + to, toLow, <f64>load<f32>(A, 12) * wa * by, x, y, z);
  shift(B + to, toLow, <f64>load<f32>(B, 12) * wb * by, x, y, z);
  shift(C + to, toLow, <f64>load<f32>(C, 12) * wc * by, x, y, z);
}

/** Returns a corner's part of the inverse mass, 1/kg. */
// @inline
function weighed(at: usize, weight: f64): f64 {
  return <f64>load<f32>(at, 12) * weight * weight;
}

// @inline
function moved(at: usize, toPrev: usize, k: usize): f64 {
  return <f64>load<f32>(at + k) - <f64>load<f32>(at + toPrev + k) + rounding(at + k, lowFrom(), lowPrevFrom());
}
/** Returns a coordinate of the ball's center, m. @param shape its SHAPE row, plus 8 for each coordinate */
// @inline
export function center(shape: usize): f64 {
  return load<f64>(shape, L.SHAPE_CENTER) + load<f64>(shape, L.SHAPE_PUSH);
}

/** Returns the same coordinate at the start of the substep, shifted by the pushes that make no velocity. */
// @inline
export function centerBefore(shape: usize): f64 {
  return load<f64>(shape, L.SHAPE_CENTER) - load<f64>(shape, L.SHAPE_SHIFT) + load<f64>(shape, L.SHAPE_PUSH_STILL);
}

// @inline
export function center32(shape: usize): v128 {
  return f32x4(<f32>center(shape), <f32>center(shape + 8), <f32>center(shape + 16), 0);
}

// @inline
export function centerBefore32(shape: usize): v128 {
  return f32x4(<f32>centerBefore(shape), <f32>centerBefore(shape + 8), <f32>centerBefore(shape + 16), 0);
}

/**
 * Collides two balls: the second's center is a point with its radius as the margin.
 * @returns whether they bounced off each other
 */
export function touchBall(one: usize, two: usize): bool {
  const R = load<f64>(one, L.SHAPE_RADIUS);
  const S = load<f64>(two, L.SHAPE_RADIUS);
  const depth = depthOfPoint(
    centerBefore(two) - centerBefore(one),
    centerBefore(two + 8) - centerBefore(one + 8),
    centerBefore(two + 16) - centerBefore(one + 16),
    center(two) - center(one),
    center(two + 8) - center(one + 8),
    center(two + 16) - center(one + 16),
    R + S,
  );
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  const W = load<f64>(one, L.SHAPE_INVERSE_MASS) + load<f64>(two, L.SHAPE_INVERSE_MASS);
  if (!(depth > 0) || !(W > 0)) return false;
  const first = <usize>load<u32>(one, L.SHAPE_FIRST);
  const second = <usize>load<u32>(two, L.SHAPE_FIRST);
  let dx = displacement(one, 0) - displacement(two, 0);
  let dy = displacement(one, 8) - displacement(two, 8);
  let dz = displacement(one, 16) - displacement(two, 16);
  const n0 = nx;
  const n1 = ny;
  const n2 = nz;
  const approach = -(dx * n0 + dy * n1 + dz * n2);
  const back = turned(
    approach,
    depth,
    approach,
    rootBounceOf(first) * rootBounceOf(second),
    first,
    second,
    isFast(one, R),
  );
  const lambda = max<f64>(depth, back) / W;
  const still = max<f64>(0, depth - back) / W;
  pushAt(one, 0, 0, 0, n0, n1, n2, lambda, still);
  pushAt(two, 0, 0, 0, n0, n1, n2, -lambda, -still);
  // the contact points are at -R n of one and +S n of the other
  const x = R * turn(one, 0) + S * turn(two, 0);
  const y = R * turn(one, 8) + S * turn(two, 8);
  const z = R * turn(one, 16) + S * turn(two, 16);
  dx += approach * n0 - (y * n2 - z * n1);
  dy += approach * n1 - (z * n0 - x * n2);
  dz += approach * n2 - (x * n1 - y * n0);
  const bounced = approach > 0 && back > approach;
  const slide = sqrt(dx * dx + dy * dy + dz * dz);
  if (!(slide > 0)) return bounced;
  dx /= slide;
  dy /= slide;
  dz /= slide;
  const meets =
    inverseMassAt(one, -R * n0, -R * n1, -R * n2, dx, dy, dz) + inverseMassAt(two, S * n0, S * n1, S * n2, dx, dy, dz);
  const mu: f64 = load<f32>(first + toAcc, 12) * load<f32>(second + toAcc, 12);
  const cut = min<f64>(slide / meets, mu * (lambda - still));
  pushAt(one, -R * n0, -R * n1, -R * n2, dx, dy, dz, -cut, 0);
  pushAt(two, S * n0, S * n1, S * n2, dx, dy, dz, cut, 0);
  return bounced;
}

// @inline
function displacement(shape: usize, k: usize): f64 {
  return (
    load<f64>(shape + k, L.SHAPE_SHIFT) + load<f64>(shape + k, L.SHAPE_PUSH) - load<f64>(shape + k, L.SHAPE_PUSH_STILL)
  );
}
// @inline
function turn(shape: usize, k: usize): f64 {
  return (
    load<f64>(shape + k, L.SHAPE_TURN) + load<f64>(shape + k, L.SHAPE_TWIST) - load<f64>(shape + k, L.SHAPE_TWIST_STILL)
  );
}
