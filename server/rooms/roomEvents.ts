/**
 * Handles the events of a tick: sends messages, counts metrics, and updates the state that the room keeps of bodies.
 */
import type { FastifyBaseLogger } from "fastify";
import type { Pin } from "../../shared/members/pin.ts";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Input, SimEvent } from "../sim/types.ts";
import type { StepResult } from "../workers/messages.ts";
import type { ActLog } from "./inputs/actLog.ts";
import type { Broadcast, Outgoing } from "./broadcast/broadcast.ts";
import type { Connection } from "./members/connection.ts";
import { ContactEvents } from "./broadcast/contactEvents.ts";
import type { MemberRequests } from "./inputs/memberRequests.ts";
import {
  encodeContacts,
  encodeLooks,
  encodeNotice,
  encodePins,
  encodeReset,
  encodeTuned,
  encodeSpawnable,
  type LookRow,
} from "../../shared/protocol/fromServer.ts";
import type { Session } from "./members/session.ts";
import type { Rebuilt } from "./ticks/simulation.ts";

export interface RoomEventsOptions {
  room: string;
  tickHz: number;
  scene: string;
  /** Spawnable bodies that are not in the scene when it starts. */
  spawnable: readonly number[];
  /** Sets of the room, updated here. */
  held: Set<number>;
  absent: Set<number>;
  /** Tuning of the scene file. */
  tuning: Tuning;
  /** Called when the tuning has changed. */
  onTuned: () => void;
  sessions: ReadonlyMap<number, Session>;
  requests: MemberRequests;
  acts: ActLog;
  broadcast: Broadcast;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

type ContactTrouble = Extract<SimEvent, { type: "tangled" | "untangled" | "crowded" | "uncrowded" }>;

export class RoomEvents {
  readonly #options: RoomEventsOptions;
  readonly #contacts: ContactEvents;
  #tuning: Tuning;
  /** First tick of the current tuning. */
  #tunedTick = 0;
  /** Messages of this tick to all members. */
  #told: Outgoing[] = [];
  /** Looks of the bodies that do not look as in the scene. */
  readonly looks = new Map<number, BodyLook>();
  readonly pins = new Map<number, Pin>();

  constructor(options: RoomEventsOptions) {
    this.#options = options;
    this.#tuning = options.tuning;
    this.#contacts = new ContactEvents(options.tickHz);
  }

  /** Handles one tick's events. Their messages go out in one write, because the inputs of a tick may be thousands. */
  take({ tick, events, touching }: Pick<StepResult, "tick" | "events" | "touching">, inputs: readonly Input[]): void {
    this.#options.acts.take(tick, inputs, events, this.#tuning);
    for (const event of events) this.#report(event, tick, inputs);
    this.#tellLooks(events, tick);
    this.#tellPins(events, tick, inputs);
    if (this.#told.length > 0) this.#options.broadcast.certainly(this.#told);
    this.#told = [];
    const refused = events.map((event) => (event.type === "inputRejected" ? event.input : undefined));
    this.#options.requests.answer(inputs, new Set(refused));
    const begun = touching ? this.#contacts.begun(tick, touching) : [];
    if (begun.length > 0)
      this.#options.broadcast.relay(encodeContacts(tick, begun), ({ hearsContacts }) => hearsContacts);
  }

  /** Current tuning of the room. */
  get tuning(): Tuning {
    return this.#tuning;
  }

  /** The tuning with its paused ticks counted up to this tick. */
  #tuningAt(tick: number): Tuning {
    const { timeScale, pausedTicks } = this.#tuning;
    return {
      ...this.#tuning,
      pausedTicks: timeScale === 0 ? pausedTicks + Math.max(0, tick - this.#tunedTick) : pausedTicks,
    };
  }

  /** Sends a newcomer the state that it needs before any frame. */
  greet(connection: Connection, tick: number): void {
    const { spawnable, absent } = this.#options;
    connection.send(encodeTuned(tick, this.#tuningAt(tick), 0), "other");
    // Bodies that are not in the scene must not be drawn.
    if (spawnable.length > 0) connection.send(encodeSpawnable(tick, absent, 0), "other");
    if (this.looks.size > 0) connection.send(encodeLooks(tick, rowsOf(this.looks)), "other");
    if (this.pins.size > 0) connection.send(encodePins(tick, this.pins, 0), "other");
  }

  /** Resets all known state after the room's state was replaced, and requests keyframes for all members. */
  standAt({ held, absent: now, tuning, looks, pins }: Rebuilt, tick: number): void {
    const { held: known, absent, spawnable, sessions, broadcast, acts } = this.#options;
    acts.wentBack(tick);
    known.clear();
    for (const body of held) known.add(body);
    absent.clear();
    for (const body of now) absent.add(body);
    this.#tuning = tuning;
    // The tuning counts paused ticks up to and including this tick.
    this.#tunedTick = tick + 1;
    this.#options.onTuned();
    for (const session of sessions.values()) session.needsKeyframe = true;
    broadcast.certain(encodeTuned(tick, tuning, 0), "other");
    if (spawnable.length > 0) broadcast.certain(encodeSpawnable(tick, absent, 0), "other");
    const changed = new Map<number, BodyLook>([...[...this.looks.keys()].map((body) => [body, {}] as const), ...looks]);
    this.looks.clear();
    for (const [body, look] of looks) this.looks.set(body, look);
    if (changed.size > 0) broadcast.certain(encodeLooks(tick, rowsOf(changed)), "other");
    const hadPins = this.pins.size > 0;
    this.pins.clear();
    for (const [pin, at] of pins) this.pins.set(pin, at);
    if (hadPins || pins.length > 0) broadcast.certain(encodePins(tick, this.pins, 0), "other");
  }

  /** Sends all changed looks of a tick in one message. */
  #tellLooks(events: readonly SimEvent[], tick: number): void {
    const rows = new Map<number, LookRow>();
    for (const event of events) {
      if (event.type !== "dressed") continue;
      const { body, look, member } = event;
      rows.set(body, [body, look, member]);
      if (Object.keys(look).length > 0) this.looks.set(body, look);
      else this.looks.delete(body);
    }
    if (rows.size > 0) this.#tell(encodeLooks(tick, [...rows.values()]));
  }

  /** Sends the pins after a tick that changed them. A pinned grab is no grab of its member any more. */
  #tellPins(events: readonly SimEvent[], tick: number, inputs: readonly Input[]): void {
    const { sessions, requests } = this.#options;
    let changedBy: number | undefined;
    for (const event of events) {
      if (event.type !== "pinned") continue;
      const { pin, after, member } = event;
      changedBy = member;
      if (after) this.pins.set(pin, after);
      else this.pins.delete(pin);
      const input = event.input === undefined ? undefined : inputs[event.input];
      const session = sessions.get(member);
      if (input?.type === "pin" && input.grab !== undefined && session) requests.forget(session, input.grab);
    }
    if (changedBy !== undefined) this.#tell(encodePins(tick, this.pins, changedBy));
  }

  #tell(bytes: Uint8Array): void {
    this.#told.push({ kind: "other", bytes });
  }

