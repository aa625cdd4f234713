/**
 * Impacts of a rigid body on colliders, after its contacts are solved (rigid.ts): Mueller, Macklin, Chentanez, Jeschke
 * & Kim 2020, section 3.6. If a point's motion before any push met a surface, approaching it by A in this substep, it
 * must leave by e A in the next, e = 0 included. (Testing which points are at the surface in the end would be wrong:
 * pushes at one corner of a face that falls flat lift others off, and the box would start to spin.) The missing motion
 * is given as a push that makes a velocity and no displacement (the still part of a push, negative). Points are solved
 * one after another in sweeps, because the push at one corner moves the others. Earlier pushes of a point, also those
 * of rigid.ts, may be taken back but no more (projected Gauss-Seidel). Their sum is stored in the velocity array, which
 * is written afterwards. (With pushes that are only added, a box that falls flat leaves with 0.36 of its speed at e =
 * 0: one corner's push turns the others down, whose pushes lift it.) All pushes of a point together limit its friction
 * (Coulomb). (With the friction of rigid.ts alone, a box that landed flat and slid went 40 % farther in a turned
 * frame.) Resting points are left out, so they cost one sweep.
 */
import * as L from "../layout/layout";
import { findCoefficients, rests, rootBounce, rootStatic } from "../colliders/coefficients";
import { answer, answerX, answerY, answerZ } from "../colliders/collide";
import { lowFrom, lowPrevFrom, place } from "../math/places";
import { meets } from "../state/filters";
import { fromFrame, inFrame, turnFromFrame, frameX, frameY, frameZ } from "../colliders/motion";
import { inverseMassAt, pushAt } from "./rigidBody";

/** Nine points of a face need about 20 sweeps to share an impact evenly. An impact has one such substep. */
const SWEEPS = 64;
/** Sweeps end when pushes change velocities by less than this part of the approach. */
const RESIDUE: f64 = 1e-3;

// The point that is being solved: normal m of the collider, r from the body's center, displacement g of the collider.
let mx: f32 = 0;
let my: f32 = 0;
let mz: f32 = 0;
let rx: f64 = 0;
let ry: f64 = 0;
let rz: f64 = 0;
let gx: f32 = 0;
let gy: f32 = 0;
let gz: f32 = 0;
/** Whether a moving collider has pushed the body: that may give it energy. */
let driven = false;

export function bounceRigid(row: usize, h: f32): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  findCoefficients(first, load<f32>(first + toAcc, 12));
  const colliders = load<i32>(L.HEADER, L.H_COLLIDER_COUNT);
  const table = <usize>load<u32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_MEETS);
  driven = false;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let pushed = false;
    for (let n = 0, c = <usize>load<u32>(L.HEADER, L.H_COLLIDERS); n < colliders; n++, c += L.COLLIDER_BYTES) {
      if (load<i32>(c, L.COLLIDER_TYPE) === L.COLLIDER_MESH || !meets(table, n)) continue;
      const e = rootBounce * load<f32>(c, L.COLLIDER_RESTITUTION);
      if (load<f64>(row, L.SHAPE_RADIUS) > 0) pushed = bouncePoint(row, c, 0, e, h) || pushed;
      else
        for (let i = load<i32>(row, L.SHAPE_SURFACE), at = first; i > 0; i--, at += 16)
          pushed = bouncePoint(row, c, at, e, h) || pushed;
    }
    if (!pushed) break;
  }
  if (!driven) takeGain(row);
}

/**
 * Returns the share of some pushes f with which they add no energy, at most 1. With friction, Newton's restitution may
 * add some: friction turns the body, and its point then gets a greater push to leave by e A (Kane & Levinson 1985; a
 * box of e = 1 gained 25 %). A quadratic of the share s:
 *   dE = s sum f . u + s^2/2 sum f . (u' - u),  u, u' the motion of f's point before and after all of f
 * @param before sum f . u; after sum f . u'
 */
export function shareWithoutGain(before: f64, after: f64): f64 {
  return before < 0 && before + after > 0 ? (2 * before) / (before - after) : 1;
}

