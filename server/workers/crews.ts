/**
 * Who helps whom in a pool: a room whose ticks are heavy is stepped by a crew of the pool's threads. The tick's own
 * task leads; threads that have nothing else to do are lent to it, each by a task of its own, and leave when the tick
 * is over or somebody else needs a thread.
 *
 *   a tick begins           threads are idle, the room is heavy  -> idle threads are lent, to the tick with the fewest
 *   helpers first
 *   a task finds no thread  -> as many helpers are sent away as tasks wait: they finish the chunk they have
 *   (microseconds) and leave
 *   a thread is free again  -> lent to a tick that still runs
 *   a helper's thread ends  -> outside a chunk nobody misses it; in the middle of one the tick cannot be finished: the
 *   leader throws, as if its own thread had ended
 *
 * So a helper never delays another room by more than a chunk and a message, a tick never waits for a helper, and which
 * threads come makes no difference to the result (kernel/assembly/step/step.ts). A room counts as heavy once its ticks
 * take `heavySeconds` of work on average, and until they take half of that: a light room's ticks are stepped by one
 * thread, as if there were no crews.
 *
 * Tasks that find no thread wait here. Piscina's own queue lets tasks that can be aborted overtake others, for ever if
 * they keep coming; here each line keeps the order in which they came, and while both are waited in, steps get one part
 * of the time and all else OTHERS_SHARE: a hundred rooms that tick must not keep the next one from coming back, nor the
 * other way round, and a room that is slow for a moment is better than one that is not there.
 */
import type { EventEmitter } from "node:events";
import { CrewWords, MOST_HELPERS } from "../sim/schedulerWords.ts";
import type { HelpTask, RoomHandle, StepResult, StepTask } from "./messages.ts";

/** Weight of the last tick in the average: about an eighth of a second at 60 Hz. */
const NEWEST = 1 / 8;
/**
 * A step of a room that takes less than this on average, s, may wait at a thread that still has another such step: the
 * thread does not have to be woken for it.
 */
const SHORT_SECONDS = 0.002;
/** Tasks that a thread may have then, the one that runs included. */
export const TASKS_PER_THREAD = 2;
/** Parts of the time that all else gets while steps, which get one, wait, too. */
const OTHERS_SHARE = 3;
/** What one line has had more of the threads' time than the other counts up to this, s: longer ago is forgotten. */
const MOST_LEAD_SECONDS = 0.05;
/** A heavy room is light again below this part of what made it heavy. */
const HYSTERESIS = 0.5;

/** Steps that are due, or everything else: rooms that are opened, restored, saved, looked at. */
type Line = "steps" | "others";

interface Waiting {
  short: boolean;
  begin: () => void;
}

interface RoomLoad {
  /** Average seconds of one thread that a tick would take alone. */
  seconds: number;
  heavy: boolean;
}

/** A tick of a heavy room that is under way. */
interface CrewTick {
  task: StepTask;
  words: CrewWords;
  /** Rows of helpers that have been sent; true: told to leave. */
  helpers: Map<number, boolean>;
  /** Ends the threads of a tick that hangs, its helpers' too. */
  abort: EventEmitter;
  /** Most helpers at a time: one that was sent away may have come back. */
  most: number;
  over: boolean;
}

export interface CrewOptions {
  /** Threads of the pool. */
  threads: number;
  /** Most threads that step one room. */
  mostThreads: number;
  /** Ticks that take longer than this make a room heavy, s. */
  heavySeconds: number;
  /** Runs a helper in the pool. */
  help: (task: HelpTask, abort: EventEmitter) => Promise<unknown>;
}

export class Crews {
  readonly #options: CrewOptions;
  readonly #ticks = new Set<CrewTick>();
  readonly #loads = new WeakMap<RoomHandle, RoomLoad>();
  /** Slots of a room that a helper still has: one of the last tick may not have left yet. */
  readonly #taken = new WeakMap<RoomHandle, Set<number>>();
  /** Tasks that the pool has; those that wait for one of them to end are in #lines. */
  #running = 0;
  /** Of them, those that nobody may wait behind. */
  #long = 0;
  readonly #lines: Record<Line, Waiting[]> = { steps: [], others: [] };
  /** Time that the others have had beyond their part, in steps' seconds. */
  #lead = 0;
  /** All of them, waiting ones and helpers included. */
  #tasks = 0;

  constructor(options: CrewOptions) {
    this.#options = options;
  }

  /** Tasks that wait for a thread here. */
  get waiting(): number {
    return this.#lines.steps.length + this.#lines.others.length;
  }

  /** Any task of the pool but a step and a helper: helpers make room for it, and its thread is lent when it is done. */
  occupy<T>(run: () => Promise<T>): Promise<T> {
    return this.#queue("others", run);
  }

  /** @param short it may wait behind another one that is short, too */
  async #queue<T>(line: Line, run: () => Promise<T>, short = false): Promise<T> {
    this.#tasks += 1;
    this.#makeRoom();
    if (this.waiting === 0 && this.#fits(short)) this.#take(short);
    else await new Promise<void>((resolve) => this.#lines[line].push({ short, begin: resolve }));
    const beginMs = performance.now();
    const shared = this.#running > this.#options.threads ? TASKS_PER_THREAD : 1;
    try {
      return await run();
    } finally {
      this.#running -= 1;
      if (!short) this.#long -= 1;
      this.#count(line, (performance.now() - beginMs) / 1000 / shared);
      for (let next = this.#next(); next; next = this.#next()) {
        this.#take(next.short);
        next.begin();
      }
      this.#tasks -= 1;
      this.#lend();
    }
  }

  /** Whose turn it is, if there is a thread for it. Whoever is first in line is not passed by. */
  #next(): Waiting | undefined {
    const { steps, others } = this.#lines;
    const line = others.length > 0 && (steps.length === 0 || this.#lead <= 0) ? others : steps;
    return line.length > 0 && this.#fits(line[0]!.short) ? line.shift() : undefined;
  }

  #count(line: Line, seconds: number): void {
    const { steps, others } = this.#lines;
    if (steps.length === 0 || others.length === 0) this.#lead = 0;
    else
      this.#lead = Math.max(
        -MOST_LEAD_SECONDS,
        Math.min(MOST_LEAD_SECONDS, this.#lead + (line === "others" ? seconds / OTHERS_SHARE : -seconds)),
      );
  }

