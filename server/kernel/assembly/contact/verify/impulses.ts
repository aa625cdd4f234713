/**
 * Impulses on all pairs that are not clear, solved together: one row a pair, and sweeps over all rows.
 *   C = n . sum_k b_k x_k - target >= 0,  push p >= 0:  dp = max(-p, -C),  x_k += w_k b_k dp n / sum_k w_k b_k^2
 * Projected Gauss-Seidel: it approaches the nearest positions without a violated row, in the metric of masses, because
 * a row takes back its push if other rows make it needless. Rows of earlier rounds remain, so that new pushes do not
 * undo them. Friction as in Bridson, Fedkiw & Anderson 2002, section 5.2, from a row's new push. Particles stopped by a
 * collider (leaveColliders.ts) count as fixed in the rows of their other pairs. A row asks for at most the distance
 * that S had along its direction, and rounds are limited, so that none throws a particle: contradicting rows moved one
 * by 11 cm in a substep (25 m/s; drape with 3 grabs); now 4.3 m/s.
 * Tried, slower: one pair after another, eight times. Between opposing pairs or beside a collider, a round removed a
 * quarter of the violation or less, and examined thousands of neighbors for it.
 */
import { spendWork } from "../../scheduler/clock";
import * as L from "../../layout/layout";
import {
  MEET,
  between,
  closest,
  impact,
  keep,
  laneOf,
  particle0,
  particle1,
  particle2,
  particle3,
  nx,
  ny,
  nz,
  b0,
  b1,
  b2,
  b3,
  gap,
  weighted,
} from "./contactPair";
import { change, changedCount, changedParticle, noteRound } from "./movedParticles";
import { countWork } from "../../state/work";
import { mark, marksOf, numberOf, unmark } from "../../state/marks";

/** Counted work of a row in a sweep. */
const UNITS_OF_ROW = 2;
/** Sweeps of a round: at least SWEEPS, at most MOST_SWEEPS, and VISITS over the number of rows in between. */
const SWEEPS = 16;
const MOST_SWEEPS = 256;
const VISITS = 4096;
/** Share of the time to impact at which the closest points' direction is taken: there the pair is still apart. */
const BEFORE: f64 = 0.9;
/**
 * A row is done when its violation is below FINE times the smaller of its least distance and the distance asked beyond
 * it.
 */
const FINE: f64 = 1.0 / 16;

// a row, f64: n, b, target, push, scales w_k b_k / W, sum b S, tolerance; u32 particles, i32 pair, f32 positions at the
// start of the round. Rows use the memory of zone sums (rigidImpactZones.ts), which are needed after all impulses
const NORMAL: usize = 0;
const WEIGHT: usize = 24;
const TARGET: usize = 56;
const PUSHED: usize = 64;
const SCALE: usize = 72;
const AT_SAFE: usize = 104;
const LEAVE: usize = 128;
const PARTICLES: usize = 136;
const PAIR: usize = 152;
const FROM: usize = 156;

/**
 * First round: no row is pushed further than MOST_PUSH times the worst violation. Later rounds: half the limit of the
 * round before. Otherwise rows that push each other in a circle would never end (a corner of a sheet between two folds
 * and a ball: 220 m).
 */
const MOST_PUSH: f64 = 8;
/**
 * A round is taken back if it moves a particle further than MOST_MOTION times the substep's fastest motion: a bounce
 * moves twice as far. Pairs that are then not clear become a zone.
 */
const MOST_MOTION: f32 = 2;

let rows = 0;
/** Greatest push of a row in this round, m. */
let most: f64 = 0;
/** Largest displacement from S of the particles in the first round's rows, m. */
let fastest: f32 = 0;
/** Distance of the last row along n at x, and the distance that it needs, m. */
let reached: f64 = 0;
let hold: f64 = 0;

// @inline
function rowAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_ZONE_SUMS) + <usize>n * L.ZONE_BYTES;
}

export function beginImpulses(): void {
  rows = 0;
}

/** Clears the marks of particles stopped by a collider. */
export function endImpulses(): void {
  for (let n = 0; n < changedCount; n++) unmark(numberOf(changedParticle(n)), L.MARK_STOPPED);
}

