/** Runs a part of a phase: selects the stage by its kind (KIND_* of layout.ts), and finds its blocks. */
import * as L from "../layout/layout";
import { carry, predict, updateVelocity } from "../integrate/particles";
import { solveBlocks } from "../constraints/solveBlocks";
import { solvePoints } from "../points/points";
import { solveSpeeds } from "../points/pointSpeeds";
import { saveSafePositions, verifyContacts } from "../contact/pipeline";
import { refitLeaves } from "../contact/detect/bvttFront";
import { judgeLeafPairs } from "../contact/detect/leafPairs";
import { checkShared, solveNearContacts, solveShared } from "../contact/solve/contactPasses";
import { measureMomentumError, restore } from "../integrate/momentum";
import { collide } from "../colliders/collide";
import { sweepBegin, sweepCollect, sweepEnd, sweepMemory } from "../constraints/sweep";
import { moveColliders } from "../colliders/motion";
import { moveCoreMesh } from "../colliders/coreMeshes";
import { aimTogether, stepImplicit, stepTogether } from "../implicit/step";
import { answerContacts } from "../prefactored/answer";
import { keepForces, notePlaces } from "../prefactored/keptForces";
import { solvePrefactored } from "../prefactored/step";
import { solveShapes } from "../constraints/shape";
import { moveRigid } from "../rigid/rigid";
import { keepSpins } from "../rigid/rigidBody";
import { solveRigidContacts } from "../contact/solve/rigidContact";
import { solveBalls } from "../rigid/balls";
import { windAccelerations, windForces } from "../wind/wind";

/** Returns the counted work of a particle or block of a phase. Contact and bodies count their own. */
export function unitsOf(kind: i32): i32 {
  const particles =
    kind === L.KIND_PREDICT || kind === L.KIND_CARRY || kind === L.KIND_VELOCITY || kind === L.KIND_COLLIDE;
  return particles ? 1 : 5;
}

/** Runs blocks, particles or bodies first .. end of a phase, except those of inactive and sleeping bodies. */
export function runRange(phase: usize, first: i32, end: i32, scratch: usize): void {
  let begin = first;
  let run = <usize>load<u32>(phase, L.PHASE_RUNS);
  if (run && load<i32>(L.HEADER, L.H_LEFT_OUT)) {
    for (let n = load<i32>(phase, L.PHASE_RUN_COUNT); n > 0; n--, run += L.RUN_BYTES) {
      if (!load<i32>(<usize>load<u32>(run, L.RUN_BODY), L.BODY_INACTIVE)) continue;
      const waits = min<i32>(load<i32>(run, L.RUN_FIRST), end);
      if (begin < waits) runPart(phase, begin, waits, scratch);
      begin = max<i32>(begin, load<i32>(run, L.RUN_END));
    }
  }
  if (begin < end) runPart(phase, begin, end, scratch);
}

/** Runs blocks, particles or bodies begin .. end of a phase. */
function runPart(phase: usize, begin: i32, end: i32, scratch: usize): void {
  const kind = load<i32>(phase, L.PHASE_KIND);
  let pass = load<i32>(phase, L.PHASE_PASS);
  const h = load<f32>(L.HEADER, L.H_SUBSTEP_SECONDS);
  // with remembered stress, the first iteration starts from it and the tick's last one stores its multipliers
  const kept = load<u32>(phase, L.PHASE_WARM_START);
  const from =
    kept && pass & L.PASS_FIRST && load<i32>(L.HEADER, L.H_WARM_STARTED)
      ? <usize>kept + <usize>begin * L.WARM_START_BYTES
      : 0;
  if (
    kept &&
    load<i32>(L.HEADER, L.H_WARM_START) &&
    load<i32>(L.HEADER, L.H_SUBSTEP) === load<i32>(L.HEADER, L.H_SUBSTEPS) - 1
  )
    pass &= ~L.PASS_LAST;
  const data = <usize>load<u32>(phase, L.PHASE_DATA);
  const own = <usize>load<u32>(phase, L.PHASE_OWN);
  if (solveBlocks(kind, data, own, begin, end - begin, pass, h, scratch, from)) return;
  if (runSweeps(phase, kind, begin, end)) return;
  if (runParticles(phase, kind, begin, end, h)) return;
  if (runBodies(phase, kind, begin, end, pass, h, scratch)) return;
  runContacts(phase, kind, begin, end, pass, h, scratch);
}

