/**
 * A tumbling rigid body with restitution 1 and without friction keeps its energy within 2 % for 15 s, whatever its
 * shape and the way it falls. Thin ones spin faster and lose more, a plate 3.6 %, a rod 5 % (half of it with half the
 * step). Impacts reverse the velocity of the contact point. Between them the angular momentum stays.
 */
import { expect, test } from "vitest";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";

const G = 9.81;

test.each<[string, Vec3, Vec3, Vec3, number?]>([
  ["box", [0.3, 0.2, 0.1], [3, 2, 1], [20, 30, 40]],
  ["cube", [0.2, 0.2, 0.2], [2, 2, 2], [20, 30, 40]],
  ["cube that falls flat", [0.2, 0.2, 0.2], [2, 2, 2], [0, 0, 0]],
  ["rod", [0.6, 0.05, 0.05], [6, 1, 1], [20, 30, 40], 0.06],
  ["plate", [0.4, 0.05, 0.3], [4, 1, 3], [20, 30, 40], 0.04],
])("a %s keeps its energy", async (_, size, cells, rotate, most = 0.02) => {
  const lab = await laboratory({
    substeps: 20,
    gravity: [0, -G, 0],
    bodies: [
      {
        name: "body",
        kind: "soft",
        mesh: { type: "box", size, cells },
        transform: { translate: [0, 1, 0], rotate },
        material: { model: "shape-matching", mode: "rigid", density: 1000, friction: 0 },
        contact: { restitution: 1 },
      },
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0, restitution: 1 }],
  });
  const { mass } = lab.created.bodies[0]!;
  const energy = (): number => {
    const [x, v] = [lab.positions(), lab.velocities()];
    return mass.reduce((sum, m, i) => {
      const square = v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2;
      return sum + m * (0.5 * square + G * x[3 * i + 1]!);
    }, 0);
  };
  const before = energy();
  for (let second = 1; second <= 15; second++) {
    lab.run(60);
    expect(Math.abs(energy() / before - 1)).toBeLessThan(most);
  }
});
