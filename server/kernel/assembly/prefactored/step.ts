/**
 * Elastic solve of prefactored bodies: one linear solve a substep in place of a sweep over their elements. For sheets:
 *
 *   P = M/h^2 + a Laplacian that bounds the stiffness (sim/prefactored/model.ts), one matrix for x, y and z
 *   start  x = xPrev + h v, without external acceleration
 *   r = M a - M d/h^2 + f(x) + F,  z = P^-1 r,  x += z,  d += z
 * with d the displacement in this substep by anything but velocity and impulses; d = 0 at the start. Impulses of
 * contacts move x with the particles' masses, and leave d; F are kept contact forces (keptForces.ts). So x - d is the
 * target of inertia, and z = 0 if the forces are in equilibrium, whatever P is: rest is exact. A large correction may
 * be wrong, since P knows no rotation. Then the incremental potential
 *   Phi = |d - h^2 a|^2 M / 2h^2 + E(x) - F.(x - xPrev)
 * may not exceed its value at xPrev; else the solve is repeated, and finally begins at xPrev with shorter and shorter
 * corrections. So the energy does not grow. Solids, and sheets that can touch nothing, have f(xPrev + PREFACTORED_LEAD
 * h v), which damps less and allows for more stretch, and one solve also in scenes of several iterations. One thread
 * solves a body, and all sums are serial. Designs and alternatives: docs/decisions/prefactored-cloth.md,
 * prefactored-solids.md.
 */
import * as L from "../layout/layout";
import { placeBits, pushBy, toLow, wayOf } from "../math/lanes";
import { countWork } from "../state/work";
import { unitsOfBackSolve } from "./backSolve";
import { addForces, energyAt, stiffening } from "./elements";
import { isClosed, isNoted, noteEnergy } from "./energyGuard";
import { isAhead, isHeld } from "./held";
import { mayGain } from "./keptForces";
import { moveByForces, openMetric } from "./metric";

/** Most repeated solves before the substep begins anew, and most halvings after that. */
const REPEATS = 3;
const HALVINGS = 8;
/**
 * Stiffening from which corrections are shortened and repeated, and most solves then. One solve with forces at the
 * share s of the way overshoots above 4 / (1 + 2 s).
 */
const STRETCHED: f32 = 1.3;
const STRETCHED_AHEAD: f32 = 3.2;
const MOST_SOLVES: i32 = 8;
/** A scene of one iteration. */
const BOTH = L.PASS_FIRST | L.PASS_LAST;

// current body
let row: usize = 0;
let columns: i32 = 0;
let first: usize = 0;
let order: usize = 0;
let residual: usize = 0;
let moved: usize = 0;
let inertia: usize = 0;
let kept: usize = 0;
// bytes from X to other arrays
let toAcc: usize = 0;
let toPrev: usize = 0;
let toLowPrev: usize = 0;

const LANES_OF_PLACE = i32x4(-1, -1, -1, 0);

/** Solves bodies begin .. end once. @param rows address of the PREFACTORED rows */
export function solvePrefactored(rows: usize, begin: i32, end: i32, pass: i32, h: f32): void {
  for (let b = begin; b < end; b++) {
    open(rows + <usize>b * L.PREFACTORED_BYTES);
    if (isHeld(row)) continue;
    const begins = (pass & L.PASS_FIRST) !== 0;
    if (begins && !isNoted(row, true) && mayGain(row) && isClosed()) noteEnergy(row, h);
    const ahead = isAhead(row);
    if (begins && !ahead) start(h);
    openMetric(row);
    // several iterations share the solves
    if (!ahead) solveAtEnd(h, (pass & BOTH) === BOTH ? 1 : 2);
    else if (begins) solveAhead(h);
  }
}

/**
 * Solves with the elastic forces at the predicted positions, x = xPrev + h v. @param share number of iterations of the
 * substep, which share the solves
 */
function solveAtEnd(h: f32, share: f32): void {
  let most = solveOnce(h);
  const solves = stiffening > STRETCHED ? min<i32>(MOST_SOLVES, <i32>ceil<f32>(stiffening / share)) : 1;
  for (let n = 1; n < solves; n++) most = max<f32>(most, solveOnce(h));
  countWork(solves * unitsOfBackSolve(row));
  if (most > load<f32>(row, L.PREFACTORED_LARGE)) keepEnergy(h);
}

function open(at: usize): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  row = at;
  columns = load<i32>(at, L.PREFACTORED_COLUMNS);
  first = <usize>load<u32>(at, L.PREFACTORED_FIRST);
  order = <usize>load<u32>(at, L.PREFACTORED_ORDER);
  residual = <usize>load<u32>(at, L.PREFACTORED_RESIDUAL);
  moved = <usize>load<u32>(at, L.PREFACTORED_MOVED);
  inertia = <usize>load<u32>(at, L.PREFACTORED_INERTIA);
  kept = <usize>load<u32>(at, L.PREFACTORED_KEPT);
  toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  toPrev = <usize>load<u32>(L.HEADER, L.H_XPREV) - X;
  toLowPrev = <usize>load<u32>(L.HEADER, L.H_LOW_PREV) - X;
}

