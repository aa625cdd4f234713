/**
 * Rooms that were taken from the store and may take the process with them. Each claim is counted in the store before
 * anything is done with the room, and stays counted while it is restored and for its first ticks (`Room.onTrial`), so
 * that the rooms which were at it when a process died are known by their counts. One that has its last attempt is at it
 * alone among its like: what the process then dies of is that room's doing, and no other is parked for it.
 */
import type { Rebuilt } from "./simulation.ts";

/** A room's first ticks after it was taken from the store. */
export interface Trial {
  /**
   * Resolves when they may begin, and the store knows of it. Never rejects.
   * @param isOn called when it is the room's turn, before the store is told: from now on it counts
   */
  begin(isOn: () => void): Promise<void>;
  /** They are over, or not to come for now. */
  end(): void;
}

/** What the store has of a room does not lead to the states that it was recorded with. */
export class JournalDiffers extends Error {
  constructor({ tick, stateHash, recorded }: NonNullable<Rebuilt["differs"]>) {
    super(`state hash of tick ${tick} is ${stateHash}, but ${recorded} was recorded`);
  }
}

export class Trials {
  readonly #attempts: number;
  /** The end of the last one's turn. */
  #tail: Promise<void> = Promise.resolve();

  /** @param attempts after which a room is parked */
  constructor(attempts: number) {
    this.#attempts = attempts;
  }

  isOver(attempts: number): boolean {
    return attempts > this.#attempts;
  }

  /** Waits for its turn, should this be the room's last attempt. @returns to be called when it is over */
  async turn(attempts: number): Promise<() => void> {
    if (attempts < this.#attempts) return () => {};
    const before = this.#tail;
    let over = (): void => {};
    this.#tail = new Promise((resolve) => (over = resolve));
    await before;
    return over;
  }

  /** @param counted writes to the store that the room is on trial */
  of(attempts: number, counted: () => Promise<void>): Trial {
    let end = (): void => {};
    return {
      begin: async (isOn) => {
        end = await this.turn(attempts);
        isOn();
        await counted().catch(() => {}); // The store is away: the room is not to wait for it.
      },
      end: () => end(),
    };
  }
}
