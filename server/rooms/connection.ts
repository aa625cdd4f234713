/**
 * One WebSocket, from its upgrade to its end: hello timeout, message form, rate limits, heartbeat and close codes. It
 * knows nothing of rooms: an `Authorize` lets it in, and a `Membership` takes its requests.
 */
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import type { WebSocket } from "ws";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../shared/protocol/protocol.ts";
import { Refused } from "../auth/refused.ts";
import type { BytesKind, Metrics } from "../metrics/metrics.ts";
import type { Vouched } from "../auth/auth.ts";
import { type ClientRequest, MalformedMessage, parseClientMessage } from "../../shared/protocol/fromClient.ts";
import { encodeNotice } from "../../shared/protocol/fromServer.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** `vouched`: who sent it, as another process says that passed it on (routes/vouched.ts). */
export type Hello = Extract<ClientRequest, { type: "hello" }> & { vouched?: Vouched };
/** What others have passed on, too, is open. */
export type OpenedRequest = Exclude<ClientRequest, { type: "hello" }> | Hello;

/** What a connection is once it is let in. */
export interface Membership {
  handle(request: ClientRequest): void;
  /** The socket is gone. `code` is what the peer closed with, 1006 when it just went. */
  lost(code: number): void;
}

/**
 * Lets a connection in, at once or when a token or password is checked.
 * @throws Refused, or rejects with it;
 * @returns null when the connection has closed meanwhile
 */
type Authorize = (connection: Connection, hello: Hello) => Membership | Promise<Membership | null>;

export interface ConnectionOptions {
  log: FastifyBaseLogger;
  metrics: Metrics;
  authorize: Authorize;
  /** Takes what a message costs from the budget that all of its address share. @returns false: there is nothing left */
  spend: () => boolean;
  /** Of a message that another process has passed on: what it has sealed of it. */
  open: (request: ClientRequest | null) => OpenedRequest | null;
  onClosed: (connection: Connection) => void;
}

/** A peer that does not answer the close handshake is cut off after this long, ms. */
const CLOSE_GRACE_MS = 2000;
/** At most one notice about dropped inputs in this time, ms. */
const RATE_NOTICE_MS = 1000;

/** Close codes of the WebSocket standard that only this file needs. */
const PROTOCOL_ERROR = 1002;
const ABNORMAL = 1006;
const INTERNAL_ERROR = 1011;

/**
 * Whoever is closed with these may go on sending as fast as the line goes. What comes is not even read then: the socket
 * says why it closes, and stands still until it is cut off.
 */
const NOT_HEARD: ReadonlySet<number> = new Set([CloseCode.flood, CloseCode.badMessage]);

/** These make no work for the simulation and must not starve its inputs, so they have a budget of their own. */
const PRESENCE: ReadonlySet<string> = new Set(["cursor", "ping", "needKeyframe"]);

export class Connection {
  readonly #socket: WebSocket;
  readonly #line: Duplex;
  readonly #options: ConnectionOptions;
  readonly #inputs: TokenBucket;
  readonly #presence: TokenBucket;
  /** Messages beyond the budgets drain it; empty means flood. */
  readonly #patience: TokenBucket;
  readonly #helloTimer: NodeJS.Timeout;
  /** When the token ends that it came in with, wall time; null: never. */
  endsAtMs: number | null = null;
  #membership: Membership | null = null;
  /** What came between hello and the answer of `authorize`, in order; null when nothing waits. The budgets bound it. */
  #queued: OpenedRequest[] | null = null;
  #log: FastifyBaseLogger;
  readonly #openedMs: number;
  #lastHeardMs: number;
  #lastPingMs: number;
  #lastRateNoticeMs = -Infinity;
  #closing = false;

