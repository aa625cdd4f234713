/**
 * What a thread that steps rooms does all day: it takes orders from its port, runs the steps among them at their time
 * (fairSchedule.ts) and everything else between them, and says what came of each as soon as it is known. The main
 * thread hands a step over before it is due, so it never stands between two steps.
 *
 * Steps that are due and everything else each get a part of the time while both wait: one for steps, OTHERS_SHARE for
 * the rest. A hundred rooms that tick must not keep the next one from coming back, nor the other way round, and a room
 * that is slow for a moment is better than one that is not there. To help with another thread's step comes last.
 *
 * Every tick and every replay is preempted: in its middle run the steps that need not wait for its end and, if it is
 * long, the other orders, too. The order on top of that stack is the one that the thread executes (threadWords.ts).
 */
import { type MessagePort, receiveMessageOnPort, threadId } from "node:worker_threads";
import { setImmediate as turnOfEvents } from "node:timers/promises";
import { Account, FairSchedule, Flow, isLong } from "./fairSchedule.ts";
import type { ServeTask, ThreadAnswer, ThreadOrder } from "./messages.ts";
import { fromProcessMs } from "./processClock.ts";
import { StepsRunning } from "./stepsRunning.ts";
import { ThreadWords } from "./threadWords.ts";

/** Parts of the time that all else gets while steps, which get one, wait, too. */
const OTHERS_SHARE = 3;
/** What one of them has had more than the other counts up to this, s: longer ago is forgotten. */
const MOST_LEAD_SECONDS = 0.05;
/** The thread's own events (finalizers, tasks of the engine) have a turn this often, ms. */
const EVENTS_MS = 50;
/** A tick is looked up from this often at most, ms: its preemption points lie closer. */
const PIECE_MS = 0.5;
/** Orders in the middle of each other at most: stacks stay shallow. What is deepest is not preempted. */
const MOST_NESTED = 16;
/** Rooms that have asked for no step for so long are forgotten, ms. */
const FORGOTTEN_MS = 10_000;

type StepOrder = Extract<ThreadOrder, { name: "step" }>;
type OtherOrder = Exclude<ThreadOrder, { name: "step" | "withdraw" }>;

/** What an order gives, and what is handed over with it instead of being copied. */
export interface Done {
  result: unknown;
  transfer: ArrayBuffer[];
}

/** What a step tells the thread, and may ask of it. */
export interface StepHooks {
  /** To be called when others may help with it. */
  begun: () => void;
  /** To be called now and then in its middle: runs what does not wait for its end. @returns for how long, s */
  preempt: () => number;
}

/** Runs orders. */
export interface Runner {
  step: (task: StepOrder["task"], hooks: StepHooks) => Done;
  other: (name: OtherOrder["name"], task: unknown, preempt: StepHooks["preempt"]) => Done;
}

/** What of a tick's time is its own, and how long others had to wait. */
class TickTime {
  readonly #startMs: number;
  #sinceMs: number;
  #othersMs = 0;
  longestSeconds = 0;

  constructor(startMs: number) {
    this.#startMs = this.#sinceMs = startMs;
  }

