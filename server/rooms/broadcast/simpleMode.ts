/**
 * Simple mode: sends uncompressed complete frames to clients without the codec. Every frame decodes alone, so a skipped
 * frame loses only its own picture. Due times count in ticks, which never run faster than the clock:
 *
 *     send tick -> is one due? -> requested from the worker -> a body moved, or the member is behind -> sent; the next
 *                       |                                                           is due a period later
 *                       `- no, but a body moved -> the member is behind
 */
import { Limits } from "../../../shared/protocol/protocol.ts";
import type { Hello } from "../members/connection.ts";

export class SimpleMode {
  readonly #hz: number;
  /** The room has a later frame than this member has. */
  behind = true;
  #periodTicks = 0;
  #dueTick = 0;
  #askedTick = -1;

  /** @param hz frames per second of simulated time, at most */
  constructor(hz: number) {
    this.#hz = hz;
  }

  /** Returns whether a frame is due with this send tick. A second call for the same tick returns the same answer. */
  asks(tick: number): boolean {
    // After an undo the room's ticks are lower than the due tick.
    const due = tick >= this.#dueTick || this.#dueTick - tick > this.#periodTicks;
    this.#askedTick = due ? tick : -1;
    return due;
  }

  hasAsked(tick: number): boolean {
    return tick === this.#askedTick;
  }

  /** @param bytes size of the frame: a larger frame makes the next one due later */
  sent(tick: number, bytes: number, tickHz: number): void {
    this.behind = false;
    this.#periodTicks = tickHz * Math.max(1 / this.#hz, bytes / Limits.simpleBytes);
    // Keep the remainder of the period: 20 Hz out of 30 frames per second are then 20, not 15.
    const late = tick - this.#dueTick;
    this.#dueTick = (late >= 0 && late < this.#periodTicks ? this.#dueTick : tick) + this.#periodTicks;
  }
}

/** @returns null: the member gets keyframes and deltas */
export function simpleModeOf({ mode, hz }: Pick<Hello, "mode" | "hz">): SimpleMode | null {
  return mode === "simple" ? new SimpleMode(hz ?? Limits.simpleHz) : null;
}
