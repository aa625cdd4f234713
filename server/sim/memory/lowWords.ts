/**
 * Plans low words of positions and velocities (kernel/assembly/integrate/particles.ts): part of the state, one block of
 * four lanes per particle.
 */
import type { BodyTemplate } from "../body/template.ts";
import type { Allocator } from "./map.ts";
import type { StateRun } from "./writeBlocks.ts";

export interface LowWords {
  /** Addresses of f32x4 per particle. */
  places: number;
  speeds: number;
  /** Low words at the start of the substep: not part of the state. */
  placesPrev: number;
  states: StateRun[];
}

/**
 * @param bodies of the room, in its order
 * @param particles number in the room's arrays
 */
export function planLowWords(bodies: readonly BodyTemplate[], particles: number, map: Allocator): LowWords {
  const take = (): number => map.take(16 * particles);
  const [places, speeds] = [take(), take()];
  return { places, speeds, placesPrev: take(), states: [places, speeds].flatMap(statesOf) };

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
