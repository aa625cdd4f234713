/**
 * A room's simulation as the room sees it: steps that run on whatever thread is free, one task at a time, and what
 * happens when a thread is lost in the middle of one.
 *
 *     step rejects
 *     |-- StepDropped: it has not begun, and the thread is well -> `dropped`
 *     |-- busy flag clear, tick of the memory before the step's: no worker had begun; the memory is whole ->
 *     `untouched`, the same inputs run with the next tick
 *     `-- busy flag set: the memory is torn (crash, exception or a stuck thread in the middle of a step); or the step
 *     was done, and what it said was lost with its thread
 *         |-- the thread executed another room then: a fresh memory, made from what the room's history says ->
 *         `rebuilt`, and nothing is charged
 *         |-- else the loss is charged: `rebuilt`; the room that is charged too often makes its next tick on a thread
 *         of its own (persistence/checkpointPolicy.ts)
 *         `-- that is lost, too -> throws Hopeless; the room is parked, or closes
 */
import type { Rebuild } from "../persistence/history.ts";
import { FrameState } from "../workers/frameState.ts";
import { type MemoryUse, memoryUse } from "../workers/memoryUse.ts";
import { StepDropped } from "../workers/stepThread.ts";
import { isCharged } from "../workers/threadLost.ts";
import type { InspectResult, ReplayResult, RoomHandle, SavedState, StepResult, StepTask } from "../workers/messages.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./sceneLibrary.ts";

/** What a simulation needs of its scene. */
type SteppedTemplate = Omit<SceneTemplate, "scene" | "text" | "shapes" | "identity" | "shape" | "budget">;

/** What a room is made from again after a loss. `alone`: its next tick runs on a thread of its own. */
export type Recover = (charged: boolean) => Rebuild & { alone?: boolean };

export type Rebuilt = ReplayResult & { seconds: number };

/** A loss, and the room made again after it. */
export interface Recovered {
  error: unknown;
  rebuilt: Rebuilt;
}

export type StepOutcome =
  | { kind: "stepped"; result: StepResult; roundTripSeconds: number }
  | { kind: "untouched"; error: unknown }
  /** It made way for another task, or its time was over. */
  | { kind: "dropped" }
  | ({ kind: "rebuilt" } & Recovered);

interface SentFrame {
  tick: number;
  /** int32[3 * streamedParticles], in units of each body's quantum. */
  points: Int32Array;
}

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
  /** What it does until its next tick has come to its end is done alone. */
  #isTried = false;
  /** The place of the last step: the room's pool, or a thread of its own. */
  #stepsAt: RoomPool;
  readonly #closing = new AbortController();

  private constructor(template: SteppedTemplate, pool: RoomPool, handle: RoomHandle) {
    this.#template = template;
    this.#pool = this.#stepsAt = pool;
    this.#handle = handle;
  }

  /** Copies the template into a memory of its own. */
  static async open(template: SteppedTemplate, pool: RoomPool): Promise<RoomSimulation> {
    return new RoomSimulation(template, pool, await unlessCharged(() => openHandle(template, pool)));
  }

  /** Of a room that was before. */
  static async restore(
    template: SteppedTemplate,
    pool: RoomPool,
    plan: Rebuild,
  ): Promise<{ simulation: RoomSimulation; rebuilt: Rebuilt }> {
    const { handle, rebuilt } = await unlessCharged(() => rebuild(template, pool, plan));
    return { simulation: new RoomSimulation(template, pool, handle), rebuilt };
  }

  /**
   * Runs one tick.
   * @param recover asked when the memory is torn: what to make a new one from
   * @throws what `recover` throws; anything if the room is closed meanwhile
   */
  step(task: Omit<StepTask, "room">, recover: Recover): Promise<StepOutcome> {
    return this.#inTurn(async () => {
      if (this.#others > 0) return { kind: "dropped" };
      const fromMs = Math.max(task.dueMs ?? 0, performance.now());
      try {
        const result = await this.#at((pool) => {
          // Others may have come while it waited for a thread of its own.
          if (this.#others > 0) throw new StepDropped("others wait for the room");
          this.#stepsAt = pool;
          return pool.step({ room: this.#handle, ...task });
        });
        this.#isTried = false;
        return { kind: "stepped", result, roundTripSeconds: (performance.now() - fromMs) / 1000 };
      } catch (error) {
        if (error instanceof StepDropped) return { kind: "dropped" };
        const { busy, tick } = new FrameState(this.#handle.frames);
        if (!busy && tick < task.tick) return { kind: "untouched", error };
        return { kind: "rebuilt", ...(await this.#recover(error, recover)) };
      }
    });
  }

  /** The room's state between two ticks. @param recover as of `step`: taking it failed and may have left its mark. */
  save(recover: Recover): Promise<SavedState | Recovered> {
    return this.#exclusive(async () => {
      try {
        return await this.#at((pool) => pool.save({ room: this.#handle }));
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
    return this.#exclusive(() => unlessCharged(() => this.#rebuild(plan())));
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
    this.#closing.abort();
    await this.#exclusive(async () => {});
    await this.#pool.release();
  }

  /** Does work in the room's pool or, while it is tried, on a thread of its own. */
  async #at<T>(work: (pool: RoomPool) => Promise<T>): Promise<T> {
    if (!this.#isTried) return work(this.#pool);
    const pool = await this.#pool.alone(this.#closing.signal);
    try {
      return await work(pool);
    } finally {
      await pool.release();
    }
  }

  /** The thread may be lost again while it makes up for another's loss. A room that closes is charged nothing. */
  async #recover(cause: unknown, recover: Recover): Promise<Recovered> {
    for (let error = cause; ; ) {
      this.#closing.signal.throwIfAborted();
      const { alone = false, ...plan } = recover(isCharged(error));
      try {
        this.#isTried = alone;
        return { error: cause, rebuilt: await this.#rebuild(plan) };
      } catch (again) {
        error = again;
      }
    }
  }

  async #rebuild(plan: Rebuild): Promise<Rebuilt> {
    const { handle, rebuilt } = await this.#at((pool) => rebuild(this.#template, pool, plan));
    this.#handle = handle;
    this.#pool.memoryEnded();
    return rebuilt;
  }

  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#others += 1;
    this.#stepsAt.withdraw(this.#handle);
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

/** Does the work again if its thread was lost in the work of another room. */
async function unlessCharged<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isCharged(error)) throw error;
    }
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
