/** What a room tells those who listen. */
import type { RoomStats, Tuning } from "../../shared/protocol/protocol.ts";
import type { PliantError } from "./errors.ts";
import type { HeldPoint } from "./heldPoints.ts";
import type { AccessState, Hand as MemberHand, Member } from "../../shared/protocol/fromServer.ts";

/** `reconnecting`: the line is down and comes back by itself. `ended`: it does not, and `error` says why. */
export type RoomState =
  | { state: "open" }
  | { state: "reconnecting"; attempt: number; retryInMs: number }
  | { state: "ended"; error: PliantError };

export interface RoomEvents {
  /** A frame was decoded: `positions` are those of this tick. */
  frame: { tick: number };
  /** Hands that changed. */
  hands: { tick: number; hands: readonly MemberHand[] };
  /** A member, maybe this one, took hold of a point, or let go of it; `tick` is that of the frame that follows. */
  grabbed: HeldPoint & { tick: number };
  released: HeldPoint & { tick: number };
  /** Put in or taken out from the frame of `tick` on. @see member who did it; 0: the server, with a reset or an undo */
  spawned: { tick: number; body: number; member: number };
  removed: { tick: number; body: number; member: number };
  /** Two bodies have begun to touch; only if `joinRoom` was asked for `contacts`. */
  contact: { tick: number; bodies: readonly [number, number] };
  /** Somebody came, went, or was renamed. */
  members: { members: readonly Member[] };
  /** Something was refused or happened: PROTOCOL.md, section 4, has the codes. */
  notice: { code: string; text: string; details: unknown };
  /** Another member said it with `send`. */
  message: { member: number; type: string; data: unknown };
  state: RoomState;
  /** The scene began again. @see member who asked; 0: the server */
  reset: { tick: number; member: number };
  /** These bodies wait to be put in, from the frame of `tick` on. */
  waiting: { tick: number; bodies: readonly number[]; member: number };
  access: AccessState;
  /** What the room is simulated with from the frame of `tick` on. @see member who changed it; 0: the server says so */
  tuned: { tick: number; tuning: Tuning; member: number };
  stats: RoomStats;
  /** The room came back with another scene: `bodies` are new. */
  scene: { scene: string };
}

export type RoomEventName = keyof RoomEvents;
export const EVENT_NAMES: readonly RoomEventName[] = [
  "frame",
  "hands",
  "grabbed",
  "released",
  "spawned",
  "removed",
  "contact",
  "members",
  "notice",
  "message",
  "state",
  "reset",
  "waiting",
  "access",
  "tuned",
  "stats",
  "scene",
];

type Listener = (event: never) => void;

export class Listeners {
  readonly #listeners = new Map<RoomEventName, Set<Listener>>();

  /** @returns takes the listener away again */
  add<Name extends RoomEventName>(name: Name, listener: (event: RoomEvents[Name]) => void): () => void {
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known);
    known.add(listener);
    return () => void known.delete(listener);
  }

  /** A listener that throws is reported and keeps nobody else from hearing. */
  tell<Name extends RoomEventName>(name: Name, event: RoomEvents[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as (event: RoomEvents[Name]) => void)(event);
      } catch (error) {
        console.error(error);
      }
    }
  }
}
