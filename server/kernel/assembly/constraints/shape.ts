/**
 * Shape matching (Mueller, Heidelberger, Teschner & Gross 2005, Meshless deformations based on shape matching): one
 * constraint over all particles of a body, which pulls them to the best-fitting moved copy of the rest shape q (q
 * relative to its center of mass).
 *   c = sum m x / sum m,  A_pq = sum m (x - c) (S_p q)^T,  R = the rotation nearest to A_pq            (rotation.ts)
 *   rigid    goal g = c + R q: after the iteration the body is a rigid copy of its rest shape, to rounding
 *   linear   g = c + (beta A' + (1 - beta) R) S_p q,  A = A_pq A_qq^-1,  A' = A / det(A)^(1/3)         (unit volume)
 *   x += (g - x - aT l)/(1 + aT),  aT = 1/(rate h^2),  l the displacement by earlier iterations of this substep
 * The last line is XPBD with a compliance in proportion to mass: a spring whose rate over mass is rate = alpha/(1 -
 * alpha) * 3600 1/s^2. So alpha is the part of the way that one step of 1/60 s goes, and any other step and any number
 * of iterations act like that spring. (With the paper's alpha per step, a body gets stiffer with every substep.) Both
 * goals conserve momentum: sum m (g - x) = 0, and sum m (x - c) x (g - c) is the axial vector of A_pq R^T and of A_pq
 * A_qq^-1 A_pq^T, which are symmetric.
 * Plastic (section 4.5 there, with the yield of Bender et al. 2014): S = R^T A, E = (S^T S - 1)/2. If |dev E| > yield,
 *   S_p <- (1 + min(1, creep h) dev E) S_p, back to unit volume, unless the plastic strain |(S_p^T S_p - 1)/2| would
 *   exceed max.
 * Sums are float64 in particle order relative to the first particle, so far from the origin only the rounding of
 * positions matters. A pinned particle counts as a million times its body's mass, and does not move. Bodies are
 * independent: one chunk each.
 */
import * as L from "../layout/layout";
import { lowFrom, lowPrevFrom, put as place, rounding, word } from "../math/places";
import { cofactors, determinant, greenStrain, multiply, multiplyTransposed, symmetricNorm } from "../math/matrix3";
import { ROTATION_SCRATCH, fitRotation, r00, r01, r02, r10, r11, r12, r20, r21, r22 } from "../math/rotation";

/**
 * Below this part of the rest volume a body is about to invert and A' is unreliable, so it is faded out. A' is then at
 * most twice A.
 */
const FLAT: f64 = 0.125;

// offsets of matrices in a thread's SCRATCH_BYTES, behind those of a rotation: A_pq, G (the map from the undeformed
// rest shape to goals), and those of the linear mode
const A = ROTATION_SCRATCH;
const G = A + 72;
const F = G + 72;
const E = F + 72;
const S = E + 72;
const N = S + 72;

// center of mass of the last shape; each thread has its own instance
let cx: f64 = 0;
let cy: f64 = 0;
let cz: f64 = 0;
// sums of `addPush`, kg m, and about the center kg m^2
let pushX: f64 = 0;
let pushY: f64 = 0;
let pushZ: f64 = 0;
let twistX: f64 = 0;
let twistY: f64 = 0;
let twistZ: f64 = 0;

/**
 * One iteration of the rows begin .. end.
 * @param pass PASS_FIRST and PASS_LAST, added; h s; scratch this thread's SCRATCH_BYTES
 */
export function solveShapes(begin: i32, end: i32, pass: i32, h: f32, scratch: usize): void {
  const rows = <usize>load<u32>(L.HEADER, L.H_SHAPES);
  for (let n = begin; n < end; n++) solveShape(rows + <usize>n * L.SHAPE_BYTES, pass, h, scratch);
}

function solveShape(row: usize, pass: i32, h: f64, scratch: usize): void {
  const rigid = load<i32>(row, L.SHAPE_LINEAR) === 0;
  sumMoments(row, scratch + A);
  if (rigid) nearestRotation(scratch, scratch + A, scratch + G);
  else linearGoal(row, pass, h, scratch);
  if (rigid && pass & L.PASS_FIRST) beginRounding(row, h);
  moveToGoals(row, pass, h, scratch + G);
}

