/**
 * Shares the chunks of a phase among all threads present.
 *
 * The orchestrating thread opens a phase: its chunks are cut into one part for each thread. Each part has a counter on
 * its own cache line, and the ticket names the open phase. A thread claims by compare-and-swap, first from its own
 * part, the same region as in the color before, then from the other parts. A counter contains the ticket's number, so
 * even a late claim is for the phase that is open now. At the end the orchestrator waits only for claimed chunks; a
 * worker that never starts costs nothing. Chunks of a phase touch disjoint particles and each is computed alone, so the
 * result does not depend on the thread. Without workers nothing is opened, and no thread waits: sleep.ts.
 * Memory order: the ticket's atomic store publishes all stores before it; `done` is added to atomically after the
 * chunks' stores. The thread that claims a chunk also runs it. This file knows no stages, so stages may share work
 * inside a phase.
 *   openPhaseChunks(p); while (claimChunk()) run(chunkBegin, chunkEnd); closePhaseChunks();
 * Tried: one counter for all. Two threads then work anywhere, and most particles that one needs were just written by
 * the other; every claim also fetches the counter from another core (220 ns between these virtual cores). 50,400
 * tetrahedra in chunks of 16 blocks were slower on two threads than on one.
 */
import * as L from "../layout/layout";
import { phaseDone } from "./host";
import { awaitHelpers, openPhase, partBegin, partsOf, rowAt } from "./sleep";

/** The last chunk that this thread has claimed: its phase, and its blocks, particles or bodies begin .. end. */
export let claimedPhase: usize = 0;
export let chunkBegin: i32 = 0;
export let chunkEnd: i32 = 0;
/** Chunks that this thread has claimed since beginClaims. */
export let chunksClaimed: i32 = 0;

// source of this thread's claims: ticket, its chunks and parts, current part, number of parts left. leaves: address of
// a word that becomes nonzero when the thread must leave; 0: it never must
let ticket: i64 = 0;
let chunks: i32 = 0;
let parts: i32 = 0;
let part: i32 = 0;
let partsLeft: i32 = 0;
let leaves: usize = 0;

// true while this thread orchestrates a step with possible helpers
let helped = false;

/** @param helpers whether helpers may take part in this step */
export function beginStep(helpers: bool): void {
  helped = helpers;
}
export function endStep(): void {
  helped = false;
}

/** Returns whether sharing work is worthwhile: whether a helper is present. */
export function isHelped(): bool {
  return helped && atomic.load<i32>(L.HEADER, L.H_HELPERS_INSIDE) > 0;
}

// @inline
export function phaseAt(p: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_PROGRAM) + <usize>p * L.PHASE_BYTES;
}

/**
 * From now on claimChunk claims from the phase that `open` names.
 * @param slot this thread's row; leave address of a word that becomes nonzero when the thread must leave, or 0
 */
export function beginClaims(open: i64, slot: i32, leave: usize): void {
  ticket = open;
  leaves = leave;
  claimedPhase = phaseAt(<i32>(ticket & 0xffffffff));
  chunks = load<i32>(claimedPhase, L.PHASE_CHUNKS);
  parts = partsOf(ticket);
  part = slot % parts;
  partsLeft = parts;
  chunksClaimed = 0;
}

/**
 * Claims the next chunk: sets claimedPhase, chunkBegin, chunkEnd.
 * @returns false if none is left, the phase is closed, or this thread must leave
 */
export function claimChunk(): bool {
  for (; partsLeft > 0; partsLeft--, part = part + 1 === parts ? 0 : part + 1) {
    const next = rowAt(part) + L.HELPER_NEXT;
    const end = partBegin(part + 1, parts, chunks);
    for (;;) {
      if (leaves && atomic.load<i32>(leaves)) return false;
      const at = atomic.load<i64>(next);
      const chunk = <i32>(at & 0xffffffff);
      if (at >> 32 !== ticket >> 32) return false;
      if (chunk >= end) break;
      if (atomic.cmpxchg<i64>(next, at, at + 1) !== at) continue;
      const size = load<i32>(claimedPhase, L.PHASE_CHUNK);
      chunkBegin = chunk * size;
      chunkEnd = min<i32>(chunkBegin + size, load<i32>(claimedPhase, L.PHASE_COUNT));
      chunksClaimed++;
      return true;
    }
  }
  return false;
}

/** Opens phase `p` to all threads. The caller then claims chunks until none is left, and closes it. */
export function openPhaseChunks(p: i32): void {
  beginClaims(openPhase(p, load<i32>(phaseAt(p), L.PHASE_CHUNKS)), 0, 0);
}

/** Waits for the chunks that helpers have claimed. */
export function closePhaseChunks(): void {
  const others = chunks - chunksClaimed;
  store<i32>(L.HEADER, load<i32>(L.HEADER, L.H_CHUNKS_SHARED) + chunks, L.H_CHUNKS_SHARED);
  store<i32>(L.HEADER, load<i32>(L.HEADER, L.H_CHUNKS_HELPED) + others, L.H_CHUNKS_HELPED);
  awaitHelpers(others);
}

/**
 * Opens a row after the program's phases (SHARED_*), from inside a phase of one chunk. It may be opened repeatedly: a
 * late claim gets a chunk of the row's current state.
 */
export function openShared(row: i32): void {
  const p = load<i32>(L.HEADER, L.H_PHASES) + row;
  if (load<i32>(L.HEADER, L.H_WATCH) & L.WATCH_SHARES) phaseDone(p);
  openPhaseChunks(p);
}

export function closeShared(row: i32): void {
  closePhaseChunks();
  if (load<i32>(L.HEADER, L.H_WATCH) & L.WATCH_SHARES) phaseDone(load<i32>(L.HEADER, L.H_PHASES) + row);
}

/** Returns the start of part `n` of `parts` of a range of `count`. */
// @inline
export function partBegins(count: i32, n: i32, parts: i32): i32 {
  return <i32>((<i64>count * n) / parts);
}

/** Returns the number of parts of the open SHARED_* row. */
export function sharedParts(): i32 {
  return load<i32>(claimedPhase, L.PHASE_COUNT);
}

/** Returns the number of parts of any SHARED_* row. */
export function partsOfShared(row: i32): i32 {
  return load<i32>(phaseAt(load<i32>(L.HEADER, L.H_PHASES) + row), L.PHASE_COUNT);
}
