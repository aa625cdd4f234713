/**
 * The thread pools: one Piscina pool that steps all shared rooms, one of a single thread that builds scenes (so that
 * building a large one delays no tick), one of a single thread that steps films, and a pool of its own for each
 * dedicated room. Rooms see only `RoomPool`.
 */
import { EventEmitter } from "node:events";
import { Piscina } from "piscina";
import { Builder } from "./builder.ts";
import { Crews, TASKS_PER_THREAD } from "./crews.ts";
import { Reclaimer } from "./reclaim.ts";
import { FrameState } from "./frameState.ts";
import type {
  BuildResult,
  BuildTask,
  InspectResult,
  InspectTask,
  OpenResult,
  OpenTask,
  ReplayResult,
  ReplayTask,
  RoomHandle,
  SavedState,
  SaveTask,
  StepByKey,
  StepResult,
  StepTask,
  SimThreadData,
  UnknownRoom,
} from "./messages.ts";

/** How often hung steps are looked for, ms. */
const WATCH_INTERVAL_MS = 100;
/**
 * A film is stepped as fast as it goes: where there are fewer cores than busy threads, rooms come first. As of nice(1):
 * a tenth of another thread's share. `dragon` on two cores, falling, four times 3 s each in turn: 59.3 to 60.0 ticks a
 * second without a film, 59.7 to 60.0 with one. At 5, with other programs on the machine: 41.0 to 60.0, and 32.0 to
 * 57.0.
 */
const FILM_NICE = 10;
/** The films' thread goes away when none has been made for this long, ms. */
const FILM_IDLE_MS = 5_000;

/** Where a room's tasks run. */
export interface RoomPool {
  readonly kind: "shared" | "dedicated";
  open(task: OpenTask): Promise<OpenResult>;
  /** Rejects when the thread was lost; `FrameState.busy` then says whether the room's memory is torn. */
  step(task: StepTask): Promise<StepResult>;
  save(task: SaveTask): Promise<SavedState>;
  /** Rejects as `step` does. */
  replay(task: ReplayTask): Promise<ReplayResult>;
  inspect(task: InspectTask): Promise<InspectResult>;
  /** A memory that `open` gave is not used any more, though the room goes on with another. */
  memoryEnded(): void;
  /** The room is over. Ends a dedicated room's threads. */
  release(): Promise<void>;
}

interface RunningStep {
  pool: Piscina;
  frames: FrameState;
  /** Ends helpers' threads. */
  abort: EventEmitter;
  sequence: number;
  busySinceMs: number;
}

export interface PoolOptions {
  /** Threads of the shared pool. */
  workers: number;
  /** Most of them that step one room. */
  roomThreads: number;
  /** Ticks longer than this, ms, are stepped by several threads. */
  crewMs: number;
  stepDeadlineMs: number;
  /** A scene that takes longer to build, ms, or more heap, MB, is not built; 120 s and 2 GB unless given. */
  buildDeadlineMs?: number;
  buildMemoryMb?: number;
  /** A thread that steps rooms and needs more heap, MB, is ended, as one that crashes; 1 GB unless given. */
  threadMemoryMb?: number;
  /** Told of errors outside any task, e.g. a thread that does not come up. */
  onError: (error: Error) => void;
}

const filename = new URL("./simWorker.ts", import.meta.url).href;