  ownSeconds(nowMs: number): number {
    return (nowMs - this.#startMs - this.#othersMs) / 1000;
  }

  /** For how long it has run since it began or was resumed, ms. */
  pieceMs(nowMs: number): number {
    return nowMs - this.#sinceMs;
  }

  /** @returns for how long it has run since it began or was resumed, s */
  pause(nowMs: number): number {
    const seconds = this.pieceMs(nowMs) / 1000;
    this.longestSeconds = Math.max(this.longestSeconds, seconds);
    return seconds;
  }

  /** @returns how long it has paused, s */
  resume(fromMs: number, nowMs: number): number {
    this.#othersMs += nowMs - fromMs;
    this.#sinceMs = nowMs;
    return (nowMs - fromMs) / 1000;
  }
}

export class ThreadLoop {
  readonly #port: MessagePort;
  readonly #wake: Int32Array<SharedArrayBuffer>;
  readonly #runner: Runner;
  readonly #running: StepsRunning;
  readonly #slot: number;
  readonly #words: ThreadWords;
  readonly #schedule = new FairSchedule<StepOrder>();
  readonly #flows = new Map<string, Flow>();
  readonly #accounts = new Map<string, Account>();
  /** The other orders, seen as a room: all rooms have had less, but only short ticks run in their middle. */
  readonly #background = background();
  /** Steps that have not begun, by number. */
  readonly #steps = new Map<number, Flow>();
  readonly #others: OtherOrder[] = [];
  readonly #helps: OtherOrder[] = [];
  /** Time that the others have had beyond their part, in steps' seconds. */
  #lead = 0;
  #forgottenMs = performance.now();
  #woken = -1;
  /** Orders that have begun and are not over: one, and those in its middle. */
  #nested = 0;

  constructor({ port, wake, running, slot, words }: ServeTask, runner: Runner) {
    this.#port = port;
    this.#wake = wake;
    this.#running = new StepsRunning(running);
    this.#slot = slot;
    this.#words = new ThreadWords(words);
    this.#runner = runner;
  }

