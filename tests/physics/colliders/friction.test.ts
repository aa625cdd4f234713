/**
 * Coulomb friction on a slope: a box sticks while tan(theta) < mu and slips beyond, within 2 %. A slipping box
 * accelerates by g (sin theta - mu cos theta).
 *
 * The slope is a floor with gravity turned, so that the body lies on it without rounding. The body settles and then
 * leans downhill under strong damping, because a sudden pull would swing it beyond its own friction. Then the damping
 * is removed and the motion of the next 2 s is measured.
 */
import { describe, expect, test } from "vitest";
import { laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const G = 9.81;

/** Mean acceleration along the slope over 2 s, and the distance that the box moved, m. */
async function slide(
  tangent: number,
  mu: number,
  youngsModulus: number,
  substeps: number,
  iterations: number,
): Promise<{ acceleration: number; way: number; ideal: number }> {
  const theta = Math.atan(tangent);
  const seconds = 2;
  const lab = await laboratory({
    substeps,
    iterations,
    worldRadius: 1000,
    gravity: [0, -G * Math.cos(theta), 0],
    bodies: [
      {
        name: "b",
        kind: "soft",
        mesh: { type: "box", size: [0.3, 0.1, 0.3], cells: [3, 1, 3] },
        transform: { translate: [0, 0.0515, 0] },
        material: { density: 500, youngsModulus, poissonsRatio: 0.3, friction: mu, damping: 20 },
      },
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: mu }],
  });
  lab.run(90);
  for (let i = 0; i < lab.created.layout.particleCount; i++) lab.acceleration[4 * i] = G * Math.sin(theta);
  lab.run(60);
  for (let i = 0; i < lab.created.layout.particleCount; i++) lab.v[4 * i + 3] = 0;
  const x = middle(lab.positions())[0];
  const v = middle(lab.velocities())[0];
  lab.run(60 * seconds);
  return {
    way: middle(lab.positions())[0] - x,
    acceleration: (middle(lab.velocities())[0] - v) / seconds,
    ideal: G * (Math.sin(theta) - mu * Math.cos(theta)),
  };
}

describe.each([
  { mu: 0.5, k: 1e6, substeps: 8, iterations: 2 },
  { mu: 0.2, k: 1e6, substeps: 8, iterations: 2 },
  { mu: 1, k: 1e6, substeps: 8, iterations: 2 },
  { mu: 0.5, k: 1e5, substeps: 4, iterations: 5 },
  { mu: 0.5, k: 1e5, substeps: 20, iterations: 1 },
])("mu $mu, k $k Pa, $substeps x $iterations", ({ mu, k, substeps, iterations }) => {
  test("sticks at 98 % of mu", async () => {
    const { way } = await slide(0.98 * mu, mu, k, substeps, iterations);
    expect(Math.abs(way)).toBeLessThan(1e-5);
  });

  test("slips at 102 % of mu", async () => {
    const { way, ideal } = await slide(1.02 * mu, mu, k, substeps, iterations);
    expect(way / (0.5 * ideal * 4)).toBeGreaterThan(0.95); // from rest, or already creeping downhill
  });

  test("accelerates by g (sin theta - mu cos theta) at 1.5 mu", async () => {
    const { acceleration, ideal } = await slide(1.5 * mu, mu, k, substeps, iterations);
    expect(acceleration / ideal).toBeGreaterThan(0.95);
    expect(acceleration / ideal).toBeLessThan(1.05);
  });
});
