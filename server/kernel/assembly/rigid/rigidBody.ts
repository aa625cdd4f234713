/**
 * A rigid body as a whole: measures center, motion in this substep and inertia from its particles, and applies pushes
 * to all of them. Used by contacts with colliders (rigid.ts, rigidBounce.ts), with balls (balls.ts) and with other
 * surfaces (rigidContact.ts).
 */
import * as L from "../layout/layout";
import { fitRotation, r00, r01, r02, r10, r11, r12, r20, r21, r22 } from "../math/rotation";
import { noteRounding } from "../constraints/shape";
import { lowFrom, lowPrevFrom, put, rounding, word } from "../math/places";
import { countWork } from "../state/work";

/** Counted work of a measurement with its pushes: of a body, and of each particle. */
const UNITS_OF_BODY = 100;
const UNITS_OF_PARTICLE = 5;

/** Turns of a substep below this change angular momentum by less than float32 does, rad. */
const TURNS: f32 = 1e-4;

// distance of the farthest surface particle from the center, m, from the last `measure`
export let extent: f64;

// results of the last `findMeans`: mass; center now and at the start of the substep, m; whether any particle is free
let M: f64;
let px: f64;
let py: f64;
let pz: f64;
let vx: f64;
let vy: f64;
let vz: f64;
let free: bool;

/** Finds center and shift of a rigid body, without motion by rounding. */
function findMeans(row: usize): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const rest = <usize>load<u32>(row, L.SHAPE_REST);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  const ox: f64 = load<f32>(first);
  const oy: f64 = load<f32>(first, 4);
  const oz: f64 = load<f32>(first, 8);
  let sx: f64 = 0;
  let sy: f64 = 0;
  let sz: f64 = 0;
  let tx: f64 = 0;
  let ty: f64 = 0;
  let tz: f64 = 0;
  M = 0;
  free = false;
  for (let i = 0, at = first, q = rest; i < count; i++, at += 16, q += 32) {
    const m = load<f64>(q, 24);
    const prev = at + toPrev;
    if (load<f32>(at, 12) !== 0) free = true;
    M += m;
    sx += m * (<f64>load<f32>(at) - ox + rounding(at, toLow, toLowPrev));
    sy += m * (<f64>load<f32>(at, 4) - oy + rounding(at + 4, toLow, toLowPrev));
    sz += m * (<f64>load<f32>(at, 8) - oz + rounding(at + 8, toLow, toLowPrev));
    tx += m * (<f64>load<f32>(prev) - ox);
    ty += m * (<f64>load<f32>(prev, 4) - oy);
    tz += m * (<f64>load<f32>(prev, 8) - oz);
  }
  sx /= M;
  sy /= M;
  sz /= M;
  tx /= M;
  ty /= M;
  tz /= M;
  px = ox + sx;
  py = oy + sy;
  pz = oz + sz;
  vx = ox + tx;
  vy = oy + ty;
  vz = oz + tz;
  store<f64>(row, px, L.SHAPE_CENTER);
  store<f64>(row, py, L.SHAPE_CENTER + 8);
  store<f64>(row, pz, L.SHAPE_CENTER + 16);
  store<f64>(row, sx - tx, L.SHAPE_SHIFT);
  store<f64>(row, sy - ty, L.SHAPE_SHIFT + 8);
  store<f64>(row, sz - tz, L.SHAPE_SHIFT + 16);
}

/** Returns whether a body turns by more than TURNS in a substep. */
function turns(row: usize, h: f32): bool {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const x = v128.load(first);
  const v = v128.load(first + toV);
  const share = f32x4.splat(TURNS / h);
  for (let i = load<i32>(row, L.SHAPE_COUNT) - 1, at = first + 16; i > 0; i--, at += 16) {
    const d = f32x4.sub(v128.load(at + toV), v);
    const r = f32x4.mul(share, f32x4.sub(v128.load(at), x));
    const more = f32x4.sub(f32x4.mul(d, d), f32x4.mul(r, r));
    if (f32x4.extract_lane(more, 0) + f32x4.extract_lane(more, 1) + f32x4.extract_lane(more, 2) > 0) return true;
  }
  return false;
}