/** Marks a particle as stopped by a collider. */
export function markColliderStopped(particle: usize): void {
  mark(numberOf(particle), L.MARK_STOPPED);
}

/**
 * Finds direction and weights for the last examined pair, `reached` and `hold`. The direction separates S, and no row
 * asks for more than S has along it. So S satisfies all rows, and the nearest solution to x adds no energy: |x' - S| <=
 * |x - S| in the metric of masses.
 * @param r m
 * @returns false if no direction can help
 */
function aim(answer: i32, r: f64, round: i32): bool {
  closest(0);
  const wanted = max<f64>(keep, min<f64>(r, gap));
  hold = wanted;
  if (answer !== MEET) closest(12);
  else if (round & 1 || weighted(12, nx, ny, nz) >= hold) {
    between(BEFORE * impact);
    closest(24);
    hold = max<f64>(keep, min<f64>(r, gap));
  }
  if (!(gap > 0)) return false;
  if (!(weighted(0, nx, ny, nz) >= keep)) {
    closest(0);
    hold = wanted;
  }
  reached = weighted(12, nx, ny, nz);
  // The check found the pair not clear, although n separates it: ask for a little more along n.
  if (!(reached < hold)) hold = reached + keep;
  hold = min<f64>(hold, weighted(0, nx, ny, nz));
  return reached < hold;
}

/**
 * Adds or updates a row for the last examined pair.
 * @param known whether it may have a row from an earlier round
 * @returns false if there is no room or no direction
 */
export function addRow(pair: i32, answer: i32, round: i32, known: bool): bool {
  const lane = laneOf(pair);
  const own = <f64>load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  if (!aim(answer, own > 0 ? own : 2 * keep, round)) return false;
  let n = rows;
  if (known) for (n = 0; n < rows && load<i32>(rowAt(n), PAIR) !== pair; ) n++;
  spendWork(1 + (n >> 6));
  if (n === rows) {
    if (n === max<i32>(L.IMPULSE_ROWS, load<i32>(L.HEADER, L.H_PARTICLES))) return false;
    rows++;
  }
  const row = rowAt(n);
  store<f64>(row, nx, NORMAL);
  store<f64>(row, ny, NORMAL + 8);
  store<f64>(row, nz, NORMAL + 16);
  store<f64>(row, b0, WEIGHT);
  store<f64>(row, b1, WEIGHT + 8);
  store<f64>(row, b2, WEIGHT + 16);
  store<f64>(row, b3, WEIGHT + 24);
  store<f64>(row, hold + <f64>load<f32>(lane, L.CONTACT_BLOCK_BOUNCE) * (hold - reached), TARGET);
  store<f64>(row, 0, PUSHED);
  store<f64>(row, weighted(0, 1, 0, 0), AT_SAFE);
  store<f64>(row, weighted(0, 0, 1, 0), AT_SAFE + 8);
  store<f64>(row, weighted(0, 0, 0, 1), AT_SAFE + 16);
  store<f64>(row, FINE * min<f64>(keep, hold - keep), LEAVE);
  store<u32>(row, <u32>particle0, PARTICLES);
  store<u32>(row, <u32>particle1, PARTICLES + 4);
  store<u32>(row, <u32>particle2, PARTICLES + 8);
  store<u32>(row, <u32>particle3, PARTICLES + 12);
  store<i32>(row, pair, PAIR);
  return true;
}

/** Sweeps forward and backward until all rows are satisfied. @param round 0, 1, ... */
export function solveRows(round: i32): void {
  let worst: f64 = 0;
  for (let n = 0; n < rows; n++) {
    findScales(rowAt(n));
    noteFrom(rowAt(n));
    worst = max<f64>(worst, load<f64>(rowAt(n), TARGET) - gapOf(rowAt(n)));
  }
  most = round ? 0.5 * most : MOST_PUSH * worst;
  if (!round) fastest = farthest(<usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X));
  const sweeps = max<i32>(SWEEPS, min<i32>(MOST_SWEEPS, rows ? VISITS / rows : 0));
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let moved = 0;
    countWork(UNITS_OF_ROW * rows);
    if (sweep & 1) for (let n = rows - 1; n >= 0; n--) moved += solve(rowAt(n));
    else for (let n = 0; n < rows; n++) moved += solve(rowAt(n));
    if (!moved) return;
    spendWork(rows >> 3);
  }
}

