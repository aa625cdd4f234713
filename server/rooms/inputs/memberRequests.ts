/**
 * Turns members' requests into the room's inputs and into the cursors and grabs that other members see. Checks
 * ranges and limits; never waits.
 */
import { PINS_PER_ROOM } from "../../../shared/members/pin.ts";
import { lookText } from "../../../shared/scene/bodyLook.ts";
import type { ErrorDetails, NoticeCode } from "../../../shared/errorCodes.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import type { Metrics, RejectReason } from "../../metrics/metrics.ts";
import type { Input } from "../../sim/types.ts";
import type { RoomShape } from "../../workers/messages.ts";
import { checkRanges, clampImpulse } from "./requestRanges.ts";
import type { Answered, ClientRequest } from "../../../shared/protocol/fromClient.ts";
import type { InputQueue } from "./inputQueue.ts";
import { encodeDone, encodeNotice } from "../../../shared/protocol/fromServer.ts";
import type { Session } from "../members/session.ts";

/** Least time between two resets of a room, ms: long enough that a held key does not freeze the scene at its start. */
const RESET_COOLDOWN_MS = 500;

/**
 * Least time between two spawns of one member, ms: finding a free place takes a room's thread 5 to 30 ms in a scene of
 * 7,500 triangles.
 */
const SPAWN_COOLDOWN_MS = 250;

/** Requests that queue one input each. Moves are coalesced, resets are rare, and a release is never refused. */
const QUEUED: ReadonlySet<string> = new Set(["grab", "impulse", "spawn", "remove", "tune", "dress", "pin", "unpin"]);

type MemberRequest = Exclude<
  ClientRequest,
  { type: "hello" | "ping" | "needKeyframe" | "kick" | "access" | "message" | "undo" | "react" | "say" }
>;

type Of<T extends MemberRequest["type"]> = Extract<MemberRequest, { type: T }>;

export class MemberRequests {
  readonly #sessions: ReadonlyMap<number, Session>;
  readonly #queue: InputQueue;
  readonly #shape: RoomShape;
  readonly #metrics: Metrics;
  #lastResetMs = -Infinity;
  /** Numbers of the requests of queued inputs, which the member wants to be answered. */
  readonly #requestOf = new WeakMap<Input, number>();

  constructor(sessions: ReadonlyMap<number, Session>, queue: InputQueue, shape: RoomShape, metrics: Metrics) {
    this.#sessions = sessions;
    this.#queue = queue;
    this.#shape = shape;
    this.#metrics = metrics;
  }

