/**
 * Main loop of a stepping thread. It takes orders from its port, runs steps at their time (fairSchedule.ts) and other
 * orders between them, and posts each result at once. The main thread sends a step before it is due, so it never delays
 * the next step.
 *
 * While both wait, due steps get one part of the time and other orders OTHERS_SHARE parts. So a hundred ticking rooms
 * do not keep the next room from being restored, and restores do not stop ticking rooms. A room that is slow for a
 * moment is better than one that is missing. Helping with another thread's step has the lowest priority.
 *
 * Every tick and every replay can be preempted. In its middle run steps that need not wait for its end and, if it is
 * long, other orders, too. The innermost order is the one that the thread executes (threadWords.ts).
 */
import { type MessagePort, receiveMessageOnPort, threadId } from "node:worker_threads";
import { setImmediate as turnOfEvents } from "node:timers/promises";
import { Account, FairSchedule, Flow, isLong } from "../schedule/fairSchedule.ts";
import type { ServeTask, ThreadAnswer, ThreadOrder } from "../messages.ts";
import { fromProcessMs } from "../processClock.ts";
import { StepsRunning } from "./stepsRunning.ts";
import { ThreadWords } from "./threadWords.ts";

/** While both wait, other orders get this many times as much time as steps. */
const OTHERS_SHARE = 3;
/** Limit of the time that one kind is ahead of the other, s: older differences are forgotten. */
const MOST_LEAD_SECONDS = 0.05;
/** Interval at which the thread's event loop runs (finalizers, tasks of the engine), ms. */
const EVENTS_MS = 50;
/** Least time between two preemptions of a tick, ms; its preemption points are closer. */
const PIECE_MS = 0.5;
/** Most nested orders, so that stacks stay shallow. The innermost one is not preempted. */
const MOST_NESTED = 16;
/** A room without any step for this time is forgotten, ms. */
const FORGOTTEN_MS = 10_000;
/**
 * Longest time that a step's answer waits for the next one, ms: a message, which wakes the main thread, costs as much
 * as half of a light tick, so light ticks that are due within this time answer together.
 */
const ANSWERS_MS = 1;

type StepOrder = Extract<ThreadOrder, { name: "step" }>;
type OtherOrder = Exclude<ThreadOrder, { name: "step" | "withdraw" }>;

/** Result of an order, and the buffers that are moved with it. */
export interface Done {
  result: unknown;
  transfer: ArrayBuffer[];
}

/** Callbacks of a step into the thread. */
export interface StepHooks {
  /** Call it when other threads may help with the step. */
  begun: () => void;
  /** Call it at preemption points: runs orders that need not wait for the step's end. @returns their duration, s */
  preempt: () => number;
}

/** Executes orders. */
export interface Runner {
  step: (task: StepOrder["task"], hooks: StepHooks) => Done;
  other: (name: OtherOrder["name"], task: unknown, preempt: StepHooks["preempt"]) => Done;
}

/** Splits a tick's duration into its own time and preemptions, and measures its longest piece. */
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

  /** Duration since it began or was resumed, ms. */
  pieceMs(nowMs: number): number {
    return nowMs - this.#sinceMs;
  }

  /** @returns duration since it began or was resumed, s */
  pause(nowMs: number): number {
    const seconds = this.pieceMs(nowMs) / 1000;
    this.longestSeconds = Math.max(this.longestSeconds, seconds);
    return seconds;
  }

  /** @returns duration of the pause, s */
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
  /** The other orders as one room: every room has had less than it, but only short ticks run in its middle. */
  readonly #background = background();
  /** Steps that have not begun, by order number. */
  readonly #steps = new Map<number, Flow>();
  readonly #others: OtherOrder[] = [];
  readonly #helps: OtherOrder[] = [];
  /** Time of the other orders beyond their part, in seconds of steps. */
  #lead = 0;
  #forgottenMs = performance.now();
  #woken = -1;
  /** Number of orders that have begun and not ended: one, and those in its middle. */
  #nested = 0;
  /** Answers that are not posted yet, and the time of the first of them. */
  #answers: ThreadAnswer[] = [];
  #transfer: ArrayBuffer[] = [];
  #answeredMs = 0;

  constructor({ port, wake, running, slot, words }: ServeTask, runner: Runner) {
    this.#port = port;
    this.#wake = wake;
    this.#running = new StepsRunning(running);
    this.#slot = slot;
    this.#words = new ThreadWords(words);
    this.#runner = runner;
  }

  /** Runs until the thread ends; never resolves. */
  async run(): Promise<never> {
    this.#answer({ thread: threadId });
    this.#post();
    for (let eventsMs = performance.now(); ; ) {
      const seen = this.#receive();
      const waitMs = this.#runOne(performance.now());
      if (waitMs > 0 && this.#answersExpireIn(waitMs)) this.#post();
      if (waitMs > 0) Atomics.wait(this.#wake, 0, seen, Math.min(waitMs, EVENTS_MS));
      if (performance.now() - eventsMs < EVENTS_MS) continue;
      await turnOfEvents();
      eventsMs = performance.now();
    }
  }

  /** Reads all posted orders. @returns the wake counter that they were posted with */
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

  /** @returns how long the thread may sleep, ms; 0: an order was run */
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
    // an answer does not wait for the end of a long tick
    if (this.#answersExpireIn(1000 * turn.expectedSeconds)) this.#post();
    const begun = (): void => {
      this.#answer({ id, begun: true });
      this.#post();
    };
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
   * Interrupts a tick or another order: runs the orders that need not wait for its end.
   * @param ran called with the duration of the piece that just ended, s
   * @returns duration of the preemption, s
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
    this.#post();
    return time.resume(fromMs, nowMs);
  }

  /** @returns false: the preempted order may continue */
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
    this.#post();
    const time = new TickTime(performance.now());
    const done = (seconds: number): void => {
      const lead = this.#lead + seconds / OTHERS_SHARE;
      this.#lead = this.#schedule.isDue(performance.now()) ? Math.min(MOST_LEAD_SECONDS, lead) : 0;
    };
    const preempt = (): number => this.#preempt(this.#background, time, done);
    this.#run(id, () => this.#runner.other(name, task, preempt));
    this.#post();
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
    if (this.#answers.length === 0) this.#answeredMs = performance.now();
    this.#answers.push(answer);
    this.#transfer.push(...transfer);
  }

  /** Returns whether an answer would wait for too long if it is posted after this time. */
  #answersExpireIn(ms: number): boolean {
    return performance.now() + ms > this.#answeredMs + ANSWERS_MS;
  }

  #post(): void {
    if (this.#answers.length === 0) return;
    this.#port.postMessage(this.#answers, this.#transfer);
    this.#answers = [];
    this.#transfer = [];
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