/** Address of the particle of column k. */
// @inline
function particleAt(k: i32): usize {
  return first + <usize>load<u32>(order + ((<usize>k) << 2));
}

/** h^2 a of a particle. */
// @inline
function fall(particle: usize, h2: v128): v128 {
  return v128.and(LANES_OF_PLACE, f32x4.mul(h2, v128.load(particle + toAcc)));
}

/** Takes external acceleration out of the predicted positions. */
function start(h: f32): void {
  const h2 = f32x4.splat(h * h);
  for (let k = 0; k < columns; k++) {
    const at = particleAt(k);
    pushBy(at, toLow, f32x4.neg(fall(at, h2)));
    v128.store(moved + ((<usize>k) << 4), f32x4.splat(0));
  }
}

/**
 * The one solve with the elastic forces at xPrev + PREFACTORED_LEAD of the way. A large correction may not add energy;
 * else the substep begins anew.
 */
function solveAhead(h: f32): void {
  const lows = <usize>load<u32>(row, L.PREFACTORED_LOWS);
  startAhead(h, lows);
  addForces(row);
  if (stiffening > STRETCHED_AHEAD) {
    for (let k = 0; k < columns; k++) v128.store(particleAt(k) + toLow, v128.load(lows + ((<usize>k) << 4)));
    return solveAtEnd(h, 1);
  }
  moveByForces(residual);
  countWork(unitsOfBackSolve(row));
  if (correct(1, lows) <= load<f32>(row, L.PREFACTORED_LARGE) || !gainsEnergy()) return;
  store<u32>(row, load<u32>(row, L.PREFACTORED_RESTARTS) + 1, L.PREFACTORED_RESTARTS);
  // P may be far too soft here, so repeated solves could diverge
  startAnew();
  countWork(unitsOfBackSolve(row));
  const limit = potential(h, true);
  solveOnce(h);
  halve(h, limit);
}

/**
 * `start`, the motion to PREFACTORED_LEAD of the way, and M a + F as residual, in one pass: apart they took a tenth of
 * the tick of a hanging sheet. @param lows where the low words of the predicted positions are kept
 */
function startAhead(h: f32, lows: usize): void {
  const place = placeBits;
  const low = toLow;
  const h2 = f32x4.splat(h * h);
  const back = f32x4.splat(load<f32>(row, L.PREFACTORED_LEAD) - 1);
  const zero = f32x4.splat(0);
  const end = (<usize>columns) << 4;
  for (let k: usize = 0; k < end; k += 16) {
    const at = first + <usize>load<u32>(order + (k >> 2));
    const fallen = v128.and(place, f32x4.mul(h2, v128.load(at + toAcc)));
    const low1 = f32x4.add(v128.load(at + low), f32x4.neg(fallen));
    v128.store(lows + k, low1);
    v128.store(moved + k, zero);
    const way = f32x4.add(f32x4.sub(v128.load(at), v128.load(at + toPrev)), f32x4.sub(low1, v128.load(at + toLowPrev)));
    v128.store(at + low, f32x4.add(low1, f32x4.mul(back, v128.and(place, way))));
    const inertial = f32x4.mul(v128.load32_splat(inertia + (k >> 2)), fallen);
    v128.store(residual + k, f32x4.add(inertial, v128.and(place, v128.load(kept + k))));
  }
  v128.store(residual + end, zero);
}

/**
 * Returns whether the correction z has added energy to the motion d = x - xPrev:
 *   (d - z/2).z M/h^2 - M a.d - F.d + E(x) > E(xPrev)
 */
function gainsEnergy(): bool {
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  const h2 = f32x4.splat(h * h);
  let sum: f64 = 0;
  for (let k = 0; k < columns; k++) {
    const at = (<usize>k) << 4;
    const particle = particleAt(k);
    const way = v128.and(LANES_OF_PLACE, wayOf(particle, toPrev, toLowPrev));
    const z = v128.load(moved + at);
    const motion = f32x4.sub(
      f32x4.mul(z, f32x4.sub(way, f32x4.mul(f32x4.splat(0.5), z))),
      f32x4.mul(fall(particle, h2), way),
    );
    sum += <f64>load<f32>(inertia + (at >> 2)) * sumOfPlace(motion) - sumOfPlace(f32x4.mul(v128.load(kept + at), way));
  }
  return !(sum + energyAt(row, 0, toLow) <= energyAt(row, toPrev, toLowPrev));
}

// @inline
function sumOfPlace(a: v128): f64 {
  return <f64>(f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + f32x4.extract_lane(a, 2));
}

/**
 * One solve. A stretched sheet is stiffer than P says: its correction is shortened by that factor, or it would
 * overshoot.
 * @returns the square of the largest correction, m^2
 */
function solveOnce(h: f32): f32 {
  findCorrection(h);
  return correct(stiffening > STRETCHED ? 1 / stiffening : 1, 0);
}

