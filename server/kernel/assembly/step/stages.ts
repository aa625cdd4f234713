/** Runs a part of a phase: which stage it is, by its kind (KIND_* of layout.ts), and where its blocks are. */
import {
  HEADER,
  H_DRIVE_COUNT,
  H_SUBSTEPS,
  H_SUBSTEP_SECONDS,
  H_POINTS,
  H_POINT_COUNT,
  H_WARM_START,
  H_WARM_STARTED,
  H_SUBSTEP,
  PHASE_KIND,
  PHASE_DATA,
  PHASE_COUNT,
  PHASE_PASS,
  PHASE_WARM_START,
  PHASE_OWN,
  PHASE_KEPT,
  PHASE_RUNS,
  PHASE_RUN_COUNT,
  RUN_FIRST,
  RUN_END,
  RUN_BODY,
  RUN_BYTES,
  PASS_FIRST,
  PASS_LAST,
  STAGE_CONTACTS,
  STAGE_INTERSECTIONS,
  KIND_PREDICT,
  KIND_TET,
  KIND_TRIANGLE,
  KIND_BEND,
  KIND_POINTS,
  KIND_VELOCITY,
  KIND_COLLIDE,
  KIND_CONTACTS,
  KIND_BALANCE,
  KIND_RESTORE,
  KIND_TET_ORTHO,
  KIND_TET_PLASTIC,
  KIND_PLASTIC,
  KIND_PAPER_TET,
  KIND_PAPER_TRIANGLE,
  KIND_PAPER_BEND,
  KIND_PAPER_TET_ORTHO,
  KIND_PAPER_TET_PLASTIC,
  KIND_PAPER_NEO_HOOKEAN,
  KIND_PAPER_STABLE_NEO_HOOKEAN,
  KIND_SWEEP_BEGIN,
  KIND_SWEEP_COLLECT,
  KIND_SWEEP_END,
  KIND_SWEEP_MEMORY,
  KIND_DISTANCE,
  KIND_VOLUME,
  KIND_HEXAHEDRON,
  KIND_ENCLOSED,
  KIND_NEO_HOOKEAN,
  KIND_STABLE_NEO_HOOKEAN,
  KIND_SHAPE,
  KIND_RIGID,
  KIND_MOVE,
  KIND_BALLS,
  KIND_IMPLICIT,
  KIND_IMPLICIT_AIM,
  KIND_IMPLICIT_TOGETHER,
  KIND_CORE_MESHES,
  KIND_SAFE,
  KIND_VERIFY,
  KIND_SHARED_CONTACTS,
  KIND_SHARED_CHECK,
  KIND_SHARED_REFIT,
  KIND_SHARED_CLOSE,
  KIND_WIND_ACCELERATIONS,
  KIND_WIND_FORCES,
  TET_BYTES,
  TET_ORTHO_BYTES,
  TET_PLASTIC_BYTES,
  TET_KEPT_BYTES,
  WARM_START_BYTES,
  HYPER_BYTES,
  HYPER_KEPT_BYTES,
  TRI_BYTES,
  TRI_KEPT_BYTES,
  BEND_BYTES,
  BEND_KEPT_BYTES,
  DISTANCE_BYTES,
  DISTANCE_KEPT_BYTES,
  VOLUME_BYTES,
  HEXAHEDRON_BYTES,
  ENCLOSED_BYTES,
  BODY_INACTIVE,
} from "../layout/layout";
import { predict, updateVelocity } from "../integrate/particles";
import { keepRounding } from "../math/lanes";
import { solveOrthotropic, solvePlastic, solveTetrahedra } from "../constraints/tetrahedron";
import { solveNeoHookean, solveStableNeoHookean } from "../constraints/hyperelastic";
import { flow } from "../constraints/plasticity";
import { solveTriangles } from "../constraints/triangle";
import { solveBending } from "../constraints/bending";
import { solveDistances } from "../constraints/distance";
import { solveVolumes } from "../constraints/volume";
import { solveHexahedra } from "../constraints/hexahedron";
import { solveEnclosedVolumes } from "../constraints/enclosedVolume";
import { solvePoints } from "../constraints/points";
import { foresee, keepSafe, verifyContacts } from "../contact/contacts";
import { refitLeaves } from "../contact/front";
import { judgeClose } from "../contact/frontClose";
import { checkShared, solveNearContacts, solveShared } from "../contact/contactPasses";
import { balance, restore } from "../integrate/momentum";
import { collide } from "../colliders/collide";
import { keepIslands } from "../integrate/momentumCorrection";
import { paperTetrahedronBytes, solvePaperTetrahedra } from "../constraints/paperTetrahedron";
import { solvePaperTriangles } from "../constraints/paperTriangle";
import { solvePaperBending } from "../constraints/paperBending";
import { sweepBegin, sweepCollect, sweepEnd, sweepMemory } from "../constraints/sweep";
import { driveApart } from "../intersections/resolution";
import { moveColliders } from "../colliders/motion";
import { moveCoreMesh } from "../colliders/coreMeshes";
import { aimTogether, stepImplicit, stepTogether } from "../implicit/step";
import { solveShapes } from "../constraints/shape";
import { moveRigid } from "../rigid/rigid";
import { beginRigidContacts, solveRigidContacts } from "../contact/rigidContact";
import { solveBalls } from "../rigid/balls";
import { enterStage } from "../scheduler/clock";
import { windAccelerations, windForces } from "../wind/wind";

