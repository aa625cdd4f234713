/**
 * Assigns a pool's work to its threads. A room stays on a thread as long as that is a good place (threadPlacement.ts).
 * Its steps are sent before they are due, and the thread decides which one runs next (fairSchedule.ts).
 *
 * Idle threads help with the tick of a heavy room. Each gets a `help` order, and leaves when the tick ends or the
 * thread is needed.
 *
 *   a tick begins                -> idle threads are lent, first to the tick with the fewest helpers
 *   a helper's thread is needed  -> it is sent away: it finishes its chunk (microseconds) and leaves, some milliseconds
 *   before a step is due
 *   a thread becomes idle        -> it is lent to a tick that still runs
 *   a helper's thread ends       -> outside a chunk this does no harm; inside a chunk the tick cannot be finished: it
 *   throws, as if its own thread had ended
 *
 * So a helper delays another room by at most a chunk and a message, and a tick never waits for a helper to come. The
 * number of helpers does not change the result (kernel/assembly/step/worker.ts). A room becomes heavy when its ticks
 * take `heavySeconds` of work on average, and light again at half of that.
 */
import { SchedulerWords, MOST_HELPERS } from "../../sim/threads/schedulerWords.ts";
import type { HelpTask, OpenTask, RoomHandle, StepResult, StepTask, Turn } from "../messages.ts";
import { Placement, type Resident } from "./threadPlacement.ts";
import { toProcessMs } from "../processClock.ts";
import type { StepThread } from "../stepping/stepThread.ts";

/** Weight of the last tick in the averages: about an eighth of a second at 60 Hz. */
const NEWEST = 1 / 8;
/** A heavy room becomes light below this part of the limit. */
const HYSTERESIS = 0.5;

/** The scheduler's view of a thread. */
export type SchedulerThread = Pick<StepThread, "up" | "pending" | "overdue" | "run" | "step">;

interface RoomLoad extends Resident {
  /** Average work of a tick, in seconds of a single thread. */
  workSeconds: number;
  /** Average duration of a tick, with or without helpers, s. */
  tickSeconds: number;
  /** Number of finished ticks. */
  ticks: number;
  /** Withdraws the pending step, if there is one. */
  withdraw: (() => void) | null;
}

/** A tick of a heavy room that other threads may help with. */
interface SharedTick {
  task: StepTask;
  words: SchedulerWords;
  /** Helpers of this tick, by row. */
  helpers: Map<number, SchedulerThread>;
  /** Largest number of helpers at a time; a thread that was sent away may come back. */
  most: number;
}

const sharedTick = (task: StepTask): SharedTick => ({
  // A generation is an int32 other than 0; ticks number the steps of a room.
  task: { ...task, generation: (task.tick % 0x3fffffff) + 1 },
  words: new SchedulerWords(task.room.memory),
  helpers: new Map(),
  most: 0,
});

/** The task of a lent thread. */
interface Loan {
  words: SchedulerWords;
  slot: number;
}

export interface TaskSchedulerOptions {
  threads: readonly SchedulerThread[];
  /** Most threads that step one room at a time. */
  mostThreads: number;
  /** Ticks that take longer than this make a room heavy, s. */
  heavySeconds: number;
}

export class TaskScheduler {
  readonly #options: TaskSchedulerOptions;
  readonly #placement: Placement;
  readonly #ticks = new Set<SharedTick>();
  readonly #loads = new WeakMap<RoomHandle, RoomLoad>();
  /** Rows of a room that helpers still use: a helper of the last tick may not have left yet. */
  readonly #taken = new WeakMap<RoomHandle, Set<number>>();
  readonly #loans = new Map<SchedulerThread, Loan>();

  constructor(options: TaskSchedulerOptions) {
    this.#options = options;
    this.#placement = new Placement(options.threads.length);
  }

  /** Number of due orders that wait for a thread. */
  get waiting(): number {
    return this.#options.threads.reduce((sum, { overdue }) => sum + overdue, 0);
  }

  /** Runs any order except a step: on the room's thread, or on the least busy one. */
  async run<T>(name: "open" | "save" | "replay" | "inspect", task: OpenTask | { room: RoomHandle }): Promise<T> {
    const load = "room" in task ? this.#loads.get(task.room) : undefined;
    const thread = load ? this.#there(load.home) : this.#idlest();
    this.#call(thread);
    try {
      return await thread.run<T>(name, task);
    } finally {
      this.#lend();
    }
  }

