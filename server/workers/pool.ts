/**
 * The thread pools: one Piscina pool that steps all shared rooms, one of a single thread that builds scenes (so that
 * building a large one delays no tick), one of a single thread that steps films, and a pool of its own for each
 * dedicated room. Rooms see only `RoomPool`.
 */
import { once } from "node:events";
import { Piscina } from "piscina";
import { Builder } from "./builder.ts";
import { Reclaimer } from "./reclaim.ts";
import { filledBytes } from "./memoryCopy.ts";
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
import { StepsRunning } from "./stepsRunning.ts";
import { StepThread } from "./stepThread.ts";
import { TaskScheduler } from "./taskScheduler.ts";
import type { LossReason } from "./threadLost.ts";
import { ThreadWatch } from "./threadWatch.ts";
import { ThreadWords } from "./threadWords.ts";

/** How often stuck threads are looked for, ms. */
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
  /** Rejects with ThreadLost when it was lost; `FrameState.busy` then says whether the room's memory is torn. */
  step(task: StepTask): Promise<StepResult>;
  /** The room's step is not wanted any more if it has not begun: it rejects with StepDropped then. */
  withdraw(room: RoomHandle): void;
  save(task: SaveTask): Promise<SavedState>;
  /** Rejects as `step` does. */
  replay(task: ReplayTask): Promise<ReplayResult>;
  inspect(task: InspectTask): Promise<InspectResult>;
  /** A memory that `open` gave is not used any more, though the room goes on with another. */
  memoryEnded(): void;
  /**
   * A thread with no other room beside, until `release`. There is one at a time in the process.
   * @param signal gives up waiting for it: rejects
   */
  alone(signal: AbortSignal): Promise<RoomPool>;
  /** The room is over. Ends a dedicated room's threads. */
  release(): Promise<void>;
}

/** Threads that serve rooms, and who says what each does. */
interface Served {
  pool: Piscina;
  threads: StepThread[];
  scheduler: TaskScheduler;
}

export interface PoolOptions {
  /** Threads of the shared pool. */
  workers: number;
  /** Most of them that step one room. */
  roomThreads: number;
  /** Ticks longer than this, ms, are stepped by several threads. */
  heavyMs: number;
  /** A thread that uses so much CPU time in a step without progress is ended, ms (stuckRule.ts). */
  stepDeadlineMs: number;
  /** A scene that takes longer to build, ms, or more heap, MB, is not built; 120 s and 2 GB unless given. */
  buildDeadlineMs?: number;
  /** An object that takes longer to read, ms, is refused; 30 s unless given. */
  readDeadlineMs?: number;
  buildMemoryMb?: number;
  /** What a room's memory grows to at most, MB; as sim/createWorld.ts unless given. */
  roomMemoryMb?: number;
  /** A thread that steps rooms and needs more heap, MB, is ended, as one that crashes; 1 GB unless given. */
  threadMemoryMb?: number;
  /** Told of errors outside any task, e.g. a thread that does not come up. */
  onError: (error: Error) => void;
  /** Told of each thread that was lost. */
  onLost?: (reason: LossReason) => void;
}

const filename = new URL("./simWorker.ts", import.meta.url).href;

export class WorkerPools {
  readonly #options: PoolOptions;
  readonly #shared: Served;
  readonly #builder: Builder;
  readonly #films: Piscina;
  readonly #dedicated = new Set<Served>();
  readonly #filmWords = new ThreadWords();
  readonly #filmWatch = new ThreadWatch();
  readonly #watchdog: NodeJS.Timeout;
  #watchedMs = performance.now();
  /** The end of the last trial alone. */
  #lastAlone: Promise<unknown> = Promise.resolve();
  readonly #reclaimer: Reclaimer;
  /** int32: counts collections that threads have been asked for; shared with them. */
  readonly #collections = new Int32Array(new SharedArrayBuffer(4));
  readonly #steps = new StepsRunning();
  /** Numbers in it that have been given to threads. */
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
    this.#films = this.#createPool(0, 1, FILM_IDLE_MS, FILM_NICE, this.#filmWords.words);
    this.#watchdog = setInterval(() => this.#lookAtThreads(performance.now()), WATCH_INTERVAL_MS);
    this.#watchdog.unref();
    this.#reclaimer = new Reclaimer({ collectThreads: () => this.#collect() });
  }

  /** @throws as `Builder.build` */
  build(task: BuildTask, by?: string): Promise<BuildResult> {
    const { roomMemoryMb } = this.#options;
    return this.#builder.build(roomMemoryMb === undefined ? task : { ...task, roomMemoryMb }, by);
  }

  /** @throws as `Builder.readObject` */
  readObject(task: ReadObjectTask, by?: string): Promise<ReadObjectResult | ObjectRefusal> {
    return this.#builder.readObject(task, by);
  }

  /** The pool for one room: the shared one, or one thread of its own. */
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
   * For what is stepped again: a thread that has no rooms, and less of the processor than those that do. It comes when
   * it is needed, and serves nobody.
   */
  forReplays(): RoomPool {
    const films = this.#films;
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

  /** What a room leaves behind when its memory, or that of the film that was opened last, is not used any more. */
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

  /** Threads that step rooms (shared and dedicated). */
  get threads(): number {
    return this.#served().reduce((sum, { pool }) => sum + pool.threads.length, 0);
  }

  /** Orders that wait for a thread although their time has come. */
  get queueSize(): number {
    return this.#served().reduce((sum, { scheduler }) => sum + scheduler.waiting, 0);
  }

  /** Ends all threads; what still runs is lost. */
  async close(): Promise<void> {
    clearInterval(this.#watchdog);
    this.#reclaimer.close();
    await Promise.all([...this.#served().map(end), this.#builder.close(), this.#films.destroy()]);
  }

  #served(): Served[] {
    return [this.#shared, ...this.#dedicated];
  }

  /** One thread after another: where there are fewer cores than threads they would be in each other's way. */
  async #collect(): Promise<void> {
    // The films' thread, which takes no orders, looks there.
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

  /** One after another: rooms that are tried alone take no more than one thread. */
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

  /** Ends threads that are stuck: Piscina rejects what they had, and starts others. */
  #lookAtThreads(nowMs: number): void {
    const elapsedMs = nowMs - this.#watchedMs;
    this.#watchedMs = nowMs;
    for (const { threads } of this.#served()) for (const thread of threads) thread.look(elapsedMs);
    const [film] = this.#films.threads;
    const { executing, progress } = this.#filmWords;
    const look = { executing: film ? executing : 0, progress, deadlineMs: this.#options.stepDeadlineMs };
    const reason = this.#filmWatch.look(film, look, elapsedMs);
    if (!reason) return;
    this.#filmWords.execute(0);
    this.#options.onLost?.(reason);
    void film?.terminate();
  }
}

/** Ends the threads; what still runs is lost. */
async function end({ pool, threads }: Served): Promise<void> {
  for (const thread of threads) thread.close();
  await pool.destroy();
}
