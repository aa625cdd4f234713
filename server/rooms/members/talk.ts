/**
 * Reactions and chat of one room. Neither is an input: simulation, journal, store and replays do not contain them. The
 * last lines are kept in memory for newcomers. Each kind goes out as one message every TOGETHER_MS; of several
 * reactions of a member the last one counts.
 */
import type { ErrorDetails } from "../../../shared/errorCodes.ts";
import type { ClientRequest } from "../../../shared/protocol/fromClient.ts";
import { encodeNotice, encodeReactions, encodeSaid, type Said } from "../../../shared/protocol/fromServer.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import { REACTIONS } from "../../../shared/members/reactions.ts";
import { visibleText } from "../../../shared/members/visibleText.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Broadcast } from "../broadcast/broadcast.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";
import { type Kind, PER_SECOND, ROOM_PER_SECOND } from "./talkRates.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** Time in which messages are collected, ms. */
const TOGETHER_MS = 100;
/** Lines kept for newcomers. */
export const LINES_KEPT = 50;

type Request = Extract<ClientRequest, { type: Kind }>;

export class Talk {
  readonly #broadcast: Pick<Broadcast, "certain" | "relay">;
  readonly #metrics: Metrics;
  readonly #budgets: Record<Kind, TokenBucket>;
  /** Newest reaction of each member since the last broadcast. */
  readonly #reactions = new Map<number, number>();
  #lines: Said[] = [];
  /** The last lines of the room, oldest first. */
  #kept: Said[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(broadcast: Pick<Broadcast, "certain" | "relay">, metrics: Metrics) {
    this.#broadcast = broadcast;
    this.#metrics = metrics;
    const budget = (perSecond: number): TokenBucket => new TokenBucket(perSecond, perSecond, performance.now());
    this.#budgets = { react: budget(ROOM_PER_SECOND.react), say: budget(ROOM_PER_SECOND.say) };
  }

  handle(session: Session, request: Request): void {
    if (request.type === "react") this.#react(session, request.reaction);
    else this.#say(session, request.text);
  }

  /** Sends a newcomer the last lines, also if there are none: its first `said` replaces all that it has. */
  greet(connection: Connection): void {
    connection.send(encodeSaid(this.#kept), "other");
  }

  /** Forgets all lines, when the owner closes the chat, or those of one member, when it is kicked. */
  forget(member?: number): void {
    const stays = (line: Said): boolean => member !== undefined && line.member !== member;
    this.#kept = this.#kept.filter(stays);
    this.#lines = this.#lines.filter(stays);
  }

  #react(session: Session, reaction: number): void {
    if (reaction >= REACTIONS.length)
      return this.#refuse(session, "OUT_OF_RANGE", {
        field: "reaction",
        value: reaction,
        limit: `0 to ${REACTIONS.length - 1}`,
      });
    if (!this.#affords(session, "react")) return;
    this.#reactions.set(session.member, reaction);
    this.#sendSoon();
  }

  #say(session: Session, said: string): void {
    const text = visibleText(said);
    const { length } = [...text];
    if (length < 1 || length > Limits.lineLength)
      return this.#refuse(session, "OUT_OF_RANGE", {
        field: "text",
        value: length,
        limit: `1 to ${Limits.lineLength} characters`,
      });
    if (!this.#affords(session, "say")) return;
    const { member, name, color } = session;
    this.#lines.push({ member, name, color, text });
    this.#sendSoon();
  }

  /** Takes the request from the member's budget and from the room's. */
  #affords(session: Session, type: Kind): boolean {
    const nowMs = performance.now();
    const within = session.talk[type].take(nowMs) && this.#budgets[type].take(nowMs);
    if (within) this.#metrics.inputs.inc({ type });
    else this.#refuse(session, "RATE_LIMITED", { field: type, limit: `${PER_SECOND[type]} per second` });
    return within;
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => this.#send(), TOGETHER_MS).unref();
  }

  #send(): void {
    this.#timer = null;
    if (this.#reactions.size > 0) this.#broadcast.relay(encodeReactions(this.#reactions), () => true);
    this.#reactions.clear();
    if (this.#lines.length > 0) this.#broadcast.certain(encodeSaid(this.#lines), "other");
    this.#kept = [...this.#kept, ...this.#lines].slice(-LINES_KEPT);
    this.#lines = [];
  }

  #refuse(session: Session, code: "OUT_OF_RANGE" | "RATE_LIMITED", details: ErrorDetails): void {
    this.#metrics.reject(code === "RATE_LIMITED" ? "rate" : "range");
    session.connection?.send(encodeNotice(code, { ...details }), "other");
  }
}
