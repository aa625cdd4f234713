/** Memory of a page and of a server after a garbage collection, as counted by their engines. */
import type { CDPSession } from "playwright-core";
import WebSocket from "ws";

/** Sizes in bytes. */
export interface Heap {
  /** JavaScript heap. */
  used: number;
  /** JavaScript heap plus the storage of its array buffers. */
  all: number;
}

interface Usage {
  usedSize: number;
  backingStorageSize?: number;
}

const heapOf = ({ usedSize, backingStorageSize = 0 }: Usage): Heap => ({
  used: usedSize,
  all: usedSize + backingStorageSize,
});

/** Heap of a page, and the number of its DOM nodes and listeners. */
export async function pageHeap(session: CDPSession): Promise<Heap & { nodes: number; listeners: number }> {
  await session.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners: listeners } = await session.send("Memory.getDOMCounters");
  return { ...heapOf(await session.send("Runtime.getHeapUsage")), nodes, listeners };
}

/** The main thread of a Node process that was started with `--inspect=127.0.0.1:0`. */
export class Inspected {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #asked = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown };
      if (id === undefined) return;
      this.#answers.get(id)?.(result);
      this.#answers.delete(id);
    });
  }

  /** @param output of the process so far, which contains the inspector's address */
  static async of(output: string): Promise<Inspected> {
    const address = /ws:\/\/127\.0\.0\.1:\S+/.exec(output)?.[0];
    if (address === undefined) throw new Error(`no inspector address in the output ${JSON.stringify(output)}`);
    const socket = new WebSocket(address, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new Inspected(socket);
  }

  async heap(): Promise<Heap> {
    await this.#ask("HeapProfiler.collectGarbage");
    return heapOf((await this.#ask("Runtime.getHeapUsage")) as Usage);
  }

  close(): void {
    this.#socket.close();
  }

  #ask(method: string): Promise<unknown> {
    const id = ++this.#asked;
    this.#socket.send(JSON.stringify({ id, method }));
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }
}
