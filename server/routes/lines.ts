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
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressKey } from "../auth/addresses.ts";

export const HEAD_MS = 10_000;
export const BODY_MS = 30_000;
const STALLED_MS = 30_000;

export interface LineOptions {
  /** Connections of one address. */
  perAddress: number;
  /** Does this address bring many visitors? */
  carries: (address: string) => boolean;
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
    server.on("connection", (socket: Socket) => this.#opened(socket));
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) =>
      this.#asked(request.socket, response),
    );
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

  #asked(socket: Socket, response: ServerResponse): void {
    const line = this.#byEnds.get(endsOf(socket));
    if (!line) return;
    line.busy += 1;
    response.once("close", () => {
      line.busy -= 1;
      // Idle since now: to the end of the line.
      const lines = this.#lines.get(line.address);
      if (lines?.delete(line)) lines.add(line);
    });
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
