/**
 * Handles rooms while the store is away. Members get a notice at once. Members of rooms whose lease has expired are
 * disconnected, so that they find the room at its new owner, or here when the store is back.
 */

/** The part of a room that is used here. */
interface CutOffRoom {
  readonly name: string;
  /** Tells members that the store is away, so that changes from now on may be lost. */
  tellStoreAway(): void;
  /** Pauses the room and disconnects its members; or continues it. */
  cutOff(isCutOff: boolean): void;
}

/** Interval between two checks, ms. */
const LOOK_MS = 250;
/** A room without lease disconnects its members after this time, ms, because a renewal may be running. */
const GRACE_MS = 1500;

export interface CutOffOptions {
  rooms: () => CutOffRoom[];
  /** ms on performance.now() */
  ownedUntilMs: (room: string) => number;
  /** Time since the store stopped accepting writes, s; 0: healthy. */
  awaySeconds: () => number;
}

/** @returns call it to stop watching */
export function watchCutOff({ rooms, ownedUntilMs, awaySeconds }: CutOffOptions): () => void {
  /**
   * When each room was first seen without lease, ms. Counted from checks, because the process itself may have paused.
   */
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
