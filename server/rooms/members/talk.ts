/**
 * Reactions and chat of one room. Neither is an input: simulation, journal, store and replays do not contain them. The
 * last lines are kept in memory for newcomers. Each kind goes out as one message every TOGETHER_MS; of several
 * reactions of a member the last one counts. Beyond the room's rate addresses and members take turns (fairQueue.ts).
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
import { FairQueue, type Source } from "./fairQueue.ts";
import type { Session } from "./session.ts";
import { type Kind, PER_SECOND, ROOM_PER_SECOND } from "./talkRates.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** Time in which messages are collected, ms. */
const TOGETHER_MS = 100;
/** Lines kept for newcomers. */
export const LINES_KEPT = 50;

type Request = Extract<ClientRequest, { type: Kind }>;

/** Longest wait for the room's budget, s: until a member may send its next line. */
const WAIT_SECONDS = 2;

interface Waiting<Content> {
  source: Source;
  session: Session;
  content: Content;
}

export class Talk {
  readonly #broadcast: Pick<Broadcast, "certain" | "relay">;
  readonly #metrics: Metrics;
  readonly #budgets: Record<Kind, TokenBucket>;
  readonly #reactions = new FairQueue<Waiting<number>>(WAIT_SECONDS * ROOM_PER_SECOND.react);
  readonly #lines = new FairQueue<Waiting<Said>>(WAIT_SECONDS * ROOM_PER_SECOND.say);
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

  /**
   * Sends a newcomer the last lines. An empty list is sent, too, because the first `said` replaces the client's list.
   */
  greet(connection: Connection): void {
    connection.send(encodeSaid(this.#kept), "other");
  }

  /** Forgets all lines, when the owner closes the chat, or those of one member, when it is kicked. */
  forget(member?: number): void {
    const stays = (line: Said): boolean => member !== undefined && line.member !== member;
    this.#kept = this.#kept.filter(stays);
    this.#lines.keep(({ content }) => stays(content));
  }

  #react(session: Session, reaction: number): void {
    if (reaction >= REACTIONS.length)
      return this.#refuse(session, "OUT_OF_RANGE", {
        field: "reaction",
        value: reaction,
        limit: `0 to ${REACTIONS.length - 1}`,
      });
    if (!this.#affords(session, "react")) return;
    const waiting = this.#reactions.find((item) => item.session === session);
    if (waiting) waiting.content = reaction;
    else this.#wait("react", this.#reactions, session, reaction);
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
    this.#wait("say", this.#lines, session, { member, name, color, text });
  }

  /** Takes the request from the member's budget. */
  #affords(session: Session, type: Kind): boolean {
    const within = session.talk[type].take(performance.now());
    if (!within) this.#refuse(session, "RATE_LIMITED", { field: type, limit: `${PER_SECOND[type]} per second` });
    return within;
  }

  #wait<Content>(type: Kind, queue: FairQueue<Waiting<Content>>, session: Session, content: Content): void {
    const { member, entry } = session;
    const dropped = queue.add({ source: { member, address: entry.address }, session, content });
    const limit = `${ROOM_PER_SECOND[type]} per second for the room`;
    if (dropped) this.#refuse(dropped.session, "RATE_LIMITED", { field: type, limit });
    this.#timer ??= setTimeout(() => this.#send(), TOGETHER_MS).unref();
  }

  #send(): void {
    this.#timer = null;
    const reactions = new Map(
      this.#take("react", this.#reactions).map(({ session, content }) => [session.member, content]),
    );
    if (reactions.size > 0) this.#broadcast.relay(encodeReactions(reactions), () => true);
    const lines = this.#take("say", this.#lines).map(({ content }) => content);
    if (lines.length > 0) this.#broadcast.certain(encodeSaid(lines), "other");
    this.#kept = [...this.#kept, ...lines].slice(-LINES_KEPT);
    if (this.#reactions.size + this.#lines.size > 0) this.#timer = setTimeout(() => this.#send(), TOGETHER_MS).unref();
  }

  /** Takes from the queue within the room's budget. */
  #take<Content>(type: Kind, queue: FairQueue<Waiting<Content>>): Waiting<Content>[] {
    let count = 0;
    while (count < queue.size && this.#budgets[type].take(performance.now())) count += 1;
    this.#metrics.inputs.inc({ type }, count);
    return queue.take(count);
  }

  #refuse(session: Session, code: "OUT_OF_RANGE" | "RATE_LIMITED", details: ErrorDetails): void {
    this.#metrics.reject(code === "RATE_LIMITED" ? "rate" : "range");
    session.connection?.send(encodeNotice(code, { ...details }), "other");
  }
}
