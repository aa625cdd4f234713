/**
 * Calls into a worker thread: sends a method name and arguments, and returns a result or an error. Calls run one after
 * another in their order. A pool of threads (Piscina) would guarantee neither a single thread nor the order.
 *
 * Urgent calls have their own queue. The thread looks there before each other call, so an urgent call waits only for
 * the running call. A call may have a longest wait: if it has not begun by then, it never runs.
 */
import {
  MessageChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  type Transferable,
  Worker,
  workerData,
} from "node:worker_threads";

interface Call {
  id: number;
  method: string;
  args: unknown[];
  /** Of a call with a longest wait: one element, 0 until the first of both sides sets it to BEGUN or WITHDRAWN. */
  state?: Int32Array;
}

const BEGUN = 1;
const WITHDRAWN = 2;

/** Data that the thread starts with. */
interface ThreadData {
  options: unknown;
  urgent: MessagePort;
}

/** An error as plain data, because classes do not cross threads. */
export interface PlainError {
  name: string;
  message: string;
  /** Further properties of the error, by name. */
  details: Record<string, unknown>;
}

type Answer = { id: number; result: unknown } | { id: number; error: PlainError };

/**
 * The calling side. The thread starts with the first call and starts again if it is lost. It does not keep the process
 * alive while no call is pending.
 */
export class Caller {
  readonly #file: URL;
  readonly #workerData: unknown;
  readonly #revive: (error: PlainError) => Error;
  readonly #pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #worker: Worker | null = null;
  /** The port of urgent calls. */
  #urgent: MessagePort | null = null;
  #nextId = 1;

  /** @param revive makes an Error from its plain data */
  constructor(file: URL, workerData: unknown, revive: (error: PlainError) => Error) {
    this.#file = file;
    this.#workerData = workerData;
    this.#revive = revive;
  }

  /**
   * @param urgent runs before all queued calls
   * @param waitMs longest wait behind other calls
   * @throws the error of the method; an Error if the call waited too long, and then it does not run; or an Error if the
   *   thread was lost, and then the outcome is unknown
   */
  call(
    method: string,
    args: unknown[],
    { urgent = false, waitMs }: { urgent?: boolean; waitMs?: number } = {},
  ): Promise<unknown> {
    const worker = (this.#worker ??= this.#start());
    const line: Pick<Worker, "postMessage"> = urgent ? this.#urgent! : worker;
    const id = this.#nextId++;
    const state = waitMs === undefined ? undefined : new Int32Array(new SharedArrayBuffer(4));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.ref();
      if (state) this.#withdrawAfter(waitMs!, id, state);
      try {
        line.postMessage({ id, method, args, state } satisfies Call);
      } catch (error) {
        this.#settled(id);
        reject(error as Error); // An argument could not be cloned.
      }
    });
  }

  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    this.#urgent?.close();
    await worker?.terminate();
  }

  #start(): Worker {
    // --disable-warning: some versions of Node print a warning for node:sqlite, which would only fill the log. execArgv
    // also replaces the process's own arguments, because Node refuses some of them for a thread (V8 options apply to
    // all threads anyway).
    const { port1: own, port2: theirs } = new MessageChannel();
    this.#urgent = own;
    own.unref();
    const worker = new Worker(this.#file, {
      workerData: { options: this.#workerData, urgent: theirs } satisfies ThreadData,
      transferList: [theirs],
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    worker.unref();
    worker.on("message", (answer: Answer) => {
      const caller = this.#pending.get(answer.id);
      this.#settled(answer.id);
      if ("error" in answer) caller?.reject(this.#revive(answer.error));
      else caller?.resolve(answer.result);
    });
    worker.on("error", (error: Error) => this.#lost(worker, error));
    worker.on("exit", (code: number) => this.#lost(worker, new Error(`the thread ended with code ${code}`)));
    return worker;
  }

  #withdrawAfter(waitMs: number, id: number, state: Int32Array): void {
    const timer = setTimeout(() => {
      if (Atomics.compareExchange(state, 0, 0, WITHDRAWN) !== 0) return;
      this.#pending.get(id)?.reject(new Error(`it waited ${waitMs} ms for other calls`));
      this.#settled(id);
    }, waitMs);
    timer.unref();
  }

  #settled(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
  }

  #lost(worker: Worker, error: Error): void {
    if (this.#worker === worker) this.#worker = null;
    else if (this.#worker !== null) return; // The pending calls belong to a newer thread.
    const callers = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of callers) reject(error);
  }
}

/** Returns, in the thread, the `workerData` that was given to `Caller`. */
export const threadOptions = (): unknown => (workerData as ThreadData).options;

/**
 * The answering side: runs methods of `target` by name.
 * @param plain returns the further properties of an error that are sent
 */
export function answerCalls(target: Record<string, unknown>, plain: (error: Error) => Record<string, unknown>): void {
  const port = parentPort;
  if (port === null) throw new Error("answerCalls runs in a worker thread");
  const { urgent } = workerData as ThreadData;
  const answer = ({ id, method, args, state }: Call): void => {
    if (state && Atomics.compareExchange(state, 0, 0, BEGUN) === WITHDRAWN) return;
    try {
      const result = (target[method] as (...args: unknown[]) => unknown).apply(target, args);
      port.postMessage({ id, result } satisfies Answer, transferable(result));
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      port.postMessage({
        id,
        error: { name: error.name, message: error.message, details: plain(error) },
      } satisfies Answer);
    }
  };
  // All answers use one port; only incoming urgent calls need their own.
  urgent.on("message", answer);
  port.on("message", (call: Call) => {
    for (let first = receiveMessageOnPort(urgent); first; first = receiveMessageOnPort(urgent))
      answer(first.message as Call);
    answer(call);
  });
}

/** Buffers of a result that are moved instead of copied: byte arrays in a row, or in rows, that own their buffers. */
function transferable(result: unknown): Transferable[] {
  const rows = Array.isArray(result) ? result : [result];
  return rows.flatMap((row) =>
    typeof row === "object" && row !== null
      ? Object.values(row as object).flatMap((value) =>
          value instanceof Uint8Array &&
          value.buffer instanceof ArrayBuffer &&
          value.byteLength === value.buffer.byteLength &&
          value.byteLength > 0
            ? [value.buffer]
            : [],
        )
      : [],
  );
}
