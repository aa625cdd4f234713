/**
 * Momentum of bodies that nothing holds or touches. The elastic solve is internal, so it must leave linear and angular momentum as
 * prediction made them. It does not quite: implicit Euler turns every rotation down by omega^2 h a second (7 % in 10 s at 3 rad/s and
 * 1/1200 s), a sweep that is not converged adds torques of its own, and positions are rounded to float32 before velocities are taken
 * from them (a body 6 m from the origin wanders by half its velocity in a minute). So what was lost or gained is put back as a rigid motion
 * (Dahl & Bargteil 2019, Global momentum preservation for position-based dynamics):
 *   balance, before the velocity update, with c and I the center and inertia at x:
 *     P* = sum m v,  L* = sum m (S - cS) x v            (v as predicted, S where the substep began)
 *     P  = sum m u,  L  = sum m (x - c) x u,            u = (x - xPrev)/h
 *     dV = (P* - P)/M,  dOmega = I^-1 (L* - L)
 *   restore, after it:  v = (u + dV + dOmega x (x - c)) / (1 + h damping)
 * The velocity is made anew and rounded once: what is put back is often less than a unit in the last place of what is there.
 * Sums are float64 and serial per body, so they do not depend on threads. Bodies with a fixed particle, an attachment or a hand on them exchange
 * momentum with the world inside the solve and are left alone; so are those that may reach a collider in this tick, for which nobody would see the difference.
 * Bodies near each other exchange it among them: they are an island, whose momentum is kept as one body's is. Contact keeps a distance between the
 * points that it pushes, so friction on both is a couple; that is put back with the rest. Without islands two jellies that met at 2 m/s lost a
 * hundredth of their angular momentum. Velocities of rigid bodies are made from positions after `restore` (rigid.ts): islands with one of them get theirs back then
 * (momentumKept.ts). Before that two rigid blocks, or a ball and a jelly, lost a hundredth to a sixth.
 */
import {
  HEADER, H_X, H_XPREV, H_V, H_POINTS, H_POINT_COUNT, H_COLLIDERS, H_COLLIDER_COUNT, H_PAIRS, H_PAIR_CAPACITY, H_VERTEX_PAIRS, H_EDGE_PAIRS, H_SAFE, H_BODIES, H_BODY_COUNT, H_TICK_SECONDS,
  BODY_FIRST, BODY_COUNT, BODY_FREE, BODY_HELD, HELD_RIGID, BODY_ISLAND, BODY_LISTED, BODY_AGAINST, BODY_RIGID, BODY_VELOCITY, BODY_SPIN, BODY_CENTER, BODY_MEETS, BODY_BYTES,
  POINT_ACTIVE, POINT_COUNT, POINT_ADDRESS, POINT_BYTES, PAIR_SURFACES, PAIR_BYTES, H_TANGLES, H_DRIVE_COUNT, TANGLE_SURFACES, TANGLE_BYTES, COLLIDER_BYTES, COLLIDER_MOTION, MOTION_S1, MOTION_RADIUS, MOTION_TRAVEL,
} from "./layout";
import { distanceTo } from "./colliderDistance";
import { bindBalls } from "./balls";
import { meets } from "./filters";
import { noteIsland } from "./momentumKept";

/** Once a tick, after the broad phase: which bodies are free. */
export function findFreeBodies(): void {
  const bodies = load<i32>(HEADER, H_BODY_COUNT), rows = <usize>load<u32>(HEADER, H_BODIES);
  for (let b = 0; b < bodies; b++) {
    const row = rows + <usize>b * BODY_BYTES, free = flies(row);
    store<i32>(row, free ? 1 : 0, BODY_FREE);
    store<i32>(row, free ? 0 : 1, BODY_HELD);
    store<i32>(row, b, BODY_ISLAND);
  }
  let point = <usize>load<u32>(HEADER, H_POINTS);
  for (let n = load<i32>(HEADER, H_POINT_COUNT); n > 0; n--, point += POINT_BYTES) {
    if (!load<i32>(point, POINT_ACTIVE)) continue;
    for (let i = 0; i < load<i32>(point, POINT_COUNT); i++) bind(rows, bodies, load<u32>(point + (i << 2), POINT_ADDRESS));
  }
  bindTouching();
}

