/**
 * Impulses on pairs that are not clear, all together: a row for each, and sweeps over all rows.
 *   C = n . sum_k b_k x_k - target >= 0,  push p >= 0:  dp = max(-p, -C),  x_k += w_k b_k dp n / sum_k w_k b_k^2
 * Projected Gauss-Seidel: of the positions at which no row is violated it goes towards the nearest, in the metric of
 * masses, because what a row has pushed it takes back where others make it needless. Rows of earlier rounds stay, so
 * that what is pushed now does not undo them. Friction as in Bridson, Fedkiw & Anderson 2002, section 5.2, from what a
 * row adds. What a collider has turned back (leaveColliders.ts) leans on it: for the pairs on its other side it has no
 * more to give, and they move alone. A row asks for what S had along its direction, and no round may throw anything: in
 * drape with 3 hands rows that contradicted each other moved a particle by 11 cm in a substep (25 m/s, an edge 5.3
 * times its length), and 650 m before a zone took it back; now 4.3 m/s and 1.6. Tried and lost: each pair by itself,
 * one after another, eight times. In a wedge, two pairs against each other, or between a pair and a collider, a round
 * took a quarter of what was missing off, or less, and asked thousands of neighbors for it.
 */
import { spendWork } from "../scheduler/clock";
import {
  HEADER,
  H_X,
  H_SAFE,
  H_ZONE_SUMS,
  H_PARTICLES,
  ZONE_BYTES,
  IMPULSE_ROWS,
  MARK_LEANS,
  CONTACT_BLOCK_THICKNESS,
  CONTACT_BLOCK_STATIC,
  CONTACT_BLOCK_DYNAMIC,
  CONTACT_BLOCK_BOUNCE,
} from "../layout/layout";
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
import { change, changedCount, changedParticle } from "./changed";
import { countWork } from "../state/work";
import { mark, marksOf, numberOf, unmark } from "../state/marks";

/** Counted work of a row in a sweep. */
const UNITS_OF_ROW = 4;
/** Sweeps of a round: at least, at most, and rows looked at in between. */
const SWEEPS = 16;
const MOST_SWEEPS = 256;
const VISITS = 4096;
/** Share of the time to impact at which the closest points' direction is taken: there the pair is still apart. */
const BEFORE: f64 = 0.9;
/**
 * Rows are left alone when what is missing is less than this part of what they are pushed beyond what they have to
 * keep.
 */
const FINE: f64 = 1.0 / 16;

// a row, f64: n, b, target, pushed, scales w_k b_k / W, sum b S, what is left alone; u32 particles, i32 pair, f32 where
// the particles were when the round began. They lie where zones (rigidImpactZones.ts) will have their sums, when
// impulses are over
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
 * In the first round no row is pushed by more than this many times what the worst misses, and in each one after it by
 * half as much as in the one before: rows that lean on each other in a circle would go on and on (a corner of a sheet
 * between two folds and a ball: 220 m).
 */
const MOST_PUSH: f64 = 8;
/**
 * A round that moves a particle by more than this many times the substep's fastest motion is taken back: what bounces
 * moves twice as far. What is not clear then becomes a zone.
 */
const MOST_MOTION: f32 = 2;

let rows = 0;
/** What a row may be pushed, m. */
let most: f64 = 0;
/** The fastest motion from S of the particles of the first round's rows, m. */
let fastest: f32 = 0;
/** Of the last row: its distance along n at x, and what it has to be, m. */
let reached: f64 = 0;
let hold: f64 = 0;

// @inline
function rowAt(n: i32): usize {
  return <usize>load<u32>(HEADER, H_ZONE_SUMS) + <usize>n * ZONE_BYTES;
}

export function beginImpulses(): void {
  rows = 0;
}

/** Nothing leans any more. */
export function endImpulses(): void {
  for (let n = 0; n < changedCount; n++) unmark(numberOf(changedParticle(n)), MARK_LEANS);
}

