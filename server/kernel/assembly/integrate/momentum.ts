/**
 * Conserves momentum of bodies without outside contact. The elastic solve is internal, so linear and angular momentum
 * must stay as predicted. Three errors change them. Implicit Euler damps every rotation by omega^2 h a second (7 % in
 * 10 s at 3 rad/s and 1/1200 s). Sweeps that are not converged add torques. Velocities are computed from positions
 * rounded to float32 (a body 6 m from the origin drifts by half its velocity in a minute). The difference is restored
 * as a rigid motion (Dahl & Bargteil 2019, Global momentum preservation for position-based dynamics):
 *   balance, before the velocity update, with c and I the center and inertia at x:
 *     P* = sum m v,  L* = sum m (S - cS) x v            (v as predicted, S at the start of the substep)
 *     P  = sum m u,  L  = sum m (x - c) x u,            u = (x - xPrev)/h
 *     dV = (P* - P)/M,  I dOmega + h sum m (dOmega x (x - c)) x u = L* - L
 *   restore, after it:  w = dV + dOmega x (x - c),  v = (u + w) / (1 + h damping),  x += h w - h^2 a / 2
 * with a the external acceleration of the whole body or island. Symplectic Euler moves it by h (v + h a), a parabola by
 * h (v + h a / 2): without the correction it falls too far by h/t in the time t (1/3600 in 3 s at 20 substeps, 20 times
 * as much with one). Bodies that may reach a collider keep Euler's step, because it can rest.
 * The velocity is computed anew and rounded once: the correction is often less than a unit in the last place. Sums are
 * float64 and serial per body, so they do not depend on threads. Bodies with a fixed particle, an attachment or a grab
 * are not corrected: they exchange momentum with the world inside the solve. Neither are bodies that may reach a
 * collider in this tick. Only stress at rest makes the error visible there, so bodies with an enclosed volume keep the
 * angular momentum of their own constraints in every iteration, before contacts (keepInner). Sweeps turned a balloon by
 * 4 rad/s^2: it rolled 16 m in 20 s, and crept at 2 mm/s between others.
 * Positions are corrected as velocities are, but islands with a prefactored sheet are not turned. While x kept the turn
 * of the sweeps, a free balloon turned by 0.08 rad/s without any velocity.
 * Bodies near each other exchange momentum: they are an island, whose total momentum is conserved like a single body's.
 * Contact keeps a distance between the points that it pushes, so its friction is a couple, which is restored too.
 * Without islands two jellies that met at 2 m/s lost a hundredth of their angular momentum. Velocities of rigid bodies
 * are computed from positions after `restore` (rigid.ts), so islands with one are corrected after that
 * (momentumCorrection.ts). Before, two rigid blocks, or a ball and a jelly, lost a hundredth to a sixth.
 */
import * as L from "../layout/layout";
import { noteIsland, putOrigin } from "./momentumCorrection";
import {
  ALONE,
  bodiesOf,
  centerX,
  centerY,
  centerZ,
  findTurn,
  isIn,
  mass,
  measureIsland,
  turnX,
  turnY,
  turnZ,
} from "./turn";
import { lowFrom, lowPrevFrom, put, rounding, word } from "../math/places";
import { keepsMomentum, standsForRigid } from "../state/islands";

/** Most rounds of `turnBy`. */
const TURN_ROUNDS = 4;

// results of `measureSolved` and `measureStart`: P, sum m x u^T and sum m S; each thread has its own instance
let solvedX: f64;
let solvedY: f64;
let solvedZ: f64;
let xx: f64;
let xy: f64;
let xz: f64;
let yx: f64;
let yy: f64;
let yz: f64;
let zx: f64;
let zy: f64;
let zz: f64;
let startX: f64;
let startY: f64;
let startZ: f64;

/** Measures the momentum error of bodies begin .. end, and writes the correction to their rows. */
export function measureMomentumError(begin: i32, end: i32, h: f32): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * L.BODY_BYTES;
    if (keepsMomentum(rows, b)) {
      store<i32>(row, hasPrefactored(row, b) ? 0 : 1, L.BODY_MOVED);
      balanceIsland(row, b, 1.0 / <f64>h);
      measureLead(row, b, h);
    } else if (standsForRigid(rows, b)) noteIsland(row, b);
  }
}

/** Returns whether a prefactored sheet belongs to the island. Motion after its solve is a contact force to it. */
function hasPrefactored(row: usize, island: i32): bool {
  const bodies = bodiesOf(row, island);
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES)
    if (isIn(other, island) && load<i32>(other, L.BODY_PREFACTORED)) return true;
  return false;
}

