/**
 * TCP connections that are no sockets of rooms (yet): how many one address may hold, and how long each may be idle,
 * slow, or not read.
 *
 *     head not here     10 s   Node, headersTimeout
 *     body not here     30 s   Node, requestTimeout
 *     nothing asked     72 s   Node, keepAliveTimeout: longer than balancers keep theirs
 *     answer not read   30 s   here
 *
 * Above the limit the connection that has been idle longest makes room for the new one; where all are busy the new one
 * is closed. Proxies that are trusted and other processes of the cluster bring many visitors over few connections: they
 * are not counted, their visitors' requests are (auth/budgets.ts).
 *
 * What is refused costs something, too: a coded answer takes 0.2 ms of the main thread and a kilobyte of the log. So
 * the connections and requests of an address are counted here whatever becomes of them, health checks among them; above
 * that limit, and above MOST_UNANSWERED on one connection, the connection ends without an answer. Node reads all that
 * has come at once: 800 requests in one piece kept the main thread for 240 ms.
 *
 * Node also reads what is still to come of a body whose request is answered, all of it, to use the connection again: an
 * address that sent large files and was refused each kept the main thread's garbage collector busy for a tenth of the
 * time. So a request with a large body is the last of its connection, which ends with the answer.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressKey } from "../auth/addresses.ts";

export const HEAD_MS = 10_000;
export const BODY_MS = 30_000;
const STALLED_MS = 30_000;

/** Requests of one connection that have no answer yet. Browsers wait for each; some libraries send a few ahead. */
const MOST_UNANSWERED = 32;

/** Bytes of a body: as large as a route takes one that does not take files. */
export const SMALL_BODY = 64 * 1024;

export interface LineOptions {
  /** Connections of one address. */
  perAddress: number;
  /** Does this address bring many visitors? */
  carries: (address: string) => boolean;
  /** Takes a request or a connection from what the address may have. @returns false: there is nothing left */
  count: (address: string) => boolean;
  onRefused: () => void;
  stalledMs?: number;
}

interface Line {
  socket: Socket;
  ends: string;
  address: string;
  /** Requests that are not answered yet. */
  busy: number;
}

export class Lines {
  readonly #options: Required<LineOptions>;
  /** By address; idle longest first. */
  readonly #lines = new Map<string, Set<Line>>();
  /** By both ends' ports: over TLS requests come from another socket object than the one that was opened. */
  readonly #byEnds = new Map<string, Line>();

  constructor(options: LineOptions) {
    this.#options = { stalledMs: STALLED_MS, ...options };
  }

  watch(server: Server): void {
    // Node asks its server's `blockList` before it makes a socket of a connection: one that is ended there costs half
    // of the time (14 us, 10 of them the system's), and no garbage.
    Object.assign(server, { blockList: { check: (address: string) => this.#turnsAway(address) } });
    server.on("connection", (socket: Socket) => this.#opened(socket));
    // Whoever has answered until now answers what is let through.
    const answering = server.listeners("request") as RequestListener[];
    server.removeAllListeners("request");
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const { "content-length": length, "transfer-encoding": unknown } = request.headers;
      if (unknown !== undefined || Number(length ?? 0) > SMALL_BODY) response.shouldKeepAlive = false;
      if (this.#letsThrough(request.socket, response)) for (const answer of answering) answer(request, response);
    });
    server.prependListener("upgrade", ({ socket }: IncomingMessage) => {
      socket.setTimeout(0);
      this.carries(socket);
    });
    server.setTimeout(this.#options.stalledMs, (socket: Socket) => this.#silent(socket));
  }

  /** The connection is not counted any more: it brings many visitors, or is a room's socket and counted as that. */
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
    const { remoteAddress = "" } = socket;
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
    // Forgetting the last one has forgotten the set.
    this.#lines.set(address, lines);
    lines.add(line);
    this.#byEnds.set(line.ends, line);
    socket.once("close", () => this.#forget(line));
  }

  /** @returns false: it is not answered, and nothing that came with it either */
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
      // Idle since now: to the end of the line.
      const lines = this.#lines.get(line.address);
      if (lines?.delete(line)) lines.add(line);
    });
    return true;
  }

  /**
   * Nothing went over the connection for as long as it may be: what the client does not read ends it, what the server
   * is still working on does not.
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

/** Which connection it is, also once the socket knows its peer no more. */
const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
