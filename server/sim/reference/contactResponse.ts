/**
 * Twin of the first stage of kernel/assembly/contact/contactResponse.ts. Pairs in violation are pushed apart together
 * (impulses.ts), inelastically except for restitution, with friction (Bridson, Fedkiw & Anderson 2002, section 7.3).
 * Pairs that eight rounds do not resolve, or would throw, would form a rigid impact zone, which this twin does not
 * have.
 */
import { vectorAt, addAt, type Particles } from "./particles.ts";
import { closestOf, type ReferenceContactPair } from "./contacts.ts";
import { combine, dot, norm, scale, subtract, type Vector } from "./vector.ts";

/** Time of impact of 24 numbers in [0, 1], or -1. */
export interface Detection {
  vertexTriangle: (q: Float64Array) => number;
  edgeEdge: (q: Float64Array) => number;
}

const ROUNDS = 8;
const BEFORE = 0.9;
const ROUNDING = 1 / 1024;
const AGAIN = 2;
const SWEEPS = 16;
const MOST_SWEEPS = 256;
const VISITS = 4096;
const FINE = 1 / 16;
const MOST_PUSH = 8;
const MOST_MOTION = 2;

type Answer = { answer: "clear" } | { answer: "near" | "meet"; keep: number; impact: number };

/** Examines the displacement of a pair from `safe` to x for a violation. */
function examine(touch: ReferenceContactPair, safe: Float64Array, x: Float64Array, detect: Detection): Answer {
  const keep = Math.min(touch.keep, (1 - ROUNDING) * closestOf(touch, safe).distance);
  const q = Float64Array.from([safe, x].flatMap((at) => touch.particles.flatMap((i) => [...vectorAt(at, i)])));
  const impact = touch.kind === "vertex" ? detect.vertexTriangle(q) : detect.edgeEdge(q);
  if (impact >= 0) return { answer: "meet", keep, impact };
  return closestOf(touch, x).distance >= keep ? { answer: "clear" } : { answer: "near", keep, impact };
}

/** A pushed pair: C = n . sum b x - target >= 0, pushed by `pushed` so far; a violation below `leave` is ignored. */
interface Row {
  touch: ReferenceContactPair;
  normal: Vector;
  weights: readonly number[];
  target: number;
  leave: number;
  pushed: number;
}

/**
 * Pushes `touches` apart until all are clear.
 * @param bad the pairs in violation, in list order
 * @param all the whole list
 * @returns for every moved particle, its position before
 * @throws Error if impulses are not enough
 */
export function pushAllApart(
  p: Particles,
  safe: Float64Array,
  bad: readonly ReferenceContactPair[],
  all: readonly ReferenceContactPair[],
  detect: Detection,
): Map<number, Vector> {
  const before = new Map<number, Vector>();
  const rows: Row[] = [];
  let limits = limitsOf(p, safe, rows);
  let queue = bad.filter((touch) => examine(touch, safe, p.x, detect).answer !== "clear");
  for (let round = 0; round < ROUNDS && queue.length > 0; round++) {
    const again = new Set<ReferenceContactPair>();
    for (const touch of queue) {
      const found = examine(touch, safe, p.x, detect);
      if (found.answer === "clear") continue;
      const row = makeRow(p, safe, touch, found, round);
      if (!row) continue;
      const known = rows.findIndex((other) => other.touch === touch);
      if (known < 0) rows.push(row);
      else rows[known] = row;
    }
    if (round === 0) limits = limitsOf(p, safe, rows);
    else limits.push /= 2;
    const moved = solveRows(p, safe, rows, before, limits);
    for (const touch of queue)
      if (!touch.particles.some((i) => moved.has(i)) && examine(touch, safe, p.x, detect).answer !== "clear")
        again.add(touch);
    for (const i of moved)
      for (const touch of all)
        if (touch.particles.includes(i) && examine(touch, safe, p.x, detect).answer !== "clear") again.add(touch);
    queue = [...again];
  }
  if (queue.length > 0) throw new Error(`${queue.length} pairs are not clear after ${ROUNDS} rounds of impulses`);
  return before;
}

/**
 * Updates velocities of pushed particles, over a substep of h, and the directions of their pairs.
 * @param before result of pushAllApart
 */
export function updatePushed(
  p: Particles,
  before: ReadonlyMap<number, Vector>,
  all: readonly ReferenceContactPair[],
  h: number,
): void {
  for (const [i, from] of before)
    if (p.w[i]! > 0) addAt(p.v, i, scale(1 / (h * (1 + h * p.damping[i]!)), subtract(vectorAt(p.x, i), from)));
  for (const touch of all) {
    if (!touch.particles.some((i) => before.has(i))) continue;
    const { distance, difference, weights } = closestOf(touch, p.x);
    Object.assign(touch, {
      normal: scale(1 / distance, difference),
      gap: distance,
      weights,
      near: distance < AGAIN * touch.thickness,
    });
  }
}

