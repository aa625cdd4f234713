/**
 * The main thread's end of a thread that steps rooms. The thread is Piscina's: one task, `serve`, lasts as long as it
 * does, and when it is lost Piscina starts another, which is served anew. What the lost one had is rejected; what it
 * had answered before is answered, however late that is read.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { Piscina } from "piscina";
import type {
  HelpTask,
  RoomHandle,
  ServeTask,
  StepResult,
  StepTask,
  ThreadAnswer,
  ThreadOrder,
  Turn,
  UnknownRoom,
} from "./messages.ts";
import { SchedulerWords } from "../sim/schedulerWords.ts";
import { fromProcessMs } from "./processClock.ts";
import type { StepsRunning } from "./stepsRunning.ts";
import { type LossReason, type StuckReason, ThreadLost } from "./threadLost.ts";
import { ThreadWatch } from "./threadWatch.ts";
import { ThreadWords } from "./threadWords.ts";

/**
 * A thread that is lost this soon after it was asked for is not replaced sooner, ms: one that cannot start must not
 * keep the process busy.
 */
const LEAST_LIFE_MS = 100;
/** Deadline of orders that have no preemption points, at least, ms of CPU time. */
const OTHERS_DEADLINE_MS = 5000;

/** A step that has not begun, and will not: it was withdrawn, or its time was over. */
export class StepDropped extends Error {}

/** Orders without their numbers. */
type Wanted = ThreadOrder extends infer Order ? (Order extends { id: number } ? Omit<Order, "id"> : never) : never;

interface Pending {
  /** When the thread may begin with it, ms on performance.now(). */
  fromMs: number;
  order: ThreadOrder;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
  begun?: () => void;
}

export interface StepThreadOptions {
  pool: Piscina;
  running: StepsRunning;
  /** Its number in `running`. */
  slot: number;
  /** A step that takes so much CPU time without progress ends the thread, ms. */
  deadlineMs: number;
  /** Told of each loss but that of the end. */
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
  /** Rooms that this thread has been told all of. */
  #known = new WeakSet<RoomHandle>();
  #port!: MessagePort;
  #outbox: ThreadOrder[] = [];
  #flushing = false;
  #orders = 0;
  #threadId = -1;
  #closed = false;
  /** Why the thread is ended, and the order that it executed then. */
  #ended: { reason: StuckReason; executing: number } | null = null;

  constructor({ pool, running, slot, deadlineMs, onLost }: StepThreadOptions) {
    this.#pool = pool;
    this.#deadlineMs = deadlineMs;
    this.#onLost = onLost;
    this.#running = running;
    this.#slot = slot;
    void this.#serve();
  }

  /** It is there. A lost one is asked for things, too: the next one does them. */
  get up(): boolean {
    return this.#threadId >= 0;
  }

  /** What it has been asked for and has not answered. */
  get pending(): number {
    return this.#pending.size;
  }

  /** What waits for it: its time has come, and it does something else. */
  get overdue(): number {
    const nowMs = performance.now();
    let count = 0;
    for (const { fromMs } of this.#pending.values()) if (fromMs <= nowMs) count += 1;
    return Math.max(0, count - 1);
  }

  /** Any order but a step. */
  run<T>(name: "open" | "save" | "replay" | "inspect" | "help" | "collect", task: unknown): Promise<T> {
    return this.#order({ name, task }, performance.now()).done as Promise<T>;
  }

  /**
   * @param turn times are the process's
   * @param begun called when others may help
   * @returns how to withdraw it; and its result, which rejects with StepDropped if it does not begin
   */
  step(task: StepTask, turn: Turn, begun: () => void): { withdraw: () => void; done: Promise<StepResult> } {
    const fromMs = fromProcessMs(turn.dueMs);
    const known = this.#known.has(task.room);
    this.#known.add(task.room);
    let { id, done } = this.#order(
      { name: "step", task: known ? { ...task, room: { key: task.room.key } } : task, turn },
      fromMs,
      begun,
    );
    const step = async (): Promise<StepResult> => {
      let result = (await done) as StepResult | UnknownRoom;
      if ("unknown" in result) {
        ({ id, done } = this.#order({ name: "step", task, turn }, fromMs, begun));
        result = (await done) as StepResult;
      }
      return { ...(result as StepResult), startMs: fromProcessMs((result as StepResult).startMs) };
    };
    return { withdraw: () => this.#pending.has(id) && this.#post({ id, name: "withdraw" }), done: step() };
  }

  /** Ends the thread if it is stuck. @param elapsedMs since the look before */
  look(elapsedMs: number): void {
    if (this.#ended || !this.up) return;
    const { executing, progress } = this.#words;
    const order = this.#pending.get(executing)?.order;
    const worker = this.#pool.threads.find(({ threadId }) => threadId === this.#threadId);
    const hasPoints = order?.name === "step" || order?.name === "replay" || order?.name === "help";
    const look = {
      executing,
      progress: order?.name === "help" ? progress + progressOf(order.task as HelpTask) : progress,
      waits: order?.name === "help",
      deadlineMs: hasPoints ? this.#deadlineMs : Math.max(this.#deadlineMs, OTHERS_DEADLINE_MS),
    };
    const reason = this.#watch.look(worker, look, elapsedMs);
    if (!reason) return;
    this.#ended = { reason, executing };
    // Piscina rejects `serve`, and starts another thread.
    void worker?.terminate();
  }

  /** The pool ends: no other thread is asked for. */
  close(): void {
    this.#closed = true;
  }

  #order(wanted: Wanted, fromMs: number, begun?: () => void): { id: number; done: Promise<unknown> } {
    this.#orders += 1;
    const id = this.#orders;
    const order = { id, ...wanted } as ThreadOrder;
    const done = new Promise<unknown>((resolve, reject) =>
      this.#pending.set(id, { fromMs, order, resolve, reject, ...(begun && { begun }) }),
    );
    this.#post(order);
    return { id, done };
  }

  /** Steps that are handed over in one turn of events go in one message: they are not due yet. */
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
        await this.#pool.run(task, { name: "serve", transferList: [port2] });
      } catch (reason) {
        error = reason;
      }
      // It may have been lost in the middle of something.
      this.#running.end(this.#slot);
      // It may have answered before it was lost.
      for (let entry = receiveMessageOnPort(port1); entry; entry = receiveMessageOnPort(port1))
        this.#answered(entry.message as ThreadAnswer);
      port1.close();
      // What is asked for from now on is for the next one.
      port2 = this.#open();
      this.#rejectAll(error);
      const restMs = LEAST_LIFE_MS - (performance.now() - sinceMs);
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
    }
  }

  /** The thread is lost. Only the order that it executed is charged with that. */
  #rejectAll(error: unknown): void {
    const executing = this.#words.execute(0);
    // A thread that went on before its end reached it executed another order by then, which is not to blame.
    const { reason, executing: culprit } = this.#ended ?? { reason: "ended" as const, executing };
    this.#ended = null;
    const lost = [...this.#pending];
    this.#pending.clear();
    for (const [id, { reject }] of lost) reject(this.#closed ? error : new ThreadLost(reason, id === culprit, error));
    if (!this.#closed) this.#onLost(reason);
  }

  /** @returns the other end, for a thread that is to come */
  #open(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    port1.on("message", (answer: ThreadAnswer) => this.#answered(answer));
    // What is under way keeps the process, not the port.
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
    else pending.reject(new StepDropped("the step was withdrawn, or its time was over"));
  }
}

/** A helper's progress is that of the tick that it helps with. */
const progressOf = ({ room }: HelpTask): number => new SchedulerWords(room.memory).progress();