/** Blocks, particles or bodies first .. end of a phase, but for what belongs to bodies that wait. */
export function runRange(phase: usize, first: i32, end: i32, scratch: usize): void {
  let begin = first;
  let run = <usize>load<u32>(phase, PHASE_RUNS);
  if (run) {
    for (let n = load<i32>(phase, PHASE_RUN_COUNT); n > 0; n--, run += RUN_BYTES) {
      if (!load<i32>(<usize>load<u32>(run, RUN_BODY), BODY_INACTIVE)) continue;
      const waits = min<i32>(load<i32>(run, RUN_FIRST), end);
      if (begin < waits) runPart(phase, begin, waits, scratch);
      begin = max<i32>(begin, load<i32>(run, RUN_END));
    }
  }
  if (begin < end) runPart(phase, begin, end, scratch);
}

/** Blocks, particles or bodies begin .. end of a phase. */
function runPart(phase: usize, begin: i32, end: i32, scratch: usize): void {
  const kind = load<i32>(phase, PHASE_KIND);
  let pass = load<i32>(phase, PHASE_PASS);
  const h = load<f32>(HEADER, H_SUBSTEP_SECONDS);
  // where stress is remembered, the first iteration starts from it and the tick's last one keeps its multipliers
  const kept = load<u32>(phase, PHASE_WARM_START);
  const from =
    kept && pass & PASS_FIRST && load<i32>(HEADER, H_WARM_STARTED) ? <usize>kept + <usize>begin * WARM_START_BYTES : 0;
  if (kept && load<i32>(HEADER, H_WARM_START) && load<i32>(HEADER, H_SUBSTEP) === load<i32>(HEADER, H_SUBSTEPS) - 1)
    pass &= ~PASS_LAST;
  keepRounding();
  if (solveElements(phase, kind, begin, end - begin, pass, scratch, from)) return;
  if (solveLanes(phase, kind, begin, end - begin, pass, scratch)) return;
  if (solvePaper(phase, kind, begin, end - begin, scratch)) return;
  if (runParticles(phase, kind, begin, end, h)) return;
  if (runBodies(phase, kind, begin, end, pass, h, scratch)) return;
  runContacts(phase, kind, begin, end, pass, h, scratch);
}

/**
 * Elements of solids: constraints of strain, whose multipliers may be remembered. @returns whether it is one of them
 */
