/**
 * The clock of the step: where the orchestrating thread's seconds go, by stage (STAGE_*). It stands still while the
 * thread does something for others (preemptionPoint).
 */
import { HEADER, H_STAGE, H_WATCH, STAGES, WATCH_PREEMPTION } from "../layout/layout";
import { now, preempt } from "./host";

/** About 0.3 ms of work: what spendWork counts between two preemption points. */
const WORK_UNITS: i32 = 1024;

// true in the middle of a tick, for its orchestrator and its helpers
let inTick = false;
// work since the last preemption point
let spent: i32 = 0;
// what this thread has done for others in the middle of its steps, s
let othersSeconds: f64 = 0;
// the stage whose time is taken, -1: none, and since when, s
let stage = -1;
let since: f64 = 0;

/**
 * To be called now and then in the middle of a tick: the thread may step other rooms meanwhile. They have instances of
 * their own, so nothing of this one changes; whoever waits for this thread's chunk waits a little longer.
 */
export function preemptionPoint(): void {
  spent = 0;
  if (inTick && load<i32>(HEADER, H_WATCH) & WATCH_PREEMPTION) othersSeconds += preempt();
}

/**
 * Counts work in a loop of unknown length, and reaches a preemption point every WORK_UNITS.
 * @param units about 0.3 us each
 */
// @inline
export function spendWork(units: i32): void {
  spent += units;
  if (spent >= WORK_UNITS) preemptionPoint();
}

/** Between two substeps others had the thread. @param seconds for how long */
export function leaveOut(seconds: f64): void {
  othersSeconds += seconds;
}

/** A tick begins: nothing of it has been spent. */
export function beginClock(): void {
  memory.fill(HEADER + H_STAGE, 0, STAGES * 8);
  stage = -1;
  inTick = true;
}

/** The tick is over. */
export function endClock(): void {
  enterStage(-1);
  inTick = false;
}

/** This thread begins to help with a tick, or ends that. */
export function helpInTick(helps: bool): void {
  inTick = helps;
}

/** Ends the stage whose time is taken, and begins another. @param next -1: none. @returns the one that ended */
export function enterStage(next: i32): i32 {
  const before = stage;
  if (next === before) return before;
  const at = now() - othersSeconds;
  if (before >= 0) {
    const seconds: usize = HEADER + H_STAGE + (before << 3);
    store<f64>(seconds, load<f64>(seconds) + (at - since));
  }
  stage = next;
  since = at;
  return before;
}