/** Reduces the pushes until they add no energy. */
function takeGain(row: usize): void {
  if (load<f64>(row, L.SHAPE_RADIUS) > 0) return;
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  gx = 0;
  gy = 0;
  gz = 0;
  let before: f64 = 0;
  let after: f64 = 0;
  const at0 = <usize>load<u32>(row, L.SHAPE_FIRST);
  for (let i = load<i32>(row, L.SHAPE_SURFACE), at = at0; i > 0; i--, at += 16) {
    const v = at + toV;
    const fx: f64 = load<f32>(v);
    const fy: f64 = load<f32>(v, 4);
    const fz: f64 = load<f32>(v, 8);
    if (fx === 0 && fy === 0 && fz === 0) continue;
    rx = place(at, toLow) - load<f64>(row, L.SHAPE_CENTER);
    ry = place(at + 4, toLow) - load<f64>(row, L.SHAPE_CENTER + 8);
    rz = place(at + 8, toLow) - load<f64>(row, L.SHAPE_CENTER + 16);
    before += fx * leaving(row, 1, 0, 0, 0) + fy * leaving(row, 0, 1, 0, 0) + fz * leaving(row, 0, 0, 1, 0);
    after += fx * leaving(row, 1, 0, 0, 1) + fy * leaving(row, 0, 1, 0, 1) + fz * leaving(row, 0, 0, 1, 1);
  }
  const share = shareWithoutGain(before, after);
  if (share === 1) return;
  for (let k: usize = 0; k < 24; k += 8) {
    const push = load<f64>(row + k, L.SHAPE_PUSH);
    const twist = load<f64>(row + k, L.SHAPE_TWIST);
    store<f64>(row + k, push - share * (push - load<f64>(row + k, L.SHAPE_PUSH_STILL)), L.SHAPE_PUSH_STILL);
    store<f64>(row + k, twist - share * (twist - load<f64>(row + k, L.SHAPE_TWIST_STILL)), L.SHAPE_TWIST_STILL);
  }
}

/** Forgets all pushes. */
export function clearPushes(row: usize): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  for (let i = load<i32>(row, L.SHAPE_SURFACE), v = <usize>load<u32>(row, L.SHAPE_FIRST) + toV; i > 0; i--, v += 16) {
    store<f32>(v, 0);
    store<f32>(v, 0, 4);
    store<f32>(v, 0, 8);
  }
}

/**
 * Returns where the pushes of a collider at a point are kept. A ball has one point, and a place for each collider among
 * its particles. (With one place for all, what a floor had pushed counted as friction of the wall beside it: a ball of
 * 1.8 kg, hit in the corner between them, got 790 J.)
 * @param at particle of the point; of a ball its first one
 */
function pushesAt(row: usize, c: usize, at: usize): usize {
  const v = at + <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  if (!(load<f64>(row, L.SHAPE_RADIUS) > 0)) return v;
  const number = <i32>((c - <usize>load<u32>(L.HEADER, L.H_COLLIDERS)) / L.COLLIDER_BYTES);
  return v + ((<usize>min<i32>(number, load<i32>(row, L.SHAPE_SURFACE) - 1)) << 4);
}

/**
 * Records a push of `lambda` (kg m) of a collider along n at a point that made a velocity. It is stored as a
 * displacement of a point with the body's mass, so that float32 keeps its digits in any unit.
 */
export function addPush(row: usize, c: usize, at: usize, lambda: f64, nx: f32, ny: f32, nz: f32): void {
  const v = pushesAt(row, c, at);
  const add = <f32>(lambda * load<f64>(row, L.SHAPE_INVERSE_MASS));
  store<f32>(v, load<f32>(v) + add * nx);
  store<f32>(v, load<f32>(v, 4) + add * ny, 4);
  store<f32>(v, load<f32>(v, 8) + add * nz, 8);
}

/**
 * Returns how far the point moves along n against the collider, by motion that becomes velocity.
 * (The displacement of the point itself is on an arc: a turning box gained 2 % of energy in each impact.)
 * @param pushed 1: after pushes; 0: before them
 */
