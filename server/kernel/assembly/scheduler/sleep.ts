/**
 * Waiting of threads: first in a loop, then asleep. A phase lasts some microseconds, and waking a thread takes tens of
 * them. But serial stages last milliseconds, and with more threads than cores a spinning thread takes the core from the
 * thread that it waits for.
 *
 *   helper         no chunk found -> HELPER_TURNS turns -> sleeps on H_OPENED, which counts when a phase is opened
 *   orchestrator   no chunk left to claim -> ORCHESTRATOR_TURNS turns -> sleeps on H_DONE until the chunks claimed by
 *                  helpers are done
 *
 * No wake is lost. A sleeper announces itself (H_SLEEPERS, H_ORCHESTRATOR_SLEEPS) before it waits. A thread that wakes
 * it changes the word first and looks for sleepers then. A wait for a word that has already changed returns at once.
 * All accesses are sequentially consistent.
 */
import * as L from "../layout/layout";

/** About 20 us here: a helper stays awake over the serial phases between two shared ones. */
export const HELPER_TURNS: i32 = 20000;
/** About the time of one chunk. */
const ORCHESTRATOR_TURNS: i32 = 20000;
/**
 * Longest sleep, ns: a thread that was ended in its sleep, or before it could wake the others, blocks no other thread.
 */
const NAP: i64 = 20_000_000;

/** Row of a thread; the orchestrator's is 0. */
// @inline
export function rowAt(slot: i32): usize {
  return L.HEADER + L.H_HELPERS + <usize>slot * L.HELPER_BYTES;
}
// @inline
export function partsOf(ticket: i64): i32 {
  return <i32>(ticket >> 32) & 255;
}
/** First chunk of part `n` of `parts`. */
// @inline
export function partBegin(n: i32, parts: i32, chunks: i32): i32 {
  return <i32>((<i64>chunks * n) / parts);
}

/** Publishes a phase: its chunks may be claimed from now on. @returns the ticket */
export function openPhase(p: i32, chunks: i32): i64 {
  const parts = min<i32>(L.MAX_THREADS, min<i32>(chunks, 1 + atomic.load<i32>(L.HEADER, L.H_HELPERS_INSIDE)));
  const number = ((<i32>(load<i64>(L.HEADER, L.H_TICKET) >> 40) + 1) << 8) | parts;
  const above = (<i64>number) << 32;
  atomic.store<i32>(L.HEADER, 0, L.H_DONE);
  for (let n = 0; n < parts; n++) atomic.store<i64>(rowAt(n), above | partBegin(n, parts, chunks), L.HELPER_NEXT);
  atomic.store<i64>(L.HEADER, above | p, L.H_TICKET);
  atomic.add<i32>(L.HEADER, 1, L.H_OPENED);
  if (atomic.load<i32>(L.HEADER, L.H_SLEEPERS)) atomic.notify(L.HEADER + L.H_OPENED, -1);
  return above | p;
}

/**
 * Sleeps until another phase than `ticket` is open, the tick ends or the helper must leave. It may return early; the
 * caller checks.
 */
export function sleepUntilOpened(ticket: i64, generation: i32, leaves: usize): void {
  const opened = atomic.load<i32>(L.HEADER, L.H_OPENED);
  if (
    atomic.load<i64>(L.HEADER, L.H_TICKET) !== ticket ||
    atomic.load<i32>(L.HEADER, L.H_ACTIVE) !== generation ||
    atomic.load<i32>(leaves)
  )
    return;
  atomic.add<i32>(L.HEADER, 1, L.H_SLEEPERS);
  atomic.wait<i32>(L.HEADER + L.H_OPENED, opened, NAP);
  atomic.sub<i32>(L.HEADER, 1, L.H_SLEEPERS);
}

/** Records chunks that a helper has done. */
export function chunksDone(count: i32): void {
  atomic.add<i32>(L.HEADER, count, L.H_DONE);
  if (atomic.load<i32>(L.HEADER, L.H_ORCHESTRATOR_SLEEPS)) atomic.notify(L.HEADER + L.H_DONE, 1);
}

/** Returns when helpers have done `claimed` chunks of the open phase. Traps if a helper was lost: H_TORN. */
export function awaitHelpers(claimed: i32): void {
  let turns = 0;
  for (;;) {
    const done = atomic.load<i32>(L.HEADER, L.H_DONE);
    if (done >= claimed) return;
    if (++turns < ORCHESTRATOR_TURNS) continue;
    if (atomic.load<i32>(L.HEADER, L.H_TORN)) unreachable();
    atomic.store<i32>(L.HEADER, 1, L.H_ORCHESTRATOR_SLEEPS);
    atomic.wait<i32>(L.HEADER + L.H_DONE, done, NAP);
    atomic.store<i32>(L.HEADER, 0, L.H_ORCHESTRATOR_SLEEPS);
  }
}
