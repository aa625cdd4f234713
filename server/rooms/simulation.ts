/**
 * A room's simulation as the room sees it: steps that run on whatever thread is free, one task at a time, and what
 * happens when a thread is lost in the middle of one.
 *
 *     step rejects
 *     |-- StepDropped: it has not begun, and the thread is well -> `dropped`
 *     |-- busy flag clear, tick of the memory before the step's: no worker had begun; the memory is whole ->
 *     `untouched`, the same inputs run with the next tick
 *     `-- busy flag set: the memory is torn (crash, exception or deadline in the middle of a step); or the step was
 *     done, and what it said was lost with its thread
 *         |-- fewer than 4 times in 10 s: a fresh memory, made from what the room's history says -> `rebuilt`
 *         `-- else, or when the history has nothing more to offer -> throws Hopeless; the room is parked, or closes
 */
import { Hopeless } from "../persistence/checkpointPolicy.ts";
import type { Rebuild } from "../persistence/history.ts";
import { FrameState } from "../workers/frameState.ts";
import { type MemoryUse, memoryUse } from "../workers/memoryUse.ts";
import { StepDropped } from "../workers/stepThread.ts";
import type { InspectResult, ReplayResult, RoomHandle, SavedState, StepResult, StepTask } from "../workers/messages.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./sceneLibrary.ts";

/** What a simulation needs of its scene. */
type SteppedTemplate = Omit<SceneTemplate, "scene" | "text" | "shapes" | "identity" | "shape" | "budget">;

export type Rebuilt = ReplayResult & { seconds: number };

export type StepOutcome =
  | { kind: "stepped"; result: StepResult; roundTripSeconds: number }
  | { kind: "untouched"; error: unknown }
  /** It made way for another task, or its time was over. */
  | { kind: "dropped" }
  | { kind: "rebuilt"; error: unknown; rebuilt: Rebuilt };

interface SentFrame {
  tick: number;
  /** int32[3 * streamedParticles], in units of each body's quantum. */
  points: Int32Array;
}

const REBUILDS_ALLOWED = 3;
const REBUILD_WINDOW_MS = 10_000;
/** Ticks are stepped again for so long at once, ms: other rooms' ticks wait for the thread meanwhile. */
const SLICE_MS = 8;

let handlesMade = 0;

export class RoomSimulation {
  readonly #template: SteppedTemplate;
  readonly #pool: RoomPool;
  #handle: RoomHandle;
  /**
   * The end of the last task: every task waits for it, so two never run at once. A step that has not begun makes way.
   */
  #tail: Promise<unknown> = Promise.resolve();
  /** Tasks that wait for a step. */
  #others = 0;
  #tornMs: number[] = [];

  private constructor(template: SteppedTemplate, pool: RoomPool, handle: RoomHandle) {
    this.#template = template;
    this.#pool = pool;
    this.#handle = handle;
  }

  /** Copies the template into a memory of its own. */
  static async open(template: SteppedTemplate, pool: RoomPool): Promise<RoomSimulation> {
    return new RoomSimulation(template, pool, await openHandle(template, pool));
  }

  /** Of a room that was before. */
  static async restore(
    template: SteppedTemplate,
    pool: RoomPool,
    plan: Rebuild,
  ): Promise<{ simulation: RoomSimulation; rebuilt: Rebuilt }> {
    const { handle, rebuilt } = await rebuild(template, pool, plan);
    return { simulation: new RoomSimulation(template, pool, handle), rebuilt };
  }

