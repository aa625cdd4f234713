/**
 * Publishes when inputs came in and when their tick was done, on Node's diagnostics channels. The benchmark of input
 * latency subscribes; nothing in the server does. Without a subscriber a tick pays one comparison for each channel.
 * Times are ms of this process's monotonic clock; add `performance.timeOrigin` to compare processes of one machine.
 */
import { channel } from "node:diagnostics_channel";
import type { StepResult } from "../workers/messages.ts";

/** A member's input, published when it is decoded. */
export interface InputTrace {
  room: string;
  member: number;
  /** Message type of the protocol: "grab", "move", ... */
  type: string;
  ms: number;
}

/** Times of a tick, published when its messages have been handed to the sockets. */
export interface TickTrace {
  room: string;
  tick: number;
  /** Whether the tick sent a frame. */
  frame: boolean;
  /** Time at which its inputs were taken; later inputs go into the next tick. */
  startMs: number;
  /** Time at which the main thread got the encoded frame. */
  steppedMs: number;
  sentMs: number;
  /** Duration of step and encoding in the worker, and of encoding alone. */
  workerMs: number;
  encodeMs: number;
}

const inputTraces = channel("pliant.input");
const tickTraces = channel("pliant.tick");

/** Publishes a request if the channel has subscribers. */
export function traceInput(room: string, member: number, type: string): void {
  if (inputTraces.hasSubscribers)
    inputTraces.publish({ room, member, type, ms: performance.now() } satisfies InputTrace);
}

/**
 * Publishes a tick if the channel has subscribers. Both times are on performance.now().
 * @param startMs time at which the tick was sent to its worker
 * @param steppedMs time at which its result came back
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
