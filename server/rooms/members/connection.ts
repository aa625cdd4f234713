/**
 * One WebSocket, from its upgrade to its end: hello timeout, message validation, rate limits, heartbeat and close
 * codes. It does not depend on rooms: an `Authorize` admits it, and a `Membership` handles its requests.
 */
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger } from "fastify";
import type { WebSocket } from "ws";
import { CloseCode, Limits, PROTOCOL_VERSION } from "../../../shared/protocol/protocol.ts";
import { Refused } from "../../auth/refused.ts";
import type { BytesKind, Metrics } from "../../metrics/metrics.ts";
import type { ForwardedIdentity } from "../../auth/auth.ts";
import {
  type ClientRequest,
  MalformedMessage,
  parseClientMessage,
  REQUEST_DESCRIPTIONS,
} from "../../../shared/protocol/fromClient.ts";
import { encodeNotice } from "../../../shared/protocol/fromServer.ts";
import { TokenBucket } from "./tokenBucket.ts";

/**
 * `forwarded`: the sender's identity, as the process that forwarded the hello states it
 * (routes/guards/forwardedIdentity.ts).
 */
export type Hello = Extract<ClientRequest, { type: "hello" }> & { forwarded?: ForwardedIdentity };
/** A request whose forwarded identity is already unsealed. */
export type OpenedRequest = Exclude<ClientRequest, { type: "hello" }> | Hello;

/** An admitted connection's link to its room. */
export interface Membership {
  handle(request: ClientRequest): void;
  /** Called when the socket has closed. `code` is the peer's close code; 1006 if there was none. */
  lost(code: number): void;
}

/**
 * Admits a connection, at once or after its token or password is checked.
 * @throws Refused, or rejects with it
 * @returns null: the connection has closed meanwhile
 */
type Authorize = (connection: Connection, hello: Hello) => Membership | Promise<Membership | null>;

export interface ConnectionOptions {
  log: FastifyBaseLogger;
  metrics: Metrics;
  authorize: Authorize;
  /** Charges a message to the budget of its address. @returns false: the budget is used up */
  spend: () => boolean;
  /** Unseals the forwarded identity of a message from another process. */
  open: (request: ClientRequest | null) => OpenedRequest | null;
  onClosed: (connection: Connection) => void;
}

/** A peer that does not answer the close handshake is cut off after this long, ms. */
const CLOSE_GRACE_MS = 2000;
/** At most one notice about dropped inputs in this time, ms, besides those that want an answer. */
const RATE_NOTICE_MS = 1000;

/** Close codes of the WebSocket standard that only this file needs. */
const PROTOCOL_ERROR = 1002;
const ABNORMAL = 1006;
const INTERNAL_ERROR = 1011;

/**
 * After these close codes the peer may continue to send at full speed. Therefore the socket sends its close frame,
 * stops reading and is cut off after CLOSE_GRACE_MS.
 */
const NOT_HEARD: ReadonlySet<number> = new Set([CloseCode.flood, CloseCode.badMessage]);

/** These messages cause no simulation work and must not delay inputs, so they have their own budget. */
const isPresence = ({ type }: ClientRequest): boolean => REQUEST_DESCRIPTIONS[type].presence === true;

export class Connection {
  readonly #socket: WebSocket;
  readonly #line: Duplex;
  readonly #options: ConnectionOptions;
  readonly #inputs: TokenBucket;
  readonly #presence: TokenBucket;
  /** Drained by messages beyond the budgets; an empty bucket means a flood. */
  readonly #patience: TokenBucket;
  readonly #helloTimer: NodeJS.Timeout;
  /** Time at which the token of this connection expires, wall clock; null: never. */
  endsAtMs: number | null = null;
  #membership: Membership | null = null;
  /** Messages that came while `authorize` was pending, in order; null: none is pending. The budgets bound it. */
  #queued: OpenedRequest[] | null = null;
  #log: FastifyBaseLogger;
  readonly #openedMs: number;
  #lastHeardMs: number;
  #lastPingMs: number;
  #lastRateNoticeMs = -Infinity;
  #closing = false;

  /** @param line the stream that the socket writes to */
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

  /** Adds the member's name to every further log line of this connection. */
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
   * Writes frames that were built for several sockets (wireFrame.ts); the caller counts the bytes. Without compression
   * the socket buffers nothing, so the frames stay in order with those of `send`.
   */
  write(frames: Uint8Array): void {
    if (this.isOpen) this.#line.write(frames);
  }

  /** Sends a ping when one is due, and closes a connection that was silent for too long. */
  beat(nowMs: number): void {
    if (this.#closing) return;
    if (nowMs - this.#lastHeardMs > Limits.deadAfterMs) {
      this.close(CloseCode.heartbeatLost, "silent");
    } else if (this.endsAtMs !== null && Date.now() >= this.endsAtMs) {
      this.close(CloseCode.tokenNeeded, "the token has expired");
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
    // The standard forbids sending ABNORMAL: it means that the connection broke without a close frame.
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

  /** Stops reading and ends our side, so that the peer learns at once that no more data comes. */
  #stopReading(): void {
    this.#socket.pause();
    this.#line.end();
  }

  /** Charges WebSocket pings and pongs like messages. */
  #admitControl(): boolean {
    if (this.#closing) return false;
    this.#heard();
    return this.#take(this.#presence);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    // A frame that was in flight when the close began.
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

  /** Charges the message to its budget and closes on a flood. Messages of unknown types count too. */
  #admit(request: OpenedRequest | null): boolean {
    const number = request && "request" in request ? request.request : undefined;
    if (this.#take(request && isPresence(request) ? this.#presence : this.#inputs, number)) return true;
    // A release is never dropped: a grab that cannot end is worse than one message over the limit.
    return !this.#closing && request?.type === "release";
  }

  /** @returns false: the budget is used up; the message is dropped, or the connection closes as a flood */
  #take(bucket: TokenBucket, request?: number): boolean {
    const nowMs = performance.now();
    const within = bucket.take(nowMs);
    if (within && this.#options.spend()) return true;
    this.#options.metrics.reject("rate");
    // A connection within its own limits is not closed when other connections use up the address's budget.
    if (!within && !this.#patience.take(nowMs)) {
      this.close(
        CloseCode.flood,
        `more than ${Limits.floodBudget} messages over the limit of ${Limits.inputsPerSecond}/s`,
      );
      return false;
    }
    if (request !== undefined || nowMs - this.#lastRateNoticeMs > RATE_NOTICE_MS) {
      this.#lastRateNoticeMs = nowMs;
      this.send(encodeNotice("RATE_LIMITED", { limit: `${Limits.inputsPerSecond} per second`, request }), "other");
    }
    return false;
  }

  #dispatch(request: OpenedRequest | null): void {
    if (this.#queued !== null) {
      if (request?.type === "hello") throw new MalformedMessage("hello: already sent");
      if (request) this.#queued.push(request);
    } else if (this.#membership === null) {
      if (request?.type !== "hello") throw new MalformedMessage("the first message must be hello");
      this.#greet(request);
    } else if (request?.type === "hello") {
      throw new MalformedMessage("hello: already sent");
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