function noteFrom(row: usize): void {
  for (let k: usize = 0; k < 4; k++) {
    const particle = <usize>load<u32>(row + (k << 2), PARTICLES);
    const from = row + 12 * k;
    store<f32>(from, load<f32>(particle), FROM);
    store<f32>(from, load<f32>(particle, 4), FROM + 4);
    store<f32>(from, load<f32>(particle, 8), FROM + 8);
  }
}

/** Returns the farthest motion of a particle in this round, m, and notes the ways of all. */
export function farthestMoved(): f32 {
  return farthest(0) * (1 + 1e-5);
}

/** Returns the greatest distance of the rows' particles from the start of the round or, with offset `by`, from S, m. */
function farthest(by: usize): f32 {
  let most: f32 = 0;
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    for (let k: usize = 0; k < 4; k++) {
      const particle = <usize>load<u32>(row + (k << 2), PARTICLES);
      const from = by ? particle + by : row + 12 * k + FROM;
      const x = load<f32>(particle) - load<f32>(from);
      const y = load<f32>(particle, 4) - load<f32>(from, 4);
      const z = load<f32>(particle, 8) - load<f32>(from, 8);
      const way2 = x * x + y * y + z * z;
      if (!by) noteRound(particle, Mathf.sqrt(way2));
      most = max<f32>(most, way2);
    }
  }
  return Mathf.sqrt(most);
}

/**
 * Takes the round back if it has thrown a particle. @param moved farthest motion of a particle, m. @returns whether it
 * did
 */
export function takeBack(moved: f32): bool {
  if (moved <= MOST_MOTION * fastest) return false;
  for (let n = 0; n < rows; n++) {
    const row = rowAt(n);
    for (let k: usize = 0; k < 4; k++) {
      const particle = <usize>load<u32>(row + (k << 2), PARTICLES);
      const from = row + 12 * k;
      if (load<f32>(particle, 12) === 0) continue;
      change(particle);
      store<f32>(particle, load<f32>(from, FROM));
      store<f32>(particle, load<f32>(from, FROM + 4), 4);
      store<f32>(particle, load<f32>(from, FROM + 8), 8);
    }
  }
  return true;
}

// @inline
function inverseMass(row: usize, k: usize, leaning: bool): f64 {
  const particle = <usize>load<u32>(row + (k << 2), PARTICLES);
  return leaning && marksOf(numberOf(particle)) & L.MARK_STOPPED ? 0 : <f64>load<f32>(particle, 12);
}

/**
 * Sets w_k b_k / sum w b^2; all 0 if nothing can move. Particles stopped by a collider move only if all are stopped.
 */
function findScales(row: usize): void {
  const a = load<f64>(row, WEIGHT);
  const b = load<f64>(row, WEIGHT + 8);
  const c = load<f64>(row, WEIGHT + 16);
  const d = load<f64>(row, WEIGHT + 24);
  let w0 = inverseMass(row, 0, true);
  let w1 = inverseMass(row, 1, true);
  let w2 = inverseMass(row, 2, true);
  let w3 = inverseMass(row, 3, true);
  let W = w0 * a * a + w1 * b * b + w2 * c * c + w3 * d * d;
  if (!(W > 0)) {
    w0 = inverseMass(row, 0, false);
    w1 = inverseMass(row, 1, false);
    w2 = inverseMass(row, 2, false);
    w3 = inverseMass(row, 3, false);
    W = w0 * a * a + w1 * b * b + w2 * c * c + w3 * d * d;
  }
  const by: f64 = W > 0 ? 1 / W : 0;
  store<f64>(row, by * w0 * a, SCALE);
  store<f64>(row, by * w1 * b, SCALE + 8);
  store<f64>(row, by * w2 * c, SCALE + 16);
  store<f64>(row, by * w3 * d, SCALE + 24);
}