function solveElements(phase: usize, kind: i32, begin: i32, count: i32, pass: i32, scratch: usize, from: usize): bool {
  const hyper = kind === KIND_NEO_HOOKEAN || kind === KIND_STABLE_NEO_HOOKEAN;
  const bytes = hyper
    ? HYPER_BYTES
    : kind === KIND_TET
      ? TET_BYTES
      : kind === KIND_TET_ORTHO
        ? TET_ORTHO_BYTES
        : TET_PLASTIC_BYTES;
  const h = load<f32>(HEADER, H_SUBSTEP_SECONDS);
  const inverseH2: f32 = 1 / (h * h);
  const at = <usize>load<u32>(phase, PHASE_DATA) + <usize>begin * bytes;
  const own = <usize>load<u32>(phase, PHASE_OWN) + <usize>begin * (hyper ? HYPER_KEPT_BYTES : TET_KEPT_BYTES);
  if (kind === KIND_TET) solveTetrahedra(at, own, count, pass, inverseH2, scratch, from);
  else if (kind === KIND_TET_ORTHO) solveOrthotropic(at, own, count, pass, inverseH2, scratch, from);
  else if (kind === KIND_TET_PLASTIC) solvePlastic(at, own, count, pass, inverseH2, scratch, from);
  else if (kind === KIND_PLASTIC) flow(at, count, h);
  else if (kind === KIND_NEO_HOOKEAN) solveNeoHookean(at, own, count, pass, inverseH2, scratch, from);
  else if (kind === KIND_STABLE_NEO_HOOKEAN) solveStableNeoHookean(at, own, count, pass, inverseH2, scratch, from);
  else return false;
  return true;
}

/** The other compliant constraints, and those of points. @returns whether it is one of them */
function solveLanes(phase: usize, kind: i32, begin: i32, count: i32, pass: i32, scratch: usize): bool {
  const h = load<f32>(HEADER, H_SUBSTEP_SECONDS);
  const inverseH2: f32 = 1 / (h * h);
  const data = <usize>load<u32>(phase, PHASE_DATA);
  const own = <usize>load<u32>(phase, PHASE_OWN);
  const n = <usize>begin;
  if (kind === KIND_TRIANGLE) solveTriangles(data + n * TRI_BYTES, own + n * TRI_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_BEND) solveBending(data + n * BEND_BYTES, own + n * BEND_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_DISTANCE)
    solveDistances(data + n * DISTANCE_BYTES, own + n * DISTANCE_KEPT_BYTES, count, pass, inverseH2);
  else if (kind === KIND_VOLUME) solveVolumes(data + n * VOLUME_BYTES, count, pass, inverseH2);
  else if (kind === KIND_HEXAHEDRON) solveHexahedra(data + n * HEXAHEDRON_BYTES, count, pass, inverseH2, scratch);
  else if (kind === KIND_ENCLOSED) solveEnclosedVolumes(data + n * ENCLOSED_BYTES, count, pass, inverseH2);
  else if (kind === KIND_POINTS)
    solvePoints(<usize>load<u32>(HEADER, H_POINTS), load<i32>(HEADER, H_POINT_COUNT), pass, h);
  else return false;
  return true;
}

