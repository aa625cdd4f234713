/** Deadlines in processor time: waiting for a turn or for a processor does not count. */
import type { MessagePort, Worker } from "node:worker_threads";
import type { Piscina } from "piscina";

/** Number of looks within a deadline; there is at least one look a second. */
const LOOKS = 20;
/** Wall time limit as a multiple of the deadline, for a thread that gets no processor or hangs without using it. */
const PATIENCE = 4;

export interface WorkOptions {
  name: string;
  /** Processor time limit, ms. */
  deadlineMs: number;
  /** Wall time limit as a multiple of the deadline; default PATIENCE. */
  patience?: number;
  /** Buffers that are moved instead of copied. */
  moved?: ArrayBuffer[];
  /** Aborts the task. */
  signal?: AbortSignal;
  /**
   * Shared: the thread writes its processor time (ms) into it when the task begins; 0 until then. Absent: the task
   * begins with the thread, or with the call if the thread already runs.
   */
  beganMs?: Float64Array;
  /** Called with the processor time (ms) that the task has used since the last call. */
  onWork?: (ms: number) => void;
}

type TransferList = NonNullable<Parameters<Piscina["run"]>[1]>["transferList"];

/**
 * Returns the list in Piscina's type. Piscina derives that type from the last overload of `postMessage`, which in Node
 * 26 takes options, but it accepts arrays only.
 */
export const transferring = (moved: (ArrayBuffer | MessagePort)[]): TransferList => moved as unknown as TransferList;

/** The task was aborted because it exceeded its time. */
export class TookTooLong extends Error {}

/**
 * Runs a task in a pool with a single thread and no other work.
 * @throws TookTooLong, or the error of the task or its thread
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
  // A thread that cannot load its code never takes the task; Piscina tells the pool only.
  const unloaded = new AbortController();
  const onLost = (error: Error): void => unloaded.abort(error);
  pool.once("error", onLost);
  try {
    const result = (await pool.run(task, {
      name,
      signal: AbortSignal.any([late, unloaded.signal, ...(signal ? [signal] : [])]),
      transferList: transferring(moved),
    })) as T;
    // Charge the work since the last look.
    await look();
    return result;
  } catch (error) {
    unloaded.signal.throwIfAborted();
    if (late.aborted) throw new TookTooLong(`it took more than ${deadlineMs} ms of processor time`, { cause: error });
    throw error;
  } finally {
    clearInterval(looking);
    pool.off("error", onLost);
  }
}

/** Processor time of a thread since it started, ms. */
async function workOf(thread: Worker | undefined): Promise<number> {
  // A thread that has just ended does not answer.
  const used = await thread?.cpuUsage().catch(() => undefined);
  return used ? (used.user + used.system) / 1000 : 0;
}
