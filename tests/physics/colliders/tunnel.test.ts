/**
 * Bodies thrown at colliders at up to 100 m/s: no particle is ever inside a collider, and nothing reaches the other
 * side of a plate or of the floor. (Single motions against every shape: tests/parity/contact/collide.test.ts.)
 * Colliders act on particles, so anything thinner than the mesh's edges may pass between two of them; the last test
 * covers that limit.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { distanceTo, type Shape } from "../../../server/sim/reference/collide.ts";
import { laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const soft = (speed: number): Body =>
  softBox("b", [0.2, 0.2, 0.2], [4, 4, 4], {
    transform: { translate: [0, 0.4, 0], rotate: [20, 10, 30] },
    velocity: [0, -speed, 0],
    material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.35 },
  });
const cloth = (speed: number): Body =>
  clothGrid("b", [0.3, 0.3], [10, 10], {
    transform: { translate: [0, 0.4, 0], rotate: [20, 10, 30] },
    velocity: [0, -speed, 0],
    material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
  });

const COLLIDERS: Record<string, { scene: Collider; shape: Shape }> = {
  floor: {
    scene: { type: "plane", normal: [0, 1, 0], offset: 0 },
    shape: { type: "plane", normal: [0, 1, 0], offset: 0 },
  },
  "a plate of 4 mm": {
    scene: { type: "box", center: [0, -0.002, 0], halfExtents: [1, 0.002, 1] },
    shape: {
      type: "box",
      center: [0, -0.002, 0],
      halfExtents: [1, 0.002, 1],
      toLocal: [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ],
    },
  },
  sphere: {
    scene: { type: "sphere", center: [0, -0.3, 0], radius: 0.3 },
    shape: { type: "sphere", center: [0, -0.3, 0], radius: 0.3 },
  },
  capsule: {
    scene: { type: "capsule", a: [-1, -0.1, 0], b: [1, -0.1, 0], radius: 0.1 },
    shape: { type: "capsule", a: [-1, -0.1, 0], b: [1, -0.1, 0], radius: 0.1 },
  },
};

describe.each(Object.entries(COLLIDERS))("%s", (name, { scene, shape }) => {
  test.each([5, 30, 100])("a box and a sheet at %i m/s never pass through", async (speed) => {
    for (const body of [soft(speed), cloth(speed)]) {
      for (const steps of [
        { substeps: 20, iterations: 1 },
        { substeps: 2, iterations: 10 },
      ]) {
        const lab = await laboratory({
          ...steps,
          gravity: [0, -9.81, 0],
          worldRadius: 1000,
          bodies: [body],
          colliders: [scene],
        });
        const margin = lab.created.bodies[0]!.contactRadius;
        for (let tick = 0; tick < 45; tick++) {
          expect(lab.run(1)).toEqual([]);
          const x = lab.positions();
          let least = Infinity;
          let lowest = Infinity;
          for (let i = 0; i < x.length; i += 3) {
            least = Math.min(least, distanceTo(shape, [x[i]!, x[i + 1]!, x[i + 2]!]).d);
            lowest = Math.min(lowest, x[i + 1]!);
          }
          expect(least, `${body.kind}, tick ${tick}`).toBeGreaterThan(0.999 * margin - 1e-6);
          if (name === "floor" || name.startsWith("a plate")) expect(lowest).toBeGreaterThan(0);
        }
      }
    }
  });
});

test("a rod between the particles of a sheet supports it by its edges", async () => {
  const lab = await laboratory({
    bodies: [
      clothGrid("s", [0.3, 0.3], [3, 3], {
        velocity: [0, -1, 0],
        transform: { translate: [0, 0.1, 0] },
        material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 },
      }),
    ],
    colliders: [{ type: "capsule", a: [-1, 0, 0], b: [1, 0, 0], radius: 0.005 }],
  });
  // in free fall it would be 1.7 m lower
  lab.run(30);
  expect(Math.max(...lab.positions().filter((_, k) => k % 3 === 1))).toBeGreaterThan(0);
});