/** Constraints in the papers' form, and what steps them. @returns whether it is one of them */
function solvePaper(phase: usize, kind: i32, begin: i32, count: i32, scratch: usize): bool {
  const data = <usize>load<u32>(phase, PHASE_DATA);
  if (
    kind === KIND_PAPER_TET ||
    kind === KIND_PAPER_TET_ORTHO ||
    kind === KIND_PAPER_TET_PLASTIC ||
    kind === KIND_PAPER_NEO_HOOKEAN ||
    kind === KIND_PAPER_STABLE_NEO_HOOKEAN
  )
    solvePaperTetrahedra(data + <usize>(begin * paperTetrahedronBytes(kind)), count, kind, scratch);
  else if (kind === KIND_PAPER_TRIANGLE) solvePaperTriangles(data + <usize>begin * TRI_BYTES, count, scratch);
  else if (kind === KIND_PAPER_BEND) solvePaperBending(data + <usize>begin * BEND_BYTES, count);
  else if (kind === KIND_SWEEP_BEGIN) sweepBegin(phase, begin, begin + count);
  else if (kind === KIND_SWEEP_COLLECT) sweepCollect(phase, begin, begin + count);
  else if (kind === KIND_SWEEP_END) sweepEnd(phase, begin, begin + count);
  else if (kind === KIND_SWEEP_MEMORY) sweepMemory(phase, begin, begin + count);
  else return false;
  return true;
}

/** What moves particles whatever they belong to. @returns whether it is one of these stages */
function runParticles(phase: usize, kind: i32, begin: i32, end: i32, h: f32): bool {
  const data = load<i32>(phase, PHASE_DATA);
  if (kind === KIND_PREDICT) predict(data + begin, data + end, h);
  else if (kind === KIND_VELOCITY) updateVelocity(data + begin, data + end, h);
  else if (kind === KIND_COLLIDE) collide(data + begin, data + end, h, load<u32>(phase, PHASE_KEPT));
  else if (kind === KIND_BALANCE) balance(begin, end, h);
  else if (kind === KIND_RESTORE) restore(begin, end, h);
  else if (kind === KIND_WIND_FORCES) windForces(<usize>data, begin, end);
  else if (kind === KIND_WIND_ACCELERATIONS) windAccelerations(<usize>data, begin, end);
  else return false;
  return true;
}

/** Colliders, and bodies that move as wholes. @returns whether it is one of these stages */
function runBodies(phase: usize, kind: i32, begin: i32, end: i32, pass: i32, h: f32, scratch: usize): bool {
  const data = <usize>load<u32>(phase, PHASE_DATA);
  if (kind === KIND_MOVE) moveColliders();
  else if (kind === KIND_CORE_MESHES) moveCoreMesh(data, begin, end, h);
  else if (kind === KIND_SHAPE) solveShapes(begin, end, pass, h, scratch);
  else if (kind === KIND_IMPLICIT) stepImplicit(data, begin, end);
  else if (kind === KIND_IMPLICIT_AIM) aimTogether();
  else if (kind === KIND_IMPLICIT_TOGETHER) stepTogether();
  else if (kind === KIND_RIGID) moveRigid(begin, end, h, scratch);
  else if (kind === KIND_BALLS) solveBalls(pass, h, scratch);
  else return false;
  return true;
}

/** Contact of meshes, whole or a piece of its rows. */
function runContacts(phase: usize, kind: i32, begin: i32, end: i32, pass: i32, h: f32, scratch: usize): void {
  const count = load<i32>(phase, PHASE_COUNT);
  if (kind === KIND_CONTACTS) {
    if (pass & PASS_FIRST) foresee();
    beginRigidContacts();
    if (load<i32>(HEADER, H_DRIVE_COUNT)) {
      enterStage(STAGE_INTERSECTIONS);
      driveApart();
      enterStage(STAGE_CONTACTS);
    }
    solveNearContacts((pass & PASS_LAST) !== 0);
    solveRigidContacts((pass & PASS_FIRST) !== 0, scratch);
  } else if (kind === KIND_SAFE) keepSafe();
  else if (kind === KIND_VERIFY) {
    keepIslands(h);
    verifyContacts(h);
  } else if (kind === KIND_SHARED_CONTACTS) solveShared(begin, end, count);
  else if (kind === KIND_SHARED_CHECK) checkShared(begin, end, count);
  else if (kind === KIND_SHARED_REFIT) refitLeaves(begin, end, count);
  else if (kind === KIND_SHARED_CLOSE) judgeClose(begin, end, count);
}
