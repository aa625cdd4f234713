/** The comparison of kernel and twin that the parity tests of all elements share. */
import { expect } from "vitest";
import { conditioned, type Kit, randomStream } from "./kit.ts";

/**
 * Each element agrees with the twin within `tolerance` units (kit.ts), in one iteration after another.
 * @param what said with a failure
 */
export function agrees(kit: Kit, tolerance: number, what: string, iterations = 4, random = randomStream(3)): void {
  for (let iteration = 0; iteration < iterations; iteration++)
    for (const [i, { distance, unit }] of conditioned(kit, iteration === 0, kit.h, random).entries())
      expect(distance / unit, `${what}, iteration ${iteration}, element ${i}: ${distance} m apart`).toBeLessThan(
        tolerance,
      );
}
