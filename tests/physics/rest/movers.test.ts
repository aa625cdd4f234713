/** A sleeping room wakes before a collider on a path touches a body, and for no other collider. */
import { expect, test } from "vitest";
import type { Collider } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const START = 70;

/**
 * A cube that sleeps on the floor after a minute, and a ball of 5 cm at the given z, which travels 1 m along x within a
 * second, from `START` s on.
 */
async function asleep(z: number): Promise<Laboratory> {
  const ball: Collider = {
    type: "sphere",
    center: [-0.5, 0.1, z],
    radius: 0.05,
    motion: { keys: [{ time: 0 }, { time: START }, { time: START + 1, translate: [1, 0, 0] }] },
  };
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    damping: 2,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }, ball],
    bodies: [
      {
        name: "b",
        kind: "soft",
        mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
        transform: { translate: [0, 0.101, 0] },
        material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3 },
      },
    ],
  });
  lab.world.mayRest = true;
  lab.run(START * 60);
  expect(lab.world.resting).toBe(true);
  return lab;
}

const placeOf = (lab: Laboratory): number => middle(lab.positions())[0];

test("a moving collider pushes a sleeping body in its way", async () => {
  const lab = await asleep(0);
  const before = placeOf(lab);
  lab.run(60);
  // the ball ends 0.5 m further with a radius of 5 cm, so the cube's middle is not behind that
  expect(placeOf(lab) - before).toBeGreaterThan(0.3);
});

test("a moving collider passes beside a sleeping body without waking it", async () => {
  const lab = await asleep(0.6);
  const before = lab.positions();
  expect(lab.world.collidersMove()).toBe(true);
  for (let t = 0; t < 60; t++) {
    lab.run(1);
    expect(lab.world.resting).toBe(true);
  }
  expect(lab.positions()).toEqual(before);
  lab.run(31); // and half a second more
  expect(lab.world.collidersMove()).toBe(false);
});