  /** Never resolves: the thread ends. */
  async run(): Promise<never> {
    this.#answer({ thread: threadId });
    for (let eventsMs = performance.now(); ; ) {
      const seen = this.#receive();
      const waitMs = this.#runOne(performance.now());
      if (waitMs > 0) Atomics.wait(this.#wake, 0, seen, Math.min(waitMs, EVENTS_MS));
      if (performance.now() - eventsMs < EVENTS_MS) continue;
      await turnOfEvents();
      eventsMs = performance.now();
    }
  }

  /** @returns how often the thread has been woken, all of which has been read */
  #receive(): number {
    const woken = Atomics.load(this.#wake, 0);
    if (woken === this.#woken) return woken;
    this.#woken = woken;
    for (let entry = receiveMessageOnPort(this.#port); entry; entry = receiveMessageOnPort(this.#port)) {
      for (const order of entry.message as ThreadOrder[]) {
        if (order.name === "step") this.#submit(order);
        else if (order.name === "withdraw") this.#withdraw(order.id);
        else (order.name === "help" ? this.#helps : this.#others).push(order);
      }
    }
    return woken;
  }

  #submit(order: StepOrder): void {
    const {
      task: {
        room: { key },
      },
      turn: { dueMs, periodMs, share, expectedSeconds, ticks },
    } = order;
    let flow = this.#flows.get(key);
    if (flow?.periodMs !== periodMs) this.#flows.set(key, (flow = new Flow(periodMs, expectedSeconds, ticks)));
    let account = this.#accounts.get(share.account);
    if (!account) this.#accounts.set(share.account, (account = new Account()));
    if (flow.account !== account) flow.account.flows.delete(flow);
    flow.account = account;
    flow.weight = share.weight;
    this.#steps.set(order.id, flow);
    this.#schedule.submit(flow, fromProcessMs(dueMs), order);
  }

  #withdraw(id: number): void {
    const flow = this.#steps.get(id);
    if (!flow) return;
    this.#steps.delete(id);
    for (const order of this.#schedule.withdraw(flow)) this.#answer({ id: order.id, dropped: true });
  }

  /** @returns how long there is nothing to do, ms; 0 when something was done */
  #runOne(nowMs: number): number {
    const first = this.#others.length > 0 && this.#lead <= 0;
    const next = first ? undefined : this.#schedule.next(nowMs);
    if (next && "item" in next) {
      this.#step(next.item, next.flow);
      return 0;
    }
    const other = this.#others.shift() ?? this.#helps.shift();
    if (other) {
      this.#runOther(other);
      return 0;
    }
    this.#forget(nowMs);
    return next ? next.againMs - nowMs : 0;
  }

  #step({ id, task, turn }: StepOrder, flow: Flow): void {
    const startMs = performance.now();
    this.#steps.delete(id);
    if (startMs >= fromProcessMs(turn.untilMs)) {
      this.#schedule.done(flow, 0, startMs);
      return this.#answer({ id, dropped: true });
    }
    const time = new TickTime(startMs);
    const begun = (): void => this.#answer({ id, begun: true });
    const stepped = (seconds: number): void => {
      this.#lead = this.#others.length > 0 ? Math.max(-MOST_LEAD_SECONDS, this.#lead - seconds) : 0;
    };
    const preempt = (): number => this.#preempt(flow, time, stepped);
    this.#run(id, () => this.#runner.step(task, { begun, preempt }));
    const endMs = performance.now();
    stepped(time.pause(endMs));
    this.#schedule.done(flow, time.ownSeconds(endMs), endMs, time.longestSeconds);
  }

  /**
   * In the middle of a tick, or of another order: runs those that do not wait for its end.
   * @param ran told how long a piece of it took, s
   * @returns for how long, s
   */
  #preempt(flow: Flow, time: TickTime, ran: (seconds: number) => void): number {
    this.#words.advance();
    const fromMs = performance.now();
    if (time.pieceMs(fromMs) < PIECE_MS || this.#nested >= MOST_NESTED) return 0;
    ran(time.pause(fromMs));
    this.#receive();
    const ownSeconds = time.ownSeconds(fromMs);
    let nowMs = fromMs;
    while (this.#runInMiddle(flow, ownSeconds, nowMs)) nowMs = performance.now();
    return time.resume(fromMs, nowMs);
  }

  /** @returns false: nothing is to be done before the order that runs goes on */
  #runInMiddle(flow: Flow, ownSeconds: number, nowMs: number): boolean {
    const other = isLong(ownSeconds) && this.#lead <= 0 ? this.#others.shift() : undefined;
    if (other) {
      this.#runOther(other);
      return true;
    }
    const next = this.#schedule.preempting(flow, ownSeconds, nowMs);
    if (next) this.#step(next.item, next.flow);
    return next !== undefined;
  }

  #runOther({ id, name, task }: OtherOrder): void {
    const time = new TickTime(performance.now());
    const done = (seconds: number): void => {
      const lead = this.#lead + seconds / OTHERS_SHARE;
      this.#lead = this.#schedule.isDue(performance.now()) ? Math.min(MOST_LEAD_SECONDS, lead) : 0;
    };
    const preempt = (): number => this.#preempt(this.#background, time, done);
    this.#run(id, () => this.#runner.other(name, task, preempt));
    done(time.pause(performance.now()));
  }

  #run(id: number, work: () => Done): void {
    let answer: ThreadAnswer;
    let transfer: ArrayBuffer[] = [];
    this.#running.begin(this.#slot);
    const before = this.#words.execute(id);
    this.#nested += 1;
    try {
      const done = work();
      answer = { id, result: done.result };
      transfer = done.transfer;
    } catch (error) {
      answer = { id, error };
    } finally {
      this.#nested -= 1;
      this.#words.execute(before);
      if (this.#nested === 0) this.#running.end(this.#slot);
    }
    this.#answer(answer, transfer);
  }

  #answer(answer: ThreadAnswer, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(answer, transfer);
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#forgottenMs < FORGOTTEN_MS) return;
    this.#forgottenMs = nowMs;
    for (const [key, flow] of this.#flows)
      if (!flow.waits && nowMs - flow.dueMs > FORGOTTEN_MS) this.#flows.delete(key);
    for (const [key, { flows }] of this.#accounts) if (flows.size === 0) this.#accounts.delete(key);
  }
}

function background(): Flow {
  const flow = new Flow(Infinity);
  flow.account.virtualSeconds = Infinity;
  return flow;
}
