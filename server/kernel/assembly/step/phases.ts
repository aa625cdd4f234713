/**
 * Runs the phases of the room's program (layout/program.ts): a phase is a range of particles, blocks or bodies for one
 * stage. The phases are in the order in which step.ts asks for them.
 */
import * as L from "../layout/layout";
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
import { runRange, unitsOf } from "./stages";

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
