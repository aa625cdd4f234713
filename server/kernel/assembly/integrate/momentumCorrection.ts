/**
 * Restores momentum that the contact response (contactResponse.ts) changed, as a rigid motion. It does so for free
 * bodies, and for islands of bodies that touch only each other (momentum.ts). Impulses act along directions of S on
 * particles that have moved to x: a couple. Particles that are stopped lose all their momentum. Only velocities change,
 * so the verification stays valid.
 *   dP = sum m (v - v0),  dL = sum m (x x v - x0 x v0)   over the moved particles, from x0, v0
 * Islands with a rigid body are corrected in the same way, once a substep, to the momentum at its start. That follows
 * rigid.ts, which computes velocities from positions.
 *   V = -dP/M,  w = I^-1 (c x dP - dL),  v += V + w x (x - c)   over all of the island, c and I at x
 */
import * as L from "../layout/layout";
import { lowFrom, lowPrevFrom, word } from "../math/places";
import { bodiesOf, centerX, centerY, centerZ, findTurn, mass, measureIsland, turnX, turnY, turnZ } from "./turn";
import { bodyOf } from "../state/owners";
import { standsForIsland, standsForRigid } from "../state/islands";

// @inline
function bodyAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_BODIES) + <usize>n * L.BODY_BYTES;
}

/** Begins a correction. Between `restore` and the next substep, BODY_VELOCITY and BODY_SPIN hold dP and dL. */
export function beginKeeping(): void {
  for (let n = 0; n < load<i32>(L.HEADER, L.H_BODY_COUNT); n++) memory.fill(bodyAt(n) + L.BODY_VELOCITY, 0, 48);
}

/** Row of the body that represents the island of a particle's body. */
// @inline
function islandRow(particle: usize): usize {
  return bodyAt(load<i32>(bodyOf(particle), L.BODY_ISLAND));
}

// @inline
function plus(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

/** Records the change of a particle that was moved from `from` (address of f32x4) and had the velocity (vx, vy, vz). */
export function noteChange(particle: usize, from: usize, vx: f64, vy: f64, vz: f64): void {
  const row = islandRow(particle);
  const origin = <usize>load<u32>(row, L.BODY_FIRST);
  const v = particle + <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const m = 1.0 / <f64>load<f32>(particle, 12);
  const ox: f64 = load<f32>(origin);
  const oy: f64 = load<f32>(origin, 4);
  const oz: f64 = load<f32>(origin, 8);
  const x = <f64>load<f32>(particle) - ox;
  const y = <f64>load<f32>(particle, 4) - oy;
  const z = <f64>load<f32>(particle, 8) - oz;
  const a = <f64>load<f32>(from) - ox;
  const b = <f64>load<f32>(from, 4) - oy;
  const c = <f64>load<f32>(from, 8) - oz;
  const d: f64 = load<f32>(v);
  const e: f64 = load<f32>(v, 4);
  const f: f64 = load<f32>(v, 8);
  plus(row + L.BODY_VELOCITY, m * (d - vx));
  plus(row + L.BODY_VELOCITY + 8, m * (e - vy));
  plus(row + L.BODY_VELOCITY + 16, m * (f - vz));
  plus(row + L.BODY_SPIN, m * (y * f - z * e - (b * vz - c * vy)));
  plus(row + L.BODY_SPIN + 8, m * (z * d - x * f - (c * vx - a * vz)));
  plus(row + L.BODY_SPIN + 16, m * (x * e - y * d - (a * vy - b * vx)));
}

/** Stores the place of a body's first particle, about which momentum is measured. */
export function putOrigin(row: usize): void {
  const first = <usize>load<u32>(row, L.BODY_FIRST);
  store<f64>(row, <f64>load<f32>(first), L.BODY_CENTER);
  store<f64>(row, <f64>load<f32>(first, 4), L.BODY_CENTER + 8);
  store<f64>(row, <f64>load<f32>(first, 8), L.BODY_CENTER + 16);
}

/**
 * Records the momentum of an island with a rigid body at the start of the substep: P* = sum m v and L* = sum m S x v
 * about o, in its row, with v as predicted.
 */
export function noteIsland(row: usize, island: i32): void {
  const start = <usize>load<u32>(L.HEADER, L.H_START);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  putOrigin(row);
  memory.fill(row + L.BODY_VELOCITY, 0, 48);
  addMomentum(row, island, (start ? start : <usize>load<u32>(L.HEADER, L.H_XPREV)) - X, lowPrevFrom(), 0, 1);
}

/** Restores the momentum of islands with a rigid body, after rigid.ts. @param h s */
export function keepIslands(): void {
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let n = 0; n < load<i32>(L.HEADER, L.H_BODY_COUNT); n++) {
    const row = bodyAt(n);
    if (!standsForRigid(rows, n)) continue;
    addMomentum(row, n, 0, lowFrom(), h, -1);
    // from P* - P about o to P - P* about the first particle
    const first = <usize>load<u32>(row, L.BODY_FIRST);
    const x = <f64>load<f32>(first) - load<f64>(row, L.BODY_CENTER);
    const y = <f64>load<f32>(first, 4) - load<f64>(row, L.BODY_CENTER + 8);
    const z = <f64>load<f32>(first, 8) - load<f64>(row, L.BODY_CENTER + 16);
    const px = -load<f64>(row, L.BODY_VELOCITY);
    const py = -load<f64>(row, L.BODY_VELOCITY + 8);
    const pz = -load<f64>(row, L.BODY_VELOCITY + 16);
    store<f64>(row, px, L.BODY_VELOCITY);
    store<f64>(row, py, L.BODY_VELOCITY + 8);
    store<f64>(row, pz, L.BODY_VELOCITY + 16);
    store<f64>(row, -load<f64>(row, L.BODY_SPIN) - (y * pz - z * py), L.BODY_SPIN);
    store<f64>(row, -load<f64>(row, L.BODY_SPIN + 8) - (z * px - x * pz), L.BODY_SPIN + 8);
    store<f64>(row, -load<f64>(row, L.BODY_SPIN + 16) - (x * py - y * px), L.BODY_SPIN + 16);
    putBack(row, n);
  }
}

