/**
 * Contact inside the implicit step, of implicit bodies with each other, with themselves and with colliders' meshes. A
 * near pair (contact/detect/bvttFront.ts) in the active set is a spring in the objective,
 *   E = k/2 (r - n . s)^2 + D(|u|),   s = sum_k b_k y_k,   k = STIFFNESS / sum_k b_k^2/A_kk (contactRows.ts)
 * n and b are those of the closest points at the start of the step; for sliding pairs, at the predicted positions. So
 * all touching bodies are solved together, whatever their masses, and stacks are stable. The active set is guessed from
 * the current and the predicted positions. After a solve, pulling pairs leave it and pairs that are too near join it;
 * then it is solved again, as with colliders (colliderContacts.ts). Friction: u = t + (1 - n n^T)(s - s_0) with t the
 * elastic part of all previous slip, kept from step to step;
 *   D = k u^2/2 up to u = mu p/k, mu p (u - mu p/2k) beyond      p the push of the last solve
 * It holds without creep, is only dissipative, and slides with mu p. A pair that is first found nearer than r keeps its
 * gap, which opens slowly (RISE), so that overlap does not throw bodies. Pairs that still end too near are resolved
 * exactly (contact/pipeline.ts).
 * Known error: friction brakes a body too much where its vertices pass between triangles of a coarse mesh. A plate of 1
 * m/s on triangles of 0.5 m stops after 0.08 m with mu 0.5 (exact 0.102), after 0.03 to 0.07 m with mu 0.2 (exact
 * 0.255). Most of that happens in single steps that brake by ten times mu g. Without friction it keeps 0.9998 of its
 * speed.
 * So `auto` does not choose it for solids that may meet triangles. Tried: friction of the step before until the active
 * set is known; slip without any force in all solves of a step; first solve without friction; pairs left out that pass
 * each other on their way (a third of 60 slides became right). More: docs/decisions/implicit-step.md.
 */
import * as L from "../layout/layout";
import { isOfEdges, together } from "./keptPairs";

/**
 * The push would be infinite at depth MOST times the gap ROW_REST. From STEEP of that depth on its slope stays
 * constant.
 */
const MOST: f64 = 0.8;
const STEEP: f64 = 0.9;

/**
 * A slip beyond STEADY x the free displacement of two steps (ROW_RESTING) is steady sliding: its Hessian keeps only the
 * part across the slip. Shorter slips count as a spring to where the slip ends, which never overshoots.
 */
const STEADY: f64 = 4;
/** Relative change of friction by a solve that is accepted. */
const CHANGED: f64 = 0.05;

// contacts of the current group: addresses of their rows, and their number
let list: usize = 0;
let rows = 0;
// weighted sum s of the last row
let s0: f64 = 0;
let s1: f64 = 0;
let s2: f64 = 0;
// slip of the last row in this step plus the kept elastic part, and the length of that vector
let u0: f64 = 0;
let u1: f64 = 0;
let u2: f64 = 0;
let length: f64 = 0;

// @inline
function rowAt(n: i32): usize {
  return <usize>load<u32>(list + ((<usize>n) << 2));
}

/** Selects the contacts for all functions below. @param at addresses of their rows */
export function useContacts(at: usize, count: i32): void {
  list = at;
  rows = count;
}

/** Returns the number of contacts. */
// @inline
export function countContacts(): i32 {
  return rows;
}

/** Returns whether there are contacts. */
export function anyContact(): bool {
  return rows > 0;
}

/** Returns whether all contacts are between free particles. */
export function isBetween(): bool {
  for (let n = 0; n < rows; n++) if (!load<i32>(rowAt(n), L.ROW_BETWEEN)) return false;
  return true;
}

/**
 * Potential of the push for a depth d: k/2 d^2 m/(m - d) up to STEEP m, from there on with constant curvature; k/2 d^2
 * for d < 0.
 */
function potentialAt(row: usize, d: f64): f64 {
  const k = load<f64>(row, L.ROW_STIFFNESS);
  if (!(d > 0)) return 0.5 * k * d * d;
  const m = MOST * load<f64>(row, L.ROW_REST);
  const e = min<f64>(d, STEEP * m);
  const beyond = d - e;
  const left = m - e;
  const P = (0.5 * k * e * e * m) / left;
  return P + beyond * (firstOf(k, m, e) + 0.5 * beyond * secondOf(k, m, e));
}

