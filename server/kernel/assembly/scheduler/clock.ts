/**
 * The clock of the step: seconds of the orchestrating thread by stage (STAGE_*). It does not count while the thread
 * works for other rooms (preemptionPoint).
 */
import * as L from "../layout/layout";
import { now, preempt } from "./host";

/** Work between two preemption points, about 0.3 ms. */
const WORK_UNITS: i32 = 1024;

// true inside a tick, for its orchestrator and its helpers
let inTick = false;
// work since the last preemption point
let spent: i32 = 0;
// seconds that this thread has worked for other rooms inside its steps
let othersSeconds: f64 = 0;
// current stage, -1: none, and its start, s
let stage = -1;
let since: f64 = 0;

/**
 * Called now and then inside a tick: the thread may step other rooms meanwhile. Those have instances of their own, so
 * nothing in this one changes. Threads that wait for this thread's chunk wait a little longer.
 */
export function preemptionPoint(): void {
  spent = 0;
  if (inTick && load<i32>(L.HEADER, L.H_WATCH) & L.WATCH_PREEMPTION) othersSeconds += preempt();
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

/** Excludes time that the thread worked for other rooms between two substeps. @param seconds its length */
export function leaveOut(seconds: f64): void {
  othersSeconds += seconds;
}

/** Begins a tick with all stage times at 0. */
export function beginClock(): void {
  memory.fill(L.HEADER + L.H_STAGE, 0, L.STAGES * 8);
  stage = -1;
  inTick = true;
}

/** Ends the tick. */
export function endClock(): void {
  enterStage(-1);
  inTick = false;
}

/** Marks that this thread begins or ends helping with a tick. */
export function helpInTick(helps: bool): void {
  inTick = helps;
}

/** Ends the current stage and begins another. @param next -1: none. @returns the one that ended */
export function enterStage(next: i32): i32 {
  const before = stage;
  if (next === before) return before;
  const at = now() - othersSeconds;
  if (before >= 0) {
    const seconds: usize = L.HEADER + L.H_STAGE + (before << 3);
    store<f64>(seconds, load<f64>(seconds) + (at - since));
  }
  stage = next;
  since = at;
  return before;
}
