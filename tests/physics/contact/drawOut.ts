/** Steps rooms that begin tangled until nothing intersects. */
import { expect } from "vitest";
import type { SimEvent } from "../../../server/sim/types.ts";
import { crossings } from "./crossings.ts";
import type { Laboratory } from "../laboratory.ts";

/**
 * Steps until the room is untangled, then for another second, in which nothing may intersect again.
 * @param most limit, s. @returns events, speed of the fastest particle, m/s, and seconds until untangled
 */
export function drawOut(lab: Laboratory, most: number): { events: SimEvent[]; fastest: number; seconds: number } {
  const events: SimEvent[] = [];
  let fastest = 0;
  let seconds = Infinity;
  for (let tick = 1; tick <= 60 * most && !(tick / 60 > seconds + 1); tick++) {
    events.push(...lab.run(1));
    for (let i = 0; i < lab.v.length; i += 4)
      fastest = Math.max(fastest, Math.hypot(lab.v[i]!, lab.v[i + 1]!, lab.v[i + 2]!));
    if (events.at(-1)?.type === "untangled") seconds = Math.min(seconds, tick / 60);
    if (seconds < Infinity && tick % 10 === 0) expect(crossings(lab), `tick ${tick}`).toBe(0);
  }
  return { events, fastest, seconds };
}