  handle(session: Session, request: MemberRequest): void {
    const number = "request" in request ? request.request : undefined;
    const refusal = checkRanges(request, this.#shape);
    if (refusal) return this.#refuse(session, "range", "OUT_OF_RANGE", { ...refusal, request: number });
    const { member } = session;
    if (QUEUED.has(request.type) && !this.#queue.hasPlace(member))
      return this.#refuse(session, "rate", "RATE_LIMITED", {
        field: request.type,
        limit: "no more until the next tick",
        request: number,
      });
    switch (request.type) {
      case "grab":
        return this.#grab(session, request);
      case "move":
        return this.#move(session, request);
      case "release":
        if (!session.grabs.delete(request.grab)) return;
        this.#accept({ type: "release", member, grab: request.grab });
        session.grabsChanged = true;
        return;
      case "impulse":
        return this.#impulse(session, request);
      case "reset":
        return this.#reset(session, number);
      case "spawn":
        return this.#spawn(session, request);
      case "remove":
        return this.#accept({ type: "remove", member, body: request.body }, number);
      case "tune": {
        const { request: _, ...tune } = request;
        return this.#accept({ ...tune, member }, number);
      }
      case "dress":
        return this.#dress(session, request);
      case "pin":
        return this.#pin(session, request);
      case "unpin":
        return this.submit(this.#unpinned(request.pin, member), number);
      case "cursor":
        session.cursor = request.at;
        session.grabsChanged = true;
        return;
    }
  }

  #grab(session: Session, { type, ...held }: Of<"grab">): void {
    const { grab } = held;
    const { member } = session;
    if (!session.grabs.has(grab) && session.grabs.size >= Limits.grabsPerMember)
      return this.#refuse(session, "grab_limit", "GRAB_LIMIT", {
        field: "grab",
        value: grab,
        limit: Limits.grabsPerMember,
      });
    // The id is in use: release its old grab first.
    if (session.grabs.has(grab)) this.#accept({ type: "release", member, grab });
    session.grabs.set(grab, { ...held });
    this.#accept({ type, member, ...held });
    session.grabsChanged = true;
  }

  #move(session: Session, { grab, target }: Of<"move">): void {
    const held = session.grabs.get(grab);
    // A reset or a release may have crossed this move on the network: that is no error.
    if (!held) return;
    held.target = target;
    this.#accept({ type: "move", member: session.member, grab, target });
    session.grabsChanged = true;
  }

  #impulse(session: Session, request: Of<"impulse">): void {
    const { maxImpulse } = this.#shape;
    const impulse = clampImpulse(request.impulse, maxImpulse);
    const size = Math.hypot(...impulse);
    if (!session.impulses.take(performance.now(), size > 0 ? Math.min(1, size / maxImpulse) : 0))
      return this.#refuse(session, "rate", "RATE_LIMITED", {
        field: "impulse",
        value: size,
        limit: `${Limits.impulsesPerSecond * maxImpulse} N s a second`,
      });
    this.#accept({ ...request, member: session.member, impulse });
  }

  #reset(session: Session, request: number | undefined): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastResetMs < RESET_COOLDOWN_MS)
      return this.#refuse(session, "reset_cooldown", "RESET_TOO_SOON", {
        limit: `once in ${RESET_COOLDOWN_MS} ms`,
        request,
      });
    this.#lastResetMs = nowMs;
    this.dropAll();
    this.#accept({ type: "reset", member: session.member }, request);
  }

  #spawn(session: Session, { body, position, heading, occupied, request }: Of<"spawn">): void {
    const nowMs = performance.now();
    if (nowMs - session.lastSpawnMs < SPAWN_COOLDOWN_MS)
      return this.#refuse(session, "spawn_cooldown", "SPAWN_TOO_SOON", {
        limit: `once in ${SPAWN_COOLDOWN_MS} ms`,
        request,
      });
    session.lastSpawnMs = nowMs;
    this.#accept({ type: "spawn", member: session.member, body, position, heading, occupied }, request);
  }

  #dress(session: Session, { request, text, ...dress }: Of<"dress">): void {
    if (!session.looks.take(performance.now()))
      return this.#refuse(session, "rate", "RATE_LIMITED", {
        field: "dress",
        limit: `${Limits.looksPerSecond} per second`,
        request,
      });
    const { member } = session;
    // An empty text is none.
    const shown = text === undefined ? {} : { text: text === null ? null : lookText(text) || null };
    this.#accept({ ...dress, ...shown, member }, request);
  }

  #pin(session: Session, { grab, request }: Of<"pin">): void {
    const { member } = session;
    const held = session.grabs.get(grab);
    if (!held)
      return this.#refuse(session, "range", "OUT_OF_RANGE", {
        ...{ field: "grab", value: grab, limit: "a grab that you hold" },
        request,
      });
    this.#accept({ type: "pin", member, by: member, ...held }, request);
  }

  /** @param pin null: all */
  #unpinned(pin: number | null, member: number): Input[] {
    const pins = pin === null ? Array.from({ length: PINS_PER_ROOM }, (_, n) => n) : [pin];
    return pins.map((one) => ({ type: "unpin", member, pin: one }));
  }

  /** Queues the inputs of a request; the last one answers it. */
  submit(inputs: readonly Input[], request: number | undefined): void {
    for (const input of inputs) this.#accept(input, input === inputs.at(-1) ? request : undefined);
  }

  /** Number of the request that made this input; undefined: it wants no answer. */
  requestOf(input: Input | undefined): number | undefined {
    return input && this.#requestOf.get(input);
  }

  /** Answers the requests of a tick's inputs that were not refused. @param refused places of refused inputs */
  answer(inputs: readonly Input[], refused: ReadonlySet<number | undefined>): void {
    for (const [place, input] of inputs.entries()) {
      const request = this.#requestOf.get(input);
      if (request === undefined || refused.has(place)) continue;
      this.#sessions.get(input.member)?.connection?.send(encodeDone(request), "other");
    }
  }

  /** Releases all grabs of a member that has left or lost its socket. */
  release(session: Session): void {
    if (session.grabs.size > 0) this.#queue.push({ type: "releaseAll", member: session.member });
    session.grabs.clear();
    session.cursor = null;
    session.grabsChanged = true;
  }

  /** Forgets a grab that the simulation rejected, so that no member sees it. */
  forget(session: Session, grab: number): void {
    if (session.grabs.delete(grab)) session.grabsChanged = true;
  }

  /** Forgets the grabs of a body that was taken out of the scene. */
  dropBody(body: number): void {
    for (const session of this.#sessions.values()) {
      for (const [grab, held] of session.grabs) if (held.body === body) this.forget(session, grab);
    }
  }

  /** Releases all grabs of all members. */
  dropAll(): void {
    for (const session of this.#sessions.values()) {
      if (session.grabs.size === 0) continue;
      this.#queue.push({ type: "releaseAll", member: session.member });
      session.grabs.clear();
      session.grabsChanged = true;
    }
  }

  /** Returns the sessions with a changed cursor or grab since the last call. */
  takeChanged(): Session[] {
    const changed: Session[] = [];
    for (const session of this.#sessions.values()) {
      if (session.grabsChanged) changed.push(session);
      session.grabsChanged = false;
    }
    return changed;
  }

  #accept(input: Input, request?: number): void {
    if (request !== undefined) this.#requestOf.set(input, request);
    this.#metrics.inputs.inc({ type: input.type });
    this.#queue.push(input);
  }

  #refuse(session: Session, reason: RejectReason, code: NoticeCode, details: ErrorDetails & Answered): void {
    this.#metrics.reject(reason);
    session.connection?.send(encodeNotice(code, { ...details }), "other");
  }
}
