/**
 * Rigid impact zones (Bridson, Fedkiw & Anderson 2002, section 7.5): particles of pairs that impulses do not clear move
 * as one rigid piece, with their linear and angular momentum:
 *   u_i = x_i - S_i,  V = sum m u / M,  w = I^-1 sum m (S - c) x u,  x_i = S_i + V + w x (S_i - c)
 * From S to x this is the affine map 1 + t [w], whose determinant 1 + t^2 |w|^2 is never 0: points of a zone cannot
 * meet on the way, and distances within it never shrink. That needs no iteration and no small angle. A zone with fixed
 * particles follows them if they translate; otherwise it stays at S. A zone that would enter a collider stays too.
 * Union-find over particle numbers: the smaller number is the root, so the result does not depend on the order of
 * joining.
 */
import * as L from "../../layout/layout";
import { addRound, change, particleAt } from "./movedParticles";
import { mark, marksOf, numberOf, unmark } from "../../state/marks";
import { entersCollider } from "../../colliders/leaveColliders";

let members = 0;
let active = false;

// @inline
function parentAt(number: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_ZONES) + ((<usize>number) << 2);
}
/** Address of the n-th member's number, in order of joining. Members are stored behind the parents. */
// @inline
function memberAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_ZONES) + ((<usize>(load<i32>(L.HEADER, L.H_PARTICLES) + n)) << 2);
}
// @inline
function sumsOf(number: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_ZONE_SUMS) + <usize>number * L.ZONE_BYTES;
}

function zoneMember(n: i32): usize {
  return particleAt(load<i32>(memberAt(n)));
}

export function beginZones(): void {
  members = 0;
  active = true;
}

export function endZones(): void {
  for (let n = 0; n < members; n++) unmark(load<i32>(memberAt(n)), L.MARK_ZONE);
  members = 0;
  active = false;
}

function root(number: i32): i32 {
  let r = number;
  while (load<i32>(parentAt(r)) !== r) r = load<i32>(parentAt(r));
  while (number !== r) {
    const next = load<i32>(parentAt(number));
    store<i32>(parentAt(number), r);
    number = next;
  }
  return r;
}

function enter(particle: usize): i32 {
  const number = numberOf(particle);
  if (!(marksOf(number) & L.MARK_ZONE)) {
    mark(number, L.MARK_ZONE);
    store<i32>(parentAt(number), number);
    store<i32>(memberAt(members), number);
    members++;
  }
  return root(number);
}

/** Joins four particles to one zone. */
export function joinZone(a: usize, b: usize, c: usize, d: usize): void {
  const ra = enter(a);
  const rb = enter(b);
  const rc = enter(c);
  const rd = enter(d);
  const least = min<i32>(min<i32>(ra, rb), min<i32>(rc, rd));
  store<i32>(parentAt(ra), least);
  store<i32>(parentAt(rb), least);
  store<i32>(parentAt(rc), least);
  store<i32>(parentAt(rd), least);
}

/** Returns whether all four are in one zone that has already been moved. */
export function sameZone(a: usize, b: usize, c: usize, d: usize): bool {
  if (!active) return false;
  const na = numberOf(a);
  const nb = numberOf(b);
  const nc = numberOf(c);
  const nd = numberOf(d);
  if (!(marksOf(na) & marksOf(nb) & marksOf(nc) & marksOf(nd) & L.MARK_ZONE)) return false;
  const r = root(na);
  return r === root(nb) && r === root(nc) && r === root(nd);
}

// fields of a zone's sums, f64: M, m S, m u, m S x u, m S S^T, then its motion
const MASS = 0;
const PLACE = 8;
const SHIFT = 32;
const SPIN = 56;
const MOMENT = 80;
const V = 128;
const OMEGA = 152;
const CENTER = 176;
const HELD = 200;

