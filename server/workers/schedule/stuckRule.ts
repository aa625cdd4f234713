/**
 * Decides when a thread must be ended. Pure: the caller passes its observations and the time since the last look.
 *
 *   no_progress   the thread used `deadlineMs` of CPU time without progress: an endless loop
 *   blocked       the thread made no progress and used next to no CPU time for BLOCKED_DEADLINES deadlines: a deadlock
 *
 * A long tick makes progress at every preemption point and is never ended. The first rule counts the thread's CPU time,
 * so a busy machine, cgroup throttling, SIGSTOP and suspension do not count. The second rule counts looks, at which the
 * main thread had the processor. A look counts at most MOST_LOOK_MS, however long the process was stopped before it.
 * Both threads have the same priority, so a thread that can run gets more than LEAST_SHARE of that time; then only the
 * first rule applies.
 */
import type { StuckReason } from "../threadLost.ts";

/** Number of deadlines after which a blocked thread is ended. */
const BLOCKED_DEADLINES = 12;
/** Longest time that one look counts, ms. */
const MOST_LOOK_MS = 250;
/** A thread that uses less than this share of the counted time counts as blocked. */
const LEAST_SHARE = 1 / 500;

export interface ThreadLook {
  /** Number of the order that the thread executes, 0: none. */
  executing: number;
  /** Counter that changes with every step forward. */
  progress: number;
  /** CPU time of the thread since it started, ms; undefined: not known. */
  cpuMs: number | undefined;
  /** The order may wait for another thread, so it never counts as blocked. */
  waits?: boolean;
  /** The order's deadline, ms of CPU time. */
  deadlineMs: number;
}

export class StuckRule {
  #executing = 0;
  #progress = 0;
  /** First known CPU time since the last progress, ms. */
  #fromCpuMs: number | undefined;
  #usedMs = 0;
  #countedMs = 0;

  /** The thread made no progress since the last look, so its CPU time should be queried. */
  get isSuspicious(): boolean {
    return this.#countedMs > 0;
  }

  /** @param elapsedMs time since the last look */
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
