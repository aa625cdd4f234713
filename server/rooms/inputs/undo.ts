/**
 * Undo. A member undoes its own newest act that can be separated from the acts of other members; an owner undoes the
 * newest act of any member. Inverse inputs undo spawns, removals, looks, pins and changes of physics. For pulls, pushes
 * and resets the room goes back to the tick before: for a member only while no other member has acted since.
 */
import { lookChange } from "../../../shared/scene/bodyLook.ts";
import { CodedError, type NoticeCode } from "../../../shared/errorCodes.ts";
import type { ClientRequest } from "../../../shared/protocol/fromClient.ts";
import { encodeDone, encodeNotice, encodeReset } from "../../../shared/protocol/fromServer.ts";
import { atLeast } from "../../../shared/members/roles.ts";
import { changesTo } from "../../../shared/members/tuningLimits.ts";
import type { Audit } from "../../auth/audit.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { RoomHistory } from "../../persistence/history.ts";
import type { Input } from "../../sim/types.ts";
import type { Act, ActLog } from "./actLog.ts";
import type { Broadcast } from "../broadcast/broadcast.ts";
import type { InputQueue } from "./inputQueue.ts";
import type { MemberRequests } from "./memberRequests.ts";
import { actorOf, type Moderation } from "../members/moderation.ts";
import type { RoomEvents } from "../roomEvents.ts";
import type { Facts } from "../roomFacts.ts";
import type { Session } from "../members/session.ts";
import type { RoomSimulation } from "../ticks/simulation.ts";
import { TokenBucket } from "../members/tokenBucket.ts";

/** Returns to an earlier tick: burst, then per minute. Each makes a thread step up to seconds of the room again. */
const RETURNS_BURST = 10;
const RETURNS_PER_MINUTE = 20;

/** The room, as far as an undo needs it. */
interface UndoneRoom {
  readonly name: string;
  readonly tick: number;
  readonly tickHz: number;
  readonly members: { readonly sessions: ReadonlyMap<number, Session> };
  readonly facts: Facts;
  readonly moderation: Moderation;
  readonly checkpointPolicy: { readonly history: RoomHistory };
}

export interface UndoOptions {
  room: UndoneRoom;
  acts: ActLog;
  simulation: RoomSimulation;
  queue: InputQueue;
  requests: MemberRequests;
  events: RoomEvents;
  broadcast: Broadcast;
  audit: Audit;
  metrics: Metrics;
  /** Resolves when all that the room has done is stored. */
  durable: () => Promise<unknown>;
  /** Pauses the room. @returns a function that lets it continue */
  pause: () => () => void;
}

type Undoing = Extract<ClientRequest, { type: "undo" }>;

export class Undo {
  readonly #options: UndoOptions;
  readonly #returns = new TokenBucket(RETURNS_PER_MINUTE / 60, RETURNS_BURST, performance.now());

  constructor(options: UndoOptions) {
    this.#options = options;
  }

  /** Handles a member's request, after `Moderation.allows`. */
  handle(session: Session, { request }: Undoing): void {
    const { acts, room, requests } = this.#options;
    const owner = atLeast(session.entry.role, "owner");
    const mine = acts.acts.filter(({ member }) => owner || member === session.member);
    const known = mine.filter((act) => this.#isPossible(act));
    const act = known.find((one) => this.#isAllowed(session, one, owner));
    if (!act) return this.#refuse(session, known.length > 0 ? "NOT_SEPARABLE" : "NOTHING_TO_UNDO", request);
    if (act.type !== "pull" && act.type !== "reset") {
      const inputs = this.#inverse(act, session.member);
      acts.undoBy(act, inputs);
      return requests.submit(inputs, request);
    }
    const seconds = (room.tick - act.tick + 1) / room.tickHz;
    const from = room.tick;
    this.goBack(act.tick - 1, seconds, session.member).then(
      (tick) => {
        this.#options.audit.record("undo", actorOf(session), room.name, { from, tick });
        if (request !== undefined) session.connection?.send(encodeDone(request), "other");
      },
      (error: unknown) => {
        const code = error instanceof CodedError && error.code === "STORE_AWAY" ? "STORE_AWAY" : "RATE_LIMITED";
        this.#refuse(session, code, request);
      },
    );
  }

  /** Returns whether the state or history that undoing the act needs still exists. */
  #isPossible(act: Act): boolean {
    const { acts, room } = this.#options;
    const { history } = room.checkpointPolicy;
    if (act.type === "pull" || act.type === "reset") return act.tick - 1 >= history.oldestTick;
    return acts.stands(act, room.facts);
  }

  /** Returns whether the member may undo this act: it is separable from the acts of the others. */
  #isAllowed(session: Session, act: Act, owner: boolean): boolean {
    const { acts, room } = this.#options;
    if (owner) return true;
    if (act.type === "pull" || act.type === "reset") {
      const { member } = session;
      const held = [...room.members.sessions.values()].some((other) => other !== session && other.grabs.size > 0);
      if (held || acts.othersActedSince(member, act.tick)) return false;
    }
    // The inverse act needs the same right, and a text beside a body that returns needs that of a text.
    const look = act.type === "dress" ? act.before : act.type === "remove" ? act.look : undefined;
    return act.type === "pull" || room.moderation.permits(session, act.type, look?.text);
  }

