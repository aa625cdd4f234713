/**
 * WebSocket connection to a room. Sends the hello, keeps the session's resume token, detects a dead connection, and
 * reconnects with exponential backoff and jitter until the server says that the room is gone.
 */
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import { build } from "../../../shared/protocol/fromClient.ts";
import { parseServerMessage, type ServerEvent } from "../../../shared/protocol/fromServer.ts";
import type { PliantError } from "../errors.ts";
import { RateMeter } from "./rateMeter.ts";

export type ConnectionStatus =
  | { state: "connecting"; attempt: number }
  | { state: "open" }
  /** The connection is lost; the next attempt starts in `retryInMs`. */
  | { state: "reconnecting"; attempt: number; retryInMs: number; code: number }
  /** No further attempt will be made. */
  | { state: "ended"; code: number; reason: string; error?: PliantError };

/** The part of the WebSocket interface that a connection uses: in browsers, in Node, and in `ws`. */
export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly url: string;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

export type SocketConstructor = new (url: string) => SocketLike;

export interface ConnectionOptions {
  url: string;
  /** Default: the runtime's own class. */
  WebSocket?: SocketConstructor;
  /** Read at every hello, so that the next one carries a changed name. */
  profile: () => { name?: string; color?: string };
  /** Subscribes to contacts that begin. Default: no. */
  contacts?: boolean;
  /** Credentials, read at every hello. */
  credentials?: () => { token?: string; password?: string };
  onEvent: (event: ServerEvent, receivedMs: number) => void;
  onStatus: (status: ConnectionStatus) => void;
  /**
   * Called if the first attempts fail before any welcome: browsers do not tell why an upgrade was refused.
   * @returns reason to end; undefined: try again
   */
  whyRefused?: () => Promise<PliantError | undefined>;
}

/**
 * First wait, ms. Doubled after each failed attempt, up to MAX_WAIT_MS, and multiplied by a random factor from 0.7 to
 * 1.3, so that clients do not all return to a restarted server at once.
 */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5000;
/** Interval of pings, ms. They feed the clock and tell a dead connection from a quiet room. */
const PING_MS = 1000;
/** Timeout of a direct connection to the process that has the room, ms. */
const DIRECT_MS = 3000;

/** Close codes that end the connection: a retry cannot help, or needs an action of the user first. */
const FINAL: ReadonlySet<number> = new Set<number>([
  CloseCode.roomGone,
  CloseCode.unsupportedVersion,
  CloseCode.tokenNeeded,
  CloseCode.kicked,
  CloseCode.passwordNeeded,
  CloseCode.locked,
  CloseCode.quarantined,
  CloseCode.tooManyAttempts,
]);

/** `readyState` of an open socket. */
const OPEN = 1;
/** Close code of a connection that was lost without a close frame (RFC 6455). */
const ABNORMAL = 1006;

/**
 * @param base of the process that has the room, http(s)://host[:port]
 * @param url of the room's socket at the process that served the page
 * @returns the room's socket at `base`; undefined if `base` is no valid address
 */
export function directUrl(base: string, url: string): string | undefined {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) return undefined;
  const { protocol, host } = new URL(base);
  const direct = new URL(url);
  // A page that was loaded over TLS may open only encrypted sockets.
  if (direct.protocol === "wss:" && protocol === "http:") return undefined;
  direct.protocol = protocol === "https:" ? "wss:" : "ws:";
  direct.host = host;
  return direct.href;
}

/** URL of a room's socket. @param base http(s)://host[:port] */
export const socketUrl = (base: string, room: string): string =>
  `${base.replace(/^http/, "ws")}/api/rooms/${encodeURIComponent(room)}/socket`;

/** Wait before attempt number `attempt` (1 is the first retry), ms. `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.7 + 0.6 * random);
}

/** Events after which it reconnects without waiting: browsers slow down the timers of hidden pages. */
const RETRY_AT = ["online", "visibilitychange"];