/**
 * Keeps the angular momentum of rigid bodies among the rows begin .. end, except free ones (integrate/momentum.ts) and
 * balls, whose inertia does not depend on their turn.
 */
export function keepSpins(begin: i32, end: i32, h: f64, scratch: usize): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_SHAPES);
  for (let n = begin; n < end; n++) {
    const row = rows + <usize>n * L.SHAPE_BYTES;
    if (load<i32>(row, L.SHAPE_LINEAR) || load<i32>(<usize>load<u32>(row, L.SHAPE_BODY), L.BODY_FREE)) continue;
    if (load<f64>(row, L.SHAPE_RADIUS) === 0 && turns(row, <f32>h)) keepSpin(row, h, scratch);
  }
}

/**
 * Adds the difference in angular momentum between the predicted turn and the predicted velocities to the rounding of a
 * body, which makes no velocity: the turn is the mean of the substep. (A box that tumbled near a floor gained 1 % of
 * its energy a second.)
 */
function keepSpin(row: usize, h: f64, scratch: usize): void {
  measure(row, scratch);
  if (load<f64>(row, L.SHAPE_INVERSE_MASS) === 0) return;
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  momentumOf(row, load<f64>(row, L.SHAPE_TURN), load<f64>(row, L.SHAPE_TURN + 8), load<f64>(row, L.SHAPE_TURN + 16));
  const rest = <usize>load<u32>(row, L.SHAPE_REST);
  for (
    let i = load<i32>(row, L.SHAPE_COUNT), at = <usize>load<u32>(row, L.SHAPE_FIRST), q = rest;
    i > 0;
    i--, at += 16, q += 32
  ) {
    const m = load<f64>(q, 24);
    const u = <f64>load<f32>(at + toPrev) - vx;
    const v = <f64>load<f32>(at + toPrev, 4) - vy;
    const w = <f64>load<f32>(at + toPrev, 8) - vz;
    const d = h * <f64>load<f32>(at + toV);
    const e = h * <f64>load<f32>(at + toV, 4);
    const f = h * <f64>load<f32>(at + toV, 8);
    lx -= m * (v * f - w * e);
    ly -= m * (w * d - u * f);
    lz -= m * (u * e - v * d);
  }
  noteRounding(row, 0, 0, 0, lx, ly, lz);
}

// result of the last `momentumOf`, kg m^2
let lx: f64;
let ly: f64;
let lz: f64;

/** Finds sum m r x (t x r) of the last measured body: its angular momentum if t is its turn. */
function momentumOf(row: usize, tx: f64, ty: f64, tz: f64): void {
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  const rest = <usize>load<u32>(row, L.SHAPE_REST);
  lx = ly = lz = 0;
  for (
    let i = load<i32>(row, L.SHAPE_COUNT), at = <usize>load<u32>(row, L.SHAPE_FIRST), q = rest;
    i > 0;
    i--, at += 16, q += 32
  ) {
    const m = load<f64>(q, 24);
    const x = <f64>load<f32>(at) - px + rounding(at, toLow, toLowPrev);
    const y = <f64>load<f32>(at, 4) - py + rounding(at + 4, toLow, toLowPrev);
    const z = <f64>load<f32>(at, 8) - pz + rounding(at + 8, toLow, toLowPrev);
    const a = ty * z - tz * y;
    const b = tz * x - tx * z;
    const c = tx * y - ty * x;
    lx += m * (y * c - z * b);
    ly += m * (z * a - x * c);
    lz += m * (x * b - y * a);
  }
}

/**
 * Moves a measured body by its pushes, so that its momentum and angular momentum change exactly by theirs. Turns do not
 * add up, and the inertia turns with the body: the difference counts as rounding.
 */
