/**
 * When a thread has to be ended. Pure: it is told what was seen of the thread, and how long after the look before.
 *
 *   no_progress   the thread used `deadlineMs` of CPU time without progress: an endless loop
 *   blocked       the thread made no progress and used next to no CPU time for BLOCKED_DEADLINES deadlines: a deadlock
 *
 * A long tick makes progress at every preemption point and is never ended. CPU time of the thread is the clock of the
 * first rule, so a busy machine, cgroup throttling, SIGSTOP and suspension count for nothing. The second rule counts
 * looks: the main thread had the processor at each of them, and a look counts MOST_LOOK_MS at most, however long the
 * process stood still before it. Both threads have the same priority, so a thread that could run gets more than
 * LEAST_SHARE of that time; then only the first rule holds.
 */
import type { StuckReason } from "./threadLost.ts";

/** A thread that is blocked is waited for this many deadlines. */
const BLOCKED_DEADLINES = 12;
/** Longest time that one look counts, ms. */
const MOST_LOOK_MS = 250;
/** A thread that uses less than this share of the counted time is blocked. */
const LEAST_SHARE = 1 / 500;

export interface ThreadLook {
  /** Number of the order that the thread executes, 0: none. */
  executing: number;
  /** Changes with every step forward. */
  progress: number;
  /** CPU time of the thread since it began, ms; undefined: it did not say. */
  cpuMs: number | undefined;
  /** The order may wait for another thread: it is never blocked. */
  waits?: boolean;
  /** Own deadline of the order, ms of CPU time. */
  deadlineMs: number;
}

export class StuckRule {
  #executing = 0;
  #progress = 0;
  /** CPU time at the first look after the last progress that had one, ms. */
  #fromCpuMs: number | undefined;
  #usedMs = 0;
  #countedMs = 0;

  /** The thread made no progress since the look before: its CPU time is worth asking for. */
  get isSuspicious(): boolean {
    return this.#countedMs > 0;
  }

  /** @param elapsedMs since the look before */
  look({ executing, progress, cpuMs, waits = false, deadlineMs }: ThreadLook, elapsedMs: number): StuckReason | null {
    if (executing === 0 || executing !== this.#executing || progress !== this.#progress) {
      this.#executing = executing;
      this.#progress = progress;
      this.#fromCpuMs = undefined;
      this.#usedMs = this.#countedMs = 0;
      return null;
    }
    this.#countedMs += Math.min(elapsedMs, MOST_LOOK_MS);
    if (cpuMs !== undefined) {
      this.#fromCpuMs ??= cpuMs;
      this.#usedMs = cpuMs - this.#fromCpuMs;
    }
    if (this.#usedMs > deadlineMs) return "no_progress";
    const isIdle = this.#usedMs < LEAST_SHARE * this.#countedMs;
    return !waits && isIdle && this.#countedMs > BLOCKED_DEADLINES * deadlineMs ? "blocked" : null;
  }
}
