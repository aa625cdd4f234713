/** Events of a room and their listeners. */
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import type { PliantError } from "./errors.ts";
import type { FrameEvent } from "./mirror/frameDecoder.ts";
import type { HeldPoint } from "./mirror/heldPoints.ts";
import type {
  AccessState,
  LookRow,
  MemberGrabs,
  Member,
  MoverRow,
  PinRow,
  Said,
  ServerEvent,
  RoomStats,
} from "../../shared/protocol/fromServer.ts";
import type { Topology } from "../../shared/topology.ts";

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
  grabs: { tick: number; members: readonly MemberGrabs[] };
  /** A member (possibly this one) grabbed a point or released it. `tick` is the tick of the frame that follows. */
  grabbed: HeldPoint & { tick: number };
  released: HeldPoint & { tick: number };
  /**
   * A body was put in or taken out, from the frame of `tick` on. `member` did it; 0: the server, by a reset or
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
  /** A member (possibly this one) reacted. `reaction`: place in REACTIONS. */
  reaction: { member: number; reaction: number };
  /** New lines of chat, also this member's own; after joining the last ones, `earlier`. */
  said: { lines: readonly Said[]; earlier: boolean };
  state: RoomState;
  /** The connection ended for another reason than `leave`. */
  error: { error: PliantError };
  /** The scene was restarted. `member` asked for it; 0: the server. */
  reset: { tick: number; member: number };
  /** The bodies that can be spawned, because they are not in the room, from the frame of `tick` on. */
  spawnable: { tick: number; bodies: readonly number[]; member: number };
  /**
   * Members gave bodies other looks (`Room.looks` has all), or the server took them away. Rows of body, its look, and
   * the member who changed it; 0: the server
   */
  looks: { tick: number; looks: readonly LookRow[] };
  /** All pins of the room; `member` set or removed one of them, 0: the server. */
  pins: { tick: number; pins: readonly PinRow[]; member: number };
  /** Displacements from their paths of all moving colliders that bodies keep off them: number, x, y, z in m. */
  movers: { tick: number; movers: readonly MoverRow[] };
  access: AccessState;
  /** The room's tuning from the frame of `tick` on. `member` changed it; 0: the server. */
  tuned: { tick: number; tuning: Tuning; member: number };
  stats: RoomStats;
  /** The room was resumed with another scene: `bodies` are new. */
  scene: { scene: string };
}

export type RoomEventName = keyof RoomEvents;
export const EVENT_NAMES: readonly RoomEventName[] = [
  "frame",
  "grabs",
  "grabbed",
  "released",
  "spawned",
  "removed",
  "contact",
  "members",
  "notice",
  "message",
  "reaction",
  "said",
  "state",
  "error",
  "reset",
  "spawnable",
  "looks",
  "pins",
  "movers",
  "access",
  "tuned",
  "stats",
  "scene",
];

/** Events that only the parts of a client tell each other. */
interface InnerEvents extends RoomEvents {
  /** `resumed`: the session and the scene are the same as before the connection was lost. */
  welcome: { resumed: boolean };
  topology: Topology;
  /** Told before `frame`. */
  decoded: FrameEvent;
  topologyFailed: unknown;
  pong: Extract<ServerEvent, { type: "pong" }>;
  done: Extract<ServerEvent, { type: "done" }>;
}

type Listener = (event: never) => void;

export class Listeners {
  readonly #listeners = new Map<keyof InnerEvents, Set<Listener>>();

  /** @returns a function that removes the listener */
  add<Name extends keyof InnerEvents>(name: Name, listener: (event: InnerEvents[Name]) => void): () => void {
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known);
    known.add(listener);
    return () => void known.delete(listener);
  }

  remove<Name extends keyof InnerEvents>(name: Name, listener: (event: InnerEvents[Name]) => void): void {
    this.#listeners.get(name)?.delete(listener);
  }

  /** Calls all listeners. An exception of one is reported and does not stop the next one. */
  tell<Name extends keyof InnerEvents>(name: Name, event: InnerEvents[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as (event: InnerEvents[Name]) => void)(event);
      } catch (error) {
        console.error(error);
      }
    }
  }
}