  /**
   * Runs one tick.
   * @param recover asked when the memory is torn: what to make a new one from
   * @throws Hopeless
   */
  step(task: Omit<StepTask, "room">, recover: () => Rebuild): Promise<StepOutcome> {
    return this.#inTurn(async () => {
      if (this.#others > 0) return { kind: "dropped" };
      const fromMs = Math.max(task.dueMs ?? 0, performance.now());
      try {
        const result = await this.#pool.step({ room: this.#handle, ...task });
        return { kind: "stepped", result, roundTripSeconds: (performance.now() - fromMs) / 1000 };
      } catch (error) {
        if (error instanceof StepDropped) return { kind: "dropped" };
        const { busy, tick } = new FrameState(this.#handle.frames);
        if (!busy && tick < task.tick) return { kind: "untouched", error };
        return { kind: "rebuilt", error, rebuilt: await this.#recover(error, recover) };
      }
    });
  }

  /** The room's state between two ticks. @param recover as of `step`: taking it failed and may have left its mark. */
  save(recover: () => Rebuild): Promise<SavedState | Rebuilt> {
    return this.#exclusive(async () => {
      try {
        return await this.#pool.save({ room: this.#handle });
      } catch (error) {
        return this.#recover(error, recover);
      }
    });
  }

  /**
   * Another state, in a memory of its own; the old one is forgotten when the new one is whole.
   * @param plan is asked when nothing else runs
   */
  rebuild(plan: () => Rebuild): Promise<Rebuilt> {
    return this.#exclusive(() => this.#rebuild(plan()));
  }

  /** Of its state: what the room has for itself, beside what all rooms of its scene share. */
  get memory(): MemoryUse {
    const { memory, frames } = this.#handle;
    const { reserved, used, ...rest } = memoryUse(memory);
    return { reserved: reserved + frames.byteLength, used: used + frames.byteLength, ...rest };
  }

  /**
   * What was encoded last, taken while ticks go on: should one end just now, some of it is of the frame before. Null:
   * nothing yet.
   */
  get sentFrame(): SentFrame | null {
    const { frameTick, frame } = new FrameState(this.#handle.frames);
    return frameTick < 0 ? null : { tick: frameTick, points: Int32Array.from(frame) };
  }

  /** Looks at the state between two ticks. */
  inspect(): Promise<InspectResult> {
    return this.#exclusive(() => this.#pool.inspect({ room: this.#handle }));
  }

  /** Waits for what runs, then ends a dedicated pool. */
  async close(): Promise<void> {
    await this.#exclusive(async () => {});
    await this.#pool.release();
  }

  /** The thread may be lost again while it makes up for the loss of another. */
  async #recover(cause: unknown, plan: () => Rebuild): Promise<Rebuilt> {
    const nowMs = performance.now();
    this.#tornMs = [...this.#tornMs.filter((at) => nowMs - at < REBUILD_WINDOW_MS), nowMs];
    if (this.#tornMs.length > REBUILDS_ALLOWED)
      throw new Hopeless(`step failed ${this.#tornMs.length} times in ${REBUILD_WINDOW_MS / 1000} s`, { cause });
    const next = plan();
    try {
      return await this.#rebuild(next);
    } catch (error) {
      return this.#recover(error, plan);
    }
  }

  async #rebuild(plan: Rebuild): Promise<Rebuilt> {
    const { handle, rebuilt } = await rebuild(this.#template, this.#pool, plan);
    this.#handle = handle;
    this.#pool.memoryEnded();
    return rebuilt;
  }

  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#others += 1;
    this.#pool.withdraw(this.#handle);
    try {
      return await this.#inTurn(work);
    } finally {
      this.#others -= 1;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => {});
    return done;
  }
}

async function openHandle(template: SteppedTemplate, pool: RoomPool, state?: Uint8Array): Promise<RoomHandle> {
  const { memory, frames } = await pool.open({
    template: template.memory,
    filled: template.filled,
    layout: template.layout,
    ...(state && { state }),
  });
  handlesMade += 1;
  const { layout, topology, topologyHash } = template;
  return { key: `room-${handlesMade}`, memory, template: template.memory, frames, layout, topology, topologyHash };
}

/** A memory as of `from`, stepped again to `until`. */
async function rebuild(
  template: SteppedTemplate,
  pool: RoomPool,
  { state, from, until, records, hashes = [], fresh }: Rebuild,
): Promise<{ handle: RoomHandle; rebuilt: Rebuilt }> {
  const startMs = performance.now();
  const handle = await openHandle(template, pool, state);
  let done: ReplayResult;
  let differs: ReplayResult["differs"] = null;
  let tick = from;
  do {
    const after = tick;
    done = await pool.replay({
      room: handle,
      records: records.filter((record) => record.tick > after),
      // The first one is of the tick that it begins with.
      hashes: hashes.filter((hash) => hash.tick > after || after === from),
      until,
      fresh,
      sliceMs: SLICE_MS,
    });
    tick = done.tick;
    differs ??= done.differs;
  } while (tick < until);
  return { handle, rebuilt: { ...done, differs, ticks: until - from, seconds: (performance.now() - startMs) / 1000 } };
}