export function moveByPushes(row: usize, scratch: usize): void {
  const push = row + L.SHAPE_PUSH;
  const shift = row + L.SHAPE_SHIFT;
  const sx = load<f64>(push) + load<f64>(shift);
  const sy = load<f64>(push, 8) + load<f64>(shift, 8);
  const sz = load<f64>(push, 16) + load<f64>(shift, 16);
  takeCenter(row);
  momentumOf(
    row,
    load<f64>(row, L.SHAPE_TURN) + load<f64>(row, L.SHAPE_TWIST),
    load<f64>(row, L.SHAPE_TURN + 8) + load<f64>(row, L.SHAPE_TWIST + 8),
    load<f64>(row, L.SHAPE_TURN + 16) + load<f64>(row, L.SHAPE_TWIST + 16),
  );
  const ax = lx;
  const ay = ly;
  const az = lz;
  moveParticles(row, 0, L.SHAPE_PUSH, L.SHAPE_TWIST);
  measure(row, scratch);
  momentumOf(row, load<f64>(row, L.SHAPE_TURN), load<f64>(row, L.SHAPE_TURN + 8), load<f64>(row, L.SHAPE_TURN + 16));
  noteRounding(
    row,
    M * (load<f64>(shift) - sx),
    M * (load<f64>(shift, 8) - sy),
    M * (load<f64>(shift, 16) - sz),
    lx - ax,
    ly - ay,
    lz - az,
  );
}

/** Takes a body's center from its row. */
function takeCenter(row: usize): void {
  px = load<f64>(row, L.SHAPE_CENTER);
  py = load<f64>(row, L.SHAPE_CENTER + 8);
  pz = load<f64>(row, L.SHAPE_CENTER + 16);
}

/**
 * Measures a rigid body from its particles: center, shift, turn (without motion by rounding), inverse mass and inertia.
 * @param scratch ROTATION_SCRATCH bytes
 */
export function measure(row: usize, scratch: usize): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const rest = <usize>load<u32>(row, L.SHAPE_REST);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - <usize>load<u32>(L.HEADER, L.H_X);
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  countWork(UNITS_OF_BODY + UNITS_OF_PARTICLE * count);
  findMeans(row);
  let a00: f64 = 0;
  let a01: f64 = 0;
  let a02: f64 = 0;
  let a10: f64 = 0;
  let a11: f64 = 0;
  let a12: f64 = 0;
  let a20: f64 = 0;
  let a21: f64 = 0;
  let a22: f64 = 0;
  let xx: f64 = 0;
  let yy: f64 = 0;
  let zz: f64 = 0;
  let xy: f64 = 0;
  let xz: f64 = 0;
  let yz: f64 = 0;
  let far: f64 = 0;
  for (let i = 0, at = first, q = rest; i < count; i++, at += 16, q += 32) {
    const m = load<f64>(q, 24);
    const X = <f64>load<f32>(at) - px + rounding(at, toLow, toLowPrev);
    const Y = <f64>load<f32>(at, 4) - py + rounding(at + 4, toLow, toLowPrev);
    const Z = <f64>load<f32>(at, 8) - pz + rounding(at + 8, toLow, toLowPrev);
    const x = m * X;
    const y = m * Y;
    const z = m * Z;
    const u = <f64>load<f32>(at + toPrev) - vx;
    const v = <f64>load<f32>(at + toPrev, 4) - vy;
    const w = <f64>load<f32>(at + toPrev, 8) - vz;
    a00 += x * u;
    a01 += x * v;
    a02 += x * w;
    a10 += y * u;
    a11 += y * v;
    a12 += y * w;
    a20 += z * u;
    a21 += z * v;
    a22 += z * w;
    xx += x * X;
    yy += y * Y;
    zz += z * Z;
    xy += x * Y;
    xz += x * Z;
    yz += y * Z;
    far = max<f64>(far, X * X + Y * Y + Z * Z);
  }
  extent = sqrt(far);
  store<f64>(row, extent, L.SHAPE_EXTENT);
  fitRotation(scratch, a00, a01, a02, a10, a11, a12, a20, a21, a22);
  putTurn(row);
  memory.fill(row + L.SHAPE_PUSH, 0, 96);
  store<f64>(row, free ? 1 / M : 0, L.SHAPE_INVERSE_MASS);
  putInertia(row, xx, yy, zz, xy, xz, yz);
  if (free) takeRounding(row);
}

