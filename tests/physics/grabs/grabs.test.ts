/**
 * Grabs obey contacts: with the largest force that a scene may allow, nothing passes through anything in any substep.
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const TICKS = 90;

test.each([60, 1e9])(
  "two grabs pull a cloth down over a fixed jelly without intersections, with %d N each",
  async (grabMaxForce) => {
    const bodies: Body[] = [
      softBox("jelly", [0.3, 0.3, 0.3], [4, 4, 4], {
        transform: { translate: [0, 0.15, 0] },
        material: { density: 500, youngsModulus: 30_000, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-1, -0.01, -1], max: [1, 0.01, 1] } } }],
      }),
      clothGrid("cloth", [0.8, 0.4], [16, 8], {
        transform: { translate: [0, 0.32, 0] },
        material: { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
      }),
    ];
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      damping: 1,
      substeps: 10,
      bodies,
      interaction: { grabMaxForce, grabCompliance: 1e-5 },
    });
    const {
      world,
      created: { layout },
    } = lab;
    const triangles = lab.created.bodies[1]!.triangles;
    const rest = lab.positions(1);
    /** Triangle nearest to a place on the cloth. */
    const nearest = (x: number, z: number): number => {
      let best = 0;
      let least = Infinity;
      for (let t = 0; t < triangles.length / 3; t++) {
        const [cx, cz] = [0, 2].map((r) =>
          [0, 1, 2].reduce((sum, k) => sum + rest[3 * triangles[3 * t + k]! + r]! / 3, 0),
        ) as [number, number];
        const d = (cx - x) ** 2 + (cz - z) ** 2;
        if (d < least) [best, least] = [t, d];
      }
      return best;
    };
    const hand = (member: number, side: number, target: [number, number, number]): Input => ({
      type: "grab",
      member,
      grab: 0,
      body: 1,
      triangle: nearest(0.35 * side, 0.05 * side),
      u: 0.3,
      v: 0.3,
      target: target.map((c, r) => c - layout.origin[r]!) as [number, number, number],
    });
    let tangled = 0;
    let substeps = 0;
    world.watchSubsteps(() => {
      substeps++;
      tangled += world.kernel.findIntersections(layout.x);
    });
    // down on both sides, then towards each other beneath and through the middle of the jelly, then up
    for (let tick = 0; tick < TICKS; tick++) {
      const s = Math.min(1, tick / 45);
      const down = 0.32 - 0.5 * s;
      const across = 0.35 - 0.7 * Math.max(0, Math.min(1, (tick - 45) / 25));
      const up = Math.max(0, (tick - 70) / 20);
      const events = lab.run(1, [hand(1, 1, [across, down + up, 0.05]), hand(2, -1, [-across, down + up, -0.05])]);
      expect(events).toEqual([]);
      if (tick % 20 === 19) expect(crossings(lab), `tick ${tick}`).toBe(0);
    }
    expect(tangled).toBe(0);
    expect(substeps).toBe(10 * TICKS);
    // they did pull: the cloth has moved
    expect(Math.max(...lab.positions(1).map((v, k) => Math.abs(v - rest[k]!)))).toBeGreaterThan(0.1);
  },
);
