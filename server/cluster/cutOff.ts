/**
 * What becomes of rooms while the store is away: members are told at once, and those whose lease is over are let go, so
 * that they find the room where it goes on, or here when the store is back.
 */

/** What a room does when this process is cut off. */
interface CutOffRoom {
  readonly name: string;
  /** The store is away: what is done now may be forgotten. */
  tellStoreAway(): void;
  /** It stands still, and its members are let go; or it goes on. */
  cutOff(isCutOff: boolean): void;
}

/** Between two looks, ms. */
const LOOK_MS = 250;
/** A room that has stood still for so long without a lease lets its members go, ms: a renewal may be under way. */
const GRACE_MS = 1500;

export interface CutOffOptions {
  rooms: () => CutOffRoom[];
  /** ms on performance.now() */
  ownedUntilMs: (room: string) => number;
  /** s; 0: the store takes what it is given. */
  awaySeconds: () => number;
}

/** @returns to be called at the end */
export function watchCutOff({ rooms, ownedUntilMs, awaySeconds }: CutOffOptions): () => void {
  /** Since when the rooms stand still, ms as seen here: whoever was stopped itself has not watched them. */
  const still = new WeakMap<CutOffRoom, number>();
  let told = false;
  const look = (): void => {
    const nowMs = performance.now();
    const away = awaySeconds() > 0;
    if (away && !told) for (const room of rooms()) room.tellStoreAway();
    told = away;
    for (const room of rooms()) {
      if (ownedUntilMs(room.name) > nowMs) {
        still.delete(room);
        room.cutOff(false);
        continue;
      }
      const sinceMs = still.get(room) ?? nowMs;
      still.set(room, sinceMs);
      if (nowMs - sinceMs >= GRACE_MS) room.cutOff(true);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
