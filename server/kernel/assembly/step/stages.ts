/**
 * Runs the phases of the room's program (layout/program.ts) in the order in which step.ts asks for them. A phase is a
 * range of particles, blocks or bodies for one stage, which its kind selects (KIND_* of layout.ts).
 */
import * as L from "../layout/layout";
import { carry, predictAhead, predictBodies, returnToSafe, updateVelocity } from "../integrate/particles";
import { solveBlocks } from "../constraints/solveBlocks";
import { solvePoints } from "../points/points";
import { solveSpeeds } from "../points/pointSpeeds";
import { saveSafePositions, verifyContacts } from "../contact/pipeline";
import { refitLeaves } from "../contact/detect/bvttFront";
import { judgeLeafPairs } from "../contact/detect/leafPairs";
import { checkShared, solveNearContacts, solveShared } from "../contact/solve/contactPasses";
import { keepInner, measureMomentumError, restore } from "../integrate/momentum";
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
import { enterStage, preemptionPoint, spendWork } from "../scheduler/clock";
import { phaseDone } from "../scheduler/host";
import {
  chunkBegin,
  chunkEnd,
  claimChunk,
  closePhaseChunks,
  isHelped,
  openPhaseChunks,
  phaseAt,
} from "../scheduler/scheduler";
import { countWork } from "../state/work";

/** Work of a phase in addition to its blocks (spendWork). */
const PHASE_UNITS = 4;

let next = 0;
let phases = 0;
let scratch: usize = 0;

/** @param spill this thread's spill area */
export function beginProgram(spill: usize): void {
  next = 0;
  phases = load<i32>(L.HEADER, L.H_PHASES);
  scratch = spill;
}

/** Traps if phases are left: the program's order is not that of step.ts. */
export function endProgram(): void {
  if (next !== phases) unreachable();
}

// @inline
function nextKind(): i32 {
  return next < phases ? load<i32>(phaseAt(next), L.PHASE_KIND) : -1;
}

/** False after the last iteration of the solve: its phases have PASS_LAST. */
export function isSolving(): bool {
  return !(load<i32>(phaseAt(next - 1), L.PHASE_PASS) & L.PASS_LAST);
}

/** Runs the phases of this kind that are next. */
export function run(kind: i32): void {
  while (nextKind() === kind) runPhase();
}

/** Runs the phases of this kind that are next, or leaves them out. */
export function runIf(runs: bool, kind: i32): void {
  if (runs) run(kind);
  else while (nextKind() === kind) next++;
}

/** Runs the phases of this kind that are next, and goes back: `run` will run them again. */
export function runInAdvance(kind: i32): void {
  const first = next;
  run(kind);
  next = first;
}

/** Runs the phases of constraints that are next: those of every color, and of their schedules. */
export function runConstraints(): void {
  for (let kind = nextKind(); kind >= 0 && kind < L.FIRST_OTHER_KIND; kind = nextKind()) runPhase();
}

function runPhase(): void {
  const phase = phaseAt(next);
  const count = load<i32>(phase, L.PHASE_COUNT);
  enterStage(load<i32>(phase, L.PHASE_STAGE));
  if (load<i32>(phase, L.PHASE_CHUNKS) < 2 || !isHelped()) runRange(phase, 0, count, scratch);
  else runTogether(phase);
  if (load<i32>(L.HEADER, L.H_WATCH) & L.WATCH_PHASES) phaseDone(next);
  countWork(count * unitsOf(load<i32>(phase, L.PHASE_KIND)));
  // Blocks of constraints take similar times; a body of an implicit phase can take any time.
  if (load<i32>(phase, L.PHASE_STAGE) < L.STAGE_SHAPES) spendWork(PHASE_UNITS + count);
  else preemptionPoint();
  next++;
}

/** Runs all chunks of a phase, with all threads. */
function runTogether(phase: usize): void {
  openPhaseChunks(next);
  while (claimChunk()) runRange(phase, chunkBegin, chunkEnd, scratch);
  closePhaseChunks();
}

/** Returns the counted work of a particle or block of a phase. Contact and bodies count their own. */
function unitsOf(kind: i32): i32 {
  if (kind === L.KIND_COLLIDE) return 1 + (load<i32>(L.HEADER, L.H_COLLIDER_COUNT) >> 2);
  const particles =
    kind === L.KIND_PREDICT || kind === L.KIND_DRIFT || kind === L.KIND_CARRY || kind === L.KIND_VELOCITY;
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
  if (kind === L.KIND_PREDICT) {
    const ahead = load<f32>(L.HEADER, L.H_AHEAD);
    if (ahead > 0) predictAhead(data + begin, data + end, ahead);
    else if (ahead < 0) returnToSafe(data + begin, data + end);
    else predictBodies(data + begin, data + end, h, load<i32>(phase, L.PHASE_PASS), false);
  } else if (kind === L.KIND_DRIFT) predictBodies(data + begin, data + end, h, 0, true);
  else if (kind === L.KIND_CARRY) carry(data + begin, data + end);
  else if (kind === L.KIND_VELOCITY) updateVelocity(data + begin, data + end, h);
  else if (kind === L.KIND_COLLIDE) collide(data + begin, data + end, h, load<u32>(phase, L.PHASE_KEPT));
  else if (kind === L.KIND_BALANCE) measureMomentumError(begin, end, h);
  else if (kind === L.KIND_INNER) keepInner(begin, end, data);
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
  else if (kind === L.KIND_BALLS) solveBalls(scratch);
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
  else if (kind === L.KIND_VERIFY) verifyContacts(h * <f32>load<i32>(L.HEADER, L.H_VERIFY_EVERY));
  else if (kind === L.KIND_SHARED_CONTACTS) solveShared(begin, end, count);
  else if (kind === L.KIND_SHARED_CHECK) checkShared(begin, end, count);
  else if (kind === L.KIND_SHARED_REFIT) refitLeaves(begin, end, count);
  else if (kind === L.KIND_SHARED_CLOSE) judgeLeafPairs(begin, end, count);
}
