/**
 * Bookkeeping of the contact response: which particles it has moved in this substep and in this round, how far, and
 * which pairs each particle is in.
 */
import * as L from "../../layout/layout";
import { dotXyz } from "../../math/lanes";
import { mark, marksOf, numberOf, unmark } from "../../state/marks";

/** Number of particles moved in this substep, and in this round. */
export let changedCount = 0;
export let roundCount = 0;

// @inline
export function particleAt(number: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_X) + ((<usize>number) << 4);
}

/** Address of the n-th particle moved in this substep. */
export function changedParticle(n: i32): usize {
  return <usize>load<u32>(<usize>load<u32>(L.HEADER, L.H_CHANGED) + ((<usize>n) << 2));
}
/** Address of the position of that particle before the response, f32x4. */
export function changedFrom(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_CHANGED_FROM) + ((<usize>n) << 4);
}
/** Address of the n-th particle moved in this round. */
export function roundParticle(n: i32): usize {
  return <usize>(
    load<u32>(<usize>load<u32>(L.HEADER, L.H_CHANGED) + ((<usize>(load<i32>(L.HEADER, L.H_PARTICLES) + n)) << 2))
  );
}

/** Records a particle, once a substep and once a round. Call it before the particle is moved. */
export function change(particle: usize): void {
  const number = numberOf(particle);
  const marks = marksOf(number);
  const list = <usize>load<u32>(L.HEADER, L.H_CHANGED);
  if (!(marks & L.MARK_CHANGED)) {
    v128.store(<usize>load<u32>(L.HEADER, L.H_CHANGED_FROM) + ((<usize>changedCount) << 4), v128.load(particle));
    store<u32>(list + ((<usize>changedCount) << 2), <u32>particle);
    changedCount++;
  }
  if (!(marks & L.MARK_ROUND)) {
    store<u32>(list + ((<usize>(load<i32>(L.HEADER, L.H_PARTICLES) + roundCount)) << 2), <u32>particle);
    roundCount++;
  }
  mark(number, L.MARK_CHANGED | L.MARK_ROUND | (load<f32>(particle, 12) === 0 ? L.MARK_LAGS : 0));
}

export function endRound(): void {
  for (let n = 0; n < roundCount; n++) {
    const particle = roundParticle(n);
    const path = pathAt(particle);
    store<f32>(path, pathOf(particle));
    store<f32>(path, 0, ROUND);
    unmark(numberOf(particle), L.MARK_ROUND);
  }
  roundCount = 0;
}

export function endChanges(): void {
  endRound();
  forgetPaths();
  for (let n = 0; n < changedCount; n++) unmark(numberOf(changedParticle(n)), L.MARK_CHANGED);
  changedCount = 0;
}

/** The path of a particle: its length until this round, and in this round, in the color mask, m. */
const ROUND = 4;
/** Covers the rounding of paths. */
const MORE: f32 = 1 + 1e-5;

// @inline
function pathAt(particle: usize): usize {
  return particle + (<usize>load<u32>(L.HEADER, L.H_COLOR_MASKS) - <usize>load<u32>(L.HEADER, L.H_X));
}

/** Returns how far the response has moved a particle since the last check of all rows: upper bound, m. */
// @inline
function pathOf(particle: usize): f32 {
  const path = pathAt(particle);
  return load<f32>(path) + load<f32>(path, ROUND);
}

/** Call it after the check of all rows. */
export function forgetPaths(): void {
  for (let n = 0; n < changedCount; n++) store<u64>(pathAt(changedParticle(n)), 0);
}

/** Notes the whole way of a particle in this round, m. */
// @inline
export function noteRound(particle: usize, way: f32): void {
  store<f32>(pathAt(particle), way * MORE, ROUND);
}

/** Adds to the way of a particle in this round. @param from where it was; it is at its new place */
export function addRound(particle: usize, from: v128): void {
  const way = f32x4.sub(v128.load(particle), from);
  const path = pathAt(particle);
  store<f32>(path, load<f32>(path, ROUND) + Mathf.sqrt(dotXyz(way, way)) * MORE, ROUND);
}

/**
 * Returns the sum of the paths of a pair's particles, m. It grows by at least as much as the response brings them
 * nearer along a direction; the longest path of each side does not.
 */
// @inline
export function pathsOf(lane: usize): f32 {
  return (
    pathOf(<usize>load<u32>(lane)) +
    pathOf(<usize>load<u32>(lane, 16)) +
    pathOf(<usize>load<u32>(lane, 32)) +
    pathOf(<usize>load<u32>(lane, 48))
  );
}

/**
 * The pairs of a particle form a chain, the last packed pair first. Entries begin at firstOf(particle) and end with 0.
 * A removed pair (contactList.ts) stays in the chains of its other particles, with a negative least distance.
 */
// @inline
export function firstOf(particle: usize): i32 {
  return load<i32>(<usize>load<u32>(L.HEADER, L.H_INCIDENT) + ((<usize>numberOf(particle)) << 2));
}
// @inline
export function nextOf(entry: i32): i32 {
  return load<i32>(<usize>load<u32>(L.HEADER, L.H_INCIDENCES) + ((<usize>(entry - 1)) << 2));
}
/** Number of an entry's pair. */
// @inline
export function pairOf(entry: i32): i32 {
  return (entry - 1) >> 2;
}

/** Puts pair number `pair` at the head of the chain of its particle k. */
// @inline
export function enchain(pair: i32, k: i32, particle: usize): void {
  const first = <usize>load<u32>(L.HEADER, L.H_INCIDENT) + ((<usize>numberOf(particle)) << 2);
  const entry = (pair << 2) + k;
  store<i32>(<usize>load<u32>(L.HEADER, L.H_INCIDENCES) + ((<usize>entry) << 2), load<i32>(first));
  store<i32>(first, entry + 1);
}
