/**
 * Builds scenes, and reads what visitors bring along, one after another in a thread for each of the two, which may take
 * only so long and so much: what cannot be done in that costs its thread, and nobody else anything. Addresses take
 * turns: who wants many waits for them alone. Where there are fewer cores than busy threads, rooms come first.
 */
import { Piscina } from "piscina";
import { Turns } from "../../shared/turns.ts";
import type { BuildResult, BuildTask, ObjectRefusal, ReadObjectResult, ReadObjectTask } from "./messages.ts";

export interface BuilderOptions {
  /** A build that takes longer is ended, ms. */
  deadlineMs: number;
  /** An object that takes longer to read is not read, ms. */
  readDeadlineMs: number;
  /**
   * JavaScript heap of the thread that builds, MB, and half of it of the one that reads, so that both at once fit into
   * the machine; arrays of numbers lie beside it and keep to the limits of meshing/mesh.ts.
   */
  memoryMb: number;
  onError: (error: Error) => void;
}

const filename = new URL("./buildWorker.ts", import.meta.url).href;
/**
 * As of nice(1): a third of another thread's share, where they compete. At 10, a tenth, a machine that is full of other
 * work lets a small file wait for its deadline.
 */
const BUILD_NICE = 5;
/** The thread goes away when nothing has been built for this long, ms. */
const IDLE_MS = 30_000;

/** It took longer, or more memory, than it may. */
class BuildLimit extends Error {}

/** A thread and who waits for it. */
class Line {
  readonly #options: BuilderOptions;
  readonly #pool: Piscina;
  /** The deadline is of the work alone, not of the wait before it. */
  readonly #turns = new Turns(1);

  constructor(options: BuilderOptions) {
    const { memoryMb } = options;
    this.#options = options;
    this.#pool = new Piscina({
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      niceIncrement: BUILD_NICE,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    this.#pool.on("error", (error: Error) => options.onError(error));
  }

  run<T>(name: "build" | "readObject", task: object, by: string, limits: Limits): Promise<T> {
    return this.#turns.run(by, () => this.#run<T>(name, task, limits));
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #run<T>(name: string, task: object, { deadlineMs, limit, moved = [] }: Limits): Promise<T> {
    const { memoryMb } = this.#options;
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      return (await this.#pool.run(task, { name, signal, transferList: moved })) as T;
    } catch (error) {
      if (signal.aborted) throw new BuildLimit(`it took longer than ${deadlineMs} ms (${limit})`, { cause: error });
      if ((error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY")
        throw new BuildLimit(`it took more than ${memoryMb} MB of heap (by PLIANT_BUILD_MEMORY_MB)`, { cause: error });
      throw error;
    }
  }
}

interface Limits {
  deadlineMs: number;
  /** Its name. */
  limit: string;
  /** What goes over to the thread instead of being copied. */
  moved?: ArrayBuffer[];
}

export class Builder {
  readonly #options: BuilderOptions;
  readonly #builds: Line;
  /** Of its own: files that are long to read keep nobody's room from being built. */
  readonly #reads: Line;

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#builds = new Line(options);
    this.#reads = new Line({ ...options, memoryMb: Math.ceil(options.memoryMb / 2) });
  }

  /**
   * @param by for whom, as limits count addresses; absent: for the server itself
   * @throws what the build throws; Error naming the limit when it took too long or too much
   */
  build(task: BuildTask, by = ""): Promise<BuildResult> {
    const { deadlineMs } = this.#options;
    return this.#builds.run("build", task, by, { deadlineMs, limit: "PLIANT_BUILD_DEADLINE_MS" });
  }

  /**
   * @param task its bytes go over to the thread, and are empty here from then on
   * @param by as of `build`
   * @throws as `build`
   */
  readObject(task: ReadObjectTask, by = ""): Promise<ReadObjectResult | ObjectRefusal> {
    const { buffer } = task.bytes;
    const limits = { deadlineMs: this.#options.readDeadlineMs, limit: "PLIANT_OBJECTS_DEADLINE_MS" };
    const moved = buffer instanceof ArrayBuffer ? [buffer] : [];
    return this.#reads.run("readObject", task, by, { ...limits, moved });
  }

  async close(): Promise<void> {
    await Promise.all([this.#builds.close(), this.#reads.close()]);
  }
}