function leaving(row: usize, nx: f32, ny: f32, nz: f32, pushed: f64): f64 {
  const push = row + L.SHAPE_PUSH;
  const twist = row + L.SHAPE_TWIST;
  const stillPush = row + L.SHAPE_PUSH_STILL;
  const stillTwist = row + L.SHAPE_TWIST_STILL;
  const sx = load<f64>(row, L.SHAPE_SHIFT) + pushed * (load<f64>(push) - load<f64>(stillPush));
  const sy = load<f64>(row, L.SHAPE_SHIFT + 8) + pushed * (load<f64>(push, 8) - load<f64>(stillPush, 8));
  const sz = load<f64>(row, L.SHAPE_SHIFT + 16) + pushed * (load<f64>(push, 16) - load<f64>(stillPush, 16));
  const tx = load<f64>(row, L.SHAPE_TURN) + pushed * (load<f64>(twist) - load<f64>(stillTwist));
  const ty = load<f64>(row, L.SHAPE_TURN + 8) + pushed * (load<f64>(twist, 8) - load<f64>(stillTwist, 8));
  const tz = load<f64>(row, L.SHAPE_TURN + 16) + pushed * (load<f64>(twist, 16) - load<f64>(stillTwist, 16));
  return (sx + ty * rz - tz * ry - gx) * nx + (sy + tz * rx - tx * rz - gy) * ny + (sz + tx * ry - ty * rx - gz) * nz;
}

/**
 * Solves one point against one collider.
 * @param at address of the particle; 0: the ball itself
 * @returns whether it was pushed
 */
function bouncePoint(row: usize, c: usize, at: usize, e: f32, h: f32): bool {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const cx = load<f64>(row, L.SHAPE_CENTER);
  const cy = load<f64>(row, L.SHAPE_CENTER + 8);
  const cz = load<f64>(row, L.SHAPE_CENTER + 16);
  const motion = <usize>load<u32>(c, L.COLLIDER_MOTION);
  // the point's own motion before any push: it ends at w (of a ball its center) and began at p
  const toLow = lowFrom();
  const prev = at + toPrev;
  const prevLow = lowPrevFrom() - toPrev;
  const wx = at ? place(at, toLow) : cx;
  const wy = at ? place(at + 4, toLow) : cy;
  const wz = at ? place(at + 8, toLow) : cz;
  const margin = at ? load<f32>(prev, 12) : <f32>load<f64>(row, L.SHAPE_RADIUS);
  let px = at ? place(prev, prevLow) : cx - load<f64>(row, L.SHAPE_SHIFT);
  let py = at ? place(prev + 4, prevLow) : cy - load<f64>(row, L.SHAPE_SHIFT + 8);
  let pz = at ? place(prev + 8, prevLow) : cz - load<f64>(row, L.SHAPE_SHIFT + 16);
  let x = wx;
  let y = wy;
  let z = wz;
  gx = 0;
  gy = 0;
  gz = 0;
  if (motion) {
    inFrame(motion, L.MOTION_S0, L.MOTION_R0, px, py, pz);
    px = frameX;
    py = frameY;
    pz = frameZ;
    inFrame(motion, L.MOTION_S1, L.MOTION_R1, x, y, z);
    x = frameX;
    y = frameY;
    z = frameZ;
    fromFrame(motion, L.MOTION_S0, L.MOTION_R0, x, y, z);
    gx = <f32>(wx - frameX);
    gy = <f32>(wy - frameY);
    gz = <f32>(wz - frameZ);
  }
  if (!(answer(c, px, py, pz, x, y, z, margin) > 0)) return false;
  driven = driven || motion !== 0;
  mx = answerX;
  my = answerY;
  mz = answerZ;
  if (motion) {
    turnFromFrame(motion, L.MOTION_R1, mx, my, mz);
    mx = <f32>frameX;
    my = <f32>frameY;
    mz = <f32>frameZ;
  }
  const R: f64 = at ? 0 : margin;
  rx = wx - cx - R * <f64>mx;
  ry = wy - cy - R * <f64>my;
  rz = wz - cz - R * <f64>mz;
  return hitPoint(row, c, at ? at : first, e, h);
}