/** Stores A_pq of the undeformed rest shape and the center of mass. */
function sumMoments(row: usize, to: usize): void {
  const first = <usize>load<u32>(row, L.SHAPE_FIRST);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const ox: f64 = load<f32>(first);
  const oy: f64 = load<f32>(first, 4);
  const oz: f64 = load<f32>(first, 8);
  let M: f64 = 0;
  let sx: f64 = 0;
  let sy: f64 = 0;
  let sz: f64 = 0;
  let a00: f64 = 0;
  let a01: f64 = 0;
  let a02: f64 = 0;
  let a10: f64 = 0;
  let a11: f64 = 0;
  let a12: f64 = 0;
  let a20: f64 = 0;
  let a21: f64 = 0;
  let a22: f64 = 0;
  const toLow = lowFrom();
  for (let i = 0, at = first, q = <usize>load<u32>(row, L.SHAPE_REST); i < count; i++, at += 16, q += 32) {
    const m = load<f64>(q, 24);
    const x = m * (<f64>load<f32>(at) - ox + word(at, toLow));
    const y = m * (<f64>load<f32>(at, 4) - oy + word(at + 4, toLow));
    const z = m * (<f64>load<f32>(at, 8) - oz + word(at + 8, toLow));
    const u = load<f64>(q);
    const v = load<f64>(q, 8);
    const w = load<f64>(q, 16);
    M += m;
    sx += x;
    sy += y;
    sz += z;
    // sum m q = 0, so the center is not needed yet
    a00 += x * u;
    a01 += x * v;
    a02 += x * w;
    a10 += y * u;
    a11 += y * v;
    a12 += y * w;
    a20 += z * u;
    a21 += z * v;
    a22 += z * w;
  }
  cx = ox + sx / M;
  cy = oy + sy / M;
  cz = oz + sz / M;
  put(to, a00, a01, a02, a10, a11, a12, a20, a21, a22);
}

// @inline
function put(
  to: usize,
  a00: f64,
  a01: f64,
  a02: f64,
  a10: f64,
  a11: f64,
  a12: f64,
  a20: f64,
  a21: f64,
  a22: f64,
): void {
  store<f64>(to, a00);
  store<f64>(to, a01, 8);
  store<f64>(to, a02, 16);
  store<f64>(to, a10, 24);
  store<f64>(to, a11, 32);
  store<f64>(to, a12, 40);
  store<f64>(to, a20, 48);
  store<f64>(to, a21, 56);
  store<f64>(to, a22, 64);
}

/** Stores the rotation nearest to a matrix. */
function nearestRotation(scratch: usize, a: usize, to: usize): void {
  fitRotation(
    scratch,
    load<f64>(a),
    load<f64>(a, 8),
    load<f64>(a, 16),
    load<f64>(a, 24),
    load<f64>(a, 32),
    load<f64>(a, 40),
    load<f64>(a, 48),
    load<f64>(a, 56),
    load<f64>(a, 64),
  );
  put(to, r00, r01, r02, r10, r11, r12, r20, r21, r22);
}

