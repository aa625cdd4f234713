/**
 * Pins of a room, in its memory. A pin is a grab of member 0, who is the room, so it holds the body until a member
 * removes it. Checkpoints, undo and replays contain pins like the motion.
 *
 *   row of a pin, 4-byte words   1 + author | body | triangle | u | v | x | y | z | together
 */
import { PINS_PER_MEMBER, PINS_PER_ROOM, type Pin } from "../../../shared/members/pin.ts";
import type { Point } from "../../../shared/protocol/surfacePoint.ts";
import type { Input, Refusal, SimEvent } from "../types.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { freeSlot, handOver, slotsOf } from "./grabSlots.ts";

/** The room as the owner of pins. */
const ROOM = 0;
const ROW = 12;

export type PinInput = Extract<Input, { type: "pin" | "unpin" }>;
type Pinned = Extract<SimEvent, { type: "pinned" }>;
type PinOf = Extract<Input, { type: "pin" }>;
type GrabOf = Extract<Input, { type: "grab" }>;

interface Grabs {
  /** Returns the reason why this grab cannot begin. */
  refuse: (input: GrabOf) => Refusal | undefined;
  /** Begins it, or returns the reason why not. */
  begin: (input: GrabOf) => Refusal | undefined;
}

/** Memory of the pins, bytes. */
export const PINS_BYTES = 4 * ROW * PINS_PER_ROOM;

export class RoomPins {
  readonly #views: Views;
  readonly #layout: SimLayout;
  readonly #grabs: Grabs;

  constructor(views: Views, layout: SimLayout, grabs: Grabs) {
    this.#views = views;
    this.#layout = layout;
    this.#grabs = grabs;
  }

  /** Number of 4-byte words that the state hash includes: none without pins. */
  get hashedWords(): number {
    return this.current.length > 0 ? ROW * PINS_PER_ROOM : 0;
  }

  get current(): [pin: number, at: Pin][] {
    return Array.from({ length: PINS_PER_ROOM }, (_, pin) => pin).flatMap((pin): [number, Pin][] => {
      const at = this.#of(pin);
      return at ? [[pin, at]] : [];
    });
  }

  /**
   * Sets or removes a pin; a refusal changes nothing.
   * @param input its place among the tick's inputs
   */
  apply(change: PinInput, tick: number, input: number): SimEvent[] {
    const { member } = change;
    if (change.type === "unpin") return this.#remove(change.pin, tick, member, input);
    const pin = Array.from({ length: PINS_PER_ROOM }, (_, n) => n).find((n) => !this.#of(n)) ?? NaN;
    const refusal = this.#refuse(change) ?? this.#set(pin, change);
    if (refusal) return [{ type: "inputRejected", tick, member, input, ...refusal }];
    return [{ type: "pinned", tick, member, pin, after: this.#of(pin)!, input }];
  }

  /** Removes the pins of a body, or all. @returns their events */
  removeOf(tick: number, body?: number): SimEvent[] {
    const gone = this.current.filter(([, at]) => body === undefined || at.body === body);
    return gone.flatMap(([pin]) => this.#remove(pin, tick, ROOM));
  }

  #refuse({ by }: PinOf): Refusal | undefined {
    const pins = this.current;
    const own = pins.filter(([, at]) => at.by === by).length;
    if (pins.length >= PINS_PER_ROOM)
      return { field: "pin", value: pins.length + 1, limit: `${PINS_PER_ROOM} pins in a room` };
    if (own >= PINS_PER_MEMBER) return { field: "pin", value: own + 1, limit: `${PINS_PER_MEMBER} pins of a member` };
    return undefined;
  }

  #set(pin: number, { type: _, member, grab, by, ...at }: PinOf): Refusal | undefined {
    const held: GrabOf = { type: "grab", member: ROOM, grab: pin, ...at };
    const slots = grab === undefined ? [] : slotsOf(this.#views, this.#layout, member, grab);
    const refusal =
      this.#grabs.refuse(held) ??
      (grab === undefined
        ? this.#grabs.begin(held)
        : slots.length === 0
          ? { field: "grab", value: grab, limit: "a grab that the member holds" }
          : undefined);
    if (refusal) return refusal;
    for (const slot of slots) handOver(this.#views, this.#layout, slot, ROOM, pin);
    this.#write(pin, { ...at, by });
    return undefined;
  }

  #remove(pin: number, tick: number, member: number, input?: number): Pinned[] {
    const before = this.#of(pin);
    if (!before) return [];
    for (const slot of slotsOf(this.#views, this.#layout, ROOM, pin)) freeSlot(this.#views, this.#layout, slot);
    this.#row(pin).i32.fill(0);
    return [{ type: "pinned", tick, member, pin, before, ...(input !== undefined && { input }) }];
  }

  #row(pin: number): Views {
    const from = this.#layout.pins / 4 + ROW * pin;
    const { i32, f32 } = this.#views;
    return { i32: i32.subarray(from, from + ROW), f32: f32.subarray(from, from + ROW) };
  }

  #of(pin: number): Pin | undefined {
    if (!(pin >= 0 && pin < PINS_PER_ROOM)) return undefined;
    const { i32, f32 } = this.#row(pin);
    if (i32[0] === 0) return undefined;
    return {
      by: i32[0]! - 1,
      body: i32[1]!,
      triangle: i32[2]!,
      u: f32[3]!,
      v: f32[4]!,
      target: Array.from(f32.subarray(5, 8)) as Point,
      ...(i32[8] === 1 && { together: true as const }),
    };
  }

  #write(pin: number, { by, body, triangle, u, v, target, together }: Pin): void {
    const { i32, f32 } = this.#row(pin);
    i32.set([1 + by, body, triangle]);
    f32.set([u, v, ...target], 3);
    i32[8] = together ? 1 : 0;
  }
}
