/**
 * The step: substeps x phases, claimed chunk by chunk by however many threads came.
 *
 * The leader opens a phase: its chunks are cut into as many parts as threads are there, each with a counter on a cache line of its own, and the ticket says what is
 * open. Who comes claims by compare-and-swap, of its own part first, then of the others'. A counter holds the ticket's number, so a claim is for what is open
 * now, however late it is. The leader waits at the end only for chunks that were claimed; a helper that never starts costs nothing. Chunks of a phase touch
 * disjoint particles and each is computed alone, so the result does not depend on who computed it. While no helper is there nothing is opened, and nobody
 * waits: crewWaiting.ts.
 * Memory order: the ticket's atomic store publishes everything before it; `done` is added to atomically after the chunks' stores.
 * Tried: one counter for all. Two threads then work anywhere, and most particles that one needs the other has just written; and every claim fetches the counter
 * from another core (220 ns between the virtual cores here). 50,400 tetrahedra in chunks of 16 blocks: slower on two threads than on one.
 */
import {
  HEADER, H_PROGRAM, H_PHASES, H_SUBSTEPS, H_SUBSTEP_SECONDS, H_POINTS, H_POINT_COUNT, H_STAGE, STAGES, STAGE_BROAD, H_TICKET, H_ACTIVE, H_CREW, H_JOINED, H_CHUNKS_SHARED, H_CHUNKS_HELPED, HELPER_LEAVES, HELPER_CLAIMS, HELPER_NEXT, H_TICK, H_WATCH, WATCH_SUBSTEPS, WATCH_PHASES, WATCH_SHARES, H_SUBSTEP,
  PHASE_BYTES, PHASE_KIND, PHASE_DATA, PHASE_COUNT, PHASE_CHUNK, PHASE_CHUNKS, PHASE_PASS, PHASE_STAGE, PHASE_MEMORY, PHASE_OWN, PHASE_KEPT, PHASE_RUNS, PHASE_RUN_COUNT, RUN_FIRST, RUN_END, RUN_BODY, RUN_BYTES, BODY_WAITS, H_SETTLE, H_SETTLED, MEMORY_BYTES, PASS_FIRST, PASS_LAST,
  KIND_PREDICT, KIND_TET, KIND_TRIANGLE, KIND_BEND, KIND_POINTS, KIND_VELOCITY, KIND_COLLIDE, KIND_CONTACTS, KIND_BALANCE, KIND_RESTORE, KIND_TET_ORTHO, KIND_TET_PLASTIC, KIND_PLASTIC,
  TET_BYTES, TET_ORTHO_BYTES, TET_PLASTIC_BYTES, TET_KEPT_BYTES, HYPER_KEPT_BYTES, TRI_KEPT_BYTES, BEND_KEPT_BYTES, DISTANCE_KEPT_BYTES, TRI_BYTES, BEND_BYTES,
  KIND_PAPER_TET, KIND_PAPER_TET_ORTHO, KIND_PAPER_TET_PLASTIC, KIND_PAPER_NEO_HOOKEAN, KIND_PAPER_STABLE_NEO_HOOKEAN, KIND_PAPER_TRIANGLE, KIND_PAPER_BEND, KIND_SWEEP_BEGIN, KIND_SWEEP_COLLECT, KIND_SWEEP_END, KIND_SWEEP_MEMORY,
  KIND_DISTANCE, KIND_VOLUME, KIND_HEXAHEDRON, KIND_ENCLOSED, DISTANCE_BYTES, VOLUME_BYTES, HEXAHEDRON_BYTES, ENCLOSED_BYTES,
  KIND_SHAPE, KIND_RIGID, KIND_MOVE, KIND_NEO_HOOKEAN, KIND_STABLE_NEO_HOOKEAN, HYPER_BYTES,
  KIND_SHAPE, KIND_RIGID, KIND_MOVE, KIND_CORES, KIND_BALLS, KIND_SAFE, KIND_VERIFY, KIND_SHARED_TOUCHES, KIND_SHARED_CHECK, KIND_SHARED_LIST,
} from "./layout";
import { awaitHelpers, chunksDone, HELPER_TURNS, openPhase, partBegin, partsOf, rowAt, sleepUntilOpened } from "./crewWaiting";
import { predict, updateVelocity } from "./particles";
import { solveOrthotropic, solvePlastic, solveTetrahedra } from "./tetrahedron";
import { solveNeoHookean, solveStableNeoHookean } from "./hyperelastic";
import { flow, forgetTangles } from "./plasticity";
import { solveTriangles } from "./triangle";
import { solveBending } from "./bending";
import { solveDistances } from "./distance";
import { solveVolumes } from "./volume";
import { solveHexahedra } from "./hexahedron";
import { solveEnclosed } from "./enclosed";
import { solvePoints } from "./points";
import { beginTouches, foresee, keepSafe, verifyTouches } from "./touches";
import { checkShared, solveNearTouches, solveShared } from "./touchShares";
import { balance, findFreeBodies, restore } from "./momentum";
import { collide } from "./collide";
import { keepIslands } from "./momentumKept";
import { listShared } from "./pairChunks";
import { settle } from "./settle";
import { paperTetrahedronBytes, solvePaperTetrahedra } from "./paperTetrahedron";
import { solvePaperTriangles } from "./paperTriangle";
import { solvePaperBending } from "./paperBending";
import { sweepBegin, sweepCollect, sweepEnd, sweepMemory } from "./sweep";
import { driveApart } from "./untangle";
import { moveColliders } from "./motion";
import { moveCore, placeCores } from "./cores";
import { solveShapes } from "./shape";
import { moveRigid } from "./rigid";
import { beginRigidTouches, solveRigidTouches } from "./rigidTouch";
import { beginBalls, solveBalls } from "./balls";

