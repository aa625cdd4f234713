/**
 * The newest acts of a room's members, for undo. Two kinds:
 *
 *   spawn, remove, dress, pin, tune   the inverse inputs undo them, whatever other members did meanwhile
 *   pull, reset                       only a return to the tick before undoes them, and with it all later acts
 *
 * The log is kept in memory only: after a restart or a take-over there is nothing to undo. It judges by ticks and
 * inputs, never by a clock.
 */
import { type Pin, samePin } from "../../../shared/members/pin.ts";
import { type BodyLook, sameLook } from "../../../shared/scene/bodyLook.ts";
import { changesTo, type Tuning, type TuningChange } from "../../../shared/members/tuningLimits.ts";
import type { Point } from "../../../shared/protocol/fromServer.ts";
import type { Input, SimEvent } from "../../sim/types.ts";
import type { Facts } from "../roomFacts.ts";

/** Most acts of a room that can be undone; beyond it the oldest are forgotten. */
export const MOST_ACTS = 256;
/** Inputs of one kind and member that follow each other within this time are one act: a moved slider, a shake, s. */
const ONE_ACT_SECONDS = 0.5;

type Spawned = Extract<SimEvent, { type: "spawned" | "removed" }>;

export type Act = {
  member: number;
  /** First and last tick with an input of this act. */
  tick: number;
  until: number;
  /** The act's inverse inputs are queued. */
  pending: boolean;
} & (
  | { type: "spawn"; body: number }
  | { type: "remove"; body: number; position: Point; heading: [number, number]; look: BodyLook }
  | { type: "dress"; body: number; before: BodyLook; after: BodyLook }
  | { type: "pin"; pin: number; before: Pin | undefined; after: Pin | undefined }
  | { type: "tune"; before: Tuning; after: Tuning }
  | { type: "pull" }
  | { type: "reset" }
);

type Kind = Act extends infer A ? (A extends Act ? Omit<A, "member" | "tick" | "until" | "pending"> : never) : never;

const isMove = (act: Act): act is Extract<Act, { type: "spawn" | "remove" }> =>
  act.type === "spawn" || act.type === "remove";

/** Newest involvement of a member, and the newest of any other member. */
interface Involved {
  member: number;
  tick: number;
}

export class ActLog {
  readonly #oneActTicks: number;
  #acts: Act[] = [];
  /** The newest act of each member that has one. */
  readonly #latest = new Map<number, Act>();
  #newest: Involved = { member: 0, tick: -1 };
  #newestOfOthers: Involved = { member: 0, tick: -1 };
  readonly #undoing = new WeakMap<Input, Act>();

  constructor(tickHz: number) {
    this.#oneActTicks = ONE_ACT_SECONDS * tickHz;
  }

  /** Acts that are not being undone, the newest first. */
  get acts(): Act[] {
    return this.#acts.filter(({ pending }) => !pending).reverse();
  }

  /** Records the effects of a tick's inputs. @param before the tuning before the tick */
  take(tick: number, inputs: readonly Input[], events: readonly SimEvent[], before: Tuning): void {
    if (inputs.length === 0) return;
    const refused = new Set(events.map((event) => (event.type === "inputRejected" ? event.input : undefined)));
    const moved = events.filter((event): event is Spawned => event.type === "spawned" || event.type === "removed");
    for (const [place, input] of inputs.entries()) {
      const undone = this.#undoing.get(input);
      if (undone) {
        undone.pending = false;
        if (!refused.has(place)) this.#keep((act) => act !== undone);
      }
      if (refused.has(place)) continue;
      this.#involve(input.member, tick);
      const moves = input.type === "spawn" || input.type === "remove" ? moved.shift() : undefined;
      const kind = undone ? undefined : kindOf({ input, place, moves, before, events });
      // Member 0 is the server.
      if (kind && input.member > 0) this.#add(kind, input.member, tick);
    }
  }

  #add(kind: Kind, member: number, tick: number): void {
    const last = this.#latest.get(member);
    if (last && !last.pending && tick - last.until <= this.#oneActTicks) {
      if (last.type === "pull" && kind.type === "pull") return void (last.until = tick);
      if (last.type === "tune" && kind.type === "tune") {
        last.until = tick;
        last.after = kind.after;
        return;
      }
      if (last.type === "dress" && kind.type === "dress" && last.body === kind.body) {
        last.until = tick;
        last.after = kind.after;
        return;
      }
    }
    const act = { ...kind, member, tick, until: tick, pending: false };
    this.#acts.push(act);
    this.#latest.set(member, act);
    const oldest = this.#acts.length > MOST_ACTS ? this.#acts.shift() : undefined;
    if (oldest && this.#latest.get(oldest.member) === oldest) this.#latest.delete(oldest.member);
  }

