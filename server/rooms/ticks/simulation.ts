/**
 * A room's simulation as the room uses it: runs one task at a time on any free thread, and rebuilds the room if a
 * thread is lost during a task.
 *
 *     step rejects
 *     |-- StepDropped: the step has not begun, and the thread is healthy -> `dropped`
 *     |-- busy flag clear and the memory's tick is before the step's: no worker had begun, the memory is intact ->
 *     `untouched`: the same inputs run with the next tick
 *     `-- busy flag set: the memory is torn (a crash, an exception or a stuck thread during a step); or the step was
 *     done, but its result was lost with the thread
 *         |-- the thread was executing another room: rebuild from the history into a fresh memory -> `rebuilt`,
 *         without a charge
 *         |-- otherwise the loss is charged to this room: `rebuilt`. After too many charges the room's next tick runs
 *         on its own thread (persistence/checkpointPolicy.ts)
 *         `-- that thread is lost, too -> throws RecoveryExhausted; the room is quarantined, or closes
 */
import type { Rebuild } from "../../persistence/history.ts";
import { FrameState } from "../../workers/stepping/frameState.ts";
import { type MemoryUse, memoryUse } from "../../workers/memoryUse.ts";
import { StepDropped } from "../../workers/stepping/stepThread.ts";
import { isCharged } from "../../workers/threadLost.ts";
import type {
  InspectResult,
  ReplayResult,
  RoomHandle,
  SavedState,
  StepResult,
  StepTask,
} from "../../workers/messages.ts";
import type { RoomPool } from "../../workers/pool.ts";
import type { SceneTemplate } from "../scenes/sceneLibrary.ts";

/** The parts of a scene template that a simulation uses. */
type SteppedTemplate = Omit<SceneTemplate, "scene" | "text" | "shapes" | "identity" | "shape" | "budget">;

/** Chooses the state to rebuild a room from after a loss. `alone`: its next tick runs on its own thread. */
export type Recover = (charged: boolean) => Rebuild & { alone?: boolean };

export type Rebuilt = ReplayResult & { seconds: number };

/** A thread loss and the rebuilt room. */
export interface Recovered {
  error: unknown;
  rebuilt: Rebuilt;
}

export type StepOutcome =
  | { kind: "stepped"; result: StepResult; roundTripSeconds: number }
  | { kind: "untouched"; error: unknown }
  /** The step made way for another task, or its deadline passed. */
  | { kind: "dropped" }
  | ({ kind: "rebuilt" } & Recovered);

interface SentFrame {
  tick: number;
  /** int32[3 * streamedParticles], in units of each body's quantum. */
  points: Int32Array;
}

/** Longest slice of replayed ticks, ms: other rooms' ticks wait for the thread meanwhile. */
const SLICE_MS = 8;

/** Keeps no result of a task until the next one. */
const NOTHING = (): void => {};

let handlesMade = 0;

export class RoomSimulation {
  readonly #template: SteppedTemplate;
  readonly #pool: RoomPool;
  #handle: RoomHandle;
  /**
   * End of the last task. Each task waits for it, so that two never run at once. A step that has not begun makes way.
   */
  #tail: Promise<unknown> = Promise.resolve();
  /** Number of tasks that wait for a step to end. */
  #others = 0;
  /** The room runs on its own thread until its next tick has ended. */
  #isTried = false;
  /** Pool of the last step: the room's pool, or its own thread. */
  #stepsAt: RoomPool;
  readonly #closing = new AbortController();

  private constructor(template: SteppedTemplate, pool: RoomPool, handle: RoomHandle) {
    this.#template = template;
    this.#pool = this.#stepsAt = pool;
    this.#handle = handle;
  }

  /** Opens a new room: copies the template into its own memory. */
  static async open(template: SteppedTemplate, pool: RoomPool): Promise<RoomSimulation> {
    return new RoomSimulation(template, pool, await unlessCharged(() => openHandle(template, pool)));
  }

  /** Restores a stored room. */
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
   * @param recover returns the state to rebuild from; called if the memory is torn
   * @throws the error of `recover`; any error if the room is closed meanwhile
   */
  step(task: Omit<StepTask, "room">, recover: Recover): Promise<StepOutcome> {
    return this.#inTurn(async () => {
      if (this.#others > 0) return { kind: "dropped" };
      const fromMs = Math.max(task.dueMs ?? 0, performance.now());
      try {
        const result = await this.#at((pool) => {
          // Another task may have come while this step waited for its own thread.
          if (this.#others > 0) throw new StepDropped("another task waits for the room");
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

  /** Returns the state between two ticks. @param recover as for `step`: a failed save may have torn the memory */
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
   * Replaces the state, in a new memory. The old memory is kept until the new one is complete.
   * @param plan called when no other task runs
   */
  rebuild(plan: () => Rebuild): Promise<Rebuilt> {
    return this.#exclusive(() => unlessCharged(() => this.#rebuild(plan())));
  }

  /** Memory of this room alone, without the template that rooms of its scene share. */
  get memory(): MemoryUse {
    const { memory, frames } = this.#handle;
    const { reserved, used, ...rest } = memoryUse(memory);
    return { reserved: reserved + frames.byteLength, used: used + frames.byteLength, ...rest };
  }

  /**
   * Returns the positions that were encoded last. They are read while ticks run: if a tick ends during the read, some
   * positions are of the frame before. Null: none yet.
   */
  get sentFrame(): SentFrame | null {
    const { frameTick, frame } = new FrameState(this.#handle.frames);
    return frameTick < 0 ? null : { tick: frameTick, points: Int32Array.from(frame) };
  }

  /** Inspects the state between two ticks. */
  inspect(): Promise<InspectResult> {
    return this.#exclusive(() => this.#pool.inspect({ room: this.#handle }));
  }

  /** Waits for the running task, then ends a dedicated pool. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#exclusive(async () => {});
    await this.#pool.release();
  }

  /** Runs work in the room's pool or, while the room is tried alone, on its own thread. */
  async #at<T>(work: (pool: RoomPool) => Promise<T>): Promise<T> {
    if (!this.#isTried) return work(this.#pool);
    const pool = await this.#pool.alone(this.#closing.signal);
    try {
      return await work(pool);
    } finally {
      await pool.release();
    }
  }

  /** Rebuilds the room until it succeeds: the thread may be lost again. A closing room is charged nothing. */
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
    this.#tail = done.then(NOTHING, NOTHING);
    return done;
  }
}

/** Repeats the work if its thread was lost while executing another room. */
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

/** Opens a memory with the state of tick `from` and replays it to tick `until`. */
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
      // The first hash belongs to the tick at which the replay begins.
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