/** Stores the turn of the fitted rotation. */
function putTurn(row: usize): void {
  // sin = |vee(R)|, cos = (tr R - 1)/2; the tangent is limited to turns of 84 degrees in a substep
  const k: f64 = 0.5 / max<f64>(0.5 * (r00 + r11 + r22 - 1), 0.1);
  store<f64>(row, k * (r21 - r12), L.SHAPE_TURN);
  store<f64>(row, k * (r02 - r20), L.SHAPE_TURN + 8);
  store<f64>(row, k * (r10 - r01), L.SHAPE_TURN + 16);
}

/** Stores the inverse of the inertia about the center, from the second moments; 0 for a held body. */
function putInertia(row: usize, xx: f64, yy: f64, zz: f64, xy: f64, xz: f64, yz: f64): void {
  // a straight or point-like body has no inertia about itself: adding 1e-12 of the trace keeps the inverse finite
  const trace = 2 * (xx + yy + zz);
  const i00 = yy + zz + 1e-12 * trace;
  const i11 = xx + zz + 1e-12 * trace;
  const i22 = xx + yy + 1e-12 * trace;
  const k00 = i11 * i22 - yz * yz;
  const k01 = xz * yz + xy * i22;
  const k02 = xy * yz + xz * i11;
  const determinant = i00 * k00 - xy * k01 - xz * k02;
  const inverse: f64 = free && determinant > 0 ? 1 / determinant : 0;
  const at = row + L.SHAPE_INVERSE_INERTIA;
  store<f64>(at, inverse * k00);
  store<f64>(at, inverse * (i00 * i22 - xz * xz), 8);
  store<f64>(at, inverse * (i00 * i11 - xy * xy), 16);
  store<f64>(at, inverse * k01, 24);
  store<f64>(at, inverse * k02, 32);
  store<f64>(at, inverse * (xy * xz + yz * i00), 40);
}

/** Subtracts motion by rounding from shift and turn. */
function takeRounding(row: usize): void {
  const at = row + L.SHAPE_INVERSE_INERTIA;
  const rounding = row + L.SHAPE_ROUNDING;
  const a = load<f64>(rounding, 24);
  const b = load<f64>(rounding, 32);
  const c = load<f64>(rounding, 40);
  add3(row + L.SHAPE_SHIFT, -load<f64>(rounding) / M, -load<f64>(rounding, 8) / M, -load<f64>(rounding, 16) / M);
  add3(
    row + L.SHAPE_TURN,
    -(load<f64>(at) * a + load<f64>(at, 24) * b + load<f64>(at, 32) * c),
    -(load<f64>(at, 24) * a + load<f64>(at, 8) * b + load<f64>(at, 40) * c),
    -(load<f64>(at, 32) * a + load<f64>(at, 40) * b + load<f64>(at, 16) * c),
  );
}

// @inline
function add3(at: usize, x: f64, y: f64, z: f64): void {
  store<f64>(at, load<f64>(at) + x);
  store<f64>(at, load<f64>(at, 8) + y, 8);
  store<f64>(at, load<f64>(at, 16) + z, 16);
}

/** Returns the inverse mass along n at r from the center: 1/M + (r x n) . I^-1 (r x n), 1/kg. */
export function inverseMassAt(row: usize, rx: f64, ry: f64, rz: f64, nx: f64, ny: f64, nz: f64): f64 {
  const x = ry * nz - rz * ny;
  const y = rz * nx - rx * nz;
  const z = rx * ny - ry * nx;
  const I = row + L.SHAPE_INVERSE_INERTIA;
  return (
    load<f64>(row, L.SHAPE_INVERSE_MASS) +
    x * x * load<f64>(I) +
    y * y * load<f64>(I, 8) +
    z * z * load<f64>(I, 16) +
    2 * (x * y * load<f64>(I, 24) + x * z * load<f64>(I, 32) + y * z * load<f64>(I, 40))
  );
}

