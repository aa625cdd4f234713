/**
 * State of a room that members learn from messages beside the frames: tuning, absent bodies, looks and pins. A further
 * kind of fact is added here, and in `ActLog` if a member can undo it.
 */
import type { Pin } from "../../shared/members/pin.ts";
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import {
  encodeLooks,
  encodeMovers,
  encodePins,
  encodeReset,
  encodeSpawnable,
  encodeTuned,
  type LookRow,
  type MoverRow,
} from "../../shared/protocol/fromServer.ts";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import type { Input, SimEvent } from "../sim/types.ts";
import type { FactRows } from "../workers/messages.ts";

/** Readable part of the facts. */
export interface Facts {
  readonly tuning: Tuning;
  /** Spawnable bodies that are not in the scene. */
  readonly absent: ReadonlySet<number>;
  /** Looks of the bodies that do not look as in the scene. */
  readonly looks: ReadonlyMap<number, BodyLook>;
  readonly pins: ReadonlyMap<number, Pin>;
}

/** Facts that a reader already has: messages must say where they no longer hold. */
interface KnownFacts {
  looks: Iterable<number>;
  pins: boolean;
  movers: boolean;
}

export class RoomFacts implements Facts {
  readonly #spawnable: readonly number[];
  #tuning: Tuning;
  /** First tick of the current tuning. */
  #tunedTick = 0;
  absent: Set<number>;
  looks = new Map<number, BodyLook>();
  pins = new Map<number, Pin>();
  /** Moving colliders that are off their paths. */
  movers: readonly MoverRow[] = [];

  /** @param spawnable bodies that are absent when the scene starts. @param tuning of the scene file */
  constructor(spawnable: readonly number[], tuning: Tuning) {
    this.#spawnable = spawnable;
    this.#tuning = tuning;
    this.absent = new Set(spawnable);
  }

  get tuning(): Tuning {
    return this.#tuning;
  }

  /** Applies the events of a tick. @returns their messages: all changed looks in one, and all pins in one */
  take(events: readonly SimEvent[], tick: number): Uint8Array[] {
    const dressed = new Map<number, LookRow>();
    let pinnedBy: number | undefined;
    const told: Uint8Array[] = [];
    for (const event of events) {
      switch (event.type) {
        case "reset":
          this.absent = new Set(this.#spawnable);
          told.push(encodeReset(tick, event.member));
          if (this.#spawnable.length > 0) told.push(encodeSpawnable(tick, this.absent, 0));
          break;
        case "spawned":
        case "removed":
          if (event.type === "spawned") this.absent.delete(event.body);
          else this.absent.add(event.body);
          told.push(encodeSpawnable(tick, this.absent, event.member));
          break;
        case "tuned":
          this.#tuning = event.tuning;
          this.#tunedTick = event.tick;
          told.push(encodeTuned(event.tick, event.tuning, event.member));
          break;
        case "yielded":
          if (JSON.stringify(event.movers) === JSON.stringify(this.movers)) break;
          this.movers = event.movers;
          told.push(encodeMovers(tick, event.movers));
          break;
        case "dressed":
          dressed.set(event.body, [event.body, event.look, event.member]);
          if (Object.keys(event.look).length > 0) this.looks.set(event.body, event.look);
          else this.looks.delete(event.body);
          break;
        case "pinned":
          pinnedBy = event.member;
          if (event.after) this.pins.set(event.pin, event.after);
          else this.pins.delete(event.pin);
      }
    }
    if (dressed.size > 0) told.push(encodeLooks(tick, [...dressed.values()]));
    if (pinnedBy !== undefined) told.push(encodePins(tick, this.pins, pinnedBy));
    return told;
  }

  /** Replaces all facts. @returns messages for members that know the earlier ones */
  replace({ tuning, absent, looks, pins }: FactRows, tick: number): Uint8Array[] {
    const before = { looks: this.looks.keys(), pins: this.pins.size > 0, movers: this.movers.length > 0 };
    // The next tick tells them.
    this.movers = [];
    this.#tuning = tuning;
    // The tuning counts paused ticks up to and including this tick.
    this.#tunedTick = tick + 1;
    this.absent = new Set(absent);
    this.looks = new Map(looks);
    this.pins = new Map(pins);
    return this.all(tick, before);
  }

  /** Returns messages with all facts. @param known to the reader, who may have other looks and pins */
  all(tick: number, known: KnownFacts = { looks: [], pins: false, movers: false }): Uint8Array[] {
    const looks = new Map<number, BodyLook>([...[...known.looks].map((body) => [body, {}] as const), ...this.looks]);
    const rows = [...looks].map(([body, look]): LookRow => [body, look, 0]);
    return [
      encodeTuned(tick, this.#tuningAt(tick), 0),
      // Absent bodies must not be drawn.
      ...(this.#spawnable.length > 0 ? [encodeSpawnable(tick, this.absent, 0)] : []),
      ...(rows.length > 0 ? [encodeLooks(tick, rows)] : []),
      ...(known.movers || this.movers.length > 0 ? [encodeMovers(tick, this.movers)] : []),
      ...(known.pins || this.pins.size > 0 ? [encodePins(tick, this.pins, 0)] : []),
    ];
  }

  /** @param tick of a frame @returns ticks of simulated time at the frame, as a page counts them */
  simulatedTicks(tick: number): number {
    return tick - this.#tuningAt(tick + 1).pausedTicks;
  }

  /** Returns inputs that remove the texts and pins of a member. @param member undefined: none */
  removalsOf(member: number | undefined): Input[] {
    const isTheirs = <T extends { by?: number }>([, { by }]: [number, T]): boolean => by !== undefined && by === member;
    const texts = [...this.looks].filter(isTheirs);
    const pins = [...this.pins].filter(isTheirs);
    return [
      ...texts.map(([body]): Input => ({ type: "dress", member: 0, body, text: null })),
      ...pins.map(([pin]): Input => ({ type: "unpin", member: 0, pin })),
    ];
  }

  /** The tuning with its paused ticks counted up to this tick. */
  #tuningAt(tick: number): Tuning {
    const { timeScale, pausedTicks } = this.#tuning;
    const paused = timeScale === 0 ? Math.max(0, tick - this.#tunedTick) : 0;
    return { ...this.#tuning, pausedTicks: pausedTicks + paused };
  }
}
