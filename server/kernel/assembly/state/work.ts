/**
 * Counted work of a tick, in units of about 10 ns (WORK_UNIT_SECONDS). It bounds a tick without a clock: only counts
 * that follow from the state and the inputs are added. So the same room ends its ticks at the same substeps on any
 * machine, with any number of threads, and after a restart. (A checkpoint clears the pair list in the running room too:
 * both rooms build it from nothing.)
 * The weights are round numbers near the processor time of each kind of work (docs/decisions/bounded-ticks.md).
 */
import * as L from "../layout/layout";

/** Adds work. Any thread may call it. */
// @inline
export function countWork(units: i32): void {
  atomic.add<i32>(L.HEADER, units, L.H_WORK);
}

/** Returns the work of the tick so far. */
// @inline
export function workDone(): i32 {
  return atomic.load<i32>(L.HEADER, L.H_WORK);
}

export function beginWork(): void {
  atomic.store<i32>(L.HEADER, 0, L.H_WORK);
}

/** Returns whether the next piece of work would exceed the limit. @param next estimate of its units */
export function exceedsLimit(next: i32): bool {
  const limit = load<i32>(L.HEADER, L.H_WORK_LIMIT);
  return limit !== 0 && workDone() + next > limit;
}

/** Share of the limit that a part of a tick has in any case. */
const LEAST: f32 = 0.125;

/** Returns a share of the limit. */
export function workShare(share: f32): i32 {
  const limit = load<i32>(L.HEADER, L.H_WORK_LIMIT);
  return limit ? <i32>(share * <f32>limit) : i32.MAX_VALUE;
}

/**
 * Returns the total work at which a part of a tick that starts now has used its share of the limit, or the tick all of
 * it. @param share of the limit
 */
export function workAfter(share: f32): i32 {
  const limit = load<i32>(L.HEADER, L.H_WORK_LIMIT);
  if (!limit) return i32.MAX_VALUE;
  return workDone() + max<i32>(workShare(LEAST), min<i32>(workShare(share), limit - workDone()));
}

/** Returns the total work `share` of the limit beyond `most`. */
export function workBeyond(most: i32, share: f32): i32 {
  return most + min<i32>(workShare(share), i32.MAX_VALUE - most);
}
