/**
 * A ball in the corner of two planes. Each has its own push and friction: when they hit at once from directions that
 * are each other's mirror image, their frictions turn the ball in opposite directions, and it does not spin.
 */
import { expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { topSpeed } from "../measures.ts";

const SPEED = 3;
const R = 0.1;
const planes = [
  { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 },
  { type: "plane", normal: [0, 0, 1], offset: 0, friction: 0.5 },
] as Collider[];
const ball = {
  name: "ball",
  kind: "ball",
  mesh: { type: "ball", radius: R, subdivisions: 2 },
  transform: { translate: [0, R + 0.02, R + 0.02] },
  material: { density: 500, friction: 0.5 },
} as unknown as Body;

test("a ball that hits floor and wall alike does not spin", async () => {
  const lab = await laboratory({ bodies: [ball], colliders: planes });
  lab.put(
    0,
    (x) => x,
    () => [0, -SPEED, -SPEED],
  );
  lab.run(2);
  // sweeps of an impact end at this part of the approach (rigidBounce.ts)
  expect(topSpeed(lab)).toBeLessThan(1e-3 * SPEED);
});