/** Bodies that the list of pairs has near each other, or near a collider's core mesh, are not free. Surfaces are bodies' first, in body order. */
export function bindTouching(): void {
  const rows = <usize>load<u32>(HEADER, H_BODIES), bodies = <u32>load<i32>(HEADER, H_BODY_COUNT);
  // a list that is made in the middle of a tick may have other neighbors
  for (let b: u32 = 0; b < bodies; b++) {
    const row = rows + <usize>b * BODY_BYTES, held = load<i32>(row, BODY_HELD) & 1;
    store<i32>(row, b, BODY_ISLAND);
    store<i32>(row, held, BODY_HELD);
    store<i32>(row, 1 - held, BODY_FREE);
  }
  const listed = load<u32>(HEADER, H_SAFE) != 0;
  if (listed) for (let b: u32 = 0; b < bodies; b++) {
    const row = rows + <usize>b * BODY_BYTES;
    join(rows, b, load<u32>(row, BODY_LISTED));
    if (load<i32>(row, BODY_AGAINST)) meetsFixed(row);
  }
  bindBalls();
  // what is driven apart (untangle.ts)
  if (listed) for (let n = load<i32>(HEADER, H_DRIVE_COUNT), tangle = <usize>load<u32>(HEADER, H_TANGLES); n > 0; n--, tangle += TANGLE_BYTES) bindBoth(rows, bodies, load<u32>(tangle, TANGLE_SURFACES));
  // who is held holds all of its island; where one is rigid, velocities are put back after rigid.ts
  for (let b: u32 = 0; b < bodies; b++) {
    const row = rows + <usize>b * BODY_BYTES, all = islandOf(rows, b);
    store<i32>(row, all, BODY_ISLAND);
    const at = rows + <usize>all * BODY_BYTES;
    if (load<i32>(row, BODY_HELD) & 3) store<i32>(at, load<i32>(at, BODY_HELD) | 2, BODY_HELD);
    if (load<i32>(row, BODY_RIGID)) store<i32>(at, load<i32>(at, BODY_HELD) | HELD_RIGID, BODY_HELD);
  }
}

/** Root of the union-find over body numbers: the smallest of them. */
function islandOf(rows: usize, body: u32): u32 {
  let b = body;
  while (load<u32>(rows + <usize>b * BODY_BYTES, BODY_ISLAND) != b) b = load<u32>(rows + <usize>b * BODY_BYTES, BODY_ISLAND);
  return b;
}

/** A new list of pairs: nobody is near anybody yet. */
export function forgetListed(): void {
  const rows = <usize>load<u32>(HEADER, H_BODIES), bodies = load<i32>(HEADER, H_BODY_COUNT);
  for (let b = 0; b < bodies; b++) { store<i32>(rows + <usize>b * BODY_BYTES, b, BODY_LISTED); store<i32>(rows + <usize>b * BODY_BYTES, 0, BODY_AGAINST); }
}

/** Notes whom H_PAIRS have near each other: union-find in BODY_LISTED, whose roots are the smallest of all. */
export function noteListed(): void {
  const pairs = <usize>load<u32>(HEADER, H_PAIRS), edges = load<i32>(HEADER, H_EDGE_PAIRS);
  noteRows(pairs, load<i32>(HEADER, H_VERTEX_PAIRS));
  noteRows(pairs + <usize>(load<i32>(HEADER, H_PAIR_CAPACITY) - edges) * PAIR_BYTES, edges);
}

function noteRows(pair: usize, count: i32): void {
  const rows = <usize>load<u32>(HEADER, H_BODIES), bodies = <u32>load<i32>(HEADER, H_BODY_COUNT);
  for (let n = 0; n < count; n++, pair += PAIR_BYTES) {
    noteBoth(rows, bodies, load<u32>(pair, PAIR_SURFACES));
  }
}

/** @param both numbers of two surfaces that are near each other, first << 16 | second @returns whether that was not known */
function noteBoth(rows: usize, bodies: u32, both: u32): bool {
  const a = both >> 16, b = both & 0xffff;
  if (a == b) return false;
  if (a >= bodies || b >= bodies) {
    const row = rows + <usize>min<u32>(a, b) * BODY_BYTES, known = load<i32>(row, BODY_AGAINST);
    store<i32>(row, 1, BODY_AGAINST);
    return !known;
  }
  const first = listedWith(rows, a), second = listedWith(rows, b);
  store<u32>(rows + <usize>max<u32>(first, second) * BODY_BYTES, min<u32>(first, second), BODY_LISTED);
  return first != second;
}

/** Likewise of one pair of surfaces. */
export function noteSurfaces(both: u32): bool { return noteBoth(<usize>load<u32>(HEADER, H_BODIES), <u32>load<i32>(HEADER, H_BODY_COUNT), both); }

