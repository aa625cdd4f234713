/** What a page and a server hold when everything that nobody needs has been collected: their engines' own count. */
import type { CDPSession } from "playwright-core";
import WebSocket from "ws";

/** Bytes. */
export interface Heap {
  /** JavaScript's own. */
  used: number;
  /** With what its array buffers hold outside of it. */
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

/** Of a page, with the number of its DOM nodes and listeners. */
export async function pageHeap(session: CDPSession): Promise<Heap & { nodes: number; listeners: number }> {
  await session.send("HeapProfiler.collectGarbage");
  const { nodes, jsEventListeners: listeners } = await session.send("Memory.getDOMCounters");
  return { ...heapOf(await session.send("Runtime.getHeapUsage")), nodes, listeners };
}

/** A process of Node's that was started with `--inspect=127.0.0.1:0`; its main thread. */
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

  /** @param output what the process has written so far: it says where it listens */
  static async of(output: string): Promise<Inspected> {
    const address = /ws:\/\/127\.0\.0\.1:\S+/.exec(output)?.[0];
    if (address === undefined) throw new Error(`no inspector was announced in ${JSON.stringify(output)}`);
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
