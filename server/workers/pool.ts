/**
 * The thread pools: one Piscina pool that steps all shared rooms, the builder's threads (so that building delays no
 * tick), one thread that steps replays, and a separate pool for each dedicated room. Rooms see only `RoomPool`.
 */
import { once } from "node:events";
import { Piscina } from "piscina";
import { Builder } from "./builders/builder.ts";
import { Reclaimer } from "./stepping/reclaim.ts";
import { filledBytes } from "./stepping/memoryCopy.ts";
import type {
  BuildResult,
  BuildTask,
  ObjectRefusal,
  ReadObjectResult,
  ReadObjectTask,
  InspectResult,
  InspectTask,
  OpenResult,
  OpenTask,
  ReplayResult,
  ReplayTask,
  RoomHandle,
  SavedState,
  SaveTask,
  StepResult,
  StepTask,
  SimThreadData,
} from "./messages.ts";
import { StepsRunning } from "./stepping/stepsRunning.ts";
import { StepThread } from "./stepping/stepThread.ts";
import { TaskScheduler } from "./schedule/taskScheduler.ts";
import type { LossReason } from "./threadLost.ts";
import { ThreadWatch } from "./stepping/threadWatch.ts";
import { ThreadWords } from "./stepping/threadWords.ts";

/** Interval of the checks for stuck threads, ms. */
const WATCH_INTERVAL_MS = 100;
/**
 * nice(1) increment of the replay thread, which steps as fast as it can. If there are fewer cores than busy threads,
 * rooms have priority: it gets a tenth of another thread's share. Measured with `dragon` falling on two cores, four
 * times 3 s: 59.3 to 60.0 ticks a second without a replay, 59.7 to 60.0 with one. With an increment of 5 and other
 * programs on the machine: 41.0 to 60.0 without, 32.0 to 57.0 with one.
 */
const REPLAY_NICE = 10;
/** The replay thread ends after this time without a replay, ms. */
const REPLAY_IDLE_MS = 5_000;

/** Runs a room's tasks. */
export interface RoomPool {
  readonly kind: "shared" | "dedicated";
  open(task: OpenTask): Promise<OpenResult>;
  /** Rejects with ThreadLost if the thread was lost; `FrameState.busy` then tells whether the room's memory is torn. */
  step(task: StepTask): Promise<StepResult>;
  /** Cancels the room's step if it has not begun; the step then rejects with StepDropped. */
  withdraw(room: RoomHandle): void;
  save(task: SaveTask): Promise<SavedState>;
  /** Rejects as `step` does. */
  replay(task: ReplayTask): Promise<ReplayResult>;
  inspect(task: InspectTask): Promise<InspectResult>;
  /** Reports that a memory of `open` is no longer used, although the room continues with another one. */
  memoryEnded(): void;
  /**
   * Returns a thread without any other room, until `release`. The process has one such thread at a time.
   * @param signal aborts the wait: rejects
   */
  alone(signal: AbortSignal): Promise<RoomPool>;
  /** Ends the room's use of the pool, and a dedicated room's threads. */
  release(): Promise<void>;
}

/** Threads that serve rooms, and their scheduler. */
interface Served {
  pool: Piscina;
  threads: StepThread[];
  scheduler: TaskScheduler;
}

export interface PoolOptions {
  /** Threads of the shared pool. */
  workers: number;
  /** Most threads that step one room at a time. */
  roomThreads: number;
  /** Ticks longer than this are stepped by several threads, ms. */
  heavyMs: number;
  /** CPU time in a step without progress after which a thread is ended, ms (stuckRule.ts). */
  stepDeadlineMs: number;
  /** Limits of building a scene: processor time, ms, and heap, MB (`buildMemoryMb`); defaults 120 s and 2 GB. */
  buildDeadlineMs?: number;
  /** Processor time limit of reading an object, ms; default 30 s. */
  readDeadlineMs?: number;
  buildMemoryMb?: number;
  /** Limit of a room's memory, MB; default as in sim/world/createWorld.ts. */
  roomMemoryMb?: number;
  /** Heap limit of a stepping thread, MB: a thread that exceeds it ends as after a crash; default 1 GB. */
  threadMemoryMb?: number;
  /** Called for errors outside any task, for example a thread that does not start. */
  onError: (error: Error) => void;
  /** Called for each lost thread. */
  onLost?: (reason: LossReason) => void;
}