function moveToGoals(row: usize, pass: i32, h: f64, goal: usize): void {
  const g00 = load<f64>(goal);
  const g01 = load<f64>(goal, 8);
  const g02 = load<f64>(goal, 16);
  const g10 = load<f64>(goal, 24);
  const g11 = load<f64>(goal, 32);
  const g12 = load<f64>(goal, 40);
  const g20 = load<f64>(goal, 48);
  const g21 = load<f64>(goal, 56);
  const g22 = load<f64>(goal, 64);
  const count = load<i32>(row, L.SHAPE_COUNT);
  const toLow = lowFrom();
  const aT: f64 = 1 / (load<f64>(row, L.SHAPE_RATE) * h * h);
  const share: f64 = 1 / (1 + aT);
  const isFirst = (pass & L.PASS_FIRST) !== 0;
  let held = false;
  let moved = <usize>load<u32>(row, L.SHAPE_MEMORY);
  const moves: usize = moved ? 16 : 0;
  beginPush();
  for (
    let i = 0, at = <usize>load<u32>(row, L.SHAPE_FIRST), q = <usize>load<u32>(row, L.SHAPE_REST);
    i < count;
    i++, at += 16, q += 32, moved += moves
  ) {
    if (load<f32>(at, 12) === 0) {
      held = true;
      continue;
    }
    const u = load<f64>(q);
    const v = load<f64>(q, 8);
    const w = load<f64>(q, 16);
    const x = <f64>load<f32>(at) + word(at, toLow);
    const y = <f64>load<f32>(at, 4) + word(at + 4, toLow);
    const z = <f64>load<f32>(at, 8) + word(at + 8, toLow);
    place(at, x + wayTo(cx + g00 * u + g01 * v + g02 * w - x, aT, share, moved, 0, isFirst), toLow);
    place(at + 4, y + wayTo(cy + g10 * u + g11 * v + g12 * w - y, aT, share, moved, 4, isFirst), toLow);
    place(at + 8, z + wayTo(cz + g20 * u + g21 * v + g22 * w - z, aT, share, moved, 8, isFirst), toLow);
    // goals conserve momentum: the sum of these is rounding
    const m = load<f64>(q, 24);
    const a = m * (<f64>load<f32>(at) + word(at, toLow) - x);
    const b = m * (<f64>load<f32>(at, 4) + word(at + 4, toLow) - y);
    const c = m * (<f64>load<f32>(at, 8) + word(at + 8, toLow) - z);
    addPush(x - cx, y - cy, z - cz, a, b, c);
  }
  if (load<i32>(row, L.SHAPE_LINEAR)) return;
  // fixed particles absorb momentum
  if (held) memory.fill(row + L.SHAPE_ROUNDING, 0, 48);
  else noteRounding(row, pushX, pushY, pushZ, twistX, twistY, twistZ);
}

/**
 * Returns the displacement of a coordinate towards a goal at distance `way`.
 * @param share 1/(1 + aT); moved address of the displacement by earlier iterations, f32 at `offset`; 0: not stored
 */
// @inline
function wayTo(way: f64, aT: f64, share: f64, moved: usize, offset: usize, isFirst: bool): f64 {
  if (!(aT > 0)) return way;
  const before: f64 = isFirst || !moved ? 0 : load<f32>(moved + offset);
  const step = (way - aT * before) * share;
  if (moved) store<f32>(moved + offset, <f32>(before + step));
  return step;
}

function beginPush(): void {
  pushX = 0;
  pushY = 0;
  pushZ = 0;
  twistX = 0;
  twistY = 0;
  twistZ = 0;
}

/** Adds the displacement (a, b, c), times mass, of a particle at (x, y, z) from the center. */
// @inline
function addPush(x: f64, y: f64, z: f64, a: f64, b: f64, c: f64): void {
  pushX += a;
  pushY += b;
  pushZ += c;
  twistX += y * c - z * b;
  twistY += z * a - x * c;
  twistZ += x * b - y * a;
}

/** Starts SHAPE_ROUNDING: rigid motion by the rounding of the prediction x = xPrev + h v. */
function beginRounding(row: usize, h: f64): void {
  const count = load<i32>(row, L.SHAPE_COUNT);
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - X;
  const toLow = lowFrom();
  const toLowPrev = lowPrevFrom();
  beginPush();
  for (
    let i = 0, at = <usize>load<u32>(row, L.SHAPE_FIRST), q = <usize>load<u32>(row, L.SHAPE_REST);
    i < count;
    i++, at += 16, q += 32
  ) {
    if (load<f32>(at, 12) === 0) continue;
    const m = load<f64>(q, 24);
    const x: f64 = load<f32>(at);
    const y: f64 = load<f32>(at, 4);
    const z: f64 = load<f32>(at, 8);
    const prev = at + toPrev;
    const v = at + toV;
    const a = m * (x - <f64>load<f32>(prev) + rounding(at, toLow, toLowPrev) - h * <f64>load<f32>(v));
    const b = m * (y - <f64>load<f32>(prev, 4) + rounding(at + 4, toLow, toLowPrev) - h * <f64>load<f32>(v, 4));
    const c = m * (z - <f64>load<f32>(prev, 8) + rounding(at + 8, toLow, toLowPrev) - h * <f64>load<f32>(v, 8));
    addPush(x - cx, y - cy, z - cz, a, b, c);
  }
  memory.fill(row + L.SHAPE_ROUNDING, 0, 48);
  noteRounding(row, pushX, pushY, pushZ, twistX, twistY, twistZ);
}

