/**
 * How a crew waits: a little while in a loop, then asleep. A phase lasts some microseconds, a thread takes tens of them to wake; but serial stages last
 * milliseconds, and on a machine with more threads than cores who waits in a loop takes the core from who is waited for.
 *
 *   helper   finds no chunk -> HELPER_TURNS turns -> sleeps on H_OPENED, which counts whenever a phase is opened
 *   leader   has no chunk left to claim -> LEADER_TURNS turns -> sleeps on H_DONE until the chunks that helpers have claimed are done
 *
 * No wake is lost: a sleeper announces itself (H_SLEEPERS, H_LEADER_SLEEPS) before it waits, whoever has something to tell changes the word first and
 * looks for sleepers then, and a wait for a word that has changed already returns at once. All are sequentially consistent.
 */
import { HEADER, H_ACTIVE, H_DONE, H_LEADER_SLEEPS, H_OPENED, H_PROGRAM, H_SLEEPERS, H_TICKET, H_TORN, HELPER_LEAVES, PHASE_BYTES, PHASE_CHUNKS } from "./layout";

/** About 20 us here: a helper stays awake over the phases that the leader does alone between two that are shared. */
export const HELPER_TURNS: i32 = 20000;
/** About as long as a chunk that somebody has claimed takes. */
const LEADER_TURNS: i32 = 20000;
/** Nobody sleeps longer than this in one piece, ns: a thread that was ended in its sleep, or before it could wake the others, holds nobody up. */
const NAP: i64 = 20_000_000;

/** Publishes a phase: its chunks may be claimed from now on. */
export function openPhase(p: i32): void {
  atomic.store<i32>(HEADER, 0, H_DONE);
  atomic.store<i64>(HEADER, <i64>p << 32, H_TICKET);
  atomic.store<i32>(HEADER, load<i32>(HEADER, H_OPENED) + 1, H_OPENED);
  if (atomic.load<i32>(HEADER, H_SLEEPERS)) atomic.notify(HEADER + H_OPENED, -1);
}

/** Sleeps until a phase is opened, the tick ends or the helper of this row is to leave: to be looked for by the caller. */
export function sleepUntilOpened(generation: i32, row: usize): void {
  const opened = atomic.load<i32>(HEADER, H_OPENED), ticket = atomic.load<i64>(HEADER, H_TICKET);
  const phase = <usize>load<u32>(HEADER, H_PROGRAM) + <usize>(ticket >> 32) * PHASE_BYTES;
  if (<i32>(ticket & 0xffffffff) < load<i32>(phase, PHASE_CHUNKS) || atomic.load<i32>(HEADER, H_ACTIVE) != generation || atomic.load<i32>(row, HELPER_LEAVES)) return;
  atomic.add<i32>(HEADER, 1, H_SLEEPERS);
  atomic.wait<i32>(HEADER + H_OPENED, opened, NAP);
  atomic.sub<i32>(HEADER, 1, H_SLEEPERS);
}

/** A helper's chunk is done. */
export function chunkDone(): void {
  atomic.add<i32>(HEADER, 1, H_DONE);
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
