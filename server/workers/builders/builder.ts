/**
 * Builds scenes, and scenes of visitors' objects, each kind on one thread, and reads object files (objectReader.ts).
 * All work has limits of time and memory. Work that exceeds them loses its thread, but no other work does. Addresses
 * take turns, so many tasks of one address delay only that address. If there are fewer cores than busy threads, rooms
 * have priority.
 */
import type { BuildResult, BuildTask, ObjectRefusal, ReadObjectResult, ReadObjectTask } from "../messages.ts";
import { ObjectReader } from "./objectReader.ts";
import type { StepsRunning } from "../stepping/stepsRunning.ts";
import { WorkLine } from "./workLine.ts";

export interface BuilderOptions {
  /** Processor time limit of a build, ms. */
  deadlineMs: number;
  /** Processor time limit of reading an object, ms. */
  readDeadlineMs: number;
  /**
   * JavaScript heap of each building thread, MB; each reading thread has half of it. Arrays of numbers are outside the
   * heap, limited by meshing/mesh.ts.
   */
  memoryMb: number;
  /** Running steps, which reading and building of objects wait for. */
  steps: StepsRunning;
  onError: (error: Error) => void;
}

/** nice(1) increment: a third of another thread's share under contention, because a visitor waits for the scene. */
const BUILD_NICE = 5;
/**
 * nice(1) increment: a twentieth of another thread's share. The work also waits for the process's own steps
 * (stepsRunning.ts). Before it did, on two cores 9 % of the rooms' ticks were late at 10, and 6 % at 16. At 19, nothing
 * is built on a machine that is busy with other work.
 */
const OBJECT_NICE = 14;
export class Builder {
  readonly #deadlineMs: number;
  readonly #builds: WorkLine;
  /** Separate threads, so that slow files and scenes of them do not delay the building of rooms. */
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
   * @param by address that the work is charged to, as limits count it; absent: the server itself
   * @throws the error of the build; WorkLimit that names the exceeded limit
   */
  build(task: BuildTask, by = ""): Promise<BuildResult> {
    const line = task.text === undefined ? this.#builds : this.#objects;
    return line.run(by, task, { name: "build", deadlineMs: this.#deadlineMs, limit: "PLIANT_BUILD_DEADLINE_MS" });
  }

  /**
   * @param task its bytes are moved to the thread, so they are empty here afterwards
   * @param by as for `build`
   * @throws as `build` does
   */
  readObject(task: ReadObjectTask, by = ""): Promise<ReadObjectResult | ObjectRefusal> {
    return this.#reader.read(task, by);
  }

  async close(): Promise<void> {
    await Promise.all([this.#builds, this.#reader, this.#objects].map((part) => part.close()));
  }
}
