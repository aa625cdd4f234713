/**
 * How rooms share threads that are too few for all (workers/fairSchedule.ts): by the addresses of who is there. Each
 * weighs one, whatever is opened from it in how many rooms by how many sockets: one that is in several rooms is divided
 * among them. So a room that many share gets more than one that somebody keeps open, and no address, whoever has made
 * its rooms and whatever tokens it has, gets more than one visitor's share. Rooms with one address alone in them have
 * an account together: what one of them has had is not there for the others.
 */
import type { Share } from "../workers/messages.ts";

/** All rooms are weighed this often, ms; and one that was not there then, this soon after it at least. */
const WEIGHED_MS = 1000;
const LEAST_MS = 100;

/** What is known of a room here. */
export interface WeighedRoom {
  name: string;
  /** Of its sessions, as limits count them. */
  addresses: readonly string[];
}

export class RoomShares {
  readonly #rooms: () => readonly WeighedRoom[];
  #shares = new Map<string, Share>();
  #weighedMs = -Infinity;

  /** @param rooms all that are open */
  constructor(rooms: () => readonly WeighedRoom[]) {
    this.#rooms = rooms;
  }

  /** Its weight is more than 0. */
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

/** Of a room that nobody is in, or that has not been weighed yet. */
const whole = (room: string): Share => ({ account: `room ${room}`, weight: 1 });
