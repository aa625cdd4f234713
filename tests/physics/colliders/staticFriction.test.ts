/**
 * A rigid block along the axes rests on a slope below its static and above its dynamic friction
 * (contactFriction.test.ts: other bodies, and how they slip). The slope is a floor with gravity turned.
 *
 * The block starts at rest, so nothing sways. Its contacts act one after another, so it creeps at 0.4 mm/s near the
 * limit, with one coefficient as with two. It is therefore compared with a block that has only the static coefficient.
 */
import { expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";
import { softBox } from "../../support/bodies.ts";

const G = 9.81;
const DYNAMIC = 0.3;
const STATIC = 0.6;
const block: Body = softBox("rigid", [0.3, 0.1, 0.3], [3, 1, 3], {
  transform: { translate: [0, 0.0521, 0] },
  material: { density: 500, model: "shape-matching", mode: "rigid", friction: DYNAMIC },
  contact: { staticFriction: STATIC },
});
const PLANE: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: DYNAMIC, staticFriction: STATIC };
/** Triangles, with edges below the block. */
const MESH: Collider = {
  type: "mesh",
  mesh: { type: "box", size: [10, 0.5, 4], cells: [23, 1, 9] },
  transform: { translate: [0.09, -0.25, 0.07] },
  friction: DYNAMIC,
  staticFriction: STATIC,
};

/** Distance along a slope at 98 % of static friction in 1 s, after half a second at rest with gravity across. */
async function slide(body: Body, floor: Collider): Promise<number> {
  const theta = Math.atan(0.98 * STATIC);
  const lab = await laboratory({
    substeps: 20,
    worldRadius: 1000,
    gravity: [0, -G * Math.cos(theta), 0],
    bodies: [body],
    colliders: [floor],
  });
  lab.run(30);
  for (let i = 0; i < lab.created.layout.particleCount; i++) lab.acceleration[4 * i] = G * Math.sin(theta);
  const x = middle(lab.positions())[0];
  lab.run(60);
  return middle(lab.positions())[0] - x;
}

test("a rigid block sticks at 98 % of static friction, far above dynamic, as if it had no other", async () => {
  const only = { ...block, material: { ...block.material, friction: STATIC } } as Body;
  const way = await slide(block, PLANE);
  expect(Math.abs(way)).toBeLessThan(1e-3); // 1.2 m with dynamic friction
  expect(Math.abs(way - (await slide(only, PLANE)))).toBeLessThan(1e-6);
});

test("a rigid block sticks at 98 % of static friction on triangles", async () => {
  expect(Math.abs(await slide(block, MESH))).toBeLessThan(1e-3);
});
