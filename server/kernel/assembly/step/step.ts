/**
 * The tick. Before its substeps:
 *   warm start      remembered stress of slow bodies
 *   core meshes     of moving colliders
 *   pair list       unless the last one is still valid
 *   free bodies     whose momentum is conserved, and islands of them
 *   balls           their lists become stale
 * A substep is the room's program (server/sim/memory/program.ts): phases in order, each of one kind (stages.ts). The
 * scheduler (scheduler.ts) shares their chunks with the workers (worker.ts) that are present.
 */
import * as L from "../layout/layout";
import { forgetInverted } from "../constraints/plasticity";
import { beginPairList } from "../contact/pipeline";
import { placeCoreMeshes } from "../colliders/coreMeshes";
import { findFreeBodies } from "../integrate/freeBodies";
import { beginBalls } from "../rigid/balls";
import { beginClock, endClock, enterStage, leaveOut, preemptionPoint, spendWork } from "../scheduler/clock";
import { phaseDone, substepDone } from "../scheduler/host";
import {
  beginStep,
  chunkBegin,
  chunkEnd,
  claimChunk,
  closePhaseChunks,
  endStep,
  isHelped,
  openPhaseChunks,
  phaseAt,
} from "../scheduler/scheduler";
import { warmStart } from "../warmStart/warmStart";
import { beginWork, countWork, exceedsLimit, workDone } from "../state/work";
import { runRange, unitsOf } from "./stages";

/** Work of a phase in addition to its blocks (spendWork). */
const PHASE_UNITS = 4;

/**
 * Runs one tick on the thread that orchestrates it, or as many of its substeps as the work limit allows (work.ts). If
 * the tick is not finished, H_NEXT_SUBSTEP is not 0, and the next call continues there.
 * @param helpers 1 if helpers may be present (publishes tickets), 0 to work alone; scratch this thread's spill area
 */
export function step(helpers: i32, scratch: usize): void {
  beginClock();
  beginStep(helpers !== 0);
  beginWork();
  let substep = load<i32>(L.HEADER, L.H_NEXT_SUBSTEP);
  if (!substep) beginTick();
  enterStage(L.STAGE_BROAD_PHASE);
  beginPairList();
  findFreeBodies();
  beginBalls();
  const substeps = load<i32>(L.HEADER, L.H_SUBSTEPS);
  for (let last = 0, next = 0; substep < substeps && !(last && exceedsLimit(next)); substep++) {
    const before = workDone();
    runSubstep(substep, scratch);
    const work = workDone() - before;
    next = work + max<i32>(work >> 3, last ? work - last : 0);
    last = work;
  }
  store<i32>(L.HEADER, substep < substeps ? substep : 0, L.H_NEXT_SUBSTEP);
  endClock();
  endStep();
  store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_TICK) + 1, L.H_TICK);
}

/** Before the first substep of a tick. */
function beginTick(): void {
  enterStage(L.STAGE_WARM_START);
  warmStart();
  enterStage(L.STAGE_BROAD_PHASE);
  placeCoreMeshes();
}

function runSubstep(substep: i32, scratch: usize): void {
  const phases = load<i32>(L.HEADER, L.H_PHASES);
  const watch = load<i32>(L.HEADER, L.H_WATCH);
  forgetInverted();
  store<i32>(L.HEADER, substep, L.H_SUBSTEP);
  const wind = <usize>load<u32>(L.HEADER, L.H_WIND);
  for (let p = load<i32>(wind, L.WIND_ON) ? 0 : load<i32>(wind, L.WIND_PHASES); p < phases; p++) {
    const phase = phaseAt(p);
    enterStage(load<i32>(phase, L.PHASE_STAGE));
    if (load<i32>(phase, L.PHASE_CHUNKS) < 2 || !isHelped())
      runRange(phase, 0, load<i32>(phase, L.PHASE_COUNT), scratch);
    else runTogether(p, scratch);
    if (watch & L.WATCH_PHASES) phaseDone(p);
    countWork(load<i32>(phase, L.PHASE_COUNT) * unitsOf(load<i32>(phase, L.PHASE_KIND)));
    // Blocks of constraints take similar times; a body of an implicit phase can take any time.
    if (load<i32>(phase, L.PHASE_STAGE) < L.STAGE_SHAPES) spendWork(PHASE_UNITS + load<i32>(phase, L.PHASE_COUNT));
    else preemptionPoint();
  }
  if (watch & L.WATCH_SUBSTEPS) leaveOut(substepDone());
}

/** Runs all chunks of a phase, with all threads. */
function runTogether(p: i32, scratch: usize): void {
  const phase = phaseAt(p);
  openPhaseChunks(p);
  while (claimChunk()) runRange(phase, chunkBegin, chunkEnd, scratch);
  closePhaseChunks();
}
