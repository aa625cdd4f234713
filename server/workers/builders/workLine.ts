/** One thread of the builder, and the queue of its tasks. */
import { Piscina } from "piscina";
import { Turns } from "../../../shared/turns.ts";
import type { BuildThreadData } from "../messages.ts";
import type { StepsRunning } from "../stepping/stepsRunning.ts";
import { runWithin, TookTooLong, type WorkOptions } from "../workDeadline.ts";

export interface LineOptions {
  /** JavaScript heap of the thread, MB. */
  memoryMb: number;
  /** nice(1) increment. */
  nice: number;
  /** Running steps that the work waits for (stepsRunning.ts). */
  steps?: StepsRunning;
  /**
   * Processor time that an address has used: the address with the least is served first. Absent: addresses take turns.
   */
  usedOf?: (address: string) => number;
  onError: (error: Error) => void;
}

/** The thread ends after this time without work, ms. */
const IDLE_MS = 30_000;
const filename = new URL("./buildWorker.ts", import.meta.url).href;

/** The work exceeded its limit of processor time or memory. */
export class WorkLimit extends Error {}

export interface LineTask extends WorkOptions {
  /** Name of the variable that sets the deadline, for the error. */
  limit: string;
}

export class WorkLine {
  readonly #memoryMb: number;
  readonly #pool: Piscina;
  /** Queue by address. Time in the queue does not count against the deadline. */
  readonly #turns: Turns;

  constructor({ memoryMb, nice, steps, usedOf, onError }: LineOptions) {
    this.#memoryMb = memoryMb;
    this.#turns = new Turns(1, usedOf);
    this.#pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      niceIncrement: nice,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      workerData: { steps: steps?.words } satisfies BuildThreadData,
    });
    this.#pool.on("error", onError);
  }

  /**
   * @param by address that the work is charged to
   * @throws WorkLimit, or the work's own error
   */
  run<T>(by: string, task: object, options: LineTask): Promise<T> {
    return this.#turns.run(by, () => this.#run<T>(task, options));
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #run<T>(task: object, { limit, ...options }: LineTask): Promise<T> {
    try {
      return await runWithin<T>(this.#pool, task, options);
    } catch (error) {
      if (error instanceof TookTooLong) throw new WorkLimit(`${error.message} (by ${limit})`, { cause: error });
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
        throw new WorkLimit(`it took more than ${this.#memoryMb} MB of heap (by PLIANT_BUILD_MEMORY_MB)`, {
          cause: error,
        });
      throw error;
    }
  }
}
