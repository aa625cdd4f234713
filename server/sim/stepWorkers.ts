/**
 * Several threads of its own for one room, for runs without a server (there they are borrowed: workers/crews.ts):
 * helpers sleep between ticks on H_ACTIVE, wake when the leader writes the tick's generation there, claim chunks until
 * it goes back to zero (kernel/assembly/step/step.ts). The result is the same for any number of threads.
 */
import { Worker } from "node:worker_threads";
import * as L from "../kernel/assembly/layout/layout.ts";
import { CrewWords } from "./schedulerWords.ts";
import type { Input, SimEvent, StageSeconds } from "./types.ts";
import type { SimWorld } from "./world.ts";

export interface CrewTask {
  memory: WebAssembly.Memory;
  /** Its row of the crew's words, and its spill area. */
  slot: number;
  scratch: number;
}

/** H_ACTIVE's value that sends helpers home for good. */
export const DISMISSED = -1;

export class Crew {
  private readonly world: SimWorld;
  private readonly words: CrewWords;
  private readonly workers: Worker[];
  private generation = 0;

  private constructor(world: SimWorld, memory: WebAssembly.Memory, workers: Worker[]) {
    this.world = world;
    this.words = new CrewWords(memory);
    this.workers = workers;
    world.helpers = workers.length > 0;
  }

  /** @param threads in all, the caller's included; 1 .. MAX_THREADS */
  static async hire(world: SimWorld, memory: WebAssembly.Memory, threads: number): Promise<Crew> {
    if (!Number.isInteger(threads) || threads < 1 || threads > L.MAX_THREADS)
      throw new RangeError(`threads: ${threads}, limit 1 to ${L.MAX_THREADS}`);
    const workers = Array.from({ length: threads - 1 }, (_, i) => {
      const workerData: CrewTask = { memory, slot: i + 1, scratch: CrewWords.scratch(world.layout, i + 1) };
      return new Worker(new URL("./stepWorker.ts", import.meta.url), { workerData });
    });
    await Promise.all(
      workers.map(
        (w) => new Promise<void>((resolve, reject) => w.once("message", () => resolve()).once("error", reject)),
      ),
    );
    return new Crew(world, memory, workers);
  }

  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] } {
    if (this.workers.length === 0) return this.world.step(inputs);
    this.generation = (this.generation % 0x3fffffff) + 1;
    this.words.open(this.generation);
    try {
      return this.world.step(inputs);
    } finally {
      this.words.close();
    }
  }

  /**
   * What the crew did in the last tick: threads that worked, chunks that were up to be claimed, those of them that
   * helpers did.
   */
  lastTick(): { threads: number; shared: number; helped: number } {
    return this.words.lastTick();
  }

  async dismiss(): Promise<void> {
    this.words.open(DISMISSED);
    await Promise.all(this.workers.map((w) => new Promise((resolve) => w.once("exit", resolve))));
    this.words.close();
    this.world.helpers = false;
  }
}