function makeRow(
  p: Particles,
  safe: Float64Array,
  touch: ReferenceContactPair,
  { answer, keep, impact }: Exclude<Answer, { answer: "clear" }>,
  round: number,
): Row | undefined {
  const { particles, thickness, restitution } = touch;
  const r = thickness > 0 ? thickness : 2 * keep;
  const x = p.x;
  const holdAt = (distance: number): number => Math.max(keep, Math.min(r, distance));
  const unit = ({ distance, difference }: { distance: number; difference: Vector }): Vector =>
    scale(1 / distance, difference);
  const atSafe = closestOf(touch, safe);
  let at = atSafe;
  let hold = holdAt(at.distance);
  /** Distance along the direction of the closest points, m. */
  const along = (positions: Float64Array): number =>
    dot(
      unit(at),
      combine(
        at.weights,
        particles.map((i) => subtract(vectorAt(positions, i), vectorAt(positions, particles[3]))),
      ),
    );
  if (answer === "near") at = closestOf(touch, x);
  else if (along(x) >= hold || round % 2 === 1) {
    at = closestOf(
      touch,
      x.map((end, k) => safe[k]! + BEFORE * impact * (end - safe[k]!)),
    );
    hold = holdAt(at.distance);
  }
  if (!(along(safe) >= keep)) {
    at = atSafe;
    hold = holdAt(at.distance);
  }
  const g = along(x);
  if (!(g < hold)) hold = g + keep;
  hold = Math.min(hold, along(safe));
  if (!(g < hold)) return undefined;
  return {
    touch,
    normal: unit(at),
    weights: at.weights,
    target: hold + restitution * (hold - g),
    leave: FINE * Math.min(keep, hold - keep),
    pushed: 0,
  };
}

/** Limits of a round: total push of a row, and displacement of a particle, m. */
interface Limits {
  push: number;
  motion: number;
}

/**
 * @returns the limits of the first round: MOST_PUSH times the worst row's violation, MOST_MOTION times the fastest
 * motion
 */
const limitsOf = (p: Particles, safe: Float64Array, rows: readonly Row[]): Limits => ({
  push: MOST_PUSH * Math.max(0, ...rows.map((row) => row.target - gapOf(p, row))),
  motion:
    MOST_MOTION *
    Math.max(
      0,
      ...rows.flatMap(({ touch }) => touch.particles.map((i) => norm(subtract(vectorAt(p.x, i), vectorAt(safe, i))))),
    ),
});

/**
 * Sweeps back and forth until no row has a violation.
 * @returns the moved particles, in that order
 * @throws Error if one was moved further than its limit
 */
function solveRows(
  p: Particles,
  safe: Float64Array,
  rows: readonly Row[],
  before: Map<number, Vector>,
  limits: Limits,
): Set<number> {
  const moved = new Map<number, Vector>();
  const sweeps = Math.max(SWEEPS, Math.min(MOST_SWEEPS, Math.floor(VISITS / Math.max(1, rows.length))));
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let pushes = 0;
    for (const row of sweep % 2 === 1 ? rows.toReversed() : rows)
      if (solveRow(p, safe, row, moved, limits.push)) pushes++;
    if (pushes === 0) break;
  }
  for (const [i, from] of moved) {
    const far = norm(subtract(vectorAt(p.x, i), from));
    if (!(far <= limits.motion)) throw new Error(`particle ${i} is moved by ${far} m, limit: ${limits.motion}`);
    if (!before.has(i)) before.set(i, from);
  }
  return new Set(moved.keys());
}

const gapOf = (p: Particles, { touch: { particles }, normal, weights }: Row): number =>
  dot(
    normal,
    combine(
      weights,
      particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.x, particles[3]))),
    ),
  );

/**
 * Solves one row.
 * @param before receives the earlier positions of particles that it moves
 * @param most largest total push of the row, m
 * @returns whether the row had a violation
 */
function solveRow(p: Particles, safe: Float64Array, row: Row, before: Map<number, Vector>, most: number): boolean {
  const { touch, normal: n, weights: b } = row;
  const { particles, thickness, staticFriction, dynamicFriction, restitution } = touch;
  const x = p.x;
  const W = particles.reduce((sum, i, k) => sum + p.w[i]! * b[k]! ** 2, 0);
  const push = Math.max(-row.pushed, Math.min(Math.max(0, most - row.pushed), row.target - gapOf(p, row)));
  if (!(W > 0) || !(Math.abs(push) > row.leave)) return false;
  row.pushed += push;
  let force = scale(push, n);
  if (push > 0 && thickness > 0) {
    const way = combine(
      b,
      particles.map((i) => subtract(vectorAt(x, i), vectorAt(safe, i))),
    );
    const tangential = subtract(way, scale(dot(way, n), n));
    const slide = norm(tangential);
    const approach = push / (1 + restitution);
    force = subtract(
      force,
      scale(slide <= staticFriction * approach ? 1 : Math.min(1, (dynamicFriction * approach) / slide), tangential),
    );
  }
  const shoved = particles.filter((i, k) => p.w[i]! * b[k]! !== 0);
  for (const i of shoved) if (!before.has(i)) before.set(i, vectorAt(x, i));
  particles.forEach((i, k) => addAt(x, i, scale((p.w[i]! * b[k]!) / W, force)));
  return true;
}
