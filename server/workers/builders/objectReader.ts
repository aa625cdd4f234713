/**
 * Reads visitors' files on two threads, fairly by processor time:
 *
 *     quick   files of at most QUICK_BYTES, with at most QUICK_MS of processor time each
 *     long    larger files, and files that exceeded QUICK_MS, up to the operator's deadline
 *
 * So a small file waits at most QUICK_MS for another one, however long files take on the other thread. On each thread
 * the address that has used least processor time is next (workShares.ts). A file that exceeds QUICK_MS is read again
 * from its beginning, which costs QUICK_MS.
 */
import type { ObjectRefusal, ReadObjectResult, ReadObjectTask } from "../messages.ts";
import type { StepsRunning } from "../stepping/stepsRunning.ts";
import { WorkLimit, WorkLine } from "./workLine.ts";
import { WorkShares } from "./workShares.ts";

/** A file of this size takes less than QUICK_MS, unless it is crafted to take more. */
const QUICK_BYTES = 2 * 2 ** 20;
/** Processor time limit of the quick thread, ms. */
const QUICK_MS = 1000;
/** Wall time limit as a multiple of QUICK_MS: a low-priority thread on a busy machine gets a fiftieth of a core. */
const QUICK_PATIENCE = 50;

export interface ObjectReaderOptions {
  /** Processor time limit of one file, ms. */
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
   * @param task its bytes are moved to the thread, so they are empty here afterwards
   * @param by address of the uploader; empty for operators, who are served first
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
    // The thread reports its processor time when it begins, so that its start-up is not charged to the file.
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
