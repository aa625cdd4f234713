/**
 * A sheet draped over a head comes to rest and sleeps. Its particles lie on the sphere, and the sphere's core mesh does
 * not push its edges as well (server/sim/colliders/smooth.ts).
 */
import { expect, test } from "vitest";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";

test("a draped sheet sleeps within ten seconds", async () => {
  const { memory, layout } = await createWorld(
    {
      version: 1,
      title: "head",
      tickHz: 60,
      substeps: 16,
      damping: 1.5,
      bodies: [
        {
          name: "sheet",
          kind: "cloth",
          mesh: { type: "grid", size: [1.1, 1.1], cells: [44, 44] },
          transform: { translate: [0.02, 0.85, -0.01], rotate: [0, 20, 0] },
          material: {
            model: "orthotropic",
            density: 350,
            thickness: 0.001,
            kWeft: 2e5,
            kWarp: 4e5,
            kShear: 4e4,
            nuWeft: 0.15,
            nuWarp: 0.3,
            bendingStiffness: 3e-5,
            friction: 0.4,
          },
        },
      ],
      colliders: [
        { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.6 },
        { type: "sphere", center: [0, 0.68, 0], radius: 0.11, friction: 0.6 },
      ],
    },
    { baseDir: "." },
  );
  const world = openWorld(memory, layout);
  let ticks = 0;
  while (ticks < 600 && !world.resting) {
    world.step([]);
    ticks++;
  }
  expect(ticks).toBeLessThan(600);
  // it lies on the head, not on the floor
  expect(Math.max(...Array.from({ length: 45 * 45 }, (_, p) => world.position(0, p)[1]!))).toBeGreaterThan(0.75);
});