/**
 * Adds an island's linear momentum, and its angular momentum about BODY_CENTER, to its row.
 * @param toPlace, toLow offsets from X to the positions and their low words; h s if velocities are damped, else 0;
 * sign 1 or -1
 */
function addMomentum(row: usize, island: i32, toPlace: usize, toLow: usize, h: f64, sign: f64): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const bodies = bodiesOf(row, island);
  const ox = load<f64>(row, L.BODY_CENTER);
  const oy = load<f64>(row, L.BODY_CENTER + 8);
  const oz = load<f64>(row, L.BODY_CENTER + 16);
  let px: f64 = 0;
  let py: f64 = 0;
  let pz: f64 = 0;
  let lx: f64 = 0;
  let ly: f64 = 0;
  let lz: f64 = 0;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (load<i32>(other, L.BODY_ISLAND) !== island) continue;
    for (let i = load<i32>(other, L.BODY_COUNT), at = <usize>load<u32>(other, L.BODY_FIRST); i > 0; i--, at += 16) {
      const v = at + toV;
      const m = (sign * (1.0 + h * <f64>load<f32>(v, 12))) / <f64>load<f32>(at, 12);
      const place = at + toPlace;
      const x = <f64>load<f32>(place) - ox + word(at, toLow);
      const y = <f64>load<f32>(place, 4) - oy + word(at + 4, toLow);
      const z = <f64>load<f32>(place, 8) - oz + word(at + 8, toLow);
      const a = m * <f64>load<f32>(v);
      const b = m * <f64>load<f32>(v, 4);
      const c = m * <f64>load<f32>(v, 8);
      px += a;
      py += b;
      pz += c;
      lx += y * c - z * b;
      ly += z * a - x * c;
      lz += x * b - y * a;
    }
  }
  plus(row + L.BODY_VELOCITY, px);
  plus(row + L.BODY_VELOCITY + 8, py);
  plus(row + L.BODY_VELOCITY + 16, pz);
  plus(row + L.BODY_SPIN, lx);
  plus(row + L.BODY_SPIN + 8, ly);
  plus(row + L.BODY_SPIN + 16, lz);
}

/** Restores the recorded momentum. */
export function endKeeping(): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_BODIES);
  for (let n = 0; n < load<i32>(L.HEADER, L.H_BODY_COUNT); n++) {
    const row = bodyAt(n);
    if (load<i32>(row, L.BODY_FREE) || standsForIsland(rows, n) || standsForRigid(rows, n)) putBack(row, n);
  }
}

function putBack(row: usize, island: i32): void {
  const px = load<f64>(row, L.BODY_VELOCITY);
  const py = load<f64>(row, L.BODY_VELOCITY + 8);
  const pz = load<f64>(row, L.BODY_VELOCITY + 16);
  const lx = load<f64>(row, L.BODY_SPIN);
  const ly = load<f64>(row, L.BODY_SPIN + 8);
  const lz = load<f64>(row, L.BODY_SPIN + 16);
  if (px === 0 && py === 0 && pz === 0 && lx === 0 && ly === 0 && lz === 0) return;
  measureIsland(row, island);
  findTurn(centerY * pz - centerZ * py - lx, centerZ * px - centerX * pz - ly, centerX * py - centerY * px - lz);
  moveAlong(row, island, -px / mass, -py / mass, -pz / mass);
}

/** Adds the velocity (vx, vy, vz), and the spin of the last `findTurn`, to the measured island. */
function moveAlong(row: usize, island: i32, vx: f64, vy: f64, vz: f64): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const bodies = bodiesOf(row, island);
  const origin = <usize>load<u32>(row, L.BODY_FIRST);
  const ox: f64 = load<f32>(origin);
  const oy: f64 = load<f32>(origin, 4);
  const oz: f64 = load<f32>(origin, 8);
  const cx = centerX;
  const cy = centerY;
  const cz = centerZ;
  const wx = turnX;
  const wy = turnY;
  const wz = turnZ;
  for (let n = 0, other = row; n < bodies; n++, other += L.BODY_BYTES) {
    if (load<i32>(other, L.BODY_ISLAND) !== island) continue;
    for (let i = load<i32>(other, L.BODY_COUNT), at = <usize>load<u32>(other, L.BODY_FIRST); i > 0; i--, at += 16) {
      const x = <f64>load<f32>(at) - ox - cx;
      const y = <f64>load<f32>(at, 4) - oy - cy;
      const z = <f64>load<f32>(at, 8) - oz - cz;
      const v = at + toV;
      store<f32>(v, <f32>(<f64>load<f32>(v) + vx + wy * z - wz * y));
      store<f32>(v, <f32>(<f64>load<f32>(v, 4) + vy + wz * x - wx * z), 4);
      store<f32>(v, <f32>(<f64>load<f32>(v, 8) + vz + wx * y - wy * x), 8);
    }
  }
}