  #report(event: SimEvent, tick: number, inputs: readonly Input[]): void {
    const { room, held, absent, sessions, requests, metrics, log } = this.#options;
    switch (event.type) {
      case "reset":
        held.clear();
        this.#contacts.forget();
        this.#tell(encodeReset(tick, event.member));
        this.#allWait(tick);
        return;
      case "spawned":
        absent.delete(event.body);
        this.#tell(encodeSpawnable(tick, absent, event.member));
        return;
      case "removed":
        absent.add(event.body);
        held.delete(event.body);
        requests.dropBody(event.body);
        this.#tell(encodeSpawnable(tick, absent, event.member));
        return;
      case "bodyHeld":
        held.add(event.body);
        metrics.bodiesBlownUp.inc();
        log.warn({ room, body: event.body, reason: event.reason }, "a body blew up and is held");
        this.#tell(encodeNotice("BODY_HELD", { body: event.body, tick, reason: event.reason }));
        return;
      case "tangled":
      case "untangled":
      case "crowded":
      case "uncrowded":
        this.#reportContact(event, tick);
        return;
      case "dressed":
      case "pinned":
        return; // told once for all of the tick
      case "tuned":
        this.#tuning = event.tuning;
        this.#tunedTick = event.tick;
        this.#options.onTuned();
        this.#tell(encodeTuned(event.tick, event.tuning, event.member));
        return;
      case "inputRejected": {
        const { field, value, limit, grab, by } = event;
        metrics.reject(by ? "place_taken" : "simulation");
        const session = sessions.get(event.member);
        if (!session) return;
        if (grab !== undefined) requests.forget(session, grab);
        const request = event.input === undefined ? undefined : requests.requestOf(inputs[event.input]);
        const details = { field, value, limit, by, request };
        session.connection?.send(encodeNotice(by ? "PLACE_TAKEN" : "INPUT_REJECTED", details), "other");
        return;
      }
    }
  }

  /** Reports intersections and bodies that are held because of contact. */
  #reportContact(event: ContactTrouble, tick: number): void {
    const { room, scene, held, metrics, log } = this.#options;
    switch (event.type) {
      case "tangled": {
        const { count, pairs, first } = event;
        for (const body of event.held) held.add(body);
        metrics.intersectingStarts.inc();
        log.warn({ room, scene, count, pairs, held: event.held, first }, "surfaces intersect from the start");
        this.#tell(encodeNotice("TANGLED", { tick, count, pairs, held: event.held, first }));
        return;
      }
      case "untangled":
        log.info({ room, scene }, "no surfaces intersect any more");
        this.#tell(encodeNotice("UNTANGLED", { tick }));
        return;
      case "crowded":
        metrics.heldGroups.inc();
        log.warn(
          { room, scene, bodies: event.bodies },
          "bodies are held: their contacts exceed the room's memory or work limit",
        );
        this.#tell(encodeNotice("CROWDED", { tick, bodies: event.bodies }));
        return;
      case "uncrowded":
        log.info({ room, scene }, "no body is held because of its contacts any more");
        this.#tell(encodeNotice("UNCROWDED", { tick }));
        return;
    }
  }

  /** Marks all spawnable bodies as not in the scene, as at its start. */
  #allWait(tick: number): void {
    const { spawnable, absent } = this.#options;
    if (spawnable.length === 0) return;
    for (const body of spawnable) absent.add(body);
    this.#tell(encodeSpawnable(tick, absent, 0));
  }
}

const rowsOf = (looks: ReadonlyMap<number, BodyLook>): LookRow[] => [...looks].map(([body, look]) => [body, look, 0]);
