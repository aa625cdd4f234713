/** Whether a room runs slower than the wall, how much, and what its time goes into. */
import type { RoomStats } from "../../shared/protocol/protocol.ts";

/** Below this part of real time people see it. */
const SEEN = 0.95;
/** A tick that takes less than this part of its period is late because it waited for a thread. */
const BUSY = 0.9;

/**
 * Stages of a tick that are about contact, in its order; those that are neither this nor sending are the equations'.
 */
const CONTACT = new Set([
  "broadPhase",
  "points",
  "contacts",
  "rigid",
  "collide",
  "verify",
  "response",
  "intersections",
  "guard",
]);

function aboutOf(stage: string): SlowMotion["why"] {
  if (stage === "encode") return "slowSending";
  return CONTACT.has(stage) ? "slowContact" : "slowSolving";
}

export interface SlowMotion {
  /** Part of real time, 0 to 1. */
  factor: number;
  /** Key of the catalogue. */
  why: "slowOtherRooms" | "slowLongTicks" | "slowSending" | "slowContact" | "slowSolving";
}

/** @param stats of one second. @returns undefined: real time, or so near to it that nobody sees it */
export function slowMotionOf(stats: RoomStats, tickHz: number): SlowMotion | undefined {
  const { timeDilation: factor, stepMs, stages } = stats;
  if (!(factor < SEEN)) return undefined;
  if (stepMs < (BUSY * 1000) / tickHz) return { factor, why: "slowOtherRooms" };
  const sums = new Map<SlowMotion["why"], number>();
  for (const [stage, ms] of Object.entries(stages)) {
    const about = aboutOf(stage);
    sums.set(about, (sums.get(about) ?? 0) + ms);
  }
  const [most] = [...sums].sort((a, b) => b[1] - a[1]);
  return { factor, why: most?.[0] ?? "slowLongTicks" };
}