// @inline
function plus(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

/** Moves every zone rigidly. */
export function moveZones(): void {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  if (!members) return;
  // relative to the first member, to keep digits
  const origin = zoneMember(0) + toSafe;
  const ox: f64 = load<f32>(origin);
  const oy: f64 = load<f32>(origin, 4);
  const oz: f64 = load<f32>(origin, 8);
  for (let n = 0; n < members; n++) memory.fill(sumsOf(load<i32>(memberAt(n))), 0, L.ZONE_BYTES);
  for (let n = 0; n < members; n++) {
    const particle = zoneMember(n);
    const safe = particle + toSafe;
    const sums = sumsOf(root(load<i32>(memberAt(n))));
    const w: f64 = load<f32>(particle, 12);
    const x: f64 = <f64>load<f32>(safe) - ox;
    const y: f64 = <f64>load<f32>(safe, 4) - oy;
    const z: f64 = <f64>load<f32>(safe, 8) - oz;
    const a: f64 = <f64>load<f32>(particle) - <f64>load<f32>(safe);
    const b: f64 = <f64>load<f32>(particle, 4) - <f64>load<f32>(safe, 4);
    const c: f64 = <f64>load<f32>(particle, 8) - <f64>load<f32>(safe, 8);
    if (w === 0) {
      // HELD: 1 follows its fixed particles (V), 2 stays: its fixed particles move differently
      if (load<f64>(sums, HELD) === 0) {
        store<f64>(sums, 1, HELD);
        store<f64>(sums, a, V);
        store<f64>(sums, b, V + 8);
        store<f64>(sums, c, V + 16);
      } else if (a !== load<f64>(sums, V) || b !== load<f64>(sums, V + 8) || c !== load<f64>(sums, V + 16))
        store<f64>(sums, 2, HELD);
      continue;
    }
    const m = 1 / w;
    plus(sums + MASS, m);
    plus(sums + PLACE, m * x);
    plus(sums + PLACE + 8, m * y);
    plus(sums + PLACE + 16, m * z);
    plus(sums + SHIFT, m * a);
    plus(sums + SHIFT + 8, m * b);
    plus(sums + SHIFT + 16, m * c);
    plus(sums + SPIN, m * (y * c - z * b));
    plus(sums + SPIN + 8, m * (z * a - x * c));
    plus(sums + SPIN + 16, m * (x * b - y * a));
    plus(sums + MOMENT, m * x * x);
    plus(sums + MOMENT + 8, m * y * y);
    plus(sums + MOMENT + 16, m * z * z);
    plus(sums + MOMENT + 24, m * x * y);
    plus(sums + MOMENT + 32, m * x * z);
    plus(sums + MOMENT + 40, m * y * z);
  }
  for (let n = 0; n < members; n++) {
    const number = load<i32>(memberAt(n));
    if (root(number) !== number) continue;
    store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_COUNT_ZONES) + 1, L.H_COUNT_ZONES);
    findMotion(sumsOf(number));
  }
  place(toSafe, ox, oy, oz);
  if (keepOut()) place(toSafe, ox, oy, oz);
}

