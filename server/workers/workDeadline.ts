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
  /** Processor time, ms. */
  deadlineMs: number;
  /** Times the deadline that the work may take by the clock; PATIENCE unless given. */
  patience?: number;
  /** Handed over instead of being copied. */
  moved?: ArrayBuffer[];
  /** Ends it sooner. */
  signal?: AbortSignal;
  /**
   * Shared: the thread writes its processor time (ms) into it when the task begins; 0 until then. Absent: the task
   * begins with the thread, or with the call where the thread is there.
   */
  beganMs?: Float64Array;
  /** Told of the processor time (ms) that the task has used since it was told last. */
  onWork?: (ms: number) => void;
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
  { name, deadlineMs, patience = PATIENCE, moved = [], signal, beganMs, onWork = () => {} }: WorkOptions,
): Promise<T> {
  const over = new AbortController();
  const [before] = pool.threads;
  const thereMs = await workOf(before);
  let told = 0;
  const look = async (): Promise<void> => {
    const [thread] = pool.threads;
    const began = beganMs?.[0] ?? (thread === before ? thereMs : 0);
    const workedMs = beganMs && began === 0 ? 0 : (await workOf(thread)) - began;
    if (workedMs > told) {
      onWork(workedMs - told);
      told = workedMs;
    }
    if (workedMs > deadlineMs) over.abort();
  };
  const looking = setInterval(() => void look(), Math.min(1000, deadlineMs / LOOKS));
  const late = AbortSignal.any([over.signal, AbortSignal.timeout(patience * deadlineMs)]);
  try {
    const result = (await pool.run(task, {
      name,
      signal: signal ? AbortSignal.any([late, signal]) : late,
      transferList: moved,
    })) as T;
    // What was done since the last look.
    await look();
    return result;
  } catch (error) {
    if (late.aborted) throw new TookTooLong(`it took more than ${deadlineMs} ms of processor time`, { cause: error });
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
