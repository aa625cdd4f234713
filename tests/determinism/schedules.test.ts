/**
 * The contract of golden.test.ts for options that no bundled scene uses: every schedule and both solver forms, in
 * bodies of several chunks, give the same bits with any number of threads.
 */
import { expect, test } from "vitest";
import type { Body, Sweep } from "../../shared/scene/scene.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { hashOf } from "./run.ts";

const SWEEPS: Sweep[] = [{ order: "symmetric" }, { order: "jacobi", relaxation: 0.8 }, { order: "jacobi", rho: 0.9 }];

test("one, two and three threads give the same bits", async () => {
  const bodies = SWEEPS.flatMap((sweep, n): Body[] =>
    (["compliant", "paper"] as const).flatMap((solver, s): Body[] => [
      // 3,200 triangles in about eight colors and 1,681 particles: two chunks of each
      {
        name: `sheet ${n} ${solver}`,
        kind: "cloth",
        solver,
        sweep,
        mesh: { type: "grid", size: [1, 1], cells: [40, 40] },
        transform: { translate: [1.2 * n, 0.6 + 0.5 * s, 0] },
        pins: [{ select: { particles: [0, 40] } }],
        material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
      },
      {
        name: `block ${n} ${solver}`,
        kind: "soft",
        solver,
        sweep,
        mesh: { type: "box", size: [0.4, 0.4, 0.4], cells: [8, 8, 8] },
        transform: { translate: [1.2 * n, 2 + 0.5 * s, 0] },
        material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.3 },
      },
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
