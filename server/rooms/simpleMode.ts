/**
 * Simple mode: whole frames as they are, for clients without the codec. Every frame stands alone, so one that is left
 * out costs nothing but its picture. Due times count in ticks, which never run faster than the clock:
 *
 *     send tick -> is one due? -> asked of the worker -> something moved, or it is behind -> sent; the next is due a
 *                       |                                                                    period later
 *                       `- no, but something moved -> it is behind
 */
import { Limits } from "../../shared/protocol/protocol.ts";
import type { Hello } from "./connection.ts";

export class SimpleMode {
  readonly #hz: number;
  /** The room has a later frame than this member. */
  behind = true;
  #periodTicks = 0;
  #dueTick = 0;
  #askedTick = -1;

  /** @param hz frames per second of simulated time, at most */
  constructor(hz: number) {
    this.#hz = hz;
  }

  /** Is a frame due with this send tick? Whoever asks twice for a tick gets the same answer. */
  asks(tick: number): boolean {
    // After an undo the room's ticks are earlier ones.
    const due = tick >= this.#dueTick || this.#dueTick - tick > this.#periodTicks;
    this.#askedTick = due ? tick : -1;
    return due;
  }

  hasAsked(tick: number): boolean {
    return tick === this.#askedTick;
  }

  /** @param bytes of the frame: a large one keeps the next away for longer */
  sent(tick: number, bytes: number, tickHz: number): void {
    this.behind = false;
    this.#periodTicks = tickHz * Math.max(1 / this.#hz, bytes / Limits.simpleBytes);
    // What is left of a period counts for the next: 20 Hz of 30 frames are 20, not 15.
    const late = tick - this.#dueTick;
    this.#dueTick = (late >= 0 && late < this.#periodTicks ? this.#dueTick : tick) + this.#periodTicks;
  }
}

/** @returns null: it takes keyframes and deltas */
export function simpleModeOf({ mode, hz }: Pick<Hello, "mode" | "hz">): SimpleMode | null {
  return mode === "simple" ? new SimpleMode(hz ?? Limits.simpleHz) : null;
}