function listedWith(rows: usize, body: u32): u32 {
  let b = body;
  while (load<u32>(rows + <usize>b * BODY_BYTES, BODY_LISTED) != b) b = load<u32>(rows + <usize>b * BODY_BYTES, BODY_LISTED);
  return b;
}

/** @param both a pair's surfaces, first << 16 | second */
@inline function bindBoth(rows: usize, bodies: u32, both: u32): void {
  const a = both >> 16, b = both & 0xffff;
  if (a == b) return;
  if (a < bodies && b < bodies) join(rows, a, b);
  else meetsFixed(rows + <usize>(a < bodies ? a : b) * BODY_BYTES);
}

@inline function meetsFixed(row: usize): void {
  store<i32>(row, 0, BODY_FREE);
  store<i32>(row, load<i32>(row, BODY_HELD) | 2, BODY_HELD);
}

/** The two exchange momentum. */
export function join(rows: usize, a: u32, b: u32): void {
  const first = islandOf(rows, a), second = islandOf(rows, b);
  if (first == second) return;
  store<i32>(rows + <usize>a * BODY_BYTES, 0, BODY_FREE);
  store<i32>(rows + <usize>b * BODY_BYTES, 0, BODY_FREE);
  store<i32>(rows + <usize>max<u32>(first, second) * BODY_BYTES, min<u32>(first, second), BODY_ISLAND);
}

@inline function hold(row: usize): void { store<i32>(row, 0, BODY_FREE); store<i32>(row, 1, BODY_HELD); }

/** The body that owns the particle at `address` is not free. */
function bind(rows: usize, bodies: i32, address: u32): void {
  for (let b = 0, row = rows; b < bodies; b++, row += BODY_BYTES) {
    const first = load<u32>(row, BODY_FIRST);
    if (address >= first && address < first + (load<u32>(row, BODY_COUNT) << 4)) { hold(row); return; }
  }
}

/** No particle is fixed, and no collider is within reach of the ball around the body, were it to go on for 1.5 ticks. */
function flies(row: usize): bool {
  const first = <usize>load<u32>(row, BODY_FIRST), count = load<i32>(row, BODY_COUNT);
  const toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  let low = v128.load(first), high = low, speed2: f32 = 0;
  for (let i = 0, at = first; i < count; i++, at += 16) {
    if (load<f32>(at, 12) == 0) return false;
    const x = v128.load(at);
    low = f32x4.min(low, x); high = f32x4.max(high, x);
    const a = load<f32>(at + toV), b = load<f32>(at + toV, 4), c = load<f32>(at + toV, 8);
    speed2 = max<f32>(speed2, a * a + b * b + c * c);
  }
  const half = f32x4.mul(f32x4.sub(high, low), f32x4.splat(0.5)), center = f32x4.add(low, half);
  const hx = f32x4.extract_lane(half, 0), hy = f32x4.extract_lane(half, 1), hz = f32x4.extract_lane(half, 2);
  const reach: f32 = Mathf.sqrt(hx * hx + hy * hy + hz * hz) + 1.5 * Mathf.sqrt(speed2) * load<f32>(HEADER, H_TICK_SECONDS);
  if (!(reach < Infinity)) return false; // blown up: the guard deals with it
  let c = <usize>load<u32>(HEADER, H_COLLIDERS);
  const colliders = load<i32>(HEADER, H_COLLIDER_COUNT), table = <usize>load<u32>(row, BODY_MEETS);
  for (let n = 0; n < colliders; n++, c += COLLIDER_BYTES) {
    if (!meets(table, n)) continue;
    const motion = <usize>load<u32>(c, COLLIDER_MOTION);
    if (motion) { // nowhere near the ball that holds it on its way
      const toward = f32x4.sub(center, v128.load(motion, MOTION_S1)), x = f32x4.extract_lane(toward, 0), y = f32x4.extract_lane(toward, 1), z = f32x4.extract_lane(toward, 2);
      const near: f32 = reach + load<f32>(motion, MOTION_RADIUS) + load<f32>(motion, MOTION_TRAVEL);
      if (!(x * x + y * y + z * z > near * near)) return false;
    } else if (distanceTo(c, f32x4.extract_lane(center, 0), f32x4.extract_lane(center, 1), f32x4.extract_lane(center, 2)) <= reach) return false;
  }
  return true;
}

