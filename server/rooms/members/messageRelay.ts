/**
 * Relays application messages unchanged from one member to all others. They are not inputs: simulation, journal and
 * replays do not contain them, and congested members miss them. Messages within TOGETHER_MS go out in one write to each
 * member: otherwise 48 members of one address, each at its rate limit, blocked the main thread for 256 ms at a time.
 */
import type { ErrorDetails, NoticeCode } from "../../../shared/errorCodes.ts";
import { depthOf, isKind, KIND_FORM } from "../../../shared/members/applicationData.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import type { Metrics, RejectReason } from "../../metrics/metrics.ts";
import type { Broadcast } from "../broadcast/broadcast.ts";
import type { ClientRequest } from "../../../shared/protocol/fromClient.ts";
import { encodeMessage, encodeNotice, exactBytes } from "../../../shared/protocol/fromServer.ts";
import type { Session } from "./session.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** Burst of a room's budget, in seconds of its rate: enough for the longest message in a room of two thousand. */
const ROOM_BURST_SECONDS = 4;

/** Least time between two writes to a member, ms. */
const TOGETHER_MS = 20;

/** Shown characters of a refused kind, in code points: half of a surrogate pair is not valid UTF-8. */
const SHOWN = 40;
const shortened = (kind: string): string => [...kind].slice(0, SHOWN).join("");

type MessageRequest = Extract<ClientRequest, { type: "message" }>;

export class MessageRelay {
  readonly #sessions: ReadonlyMap<number, Session>;
  readonly #broadcast: Broadcast;
  readonly #metrics: Metrics;
  /** Bytes sent to all receivers together. */
  readonly #budget: TokenBucket;
  #waiting: { from: Session; bytes: Uint8Array }[] = [];
  #timer: NodeJS.Timeout | null = null;
  #lastMs = -Infinity;

  constructor(sessions: ReadonlyMap<number, Session>, broadcast: Broadcast, metrics: Metrics) {
    this.#sessions = sessions;
    this.#broadcast = broadcast;
    this.#metrics = metrics;
    const perSecond = Limits.messageRoomBytes;
    this.#budget = new TokenBucket(perSecond, ROOM_BURST_SECONDS * perSecond, performance.now());
  }

  handle(session: Session, { kind, data }: MessageRequest): void {
    const { messageDepth, messageBytes, messagesPerSecond, messageRoomBytes } = Limits;
    if (!isKind(kind)) return this.#outOfRange(session, { field: "kind", value: shortened(kind), limit: KIND_FORM });
    const depth = depthOf(data, messageDepth);
    if (depth > messageDepth)
      return this.#outOfRange(session, { field: "data", value: depth, limit: `${messageDepth} levels` });
    const size = exactBytes(data).byteLength;
    if (size > messageBytes)
      return this.#outOfRange(session, { field: "data", value: size, limit: `${messageBytes} bytes` });
    const nowMs = performance.now();
    if (!session.messages.take(nowMs))
      return this.#tooFast(session, { field: "message", value: kind, limit: `${messagesPerSecond} per second` });
    const bytes = encodeMessage(session.member, kind, data);
    const sent = bytes.byteLength * (this.#sessions.size - 1);
    if (!this.#budget.take(nowMs, Math.min(sent, this.#budget.burst)))
      return this.#tooFast(session, { field: "message", value: sent, limit: `${messageRoomBytes} bytes per second` });
    this.#metrics.inputs.inc({ type: "message" });
    this.#waiting.push({ from: session, bytes });
    if (this.#timer !== null) return;
    const waitMs = this.#lastMs + TOGETHER_MS - nowMs;
    if (waitMs <= 0) this.#send();
    else this.#timer = setTimeout(() => this.#send(), waitMs);
  }

  #send(): void {
    this.#timer = null;
    this.#lastMs = performance.now();
    const messages = this.#waiting;
    this.#waiting = [];
    this.#broadcast.exchange(messages);
  }

  #outOfRange(session: Session, details: ErrorDetails): void {
    this.#refuse(session, "range", "OUT_OF_RANGE", details);
  }

  #tooFast(session: Session, details: ErrorDetails): void {
    this.#refuse(session, "rate", "RATE_LIMITED", details);
  }

  #refuse(session: Session, reason: RejectReason, code: NoticeCode, details: ErrorDetails): void {
    this.#metrics.reject(reason);
    session.connection?.send(encodeNotice(code, { ...details }), "other");
  }
}