/** A collider has turned the particle back. */
export function lean(particle: usize): void {
  mark(numberOf(particle), MARK_LEANS);
}

/**
 * Direction and weights for the pair that was examined last, `reached` and `hold`. The direction holds S apart, and no
 * row asks for more than S has along it: so S fulfils all rows, and what is nearest to x among that which does adds no
 * energy, |x' - S| <= |x - S| in the metric of masses.
 * @param r m
 * @returns false where none can help
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
  // clear along n and yet not clear: a little further
  if (!(reached < hold)) hold = reached + keep;
  hold = min<f64>(hold, weighted(0, nx, ny, nz));
  return reached < hold;
}

/**
 * A row for the pair that was examined last.
 * @param known it may have one from an earlier round.
 * @returns false if there is no room or no direction
 */
export function addRow(pair: i32, answer: i32, round: i32, known: bool): bool {
  const lane = laneOf(pair);
  const own = <f64>load<f32>(lane, CONTACT_BLOCK_THICKNESS);
  if (!aim(answer, own > 0 ? own : 2 * keep, round)) return false;
  let n = rows;
  if (known) for (n = 0; n < rows && load<i32>(rowAt(n), PAIR) !== pair; ) n++;
  spendWork(1 + (n >> 6));
  if (n === rows) {
    if (n === max<i32>(IMPULSE_ROWS, load<i32>(HEADER, H_PARTICLES))) return false;
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
  store<f64>(row, hold + <f64>load<f32>(lane, CONTACT_BLOCK_BOUNCE) * (hold - reached), TARGET);
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

/** Sweeps, there and back, until all rows are content. @param round 0, 1, ... */
export function solveRows(round: i32): void {
  let worst: f64 = 0;
  for (let n = 0; n < rows; n++) {
    findScales(rowAt(n));
    noteFrom(rowAt(n));
    worst = max<f64>(worst, load<f64>(rowAt(n), TARGET) - gapOf(rowAt(n)));
  }
  most = round ? 0.5 * most : MOST_PUSH * worst;
  if (!round) fastest = farthest(<usize>load<u32>(HEADER, H_SAFE) - <usize>load<u32>(HEADER, H_X));
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

/** How far the round has moved a particle at most, m. */
export function farthestMoved(): f32 {
  return farthest(0) * (1 + 1e-5);
}

/** The greatest distance of the rows' particles from where the round began or, `by` behind them, from S, m. */
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
      most = max<f32>(most, x * x + y * y + z * z);
    }
  }
  return Mathf.sqrt(most);
}

/** The round is taken back if it has thrown a particle. @param moved the farthest that it has moved one, m */
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
  return leaning && marksOf(numberOf(particle)) & MARK_LEANS ? 0 : <f64>load<f32>(particle, 12);
}

/** w_k b_k / sum w b^2: all 0 where nothing can move. */
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

/** @returns 1 if it was not content */
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
    // tangential displacement since S of the points that touch
    let tx = sx - load<f64>(row, AT_SAFE);
    let ty = sy - load<f64>(row, AT_SAFE + 8);
    let tz = sz - load<f64>(row, AT_SAFE + 16);
    const along = tx * x + ty * y + tz * z;
    tx -= along * x;
    ty -= along * y;
    tz -= along * z;
    const slide = sqrt(tx * tx + ty * ty + tz * tz);
    const approach = push / (1 + <f64>load<f32>(lane, CONTACT_BLOCK_BOUNCE));
    if (slide > 0 && load<f32>(lane, CONTACT_BLOCK_THICKNESS) > 0) {
      const cut: f64 =
        slide <= <f64>load<f32>(lane, CONTACT_BLOCK_STATIC) * approach
          ? 1
          : min<f64>(1, (<f64>load<f32>(lane, CONTACT_BLOCK_DYNAMIC) * approach) / slide);
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
