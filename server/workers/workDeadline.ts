/**
 * Deadlines of the work alone: of what a thread has had of a processor, neither of the wait before it nor of that for
 * one.
 */
import type { Worker } from "node:worker_threads";
import type { Piscina } from "piscina";

/** A thread's work is looked at so often within its deadline, and at least once a second. */
const LOOKS = 20;
/** A thread that gets no processor, or hangs without one, is waited for so many times its deadline. */
const PATIENCE = 4;

export interface WorkOptions {
  name: string;
  deadlineMs: number;
  /** Handed over instead of being copied. */
  moved?: ArrayBuffer[];
  /** Ends it sooner. */
  signal?: AbortSignal;
}

/** The task was given up: it took longer than it may. */
export class TookTooLong extends Error {}

/**
 * A task of a pool that has one thread and nothing else to do.
 * @throws TookTooLong, or what the task or its thread throws
 */
export async function runWithin<T>(
  pool: Piscina,
  task: object,
  { name, deadlineMs, moved = [], signal }: WorkOptions,
): Promise<T> {
  const over = new AbortController();
  const [before] = pool.threads;
  const workedMs = await workOf(before);
  const look = async (): Promise<void> => {
    const [thread] = pool.threads;
    if ((await workOf(thread)) - (thread === before ? workedMs : 0) > deadlineMs) over.abort();
  };
  const looking = setInterval(() => void look(), Math.min(1000, deadlineMs / LOOKS));
  const late = AbortSignal.any([over.signal, AbortSignal.timeout(PATIENCE * deadlineMs)]);
  try {
    return (await pool.run(task, {
      name,
      signal: signal ? AbortSignal.any([late, signal]) : late,
      transferList: moved,
    })) as T;
  } catch (error) {
    if (late.aborted) throw new TookTooLong(`it took longer than ${deadlineMs} ms`, { cause: error });
    throw error;
  } finally {
    clearInterval(looking);
  }
}

/** Of a processor for a thread since it began, ms. */
async function workOf(thread: Worker | undefined): Promise<number> {
  // One that has just ended does not say.
  const used = await thread?.cpuUsage().catch(() => undefined);
  return used ? (used.user + used.system) / 1000 : 0;
}
