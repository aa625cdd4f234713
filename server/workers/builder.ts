/**
 * Builds scenes, reads what visitors bring along, and builds scenes of it: one after another in a thread for each of
 * the three, which may take only so long and so much. What cannot be done in that costs its thread, and nobody else
 * anything. Addresses take turns: who wants many waits for them alone. Where there are fewer cores than busy threads,
 * rooms come first.
 */
import { Piscina } from "piscina";
import { Turns } from "../../shared/turns.ts";
import type {
  BuildResult,
  BuildTask,
  BuildThreadData,
  ObjectRefusal,
  ReadObjectResult,
  ReadObjectTask,
} from "./messages.ts";
import type { StepsRunning } from "./stepsRunning.ts";
import { runWithin, TookTooLong } from "./workDeadline.ts";

export interface BuilderOptions {
  /** A build of which the processor does more is ended, ms. */
  deadlineMs: number;
  /** The same of an object that is read, ms. */
  readDeadlineMs: number;
  /**
   * JavaScript heap of a thread that builds, MB, and half of it of the one that reads; arrays of numbers lie beside it
   * and keep to the limits of meshing/mesh.ts.
   */
  memoryMb: number;
  /** What objects are read and built behind. */
  steps: StepsRunning;
  onError: (error: Error) => void;
}

const filename = new URL("./buildWorker.ts", import.meta.url).href;
/** As of nice(1): a third of another thread's share, where they compete. Whoever opens a room waits for its scene. */
const BUILD_NICE = 5;
/**
 * A twentieth of another thread's share; for the process's own steps such work waits, too (stepsRunning.ts). Of
 * rooms on two cores 9 % of the ticks were late at 10 and 6 % at 16, before it did; at 19 a machine that is full of
 * other work builds nothing.
 */
const OBJECT_NICE = 14;
/** The thread goes away when nothing has been built for this long, ms. */
const IDLE_MS = 30_000;

/** It took longer, or more memory, than it may. */
class BuildLimit extends Error {}

/** A thread and who waits for it. */
class Line {
  readonly #options: BuilderOptions;
  readonly #pool: Piscina;
  /** The deadline is of the work alone: neither of the wait before it, nor of that for a processor. */
  readonly #turns = new Turns(1);

  /** @param steps what goes first */
  constructor(options: BuilderOptions, nice: number, steps?: StepsRunning) {
    const { memoryMb } = options;
    this.#options = options;
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
    try {
      return await runWithin<T>(this.#pool, task, { name, deadlineMs, moved });
    } catch (error) {
      if (error instanceof TookTooLong) throw new BuildLimit(`${error.message} (${limit})`, { cause: error });
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
  /** Of their own: files that are long to read, and scenes of them, keep nobody's room from being built. */
  readonly #reads: Line;
  readonly #objects: Line;

  constructor(options: BuilderOptions) {
    this.#options = options;
    this.#builds = new Line(options, BUILD_NICE);
    this.#reads = new Line({ ...options, memoryMb: Math.ceil(options.memoryMb / 2) }, OBJECT_NICE, options.steps);
    this.#objects = new Line(options, OBJECT_NICE, options.steps);
  }

  /**
   * @param by for whom, as limits count addresses; absent: for the server itself
   * @throws what the build throws; Error naming the limit when it took too long or too much
   */
  build(task: BuildTask, by = ""): Promise<BuildResult> {
    const { deadlineMs } = this.#options;
    const line = task.text === undefined ? this.#builds : this.#objects;
    return line.run("build", task, by, { deadlineMs, limit: "PLIANT_BUILD_DEADLINE_MS" });
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
    await Promise.all([this.#builds, this.#reads, this.#objects].map((line) => line.close()));
  }
}