  #inverse(act: Exclude<Act, { type: "pull" | "reset" }>, member: number): Input[] {
    switch (act.type) {
      case "spawn":
        return [{ type: "remove", member, body: act.body }];
      case "remove": {
        const { body, position, heading, look } = act;
        const dressed: Input[] =
          Object.keys(look).length > 0 ? [{ type: "dress", member, body, ...lookChange(look) }] : [];
        return [...dressed, { type: "spawn", member, body, position, heading, occupied: "lift" }];
      }
      case "dress":
        return [{ type: "dress", member, body: act.body, ...lookChange(act.before) }];
      case "pin":
        if (act.before) return [{ type: "pin", member, ...act.before }];
        return [{ type: "unpin", member, pin: act.pin }];
      case "tune":
        return changesTo(act.before, act.after).map((change) => ({ type: "tune", member, ...change }));
    }
  }

  /**
   * Goes back in time and forgets everything since then. Members get a reset message and a notice that it was an undo.
   * @param seconds for the notice. @param member 0: an owner over HTTP
   * @throws CodedError TOO_MANY_REQUESTS; STORE_AWAY: the room went back, but this is not stored yet
   * @returns the room's new tick: later than requested if the history does not reach so far back
   */
  async goBack(tick: number, seconds: number, member: number): Promise<number> {
    const { room, simulation, queue, requests, events, broadcast, metrics } = this.#options;
    if (!this.#returns.take(performance.now()))
      throw new CodedError("TOO_MANY_REQUESTS", { field: "undo", limit: `${RETURNS_PER_MINUTE} a minute in a room` });
    const { history } = room.checkpointPolicy;
    const goOn = this.#options.pause();
    try {
      const rebuilt = await simulation.rebuild(() => history.rebuild(Math.max(history.oldestTick, tick)));
      history.rewind(rebuilt.tick);
      queue.clear();
      requests.dropAll();
      events.standAt(rebuilt, rebuilt.tick);
      metrics.persistence.restored("undo", rebuilt.seconds, rebuilt.ticks);
      // Wait until the undo is stored: members must not hear of an undo that a killed process would lose.
      const stored = await this.#options.durable().then(
        () => null,
        (error: unknown) => error,
      );
      broadcast.certain(encodeReset(rebuilt.tick, 0), "other");
      broadcast.certain(encodeNotice("WENT_BACK", { tick: rebuilt.tick, seconds, member }), "other");
      if (stored !== null) throw stored;
      return rebuilt.tick;
    } finally {
      goOn();
    }
  }

  #refuse(session: Session, code: NoticeCode, request: number | undefined): void {
    this.#options.metrics.reject(code === "RATE_LIMITED" ? "rate" : "not_undoable");
    const limit = code === "RATE_LIMITED" ? { limit: `${RETURNS_PER_MINUTE} a minute in a room` } : {};
    session.connection?.send(encodeNotice(code, { field: "undo", ...limit, request }), "other");
  }
}