/** What the solve did to the bodies begin .. end: written to their rows. */
export function balance(begin: i32, end: i32, h: f32): void {
  const rows = <usize>load<u32>(HEADER, H_BODIES);
  for (let b = begin; b < end; b++) {
    const row = rows + <usize>b * BODY_BYTES;
    if (load<i32>(row, BODY_FREE) || standsForIsland(rows, b)) balanceIsland(row, b, 1.0 / <f64>h);
    else if (standsForRigid(rows, b)) noteIsland(row, b);
  }
}

/** Does body number b stand for an island of several, of which none is held or rigid? */
export function standsForIsland(rows: usize, b: i32): bool { return !load<i32>(rows + <usize>b * BODY_BYTES, BODY_HELD) && standsForSeveral(rows, b); }

/** Likewise, of which one is rigid. */
export function standsForRigid(rows: usize, b: i32): bool { return load<i32>(rows + <usize>b * BODY_BYTES, BODY_HELD) == HELD_RIGID && standsForSeveral(rows, b); }

function standsForSeveral(rows: usize, b: i32): bool {
  const row = rows + <usize>b * BODY_BYTES;
  if (load<i32>(row, BODY_ISLAND) != b) return false;
  for (let n = b + 1; n < load<i32>(HEADER, H_BODY_COUNT); n++) if (load<i32>(rows + <usize>n * BODY_BYTES, BODY_ISLAND) == b) return true;
  return false;
}

/** A body that is free, or the island that body number `island` stands for. */
function balanceIsland(row: usize, island: i32, inverseH: f64): void {
  const first = <usize>load<u32>(row, BODY_FIRST), safe = <usize>load<u32>(HEADER, H_SAFE), bodies = load<i32>(HEADER, H_BODY_COUNT) - island;
  // contact moves xPrev along with what overlapped: where the substep began is S
  const toStart = (safe ? safe : <usize>load<u32>(HEADER, H_XPREV)) - <usize>load<u32>(HEADER, H_X);
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X), toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  // coordinates from the first particle, for the digits
  const ox: f64 = load<f32>(first), oy: f64 = load<f32>(first, 4), oz: f64 = load<f32>(first, 8);
  let M: f64 = 0, sx: f64 = 0, sy: f64 = 0, sz: f64 = 0, qx: f64 = 0, qy: f64 = 0, qz: f64 = 0; // mass, sum m x, sum m S
  let px: f64 = 0, py: f64 = 0, pz: f64 = 0, tx: f64 = 0, ty: f64 = 0, tz: f64 = 0; // P, P*
  let lx: f64 = 0, ly: f64 = 0, lz: f64 = 0, mx: f64 = 0, my: f64 = 0, mz: f64 = 0; // L, L* about o
  let xx: f64 = 0, yy: f64 = 0, zz: f64 = 0, xy: f64 = 0, xz: f64 = 0, yz: f64 = 0; // sum m x x^T
  for (let n = 0, other = row; n < bodies; n++, other += BODY_BYTES) {
   if (load<i32>(other, BODY_ISLAND) != island) continue;
   for (let i = load<i32>(other, BODY_COUNT), at = <usize>load<u32>(other, BODY_FIRST); i > 0; i--, at += 16) {
    const m: f64 = 1.0 / <f64>load<f32>(at, 12);
    const x: f64 = <f64>load<f32>(at) - ox, y: f64 = <f64>load<f32>(at, 4) - oy, z: f64 = <f64>load<f32>(at, 8) - oz;
    const a: f64 = <f64>load<f32>(at + toPrev) - ox, b: f64 = <f64>load<f32>(at + toPrev, 4) - oy, c: f64 = <f64>load<f32>(at + toPrev, 8) - oz;
    const u = m * (x - a) * inverseH, v = m * (y - b) * inverseH, w = m * (z - c) * inverseH;
    const a0: f64 = <f64>load<f32>(at + toStart) - ox, b0: f64 = <f64>load<f32>(at + toStart, 4) - oy, c0: f64 = <f64>load<f32>(at + toStart, 8) - oz;
    const d = m * <f64>load<f32>(at + toV), e = m * <f64>load<f32>(at + toV, 4), f = m * <f64>load<f32>(at + toV, 8);
    M += m;
    sx += m * x; sy += m * y; sz += m * z; qx += m * a0; qy += m * b0; qz += m * c0;
    px += u; py += v; pz += w; tx += d; ty += e; tz += f;
    lx += y * w - z * v; ly += z * u - x * w; lz += x * v - y * u;
    mx += b0 * f - c0 * e; my += c0 * d - a0 * f; mz += a0 * e - b0 * d;
    xx += m * x * x; yy += m * y * y; zz += m * z * z; xy += m * x * y; xz += m * x * z; yz += m * y * z;
   }
  }
  const cx = sx / M, cy = sy / M, cz = sz / M;
  // from o to the centers: what is to be put back
  const gx = mx - (qy * tz - qz * ty) / M - lx + (cy * pz - cz * py);
  const gy = my - (qz * tx - qx * tz) / M - ly + (cz * px - cx * pz);
  const gz = mz - (qx * ty - qy * tx) / M - lz + (cx * py - cy * px);
  // I = tr(Q) - Q with Q = sum m (x - c)(x - c)^T
  xx -= M * cx * cx; yy -= M * cy * cy; zz -= M * cz * cz; xy -= M * cx * cy; xz -= M * cx * cz; yz -= M * cy * cz;
  const i00 = yy + zz, i11 = xx + zz, i22 = xx + yy, i01 = -xy, i02 = -xz, i12 = -yz;
  const k00 = i11 * i22 - i12 * i12, k01 = i02 * i12 - i01 * i22, k02 = i01 * i12 - i02 * i11;
  const determinant = i00 * k00 + i01 * k01 + i02 * k02, trace = i00 + i11 + i22;
  store<f64>(row, (tx - px) / M, BODY_VELOCITY); store<f64>(row, (ty - py) / M, BODY_VELOCITY + 8); store<f64>(row, (tz - pz) / M, BODY_VELOCITY + 16);
  store<f64>(row, ox + cx, BODY_CENTER); store<f64>(row, oy + cy, BODY_CENTER + 8); store<f64>(row, oz + cz, BODY_CENTER + 16);
  // a body on a line does not say how fast it turns about it
  const inverse: f64 = determinant > 1e-9 * trace * trace * trace ? 1.0 / determinant : 0.0;
  const k11 = i00 * i22 - i02 * i02, k12 = i01 * i02 - i00 * i12, k22 = i00 * i11 - i01 * i01;
  store<f64>(row, inverse * (k00 * gx + k01 * gy + k02 * gz), BODY_SPIN);
  store<f64>(row, inverse * (k01 * gx + k11 * gy + k12 * gz), BODY_SPIN + 8);
  store<f64>(row, inverse * (k02 * gx + k12 * gy + k22 * gz), BODY_SPIN + 16);
}

