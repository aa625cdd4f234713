/**
 * Decides which ticks send a frame: every `sendTicks` while bodies move. While all bodies rest, an empty delta comes at
 * an interval, and an input that wakes them is shown at once.
 */
import type { StepTask } from "../../workers/messages.ts";

/** While all bodies rest, an empty delta at this interval tells clients that the room is alive, ms. */
const REST_HEARTBEAT_MS = 250;

export class FrameSchedule {
  /** Ticks between two frames. */
  readonly sendTicks: number;
  #lastFrameMs = 0;
  /** No body moved at the last send tick. */
  #rests = false;
  /** A resting room got an input: its effect is sent at once. */
  #stirred = false;

  constructor(tickHz: number, sendHz: number) {
    this.sendTicks = Math.max(1, Math.round(tickHz / sendHz));
  }

  isSendTick(tick: number): boolean {
    return tick % this.sendTicks === 0;
  }

  /** Returns the delta that a tick has to encode. Called once a tick. */
  delta(tick: number, hasInputs: boolean): StepTask["delta"] {
    if (!this.isSendTick(tick)) {
      this.#stirred ||= this.#rests && hasInputs;
      return this.#stirred ? "moving" : "none";
    }
    this.#stirred = false;
    return performance.now() - this.#lastFrameMs >= REST_HEARTBEAT_MS ? "always" : "moving";
  }

  /**
   * Notes the outcome of a tick.
   * @param anyFrame whether it has a frame
   * @returns whether messages that accompany frames are due
   */
  stepped(tick: number, moved: boolean, anyFrame: boolean): boolean {
    if (anyFrame) {
      this.#lastFrameMs = performance.now();
      this.#stirred = false;
    }
    const due = anyFrame || this.isSendTick(tick);
    if (due) this.#rests = !moved;
    return due;
  }
}
