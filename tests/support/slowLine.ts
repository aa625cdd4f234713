/**
 * A slow, uneven and lossy connection between real sockets, as TCP shows it: bytes keep their order and arrive late,
 * and everything behind a lost segment waits for its retransmission. It is a proxy in front of a server on this
 * machine. The noise is deterministic.
 */
import { createServer, connect, type AddressInfo, type Socket } from "node:net";

export interface LineQuality {
  /** One way, ms. */
  delayMs: number;
  /** Each chunk is late by up to this much more, evenly distributed, ms. */
  jitterMs: number;
  /** Share of the chunks that are lost once. */
  loss: number;
  /** Additional delay of a lost chunk, ms: TCP's minimum retransmission timeout is 200 ms on Linux. */
  retransmitMs: number;
}

export const PERFECT: LineQuality = { delayMs: 0, jitterMs: 0, loss: 0, retransmitMs: 200 };

export interface SlowLine {
  /** http://127.0.0.1:<port>, leads to the server. */
  url: string;
  /** May be changed at any time; bytes in flight keep their delay. */
  quality: LineQuality;
  /** Chunks lost so far, by direction. */
  lost: { up: number; down: number };
  close(): Promise<void>;
}

/** Marsaglia's xorshift32: evenly distributed in [0, 1). */
function noiseFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** @param serverUrl http://host:port */
export async function openSlowLine(serverUrl: string, quality: LineQuality = PERFECT): Promise<SlowLine> {
  const target = new URL(serverUrl);
  const noise = noiseFrom(0x2f6e2b1);
  const sockets = new Set<Socket>();
  const line: SlowLine = { url: "", quality, lost: { up: 0, down: 0 }, close: async () => {} };

  const carry = (from: Socket, to: Socket, direction: "up" | "down"): void => {
    let dueMs = 0;
    const late = (): number => {
      const { delayMs, jitterMs, loss, retransmitMs } = line.quality;
      const lost = noise() < loss;
      if (lost) line.lost[direction]++;
      dueMs = Math.max(dueMs, performance.now() + delayMs + jitterMs * noise() + (lost ? retransmitMs : 0));
      return dueMs - performance.now();
    };
    // Whichever timer fires first, actions run in the order of their arrival.
    const queue: (() => void)[] = [];
    const later = (action: () => void): void => {
      queue.push(action);
      setTimeout(() => queue.shift()!(), late());
    };
    from.on("data", (chunk) => later(() => void (to.destroyed || to.write(chunk))));
    from.on("end", () => later(() => to.end()));
    from.on("error", () => to.destroy());
    from.on("close", () => sockets.delete(from));
  };

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    for (const socket of [client, upstream]) sockets.add(socket);
    carry(client, upstream, "up");
    carry(upstream, client, "down");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  line.close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return line;
}
