/**
 * At which thread a room lives. Pure: it is told the time. Where there are two threads or more, heavy rooms are kept
 * together on some of them and the others have light rooms alone, which never wait behind a long tick there. Within
 * each group rooms go where least is asked for, and move when that has become uneven. Where heavy rooms ask for more
 * than their threads have, those that fit beside the light ones go there: somebody's long ticks must not slow down
 * another's heavy room while a thread has time. Light rooms interrupt a long tick (threadLoop.ts).
 */

/** A room that has had no step for so long, and waits for none, asks for nothing, ms. */
const GONE_MS = 1000;
/** A room stays where it is for so long at least, ms. */
const LEAST_STAY_MS = 1000;
/** It moves to another thread of its group when it gains this much of a thread. */
const WORTH = 0.1;
/** Light rooms that ask for more than this of their threads get one more, if heavy rooms have one to spare. */
const FULL = 0.8;

export interface Resident {
  /** The thread, -1 before the first step. */
  home: number;
  /** Its ticks are long. */
  heavy: boolean;
  /** What it asks for, of one thread. */
  demand: number;
  /** When its last step was over, ms; Infinity: it waits for one, or has one. */
  activeMs: number;
  movedMs: number;
}

export class Placement {
  readonly #threads: number;
  readonly #residents = new Set<Resident>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  /** The step for which the room was placed is over, or will not be. */
  done(room: Resident, nowMs: number): void {
    room.activeMs = nowMs;
  }

  /** @returns the thread of the room's next step; may be another one than that of the last */
  place(room: Resident, nowMs: number): number {
    room.activeMs = Infinity;
    this.#residents.add(room);
    if (this.#threads === 1) return (room.home = 0);
    if (room.home >= 0 && nowMs - room.movedMs < LEAST_STAY_MS) return room.home;
    for (const other of this.#residents)
      if (nowMs - other.activeMs > GONE_MS && other !== room) this.#residents.delete(other);
    const asked = this.#asked(room);
    const [first, end] = this.#group(room, asked);
    let best = first;
    for (let thread = first; thread < end; thread++) if (asked[thread]! < asked[best]!) best = thread;
    const inGroup = room.home >= first && room.home < end;
    if (inGroup && asked[room.home]! - asked[best]! < Math.max(WORTH, room.demand)) return room.home;
    if (room.home !== best) room.movedMs = nowMs;
    return (room.home = best);
  }

  /**
   * Threads first .. end - 1: light rooms have the first ones, heavy rooms the last ones, each group one at least.
   * @param asked of each thread by other rooms
   */
  #group(room: Resident, asked: readonly number[]): [first: number, end: number] {
    let heavy = 0;
    let light = 0;
    for (const { heavy: isHeavy, demand } of this.#residents) {
      if (isHeavy) heavy += 1;
      else light += demand;
    }
    if (heavy === 0) return [0, this.#threads];
    const forLight = Math.min(this.#threads - 1, Math.max(1, Math.ceil(light / FULL), this.#threads - heavy));
    if (!room.heavy) return [0, forLight];
    const least = (from: number, to: number): number => Math.min(...asked.slice(from, to)) + room.demand;
    const isBeside = room.home >= 0 && room.home < forLight;
    const spills = least(forLight, this.#threads) > (isBeside ? FULL : 1) && least(0, forLight) <= FULL;
    return spills ? [0, forLight] : [forLight, this.#threads];
  }

  /** What other rooms ask of each thread. */
  #asked(room: Resident): number[] {
    const asked = new Array<number>(this.#threads).fill(0);
    for (const other of this.#residents) if (other !== room && other.home >= 0) asked[other.home]! += other.demand;
    return asked;
  }
}