/** Runs stages that schedules other than Gauss-Seidel put around the colors. @returns whether it is one of these */
function runSweeps(phase: usize, kind: i32, begin: i32, end: i32): bool {
  if (kind === L.KIND_SWEEP_BEGIN) sweepBegin(phase, begin, end);
  else if (kind === L.KIND_SWEEP_COLLECT) sweepCollect(phase, begin, end);
  else if (kind === L.KIND_SWEEP_END) sweepEnd(phase, begin, end);
  else if (kind === L.KIND_SWEEP_MEMORY) sweepMemory(phase, begin, end);
  else return false;
  return true;
}

/** Runs stages that move single particles. @returns whether it is one of these */
function runParticles(phase: usize, kind: i32, begin: i32, end: i32, h: f32): bool {
  const data = load<i32>(phase, L.PHASE_DATA);
  if (kind === L.KIND_PREDICT) predict(data + begin, data + end, h, load<i32>(phase, L.PHASE_PASS));
  else if (kind === L.KIND_CARRY) carry(data + begin, data + end);
  else if (kind === L.KIND_VELOCITY) updateVelocity(data + begin, data + end, h);
  else if (kind === L.KIND_COLLIDE) collide(data + begin, data + end, h, load<u32>(phase, L.PHASE_KEPT));
  else if (kind === L.KIND_BALANCE) measureMomentumError(begin, end, h);
  else if (kind === L.KIND_RESTORE) restore(begin, end, h);
  else if (kind === L.KIND_WIND_FORCES) windForces(<usize>data, begin, end);
  else if (kind === L.KIND_WIND_ACCELERATIONS) windAccelerations(<usize>data, begin, end);
  else return false;
  return true;
}

/** Runs stages of colliders, whole bodies, and points. @returns whether it is one of these */
function runBodies(phase: usize, kind: i32, begin: i32, end: i32, pass: i32, h: f32, scratch: usize): bool {
  const data = <usize>load<u32>(phase, L.PHASE_DATA);
  if (kind === L.KIND_MOVE) moveColliders();
  else if (kind === L.KIND_CORE_MESHES) moveCoreMesh(data, begin, end, h);
  else if (kind === L.KIND_SHAPE) {
    solveShapes(begin, end, pass, h, scratch);
    if (pass & L.PASS_FIRST) keepSpins(begin, end, h, scratch);
  } else if (kind === L.KIND_IMPLICIT) stepImplicit(data, begin, end);
  else if (kind === L.KIND_IMPLICIT_AIM) aimTogether();
  else if (kind === L.KIND_IMPLICIT_TOGETHER) stepTogether();
  else if (kind === L.KIND_PREFACTORED) solvePrefactored(data, begin, end, pass, h);
  else if (kind === L.KIND_PREFACTORED_PLACES) notePlaces(data, begin, end);
  else if (kind === L.KIND_PREFACTORED_ANSWER) answerContacts(data, begin, end, pass, h);
  else if (kind === L.KIND_PREFACTORED_FORCES) keepForces(data, begin, end, h);
  else if (kind === L.KIND_RIGID) moveRigid(begin, end, h, scratch);
  else if (kind === L.KIND_BALLS) solveBalls(pass, h, scratch);
  else if (kind === L.KIND_POINTS)
    solvePoints(<usize>load<u32>(L.HEADER, L.H_POINTS), load<i32>(L.HEADER, L.H_POINT_COUNT), pass, h, scratch);
  else if (kind === L.KIND_POINT_SPEEDS)
    solveSpeeds(<usize>load<u32>(L.HEADER, L.H_POINTS), load<i32>(L.HEADER, L.H_POINT_COUNT), h, scratch);
  else return false;
  return true;
}

/** Runs contact between surfaces, all of it or a part of its rows. */
function runContacts(phase: usize, kind: i32, begin: i32, end: i32, pass: i32, h: f32, scratch: usize): void {
  const count = load<i32>(phase, L.PHASE_COUNT);
  if (kind === L.KIND_CONTACTS) {
    solveNearContacts((pass & L.PASS_FIRST) !== 0, (pass & L.PASS_LAST) !== 0);
    solveRigidContacts((pass & L.PASS_FIRST) !== 0, scratch);
  } else if (kind === L.KIND_SAFE) saveSafePositions();
  else if (kind === L.KIND_VERIFY) verifyContacts(h);
  else if (kind === L.KIND_SHARED_CONTACTS) solveShared(begin, end, count);
  else if (kind === L.KIND_SHARED_CHECK) checkShared(begin, end, count);
  else if (kind === L.KIND_SHARED_REFIT) refitLeaves(begin, end, count);
  else if (kind === L.KIND_SHARED_CLOSE) judgeLeafPairs(begin, end, count);
}