  /** Runs one tick of a room. @throws StepDropped if it was withdrawn, or its deadline passed */
  async step(task: StepTask): Promise<StepResult> {
    const load = this.#loadOf(task.room);
    const { threads, mostThreads } = this.#options;
    const nowMs = performance.now();
    const periodMs = 1000 / task.room.layout.tickHz;
    const thread = this.#there(this.#placement.place(load, nowMs));
    const turn: Turn = {
      dueMs: toProcessMs(task.dueMs ?? nowMs),
      untilMs: toProcessMs(task.untilMs ?? Infinity),
      periodMs,
      share: task.share ?? { account: task.room.key, weight: 1 },
      expectedSeconds: load.tickSeconds,
      ticks: load.ticks,
    };
    this.#call(thread);
    const shared = load.heavy && Math.min(threads.length, mostThreads) > 1 ? sharedTick(task) : undefined;
    const begun = (): void => {
      if (shared) this.#ticks.add(shared);
      this.#lend();
    };
    const { withdraw, done } = thread.step(shared?.task ?? task, turn, begun);
    load.withdraw = withdraw;
    try {
      const result = await done;
      this.#weigh(load, result, periodMs / 1000);
      return shared
        ? { ...result, work: { ...result.work, threads: Math.min(result.work.threads, 1 + shared.most) } }
        : result;
    } finally {
      load.withdraw = null;
      this.#placement.done(load, performance.now());
      // The thread closes a tick that finishes; for a lost thread it is closed here.
      if (shared) {
        this.#ticks.delete(shared);
        shared.words.close();
      }
      this.#lend();
    }
  }

  /** Cancels the room's step if it has not begun, because another task needs the room's state. */
  withdraw(room: RoomHandle): void {
    this.#loads.get(room)?.withdraw?.();
  }

  /** Returns the room's thread, or another one while it is being replaced. */
  #there(home: number): SchedulerThread {
    const thread = this.#options.threads[home]!;
    return thread.up ? thread : this.#idlest();
  }

  /** Returns the least busy running thread; if none runs, the least busy one. */
  #idlest(): SchedulerThread {
    const { threads } = this.#options;
    const up = threads.filter((thread) => thread.up);
    return (up.length > 0 ? up : threads).reduce((least, thread) => (thread.pending < least.pending ? thread : least));
  }

  #loadOf(room: RoomHandle): RoomLoad {
    const known = this.#loads.get(room);
    if (known) return known;
    const load: RoomLoad = {
      home: -1,
      heavy: false,
      demand: 0,
      activeMs: 0,
      movedMs: -Infinity,
      workSeconds: 0,
      tickSeconds: 0,
      ticks: 0,
      withdraw: null,
    };
    this.#loads.set(room, load);
    return load;
  }

  /** Updates the averages. Helpers' chunks count as if the room's own thread had done them at its own pace. */
  #weigh(load: RoomLoad, { wholeSeconds, work: { shared, helped } }: StepResult, periodSeconds: number): void {
    const seconds = wholeSeconds * (1 + helped / Math.max(1, shared - helped));
    load.workSeconds += NEWEST * (seconds - load.workSeconds);
    load.ticks += 1;
    load.tickSeconds += NEWEST * (wholeSeconds - load.tickSeconds);
    load.heavy = load.workSeconds > this.#options.heavySeconds * (load.heavy ? HYSTERESIS : 1);
    load.demand += NEWEST * (Math.min(1, wholeSeconds / periodSeconds) - load.demand);
  }

  /** Sends a helper away, because its thread is needed. */
  #call(thread: SchedulerThread): void {
    const loan = this.#loans.get(thread);
    if (!loan) return;
    this.#loans.delete(thread);
    loan.words.sendAway(loan.slot);
  }

  /** Lends idle threads to running ticks, one at a time to the tick with the fewest helpers. */
  #lend(): void {
    if (this.#ticks.size === 0) return;
    for (const thread of this.#options.threads) {
      if (thread.pending > 0) continue;
      let fewest: SharedTick | undefined;
      for (const tick of this.#ticks) {
        const { size } = tick.helpers;
        if (
          1 + size < this.#options.mostThreads &&
          size < MOST_HELPERS &&
          size < (fewest?.helpers.size ?? Infinity) &&
          tick.words.isOpen(tick.task.generation!)
        )
          fewest = tick;
      }
      if (!fewest || !this.#send(fewest, thread)) return;
    }
  }

  /** @returns false: all rows of the room are taken */
  #send(tick: SharedTick, thread: SchedulerThread): boolean {
    const { room, generation } = tick.task;
    const { words } = tick;
    const taken = this.#taken.get(room) ?? new Set<number>();
    this.#taken.set(room, taken);
    let slot = 1;
    while (taken.has(slot)) slot += 1;
    if (slot > MOST_HELPERS) return false;
    taken.add(slot);
    tick.helpers.set(slot, thread);
    tick.most = Math.max(tick.most, tick.helpers.size);
    words.clear(slot);
    const loan: Loan = { words, slot };
    this.#loans.set(thread, loan);
    const left = (): void => {
      taken.delete(slot);
      tick.helpers.delete(slot);
      if (this.#loans.get(thread) === loan) this.#loans.delete(thread);
      this.#lend();
    };
    const task: HelpTask = { room, generation: generation!, slot };
    // A thread that ended outside a chunk does no harm. After a loss inside a chunk, the room's tick fails.
    thread.run("help", task).then(left, () => {
      words.lost(slot);
      left();
    });
    return true;
  }
}
