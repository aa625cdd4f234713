/**
 * Helper threads of one room, for runs without a server (a server shares its helpers:
 * workers/schedule/taskScheduler.ts). Helpers sleep on H_ACTIVE between ticks, and wake when the orchestrator writes
 * the tick's generation there. They claim chunks until it is zero again (kernel/assembly/step/step.ts). The result is
 * the same for any number of threads.
 */
import { Worker } from "node:worker_threads";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { SchedulerWords } from "./schedulerWords.ts";
import type { Input, SimEvent, StageSeconds } from "../types.ts";
import type { SimWorld } from "../world.ts";

export interface StepWorkerTask {
  memory: WebAssembly.Memory;
  /** Row of this helper in the scheduler's words, and address of its spill area. */
  slot: number;
  scratch: number;
}

/** Value of H_ACTIVE that ends the helper threads. */
export const DISMISSED = -1;

export class StepWorkers {
  private readonly world: SimWorld;
  private readonly words: SchedulerWords;
  private readonly workers: Worker[];
  private generation = 0;

  private constructor(world: SimWorld, memory: WebAssembly.Memory, workers: Worker[]) {
    this.world = world;
    this.words = new SchedulerWords(memory);
    this.workers = workers;
    world.helpers = workers.length > 0;
  }

  /** @param threads total, including the caller's; 1 .. MAX_THREADS */
  static async start(world: SimWorld, memory: WebAssembly.Memory, threads: number): Promise<StepWorkers> {
    if (!Number.isInteger(threads) || threads < 1 || threads > L.MAX_THREADS)
      throw new RangeError(`threads: ${threads}, limit 1 to ${L.MAX_THREADS}`);
    const workers = Array.from({ length: threads - 1 }, (_, i) => {
      const workerData: StepWorkerTask = { memory, slot: i + 1, scratch: SchedulerWords.scratch(world.layout, i + 1) };
      return new Worker(new URL("./stepWorker.ts", import.meta.url), { workerData });
    });
    await Promise.all(
      workers.map(
        (w) => new Promise<void>((resolve, reject) => w.once("message", () => resolve()).once("error", reject)),
      ),
    );
    return new StepWorkers(world, memory, workers);
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
   * Work of orchestrator and helpers in the last tick: working threads, chunks that helpers could claim, and chunks
   * that they did.
   */
  lastTick(): { threads: number; shared: number; helped: number } {
    return this.words.lastTick();
  }

  async stop(): Promise<void> {
    this.words.open(DISMISSED);
    await Promise.all(this.workers.map((w) => new Promise((resolve) => w.once("exit", resolve))));
    this.words.close();
    this.world.helpers = false;
  }
}
