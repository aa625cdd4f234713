/**
 * The contract of golden.test.ts for options that no bundled scene uses: every schedule and both solver forms, in
 * bodies of several chunks, give the same bits with any number of threads.
 */
import { expect, test } from "vitest";
import type { Body, Sweep } from "../../shared/scene/scene.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { hashOf } from "./run.ts";
import { clothGrid, softBox } from "../support/bodies.ts";

const SWEEPS: Sweep[] = [{ order: "symmetric" }, { order: "jacobi", relaxation: 0.8 }, { order: "jacobi", rho: 0.9 }];

test("one, two and three threads give the same bits", async () => {
  const bodies = SWEEPS.flatMap((sweep, n): Body[] =>
    (["compliant", "paper"] as const).flatMap((solver, s): Body[] => [
      // 3,200 triangles in about eight colors and 1,681 particles: two chunks of each
      clothGrid(`sheet ${n} ${solver}`, [1, 1], [40, 40], {
        solver,
        sweep,
        transform: { translate: [1.2 * n, 0.6 + 0.5 * s, 0] },
        pins: [{ select: { particles: [0, 40] } }],
        material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
      }),
      softBox(`block ${n} ${solver}`, [0.4, 0.4, 0.4], [8, 8, 8], {
        solver,
        sweep,
        transform: { translate: [1.2 * n, 2 + 0.5 * s, 0] },
        material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.3 },
      }),
    ]),
  );
  const build = (): ReturnType<typeof createWorld> =>
    createWorld(
      {
        version: 1,
        title: "schedules",
        substeps: 3,
        iterations: 4,
        bodies,
        colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
      },
      { baseDir: "." },
    );
  const alone = await hashOf(await build(), { until: 8 });
  for (const threads of [2, 3])
    expect(await hashOf(await build(), { threads, until: 8 }), `${threads} threads`).toBe(alone);
});