/** Derivative of the potential, N. */
export function pushAt(row: usize, d: f64): f64 {
  const k = load<f64>(row, L.ROW_STIFFNESS);
  if (!(d > 0)) return k * d;
  const m = MOST * load<f64>(row, L.ROW_REST);
  const e = min<f64>(d, STEEP * m);
  return firstOf(k, m, e) + (d - e) * secondOf(k, m, e);
}

/** Second derivative of the potential, N/m. */
function curveAt(row: usize, d: f64): f64 {
  const k = load<f64>(row, L.ROW_STIFFNESS);
  const m = MOST * load<f64>(row, L.ROW_REST);
  return d > 0 ? secondOf(k, m, min<f64>(d, STEEP * m)) : k;
}

// @inline
function firstOf(k: f64, m: f64, d: f64): f64 {
  return (0.5 * k * m * d * (2 * m - d)) / ((m - d) * (m - d));
}
// @inline
function secondOf(k: f64, m: f64, d: f64): f64 {
  const q = m / (m - d);
  return k * q * q * q;
}

/** Returns n . v of a vector in memory. */
// @inline
export function along(row: usize, at: usize): f64 {
  return (
    load<f64>(row, L.ROW_NORMAL) * load<f64>(at) +
    load<f64>(row, L.ROW_NORMAL + 8) * load<f64>(at, 8) +
    load<f64>(row, L.ROW_NORMAL + 16) * load<f64>(at, 16)
  );
}

/** sum b y over free particles -> s0 .. s2. @param v number of a vector */
// @inline
function weighted(row: usize, v: i32): void {
  s0 = 0;
  s1 = 0;
  s2 = 0;
  for (let k: usize = 0; k < 4; k++) {
    const entry = <usize>load<u32>(row + (k << 2), L.ROW_ENTRY);
    if (!entry) continue;
    const at = entry + <usize>v * <usize>load<u32>(row + (k << 2), L.ROW_STRIDE);
    const b = load<f64>(row + (k << 3), L.ROW_WEIGHT);
    s0 += b * load<f64>(at);
    s1 += b * load<f64>(at, 8);
    s2 += b * load<f64>(at, 16);
  }
}

/** sum b y over all particles, free or not -> s0 .. s2. */
// @inline
function place(row: usize, v: i32): void {
  weighted(row, v);
  s0 += load<f64>(row, L.ROW_FIXED);
  s1 += load<f64>(row, L.ROW_FIXED + 8);
  s2 += load<f64>(row, L.ROW_FIXED + 16);
}

/** n . s */
// @inline
function gap(row: usize): f64 {
  return (
    load<f64>(row, L.ROW_NORMAL) * s0 + load<f64>(row, L.ROW_NORMAL + 8) * s1 + load<f64>(row, L.ROW_NORMAL + 16) * s2
  );
}

/** Returns the depth of a pair at the last weighted sum, m; negative if it is apart. */
// @inline
function depth(row: usize): f64 {
  return load<f64>(row, L.ROW_REST) - gap(row);
}

/** t + (1 - n n^T)(s - s_0) -> u0 .. u2, length */
// @inline
function slip(row: usize): void {
  const a = s0 - load<f64>(row, L.ROW_START);
  const b = s1 - load<f64>(row, L.ROW_START + 8);
  const c = s2 - load<f64>(row, L.ROW_START + 16);
  const x = load<f64>(row, L.ROW_NORMAL);
  const y = load<f64>(row, L.ROW_NORMAL + 8);
  const z = load<f64>(row, L.ROW_NORMAL + 16);
  const lift = x * a + y * b + z * c;
  u0 = load<f64>(row, L.ROW_SHEAR) + (a - lift * x);
  u1 = load<f64>(row, L.ROW_SHEAR + 8) + (b - lift * y);
  u2 = load<f64>(row, L.ROW_SHEAR + 16) + (c - lift * z);
  length = sqrt<f64>(u0 * u0 + u1 * u1 + u2 * u2);
}

/** Returns the largest friction, N. */
// @inline
function limit(row: usize): f64 {
  const mu = load<i32>(row, L.ROW_SLID) ? load<f64>(row, L.ROW_DYNAMIC) : load<f64>(row, L.ROW_STATIC);
  return mu * load<f64>(row, L.ROW_PUSH);
}