/** Applies a push of `lambda` (kg m) along n at r from the center; `still` of it makes no velocity. */
export function pushAt(
  row: usize,
  rx: f64,
  ry: f64,
  rz: f64,
  nx: f64,
  ny: f64,
  nz: f64,
  lambda: f64,
  still: f64,
): void {
  const I = row + L.SHAPE_INVERSE_INERTIA;
  const w = load<f64>(row, L.SHAPE_INVERSE_MASS);
  const a = ry * nz - rz * ny;
  const b = rz * nx - rx * nz;
  const c = rx * ny - ry * nx;
  const x = load<f64>(I) * a + load<f64>(I, 24) * b + load<f64>(I, 32) * c;
  const y = load<f64>(I, 24) * a + load<f64>(I, 8) * b + load<f64>(I, 40) * c;
  const z = load<f64>(I, 32) * a + load<f64>(I, 40) * b + load<f64>(I, 16) * c;
  add3(row + L.SHAPE_PUSH, lambda * w * nx, lambda * w * ny, lambda * w * nz);
  add3(row + L.SHAPE_TWIST, lambda * x, lambda * y, lambda * z);
  if (still === 0) return;
  add3(row + L.SHAPE_PUSH_STILL, still * w * nx, still * w * ny, still * w * nz);
  add3(row + L.SHAPE_TWIST_STILL, still * x, still * y, still * z);
}

/**
 * Moves the particles by push and twist (as a rotation, so that the body stays rigid). `toArray`: 0 for x, toPrev for
 * xPrev.
 */
export function moveParticles(row: usize, toArray: usize, push: usize, twist: usize): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const sx = load<f64>(row + push);
  const sy = load<f64>(row + push, 8);
  const sz = load<f64>(row + push, 16);
  const ax = 0.5 * load<f64>(row + twist);
  const ay = 0.5 * load<f64>(row + twist, 8);
  const az = 0.5 * load<f64>(row + twist, 16);
  if (sx === 0 && sy === 0 && sz === 0 && ax === 0 && ay === 0 && az === 0) return;
  const cx = load<f64>(row, L.SHAPE_CENTER);
  const cy = load<f64>(row, L.SHAPE_CENTER + 8);
  const cz = load<f64>(row, L.SHAPE_CENTER + 16);
  // The rounding error of x must not become a velocity, so that of xPrev has the opposite sign.
  const sign: f64 = toArray ? -1 : 1;
  let ea: f64 = 0;
  let eb: f64 = 0;
  let ec: f64 = 0;
  let la: f64 = 0;
  let lb: f64 = 0;
  let lc: f64 = 0;
  const toLow = toArray ? lowPrevFrom() - toArray : lowFrom();
  // Cayley: R r = r + k (a x r + a x (a x r)), a half the turn
  const k: f64 = 2 / (1 + ax * ax + ay * ay + az * az);
  for (let i = 0, at = first; i < count; i++, at += 16) {
    if (load<f32>(at, 12) === 0) continue;
    const x: f64 = load<f32>(at);
    const y: f64 = load<f32>(at, 4);
    const z: f64 = load<f32>(at, 8);
    const rx = x - cx;
    const ry = y - cy;
    const rz = z - cz;
    const p = at + toArray;
    const ux = ay * rz - az * ry;
    const uy = az * rx - ax * rz;
    const uz = ax * ry - ay * rx;
    const px = <f64>load<f32>(p) + word(p, toLow) + sx + k * (ux + ay * uz - az * uy);
    const py = <f64>load<f32>(p, 4) + word(p + 4, toLow) + sy + k * (uy + az * ux - ax * uz);
    const pz = <f64>load<f32>(p, 8) + word(p + 8, toLow) + sz + k * (uz + ax * uy - ay * ux);
    put(p, px, toLow);
    put(p + 4, py, toLow);
    put(p + 8, pz, toLow);
    const m: f64 = sign / <f64>load<f32>(at, 12);
    const a = m * (<f64>load<f32>(p) + word(p, toLow) - px);
    const b = m * (<f64>load<f32>(p, 4) + word(p + 4, toLow) - py);
    const c = m * (<f64>load<f32>(p, 8) + word(p + 8, toLow) - pz);
    ea += a;
    eb += b;
    ec += c;
    la += ry * c - rz * b;
    lb += rz * a - rx * c;
    lc += rx * b - ry * a;
  }
  noteRounding(row, ea, eb, ec, la, lb, lc);
}
