/**
 * Low words of places and velocities (kernel/assembly/integrate/particles.ts): state, a particle a block of four lanes.
 */
import type { BodyTemplate } from "../body/template.ts";
import type { Allocator } from "./map.ts";
import type { StateRun } from "./writeBlocks.ts";

export interface LowWords {
  /** Addresses of f32x4 per particle; 0: none. */
  places: number;
  speeds: number;
  /** Of one substep: no state. */
  rounding: number;
  states: StateRun[];
}

/** @param bodies of the room, in its order; none: it keeps no low words; particles of its arrays */
export function planLowWords(bodies: readonly BodyTemplate[], particles: number, map: Allocator): LowWords {
  if (bodies.length === 0) return { places: 0, speeds: 0, rounding: 0, states: [] };
  const take = (): number => map.take(16 * particles);
  const [places, speeds] = [take(), take()];
  return { places, speeds, rounding: take(), states: [places, speeds].flatMap(statesOf) };

  function statesOf(address: number): StateRun[] {
    const [initial, good] = [take(), take()];
    let lane = 0;
    return bodies.map((body, b) => {
      const firstLane = lane;
      lane += 4 * body.particleCount;
      return { body: b, address, stride: 16, offset: 0, rows: 1, firstLane, lastLane: lane, initial, good };
    });
  }
}