/** v[at vector `to`] += b (x, y, z) */
// @inline
function scatter(row: usize, to: i32, x: f64, y: f64, z: f64): void {
  for (let k: usize = 0; k < 4; k++) {
    const entry = <usize>load<u32>(row + (k << 2), L.ROW_ENTRY);
    if (!entry) continue;
    const at = entry + <usize>to * <usize>load<u32>(row + (k << 2), L.ROW_STRIDE);
    const b = load<f64>(row + (k << 3), L.ROW_WEIGHT);
    store<f64>(at, load<f64>(at) + b * x);
    store<f64>(at, load<f64>(at, 8) + b * y, 8);
    store<f64>(at, load<f64>(at, 16) + b * z, 16);
  }
}

/**
 * Initial active set: pairs that already touch, and those that would be too near at a vector.
 * @param v number of the vector; too whether pairs in the set stay in it
 */
export function guessContacts(v: i32, too: bool): void {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    place(row, v);
    store<i32>(row, depth(row) > 0 || lies(row) || (too && load<i32>(row, L.ROW_ON) !== 0) ? 1 : 0, L.ROW_ON);
  }
}

/** Returns whether a pair is too near at the positions where the step begins. */
// @inline
function lies(row: usize): bool {
  return load<f64>(row, L.ROW_REST) > along(row, row + L.ROW_HERE);
}

/** Returns whether a pair that was apart closes faster than a resting one. */
export function anyContactHits(): bool {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    const apart = along(row, row + L.ROW_HERE) - load<f64>(row, L.ROW_REST);
    const approach = load<f64>(row, L.ROW_APPROACH);
    if (apart < approach && approach > load<f64>(row, L.ROW_RESTING)) return true;
  }
  return false;
}

/** Returns the energy of all active contacts, J. @param y number of a vector */
export function energyOfContacts(y: i32): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    if (!load<i32>(row, L.ROW_ON)) continue;
    place(row, y);
    sum += energyOf(row);
  }
  return sum;
}

/** Returns the energy of all active contacts at the positions where the step begins, J. */
export function energyOfContactsHere(): f64 {
  let sum: f64 = 0;
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    if (!load<i32>(row, L.ROW_ON)) continue;
    s0 = load<f64>(row, L.ROW_HERE);
    s1 = load<f64>(row, L.ROW_HERE + 8);
    s2 = load<f64>(row, L.ROW_HERE + 16);
    sum += energyOf(row);
  }
  return sum;
}

/** Returns the energy of a row at the last weighted sum, J. */
// @inline
function energyOf(row: usize): f64 {
  const k = load<f64>(row, L.ROW_HOLD);
  const F = limit(row);
  slip(row);
  const rubs = k * length <= F ? 0.5 * k * length * length : F * (length - (0.5 * F) / k);
  return potentialAt(row, depth(row)) + rubs;
}

/**
 * g += dE/dy; stores the slip for products.
 * @param y, g numbers of vectors; first whether this is the step's first solve. Then friction is linearized at the slip
 * that v alone would make: at the start of the step the slip is zero, and all pairs would stick
 */
export function linearizeContacts(y: i32, g: i32, first: bool): void {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    if (!load<i32>(row, L.ROW_ON)) continue;
    place(row, y);
    slip(row);
    const k = load<f64>(row, L.ROW_HOLD);
    const push = -pushAt(row, depth(row));
    store<f64>(row, curveAt(row, depth(row)), L.ROW_CURVE);
    const F = limit(row);
    const drag = k * length <= F ? k : F / length;
    const glides = first && load<f64>(row, L.ROW_REACH) > length;
    const reach = glides ? load<f64>(row, L.ROW_REACH) : length;
    store<f64>(row, k * reach <= F ? k : F / reach, L.ROW_DRAG);
    store<i32>(row, k * reach > F && reach - F / k > load<f64>(row, L.ROW_RESTING) * STEADY ? 1 : 0, L.ROW_STEADY);
    if (glides) memory.copy(row + L.ROW_SLIP, row + L.ROW_GLIDE, 24);
    else {
      store<f64>(row, u0, L.ROW_SLIP);
      store<f64>(row, u1, L.ROW_SLIP + 8);
      store<f64>(row, u2, L.ROW_SLIP + 16);
    }
    scatter(
      row,
      g,
      push * load<f64>(row, L.ROW_NORMAL) + drag * u0,
      push * load<f64>(row, L.ROW_NORMAL + 8) + drag * u1,
      push * load<f64>(row, L.ROW_NORMAL + 16) + drag * u2,
    );
  }
}

