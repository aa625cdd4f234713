/**
 * Static and dynamic friction on a slope with tan(theta) between them: a resting block stays, a sliding one accelerates
 * by g (sin theta - mu_d cos theta). The slope is a floor with gravity turned.
 *
 * A rigid block starts at rest or with a speed, so nothing sways. Its contacts act one after another, so it creeps at
 * 0.4 mm/s near the limit, with one coefficient as with two. Sticking is therefore compared with a block that has only
 * the static coefficient.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const G = 9.81;
const DYNAMIC = 0.3;
const STATIC = 0.6;
const block: Body = {
  name: "rigid",
  kind: "soft",
  mesh: { type: "box", size: [0.3, 0.1, 0.3], cells: [3, 1, 3] },
  transform: { translate: [0, 0.0521, 0] },
  material: { density: 500, model: "shape-matching", mode: "rigid", friction: DYNAMIC },
  contact: { staticFriction: STATIC },
};
const sheet: Body = {
  name: "sheet",
  kind: "cloth",
  mesh: { type: "grid", size: [0.3, 0.3], cells: [3, 3] },
  transform: { translate: [0, 0.00201, 0] },
  material: { density: 500, thickness: 0.002, youngsModulus: 1e6, poissonsRatio: 0.3, friction: DYNAMIC },
  contact: { staticFriction: STATIC },
};

const PLANE: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: DYNAMIC, staticFriction: STATIC };
/** Triangles, with edges below the block. */
const MESH: Collider = {
  type: "mesh",
  mesh: { type: "box", size: [10, 0.5, 4], cells: [23, 1, 9] },
  transform: { translate: [0.09, -0.25, 0.07] },
  friction: DYNAMIC,
  staticFriction: STATIC,
};

/**
 * Distance along the slope in 1 s and mean acceleration in its second half, after half a second at rest with gravity
 * across.
 * @param speed initial speed, m/s
 */
async function slide(
  body: Body,
  tangent: number,
  speed: number,
  floor = PLANE,
): Promise<{ way: number; acceleration: number; ideal: number }> {
  const theta = Math.atan(tangent);
  const lab = await laboratory({
    substeps: 20,
    worldRadius: 1000,
    gravity: [0, -G * Math.cos(theta), 0],
    bodies: [body],
    colliders: [floor],
  });
  lab.run(30);
  for (let i = 0; i < lab.created.layout.particleCount; i++) {
    lab.acceleration[4 * i] = G * Math.sin(theta);
    lab.v[4 * i]! += speed;
  }
  const x = middle(lab.positions())[0];
  // a second; breaking away takes 1/25 s of it
  lab.run(30);
  const v = middle(lab.velocities())[0];
  lab.run(30);
  return {
    way: middle(lab.positions())[0] - x,
    acceleration: 2 * (middle(lab.velocities())[0] - v),
    ideal: G * (Math.sin(theta) - DYNAMIC * Math.cos(theta)),
  };
}

describe.each([block, sheet])("$name", (body) => {
  test("sticks at 98 % of static friction, far above dynamic", async () => {
    const only = { ...body, material: { ...body.material, friction: STATIC } } as Body;
    const { way } = await slide(body, 0.98 * STATIC, 0);
    expect(Math.abs(way)).toBeLessThan(1e-3); // 1.2 m with dynamic friction
    expect(Math.abs(way - (await slide(only, 0.98 * STATIC, 0)).way)).toBeLessThan(1e-6);
  });

  test("slips at 102 % of static friction, with dynamic friction", async () => {
    const { acceleration, ideal } = await slide(body, 1.02 * STATIC, 0);
    expect(acceleration / ideal).toBeGreaterThan(0.98);
    expect(acceleration / ideal).toBeLessThan(1.02);
  });

  test("a sliding block keeps sliding where a resting one would stick", async () => {
    const { acceleration, ideal } = await slide(body, 0.9 * STATIC, 1);
    expect(acceleration / ideal).toBeGreaterThan(0.98);
    expect(acceleration / ideal).toBeLessThan(1.02);
  });
});

describe("a rigid block on triangles", () => {
  test("sticks at 98 % of static friction", async () => {
    expect(Math.abs((await slide(block, 0.98 * STATIC, 0, MESH)).way)).toBeLessThan(1e-3);
  });

  test("slips at 102 % of static friction, with dynamic friction", async () => {
    const { acceleration, ideal } = await slide(block, 1.02 * STATIC, 0, MESH);
    expect(acceleration / ideal).toBeGreaterThan(0.98);
    expect(acceleration / ideal).toBeLessThan(1.02);
  });

  test("keeps sliding where a resting one would stick", async () => {
    const { acceleration, ideal } = await slide(block, 0.9 * STATIC, 1, MESH);
    expect(acceleration / ideal).toBeGreaterThan(0.98);
    expect(acceleration / ideal).toBeLessThan(1.02);
  });
});
