/**
 * At which thread a room lives. Pure: it is told the time. Rooms that cannot keep their rate take all of a thread that
 * they can get, in ticks that may be long. Where there are two threads or more such rooms are kept together on the last
 * ones, and the others have theirs alone, where nobody waits for longer than a tick of a room that keeps its rate.
 * Should they ask for more than their threads have, those with the longest ticks go to the last threads, too, and are
 * given their share there (fairSchedule.ts). Within each group rooms go where least is asked for, and move when that
 * has become uneven.
 */

/** A room that has had no step for so long, and waits for none, asks for nothing, ms. */
const GONE_MS = 1000;
/** A room stays where it is for so long at least, ms. */
const LEAST_STAY_MS = 1000;
/** It moves to another thread of its group when it gains this much of a thread. */
const WORTH = 0.1;
/** Rooms that keep their rate may ask for this much of each of their threads. */
const FULL = 0.8;
/** What they may ask for of each of the last threads beyond that: they have a fair share there, not what they want. */
const BEYOND = 0.5;
/** Whoever is where short ticks are counts as shorter by this factor: rooms that are alike do not change places. */
const STAYS = 0.8;

export interface Resident {
  /** The thread, -1 before the first step. */
  home: number;
  /** Its ticks take as long as there is between two, or longer. */
  overruns: boolean;
  /** What it asks for, of one thread. */
  demand: number;
  /** Average seconds that a tick takes, helped or not. */
  tickSeconds: number;
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
    const [first, end] = this.#group(room);
    const asked = this.#asked(room);
    let best = first;
    for (let thread = first; thread < end; thread++) if (asked[thread]! < asked[best]!) best = thread;
    const inGroup = room.home >= first && room.home < end;
    if (inGroup && asked[room.home]! - asked[best]! < Math.max(WORTH, room.demand)) return room.home;
    if (room.home !== best) room.movedMs = nowMs;
    return (room.home = best);
  }

  /** Threads first .. end - 1: each group has one at least. */
  #group(room: Resident): [first: number, end: number] {
    const all = this.#threads;
    const keeping = [...this.#residents].filter(({ overruns }) => !overruns);
    const overrunning = this.#residents.size - keeping.length;
    if (overrunning === 0) return [0, all];
    const asked = keeping.reduce((sum, { demand }) => sum + demand, 0);
    const first = Math.min(all - 1, Math.max(1, Math.ceil(asked / FULL), all - overrunning));
    if (room.overruns) return [first, all];
    const length = (other: Resident): number => other.tickSeconds * (other.home < first ? STAYS : 1);
    // Those before it, by the length of their ticks and then by age, and itself.
    const own = keeping.indexOf(room);
    const upTo = keeping.reduce((sum, other, i) => {
      const shorter = length(other) - length(room);
      return shorter < 0 || (shorter === 0 && i <= own) ? sum + other.demand : sum;
    }, 0);
    const most = Math.max(FULL * first, asked - BEYOND * (all - first));
    return upTo > most ? [first, all] : [0, first];
  }

  /** What other rooms ask of each thread. */
  #asked(room: Resident): number[] {
    const asked = new Array<number>(this.#threads).fill(0);
    for (const other of this.#residents) if (other !== room && other.home >= 0) asked[other.home]! += other.demand;
    return asked;
  }
}
