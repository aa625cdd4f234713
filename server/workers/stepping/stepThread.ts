/**
 * The main thread's end of a stepping thread. The thread belongs to Piscina: one task, `serve`, lasts as long as the
 * thread. If it is lost, Piscina starts another, which is served again. Pending orders of the lost thread are rejected.
 * Orders that it had answered are resolved, even if the answer is read later.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Piscina } from "piscina";
import type {
  ByKey,
  HelpTask,
  RoomHandle,
  ServeTask,
  StepResult,
  StepTask,
  ThreadAnswer,
  ThreadOrder,
  Turn,
  UnknownRoom,
} from "../messages.ts";
import { SchedulerWords } from "../../sim/threads/schedulerWords.ts";
import { fromProcessMs } from "../processClock.ts";
import type { StepsRunning } from "./stepsRunning.ts";
import { type LossReason, type StuckReason, ThreadLost } from "../threadLost.ts";
import { ThreadWatch } from "./threadWatch.ts";
import { ThreadWords } from "./threadWords.ts";
import { transferring } from "../workDeadline.ts";

/** Least time from one start of a thread to the next, ms: a thread that cannot start must not keep the process busy. */
const LEAST_LIFE_MS = 100;
/** Least deadline of orders without preemption points, ms of CPU time. */
const OTHERS_DEADLINE_MS = 5000;

/** The step has not begun and will not: it was withdrawn, or its deadline passed. */
export class StepDropped extends Error {}

/** An order without its number. */
type Wanted = ThreadOrder extends infer Order ? (Order extends { id: number } ? Omit<Order, "id"> : never) : never;

interface Pending {
  /** Earliest time at which the thread may begin, ms on performance.now(). */
  fromMs: number;
  order: ThreadOrder;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  begun?: () => void;
  /** Of `help`: counters of the room's tick. */
  helped?: SchedulerWords;
}

export interface StepThreadOptions {
  pool: Piscina;
  running: StepsRunning;
  /** Number of this thread in `running`. */
  slot: number;
  /** CPU time in a step without progress after which the thread is ended, ms. */
  deadlineMs: number;
  /** Called for each loss, except when the pool closes. */
  onLost: (reason: LossReason) => void;
}

export class StepThread {
  readonly #pool: Piscina;
  readonly #deadlineMs: number;
  readonly #onLost: (reason: LossReason) => void;
  readonly #words = new ThreadWords();
  readonly #watch = new ThreadWatch();
  readonly #running: StepsRunning;
  readonly #slot: number;
  readonly #pending = new Map<number, Pending>();
  readonly #wake = new Int32Array(new SharedArrayBuffer(4));
  /** Rooms whose whole handle this thread has received. */
  #known = new WeakSet<RoomHandle>();
  #port!: MessagePort;
  #outbox: ThreadOrder[] = [];
  #flushing = false;
  #orders = 0;
  #threadId = -1;
  /** Ends the wait for a thread. */
  #waiting = new AbortController();
  #closed = false;
  /** Why the thread is being ended, and the order that it was executing. */
  #ended: { reason: StuckReason; executing: number } | null = null;

  constructor({ pool, running, slot, deadlineMs, onLost }: StepThreadOptions) {
    this.#pool = pool;
    this.#deadlineMs = deadlineMs;
    this.#onLost = onLost;
    this.#running = running;
    this.#slot = slot;
    void this.#serve();
  }

  /** Whether the thread is running. A lost one still accepts orders, which its replacement executes. */
  get up(): boolean {
    return this.#threadId >= 0;
  }

  /** Number of unanswered orders. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Number of due orders that wait while the thread is busy with another. */
  get overdue(): number {
    const nowMs = performance.now();
    let count = 0;
    for (const { fromMs } of this.#pending.values()) if (fromMs <= nowMs) count += 1;
    return Math.max(0, count - 1);
  }

  /** Runs any order except a step. */
  run<T>(name: "open" | "save" | "replay" | "inspect" | "help" | "collect", task: unknown): Promise<T> {
    const nowMs = performance.now();
    if (name !== "help") return this.#order({ name, task }, nowMs).done as Promise<T>;
    const helped = new SchedulerWords((task as HelpTask).room.memory);
    return this.#inRoom(
      task as HelpTask,
      (byKey) => this.#order({ name, task: byKey }, nowMs, { helped }).done as Promise<T>,
    );
  }