/**
 * Computes how far a substep moves the island too far: h^2 F / 2 M; one that `restore` does not move by h w also -h dV.
 * (While its center moved without momentum, three sheets thrown at each other got 5e-4 of their angular momentum.)
 */
function measureLead(row: usize, island: i32, h: f64): void {
  const bodies = bodiesOf(row, island);
  let mass: f64 = 0;
  let x: f64 = 0;
  let y: f64 = 0;
  let z: f64 = 0;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (!isIn(other, island)) continue;
    mass += load<f64>(other, L.BODY_MASS);
    x += load<f64>(other, L.BODY_FORCE);
    y += load<f64>(other, L.BODY_FORCE + 8);
    z += load<f64>(other, L.BODY_FORCE + 16);
  }
  const half = (0.5 * h * h) / mass;
  const more = load<i32>(row, L.BODY_MOVED) ? 0 : h;
  store<f64>(row, half * x - more * load<f64>(row, L.BODY_VELOCITY), L.BODY_LEAD);
  store<f64>(row, half * y - more * load<f64>(row, L.BODY_VELOCITY + 8), L.BODY_LEAD + 8);
  store<f64>(row, half * z - more * load<f64>(row, L.BODY_VELOCITY + 16), L.BODY_LEAD + 16);
}

/** Measures a free body, or the island that body number `island` represents. */
function balanceIsland(row: usize, island: i32, inverseH: f64): void {
  noteIsland(row, island); // P* and L* about o, the first particle
  measureIsland(row, island);
  measureSolved(row, island, inverseH);
  measureStart(row, island);
  const M = mass;
  const tx = load<f64>(row, L.BODY_VELOCITY);
  const ty = load<f64>(row, L.BODY_VELOCITY + 8);
  const tz = load<f64>(row, L.BODY_VELOCITY + 16);
  const lx = load<f64>(row, L.BODY_SPIN);
  const ly = load<f64>(row, L.BODY_SPIN + 8);
  const lz = load<f64>(row, L.BODY_SPIN + 16);
  // from o to the centers: the correction
  centerSolved(centerX, centerY, centerZ);
  turnBy(
    lx - (startY * tz - startZ * ty) / M - (yz - zy),
    ly - (startZ * tx - startX * tz) / M - (zx - xz),
    lz - (startX * ty - startY * tx) / M - (xy - yx),
    load<i32>(row, L.BODY_MOVED) ? 1.0 / inverseH : 0.0,
  );
  store<f64>(row, (tx - solvedX) / M, L.BODY_VELOCITY);
  store<f64>(row, (ty - solvedY) / M, L.BODY_VELOCITY + 8);
  store<f64>(row, (tz - solvedZ) / M, L.BODY_VELOCITY + 16);
  store<f64>(row, load<f64>(row, L.BODY_CENTER) + centerX, L.BODY_CENTER);
  store<f64>(row, load<f64>(row, L.BODY_CENTER + 8) + centerY, L.BODY_CENTER + 8);
  store<f64>(row, load<f64>(row, L.BODY_CENTER + 16) + centerZ, L.BODY_CENTER + 16);
  store<f64>(row, turnX, L.BODY_SPIN);
  store<f64>(row, turnY, L.BODY_SPIN + 8);
  store<f64>(row, turnZ, L.BODY_SPIN + 16);
}

/** Sum m x u^T about (cx, cy, cz) instead of o. */
function centerSolved(cx: f64, cy: f64, cz: f64): void {
  xx -= cx * solvedX;
  xy -= cx * solvedY;
  xz -= cx * solvedZ;
  yx -= cy * solvedX;
  yy -= cy * solvedY;
  yz -= cy * solvedZ;
  zx -= cz * solvedX;
  zy -= cz * solvedY;
  zz -= cz * solvedZ;
}

/**
 * Finds the turn w that adds the angular momentum g, while it also moves the particles by h w x r:
 *   I w + h sum m (w x r) x u = g,   (w x r) x u = r (u . w) - w (u . r)
 * The second term is I w times the displacement of the substep relative to the body's size, so few rounds suffice. In a
 * substep with more than half of it the body explodes, and the term is left out.
 */
function turnBy(gx: f64, gy: f64, gz: f64, h: f64): void {
  findTurn(gx, gy, gz);
  const trace = xx + yy + zz;
  for (let round = 0; round < TURN_ROUNDS; round++) {
    const a = turnX;
    const b = turnY;
    const c = turnZ;
    findTurn(
      gx - h * (xx * a + xy * b + xz * c - trace * a),
      gy - h * (yx * a + yy * b + yz * c - trace * b),
      gz - h * (zx * a + zy * b + zz * c - trace * c),
    );
    if (round === 0 && 4 * square(turnX - a, turnY - b, turnZ - c) > square(a, b, c)) {
      findTurn(gx, gy, gz);
      return;
    }
  }
}

