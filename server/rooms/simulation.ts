/**
 * A room's simulation as the room sees it: steps that run on whatever thread is free, one task at a time, and what happens when a
 * thread is lost in the middle of one.
 *
 *     step rejects
 *     |-- busy flag clear: no worker had begun; the memory is whole -> `untouched`, the same inputs run with the next tick
 *     `-- busy flag set: the memory is torn (crash, exception or deadline in the middle of a step)
 *         |-- fewer than 4 times in 10 s: a fresh copy of the template -> `restored`
 *         `-- else the scene itself is broken -> throws; the room closes
 */
import type { Input } from "../sim/types.ts";
import { FrameState } from "../workers/frameState.ts";
import type { InspectResult, RoomHandle, StepResult, StepTask } from "../workers/messages.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./sceneLibrary.ts";

export type StepOutcome =
  | { kind: "stepped"; result: StepResult; roundTripSeconds: number }
  | { kind: "untouched"; error: unknown }
  | { kind: "restored"; error: unknown };

const RESTORES_ALLOWED = 3;
const RESTORE_WINDOW_MS = 10_000;

let handlesMade = 0;

export class RoomSimulation {
  readonly #template: SceneTemplate;
  readonly #pool: RoomPool;
  #handle: RoomHandle;
  /** The end of the last task: every task waits for it, so two never run at once. */
  #tail: Promise<unknown> = Promise.resolve();
  #restoresMs: number[] = [];

  private constructor(template: SceneTemplate, pool: RoomPool, handle: RoomHandle) {
    this.#template = template;
    this.#pool = pool;
    this.#handle = handle;
  }

  /** Copies the template into a memory of its own. */
  static async open(template: SceneTemplate, pool: RoomPool): Promise<RoomSimulation> {
    return new RoomSimulation(template, pool, await openHandle(template, pool));
  }

  /** Runs one tick. @throws when the room is beyond help */
  step(task: Omit<StepTask, "room"> & { inputs: Input[] }): Promise<StepOutcome> {
    return this.#exclusive(async () => {
      const startMs = performance.now();
      try {
        const result = await this.#pool.step({ room: this.#handle, ...task });
        return { kind: "stepped", result, roundTripSeconds: (performance.now() - startMs) / 1000 };
      } catch (error) {
        if (!new FrameState(this.#handle.frames).busy) return { kind: "untouched", error };
        await this.#restore(error);
        return { kind: "restored", error };
      }
    });
  }

  /** Looks at the state between two ticks. */
  inspect(): Promise<InspectResult> {
    return this.#exclusive(() => this.#pool.inspect({ room: this.#handle }));
  }

  /** Waits for what runs, then ends a dedicated pool. */
  async close(): Promise<void> {
    await this.#tail;
    await this.#pool.release();
  }

  async #restore(cause: unknown): Promise<void> {
    const nowMs = performance.now();
    this.#restoresMs = [...this.#restoresMs.filter((at) => nowMs - at < RESTORE_WINDOW_MS), nowMs];
    if (this.#restoresMs.length > RESTORES_ALLOWED) throw new Error(`step failed ${this.#restoresMs.length} times in ${RESTORE_WINDOW_MS / 1000} s`, { cause });
    this.#handle = await openHandle(this.#template, this.#pool);
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }
}

async function openHandle(template: SceneTemplate, pool: RoomPool): Promise<RoomHandle> {
  const { memory, frames } = await pool.open({ template: template.memory, layout: template.layout });
  handlesMade += 1;
  const { layout, topology, topologyHash } = template;
  return { key: `room-${handlesMade}`, memory, frames, layout, topology, topologyHash };
}
