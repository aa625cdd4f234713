/**
 * Builds scenes one after another in a thread of its own, which may take only so long and so much: a scene that cannot
 * be built in that costs its thread, and nobody else anything.
 */
import { Piscina } from "piscina";
import type { BuildResult, BuildTask } from "./messages.ts";

export interface BuilderOptions {
  /** A build that takes longer is ended, ms. */
  deadlineMs: number;
  /** JavaScript heap of the thread, MB; arrays of numbers lie beside it and keep to the limits of meshing/mesh.ts. */
  memoryMb: number;
  onError: (error: Error) => void;
}

const filename = new URL("./buildWorker.ts", import.meta.url).href;
/** The thread goes away when nothing has been built for this long, ms. */
const IDLE_MS = 30_000;

export class Builder {
  readonly #options: BuilderOptions;
  readonly #pool: Piscina;
  /** The end of the last build: the deadline is of the build alone, not of the wait before it. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: BuilderOptions) {
    const { memoryMb } = options;
    this.#options = options;
    this.#pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    this.#pool.on("error", (error: Error) => options.onError(error));
  }

  /** @throws what the build throws; Error naming the limit when it took too long or too much */
  build(task: BuildTask): Promise<BuildResult> {
    const done = this.#tail.then(() => this.#run(task));
    this.#tail = done.catch(() => {});
    return done;
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #run(task: BuildTask): Promise<BuildResult> {
    const { deadlineMs, memoryMb } = this.#options;
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return await this.#pool.run(task, { name: "build", signal });
    } catch (error) {
      if (signal.aborted)
        throw new Error(`it took longer than ${deadlineMs} ms (PLIANT_BUILD_DEADLINE_MS)`, { cause: error });
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
        throw new Error(`it took more than ${memoryMb} MB of heap (PLIANT_BUILD_MEMORY_MB)`, { cause: error });
      throw error;
    }
  }
}
