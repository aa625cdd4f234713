/**
 * Plans low words of positions and velocities (kernel/assembly/integrate/particles.ts): part of the state, one block of
 * four lanes per particle.
 */
import type { BodyTemplate } from "../body/template.ts";
import type { Allocator } from "./map.ts";
import type { StateRun } from "./writeBlocks.ts";

export interface LowWords {
  /** Addresses of f32x4 per particle; 0: no low words. */
  places: number;
  speeds: number;
  /** Address of one substep's rounding: not part of the state. */
  rounding: number;
  states: StateRun[];
}

/**
 * @param bodies of the room, in its order; empty: the room keeps no low words
 * @param particles number in the room's arrays
 */
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