  /** There is a thread that has nothing to do, or only what is soon done. */
  #fits(short: boolean): boolean {
    const { threads } = this.#options;
    return (
      this.#running < threads ||
      (short && this.#long === 0 && this.#ticks.size === 0 && this.#running < TASKS_PER_THREAD * threads)
    );
  }

  #take(short: boolean): void {
    this.#running += 1;
    if (!short) this.#long += 1;
  }

  /**
   * One tick of a room.
   * @param abort ends its helpers' threads
   * @param run hands the task to the pool; `short`: to a thread that may have another short one
   */
  async step(
    task: StepTask,
    abort: EventEmitter,
    run: (task: StepTask, short: boolean) => Promise<StepResult>,
  ): Promise<StepResult> {
    const load = this.#loadOf(task.room);
    const { threads, mostThreads } = this.#options;
    if (!load.heavy || Math.min(threads, mostThreads) < 2) {
      const short = load.seconds < SHORT_SECONDS;
      const result = await this.#queue("steps", () => run(task, short), short);
      this.#weigh(load, result);
      return result;
    }
    // A generation is an int32, not 0; ticks number the steps of a room.
    const crewed = { ...task, crew: (task.tick % 0x3fffffff) + 1 };
    const tick: CrewTick = {
      task: crewed,
      words: new CrewWords(task.room.memory),
      helpers: new Map(),
      abort,
      most: 0,
      over: false,
    };
    try {
      const result = await this.#queue("steps", () => {
        tick.words.open(crewed.crew);
        this.#ticks.add(tick);
        const running = run(crewed, false);
        this.#lend();
        return running.finally(() => this.#end(tick));
      });
      this.#weigh(load, result);
      return { ...result, crew: { ...result.crew, threads: Math.min(result.crew.threads, 1 + tick.most) } };
    } finally {
      this.#end(tick);
    }
  }

  /** The worker closes a tick that comes to its end; one whose thread was lost is closed here. */
  #end(tick: CrewTick): void {
    if (tick.over) return;
    tick.over = true;
    this.#ticks.delete(tick);
    tick.words.close();
  }

  #loadOf(room: RoomHandle): RoomLoad {
    const known = this.#loads.get(room);
    if (known) return known;
    const load = { seconds: 0, heavy: false };
    this.#loads.set(room, load);
    return load;
  }

  /** What helpers did counts as if the leader had done it at its own pace. */
  #weigh(load: RoomLoad, { wholeSeconds, crew: { shared, helped } }: StepResult): void {
    const work = wholeSeconds * (1 + helped / Math.max(1, shared - helped));
    load.seconds += NEWEST * (work - load.seconds);
    load.heavy = load.seconds > this.#options.heavySeconds * (load.heavy ? HYSTERESIS : 1);
  }

  /** Sends helpers away for tasks that wait, from the largest crew first. */
  #makeRoom(): void {
    let missing =
      this.#tasks -
      this.#options.threads -
      [...this.#ticks].reduce((sum, tick) => sum + [...tick.helpers.values()].filter(Boolean).length, 0);
    while (missing-- > 0) {
      let largest: CrewTick | undefined;
      let most = 0;
      for (const tick of this.#ticks) {
        const staying = [...tick.helpers.values()].filter((leaves) => !leaves).length;
        if (staying > most) [largest, most] = [tick, staying];
      }
      if (!largest) return;
      const slot = [...largest.helpers].find(([, leaves]) => !leaves)![0];
      largest.helpers.set(slot, true);
      largest.words.sendAway(slot);
    }
  }

  /** Sends idle threads to ticks that run, one by one to the smallest crew. */
  #lend(): void {
    const { threads, mostThreads } = this.#options;
    while (this.#tasks < threads) {
      let smallest: CrewTick | undefined;
      for (const tick of this.#ticks) {
        const { size } = tick.helpers;
        if (
          1 + size < mostThreads &&
          size < MOST_HELPERS &&
          size < (smallest?.helpers.size ?? Infinity) &&
          tick.words.isOpen(tick.task.crew!)
        )
          smallest = tick;
      }
      if (!smallest || !this.#send(smallest)) return;
    }
  }

  /** @returns false if all rows of the room are taken */
  #send(tick: CrewTick): boolean {
    const { room, crew } = tick.task;
    const taken = this.#taken.get(room) ?? new Set<number>();
    this.#taken.set(room, taken);
    let slot = 1;
    while (taken.has(slot)) slot += 1;
    if (slot > MOST_HELPERS) return false;
    taken.add(slot);
    tick.helpers.set(slot, false);
    tick.most = Math.max(tick.most, tick.helpers.size);
    tick.words.clear(slot);
    this.#tasks += 1;
    const left = (): void => {
      this.#tasks -= 1;
      taken.delete(slot);
      tick.helpers.delete(slot);
      this.#lend();
    };
    // A thread that ended before or between its chunks is no loss; what it left behind in one, its room hears of.
    this.#options.help({ room, crew: crew!, slot }, tick.abort).then(left, () => {
      tick.words.lost(slot);
      left();
    });
    return true;
  }
}
