/**
 * Nothing passes through anything, however thin, fast, pinched or crowded. Every substep is checked as by `npm run
 * check:collisions`. No two triangles may intersect at its end. On the straight path there, no vertex may pass through
 * a triangle and no edge through an edge. The check is exact and has no tolerance.
 */
import { expect, test } from "vitest";
import { tallyOf, watch, type Watched } from "./contactWatch.ts";
import * as scenes from "./contactScenes.ts";
import { along, middle } from "../measures.ts";

/** Least and greatest coordinate of a body. */
function extent({ lab }: Watched, body: number, axis: number): [number, number] {
  const values = along(lab.positions(body), axis);
  return [Math.min(...values), Math.max(...values)];
}

const mean = (a: Float64Array, axis: number): number => middle(a)[axis]!;

/** Proof that contacts occurred: a change of the scene that only contacts can cause. */
const FELT: Record<keyof typeof scenes, (run: Watched) => void> = {
  clash: ({ lab }) => {
    // They met at 50 m/s each: contact took at least half of it.
    expect(mean(lab.velocities(0), 0)).toBeLessThan(25);
    expect(mean(lab.velocities(1), 0)).toBeGreaterThan(-25);
  },
  bullet: ({ lab }) => expect(mean(lab.velocities(1), 2)).toBeLessThan(80),
  // flat on the floor, but folded: several layers are higher than one
  crumple: (run) => expect(extent(run, 0, 1)[1]).toBeLessThan(0.25),
  fourJellies: ({ lab }) =>
    [0, 1, 2, 3].forEach((n) =>
      expect(mean(lab.velocities(n), n < 2 ? 0 : 2) * [-1, 1, -1, 1][n]!, lab.created.bodies[n]!.name).toBeLessThan(2),
    ),
  // in free fall it would be below -4 m
  edgeAndRod: (run) => expect(extent(run, 0, 1)[1]).toBeGreaterThan(0.14),
  pinch: ({ tally }) => expect(tally.impulses).toBeGreaterThan(0),
  // the outer edge lies on the layers around the pole
  pole: (run) => expect(extent(run, 0, 0)[1]).toBeLessThan(0.3),
};

test.each(Object.keys(scenes) as (keyof typeof scenes)[])("%s: nothing passes through anything", async (name) => {
  const run = await watch(scenes[name]);
  expect(run.events).toEqual([]);
  expect(run.findings).toEqual([]);
  expect(run.frames).toBe(1 + scenes[name].ticks * run.lab.created.layout.substeps);
  expect(tallyOf(run.lab).lists).toBeGreaterThan(0);
  FELT[name](run);
});