// @inline
function square(x: f64, y: f64, z: f64): f64 {
  return x * x + y * y + z * z;
}

/** Computes P and sum m x u^T about o, with o in BODY_CENTER. */
function measureSolved(row: usize, island: i32, inverseH: f64): void {
  const bodies = bodiesOf(row, island);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  const ox = load<f64>(row, L.BODY_CENTER);
  const oy = load<f64>(row, L.BODY_CENTER + 8);
  const oz = load<f64>(row, L.BODY_CENTER + 16);
  let xa: f64 = 0;
  let xb: f64 = 0;
  let xc: f64 = 0;
  let ya: f64 = 0;
  let yb: f64 = 0;
  let yc: f64 = 0;
  let za: f64 = 0;
  let zb: f64 = 0;
  let zc: f64 = 0;
  solvedX = 0;
  solvedY = 0;
  solvedZ = 0;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (!isIn(other, island)) continue;
    for (let i = load<i32>(other, L.BODY_COUNT), at = <usize>load<u32>(other, L.BODY_FIRST); i > 0; i--, at += 16) {
      const prev = at + toPrev;
      const m = 1.0 / <f64>load<f32>(at, 12);
      const x = <f64>load<f32>(at) - ox + word(at, toLow);
      const y = <f64>load<f32>(at, 4) - oy + word(at + 4, toLow);
      const z = <f64>load<f32>(at, 8) - oz + word(at + 8, toLow);
      const a = m * (x - (<f64>load<f32>(prev) - ox + word(at, toLowPrev))) * inverseH;
      const b = m * (y - (<f64>load<f32>(prev, 4) - oy + word(at + 4, toLowPrev))) * inverseH;
      const c = m * (z - (<f64>load<f32>(prev, 8) - oz + word(at + 8, toLowPrev))) * inverseH;
      solvedX += a;
      solvedY += b;
      solvedZ += c;
      xa += x * a;
      xb += x * b;
      xc += x * c;
      ya += y * a;
      yb += y * b;
      yc += y * c;
      za += z * a;
      zb += z * b;
      zc += z * c;
    }
  }
  xx = xa;
  xy = xb;
  xz = xc;
  yx = ya;
  yy = yb;
  yz = yc;
  zx = za;
  zy = zb;
  zz = zc;
}

/** Computes sum m S relative to o. */
function measureStart(row: usize, island: i32): void {
  const bodies = bodiesOf(row, island);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const starts = <usize>load<u32>(L.HEADER, L.H_START);
  // not xPrev if there is contact, which moves it
  const toStart = starts ? starts - X : <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toLowPrev = lowPrevFrom();
  const ox = load<f64>(row, L.BODY_CENTER);
  const oy = load<f64>(row, L.BODY_CENTER + 8);
  const oz = load<f64>(row, L.BODY_CENTER + 16);
  startX = 0;
  startY = 0;
  startZ = 0;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (!isIn(other, island)) continue;
    for (let i = load<i32>(other, L.BODY_COUNT), at = <usize>load<u32>(other, L.BODY_FIRST); i > 0; i--, at += 16) {
      const start = at + toStart;
      const m = 1.0 / <f64>load<f32>(at, 12);
      startX += m * (<f64>load<f32>(start) - ox + word(at, toLowPrev));
      startY += m * (<f64>load<f32>(start, 4) - oy + word(at + 4, toLowPrev));
      startZ += m * (<f64>load<f32>(start, 8) - oz + word(at + 8, toLowPrev));
    }
  }
}

/**
 * Keeps the angular momentum of bodies begin .. end with an enclosed volume in an iteration of their own constraints.
 * It turns them back by a rigid motion, as `restore` does.
 * @param solved 0: before the constraints; 1: after them
 */
export function keepInner(begin: i32, end: i32, solved: i32): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * L.BODY_BYTES;
    if (!load<i32>(row, L.BODY_ENCLOSED) || load<i32>(row, L.BODY_INACTIVE)) continue;
    if (!solved) putOrigin(row);
    measureSolved(row, ALONE, 1);
    if (solved) turnBack(row);
    else {
      store<f64>(row, yz - zy, L.BODY_SPIN);
      store<f64>(row, zx - xz, L.BODY_SPIN + 8);
      store<f64>(row, xy - yx, L.BODY_SPIN + 16);
    }
  }
}

