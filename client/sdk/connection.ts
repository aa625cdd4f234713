/**
 * The socket to a room: says hello, keeps the session's resume token, notices a dead line, and reconnects by itself
 * with exponential backoff and jitter until the server says that the room is gone for good.
 */
import { CloseCode, Limits } from "../../shared/protocol/protocol.ts";
import { build } from "../../shared/protocol/fromClient.ts";
import { parseServerMessage, type ServerEvent } from "../../shared/protocol/fromServer.ts";
import { RateMeter } from "./rateMeter.ts";

export type ConnectionStatus =
  | { state: "connecting"; attempt: number }
  | { state: "open" }
  /** The line is down; the next attempt starts in `retryInMs`. */
  | { state: "reconnecting"; attempt: number; retryInMs: number; code: number }
  /** No further attempt will be made. */
  | { state: "ended"; code: number; reason: string };

/** What a connection needs of a socket: a browser's, Node's own or that of `ws`. */
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
  /** Default: the runtime's own. */
  WebSocket?: SocketConstructor;
  /** Read at every hello, so that a changed name goes out with the next one. */
  profile: () => { name?: string; color?: string };
  /** Of contact that begins. */
  contacts?: boolean;
  /** Credentials, read at every hello. */
  credentials?: () => { token?: string; password?: string };
  onEvent: (event: ServerEvent, receivedMs: number) => void;
  onStatus: (status: ConnectionStatus) => void;
  /** Asked when the first attempts fail before any welcome: a refused upgrade carries no reason in a browser. */
  roomExists?: () => Promise<boolean>;
}

/**
 * First wait, ms; doubled per failed attempt up to MAX_WAIT_MS, times 0.7 to 1.3 so that a restarted server is not
 * stormed.
 */
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5000;
/** One ping a second feeds the clock and tells a dead line from a quiet room. */
const PING_MS = 1000;
/** Until a line to the room's own process is given up, ms. */
const DIRECT_MS = 3000;

/** Close codes after which trying again cannot help, or not before a person has done something. */
const FINAL: ReadonlySet<number> = new Set<number>([
  CloseCode.roomGone,
  CloseCode.unsupportedVersion,
  CloseCode.tokenNeeded,
  CloseCode.kicked,
  CloseCode.passwordNeeded,
  CloseCode.locked,
  CloseCode.parked,
  CloseCode.tooManyAttempts,
]);

/** `readyState` of a socket that is open. */
const OPEN = 1;
/** A line that is simply gone (RFC 6455). */
const ABNORMAL = 1006;

/**
 * @param base of the process that has the room, http(s)://host[:port]
 * @param url of the room's socket at the process that the page came from
 * @returns the room's socket there; undefined where that is no address
 */
export function directUrl(base: string, url: string): string | undefined {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) return undefined;
  const { protocol, host } = new URL(base);
  const direct = new URL(url);
  // A page that came over TLS may open no other lines.
  if (direct.protocol === "wss:" && protocol === "http:") return undefined;
  direct.protocol = protocol === "https:" ? "wss:" : "ws:";
  direct.host = host;
  return direct.href;
}

/** How long to wait before attempt number `attempt` (1 is the first retry), ms. `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.7 + 0.6 * random);
}

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
  /** A line to the room's own process that is being tried. */
  private direct: SocketLike | undefined;
  /** Where the room's own process was not to be reached, or was lost. */
  private readonly unreachable = new Set<string>();

  constructor(options: ConnectionOptions) {
    this.options = options;
    this.pingTimer = setInterval(() => this.heartbeat(), PING_MS);
    globalThis.addEventListener?.("online", this.retryNow);
    this.open();
  }

  get isOpen(): boolean {
    return this.welcomed && this.socket?.readyState === OPEN;
  }

  /** Sends when the line is up; what is said into a broken line is dropped, because a late hand movement is wrong. */
  send(bytes: Uint8Array): void {
    if (this.isOpen) this.socket!.send(bytes as Uint8Array<ArrayBuffer>);
  }

  /** Leaves for good. */
  close(): void {
    this.end(CloseCode.normal, "left");
    this.socket?.close(CloseCode.normal);
  }

  /** Drops the line and comes back at once with the same session: a changed name travels in the hello. */
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
    // Its close, which follows, says all there is to say; without a listener `ws` would throw.
    socket.onerror = () => {};
    return socket;
  }

  private greet(socket: SocketLike): void {
    const { name, color } = this.options.profile();
    socket.send(
      build.hello({
        ...(name !== undefined && { name }),
        ...(color !== undefined && { color }),
        ...(this.token ? { resume: this.token } : {}),
        ...(this.options.contacts && { contacts: true }),
        ...this.options.credentials?.(),
      }) as Uint8Array<ArrayBuffer>,
    );
  }

  private listen(socket: SocketLike): void {
    socket.onmessage = (message) => this.receive(message.data as ArrayBuffer);
    socket.onclose = (event) => {
      // Whoever has the room's own line and loses it comes back by the way that all can go.
      if (event.code === ABNORMAL && socket.url !== this.options.url) this.unreachable.add(socket.url);
      void this.closed(event.code, event.reason);
    };
  }

  /**
   * Goes to the process that has the room, if it says where it is, and resumes there; the line that stands is kept
   * until that one does. Where it cannot be reached everything stays as it is.
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
      // The server may have ended the other line for this one already.
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
    // Ended for the line that is being tried, which has the session now: it comes, or it fails and says so.
    if (this.ended || this.direct) return;
    if (FINAL.has(code)) return this.end(code, reason);
    this.attempt++;
    // A refused upgrade looks like any lost line (1006): ask over HTTP whether the room is there at all.
    if (!everWelcomed || this.attempt > 2) {
      const exists = await (this.options.roomExists?.() ?? Promise.resolve(true)).catch(() => true);
      if (this.ended || this.socket) return;
      if (!exists) return this.end(CloseCode.roomGone, "no such room");
    }
    const retryInMs = backoffMs(this.attempt, Math.random());
    // Before anybody is told: whoever leaves on hearing it ends this, too.
    this.retryTimer = setTimeout(() => this.open(), retryInMs);
    this.options.onStatus({ state: "reconnecting", attempt: this.attempt, retryInMs, code });
  }

  private heartbeat(): void {
    if (this.ended || !this.socket) return;
    const nowMs = performance.now();
    if (nowMs - this.lastHeardMs > Limits.deadAfterMs) {
      // A half-open line never fires onclose in time: count it as lost now.
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

  private end(code: number, reason: string): void {
    this.ended = true;
    clearInterval(this.pingTimer);
    clearTimeout(this.retryTimer);
    this.direct?.close();
    this.direct = undefined;
    globalThis.removeEventListener?.("online", this.retryNow);
    this.options.onStatus({ state: "ended", code, reason });
  }
}