  #keep(stays: (act: Act) => boolean): void {
    this.#acts = this.#acts.filter(stays);
    this.#latest.clear();
    for (const act of this.#acts) this.#latest.set(act.member, act);
  }

  #involve(member: number, tick: number): void {
    if (member !== this.#newest.member) this.#newestOfOthers = this.#newest;
    this.#newest = { member, tick };
  }

  /** True if an input of another member took effect at this tick or later. */
  othersActedSince(member: number, tick: number): boolean {
    return [this.#newest, this.#newestOfOthers].some((one) => one.member !== member && one.tick >= tick);
  }

  /** True if the state that the act left is still there, so that its inverse means the same. */
  stands(act: Act, { tuning, absent, looks, pins }: Facts): boolean {
    if (act.type === "tune") {
      const changed = valuesOf(changesTo(act.before, act.after));
      return changed.length > 0 && !valuesOf(changesTo(act.after, tuning)).some((name) => changed.includes(name));
    }
    if (act.type === "dress") {
      const { before, after } = act;
      return !sameLook(before, after) && sameLook(looks.get(act.body) ?? {}, after);
    }
    const later = this.#acts.slice(this.#acts.indexOf(act) + 1);
    if (act.type === "pin") {
      const { pin, before, after } = act;
      const gone = before && (absent.has(before.body) || later.some(({ type }) => type === "reset"));
      return !gone && samePin(pins.get(pin), after);
    }
    if (!isMove(act)) return true;
    const replaced = later.some((one) => one.type === "reset" || (isMove(one) && one.body === act.body));
    return !replaced && absent.has(act.body) === (act.type === "remove");
  }

  /** Marks the act as being undone by these inputs, until the last of them has run. */
  undoBy(act: Act, inputs: readonly Input[]): void {
    act.pending = true;
    this.#undoing.set(inputs.at(-1)!, act);
  }

  /** The room went back to this tick, or lost the inputs since: forgets all later acts. */
  wentBack(tick: number): void {
    this.#keep((act) => act.tick <= tick);
    for (const act of this.#acts) act.pending = false;
    for (const one of [this.#newest, this.#newestOfOthers]) one.tick = Math.min(one.tick, tick);
  }
}

type Pinned = Extract<SimEvent, { type: "pinned" }>;
type Dressed = Extract<SimEvent, { type: "dressed" }>;

const dressed = (events: readonly SimEvent[], is: (event: Dressed) => boolean): Dressed | undefined =>
  events.find((event): event is Dressed => event.type === "dressed" && is(event));

/** Names of the changed values: `gravity`, `3 density`. */
const valuesOf = (changes: readonly TuningChange[]): string[] =>
  changes.flatMap(({ body, ...fields }) => Object.keys(fields).map((name) => `${body ?? ""} ${name}`));

interface Done {
  input: Input;
  /** Among the tick's inputs. */
  place: number;
  /** Event of a spawn or removal. */
  moves: Spawned | undefined;
  /** The tuning at the start of the tick. */
  before: Tuning;
  events: readonly SimEvent[];
}

function kindOf({ input, place, moves, before, events }: Done): Kind | undefined {
  switch (input.type) {
    case "spawn":
      return { type: "spawn", body: input.body };
    case "remove":
      return moves?.type === "removed"
        ? {
            type: "remove",
            body: input.body,
            position: moves.position,
            heading: moves.heading,
            look: dressed(events, (event) => event.body === input.body && event.input === undefined)?.before ?? {},
          }
        : undefined;
    case "tune": {
      const tuned = events.find((event) => event.type === "tuned");
      return tuned && { type: "tune", before, after: tuned.tuning };
    }
    case "dress": {
      const event = dressed(events, (one) => one.input === place);
      return event && { type: "dress", body: input.body, before: event.before, after: event.look };
    }
    case "pin":
    case "unpin": {
      const event = events.find((one) => one.type === "pinned" && one.input === place) as Pinned | undefined;
      return event && { type: "pin", pin: event.pin, before: event.before, after: event.after };
    }
    case "grab":
    case "move":
    case "impulse":
      return { type: "pull" };
    case "reset":
      return { type: "reset" };
    default:
      return undefined;
  }
}
