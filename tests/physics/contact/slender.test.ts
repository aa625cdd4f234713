/**
 * Meshes of slender triangles: within contact distance, every primitive has so many neighbors of its own surface that a
 * list with the usual margins has no room. A free body must keep its velocity: the bvtt front separates triangles that
 * fly together (kernel/assembly/contact/detect/bvttFront.ts).
 *
 * Tolerance: rounding. In each of 12 substeps a position below 8 m is rounded to float32, by 2^-22 m at most. Its
 * velocity, times the substep, is rounded by less; the sum that predicts the position is rounded again: 12 * 4 * 2^-22
 * m.
 */
import { expect, test } from "vitest";
import type { Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { clothGrid } from "../../support/bodies.ts";

const SUBSTEPS = 12;
const CLOTH = { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 };
const sheet = (
  name: string,
  size: [number, number],
  cells: [number, number],
  translate: Vec3,
  velocity: Vec3,
): Scene["bodies"][number] => clothGrid(name, size, cells, { transform: { translate }, material: CLOTH, velocity });
const BODIES = [
  sheet("a", [0.02, 1], [10, 4], [-3, 1, 0], [50, 0, 0]),
  sheet("b", [1, 0.02], [4, 10], [3, 3, 0], [-50, 0, 0]),
  sheet("c", [1, 0.05], [2, 20], [0, 5, 0], [0, 0, 50]),
  sheet("d", [0.05, 1], [20, 2], [0, -3, 0], [0, 0, -50]),
];

test("a free body of slender triangles keeps its velocity", async () => {
  const lab = await laboratory({ substeps: SUBSTEPS, bodies: BODIES });
  const means = (): number[][] =>
    BODIES.map((_, body) => {
      const x = lab.positions(body);
      return [0, 1, 2].map((r) => x.filter((_, k) => k % 3 === r).reduce((sum, c) => sum + c, 0) / (x.length / 3));
    });
  const before = means();
  expect(lab.run(1)).toEqual([]);
  means().forEach((mean, body) =>
    mean.forEach((c, r) =>
      expect(Math.abs(c - before[body]![r]! - BODIES[body]!.velocity![r]! / 60), BODIES[body]!.name).toBeLessThan(
        SUBSTEPS * 2 ** -20,
      ),
    ),
  );
});
