/**
 * How rooms share threads that are too few for all (workers/fairSchedule.ts): by the addresses of who is there. Each
 * weighs one, whatever is opened from it in how many rooms by how many sockets: one that is in several rooms is divided
 * among them. So a room that many share gets more than one that somebody keeps open, and no address, whoever has made
 * its rooms and whatever tokens it has, gets more than one visitor's share.
 */

/** All rooms are weighed this often, ms; and one that was not there then, this soon after it at least. */
const WEIGHED_MS = 1000;
const LEAST_MS = 100;
/** Of a room that nobody is in, or that has not been weighed yet. */
const EMPTY = 1;

/** What is known of a room here. */
export interface WeighedRoom {
  name: string;
  /** Of its sessions, as limits count them. */
  addresses: readonly string[];
}

export class RoomWeights {
  readonly #rooms: () => readonly WeighedRoom[];
  #weights = new Map<string, number>();
  #weighedMs = -Infinity;

  /** @param rooms all that are open */
  constructor(rooms: () => readonly WeighedRoom[]) {
    this.#rooms = rooms;
  }

  /** More than 0. */
  weightOf(room: string, nowMs: number): number {
    const sinceMs = nowMs - this.#weighedMs;
    if (sinceMs >= (this.#weights.has(room) ? WEIGHED_MS : LEAST_MS)) this.#weigh(nowMs);
    return this.#weights.get(room) ?? EMPTY;
  }

  #weigh(nowMs: number): void {
    this.#weighedMs = nowMs;
    const rooms = this.#rooms().map(({ name, addresses }) => ({ name, addresses: new Set(addresses) }));
    const roomsOf = new Map<string, number>();
    for (const { addresses } of rooms)
      for (const address of addresses) roomsOf.set(address, (roomsOf.get(address) ?? 0) + 1);
    this.#weights = new Map(
      rooms.map(({ name, addresses }) => [
        name,
        addresses.size > 0 ? [...addresses].reduce((sum, address) => sum + 1 / roomsOf.get(address)!, 0) : EMPTY,
      ]),
    );
  }
}