  /** @param line what the socket writes to */
  constructor(socket: WebSocket, line: Duplex, options: ConnectionOptions) {
    const nowMs = performance.now();
    this.#socket = socket;
    this.#line = line;
    this.#options = options;
    this.#log = options.log;
    this.#inputs = new TokenBucket(Limits.inputsPerSecond, Limits.inputBurst, nowMs);
    this.#presence = new TokenBucket(Limits.inputsPerSecond, Limits.inputBurst, nowMs);
    this.#patience = new TokenBucket(Limits.inputsPerSecond, Limits.floodBudget, nowMs);
    this.#openedMs = nowMs;
    options.metrics.requests.socketOpened();
    this.#lastHeardMs = nowMs;
    this.#lastPingMs = nowMs;
    this.#helloTimer = setTimeout(
      () => this.#endFor(new Refused(CloseCode.helloTimeout, "no hello", "hello_timeout")),
      Limits.helloTimeoutMs,
    );
    socket.binaryType = "nodebuffer";
    socket.on("message", (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on("ping", (data: Buffer) => this.#admitControl() && socket.pong(data));
    socket.on("pong", () => this.#admitControl());
    socket.on("close", (code: number) => this.#closed(code));
    socket.on("error", (error: Error & { code?: string }) => this.#failed(error));
  }

  /** From now on every log line of this connection says whose it is. */
  nameInLog(session: string, member: number, role: string): void {
    this.#log = this.#options.log.child({ session, member, role });
    this.#log.info("member connected");
  }

  /** Bytes accepted by `send` that the operating system has not taken yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  get isOpen(): boolean {
    return !this.#closing && this.#socket.readyState === this.#socket.OPEN;
  }

  send(bytes: Uint8Array, kind: BytesKind): void {
    if (!this.isOpen) return;
    this.#options.metrics.bytesOut.inc({ kind }, bytes.byteLength);
    this.#socket.send(bytes);
  }

  /**
   * Writes frames that were made for many (wireFrame.ts), whose sender counts the bytes. The socket keeps nothing back,
   * because there is no compression, so they stay in order with what `send` sends.
   */
  write(frames: Uint8Array): void {
    if (this.isOpen) this.#line.write(frames);
  }

  /** Pings when it is time, and ends a connection that has been silent too long. */
  beat(nowMs: number): void {
    if (this.#closing) return;
    if (nowMs - this.#lastHeardMs > Limits.deadAfterMs) {
      this.close(CloseCode.heartbeatLost, "silent");
    } else if (this.endsAtMs !== null && Date.now() >= this.endsAtMs) {
      this.close(CloseCode.tokenNeeded, "the token has ended");
    } else if (nowMs - this.#lastPingMs >= Limits.heartbeatMs) {
      this.#lastPingMs = nowMs;
      this.#socket.ping();
    }
  }

  /** Ends the connection. A second call changes nothing. */
  close(code: number, reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    clearTimeout(this.#helloTimer);
    this.#log.info({ code, reason }, "closing socket");
    this.#options.metrics.socketsClosed.inc({ code: String(code) });
    // The standard forbids to send ABNORMAL: it stands for a connection that is simply gone.
    if (code === ABNORMAL) this.#socket.terminate();
    else this.#socket.close(code, reason);
    if (NOT_HEARD.has(code)) this.#stopReading();
    const cut = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    this.#socket.once("close", () => clearTimeout(cut));
    this.#leave(code);
  }

  #heard(): void {
    this.#lastHeardMs = performance.now();
  }

  /** The peer learns at once that nothing comes any more. */
  #stopReading(): void {
    this.#socket.pause();
    this.#line.end();
  }

  /** Pings and pongs of WebSocket itself: they cost what messages cost. */
  #admitControl(): boolean {
    if (this.#closing) return false;
    this.#heard();
    return this.#take(this.#presence);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    // Frames that were on their way when we began to close.
    if (this.#closing) return;
    this.#heard();
    try {
      if (!isBinary) throw new MalformedMessage("text frame: messages are binary msgpack");
      const request = this.#options.open(parseClientMessage(data));
      if (this.#admit(request)) this.#dispatch(request);
    } catch (error) {
      this.#endFor(error);
    }
  }

  #endFor(error: unknown): void {
    if (error instanceof MalformedMessage) {
      this.#options.metrics.reject("malformed");
      this.close(CloseCode.badMessage, error.message);
    } else if (error instanceof Refused) {
      this.#options.metrics.auth.refused(error.kind);
      this.close(error.closeCode, error.message);
    } else {
      this.#log.error({ err: error }, "failed to handle a message");
      this.close(INTERNAL_ERROR, "internal error");
    }
  }

  /** Counts the message against its budget; closes on a flood. Messages of unknown types count too. */
  #admit(request: OpenedRequest | null): boolean {
    if (this.#take(request && PRESENCE.has(request.type) ? this.#presence : this.#inputs)) return true;
    // Letting go is never dropped: a hold that cannot be ended would be worse than one message too many.
    return !this.#closing && request?.type === "release";
  }

  /** @returns false: there is no more left; it is refused, or was the one too many */
  #take(bucket: TokenBucket): boolean {
    const nowMs = performance.now();
    const within = bucket.take(nowMs);
    if (within && this.#options.spend()) return true;
    this.#options.metrics.reject("rate");
    // Who is within its own limits does not pay for others of its address.
    if (!within && !this.#patience.take(nowMs)) {
      this.close(
        CloseCode.flood,
        `more than ${Limits.floodBudget} messages over the limit of ${Limits.inputsPerSecond}/s`,
      );
      return false;
    }
    if (nowMs - this.#lastRateNoticeMs > RATE_NOTICE_MS) {
      this.#lastRateNoticeMs = nowMs;
      this.send(encodeNotice("RATE_LIMITED", { limit: `${Limits.inputsPerSecond} per second` }), "other");
    }
    return false;
  }

  #dispatch(request: OpenedRequest | null): void {
    if (this.#queued !== null) {
      if (request?.type === "hello") throw new MalformedMessage("hello: already said");
      if (request) this.#queued.push(request);
    } else if (this.#membership === null) {
      if (request?.type !== "hello") throw new MalformedMessage("the first message must be hello");
      this.#greet(request);
    } else if (request?.type === "hello") {
      throw new MalformedMessage("hello: already said");
    } else if (request) {
      this.#membership.handle(request);
    }
  }

  #greet(hello: Hello): void {
    if (hello.version !== PROTOCOL_VERSION) {
      throw new Refused(
        CloseCode.unsupportedVersion,
        `protocol version ${hello.version}, this server speaks ${PROTOCOL_VERSION}`,
        "version",
      );
    }
    clearTimeout(this.#helloTimer);
    const answer = this.#options.authorize(this, hello);
    if (!(answer instanceof Promise)) return this.#joined(answer);
    this.#queued = [];
    answer
      .then((membership) => {
        const queued = this.#queued ?? [];
        this.#queued = null;
        if (!membership) return;
        if (this.#closing) return membership.lost(ABNORMAL);
        this.#joined(membership);
        for (const request of queued) this.#membership?.handle(request);
      })
      .catch((error: unknown) => this.#endFor(error));
  }

  #joined(membership: Membership): void {
    this.#membership = membership;
    this.#options.metrics.requests.joined((performance.now() - this.#openedMs) / 1000);
  }

  #failed(error: Error & { code?: string }): void {
    const { code = "" } = error;
    const tooLarge = code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
    if (code.startsWith("WS_ERR_")) this.#options.metrics.reject(tooLarge ? "too_large" : "malformed");
    this.#log.info({ error: code, reason: error.message }, "socket error");
    // ws has already sent the close code that fits the broken frame; this ends our side of it.
    this.close(tooLarge ? CloseCode.tooLarge : code.startsWith("WS_ERR_") ? PROTOCOL_ERROR : ABNORMAL, error.message);
  }

  #closed(code: number): void {
    clearTimeout(this.#helloTimer);
    if (!this.#closing) {
      this.#closing = true;
      this.#log.info({ code }, "socket closed by its peer");
      this.#options.metrics.socketsClosed.inc({ code: closeCodeLabel(code) });
      this.#leave(code);
    }
    this.#options.onClosed(this);
  }

  #leave(code: number): void {
    const membership = this.#membership;
    this.#membership = null;
    membership?.lost(code);
  }
}

/** The peer chooses its close code, so only known ones may become a label value. */
function closeCodeLabel(code: number): string {
  const known: number[] = [...Object.values(CloseCode), 1001, PROTOCOL_ERROR, 1005, ABNORMAL, 1007, INTERNAL_ERROR];
  return known.includes(code) ? String(code) : "other";
}
