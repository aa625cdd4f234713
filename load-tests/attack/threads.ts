/**
 * CPU time and run-queue wait of each thread of a process, as counted by Linux (/proc/<pid>/task/<thread>/schedstat).
 * They tell whether a thread was late because of its own work or because other threads ran.
 */
import { readdirSync, readFileSync } from "node:fs";

interface Counted {
  ranMs: number;
  waitedMs: number;
}

/** Number of threads in a description. */
const SHOWN = 9;

/** By thread, the name first; empty if the system does not count. */
export type Threads = Map<string, Counted>;

export function threadsOf(pid: number): Threads {
  const threads: Threads = new Map();
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
      const [ranNs, waitedNs] = text.split(" ").map(Number) as [number, number];
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      threads.set(thread === String(pid) ? "main" : `${name} ${thread}`, {
        ranMs: ranNs / 1e6,
        waitedMs: waitedNs / 1e6,
      });
    }
  } catch {
    // Another system, or a thread that has just ended.
  }
  return threads;
}

/** Adds the difference of two readings to `sums`. */
export function addThreads(sums: Threads, before: Threads, after: Threads): void {
  for (const [thread, { ranMs, waitedMs }] of after) {
    const from = before.get(thread) ?? { ranMs: 0, waitedMs: 0 };
    const sum = sums.get(thread) ?? { ranMs: 0, waitedMs: 0 };
    sum.ranMs += ranMs - from.ranMs;
    sum.waitedMs += waitedMs - from.waitedMs;
    sums.set(thread, sum);
  }
}

/** Describes the main thread and the busiest others: shares of the time that they ran, and that they waited. */
export function describeThreads(sums: Threads, elapsedMs: number): string {
  const shown = [...sums].sort(([a, x], [b, y]) => Number(b === "main") - Number(a === "main") || y.ranMs - x.ranMs);
  return shown
    .slice(0, SHOWN)
    .map(([thread, { ranMs, waitedMs }]) => {
      const part = (ms: number): string => (ms / elapsedMs).toFixed(2);
      return `${thread.replace(/ \d+$/, "")} ran ${part(ranMs)} waited ${part(waitedMs)}`;
    })
    .join(", ");
}
