/**
 * Figure 6 of the paper: every y set to zero, and the whole body mirrored; also collapsed to a point and thrown together at random. The
 * body must recover: volume within 1 %, no element left inverted. For the bundled bunny and for boxes soft and firm.
 */
import { describe, expect, test } from "vitest";
import type { Body } from "../../shared/scene.ts";
import { laboratory, volumeOf } from "./laboratory.ts";
import { box, bunny, WRECKS, type Place } from "./recovery.ts";

async function recovers(body: Body, wreck: Place, seconds: number, steps: { substeps: number; iterations: number }): Promise<void> {
  const lab = await laboratory({ bodies: [body], ...steps }), { tets } = lab.created.bodies[0]!, whole = volumeOf(lab.positions(), tets).volume;
  lab.put(0, wreck);
  const { volume: crushed, inverted } = volumeOf(lab.positions(), tets);
  expect(inverted > 0 || crushed < 0.5 * whole).toBe(true);
  expect(lab.run(seconds * 60)).toEqual([]);
  const now = volumeOf(lab.positions(), tets);
  expect(now.inverted).toBe(0);
  expect(Math.abs(now.volume / whole - 1)).toBeLessThan(0.01);
}

describe.each(Object.entries(WRECKS))("%s", (_, wreck) => {
  test("a soft box", () => recovers(box(3e4, 0.35), wreck(), 3, { substeps: 20, iterations: 1 }));
  test("a firm box", () => recovers(box(1e6, 0.35), wreck(), 3, { substeps: 20, iterations: 1 }));
  test("a nearly incompressible box", () => recovers(box(3e4, 0.45), wreck(), 3, { substeps: 20, iterations: 1 }));
  test("a soft box, few substeps of several iterations", () => recovers(box(3e4, 0.35), wreck(), 3, { substeps: 4, iterations: 5 }));
});

test.each([["every y zero", 2], ["mirrored", 2]] as const)("the bunny, %s", (name, seconds) => recovers(bunny, WRECKS[name]!(), seconds, { substeps: 20, iterations: 1 }));