/** The velocity update again, with what `balance` found. */
export function restore(begin: i32, end: i32, h: f32): void {
  const rows = <usize>load<u32>(HEADER, H_BODIES), inverseH: f64 = 1.0 / <f64>h;
  const toPrev = <usize>load<u32>(HEADER, H_XPREV) - <usize>load<u32>(HEADER, H_X), toV = <usize>load<u32>(HEADER, H_V) - <usize>load<u32>(HEADER, H_X);
  for (let n = begin; n < end; n++) {
    const row = rows + <usize>n * BODY_BYTES;
    const number = load<i32>(row, BODY_ISLAND), all = rows + <usize>number * BODY_BYTES;
    if (!load<i32>(row, BODY_FREE) && !standsForIsland(rows, number)) continue;
    const vx = load<f64>(all, BODY_VELOCITY), vy = load<f64>(all, BODY_VELOCITY + 8), vz = load<f64>(all, BODY_VELOCITY + 16);
    const wx = load<f64>(all, BODY_SPIN), wy = load<f64>(all, BODY_SPIN + 8), wz = load<f64>(all, BODY_SPIN + 16);
    const cx = load<f64>(all, BODY_CENTER), cy = load<f64>(all, BODY_CENTER + 8), cz = load<f64>(all, BODY_CENTER + 16);
    for (let i = load<i32>(row, BODY_COUNT), at = <usize>load<u32>(row, BODY_FIRST); i > 0; i--, at += 16) {
      const X = <f64>load<f32>(at), Y = <f64>load<f32>(at, 4), Z = <f64>load<f32>(at, 8), prev = at + toPrev, v = at + toV;
      const x = X - cx, y = Y - cy, z = Z - cz;
      const damped: f64 = 1.0 / (1.0 + <f64>h * <f64>load<f32>(v, 12));
      store<f32>(v, <f32>(damped * ((X - <f64>load<f32>(prev)) * inverseH + vx + wy * z - wz * y)));
      store<f32>(v, <f32>(damped * ((Y - <f64>load<f32>(prev, 4)) * inverseH + vy + wz * x - wx * z)), 4);
      store<f32>(v, <f32>(damped * ((Z - <f64>load<f32>(prev, 8)) * inverseH + vz + wx * y - wy * x)), 8);
    }
  }
}