/** Adds a push and a twist to SHAPE_ROUNDING. */
export function noteRounding(row: usize, px: f64, py: f64, pz: f64, lx: f64, ly: f64, lz: f64): void {
  const at = row + L.SHAPE_ROUNDING;
  store<f64>(at, load<f64>(at) + px);
  store<f64>(at, load<f64>(at, 8) + py, 8);
  store<f64>(at, load<f64>(at, 16) + pz, 16);
  store<f64>(at, load<f64>(at, 24) + lx, 24);
  store<f64>(at, load<f64>(at, 32) + ly, 32);
  store<f64>(at, load<f64>(at, 40) + lz, 40);
}

/** Sets G for the linear mode from A_pq of the undeformed rest shape, and updates the plastic rest shape. */
function linearGoal(row: usize, pass: i32, h: f64, scratch: usize): void {
  const plastic = row + L.SHAPE_PLASTIC;
  const map = scratch + F;
  const rotation = scratch + E;
  const turned = scratch + S;
  // R from A_pq S_p^T
  multiplyTransposed(scratch + A, plastic, turned);
  nearestRotation(scratch, turned, rotation);
  multiply(rotation, plastic, turned);
  // F: the best linear map of the undeformed rest shape, A_pq A_qq^-1
  multiply(scratch + A, row + L.SHAPE_MOMENT, map);
  // det S_p = 1, so det A = det F; beta A' S_p = beta F / det^(1/3)
  const volume = determinant(map);
  const fade: f64 = volume < FLAT ? max<f64>(volume, 0) / FLAT : 1;
  const beta = load<f64>(row, L.SHAPE_BETA) * fade;
  const b: f64 = beta / cubeRoot(max<f64>(volume, FLAT));
  const c: f64 = 1 - beta;
  for (let k: usize = 0; k < 72; k += 8)
    store<f64>(scratch + G + k, b * load<f64>(map + k) + c * load<f64>(turned + k));
  if (pass & L.PASS_LAST && load<f64>(row, L.SHAPE_YIELD) < Infinity && volume > 0) flow(row, h, scratch);
}

/** Lets the rest shape yield. F is known. */
function flow(row: usize, h: f64, scratch: usize): void {
  const plastic = row + L.SHAPE_PLASTIC;
  const strain = scratch + E;
  const stretch = scratch + S;
  const next = scratch + N;
  // S = R^T F S_p^-1 (det S_p = 1: the inverse is the adjugate); R cancels in S^T S
  cofactors(plastic, strain);
  multiplyTransposed(scratch + F, strain, stretch);
  greenStrain(stretch, strain);
  const third = (load<f64>(strain) + load<f64>(strain, 32) + load<f64>(strain, 64)) / 3;
  for (let k: usize = 0; k < 72; k += 32) store<f64>(strain + k, load<f64>(strain + k) - third);
  if (!(symmetricNorm(strain) > load<f64>(row, L.SHAPE_YIELD))) return;
  const t: f64 = min<f64>(1, load<f64>(row, L.SHAPE_CREEP) * h);
  multiply(strain, plastic, next);
  for (let k: usize = 0; k < 72; k += 8) store<f64>(next + k, load<f64>(plastic + k) + t * load<f64>(next + k));
  const volume = determinant(next);
  // the guard handles a strain that would invert the rest shape in one step
  if (!(volume > FLAT)) return;
  const unit: f64 = 1 / cubeRoot(volume);
  for (let k: usize = 0; k < 72; k += 8) store<f64>(next + k, load<f64>(next + k) * unit);
  const after = plasticStrain(next, strain);
  if (after > load<f64>(row, L.SHAPE_MAX) && after > plasticStrain(plastic, strain)) return;
  memory.copy(plastic, next, 72);
}

/** |(S^T S - 1)/2|, Frobenius. @param room for a matrix */
function plasticStrain(at: usize, room: usize): f64 {
  greenStrain(at, room);
  return symmetricNorm(room);
}

/**
 * Cube root by Newton's iteration from above, which falls until rounding stops it: the same bits everywhere, unlike a
 * library's cbrt.
 * @param a > 0
 */
function cubeRoot(a: f64): f64 {
  let x: f64 = max<f64>(a, 1);
  for (let i = 0; i < 200; i++) {
    const next = x - (x * x * x - a) / (3 * x * x);
    if (!(next < x)) break;
    x = next;
  }
  return x;
}