/** n . sum b x, m */
function gapOf(row: usize): f64 {
  const last = <usize>load<u32>(row, PARTICLES + 12);
  let sum: f64 = 0;
  for (let k: usize = 0; k < 3; k++) {
    const particle = <usize>load<u32>(row + (k << 2), PARTICLES);
    const weight = load<f64>(row + (k << 3), WEIGHT);
    for (let r: usize = 0; r < 3; r++)
      sum +=
        weight *
        load<f64>(row + (r << 3), NORMAL) *
        (<f64>load<f32>(particle + (r << 2)) - <f64>load<f32>(last + (r << 2)));
  }
  return sum;
}

/** Solves one row. @returns 1 if it was violated */
function solve(row: usize): i32 {
  const p0 = <usize>load<u32>(row, PARTICLES);
  const p1 = <usize>load<u32>(row, PARTICLES + 4);
  const p2 = <usize>load<u32>(row, PARTICLES + 8);
  const p3 = <usize>load<u32>(row, PARTICLES + 12);
  const a = load<f64>(row, WEIGHT);
  const b = load<f64>(row, WEIGHT + 8);
  const c = load<f64>(row, WEIGHT + 16);
  const x = load<f64>(row, NORMAL);
  const y = load<f64>(row, NORMAL + 8);
  const z = load<f64>(row, NORMAL + 16);
  const cx: f64 = load<f32>(p3);
  const cy: f64 = load<f32>(p3, 4);
  const cz: f64 = load<f32>(p3, 8);
  const sx = a * (<f64>load<f32>(p0) - cx) + b * (<f64>load<f32>(p1) - cx) + c * (<f64>load<f32>(p2) - cx);
  const sy = a * (<f64>load<f32>(p0, 4) - cy) + b * (<f64>load<f32>(p1, 4) - cy) + c * (<f64>load<f32>(p2, 4) - cy);
  const sz = a * (<f64>load<f32>(p0, 8) - cz) + b * (<f64>load<f32>(p1, 8) - cz) + c * (<f64>load<f32>(p2, 8) - cz);
  const pushed = load<f64>(row, PUSHED);
  const push = max<f64>(
    -pushed,
    min<f64>(max<f64>(0, most - pushed), load<f64>(row, TARGET) - (x * sx + y * sy + z * sz)),
  );
  if (!(abs<f64>(push) > load<f64>(row, LEAVE))) return 0;
  const s0 = load<f64>(row, SCALE);
  const s1 = load<f64>(row, SCALE + 8);
  const s2 = load<f64>(row, SCALE + 16);
  const s3 = load<f64>(row, SCALE + 24);
  store<f64>(row, pushed + push, PUSHED);
  let fx = push * x;
  let fy = push * y;
  let fz = push * z;
  if (push > 0) {
    const lane = laneOf(load<i32>(row, PAIR));
    // tangential displacement since S of the closest points
    let tx = sx - load<f64>(row, AT_SAFE);
    let ty = sy - load<f64>(row, AT_SAFE + 8);
    let tz = sz - load<f64>(row, AT_SAFE + 16);
    const along = tx * x + ty * y + tz * z;
    tx -= along * x;
    ty -= along * y;
    tz -= along * z;
    const slide = sqrt(tx * tx + ty * ty + tz * tz);
    const approach = push / (1 + <f64>load<f32>(lane, L.CONTACT_BLOCK_BOUNCE));
    if (slide > 0 && load<f32>(lane, L.CONTACT_BLOCK_THICKNESS) > 0) {
      const cut: f64 =
        slide <= <f64>load<f32>(lane, L.CONTACT_BLOCK_STATIC) * approach
          ? 1
          : min<f64>(1, (<f64>load<f32>(lane, L.CONTACT_BLOCK_DYNAMIC) * approach) / slide);
      fx -= cut * tx;
      fy -= cut * ty;
      fz -= cut * tz;
    }
  }
  shove(p0, s0, fx, fy, fz);
  shove(p1, s1, fx, fy, fz);
  shove(p2, s2, fx, fy, fz);
  shove(p3, s3, fx, fy, fz);
  return 1;
}

function shove(particle: usize, s: f64, x: f64, y: f64, z: f64): void {
  if (s === 0) return;
  change(particle);
  store<f32>(particle, <f32>(<f64>load<f32>(particle) + s * x));
  store<f32>(particle, <f32>(<f64>load<f32>(particle, 4) + s * y), 4);
  store<f32>(particle, <f32>(<f64>load<f32>(particle, 8) + s * z), 8);
}