  /**
   * @param turn its times are on the clock of processClock.ts
   * @param begun called when other threads may help
   * @returns `withdraw`, which cancels the step if it has not begun; `done`, the result, which rejects with StepDropped
   * if the step never begins
   */
  step(task: StepTask, turn: Turn, begun: () => void): { withdraw: () => void; done: Promise<StepResult> } {
    const fromMs = fromProcessMs(turn.dueMs);
    let id = 0;
    const done = this.#inRoom(task, (byKey) => {
      const order = this.#order({ name: "step", task: byKey, turn }, fromMs, { begun });
      id = order.id;
      return order.done as Promise<StepResult | UnknownRoom>;
    });
    const onThisClock = (result: StepResult): StepResult => {
      result.startMs = fromProcessMs(result.startMs);
      return result;
    };
    return {
      withdraw: () => this.#pending.has(id) && this.#post({ id, name: "withdraw" }),
      done: done.then(onThisClock),
    };
  }

  /**
   * Sends an order by its room's key once the thread has received the whole handle, and with the handle if the thread
   * has forgotten the room.
   */
  async #inRoom<Task extends { room: RoomHandle }, T>(
    task: Task,
    send: (task: Task | ByKey<Task>) => Promise<T | UnknownRoom>,
  ): Promise<T> {
    const known = this.#known.has(task.room);
    this.#known.add(task.room);
    const result = await send(known ? { ...task, room: { key: task.room.key } } : task);
    const forgotten = typeof result === "object" && result !== null && "unknown" in result;
    return (forgotten ? await send(task) : result) as T;
  }

  /** Ends the thread if it is stuck. @param elapsedMs time since the last call */
  look(elapsedMs: number): void {
    if (this.#ended || !this.up) return;
    const { executing, progress } = this.#words;
    const { order, helped } = this.#pending.get(executing) ?? {};
    const worker = this.#pool.threads.find(({ threadId }) => threadId === this.#threadId);
    const hasPoints = order?.name === "step" || order?.name === "replay" || order?.name === "help";
    const look = {
      executing,
      progress: progress + (helped?.progress() ?? 0),
      waits: helped !== undefined,
      deadlineMs: hasPoints ? this.#deadlineMs : Math.max(this.#deadlineMs, OTHERS_DEADLINE_MS),
    };
    const reason = this.#watch.look(worker, look, elapsedMs);
    if (!reason) return;
    this.#ended = { reason, executing };
    // Piscina rejects `serve` and starts another thread.
    void worker?.terminate();
  }

  /**
   * Tells that the pool has lost a thread. If that thread had not begun to serve, Piscina would not start another one,
   * and rooms would wait for it forever: ask again.
   */
  threadGone(): void {
    if (!this.up) this.#waiting.abort();
  }

  /** Ends with the pool: no further thread is requested. */
  close(): void {
    this.#closed = true;
  }

  #order(
    wanted: Wanted,
    fromMs: number,
    more: Pick<Pending, "begun" | "helped"> = {},
  ): { id: number; done: Promise<unknown> } {
    this.#orders += 1;
    const id = this.#orders;
    const order = { id, ...wanted } as ThreadOrder;
    const done = new Promise<unknown>((resolve, reject) =>
      this.#pending.set(id, { fromMs, order, resolve, reject, ...more }),
    );
    this.#post(order);
    return { id, done };
  }

  /** Posts an order. Steps posted in one turn of the event loop go in one message, because they are not due yet. */
  #post(order: ThreadOrder): void {
    this.#outbox.push(order);
    if (order.name !== "step") return this.#flush();
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#outbox.length === 0) return;
    this.#port.postMessage(this.#outbox);
    this.#outbox = [];
    Atomics.add(this.#wake, 0, 1);
    Atomics.notify(this.#wake, 0);
  }

  async #serve(): Promise<void> {
    let port2 = this.#open();
    while (!this.#closed) {
      const port1 = this.#port;
      const sinceMs = performance.now();
      let error: unknown;
      try {
        const task: ServeTask = {
          port: port2,
          wake: this.#wake,
          running: this.#running.words,
          slot: this.#slot,
          words: this.#words.words,
        };
        this.#waiting = new AbortController();
        const { signal } = this.#waiting;
        await this.#pool.run(task, { name: "serve", transferList: transferring([port2]), signal });
      } catch (reason) {
        error = reason;
      }
      // The thread may have been lost while it was stepping.
      this.#running.end(this.#slot);
      // The thread may have posted answers before it was lost.
      for (let entry = receiveMessageOnPort(port1); entry; entry = receiveMessageOnPort(port1))
        for (const answer of entry.message as ThreadAnswer[]) this.#answered(answer);
      port1.close();
      // From here on, orders go to the next thread.
      port2 = this.#open();
      this.#rejectAll(error);
      const restMs = LEAST_LIFE_MS - (performance.now() - sinceMs);
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  /** Rejects the orders of a lost thread. Only the order that it was executing is charged. */
  #rejectAll(error: unknown): void {
    const executing = this.#words.execute(0);
    // A terminated thread may run on for a moment and execute another order, which is not to blame.
    const { reason, executing: culprit } = this.#ended ?? { reason: "ended" as const, executing };
    this.#ended = null;
    const lost = [...this.#pending];
    this.#pending.clear();
    for (const [id, { reject }] of lost) reject(this.#closed ? error : new ThreadLost(reason, id === culprit, error));
    if (!this.#closed) this.#onLost(reason);
  }

  /** Opens a new channel. @returns the port for the next thread */
  #open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    port1.on("message", (answers: ThreadAnswer[]) => {
      for (const answer of answers) this.#answered(answer);
    });
    // Pending work keeps the process alive; the port need not.
    port1.unref();
    this.#port = port1;
    this.#threadId = -1;
    this.#known = new WeakSet();
    this.#outbox = [];
    return port2;
  }

  #answered(answer: ThreadAnswer): void {
    if ("thread" in answer) {
      this.#threadId = answer.thread;
      return;
    }
    const pending = this.#pending.get(answer.id);
    if (!pending) return;
    if ("begun" in answer) return pending.begun?.();
    this.#pending.delete(answer.id);
    if ("result" in answer) pending.resolve(answer.result);
    else if ("error" in answer) pending.reject(answer.error);
    else pending.reject(new StepDropped("the step was withdrawn, or its deadline passed"));
  }
}