/**
 * Moves the body by a share of the correction.
 * @param lows low words from which the columns move; 0: those at x
 * @returns the square of the largest, m^2
 */
function correct(part: f32, lows: usize): f32 {
  const share = f32x4.splat(part);
  const place = placeBits;
  const low = toLow;
  const end = (<usize>columns) << 4;
  let most: f32 = 0;
  for (let k: usize = 0; k < end; k += 16) {
    const z = v128.and(place, f32x4.mul(share, v128.load(residual + k)));
    v128.store(residual + k, z);
    const at = first + <usize>load<u32>(order + (k >> 2)) + low;
    v128.store(at, f32x4.add(v128.load(lows ? lows + k : at), z));
    v128.store(moved + k, f32x4.add(v128.load(moved + k), z));
    const square = f32x4.mul(z, z);
    most = max<f32>(
      most,
      f32x4.extract_lane(square, 0) + f32x4.extract_lane(square, 1) + f32x4.extract_lane(square, 2),
    );
  }
  return most;
}

/** residual = P^-1 (M a - M d/h^2 + f) */
function findCorrection(h: f32): void {
  collectForces(h);
  moveByForces(residual);
}

/** residual = M a - M d/h^2 + f; lane 3 has no meaning */
function collectForces(h: f32): void {
  const h2 = f32x4.splat(h * h);
  for (let k = 0; k < columns; k++) {
    const at = (<usize>k) << 4;
    const missing = f32x4.sub(fall(particleAt(k), h2), v128.load(moved + at));
    const inertial = f32x4.mul(v128.load32_splat(inertia + (at >> 2)), missing);
    v128.store(residual + at, f32x4.add(inertial, v128.and(LANES_OF_PLACE, v128.load(kept + at))));
  }
  v128.store(residual + ((<usize>columns) << 4), f32x4.splat(0));
  addForces(row);
}

/** Repeats the solve until the incremental potential is at most its value at the start of the substep. */
function keepEnergy(h: f32): void {
  store<u32>(row, load<u32>(row, L.PREFACTORED_CHECKS) + 1, L.PREFACTORED_CHECKS);
  const limit = potential(h, true);
  for (let n = 0; n < REPEATS; n++) {
    if (potential(h, false) <= limit) return;
    solveOnce(h);
    store<u32>(row, load<u32>(row, L.PREFACTORED_REPEATS) + 1, L.PREFACTORED_REPEATS);
  }
  if (potential(h, false) <= limit) return;
  store<u32>(row, load<u32>(row, L.PREFACTORED_RESTARTS) + 1, L.PREFACTORED_RESTARTS);
  startAnew();
  solveOnce(h);
  halve(h, limit);
}

/** Shortens the last correction, from xPrev, until the incremental potential is at most `limit`. */
function halve(h: f32, limit: f64): void {
  let share: f32 = 1;
  for (let n = 0; n < HALVINGS && !(potential(h, false) <= limit); n++) {
    share *= 0.5;
    moveBack(share);
  }
}

/**
 * |d - h^2 a|^2 M / 2h^2 + E(x) - F.(x - xPrev), J. The target x - d has the impulses of contacts and points so far.
 * @param before at xPrev
 */
function potential(h: f32, before: bool): f64 {
  const h2 = f32x4.splat(h * h);
  let sum: f64 = 0;
  for (let k = 0; k < columns; k++) {
    const at = (<usize>k) << 4;
    const particle = particleAt(k);
    const way = v128.and(LANES_OF_PLACE, wayOf(particle, toPrev, toLowPrev));
    const d = v128.load(moved + at);
    const away = f32x4.sub(before ? f32x4.sub(d, way) : d, fall(particle, h2));
    const square = f32x4.mul(away, away);
    sum += <f64>load<f32>(inertia + (at >> 2)) * sumOfPlace(square);
    if (!before) sum -= 2 * sumOfPlace(f32x4.mul(v128.load(kept + at), way));
  }
  return 0.5 * sum + (before ? energyAt(row, toPrev, toLowPrev) : energyAt(row, 0, toLow));
}

/** Puts the body to the start of the substep: x = xPrev. The target of inertia stays. */
function startAnew(): void {
  for (let k = 0; k < columns; k++) {
    const particle = particleAt(k);
    const back = f32x4.neg(v128.and(LANES_OF_PLACE, wayOf(particle, toPrev, toLowPrev)));
    const d = moved + ((<usize>k) << 4);
    pushBy(particle, toLow, back);
    v128.store(d, f32x4.add(v128.load(d), back));
  }
}

/** Takes a share of the last correction back. */
function moveBack(share: f32): void {
  const part = f32x4.splat(-share);
  for (let k = 0; k < columns; k++) {
    const z = f32x4.mul(part, v128.load(residual + ((<usize>k) << 4)));
    const d = moved + ((<usize>k) << 4);
    pushBy(particleAt(k), toLow, z);
    v128.store(d, f32x4.add(v128.load(d), z));
  }
}
