/** A helper's part of one tick. */
import * as L from "../layout/layout";
import { helpInTick } from "../scheduler/clock";
import { beginClaims, chunkBegin, chunkEnd, chunksClaimed, claimChunk, claimedPhase } from "../scheduler/scheduler";
import { chunksDone, HELPER_TURNS, partsOf, rowAt, sleepUntilOpened } from "../scheduler/sleep";
import { runRange } from "./stages";

/**
 * Claims chunks until the orchestrator ends the tick (H_ACTIVE differs from `generation`), or until this helper is
 * needed elsewhere.
 * @param slot its own row of H_HELPERS, 1 .. MAX_THREADS - 1; scratch its spill area
 * @returns chunks done
 */
export function help(generation: i32, slot: i32, scratch: usize): i32 {
  const row = rowAt(slot);
  const leaves = row + L.HELPER_LEAVES;
  let worked = 0;
  let turns = 0;
  let seen: i64 = 0;
  helpInTick(true);
  atomic.add<i32>(L.HEADER, 1, L.H_HELPERS_INSIDE);
  while (atomic.load<i32>(L.HEADER, L.H_ACTIVE) === generation && !atomic.load<i32>(leaves)) {
    const ticket = atomic.load<i64>(L.HEADER, L.H_TICKET);
    if (ticket === seen || !partsOf(ticket)) {
      if (++turns >= HELPER_TURNS) {
        sleepUntilOpened(ticket, generation, leaves);
        turns = 0;
      }
      continue;
    }
    seen = ticket;
    // before the first claim: if this thread dies, its claimed chunk must be known
    atomic.store<i32>(row, 1, L.HELPER_CLAIMS);
    beginClaims(ticket, slot, leaves);
    while (claimChunk()) runRange(claimedPhase, chunkBegin, chunkEnd, scratch);
    const done = chunksClaimed;
    if (done) {
      if (!worked) atomic.add<i32>(L.HEADER, 1, L.H_JOINED);
      chunksDone(done);
      worked += done;
      turns = 0;
    }
    atomic.store<i32>(row, 0, L.HELPER_CLAIMS);
  }
  atomic.sub<i32>(L.HEADER, 1, L.H_HELPERS_INSIDE);
  helpInTick(false);
  return worked;
}
