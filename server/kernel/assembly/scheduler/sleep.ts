/**
 * How a crew waits: a little while in a loop, then asleep. A phase lasts some microseconds, a thread takes tens of them
 * to wake; but serial stages last milliseconds, and on a machine with more threads than cores who waits in a loop takes
 * the core from who is waited for.
 *
 *   helper   finds no chunk -> HELPER_TURNS turns -> sleeps on H_OPENED, which counts whenever a phase is opened
 *   leader   has no chunk left to claim -> LEADER_TURNS turns -> sleeps on H_DONE until the chunks that helpers have
 *   claimed are done
 *
 * No wake is lost: a sleeper announces itself (H_SLEEPERS, H_LEADER_SLEEPS) before it waits, whoever has something to
 * tell changes the word first and looks for sleepers then, and a wait for a word that has changed already returns at
 * once. All are sequentially consistent.
 */
import {
  HEADER,
  H_ACTIVE,
  H_CREW,
  H_DONE,
  H_HELPERS,
  H_LEADER_SLEEPS,
  H_OPENED,
  H_SLEEPERS,
  H_TICKET,
  H_TORN,
  HELPER_BYTES,
  HELPER_NEXT,
  MAX_THREADS,
} from "../layout/layout";

/** About 20 us here: a helper stays awake over the phases that the leader does alone between two that are shared. */
export const HELPER_TURNS: i32 = 20000;
/** About as long as a chunk that somebody has claimed takes. */
const LEADER_TURNS: i32 = 20000;
/**
 * Nobody sleeps longer than this in one piece, ns: a thread that was ended in its sleep, or before it could wake the
 * others, holds nobody up.
 */
const NAP: i64 = 20_000_000;

/** Row of a thread; the leader's is 0. */
// @inline
export function rowAt(slot: i32): usize {
  return HEADER + H_HELPERS + <usize>slot * HELPER_BYTES;
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
  const parts = min<i32>(MAX_THREADS, min<i32>(chunks, 1 + atomic.load<i32>(HEADER, H_CREW)));
  const number = ((<i32>(load<i64>(HEADER, H_TICKET) >> 40) + 1) << 8) | parts;
  const above = (<i64>number) << 32;
  atomic.store<i32>(HEADER, 0, H_DONE);
  for (let n = 0; n < parts; n++) atomic.store<i64>(rowAt(n), above | partBegin(n, parts, chunks), HELPER_NEXT);
  atomic.store<i64>(HEADER, above | p, H_TICKET);
  atomic.add<i32>(HEADER, 1, H_OPENED);
  if (atomic.load<i32>(HEADER, H_SLEEPERS)) atomic.notify(HEADER + H_OPENED, -1);
  return above | p;
}

/**
 * Sleeps until something else than `ticket` is open, the tick ends or the helper is to leave: to be looked for by the
 * caller.
 */
export function sleepUntilOpened(ticket: i64, generation: i32, leaves: usize): void {
  const opened = atomic.load<i32>(HEADER, H_OPENED);
  if (
    atomic.load<i64>(HEADER, H_TICKET) !== ticket ||
    atomic.load<i32>(HEADER, H_ACTIVE) !== generation ||
    atomic.load<i32>(leaves)
  )
    return;
  atomic.add<i32>(HEADER, 1, H_SLEEPERS);
  atomic.wait<i32>(HEADER + H_OPENED, opened, NAP);
  atomic.sub<i32>(HEADER, 1, H_SLEEPERS);
}

/** A helper has done so many chunks. */
export function chunksDone(count: i32): void {
  atomic.add<i32>(HEADER, count, H_DONE);
  if (atomic.load<i32>(HEADER, H_LEADER_SLEEPS)) atomic.notify(HEADER + H_DONE, 1);
}

/** Returns when helpers have done `claimed` chunks of the open phase. Traps if one of them never will: H_TORN. */
export function awaitHelpers(claimed: i32): void {
  let turns = 0;
  for (;;) {
    const done = atomic.load<i32>(HEADER, H_DONE);
    if (done >= claimed) return;
    if (++turns < LEADER_TURNS) continue;
    if (atomic.load<i32>(HEADER, H_TORN)) unreachable();
    atomic.store<i32>(HEADER, 1, H_LEADER_SLEEPS);
    atomic.wait<i32>(HEADER + H_DONE, done, NAP);
    atomic.store<i32>(HEADER, 0, H_LEADER_SLEEPS);
  }
}