export class WorkerPools {
  readonly #options: PoolOptions;
  readonly #shared: Piscina;
  readonly #sharedCrews: Crews;
  readonly #builder: Builder;
  readonly #films: Piscina;
  readonly #dedicated = new Set<Piscina>();
  readonly #running = new Set<RunningStep>();
  /** Rooms that have had a tick: some thread knows them. */
  readonly #met = new WeakSet<RoomHandle>();
  readonly #watchdog: NodeJS.Timeout;
  readonly #reclaimer: Reclaimer;
  /** int32: counts collections that threads have been asked for; shared with them. */
  readonly #collections = new Int32Array(new SharedArrayBuffer(4));

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#shared = this.#createPool(options.workers, options.workers, Infinity);
    this.#sharedCrews = this.#crewsOf(this.#shared, options.workers);
    const { buildDeadlineMs: deadlineMs = 120_000, buildMemoryMb: memoryMb = 2048, onError } = options;
    this.#builder = new Builder({ deadlineMs, memoryMb, onError });
    this.#films = this.#createPool(0, 1, FILM_IDLE_MS, FILM_NICE);
    this.#watchdog = setInterval(() => this.#abortHungSteps(performance.now()), WATCH_INTERVAL_MS);
    this.#watchdog.unref();
    this.#reclaimer = new Reclaimer({ collectThreads: () => this.#collect() });
  }

  build(task: BuildTask): Promise<BuildResult> {
    return this.#builder.build(task);
  }

  /** The pool for one room: the shared one, or one thread of its own. */
  forRoom(kind: "shared" | "dedicated"): RoomPool {
    if (kind === "shared") return this.#roomPool(kind, this.#shared, this.#sharedCrews, async () => {});
    const own = this.#createPool(1, 1, Infinity);
    this.#dedicated.add(own);
    return this.#roomPool(kind, own, this.#crewsOf(own, 1), async () => {
      this.#dedicated.delete(own);
      await own.destroy();
    });
  }

  /** For what is stepped again: a thread that has no rooms, and less of the processor than those that do. */
  forReplays(): RoomPool {
    return this.#roomPool("shared", this.#films, this.#crewsOf(this.#films, 1), async () => {});
  }

  /** Threads that step rooms (shared and dedicated). */
  get threads(): number {
    return this.#stepPools().reduce((sum, pool) => sum + pool.threads.length, 0);
  }

  /** Tasks that wait for a thread. */
  get queueSize(): number {
    return this.#stepPools().reduce((sum, pool) => sum + pool.queueSize, this.#sharedCrews.waiting);
  }

  /** Ends all threads; what still runs is lost. */
  async close(): Promise<void> {
    clearInterval(this.#watchdog);
    this.#reclaimer.close();
    await Promise.all([
      ...this.#stepPools().map((pool) => pool.destroy()),
      this.#builder.close(),
      this.#films.destroy(),
    ]);
  }

  #stepPools(): Piscina[] {
    return [this.#shared, ...this.#dedicated];
  }

  /** Whoever is busy collects with its next task; whoever is idle, with this one. */
  #collect(): void {
    Atomics.add(this.#collections, 0, 1);
    // A thread that ends has nothing left to collect.
    for (const pool of this.#stepPools())
      for (const _ of pool.threads) pool.run(undefined, { name: "collect" }).catch(() => {});
  }

  #createPool(minThreads: number, maxThreads: number, idleTimeout: number, niceIncrement = 0): Piscina {
    const pool = new Piscina({
      filename,
      minThreads,
      maxThreads,
      idleTimeout,
      niceIncrement,
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: this.#options.threadMemoryMb ?? 1024 },
      workerData: { collections: this.#collections } satisfies SimThreadData,
    });
    pool.on("error", (error: Error) => this.#options.onError(error));
    return pool;
  }

  #crewsOf(pool: Piscina, threads: number): Crews {
    const { roomThreads, crewMs } = this.#options;
    return new Crews({
      threads,
      mostThreads: roomThreads,
      heavySeconds: crewMs / 1000,
      help: (task, signal) => pool.run(task, { name: "help", signal }),
    });
  }

  #roomPool(kind: "shared" | "dedicated", pool: Piscina, crews: Crews, release: () => Promise<void>): RoomPool {
    return {
      kind,
      open: (task) => crews.occupy(() => pool.run(task, alone("open"))),
      step: (task) => this.#step(pool, crews, task),
      save: (task) => crews.occupy(() => pool.run(task, alone("save"))),
      replay: (task) => this.#watched(pool, task.room, () => crews.occupy(() => pool.run(task, alone("replay")))),
      inspect: (task) => crews.occupy(() => pool.run(task, alone("inspect"))),
      memoryEnded: () => this.#reclaimer.ended(),
      release: () => {
        this.#reclaimer.ended();
        return release();
      },
    };
  }

  #step(pool: Piscina, crews: Crews, task: StepTask): Promise<StepResult> {
    return this.#watched(pool, task.room, (abort) =>
      crews.step(task, abort, (whole, short) => this.#runStep(pool, whole, short)),
    );
  }

  /** Ends the thread when a step of the room hangs. */
  async #watched<T>(pool: Piscina, room: RoomHandle, run: (abort: EventEmitter) => Promise<T>): Promise<T> {
    const running: RunningStep = {
      pool,
      frames: new FrameState(room.frames),
      abort: new EventEmitter(),
      sequence: -1,
      busySinceMs: 0,
    };
    this.#running.add(running);
    try {
      return await run(running.abort);
    } finally {
      this.#running.delete(running);
    }
  }

  /** By the room's key, and with all of its handle if the thread that took the task does not know it. */
  async #runStep(pool: Piscina, task: StepTask, short: boolean): Promise<StepResult> {
    const run = (posted: StepTask | StepByKey): Promise<StepResult | UnknownRoom> =>
      pool.run(posted, short ? { name: "step" } : alone("step"));
    if (this.#met.has(task.room)) {
      const result = await run({ ...task, room: { key: task.room.key } });
      if (!("unknown" in result)) return result;
    }
    this.#met.add(task.room);
    return (await run(task)) as StepResult;
  }

  /**
   * A step that waits in the queue is not hung: only time inside the worker counts, and the worker's own flag tells it.
   */
  #abortHungSteps(nowMs: number): void {
    for (const running of this.#running) {
      const { busy, sequence } = running.frames;
      if (!busy || sequence !== running.sequence) {
        running.sequence = busy ? sequence : -1;
        running.busySinceMs = nowMs;
      } else if (nowMs - running.busySinceMs > this.#options.stepDeadlineMs) {
        // Piscina rejects what the thread had, and starts another.
        void running.pool.threads.find(({ threadId }) => threadId === running.frames.thread)?.terminate();
        running.abort.emit("abort");
      }
    }
  }
}

/**
 * Piscina gives a task that could be aborted a thread that has nothing else, and that thread nothing else meanwhile: no
 * other room's step is to wait behind a long one.
 */
const alone = (name: string): { name: string; signal: EventEmitter } => ({ name, signal: new EventEmitter() });
