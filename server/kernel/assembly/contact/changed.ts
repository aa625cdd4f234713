/**
 * Book-keeping of the response to contacts that were not cleared: which particles it has moved in this substep, which
 * of them in this round, and which pairs each of them is in.
 */
import {
  HEADER,
  H_X,
  H_PARTICLES,
  H_CHANGED,
  H_CHANGED_FROM,
  H_INCIDENT,
  H_INCIDENCES,
  MARK_CHANGED,
  MARK_ROUND,
  MARK_LAGS,
} from "../layout/layout";
import { mark, marksOf, numberOf, unmark } from "../state/marks";

/** Particles moved in this substep, and in this round. */
export let changedCount = 0;
export let roundCount = 0;

// @inline
export function particleAt(number: i32): usize {
  return <usize>load<u32>(HEADER, H_X) + ((<usize>number) << 4);
}

/** Address of the n-th particle of this substep. */
export function changedParticle(n: i32): usize {
  return <usize>load<u32>(<usize>load<u32>(HEADER, H_CHANGED) + ((<usize>n) << 2));
}
/** Where it was before the response, f32x4. */
export function changedFrom(n: i32): usize {
  return <usize>load<u32>(HEADER, H_CHANGED_FROM) + ((<usize>n) << 4);
}
/** Address of the n-th particle of this round. */
export function roundParticle(n: i32): usize {
  return <usize>load<u32>(<usize>load<u32>(HEADER, H_CHANGED) + ((<usize>(load<i32>(HEADER, H_PARTICLES) + n)) << 2));
}

/** Has to be called before a particle is moved: notes it once a substep and once a round. */
export function change(particle: usize): void {
  const number = numberOf(particle);
  const marks = marksOf(number);
  const list = <usize>load<u32>(HEADER, H_CHANGED);
  if (!(marks & MARK_CHANGED)) {
    v128.store(<usize>load<u32>(HEADER, H_CHANGED_FROM) + ((<usize>changedCount) << 4), v128.load(particle));
    store<u32>(list + ((<usize>changedCount) << 2), <u32>particle);
    changedCount++;
  }
  if (!(marks & MARK_ROUND)) {
    store<u32>(list + ((<usize>(load<i32>(HEADER, H_PARTICLES) + roundCount)) << 2), <u32>particle);
    roundCount++;
  }
  mark(number, MARK_CHANGED | MARK_ROUND | (load<f32>(particle, 12) === 0 ? MARK_LAGS : 0));
}

export function endRound(): void {
  for (let n = 0; n < roundCount; n++) unmark(numberOf(roundParticle(n)), MARK_ROUND);
  roundCount = 0;
}

export function endChanges(): void {
  endRound();
  for (let n = 0; n < changedCount; n++) unmark(numberOf(changedParticle(n)), MARK_CHANGED);
  changedCount = 0;
}

/**
 * A particle's pairs are a chain, that of the last packed pair first: entries from firstOf(particle), 0 at its end. A
 * pair that has been taken out (contactList.ts) stays in the chains of its other particles, its least distance
 * negative.
 */
// @inline
export function firstOf(particle: usize): i32 {
  return load<i32>(<usize>load<u32>(HEADER, H_INCIDENT) + ((<usize>numberOf(particle)) << 2));
}
// @inline
export function nextOf(entry: i32): i32 {
  return load<i32>(<usize>load<u32>(HEADER, H_INCIDENCES) + ((<usize>(entry - 1)) << 2));
}
/** Number of the pair. */
// @inline
export function pairOf(entry: i32): i32 {
  return (entry - 1) >> 2;
}

/** Pair number `pair` becomes the first of the chain of its particle number k. */
// @inline
export function enchain(pair: i32, k: i32, particle: usize): void {
  const first = <usize>load<u32>(HEADER, H_INCIDENT) + ((<usize>numberOf(particle)) << 2);
  const entry = (pair << 2) + k;
  store<i32>(<usize>load<u32>(HEADER, H_INCIDENCES) + ((<usize>entry) << 2), load<i32>(first));
  store<i32>(first, entry + 1);
}
