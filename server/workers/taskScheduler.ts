/**
 * Which thread of a pool does what. A room lives at a thread for as long as that is a good place (placement.ts); its
 * steps are handed over before they are due, and the thread decides who runs next (fairSchedule.ts).
 *
 * A heavy room's tick may be helped with: threads that have nothing to do are lent to it, each by an order of its own,
 * and leave when the tick is over or they are asked for anything else.
 *
 *   a tick begins                threads have nothing to do  -> they are lent, to the tick with the fewest helpers
 *   first
 *   a helper's thread is wanted  -> it is sent away: it finishes the chunk it has (microseconds) and leaves, some
 *   milliseconds before a step is due
 *   a thread has nothing to do   -> lent to a tick that still runs
 *   a helper's thread ends       -> outside a chunk nobody misses it; in the middle of one the tick cannot be finished:
 *   it throws, as if its own thread had ended
 *
 * So a helper never delays another room by more than a chunk and a message, a tick never waits for a helper, and which
 * threads come makes no difference to the result (kernel/assembly/step/worker.ts). A room counts as heavy once its
 * ticks take `heavySeconds` of work on average, and until they take half of that.
 */
import { SchedulerWords, MOST_HELPERS } from "../sim/schedulerWords.ts";
import type { HelpTask, OpenTask, RoomHandle, StepResult, StepTask, Turn } from "./messages.ts";
import { Placement, type Resident } from "./placement.ts";
import { toProcessMs } from "./processClock.ts";
import type { StepThread } from "./stepThread.ts";

/** Weight of the last tick in the average: about an eighth of a second at 60 Hz. */
const NEWEST = 1 / 8;
/** A heavy room is light again below this part of what made it heavy. */
const HYSTERESIS = 0.5;

/** What the scheduler wants of a thread. */
export type SchedulerThread = Pick<StepThread, "up" | "pending" | "overdue" | "run" | "step">;

interface RoomLoad extends Resident {
  /** Average seconds of one thread that a tick would take alone. */
  workSeconds: number;
  /** Average seconds that a tick takes, helped or not. */
  tickSeconds: number;
  /** That have come to their end. */
  ticks: number;
  /** The step that is under way, if any. */
  withdraw: (() => void) | null;
}

/** A tick of a heavy room that others may help with. */
interface SharedTick {
  task: StepTask;
  words: SchedulerWords;
  thread: SchedulerThread;
  /** Rows of helpers that have been sent. */
  helpers: Map<number, SchedulerThread>;
  /** Most helpers at a time: one that was sent away may have come back. */
  most: number;
}

/** What a thread that is lent does. */
interface Loan {
  words: SchedulerWords;
  slot: number;
}

export interface TaskSchedulerOptions {
  threads: readonly SchedulerThread[];
  /** Most threads that step one room. */
  mostThreads: number;
  /** Ticks that take longer than this make a room heavy, s. */
  heavySeconds: number;
}

export class TaskScheduler {
  readonly #options: TaskSchedulerOptions;
  readonly #placement: Placement;
  readonly #ticks = new Set<SharedTick>();
  readonly #loads = new WeakMap<RoomHandle, RoomLoad>();
  /** Rows of a room that a helper still has: one of the last tick may not have left yet. */
  readonly #taken = new WeakMap<RoomHandle, Set<number>>();
  readonly #loans = new Map<SchedulerThread, Loan>();

  constructor(options: TaskSchedulerOptions) {
    this.#options = options;
    this.#placement = new Placement(options.threads.length);
  }

  /** Orders that wait for a thread although their time has come. */
  get waiting(): number {
    return this.#options.threads.reduce((sum, { overdue }) => sum + overdue, 0);
  }

  /** Any order but a step: where the room lives, or where least is to be done. */
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

  /** One tick of a room. @throws StepDropped when it was withdrawn, or may not begin any more */
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
    const shared = load.heavy && Math.min(threads.length, mostThreads) > 1;
    // A generation is an int32, not 0; ticks number the steps of a room.
    const whole = shared ? { ...task, generation: (task.tick % 0x3fffffff) + 1 } : task;
    const tick: SharedTick = {
      task: whole,
      words: new SchedulerWords(task.room.memory),
      thread,
      helpers: new Map(),
      most: 0,
    };
    const begun = (): void => {
      this.#ticks.add(tick);
      this.#lend();
    };
    const { withdraw, done } = thread.step(whole, turn, begun);
    load.withdraw = withdraw;
    try {
      const result = await done;
      this.#weigh(load, result, periodMs / 1000);
      return shared
        ? { ...result, work: { ...result.work, threads: Math.min(result.work.threads, 1 + tick.most) } }
        : result;
    } finally {
      load.withdraw = null;
      this.#placement.done(load, performance.now());
      this.#ticks.delete(tick);
      // The thread ends a tick that comes to its end; one whose thread was lost is ended here.
      if (shared) tick.words.close();
      this.#lend();
    }
  }

  /** The room's step does not begin any more, if it has not: somebody wants the room as it is. */
  withdraw(room: RoomHandle): void {
    this.#loads.get(room)?.withdraw?.();
  }

  /** The thread; or another one while it is being replaced. */
  #there(home: number): SchedulerThread {
    const thread = this.#options.threads[home]!;
    return thread.up ? thread : this.#idlest();
  }

  /** Of those that are there, if any is. */
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

  /** What helpers did counts as if the room's own thread had done it at its own pace. */
  #weigh(load: RoomLoad, { wholeSeconds, work: { shared, helped } }: StepResult, periodSeconds: number): void {
    const seconds = wholeSeconds * (1 + helped / Math.max(1, shared - helped));
    load.workSeconds += NEWEST * (seconds - load.workSeconds);
    load.ticks += 1;
    load.tickSeconds += NEWEST * (wholeSeconds - load.tickSeconds);
    load.heavy = load.workSeconds > this.#options.heavySeconds * (load.heavy ? HYSTERESIS : 1);
    load.demand += NEWEST * (Math.min(1, wholeSeconds / periodSeconds) - load.demand);
  }

  /** The thread is wanted: if it helps, it is to leave. */
  #call(thread: SchedulerThread): void {
    const loan = this.#loans.get(thread);
    if (!loan) return;
    this.#loans.delete(thread);
    loan.words.sendAway(loan.slot);
  }

  /** Lends threads that have nothing to do to ticks that run, one by one to the one with the fewest helpers. */
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

  /** @returns false if all rows of the room are taken */
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
    // A thread that ended before or between its chunks is no loss; what it left behind in one, its room hears of.
    thread.run("help", task).then(left, () => {
      words.lost(slot);
      left();
    });
    return true;
  }
}