/** Seconds, from the host. */
declare function now(): f64;
/** Called after every substep while H_WATCH has WATCH_SUBSTEPS: recordings. */
declare function substepDone(): void;
/** Called by the leader after every phase while H_WATCH has WATCH_PHASES, with its number in the program: energy books; before and after what is shared out within one while H_WATCH has WATCH_SHARES: benchmarks. */
declare function phaseDone(phase: i32): void;

/** Runs chunk `chunk` of the phase at `phase`. */
function runChunk(phase: usize, chunk: i32, scratch: usize): void {
  const size = load<i32>(phase, PHASE_CHUNK);
  runRange(phase, chunk * size, min<i32>(chunk * size + size, load<i32>(phase, PHASE_COUNT)), scratch);
}

/** Blocks, particles or bodies first .. end of a phase, but for what belongs to bodies that wait. */
function runRange(phase: usize, first: i32, end: i32, scratch: usize): void {
  let begin = first, run = <usize>load<u32>(phase, PHASE_RUNS);
  if (run) {
    for (let n = load<i32>(phase, PHASE_RUN_COUNT); n > 0; n--, run += RUN_BYTES) {
      if (!load<i32>(<usize>load<u32>(run, RUN_BODY), BODY_WAITS)) continue;
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
  const data = <usize>load<u32>(phase, PHASE_DATA), h = load<f32>(HEADER, H_SUBSTEP_SECONDS), inverseH2: f32 = 1 / (h * h);
  // where stress is remembered, the first iteration starts from it and the tick's last one keeps its multipliers
  const kept = load<u32>(phase, PHASE_MEMORY), from = kept && pass & PASS_FIRST && load<i32>(HEADER, H_SETTLED) ? <usize>kept + <usize>begin * MEMORY_BYTES : 0;
  if (kept && load<i32>(HEADER, H_SETTLE) && load<i32>(HEADER, H_SUBSTEP) == load<i32>(HEADER, H_SUBSTEPS) - 1) pass &= ~PASS_LAST;
  const own = <usize>load<u32>(phase, PHASE_OWN);
  if (kind == KIND_TET) solveTetrahedra(data + <usize>begin * TET_BYTES, own + <usize>begin * TET_KEPT_BYTES, end - begin, pass, inverseH2, scratch, from);
  else if (kind == KIND_TET_ORTHO) solveOrthotropic(data + <usize>begin * TET_ORTHO_BYTES, own + <usize>begin * TET_KEPT_BYTES, end - begin, pass, inverseH2, scratch, from);
  else if (kind == KIND_TET_PLASTIC) solvePlastic(data + <usize>begin * TET_PLASTIC_BYTES, own + <usize>begin * TET_KEPT_BYTES, end - begin, pass, inverseH2, scratch, from);
  else if (kind == KIND_PLASTIC) flow(data + <usize>begin * TET_PLASTIC_BYTES, end - begin, h);
  else if (kind == KIND_NEO_HOOKEAN) solveNeoHookean(data + <usize>begin * HYPER_BYTES, own + <usize>begin * HYPER_KEPT_BYTES, end - begin, pass, inverseH2, scratch, from);
  else if (kind == KIND_STABLE_NEO_HOOKEAN) solveStableNeoHookean(data + <usize>begin * HYPER_BYTES, own + <usize>begin * HYPER_KEPT_BYTES, end - begin, pass, inverseH2, scratch, from);
  else if (kind == KIND_TRIANGLE) solveTriangles(data + <usize>begin * TRI_BYTES, own + <usize>begin * TRI_KEPT_BYTES, end - begin, pass, inverseH2);
  else if (kind == KIND_BEND) solveBending(data + <usize>begin * BEND_BYTES, own + <usize>begin * BEND_KEPT_BYTES, end - begin, pass, inverseH2);
  else if (kind == KIND_DISTANCE) solveDistances(data + <usize>begin * DISTANCE_BYTES, own + <usize>begin * DISTANCE_KEPT_BYTES, end - begin, pass, inverseH2);
  else if (kind == KIND_VOLUME) solveVolumes(data + <usize>begin * VOLUME_BYTES, end - begin, pass, inverseH2);
  else if (kind == KIND_HEXAHEDRON) solveHexahedra(data + <usize>begin * HEXAHEDRON_BYTES, end - begin, pass, inverseH2, scratch);
  else if (kind == KIND_ENCLOSED) solveEnclosed(data + <usize>begin * ENCLOSED_BYTES, end - begin, pass, inverseH2);
  else if (kind == KIND_POINTS) solvePoints(<usize>load<u32>(HEADER, H_POINTS), load<i32>(HEADER, H_POINT_COUNT), pass, h);
  else if (kind == KIND_CONTACTS) { if (pass & PASS_FIRST) foresee(); beginRigidTouches(); driveApart(); solveNearTouches((pass & PASS_LAST) != 0); solveRigidTouches(scratch); }
  else if (kind == KIND_PREDICT) predict(begin, end, h);
  else if (kind == KIND_VELOCITY) updateVelocity(begin, end, h);
  else if (kind == KIND_COLLIDE) collide(<i32>data + begin, <i32>data + end, h, load<u32>(phase, PHASE_KEPT));
  else if (kind == KIND_BALANCE) balance(begin, end, h);
  else if (kind == KIND_RESTORE) restore(begin, end, h);
  else if (kind == KIND_PAPER_TET || kind == KIND_PAPER_TET_ORTHO || kind == KIND_PAPER_TET_PLASTIC || kind == KIND_PAPER_NEO_HOOKEAN || kind == KIND_PAPER_STABLE_NEO_HOOKEAN) solvePaperTetrahedra(data + <usize>(begin * paperTetrahedronBytes(kind)), end - begin, kind, scratch);
  else if (kind == KIND_PAPER_TRIANGLE) solvePaperTriangles(data + <usize>begin * TRI_BYTES, end - begin, scratch);
  else if (kind == KIND_PAPER_BEND) solvePaperBending(data + <usize>begin * BEND_BYTES, end - begin);
  else if (kind == KIND_SWEEP_BEGIN) sweepBegin(phase, begin, end);
  else if (kind == KIND_SWEEP_COLLECT) sweepCollect(phase, begin, end);
  else if (kind == KIND_SWEEP_END) sweepEnd(phase, begin, end);
  else if (kind == KIND_SWEEP_MEMORY) sweepMemory(phase, begin, end);
  else if (kind == KIND_MOVE) moveColliders();
  else if (kind == KIND_CORES) moveCore(data, begin, end, h);
  else if (kind == KIND_SHAPE) solveShapes(begin, end, pass, h, scratch);
  else if (kind == KIND_RIGID) moveRigid(begin, end, h, scratch);
  else if (kind == KIND_BALLS) solveBalls(pass, h, scratch);
  else if (kind == KIND_SAFE) keepSafe();
  else if (kind == KIND_VERIFY) { keepIslands(h); verifyTouches(h); }
  else if (kind == KIND_SHARED_TOUCHES) solveShared(begin, end, load<i32>(phase, PHASE_COUNT));
  else if (kind == KIND_SHARED_LIST) listShared(begin, end, load<i32>(phase, PHASE_COUNT));
  else if (kind == KIND_SHARED_CHECK) checkShared(begin, end, load<i32>(phase, PHASE_COUNT));
}

// while the leader steps: others may be helping, and its spill area
let helped = false, ownScratch: usize = 0;

/** Is it worth sharing anything out? */
export function isHelped(): bool { return helped && atomic.load<i32>(HEADER, H_CREW) > 0; }

/**
 * All chunks of a row that stands behind the program's phases, by whoever comes; to be called by the leader, from within a phase of one chunk. It may be
 * shared out again and again: who claims a chunk late claims one of the row as it is by then.
 */
export function shareOut(row: i32): void {
  const p = load<i32>(HEADER, H_PHASES) + row, watched = load<i32>(HEADER, H_WATCH) & WATCH_SHARES;
  if (watched) phaseDone(p);
  runTogether(p, ownScratch);
  if (watched) phaseDone(p);
}

function runTogether(p: i32, scratch: usize): void {
  const phase = phaseAt(p), chunks = load<i32>(phase, PHASE_CHUNKS), ticket = openPhase(p, chunks), own = claim(ticket, 0, 0, scratch);
  store<i32>(HEADER, load<i32>(HEADER, H_CHUNKS_SHARED) + chunks, H_CHUNKS_SHARED);
  store<i32>(HEADER, load<i32>(HEADER, H_CHUNKS_HELPED) + chunks - own, H_CHUNKS_HELPED);
  awaitHelpers(chunks - own);
}

@inline function phaseAt(p: i32): usize { return <usize>load<u32>(HEADER, H_PROGRAM) + <usize>p * PHASE_BYTES; }

/**
 * Claims and runs chunks of what `ticket` has opened, until none is left, or it is not open any more: of this thread's own part first, so that it works where it
 * has worked in the color before, then of the others'.
 * @param slot this thread's row; leaves address of a word that is not 0 once it is to leave, or 0
 * @returns chunks done
 */
function claim(ticket: i64, slot: i32, leaves: usize, scratch: usize): i32 {
  const phase = phaseAt(<i32>(ticket & 0xffffffff)), chunks = load<i32>(phase, PHASE_CHUNKS), parts = partsOf(ticket);
  let done = 0;
  for (let n = 0, part = slot % parts; n < parts; n++, part = part + 1 == parts ? 0 : part + 1) {
    const next = rowAt(part) + HELPER_NEXT, end = partBegin(part + 1, parts, chunks);
    for (;;) {
      if (leaves && atomic.load<i32>(leaves)) return done;
      const at = atomic.load<i64>(next), chunk = <i32>(at & 0xffffffff);
      if (at >> 32 != ticket >> 32) return done;
      if (chunk >= end) break;
      if (atomic.cmpxchg<i64>(next, at, at + 1) != at) continue;
      runChunk(phase, chunk, scratch);
      done++;
    }
  }
  return done;
}

/** One tick by the leader. @param helpers 1 if others may be helping (publishes tickets), 0 to work alone; scratch this thread's spill area */
export function step(helpers: i32, scratch: usize): void {
  const program = <usize>load<u32>(HEADER, H_PROGRAM), phases = load<i32>(HEADER, H_PHASES), substeps = load<i32>(HEADER, H_SUBSTEPS), watch = load<i32>(HEADER, H_WATCH);
  memory.fill(HEADER + H_STAGE, 0, STAGES * 8);
  helped = helpers != 0; ownScratch = scratch;
  let before = now();
  settle();
  placeCores();
  beginTouches();
  findFreeBodies();
  beginBalls();
  let after = now();
  store<f64>(HEADER + H_STAGE, after - before, STAGE_BROAD * 8);
  let stage = -1;
  before = after;
  for (let s = 0; s < substeps; s++) {
    forgetTangles();
    store<i32>(HEADER, s, H_SUBSTEP);
    for (let p = 0; p < phases; p++) {
      const phase = program + <usize>p * PHASE_BYTES, chunks = load<i32>(phase, PHASE_CHUNKS);
      if (load<i32>(phase, PHASE_STAGE) != stage) {
        after = now();
        if (stage >= 0) addStage(stage, after - before);
        before = after;
        stage = load<i32>(phase, PHASE_STAGE);
      }
      if (chunks < 2 || !isHelped()) runRange(phase, 0, load<i32>(phase, PHASE_COUNT), scratch);
      else runTogether(p, scratch);
      if (watch & WATCH_PHASES) phaseDone(p);
    }
    if (watch & WATCH_SUBSTEPS) substepDone();
  }
  if (stage >= 0) addStage(stage, now() - before);
  helped = false;
  store<u32>(HEADER, load<u32>(HEADER, H_TICK) + 1, H_TICK);
}

function addStage(stage: i32, seconds: f64): void {
  const at: usize = HEADER + H_STAGE + (stage << 3);
  store<f64>(at, load<f64>(at) + seconds);
}

/**
 * A helper's part of one tick: claims chunks until the leader ends the tick (H_ACTIVE differs from `generation`), or until it is wanted elsewhere.
 * @param slot its row of H_HELPERS, 1 .. MAX_THREADS - 1, nobody else's; scratch its spill area
 * @returns chunks done
 */
export function help(generation: i32, slot: i32, scratch: usize): i32 {
  const row = rowAt(slot), leaves = row + HELPER_LEAVES;
  let worked = 0, turns = 0, seen: i64 = 0;
  atomic.add<i32>(HEADER, 1, H_CREW);
  while (atomic.load<i32>(HEADER, H_ACTIVE) == generation && !atomic.load<i32>(leaves)) {
    const ticket = atomic.load<i64>(HEADER, H_TICKET);
    if (ticket == seen || !partsOf(ticket)) {
      if (++turns >= HELPER_TURNS) { sleepUntilOpened(ticket, generation, leaves); turns = 0; }
      continue;
    }
    seen = ticket;
    // before the first claim: whoever finds this thread dead must not find a chunk that is nobody's
    atomic.store<i32>(row, 1, HELPER_CLAIMS);
    const done = claim(ticket, slot, leaves, scratch);
    if (done) {
      if (!worked) atomic.add<i32>(HEADER, 1, H_JOINED);
      chunksDone(done);
      worked += done;
      turns = 0;
    }
    atomic.store<i32>(row, 0, HELPER_CLAIMS);
  }
  atomic.sub<i32>(HEADER, 1, H_CREW);
  return worked;
}