/** Computes V, omega and center from the sums. */
function findMotion(sums: usize): void {
  const held = load<f64>(sums, HELD);
  const M = load<f64>(sums, MASS);
  if (held === 2) {
    store<f64>(sums, 0, V);
    store<f64>(sums, 0, V + 8);
    store<f64>(sums, 0, V + 16);
  }
  if (held !== 0 || !(M > 0)) return;
  const cx = load<f64>(sums, PLACE) / M;
  const cy = load<f64>(sums, PLACE + 8) / M;
  const cz = load<f64>(sums, PLACE + 16) / M;
  const px = load<f64>(sums, SHIFT);
  const py = load<f64>(sums, SHIFT + 8);
  const pz = load<f64>(sums, SHIFT + 16);
  store<f64>(sums, px / M, V);
  store<f64>(sums, py / M, V + 8);
  store<f64>(sums, pz / M, V + 16);
  store<f64>(sums, cx, CENTER);
  store<f64>(sums, cy, CENTER + 8);
  store<f64>(sums, cz, CENTER + 16);
  const lx = load<f64>(sums, SPIN) - (cy * pz - cz * py);
  const ly = load<f64>(sums, SPIN + 8) - (cz * px - cx * pz);
  const lz = load<f64>(sums, SPIN + 16) - (cx * py - cy * px);
  const xx = load<f64>(sums, MOMENT) - M * cx * cx;
  const yy = load<f64>(sums, MOMENT + 8) - M * cy * cy;
  const zz = load<f64>(sums, MOMENT + 16) - M * cz * cz;
  const i01 = -(load<f64>(sums, MOMENT + 24) - M * cx * cy);
  const i02 = -(load<f64>(sums, MOMENT + 32) - M * cx * cz);
  const i12 = -(load<f64>(sums, MOMENT + 40) - M * cy * cz);
  const i00 = yy + zz;
  const i11 = xx + zz;
  const i22 = xx + yy;
  const k00 = i11 * i22 - i12 * i12;
  const k01 = i02 * i12 - i01 * i22;
  const k02 = i01 * i12 - i02 * i11;
  const determinant = i00 * k00 + i01 * k01 + i02 * k02;
  const trace = i00 + i11 + i22;
  // all members on a line: its rotation about the line is undetermined
  if (!(determinant > 1e-9 * trace * trace * trace)) return;
  const inverse = 1 / determinant;
  const k11 = i00 * i22 - i02 * i02;
  const k12 = i01 * i02 - i00 * i12;
  const k22 = i00 * i11 - i01 * i01;
  store<f64>(sums, inverse * (k00 * lx + k01 * ly + k02 * lz), OMEGA);
  store<f64>(sums, inverse * (k01 * lx + k11 * ly + k12 * lz), OMEGA + 8);
  store<f64>(sums, inverse * (k02 * lx + k12 * ly + k22 * lz), OMEGA + 16);
}

function place(toSafe: usize, ox: f64, oy: f64, oz: f64): void {
  for (let n = 0; n < members; n++) {
    const particle = zoneMember(n);
    const safe = particle + toSafe;
    const sums = sumsOf(root(load<i32>(memberAt(n))));
    if (load<f32>(particle, 12) === 0 && load<f64>(sums, HELD) !== 2) continue;
    const X: f64 = load<f32>(safe);
    const Y: f64 = load<f32>(safe, 4);
    const Z: f64 = load<f32>(safe, 8);
    const x = X - ox - load<f64>(sums, CENTER);
    const y = Y - oy - load<f64>(sums, CENTER + 8);
    const z = Z - oz - load<f64>(sums, CENTER + 16);
    const a = load<f64>(sums, OMEGA);
    const b = load<f64>(sums, OMEGA + 8);
    const c = load<f64>(sums, OMEGA + 16);
    change(particle);
    const from = v128.load(particle);
    store<f32>(particle, <f32>(X + load<f64>(sums, V) + b * z - c * y));
    store<f32>(particle, <f32>(Y + load<f64>(sums, V + 8) + c * x - a * z), 4);
    store<f32>(particle, <f32>(Z + load<f64>(sums, V + 16) + a * y - b * x), 8);
    addRound(particle, from);
  }
}

/** Keeps zones at S that would enter a collider. @returns true if there are any */
function keepOut(): bool {
  if (!load<i32>(L.HEADER, L.H_COLLIDER_COUNT)) return false;
  let any = false;
  for (let n = 0; n < members; n++) {
    const particle = zoneMember(n);
    const sums = sumsOf(root(load<i32>(memberAt(n))));
    if (load<f32>(particle, 12) === 0 || load<f64>(sums, HELD) === 2 || !entersCollider(particle)) continue;
    store<f64>(sums, 2, HELD);
    memory.fill(sums + V, 0, 48);
    any = true;
  }
  return any;
}
