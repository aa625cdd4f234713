/**
 * Weighs rooms that share overloaded threads (workers/schedule/fairSchedule.ts) by the addresses of their members. Each
 * address weighs 1, however many sockets it opens; an address in several rooms is divided among them. So a room with
 * many visitors gets more than a room that one address keeps open. No address gets more than one visitor's share,
 * whatever rooms or tokens it has. Rooms whose only member address is the same share an account: time that one of them
 * uses is missing for the others.
 */
import type { Share } from "../../workers/messages.ts";

/** Interval between weighings of all rooms, ms; for a new room it is at least LEAST_MS. */
const WEIGHED_MS = 1000;
const LEAST_MS = 100;

/** The data of a room that its weight depends on. */
export interface WeighedRoom {
  name: string;
  /** Addresses of its sessions, as limits count them. */
  addresses: readonly string[];
}

export class RoomShares {
  readonly #rooms: () => readonly WeighedRoom[];
  #shares = new Map<string, Share>();
  #weighedMs = -Infinity;

  /** @param rooms returns all open rooms */
  constructor(rooms: () => readonly WeighedRoom[]) {
    this.#rooms = rooms;
  }

  /** Returns the room's share; its weight is above 0. */
  shareOf(room: string, nowMs: number): Share {
    const sinceMs = nowMs - this.#weighedMs;
    if (sinceMs >= (this.#shares.has(room) ? WEIGHED_MS : LEAST_MS)) this.#weigh(nowMs);
    return this.#shares.get(room) ?? whole(room);
  }

  #weigh(nowMs: number): void {
    this.#weighedMs = nowMs;
    const rooms = this.#rooms().map(({ name, addresses }) => ({ name, addresses: [...new Set(addresses)] }));
    const roomsOf = new Map<string, number>();
    for (const address of rooms.flatMap(({ addresses }) => addresses))
      roomsOf.set(address, (roomsOf.get(address) ?? 0) + 1);
    this.#shares = new Map(
      rooms.map(({ name, addresses }): [string, Share] => {
        if (addresses.length === 0) return [name, whole(name)];
        const weight = addresses.reduce((sum, address) => sum + 1 / roomsOf.get(address)!, 0);
        return [name, { account: addresses.length === 1 ? `address ${addresses[0]!}` : `room ${name}`, weight }];
      }),
    );
  }
}

/** Share of an empty room, or of a room that was not weighed yet. */
const whole = (room: string): Share => ({ account: `room ${room}`, weight: 1 });
