/**
 * Handles the events of a tick: sends messages, counts metrics, and updates the state that the room keeps of bodies.
 */
import type { FastifyBaseLogger } from "fastify";
import type { Metrics } from "../metrics/metrics.ts";
import type { Input, SimEvent } from "../sim/types.ts";
import type { StepResult } from "../workers/messages.ts";
import type { ActLog } from "./inputs/actLog.ts";
import type { Broadcast, Outgoing } from "./broadcast/broadcast.ts";
import { ContactEvents } from "./broadcast/contactEvents.ts";
import type { MemberRequests } from "./inputs/memberRequests.ts";
import { encodeContacts, encodeNotice } from "../../shared/protocol/fromServer.ts";
import type { Session } from "./members/session.ts";
import type { RoomFacts } from "./roomFacts.ts";
import type { Rebuilt } from "./ticks/simulation.ts";

export interface RoomEventsOptions {
  room: string;
  tickHz: number;
  scene: string;
  /** State of the room, updated here. */
  held: Set<number>;
  facts: RoomFacts;
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
  /** Messages of this tick to all members. */
  #told: Outgoing[] = [];

  constructor(options: RoomEventsOptions) {
    this.#options = options;
    this.#contacts = new ContactEvents(options.tickHz);
  }

  /** Handles one tick's events. Their messages go out in one write, because the inputs of a tick may be thousands. */
  take({ tick, events, touching }: Pick<StepResult, "tick" | "events" | "touching">, inputs: readonly Input[]): void {
    const { acts, facts } = this.#options;
    acts.take(tick, inputs, events, facts.tuning);
    if (events.length > 0) {
      for (const bytes of facts.take(events, tick)) this.#tell(bytes);
      for (const event of events) this.#report(event, tick, inputs);
      if (this.#told.length > 0) this.#options.broadcast.certainly(this.#told);
      this.#told = [];
    }
    if (inputs.length > 0) {
      const refused = events.map((event) => (event.type === "inputRejected" ? event.input : undefined));
      this.#options.requests.answer(inputs, new Set(refused));
    }
    const begun = touching ? this.#contacts.begun(tick, touching) : [];
    if (begun.length > 0)
      this.#options.broadcast.relay(encodeContacts(tick, begun), ({ hearsContacts }) => hearsContacts);
  }

  /** Resets all known state after the room's state was replaced, and requests keyframes for all members. */
  standAt({ held, facts: rows }: Rebuilt, tick: number): void {
    const { held: known, facts, sessions, broadcast, acts } = this.#options;
    acts.wentBack(tick);
    known.clear();
    for (const body of held) known.add(body);
    for (const session of sessions.values()) session.needsKeyframe = true;
    for (const bytes of facts.replace(rows, tick)) broadcast.certain(bytes, "other");
    this.#options.onTuned();
  }

  #tell(bytes: Uint8Array): void {
    this.#told.push({ kind: "other", bytes });
  }

  #report(event: SimEvent, tick: number, inputs: readonly Input[]): void {
    const { room, held, sessions, requests, metrics, log } = this.#options;
    switch (event.type) {
      case "reset":
        held.clear();
        this.#contacts.forget();
        return;
      case "removed":
        held.delete(event.body);
        requests.dropBody(event.body);
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
      case "spawned":
      case "dressed":
      case "yielded":
        return;
      case "pinned": {
        // A pinned grab is no grab of its member any more.
        const input = event.input === undefined ? undefined : inputs[event.input];
        const session = sessions.get(event.member);
        if (input?.type === "pin" && input.grab !== undefined && session) requests.forget(session, input.grab);
        return;
      }
      case "tuned":
        this.#options.onTuned();
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
}
