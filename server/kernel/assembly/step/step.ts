/**
 * The tick and the substep: their stages in order. The room's program (server/sim/memory/substepProgram.ts) lists the
 * ranges of particles, blocks and bodies that each stage runs on, in the same order; a stage without ranges does
 * nothing. The scheduler (scheduler.ts) shares chunks of a range with the workers (worker.ts) that are present.
 */
import * as L from "../layout/layout";
import { forgetInverted } from "../constraints/plasticity";
import { beginPairList, updatePredictedContacts } from "../contact/pipeline";
import { beginRigidContacts } from "../contact/solve/rigidContact";
import { placeCoreMeshes } from "../colliders/coreMeshes";
import { findFreeBodies } from "../integrate/freeBodies";
import { keepIslands } from "../integrate/momentumCorrection";
import { driveApart } from "../intersections/resolution";
import { ageLists, beginBalls } from "../rigid/ballLists";
import { beginClock, endClock, enterStage, leaveOut } from "../scheduler/clock";
import { substepBegins, substepDone } from "../scheduler/host";
import { beginStep, endStep } from "../scheduler/scheduler";
import { warmStart } from "../warmStart/warmStart";
import { beginWork, exceedsLimit, workDone } from "../state/work";
import { beginSmallStep, endSmallSteps } from "./smallSteps";
import { beginProgram, endProgram, isSolving, run, runConstraints, runIf } from "./stages";

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
  const every = load<i32>(L.HEADER, L.H_VERIFY_EVERY);
  for (let last = 0, next = 0; substep < substeps && !(last && exceedsLimit(next)); ) {
    const before = workDone();
    for (let n = 0; n < every; n++, substep++) runSubstep(substep, scratch);
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
  store<i32>(L.HEADER, substep, L.H_SUBSTEP);
  const watched = load<i32>(L.HEADER, L.H_WATCH) & L.WATCH_SUBSTEPS;
  if (watched) leaveOut(substepBegins());
  forgetInverted();
  beginProgram(scratch);
  const blows = load<i32>(<usize>load<u32>(L.HEADER, L.H_WIND), L.WIND_ON) !== 0;
  runIf(blows, L.KIND_WIND_FORCES);
  runIf(blows, L.KIND_WIND_ACCELERATIONS);
  const every = load<i32>(L.HEADER, L.H_VERIFY_EVERY);
  const opens = substep % every === 0;
  const closes = substep % every === every - 1;
  run(L.KIND_MOVE);
  runIf(opens, L.KIND_SAFE);
  run(L.KIND_CORE_MESHES);
  run(L.KIND_IMPLICIT_AIM);
  if (every > 1) beginSmallStep(opens, every);
  run(L.KIND_PREDICT);
  for (let first = true; isSolving(); first = false) iterate(first, every);
  run(L.KIND_IMPLICIT_TOGETHER);
  run(L.KIND_IMPLICIT);
  run(L.KIND_BALANCE);
  run(L.KIND_VELOCITY);
  run(L.KIND_RESTORE);
  run(L.KIND_COLLIDE);
  run(L.KIND_RIGID);
  run(L.KIND_POINT_SPEEDS);
  enterStage(L.STAGE_MOMENTUM);
  keepIslands();
  runIf(closes, L.KIND_VERIFY);
  if (every > 1 && closes) endSmallSteps();
  runConstraints(); // plastic flow and dashpots, which use the final strain
  run(L.KIND_PREFACTORED_FORCES);
  endProgram();
  if (watched) leaveOut(substepDone());
}

/** One iteration of the solve. Serial stages are last, so that it ends with attachments and contacts satisfied. */
function iterate(first: bool, every: i32): void {
  run(L.KIND_INNER);
  runConstraints();
  run(L.KIND_DRIFT);
  run(L.KIND_PREFACTORED);
  run(L.KIND_ENCLOSED);
  run(L.KIND_SHAPE);
  run(L.KIND_INNER);
  run(L.KIND_POINTS);
  run(L.KIND_CARRY);
  run(L.KIND_PREFACTORED_PLACES);
  enterStage(L.STAGE_CONTACTS);
  if (first && every === 1) updatePredictedContacts();
  if (first) ageLists();
  beginRigidContacts();
  driveApart();
  run(L.KIND_CONTACTS);
  run(L.KIND_BALLS);
  run(L.KIND_PREFACTORED_ANSWER);
}
