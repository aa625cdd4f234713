/**
 * The tick. Before its substeps:
 *   warm start      what slow bodies remember of their stress
 *   core meshes     of colliders that move
 *   list of pairs   unless the last one still holds
 *   free bodies     whose momentum is kept, and islands of them
 *   balls           their lists are stale
 * A substep is the room's program (server/sim/memory/program.ts): phases in order, each of one kind (stages.ts), shared
 * out chunk by chunk (scheduler.ts) to the workers (worker.ts) that have come.
 */
import {
  HEADER,
  H_PHASES,
  H_SUBSTEPS,
  H_TICK,
  H_WATCH,
  H_SUBSTEP,
  WATCH_SUBSTEPS,
  WATCH_PHASES,
  H_STAGE,
  STAGES,
  STAGE_BROAD,
  PHASE_COUNT,
  PHASE_CHUNKS,
  PHASE_STAGE,
} from "../layout/layout";
import { forgetInverted } from "../constraints/plasticity";
import { beginPairList } from "../contact/contacts";
import { placeCoreMeshes } from "../colliders/coreMeshes";
import { findFreeBodies } from "../integrate/freeBodies";
import { beginBalls } from "../rigid/balls";
import { phaseDone, substepDone } from "../scheduler/host";
import {
  beginStep,
  chunkBegin,
  chunkEnd,
  claimChunk,
  closePhaseChunks,
  clock,
  endStep,
  isHelped,
  openPhaseChunks,
  phaseAt,
  preemptionPoint,
} from "../scheduler/scheduler";
import { warmStart } from "../warmStart/warmStart";
import { runRange } from "./stages";

// the stage whose time is taken, -1: none, and since when, s
let stage = -1;
let since: f64 = 0;

/**
 * One tick by the thread that orchestrates it.
 * @param helpers 1 if others may be helping (publishes tickets), 0 to work alone; scratch this thread's spill area
 */
export function step(helpers: i32, scratch: usize): void {
  memory.fill(HEADER + H_STAGE, 0, STAGES * 8);
  beginStep(helpers !== 0);
  stage = -1;
  enterStage(STAGE_BROAD);
  warmStart();
  placeCoreMeshes();
  beginPairList();
  findFreeBodies();
  beginBalls();
  const substeps = load<i32>(HEADER, H_SUBSTEPS);
  for (let s = 0; s < substeps; s++) runSubstep(s, scratch);
  enterStage(-1);
  endStep();
  store<u32>(HEADER, load<u32>(HEADER, H_TICK) + 1, H_TICK);
}

function runSubstep(substep: i32, scratch: usize): void {
  const phases = load<i32>(HEADER, H_PHASES);
  const watch = load<i32>(HEADER, H_WATCH);
  forgetInverted();
  store<i32>(HEADER, substep, H_SUBSTEP);
  for (let p = 0; p < phases; p++) {
    const phase = phaseAt(p);
    if (load<i32>(phase, PHASE_STAGE) !== stage) enterStage(load<i32>(phase, PHASE_STAGE));
    if (load<i32>(phase, PHASE_CHUNKS) < 2 || !isHelped()) runRange(phase, 0, load<i32>(phase, PHASE_COUNT), scratch);
    else runTogether(p, scratch);
    if (watch & WATCH_PHASES) phaseDone(p);
    preemptionPoint();
  }
  if (watch & WATCH_SUBSTEPS) substepDone();
}

/** All chunks of a phase, by all threads. */
function runTogether(p: i32, scratch: usize): void {
  const phase = phaseAt(p);
  openPhaseChunks(p);
  while (claimChunk()) runRange(phase, chunkBegin, chunkEnd, scratch);
  closePhaseChunks();
}

/** Ends the stage whose time is taken, and begins another. @param next -1: none */
function enterStage(next: i32): void {
  const at = clock();
  if (stage >= 0) {
    const seconds: usize = HEADER + H_STAGE + (stage << 3);
    store<f64>(seconds, load<f64>(seconds) + (at - since));
  }
  stage = next;
  since = at;
}
