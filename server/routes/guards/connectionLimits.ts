/**
 * Limits TCP connections that are not (yet) WebSockets of rooms: how many one address may hold, and how long each may
 * stay idle, send slowly, or leave an answer unread.
 *
 *     request head incomplete   10 s   Node, headersTimeout
 *     request body incomplete   30 s   Node, requestTimeout
 *     no request                72 s   Node, keepAliveTimeout: longer than load balancers keep connections
 *     answer not read           30 s   here
 *
 * Above the limit, the connection that has been idle longest is closed in favor of the new one. If all are busy, the
 * new one is closed. Trusted proxies and other processes of the cluster carry many visitors over few connections. Their
 * connections are not counted; their visitors' requests are (auth/budgets.ts).
 *
 * Refusals cost time, too: a coded answer takes 0.2 ms of the main thread and a kilobyte of the log. So all connections
 * and requests of an address are counted here, health checks included. Above that limit, and above MOST_UNANSWERED on
 * one connection, the connection ends without an answer. Node parses everything that has arrived at once: 800 requests
 * in one piece blocked the main thread for 240 ms.
 *
 * To reuse a connection, Node also reads the rest of a body whose request is already answered. An address that sent
 * large files and was refused each time cost a tenth of the main thread's time in garbage collection. So a request with
 * a large body is the last of its connection, which ends with the answer. A close with unread bytes resets the
 * connection, and a client that is still sending loses the answer. So the server first closes its half, and reads no
 * more.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressKey } from "../../auth/addresses.ts";

export const HEAD_MS = 10_000;
export const BODY_MS = 30_000;
const STALLED_MS = 30_000;
/** Time for a client that is still sending to read its answer. */
const LINGER_MS = 2_000;

/** Unanswered requests of one connection. Browsers wait for each answer; some libraries send a few requests ahead. */
const MOST_UNANSWERED = 32;

/** Body limit of all routes that take no files, bytes. */
export const SMALL_BODY = 64 * 1024;

export interface LineOptions {
  /** Connections of one address. */
  perAddress: number;
  /** Whether this address carries many visitors. */
  carries: (address: string) => boolean;
  /** Charges a request or a connection to the address. @returns false if its budget is used up */
  count: (address: string) => boolean;
  onRefused: () => void;
  stalledMs?: number;
}

interface Line {
  socket: Socket;
  ends: string;
  address: string;
  /** Number of unanswered requests. */
  busy: number;
}

export class Lines {
  readonly #options: Required<LineOptions>;
  /** Connections by address, in order of idle time, longest first. */
  readonly #lines = new Map<string, Set<Line>>();
  /** Connections by the ports of both ends: over TLS, requests arrive on another socket object than the opened one. */
  readonly #byEnds = new Map<string, Line>();

  constructor(options: LineOptions) {
    this.#options = { stalledMs: STALLED_MS, ...options };
  }

  watch(server: Server): void {
    // Node checks its server's `blockList` before it creates a socket object. Closing a connection there costs half the
    // time (14 us, 10 of them the system's) and creates no garbage.
    Object.assign(server, { blockList: { check: (address: string) => this.#turnsAway(address) } });
    server.on("connection", (socket: Socket) => this.#opened(socket));
    // Over TLS, requests arrive on a socket of their own. Node keeps an address that was read once.
    server.on("secureConnection", (socket: Socket) => void (socket.remoteAddress ?? socket.destroy()));
    // Pass accepted requests to the previous listeners.
    const answering = server.listeners("request") as RequestListener[];
    server.removeAllListeners("request");
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { "content-length": length, "transfer-encoding": unknown } = request.headers;
      if (unknown !== undefined || Number(length ?? 0) > SMALL_BODY) {
        response.shouldKeepAlive = false;
        endsByHalves(request);
      }
      if (this.#letsThrough(request.socket, response)) for (const answer of answering) answer(request, response);
    });
    server.prependListener("upgrade", ({ socket }: IncomingMessage) => {
      socket.setTimeout(0);
      this.carries(socket);
    });
    server.setTimeout(this.#options.stalledMs, (socket: Socket) => this.#silent(socket));
  }

  /** Stops counting a connection that carries many visitors or became a room's WebSocket, which has its own count. */
  carries(socket: Socket): void {
    const line = this.#byEnds.get(endsOf(socket));
    if (line) this.#forget(line);
  }

  #turnsAway(address: string): boolean {
    if (this.#options.carries(address) || this.#options.count(addressKey(address))) return false;
    this.#options.onRefused();
    return true;
  }

  #opened(socket: Socket): void {
    const { remoteAddress } = socket;
    // Its client has reset it already: no address can be charged for its requests, and no client waits for answers.
    if (remoteAddress === undefined) return void socket.destroy();
    if (this.#options.carries(remoteAddress)) return;
    const address = addressKey(remoteAddress);
    const line: Line = { socket, ends: endsOf(socket), address, busy: 0 };
    const lines = this.#lines.get(address) ?? new Set<Line>();
    if (lines.size >= this.#options.perAddress) {
      this.#options.onRefused();
      const idle = [...lines].find(({ busy }) => busy === 0);
      if (!idle) return void socket.destroy();
      this.#forget(idle);
      idle.socket.destroy();
    }
    // Removing the last connection also removes the set from the map.
    this.#lines.set(address, lines);
    lines.add(line);
    this.#byEnds.set(line.ends, line);
    socket.once("close", () => this.#forget(line));
  }

  /** @returns false: neither this request nor those that came with it are answered */
  #letsThrough(socket: Socket, response: ServerResponse): boolean {
    if (socket.destroyed) return false;
    const line = this.#byEnds.get(endsOf(socket));
    if (!line) return true;
    if (line.busy >= MOST_UNANSWERED || !this.#options.count(line.address)) {
      this.#options.onRefused();
      socket.destroy();
      return false;
    }
    line.busy += 1;
    response.once("close", () => {
      line.busy -= 1;
      // The connection has just become idle: move it to the end.
      const lines = this.#lines.get(line.address);
      if (lines?.delete(line)) lines.add(line);
    });
    return true;
  }

  /**
   * Handles a connection without traffic for `stalledMs`. If the client does not read its answer, the connection ends;
   * if the server is still working on the answer, it stays.
   */
  #silent(socket: Socket): void {
    const { _httpMessage: answering } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (!answering || socket.writableLength > 0 || answering.writableLength > 0) socket.destroy();
    else socket.setTimeout(this.#options.stalledMs);
  }

  #forget(line: Line): void {
    const lines = this.#lines.get(line.address);
    lines?.delete(line);
    if (lines?.size === 0) this.#lines.delete(line.address);
    if (this.#byEnds.get(line.ends) === line) this.#byEnds.delete(line.ends);
  }
}

/** Node calls `destroySoon` after the last answer of a connection. Here it leaves a sending client time to read it. */
function endsByHalves(request: IncomingMessage): void {
  const { socket } = request;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) return destroySoon();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(cut));
    socket.end();
    // Node still reads the body, to drop it. A listener takes the bytes from its parser, so that a pause holds.
    socket.on("data", () => {});
    setImmediate(() => socket.pause());
  };
}

/** Identifies a connection even after the socket no longer knows its peer. */
const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