export class Connection {
  readonly received = new RateMeter();
  private readonly options: ConnectionOptions;
  private socket: SocketLike | undefined;
  private attempt = 0;
  private token: string | undefined;
  private lastHeardMs = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly pingTimer: ReturnType<typeof setInterval>;
  private ended = false;
  private welcomed = false;
  /** Direct connection that is being tried. */
  private direct: SocketLike | undefined;
  /** URLs of direct connections that failed or were lost. */
  private readonly unreachable = new Set<string>();

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.pingTimer = setInterval(() => this.heartbeat(), PING_MS);
    for (const event of RETRY_AT) globalThis.addEventListener?.(event, this.retryNow);
    this.open();
  }

  get isOpen(): boolean {
    return this.welcomed && this.socket?.readyState === OPEN;
  }

  /** Sends if the connection is open. Otherwise drops the message, because a late input would be wrong. */
  send(bytes: Uint8Array): void {
    if (this.isOpen) this.socket!.send(bytes as Uint8Array<ArrayBuffer>);
  }

  /** Leaves the room and does not reconnect. */
  close(): void {
    this.end(CloseCode.normal, "left");
    this.socket?.close(CloseCode.normal);
  }

  /** Reconnects at once with the same session, so that the hello carries a changed name. */
  reintroduce(): void {
    if (this.ended) return;
    const old = this.detach();
    old?.close(CloseCode.normal, "reintroduce");
    this.open();
  }

  private readonly retryNow = (): void => {
    if (this.ended || !this.retryTimer) return;
    this.open();
  };

  private open(): void {
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    this.welcomed = false;
    this.options.onStatus({ state: "connecting", attempt: this.attempt });
    const socket = this.connect(this.options.url);
    this.socket = socket;
    this.lastHeardMs = performance.now();
    socket.onopen = () => this.greet(socket);
    this.listen(socket);
  }

  private connect(url: string): SocketLike {
    const socket = new (this.options.WebSocket ?? (globalThis.WebSocket as SocketConstructor))(url);
    socket.binaryType = "arraybuffer";
    // The close event that follows tells the reason; without a listener `ws` would throw.
    socket.onerror = () => {};
    return socket;
  }

  private greet(socket: SocketLike): void {
    const { profile, contacts, credentials } = this.options;
    const hello = build.hello({ ...profile(), resume: this.token, contacts, ...credentials?.() });
    socket.send(hello as Uint8Array<ArrayBuffer>);
  }

  private listen(socket: SocketLike): void {
    socket.onmessage = (message) => this.receive(message.data as ArrayBuffer);
    socket.onclose = (event) => {
      // After the loss of a direct connection, reconnect through the process that served the page.
      if (event.code === ABNORMAL && socket.url !== this.options.url) this.unreachable.add(socket.url);
      void this.closed(event.code, event.reason);
    };
  }

  /**
   * Moves the connection to the process that has the room, and resumes the session there. The current connection stays
   * until the direct one answers. If that fails, nothing changes.
   */
  private goDirect(base: string): void {
    const url = directUrl(base, this.options.url);
    if (url === undefined || url === this.socket?.url || this.unreachable.has(url) || this.direct) return;
    const socket = this.connect(url);
    this.direct = socket;
    const failed = (): void => {
      clearTimeout(timer);
      if (this.direct !== socket) return;
      this.direct = undefined;
      this.unreachable.add(url);
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
      // The server may already have closed the current connection in favor of the direct one.
      if (!this.ended && !this.socket) this.open();
    };
    const timer = setTimeout(failed, DIRECT_MS);
    socket.onopen = () => this.greet(socket);
    socket.onclose = failed;
    socket.onmessage = (message) => {
      clearTimeout(timer);
      if (this.direct !== socket) return;
      this.direct = undefined;
      this.detach()?.close(CloseCode.normal);
      this.socket = socket;
      this.listen(socket);
      this.receive(message.data as ArrayBuffer);
    };
  }

  private receive(data: ArrayBuffer): void {
    const nowMs = performance.now();
    this.lastHeardMs = nowMs;
    this.received.add(data.byteLength, nowMs);
    let event: ServerEvent | undefined;
    try {
      event = parseServerMessage(data);
    } catch (error) {
      console.error(error);
      return;
    }
    if (!event) return;
    if (event.type === "welcome") {
      this.token = event.welcome.token;
      this.attempt = 0;
      this.welcomed = true;
      this.options.onStatus({ state: "open" });
      this.send(build.ping(nowMs));
    }
    this.options.onEvent(event, nowMs);
    if (event.type === "welcome" && event.welcome.url) this.goDirect(event.welcome.url);
  }

  private async closed(code: number, reason: string): Promise<void> {
    const everWelcomed = this.token !== undefined;
    this.detach();
    // The direct connection that is being tried has taken over the session; if it fails, it reconnects.
    if (this.ended || this.direct) return;
    if (FINAL.has(code)) return this.end(code, reason);
    this.attempt++;
    // A refused upgrade looks like any lost connection (1006): ask over HTTP for the reason.
    if (!everWelcomed || this.attempt > 2) {
      const error = await this.options.whyRefused?.().catch(() => undefined);
      if (this.ended || this.socket) return;
      if (error) return this.end(error.closeCode ?? code, error.message, error);
    }
    const retryInMs = backoffMs(this.attempt, Math.random());
    // Set before the status is reported: a listener that leaves the room must be able to cancel the timer.
    this.retryTimer = setTimeout(() => this.open(), retryInMs);
    this.options.onStatus({ state: "reconnecting", attempt: this.attempt, retryInMs, code });
  }

  private heartbeat(): void {
    if (this.ended || !this.socket) return;
    const nowMs = performance.now();
    if (nowMs - this.lastHeardMs > Limits.deadAfterMs) {
      // A half-open connection does not fire onclose in time: treat it as lost now.
      this.detach()?.close();
      void this.closed(CloseCode.heartbeatLost, "silent line");
      return;
    }
    this.send(build.ping(nowMs));
  }

  private detach(): SocketLike | undefined {
    const { socket } = this;
    if (socket) socket.onopen = socket.onmessage = socket.onclose = null;
    this.socket = undefined;
    this.welcomed = false;
    return socket;
  }

  private end(code: number, reason: string, error?: PliantError): void {
    this.ended = true;
    clearInterval(this.pingTimer);
    clearTimeout(this.retryTimer);
    this.direct?.close();
    this.direct = undefined;
    for (const event of RETRY_AT) globalThis.removeEventListener?.(event, this.retryNow);
    this.options.onStatus({ state: "ended", code, reason, ...(error && { error }) });
  }
}
