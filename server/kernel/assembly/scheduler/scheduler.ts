/**
 * Shares the chunks of a phase out to however many threads have come.
 *
 * The orchestrating thread opens a phase: its chunks are cut into as many parts as threads are there, each with a
 * counter on a cache line of its own, and the ticket says what is open. Each thread claims by compare-and-swap, of its
 * own part first, so that it works where it has worked in the color before, then of the others'. A counter holds the
 * ticket's number, so a claim is for what is open now, however late it is. The orchestrating thread waits at the end
 * only for chunks that were claimed; a worker that never starts costs nothing. Chunks of a phase touch disjoint
 * particles and each is computed alone, so the result does not depend on who computed it. While no worker is there
 * nothing is opened, and nobody waits: sleep.ts. Memory order: the ticket's atomic store publishes everything before
 * it; `done` is added to atomically after the chunks' stores. Who claims a chunk also runs it: this file knows of no
 * stage, so stages may share out work of their own in their middle.
 *   openPhaseChunks(p); while (claimChunk()) run(chunkBegin, chunkEnd); closePhaseChunks();
 * Tried: one counter for all. Two threads then work anywhere, and most particles that one needs the other has just
 * written; and every claim fetches the counter from another core (220 ns between the virtual cores here). 50,400
 * tetrahedra in chunks of 16 blocks: slower on two threads than on one.
 */
import {
  HEADER,
  H_PROGRAM,
  H_PHASES,
  H_WATCH,
  WATCH_SHARES,
  H_HELPERS_INSIDE,
  H_CHUNKS_SHARED,
  H_CHUNKS_HELPED,
  HELPER_NEXT,
  PHASE_BYTES,
  PHASE_COUNT,
  PHASE_CHUNK,
  PHASE_CHUNKS,
} from "../layout/layout";
import { phaseDone } from "./host";
import { awaitHelpers, openPhase, partBegin, partsOf, rowAt } from "./sleep";

/** Of the chunk that this thread has claimed last: its phase, and blocks, particles or bodies begin .. end of it. */
export let claimedPhase: usize = 0;
export let chunkBegin: i32 = 0;
export let chunkEnd: i32 = 0;
/** Chunks that this thread has claimed since beginClaims. */
export let chunksClaimed: i32 = 0;

// what this thread claims of: the ticket, its chunks and parts, the part that is at hand and how many come after it,
// the word that sends the thread away or 0
let ticket: i64 = 0;
let chunks: i32 = 0;
let parts: i32 = 0;
let part: i32 = 0;
let partsLeft: i32 = 0;
let leaves: usize = 0;

// while this thread orchestrates a step: others may be helping
let helped = false;

/** @param helpers may others be helping with this step? */
export function beginStep(helpers: bool): void {
  helped = helpers;
}
export function endStep(): void {
  helped = false;
}

/** Is it worth sharing anything out? */
export function isHelped(): bool {
  return helped && atomic.load<i32>(HEADER, H_HELPERS_INSIDE) > 0;
}

// @inline
export function phaseAt(p: i32): usize {
  return <usize>load<u32>(HEADER, H_PROGRAM) + <usize>p * PHASE_BYTES;
}

/**
 * From now on claimChunk claims of what `open` has opened.
 * @param slot this thread's row; leave address of a word that is not 0 once it is to leave, or 0
 */
export function beginClaims(open: i64, slot: i32, leave: usize): void {
  ticket = open;
  leaves = leave;
  claimedPhase = phaseAt(<i32>(ticket & 0xffffffff));
  chunks = load<i32>(claimedPhase, PHASE_CHUNKS);
  parts = partsOf(ticket);
  part = slot % parts;
  partsLeft = parts;
  chunksClaimed = 0;
}

/**
 * Claims the next chunk: claimedPhase, chunkBegin, chunkEnd.
 * @returns false: none is left, it is not open any more, or this thread is to leave
 */
export function claimChunk(): bool {
  for (; partsLeft > 0; partsLeft--, part = part + 1 === parts ? 0 : part + 1) {
    const next = rowAt(part) + HELPER_NEXT;
    const end = partBegin(part + 1, parts, chunks);
    for (;;) {
      if (leaves && atomic.load<i32>(leaves)) return false;
      const at = atomic.load<i64>(next);
      const chunk = <i32>(at & 0xffffffff);
      if (at >> 32 !== ticket >> 32) return false;
      if (chunk >= end) break;
      if (atomic.cmpxchg<i64>(next, at, at + 1) !== at) continue;
      const size = load<i32>(claimedPhase, PHASE_CHUNK);
      chunkBegin = chunk * size;
      chunkEnd = min<i32>(chunkBegin + size, load<i32>(claimedPhase, PHASE_COUNT));
      chunksClaimed++;
      return true;
    }
  }
  return false;
}

/** Opens phase `p` to all threads. The caller then claims chunks until there are none, and closes it. */
export function openPhaseChunks(p: i32): void {
  beginClaims(openPhase(p, load<i32>(phaseAt(p), PHASE_CHUNKS)), 0, 0);
}

/** Waits for the chunks that others have claimed. */
export function closePhaseChunks(): void {
  const others = chunks - chunksClaimed;
  store<i32>(HEADER, load<i32>(HEADER, H_CHUNKS_SHARED) + chunks, H_CHUNKS_SHARED);
  store<i32>(HEADER, load<i32>(HEADER, H_CHUNKS_HELPED) + others, H_CHUNKS_HELPED);
  awaitHelpers(others);
}

/**
 * Opens a row that stands behind the program's phases (SHARED_*), from within a phase of one chunk. It may be opened
 * again and again: who claims a chunk late claims one of the row as it is by then.
 */
export function openShared(row: i32): void {
  const p = load<i32>(HEADER, H_PHASES) + row;
  if (load<i32>(HEADER, H_WATCH) & WATCH_SHARES) phaseDone(p);
  openPhaseChunks(p);
}

export function closeShared(row: i32): void {
  closePhaseChunks();
  if (load<i32>(HEADER, H_WATCH) & WATCH_SHARES) phaseDone(load<i32>(HEADER, H_PHASES) + row);
}

/** Where part `n` of `parts` of a range of `count` begins. */
// @inline
export function partBegins(count: i32, n: i32, parts: i32): i32 {
  return <i32>((<i64>count * n) / parts);
}

/** Parts that an open row of SHARED_* is cut into. */
export function sharedParts(): i32 {
  return load<i32>(claimedPhase, PHASE_COUNT);
}

/** The same of any of them. */
export function partsOfShared(row: i32): i32 {
  return load<i32>(phaseAt(load<i32>(HEADER, H_PHASES) + row), PHASE_COUNT);
}
