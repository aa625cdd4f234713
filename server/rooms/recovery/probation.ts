/**
 * Probation of restored rooms, which may crash their process. The store counts each claim as an attempt before the room
 * is touched. The attempt counts while the room is restored and for its first ticks (`Room.onProbation`), so that after
 * a crash the counts show which rooms were on probation. Rooms on their last attempt run their probation one at a time:
 * if the process then dies, that room is the cause, and no other room is quarantined for it.
 */
import type { Rebuilt } from "../ticks/simulation.ts";

/** Probation of one room's first ticks after it was restored. */
export interface Probation {
  /**
   * Resolves when the ticks may begin and the store has counted the attempt. Never rejects.
   * @param isOn called when it is the room's turn, before the store is told: the probation counts from then on
   */
  begin(isOn: () => void): Promise<void>;
  /** Ends the probation: the room has settled, or will not tick for now. */
  end(): void;
}

/** Stepping the journal does not reproduce the recorded state hashes. */
export class JournalDiffers extends Error {
  constructor({ tick, stateHash, recorded }: NonNullable<Rebuilt["differs"]>) {
    super(`state hash of tick ${tick} is ${stateHash}, but ${recorded} was recorded`);
  }
}

export class Probations {
  readonly #attempts: number;
  /** Resolves when the last turn has ended. */
  #tail: Promise<void> = Promise.resolve();

  /** @param attempts number after which a room is quarantined */
  constructor(attempts: number) {
    this.#attempts = attempts;
  }

  isOver(attempts: number): boolean {
    return attempts > this.#attempts;
  }

  /** Waits for its turn if this is the room's last attempt. @returns call it to end the turn */
  async turn(attempts: number): Promise<() => void> {
    if (attempts < this.#attempts) return () => {};
    const before = this.#tail;
    let over = (): void => {};
    this.#tail = new Promise((resolve) => (over = resolve));
    await before;
    return over;
  }

  /** @param counted stores that the room is on probation */
  of(attempts: number, counted: () => Promise<void>): Probation {
    let end = (): void => {};
    return {
      begin: async (isOn) => {
        end = await this.turn(attempts);
        isOn();
        await counted().catch(() => {}); // If the store is away, the room does not wait for it.
      },
      end: () => end(),
    };
  }
}
