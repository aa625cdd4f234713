/**
 * How rooms share threads that are too few for all (workers/fairSchedule.ts): by the members who are there, so that a
 * full room gets more than one that somebody keeps open. All rooms that one address has made count for OWNER_WEIGHT
 * together at most: more rooms, or more sockets, give nobody more than that.
 */

/** Members of rooms of one address that count. */
const OWNER_WEIGHT = 16;
/** Members of all rooms are counted this often, ms. */
const COUNTED_MS = 1000;

/** What is known of a room here. */
export interface WeighedRoom {
  /** As limits count addresses; null: an operator's. */
  creator: string | null;
  members: number;
}

export class RoomWeights {
  readonly #rooms: () => Iterable<WeighedRoom>;
  #owners = new Map<string, number>();
  #countedMs = -Infinity;

  /** @param rooms all that are open */
  constructor(rooms: () => Iterable<WeighedRoom>) {
    this.#rooms = rooms;
  }

  /** More than 0. */
  weightOf({ creator, members }: WeighedRoom, nowMs: number): number {
    const own = Math.max(1, members);
    if (creator === null) return own;
    if (nowMs - this.#countedMs >= COUNTED_MS) this.#count(nowMs);
    return own * Math.min(1, OWNER_WEIGHT / Math.max(own, this.#owners.get(creator) ?? 0));
  }

  #count(nowMs: number): void {
    this.#countedMs = nowMs;
    this.#owners = new Map();
    for (const { creator, members } of this.#rooms()) {
      if (creator !== null) this.#owners.set(creator, (this.#owners.get(creator) ?? 0) + Math.max(1, members));
    }
  }
}
