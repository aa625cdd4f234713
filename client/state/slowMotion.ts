/** Detects whether a room runs slower than real time, by how much, and which part of the tick takes the most time. */
import type { RoomStats } from "../../shared/protocol/fromServer.ts";

/** Below this share of real time viewers notice. */
const SEEN = 0.95;
/** A tick that takes less than this share of its period is late because it waited for a thread. */
const BUSY = 0.9;

/** Stages of a tick that count as contact, in their order. The others are solving, except sending. */
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
  /** Share of real time, 0 to 1. */
  factor: number;
  /** Key of the text catalogue. */
  why: "slowOtherRooms" | "slowLongTicks" | "slowSending" | "slowContact" | "slowSolving";
}

/** @param stats of one second. @returns undefined if the room runs at SEEN of real time or faster */
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
