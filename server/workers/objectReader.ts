/**
 * Reads the files that visitors bring, on two threads, fairly by processor time:
 *
 *     quick   files of at most QUICK_BYTES, for at most QUICK_MS of processor time each
 *     long    larger files, and those that the quick thread gave up, up to the operator's deadline
 *
 * A small file so waits for at most QUICK_MS of another one, however long files take on the other thread. In both lines
 * the address is next that has used least processor time (workShares.ts). A file that the quick thread gives up is read
 * again from its beginning: that costs QUICK_MS.
 */
import type { ObjectRefusal, ReadObjectResult, ReadObjectTask } from "./messages.ts";
import type { StepsRunning } from "./stepsRunning.ts";
import { WorkLimit, WorkLine } from "./workLine.ts";
import { WorkShares } from "./workShares.ts";

/** Files of this size take less than QUICK_MS, unless they are made to take more. */
const QUICK_BYTES = 2 * 2 ** 20;
/** Processor time, ms. */
const QUICK_MS = 1000;
/** A thread of low priority on a busy machine gets a fiftieth of a processor. */
const QUICK_PATIENCE = 50;

export interface ObjectReaderOptions {
  /** Processor time for one file, ms. */
  deadlineMs: number;
  /** JavaScript heap of each thread, MB. */
  memoryMb: number;
  nice: number;
  steps: StepsRunning;
  onError: (error: Error) => void;
}

export class ObjectReader {
  readonly #deadlineMs: number;
  readonly #shares = new WorkShares();
  readonly #quick: WorkLine;
  readonly #long: WorkLine;

  constructor({ deadlineMs, ...options }: ObjectReaderOptions) {
    this.#deadlineMs = deadlineMs;
    const usedOf = (address: string): number => this.#shares.of(address);
    this.#quick = new WorkLine({ ...options, usedOf });
    this.#long = new WorkLine({ ...options, usedOf });
  }

  /**
   * @param task its bytes go over to the thread, and are empty here from then on
   * @param by address that brings the file; empty for operators, who are served first
   * @throws WorkLimit, or the reader's error
   */
  async read(task: ReadObjectTask, by: string): Promise<ReadObjectResult | ObjectRefusal> {
    const isQuick = task.bytes.byteLength <= QUICK_BYTES && QUICK_MS < this.#deadlineMs;
    if (!isQuick) return this.#read(this.#long, task, by, { deadlineMs: this.#deadlineMs });
    const again = task.bytes.slice();
    try {
      return await this.#read(this.#quick, task, by, { deadlineMs: QUICK_MS, patience: QUICK_PATIENCE });
    } catch (error) {
      if (!(error instanceof WorkLimit)) throw error;
      return this.#read(this.#long, { ...task, bytes: again }, by, { deadlineMs: this.#deadlineMs });
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#long.close()]);
  }

  #read(
    line: WorkLine,
    task: ReadObjectTask,
    by: string,
    limits: { deadlineMs: number; patience?: number },
  ): Promise<ReadObjectResult | ObjectRefusal> {
    const { buffer } = task.bytes;
    // The thread says when it begins: its start is not the file's work.
    const beganMs = new Float64Array(new SharedArrayBuffer(8));
    return line.run(by, { ...task, beganMs } satisfies ReadObjectTask, {
      name: "readObject",
      ...limits,
      limit: "PLIANT_OBJECTS_DEADLINE_MS",
      moved: buffer instanceof ArrayBuffer ? [buffer] : [],
      beganMs,
      onWork: (ms) => by !== "" && this.#shares.charge(by, ms),
    });
  }
}
