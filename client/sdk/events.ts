/** Events of a room and their listeners. */
import type { RoomStats, Tuning } from "../../shared/protocol/protocol.ts";
import type { PliantError } from "./errors.ts";
import type { HeldPoint } from "./heldPoints.ts";
import type { AccessState, Hand as MemberHand, Member } from "../../shared/protocol/fromServer.ts";

/**
 * `reconnecting`: the connection is lost and will be retried. `ended`: it will not be retried, and `error` says why.
 */
export type RoomState =
  | { state: "open" }
  | { state: "reconnecting"; attempt: number; retryInMs: number }
  | { state: "ended"; error: PliantError };

export interface RoomEvents {
  /** A frame was decoded: `positions` are those of this tick. */
  frame: { tick: number };
  /** Members whose cursor or grabs changed. */
  hands: { tick: number; hands: readonly MemberHand[] };
  /** A member (possibly this one) grabbed a point or released it. `tick` is the tick of the frame that follows. */
  grabbed: HeldPoint & { tick: number };
  released: HeldPoint & { tick: number };
  /**
   * A body was put in or taken out, from the frame of `tick` on. @see member who did it; 0: the server, by a reset or
   * an undo
   */
  spawned: { tick: number; body: number; member: number };
  removed: { tick: number; body: number; member: number };
  /** Two bodies have begun to touch; sent only if `joinRoom` asked for `contacts`. */
  contact: { tick: number; bodies: readonly [number, number] };
  /** A member came, left, or was renamed. */
  members: { members: readonly Member[] };
  /** A request was refused, or something happened: PROTOCOL.md, section 4, lists the codes. */
  notice: { code: string; text: string; details: unknown };
  /** Another member called `send`. */
  message: { member: number; type: string; data: unknown };
  state: RoomState;
  /** The scene was restarted. @see member who asked for it; 0: the server */
  reset: { tick: number; member: number };
  /** The spawnable bodies that are not in the room, from the frame of `tick` on. */
  waiting: { tick: number; bodies: readonly number[]; member: number };
  access: AccessState;
  /** The room's tuning from the frame of `tick` on. @see member who changed it; 0: the server */
  tuned: { tick: number; tuning: Tuning; member: number };
  stats: RoomStats;
  /** The room was resumed with another scene: `bodies` are new. */
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

  /** @returns a function that removes the listener */
  add<Name extends RoomEventName>(name: Name, listener: (event: RoomEvents[Name]) => void): () => void {
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known);
    known.add(listener);
    return () => void known.delete(listener);
  }

  /** Calls all listeners. An exception of one is reported and does not stop the next one. */
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
