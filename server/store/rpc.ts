/**
 * Calls into a worker thread: a name and arguments go in, a result or an error comes back, one after another in the
 * order of the calls. Small on purpose; a pool of threads (Piscina) promises neither one thread nor an order.
 *
 * Urgent calls have a line of their own: the thread looks there before each call of the other line, so an urgent one
 * waits for the call that is under way and for no other, however many wait.
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
}

/** What the thread starts with. */
interface ThreadData {
  options: unknown;
  urgent: MessagePort;
}

/** An error as it crosses: classes do not. */
export interface PlainError {
  name: string;
  message: string;
  /** What the error carries besides, by name. */
  details: Record<string, unknown>;
}

type Answer = { id: number; result: unknown } | { id: number; error: PlainError };

/**
 * The calling side. The thread starts with the first call, does not keep the program alive while nothing is asked, and
 * starts again should it be lost.
 */
export class Caller {
  readonly #file: URL;
  readonly #workerData: unknown;
  readonly #revive: (error: PlainError) => Error;
  readonly #pending = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  #worker: Worker | null = null;
  /** The urgent line into the thread. */
  #urgent: MessagePort | null = null;
  #nextId = 1;

  /** @param revive makes an Error again of one that crossed */
  constructor(file: URL, workerData: unknown, revive: (error: PlainError) => Error) {
    this.#file = file;
    this.#workerData = workerData;
    this.#revive = revive;
  }

  /**
   * @param urgent goes before all calls that wait
   * @throws what the method threw, or an Error when the thread was lost: then it is unknown whether it was done
   */
  call(method: string, args: unknown[], urgent = false): Promise<unknown> {
    const worker = (this.#worker ??= this.#start());
    const line = urgent ? this.#urgent! : worker;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      worker.ref();
      try {
        line.postMessage({ id, method, args } satisfies Call);
      } catch (error) {
        this.#settled(id);
        reject(error as Error); // An argument that cannot be cloned.
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
    // Node prints a warning for node:sqlite in some versions; it is our decision to use it, and nobody else's to read
    // about it in a log. The process's own arguments may hold some that Node refuses for a thread (V8's, which hold for
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

  #settled(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref();
  }

  #lost(worker: Worker, error: Error): void {
    if (this.#worker === worker) this.#worker = null;
    else if (this.#worker !== null) return; // Somebody else's calls wait now.
    const callers = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of callers) reject(error);
  }
}

/** The answering side's `workerData`, as `Caller` was given it. */
export const threadOptions = (): unknown => (workerData as ThreadData).options;

/**
 * The answering side: runs methods of `target` by name.
 * @param plain what of an error crosses besides its name and message
 */
export function answerCalls(target: Record<string, unknown>, plain: (error: Error) => Record<string, unknown>): void {
  const port = parentPort;
  if (port === null) throw new Error("answerCalls runs in a worker thread");
  const { urgent } = workerData as ThreadData;
  const answer = ({ id, method, args }: Call): void => {
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
  // Answers go through the one port either way: only what comes in has to be told apart.
  urgent.on("message", answer);
  port.on("message", (call: Call) => {
    for (let first = receiveMessageOnPort(urgent); first; first = receiveMessageOnPort(urgent))
      answer(first.message as Call);
    answer(call);
  });
}

/** Large results move instead of being copied: byte arrays of a row, or of rows, each with a buffer of its own. */
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
