/**
 * Assigns rooms to threads. Pure: the caller passes the time. With two threads or more, heavy rooms are kept together
 * on some threads, and light rooms have the others alone, so that they never wait behind a long tick there. Within each
 * group rooms go to the least loaded thread, and move when the loads have become uneven. If heavy rooms ask for more
 * than their threads have, those that fit beside the light rooms go there: a heavy room must not slow down another one
 * while a thread has free time. Light rooms can interrupt a long tick (threadLoop.ts).
 */

/** A room that was not stepped for this time, and has no step waiting, has no demand, ms. */
const GONE_MS = 1000;
/** Least time that a room stays on a thread, ms. */
const LEAST_STAY_MS = 1000;
/** A room moves to another thread of its group if it gains this share of a thread. */
const WORTH = 0.1;
/**
 * If light rooms ask for more than this share of their threads, they get another one, if the heavy rooms can spare it.
 */
const FULL = 0.8;

export interface Resident {
  /** Number of its thread, -1 before the first step. */
  home: number;
  /** The room's ticks take long. */
  heavy: boolean;
  /** Demand of the room, as a share of one thread. */
  demand: number;
  /** End of its last step, ms; Infinity: a step waits or runs. */
  activeMs: number;
  movedMs: number;
}

export class Placement {
  readonly #threads: number;
  readonly #residents = new Set<Resident>();

  constructor(threads: number) {
    this.#threads = threads;
  }

  /** Call it when the step for which the room was placed has ended, or will not begin. */
  done(room: Resident, nowMs: number): void {
    room.activeMs = nowMs;
  }

  /** @returns the thread of the room's next step, possibly another one than before */
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
   * Returns the range of threads, first .. end - 1. Light rooms have the first threads, heavy rooms the last; each
   * group has at least one.
   * @param asked demand of other rooms on each thread
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

  /** Demand of the other rooms on each thread. */
  #asked(room: Resident): number[] {
    const asked = new Array<number>(this.#threads).fill(0);
    for (const other of this.#residents) if (other !== room && other.home >= 0) asked[other.home]! += other.demand;
    return asked;
  }
}