/** Turns the measured body back to the angular momentum in its row, unless it has a fixed particle. */
function turnBack(row: usize): void {
  measureIsland(row, ALONE);
  if (!(mass < Infinity)) return;
  const first = <usize>load<u32>(row, L.BODY_FIRST);
  const gx = load<f64>(row, L.BODY_SPIN) - (yz - zy);
  const gy = load<f64>(row, L.BODY_SPIN + 8) - (zx - xz);
  const gz = load<f64>(row, L.BODY_SPIN + 16) - (xy - yx);
  const cx = centerX + <f64>load<f32>(first);
  const cy = centerY + <f64>load<f32>(first, 4);
  const cz = centerZ + <f64>load<f32>(first, 8);
  const origin = row + L.BODY_CENTER;
  centerSolved(cx - load<f64>(origin), cy - load<f64>(origin, 8), cz - load<f64>(origin, 16));
  turnBy(gx, gy, gz, 1);
  const toLow = lowFrom();
  for (let i = load<i32>(row, L.BODY_COUNT), at = first; i > 0; i--, at += 16) {
    const x = <f64>load<f32>(at);
    const y = <f64>load<f32>(at, 4);
    const z = <f64>load<f32>(at, 8);
    put(at, x + word(at, toLow) + turnY * (z - cz) - turnZ * (y - cy), toLow);
    put(at + 4, y + word(at + 4, toLow) + turnZ * (x - cx) - turnX * (z - cz), toLow);
    put(at + 8, z + word(at + 8, toLow) + turnX * (y - cy) - turnY * (x - cx), toLow);
  }
}

/** Repeats the velocity update with the correction of measureMomentumError. */
export function restore(begin: i32, end: i32, h: f32): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  const step: f64 = h;
  const inverseH: f64 = 1.0 / step;
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  for (let n = begin; n < end; n++) {
    const row = rows + <usize>n * L.BODY_BYTES;
    const number = load<i32>(row, L.BODY_ISLAND);
    const all = rows + <usize>number * L.BODY_BYTES;
    if (!load<i32>(row, L.BODY_FREE) && !keepsMomentum(rows, number)) continue;
    const vx = load<f64>(all, L.BODY_VELOCITY);
    const vy = load<f64>(all, L.BODY_VELOCITY + 8);
    const vz = load<f64>(all, L.BODY_VELOCITY + 16);
    const wx = load<f64>(all, L.BODY_SPIN);
    const wy = load<f64>(all, L.BODY_SPIN + 8);
    const wz = load<f64>(all, L.BODY_SPIN + 16);
    const cx = load<f64>(all, L.BODY_CENTER);
    const cy = load<f64>(all, L.BODY_CENTER + 8);
    const cz = load<f64>(all, L.BODY_CENTER + 16);
    const lead = all + L.BODY_LEAD;
    const falls = load<f64>(lead) !== 0 || load<f64>(lead, 8) !== 0 || load<f64>(lead, 16) !== 0;
    const way: f64 = load<i32>(all, L.BODY_MOVED) ? step : 0.0;
    for (let i = load<i32>(row, L.BODY_COUNT), at = <usize>load<u32>(row, L.BODY_FIRST); i > 0; i--, at += 16) {
      const X = <f64>load<f32>(at);
      const Y = <f64>load<f32>(at, 4);
      const Z = <f64>load<f32>(at, 8);
      const prev = at + toPrev;
      const v = at + toV;
      const x = X - cx;
      const y = Y - cy;
      const z = Z - cz;
      const moreX = vx + wy * z - wz * y;
      const moreY = vy + wz * x - wx * z;
      const moreZ = vz + wx * y - wy * x;
      const damped: f64 = 1.0 / (1.0 + step * <f64>load<f32>(v, 12));
      const rx = rounding(at, toLow, toLowPrev);
      const ry = rounding(at + 4, toLow, toLowPrev);
      const rz = rounding(at + 8, toLow, toLowPrev);
      store<f32>(v, <f32>(damped * ((X - <f64>load<f32>(prev) + rx) * inverseH + moreX)));
      store<f32>(v, <f32>(damped * ((Y - <f64>load<f32>(prev, 4) + ry) * inverseH + moreY)), 4);
      store<f32>(v, <f32>(damped * ((Z - <f64>load<f32>(prev, 8) + rz) * inverseH + moreZ)), 8);
      if (!falls && way === 0) continue;
      put(at, X + word(at, toLow) + way * moreX - load<f64>(lead), toLow);
      put(at + 4, Y + word(at + 4, toLow) + way * moreY - load<f64>(lead, 8), toLow);
      put(at + 8, Z + word(at + 8, toLow) + way * moreZ - load<f64>(lead, 16), toLow);
    }
  }
}
