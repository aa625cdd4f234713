/** Low words of positions and velocities (kernel/assembly/integrate/particles.ts): four lanes per particle. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "./memoryMap.ts";

/** Addresses; `start` holds the low words of positions at the start of the substep. */
export interface LowWords {
  positions: number;
  velocities: number;
  start: number;
}

/** @param particles number in the room's arrays */
export function planLowWords(particles: number, map: Allocator): LowWords {
  const take = (): number => map.take(16 * particles);
  return { positions: take(), velocities: take(), start: take() };
}

/** Sets low words to 0. Call if a body is put somewhere: its x and v are then exact. */
export function clearLowWords(memory: ArrayBufferLike, first: number, count: number): void {
  const words = new Int32Array(memory);
  for (const pointer of [L.H_LOW, L.H_LOW_SPEED]) {
    const at = words[(L.HEADER + pointer) / 4]! / 4;
    words.fill(0, at + 4 * first, at + 4 * (first + count));
  }
}
