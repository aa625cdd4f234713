/**
 * A rigid box that lands flat and slides comes to rest at the same place in every frame. It falls for t, moves v t
 * meanwhile, and loses mu times the impact speed to friction in the impact (Coulomb):
 *   s = v t + max(0, v - mu g t)^2 / (2 mu g)
 * Tolerances: 1 %, for the impact's substep of v/1200 and the torque of friction; 0.2 % between frames.
 */
import { expect, test } from "vitest";
import { rotationMatrix } from "../../../server/sim/body/transform.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const G = 9.81;
const MU = 0.4;
const FALL = 0.3;

/** Turns a vector like a scene's `rotate`. */
function turn(rotate: Vec3, a: Vec3): Vec3 {
  const R = rotationMatrix(rotate);
  return [0, 3, 6].map((row) => a.reduce((sum, x, k) => sum + R[row + k]! * x, 0)) as Vec3;
}

/** Distance that the center moves along the floor until rest, m. */
async function distance(rotate: Vec3, velocity: Vec3): Promise<number> {
  const normal = turn(rotate, [0, 1, 0]);
  const lab = await laboratory({
    substeps: 20,
    gravity: turn(rotate, [0, -G, 0]),
    bodies: [
      {
        name: "box",
        kind: "soft",
        mesh: { type: "box", size: [0.3, 0.2, 0.2], cells: [6, 4, 4] },
        transform: { translate: turn(rotate, [0, 0.1 + FALL, 0]), rotate },
        material: { model: "shape-matching", mode: "rigid", density: 1000, friction: MU },
        velocity: turn(rotate, velocity),
      },
    ],
    colliders: [{ type: "plane", normal, offset: 0, friction: MU }],
  });
  const before = middle(lab.positions());
  lab.run(90);
  const way = middle(lab.positions()).map((c, r) => c - before[r]!);
  const along = way.reduce((sum, w, r) => sum + w * normal[r]!, 0);
  return Math.hypot(...way.map((w, r) => w - along * normal[r]!));
}

test.each<[string, Vec3]>([
  ["slides on", [1.6, 0, 0.48]],
  ["nearly stops in the impact", [1, 0, 0.3]],
])("a box that lands flat and %s goes the same way in every frame", async (_, velocity) => {
  const speed = Math.hypot(velocity[0], velocity[2]);
  const t = Math.sqrt((2 * FALL) / G);
  const right = speed * t + Math.max(0, speed - MU * G * t) ** 2 / (2 * MU * G);
  const frames: Vec3[] = [
    [0, 0, 0],
    [0, 0, 30],
    [0, 40, 0],
    [20, 30, 40],
    [-70, 10, 100],
  ];
  const ways: number[] = [];
  for (const frame of frames) ways.push(await distance(frame, velocity));
  for (const way of ways) expect(Math.abs(way / right - 1)).toBeLessThan(0.01);
  for (const way of ways) expect(Math.abs(way / ways[0]! - 1)).toBeLessThan(0.002);
});