/**
 * Push and friction of a point that has hit a collider.
 * @param at particle of the point; of a ball its only one
 * @returns whether it was pushed
 */
function hitPoint(row: usize, c: usize, at: usize, e: f32, h: f32): bool {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const approach = <f32>-leaving(row, mx, my, mz, 0);
  if (rests(approach, <usize>load<u32>(row, L.SHAPE_FIRST) + <usize>load<u32>(L.HEADER, L.H_ACC) - X, h)) return false;
  const lacks = <f64>(e * approach) - leaving(row, mx, my, mz, 1);
  const W = inverseMassAt(row, rx, ry, rz, mx, my, mz);
  const sum = pushesAt(row, c, at);
  const scale = load<f64>(row, L.SHAPE_INVERSE_MASS);
  const had = (load<f32>(sum) * mx + load<f32>(sum, 4) * my + load<f32>(sum, 8) * mz) / scale;
  const lambda = max<f64>(lacks / W, -max<f64>(had, 0));
  const pushed = abs<f64>(lambda) * W > RESIDUE * <f64>approach;
  if (pushed) {
    pushAt(row, rx, ry, rz, mx, my, mz, 0, -lambda);
    addPush(row, c, at, lambda, mx, my, mz);
  }
  return rubPoint(row, c, at, approach) || pushed;
}

/**
 * Friction of a point in an impact (Coulomb), under its push so far. Both are in the velocity array.
 * @returns whether it was pushed
 */
function rubPoint(row: usize, c: usize, at: usize, approach: f32): bool {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const root = load<f32>(at + <usize>load<u32>(L.HEADER, L.H_ACC) - X, 12);
  const mu = <f64>root * <f64>load<f32>(c, L.COLLIDER_FRICTION);
  const still = <f64>rootStatic * <f64>load<f32>(c, L.COLLIDER_STATIC);
  if (!(mu > 0) && !(still > 0)) return false;
  const sum = pushesAt(row, c, at);
  const scale = load<f64>(row, L.SHAPE_INVERSE_MASS);
  const push: f64 = max<f32>(0, load<f32>(sum) * mx + load<f32>(sum, 4) * my + load<f32>(sum, 8) * mz);
  // slip along x, y and z, without its normal part
  let tx = leaving(row, 1, 0, 0, 1);
  let ty = leaving(row, 0, 1, 0, 1);
  let tz = leaving(row, 0, 0, 1, 1);
  const along = tx * mx + ty * my + tz * mz;
  tx -= along * mx;
  ty -= along * my;
  tz -= along * mz;
  const slide = sqrt(tx * tx + ty * ty + tz * tz);
  if (!(slide > 0)) return false;
  const W = inverseMassAt(row, rx, ry, rz, tx / slide, ty / slide, tz / slide);
  // pushes in the array are displacements of the body's mass
  const hadX = <f64>load<f32>(sum) - push * mx;
  const hadY = <f64>load<f32>(sum, 4) - push * my;
  const hadZ = <f64>load<f32>(sum, 8) - push * mz;
  let fx = hadX - (scale / W) * tx;
  let fy = hadY - (scale / W) * ty;
  let fz = hadZ - (scale / W) * tz;
  const size = sqrt(fx * fx + fy * fy + fz * fz);
  const cut: f64 = size > still * push ? min<f64>(1, (mu * push) / size) : 1;
  fx = cut * fx - hadX;
  fy = cut * fy - hadY;
  fz = cut * fz - hadZ;
  const change = sqrt(fx * fx + fy * fy + fz * fz) / scale;
  if (!(change * W > RESIDUE * <f64>approach)) return false;
  pushAt(row, rx, ry, rz, fx / scale / change, fy / scale / change, fz / scale / change, 0, -change);
  addPush(row, c, at, change, <f32>(fx / scale / change), <f32>(fy / scale / change), <f32>(fz / scale / change));
  return true;
}