/** q += H p of the last linearization. @param p, q numbers of vectors */
export function multiplyContacts(p: i32, q: i32): void {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    if (!load<i32>(row, L.ROW_ON)) continue;
    weighted(row, p);
    const k = load<f64>(row, L.ROW_CURVE);
    const x = load<f64>(row, L.ROW_NORMAL);
    const y = load<f64>(row, L.ROW_NORMAL + 8);
    const z = load<f64>(row, L.ROW_NORMAL + 16);
    const lift = x * s0 + y * s1 + z * s2;
    let a = s0 - lift * x;
    let b = s1 - lift * y;
    let c = s2 - lift * z;
    const drag = load<f64>(row, L.ROW_DRAG);
    if (load<i32>(row, L.ROW_STEADY)) {
      const e0 = load<f64>(row, L.ROW_SLIP);
      const e1 = load<f64>(row, L.ROW_SLIP + 8);
      const e2 = load<f64>(row, L.ROW_SLIP + 16);
      const part = (e0 * a + e1 * b + e2 * c) / (e0 * e0 + e1 * e1 + e2 * e2);
      a -= part * e0;
      b -= part * e1;
      c -= part * e2;
    }
    scatter(row, q, k * lift * x + drag * a, k * lift * y + drag * b, k * lift * z + drag * c);
  }
}

/**
 * Updates the active set and the friction limits after a solve.
 * @param y number of the vector where it ended
 * @returns true: the active set, or friction, has changed and the step needs another solve
 */
export function reviewContacts(y: i32): bool {
  let changed = false;
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    place(row, y);
    const d = depth(row);
    const on = load<i32>(row, L.ROW_ON) !== 0;
    const k = load<f64>(row, L.ROW_HOLD);
    const before = load<f64>(row, L.ROW_PUSH);
    const push = max<f64>(0, pushAt(row, d));
    store<f64>(row, push, L.ROW_PUSH);
    if (d > 0 !== on) {
      store<i32>(row, d > 0 ? 1 : 0, L.ROW_ON);
      changed = true;
    }
    if (!(d > 0) || !on) continue;
    if (before === 0) changed = true;
    slip(row);
    const F = limit(row);
    if (k * length > F && !load<i32>(row, L.ROW_STEADY) && load<f64>(row, L.ROW_DRAG) * length > (1 + CHANGED) * F)
      changed = true;
  }
  return changed;
}

/** Returns whether a pair outside of the active set ends too near, and closes faster than a resting one. */
export function anyContactEntered(y: i32): bool {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    if (load<i32>(row, L.ROW_ON)) continue;
    place(row, y);
    if (depth(row) > 0 && gap(row) < along(row, row + L.ROW_HERE) - load<f64>(row, L.ROW_RESTING)) return true;
  }
  return false;
}

/** Forgets the kept state of all pairs. */
export function forgetContacts(): void {
  store<i32>(<usize>load<u32>(together(), L.TOGETHER_KEPT), 0);
}

/** Stores the state of all pairs for the next step. @param y number of the vector where they are */
export function keepContacts(y: i32): void {
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    place(row, y);
    if (!load<i32>(row, L.ROW_ON) || !(depth(row) > 0)) continue;
    store<f64>(row, pushAt(row, depth(row)), L.ROW_PUSH);
    slip(row);
    const F = limit(row);
    const force = load<f64>(row, L.ROW_HOLD) * length;
    keep(row, load<f64>(row, L.ROW_HOLD) * (force > F ? F / force : 1), force > F);
  }
}

/** Stores the state of one pair. @param scale N/m of the last slip */
function keep(row: usize, scale: f64, slides: bool): void {
  const kept = <usize>load<u32>(together(), L.TOGETHER_KEPT);
  const count = load<i32>(kept);
  const at = kept + 16 + <usize>count * L.KEPT_BYTES;
  memory.copy(at, row + L.ROW_PARTICLES, 16);
  store<f32>(at, <f32>(scale * u0), L.KEPT_SHEAR);
  store<f32>(at, <f32>(scale * u1), L.KEPT_SHEAR + 4);
  store<f32>(at, <f32>(scale * u2), L.KEPT_SHEAR + 8);
  const rest = <f32>load<f64>(row, L.ROW_REST);
  store<f32>(at, slides ? -rest : rest, L.KEPT_REST);
  store<i32>(at, isOfEdges(row) ? 1 : 0, L.KEPT_EDGE);
  store<i32>(kept, count + 1);
}
