/**
 * Builds scenes, builds scenes of what visitors bring along, each one after another in a thread, and has their files
 * read (objectReader.ts). All of it may take only so long and so much. What cannot be done in that costs its thread,
 * and nobody else anything. Addresses take turns: who wants many waits for them alone. Where there are fewer cores than
 * busy threads, rooms come first.
 */
import type { BuildResult, BuildTask, ObjectRefusal, ReadObjectResult, ReadObjectTask } from "./messages.ts";
import { ObjectReader } from "./objectReader.ts";
import type { StepsRunning } from "./stepsRunning.ts";
import { WorkLine } from "./workLine.ts";

export interface BuilderOptions {
  /** A build of which the processor does more is ended, ms. */
  deadlineMs: number;
  /** The same of an object that is read, ms. */
  readDeadlineMs: number;
  /**
   * JavaScript heap of a thread that builds, MB, and half of it of each that reads; arrays of numbers lie beside it
   * and keep to the limits of meshing/mesh.ts.
   */
  memoryMb: number;
  /** What objects are read and built behind. */
  steps: StepsRunning;
  onError: (error: Error) => void;
}

/** As of nice(1): a third of another thread's share, where they compete. Whoever opens a room waits for its scene. */
const BUILD_NICE = 5;
/**
 * A twentieth of another thread's share; for the process's own steps such work waits, too (stepsRunning.ts). Of
 * rooms on two cores 9 % of the ticks were late at 10 and 6 % at 16, before it did; at 19 a machine that is full of
 * other work builds nothing.
 */
const OBJECT_NICE = 14;
export class Builder {
  readonly #deadlineMs: number;
  readonly #builds: WorkLine;
  /** Of their own: files that are long to read, and scenes of them, keep nobody's room from being built. */
  readonly #reader: ObjectReader;
  readonly #objects: WorkLine;

  constructor({ deadlineMs, readDeadlineMs, memoryMb, steps, onError }: BuilderOptions) {
    this.#deadlineMs = deadlineMs;
    this.#builds = new WorkLine({ memoryMb, nice: BUILD_NICE, onError });
    this.#objects = new WorkLine({ memoryMb, nice: OBJECT_NICE, steps, onError });
    this.#reader = new ObjectReader({
      deadlineMs: readDeadlineMs,
      memoryMb: Math.ceil(memoryMb / 2),
      nice: OBJECT_NICE,
      steps,
      onError,
    });
  }

  /**
   * @param by for whom, as limits count addresses; absent: for the server itself
   * @throws what the build throws; WorkLimit naming the limit when it took too long or too much
   */
  build(task: BuildTask, by = ""): Promise<BuildResult> {
    const line = task.text === undefined ? this.#builds : this.#objects;
    return line.run(by, task, { name: "build", deadlineMs: this.#deadlineMs, limit: "PLIANT_BUILD_DEADLINE_MS" });
  }

  /**
   * @param task its bytes go over to the thread, and are empty here from then on
   * @param by as of `build`
   * @throws as `build`
   */
  readObject(task: ReadObjectTask, by = ""): Promise<ReadObjectResult | ObjectRefusal> {
    return this.#reader.read(task, by);
  }

  async close(): Promise<void> {
    await Promise.all([this.#builds, this.#reader, this.#objects].map((part) => part.close()));
  }
}
