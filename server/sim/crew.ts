/**
 * Several threads for one room: helpers sleep between ticks on H_ACTIVE, wake when the leader writes the tick's generation there, claim
 * chunks until it goes back to zero (kernel/assembly/crew.ts). The result is the same for any number of threads.
 */
import { Worker } from "node:worker_threads";
import * as L from "../kernel/assembly/layout.ts";
import type { Input, SimEvent, StageSeconds } from "./types.ts";
import type { SimWorld } from "./world.ts";

export interface CrewTask {
  memory: WebAssembly.Memory;
  /** This helper's spill area. */
  scratch: number;
}

/** H_ACTIVE's value that sends helpers home for good. */
export const DISMISSED = -1;

export class Crew {
  private readonly world: SimWorld;
  private readonly words: Int32Array;
  private readonly workers: Worker[];
  private generation = 0;

  private constructor(world: SimWorld, memory: WebAssembly.Memory, workers: Worker[]) {
    this.world = world;
    this.words = new Int32Array(memory.buffer);
    this.workers = workers;
    world.helpers = workers.length > 0;
  }

  /** @param threads in all, the caller's included; 1 .. MAX_THREADS */
  static async hire(world: SimWorld, memory: WebAssembly.Memory, threads: number): Promise<Crew> {
    if (!Number.isInteger(threads) || threads < 1 || threads > L.MAX_THREADS) throw new RangeError(`threads: ${threads}, limit 1 to ${L.MAX_THREADS}`);
    const workers = Array.from({ length: threads - 1 }, (_, i) => {
      const workerData: CrewTask = { memory, scratch: world.layout.scratch + (i + 1) * L.SCRATCH_BYTES };
      return new Worker(new URL("./crewWorker.ts", import.meta.url), { workerData });
    });
    await Promise.all(workers.map((w) => new Promise<void>((resolve, reject) => w.once("message", () => resolve()).once("error", reject))));
    return new Crew(world, memory, workers);
  }

  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] } {
    if (this.workers.length === 0) return this.world.step(inputs);
    const active = (L.HEADER + L.H_ACTIVE) / 4;
    this.generation = (this.generation % 0x3fffffff) + 1;
    Atomics.store(this.words, active, this.generation);
    Atomics.notify(this.words, active);
    try {
      return this.world.step(inputs);
    } finally {
      Atomics.store(this.words, active, 0);
    }
  }

  async dismiss(): Promise<void> {
    const active = (L.HEADER + L.H_ACTIVE) / 4;
    Atomics.store(this.words, active, DISMISSED);
    Atomics.notify(this.words, active);
    await Promise.all(this.workers.map((w) => new Promise((resolve) => w.once("exit", resolve))));
    Atomics.store(this.words, active, 0);
    this.world.helpers = false;
  }
}