const filename = new URL("./stepping/simWorker.ts", import.meta.url).href;

export class WorkerPools {
  readonly #options: PoolOptions;
  readonly #shared: Served;
  readonly #builder: Builder;
  readonly #replays: Piscina;
  readonly #dedicated = new Set<Served>();
  readonly #replayWords = new ThreadWords();
  readonly #replayWatch = new ThreadWatch();
  readonly #watchdog: NodeJS.Timeout;
  #watchedMs = performance.now();
  /** End of the last use of the thread for a single room. */
  #lastAlone: Promise<unknown> = Promise.resolve();
  readonly #reclaimer: Reclaimer;
  /** int32: counts requested garbage collections; shared with the threads. */
  readonly #collections = new Int32Array(new SharedArrayBuffer(4));
  readonly #steps = new StepsRunning();
  /** Number of slots in it that are assigned to threads. */
  #slots = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#shared = this.#serve(options.workers);
    const { buildDeadlineMs: deadlineMs = 120_000, buildMemoryMb: memoryMb = 2048, onError } = options;
    this.#builder = new Builder({
      deadlineMs,
      readDeadlineMs: options.readDeadlineMs ?? 30_000,
      memoryMb,
      steps: this.#steps,
      onError,
    });
    this.#replays = this.#createPool(0, 1, REPLAY_IDLE_MS, REPLAY_NICE, this.#replayWords.words);
    this.#watchdog = setInterval(() => this.#lookAtThreads(performance.now()), WATCH_INTERVAL_MS);
    this.#watchdog.unref();
    this.#reclaimer = new Reclaimer({ collectThreads: () => this.#collect() });
  }

  /** @throws as `Builder.build` does */
  build(task: BuildTask, by?: string): Promise<BuildResult> {
    const { roomMemoryMb } = this.#options;
    return this.#builder.build(roomMemoryMb === undefined ? task : { ...task, roomMemoryMb }, by);
  }

  /** @throws as `Builder.readObject` does */
  readObject(task: ReadObjectTask, by?: string): Promise<ReadObjectResult | ObjectRefusal> {
    return this.#builder.readObject(task, by);
  }

  /** Returns the pool for one room: the shared pool, or a new one with a single thread. */
  forRoom(kind: "shared" | "dedicated"): RoomPool {
    if (kind === "shared") return this.#roomPool(kind, this.#shared, async () => {});
    const own = this.#serve(1);
    this.#dedicated.add(own);
    return this.#roomPool(kind, own, async () => {
      this.#dedicated.delete(own);
      await end(own);
    });
  }

  /**
   * Returns the pool for replays: a thread without rooms and with a lower priority. It starts when needed and takes no
   * orders (`serve`).
   */
  forReplays(): RoomPool {
    const films = this.#replays;
    const left = this.#memories();
    const run = <T>(name: string, task: unknown): Promise<T> => films.run(task, { name }) as Promise<T>;
    return {
      kind: "shared",
      open: (task) => run("open", left.opened(task)),
      step: (task) => run("step", task),
      withdraw: () => {},
      save: (task) => run("save", task),
      replay: (task) => run("replay", task),
      inspect: (task) => run("inspect", task),
      memoryEnded: left.ended,
      alone: (signal) => this.#alone(signal),
      release: async () => left.ended(),
    };
  }

  /**
   * Tracks a room's memories, so that the reclaimer learns of unused ones. For replays, only of the last opened one.
   */
  #memories(): { opened: (task: OpenTask) => OpenTask; ended: () => void } {
    let bytes = 0;
    return {
      opened: (task) => {
        bytes = filledBytes(task.filled);
        return task;
      },
      ended: () => this.#reclaimer.ended(bytes),
    };
  }

  /** Number of threads that step rooms, shared and dedicated. */
  get threads(): number {
    return this.#served().reduce((sum, { pool }) => sum + pool.threads.length, 0);
  }

  /** Number of due orders that wait for a thread. */
  get queueSize(): number {
    return this.#served().reduce((sum, { scheduler }) => sum + scheduler.waiting, 0);
  }

  /** Ends all threads; running work is lost. */
  async close(): Promise<void> {
    clearInterval(this.#watchdog);
    this.#reclaimer.close();
    await Promise.all([...this.#served().map(end), this.#builder.close(), this.#replays.destroy()]);
  }

  #served(): Served[] {
    return [this.#shared, ...this.#dedicated];
  }

  /** Collects on one thread after another: with fewer cores than threads they would compete. */
  async #collect(): Promise<void> {
    // The replay thread takes no orders, so it checks this counter.
    Atomics.add(this.#collections, 0, 1);
    // A thread that ends has nothing left to collect.
    for (const { threads } of this.#served())
      for (const thread of threads) await thread.run("collect", undefined).catch(() => {});
  }

  #createPool(
    minThreads: number,
    maxThreads: number,
    idleTimeout: number,
    niceIncrement = 0,
    words?: Int32Array<SharedArrayBuffer>,
  ): Piscina {
    const resourceLimits = { maxOldGenerationSizeMb: this.#options.threadMemoryMb ?? 1024 };
    const workerData: SimThreadData = { collections: this.#collections, ...(words && { words }) };
    const pool = new Piscina({
      filename,
      minThreads,
      maxThreads,
      idleTimeout,
      niceIncrement,
      recordTiming: false,
      resourceLimits,
      workerData,
    });
    pool.on("error", (error: Error) => this.#options.onError(error));
    return pool;
  }

  #serve(count: number): Served {
    const pool = this.#createPool(count, count, Infinity);
    const { roomThreads: mostThreads, heavyMs, stepDeadlineMs: deadlineMs, onLost = () => {} } = this.#options;
    const running = this.#steps;
    const threads = Array.from(
      { length: count },
      () => new StepThread({ pool, running, slot: this.#slots++, deadlineMs, onLost }),
    );
    pool.on("workerDestroy", () => {
      for (const thread of threads) thread.threadGone();
    });
    return { pool, threads, scheduler: new TaskScheduler({ threads, mostThreads, heavySeconds: heavyMs / 1000 }) };
  }

  #roomPool(kind: "shared" | "dedicated", { scheduler }: Served, release: () => Promise<void>): RoomPool {
    const left = this.#memories();
    return {
      kind,
      open: (task) => scheduler.run("open", left.opened(task)),
      step: (task) => scheduler.step(task),
      withdraw: (room) => scheduler.withdraw(room),
      save: (task) => scheduler.run("save", task),
      replay: (task) => scheduler.run("replay", task),
      inspect: (task) => scheduler.run("inspect", task),
      memoryEnded: left.ended,
      alone: (signal) => this.#alone(signal),
      release: () => {
        left.ended();
        return release();
      },
    };
  }

  /** Hands out the single thread for rooms that are tried alone, one room at a time. */
  async #alone(signal: AbortSignal): Promise<RoomPool> {
    signal.throwIfAborted();
    const before = this.#lastAlone;
    let over = (): void => {};
    this.#lastAlone = Promise.all([before, new Promise<void>((resolve) => (over = resolve))]);
    const waited = new AbortController();
    try {
      await Promise.race([before, once(signal, "abort", { signal: waited.signal })]);
      signal.throwIfAborted();
    } catch (error) {
      over();
      throw error;
    } finally {
      waited.abort();
    }
    const pool = this.forRoom("dedicated");
    return {
      ...pool,
      release: async () => {
        over();
        await pool.release();
      },
    };
  }

  /** Ends stuck threads: Piscina rejects their work and starts new ones. */
  #lookAtThreads(nowMs: number): void {
    const elapsedMs = nowMs - this.#watchedMs;
    this.#watchedMs = nowMs;
    for (const { threads } of this.#served()) for (const thread of threads) thread.look(elapsedMs);
    const [film] = this.#replays.threads;
    const { executing, progress } = this.#replayWords;
    const look = { executing: film ? executing : 0, progress, deadlineMs: this.#options.stepDeadlineMs };
    const reason = this.#replayWatch.look(film, look, elapsedMs);
    if (!reason) return;
    this.#replayWords.execute(0);
    this.#options.onLost?.(reason);
    void film?.terminate();
  }
}

/** Ends the threads; running work is lost. */
async function end({ pool, threads }: Served): Promise<void> {
  for (const thread of threads) thread.close();
  await pool.destroy();
}
