/**
 * When an input came in and what became of the tick that took it, for whoever subscribes (Node's diagnostics channels):
 * the benchmark of input latency does, nothing in the server does. Without a subscriber a tick pays one comparison for
 * each. Times are milliseconds of this process's monotonic clock; add `performance.timeOrigin` to compare processes of
 * one machine.
 */
import { channel } from "node:diagnostics_channel";
import type { StepResult } from "../workers/messages.ts";

/** An input of a member has been decoded and goes to the room. */
export interface InputTrace {
  room: string;
  member: number;
  /** As in the protocol: "grab", "move", ... */
  type: string;
  ms: number;
}

/** A tick is over and what it had to send has been handed to the sockets. */
export interface TickTrace {
  room: string;
  tick: number;
  /** Whether it sent a frame. */
  frame: boolean;
  /** Its inputs were taken: later ones go into the next tick. */
  startMs: number;
  /** The main thread has the encoded frame. */
  steppedMs: number;
  sentMs: number;
  /** Of these the worker took for step and encoding, and for encoding alone. */
  workerMs: number;
  encodeMs: number;
}

export const inputTraces = channel("pliant.input");
const tickTraces = channel("pliant.tick");

/**
 * Says it to whoever listens.
 * @param startMs handed over;
 * @param steppedMs back from its worker, both on performance.now()
 */
export function traceTick(
  room: string,
  { tick, delta, keyframe, wholeSeconds, seconds }: StepResult,
  startMs: number,
  steppedMs: number,
): void {
  if (!tickTraces.hasSubscribers) return;
  tickTraces.publish({
    room,
    tick,
    frame: delta !== null || keyframe !== null,
    startMs,
    steppedMs,
    sentMs: performance.now(),
    workerMs: 1000 * wholeSeconds,
    encodeMs: 1000 * seconds.encode,
  } satisfies TickTrace);
}
