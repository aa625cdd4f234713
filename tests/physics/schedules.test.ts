/**
 * Schedules change how fast a substep converges, not its result: after enough iterations every schedule gives the
 * implicit Euler step that Gauss-Seidel gives. A Jacobi sweep with split masses keeps momentum in every iteration.
 */
import { expect, test } from "vitest";
import type { Body, Sweep } from "../../shared/scene.ts";
import { momentumOf } from "../../server/sim/reference/momentum.ts";
import { iterateGroup, startSweep } from "../../server/sim/reference/sweep.ts";
import { norm } from "../../server/sim/reference/vector.ts";
import { createWorld } from "../../server/sim/createWorld.ts";
import { referenceRoom } from "../parity/room.ts";
import { openWorld } from "../../server/sim/world.ts";
import { laboratory } from "./laboratory.ts";

const SWEEPS: Record<string, Sweep> = {
  "gauss-seidel": { order: "gauss-seidel" },
  symmetric: { order: "symmetric" },
  jacobi: { order: "jacobi" },
  "jacobi relaxed by 1.8": { order: "jacobi", relaxation: 1.8 },
  "jacobi relaxed by 0.5": { order: "jacobi", relaxation: 0.5 },
  "chebyshev 0.95": { order: "jacobi", relaxation: 1.8, rho: 0.95 },
  "chebyshev 0.5": { order: "jacobi", rho: 0.5 },
};

const solid = (sweep: Sweep): Body => ({
  name: "b",
  kind: "soft",
  mesh: { type: "box", size: [0.4, 0.1, 0.1], cells: [4, 1, 1] },
  sweep,
  material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.35 },
  pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.19, 1, 1] } } }],
});
const sheet = (sweep: Sweep): Body => ({
  name: "s",
  kind: "cloth",
  mesh: { type: "grid", size: [0.4, 0.4], cells: [4, 4] },
  sweep,
  pins: [{ select: { particles: [0, 4] } }],
  material: { density: 300, thickness: 0.001, youngsModulus: 2e4, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
});

test.each([
  ["a bar", solid],
  ["a sheet", sheet],
] as const)("%s: every schedule converges to the same step", async (_, body) => {
  const ends: [string, Float64Array][] = [];
  for (const [name, sweep] of Object.entries(SWEEPS)) {
    // a long step in which gravity and a strained start both matter; more iterations than a scene may ask for
    const created = await createWorld(
      {
        version: 1,
        title: "converge",
        refine: false,
        tickHz: 60,
        substeps: 1,
        iterations: 2000,
        bodies: [body(sweep)],
      },
      { baseDir: "." },
    );
    const f32 = new Float32Array(created.memory.buffer, created.layout.x, 4 * created.layout.particleCount);
    for (let at = 0; at < f32.length; at += 4)
      f32.set([1.1 * f32[at]!, f32[at + 1]! + 0.1 * f32[at]! ** 2, 0.95 * f32[at + 2]!], at);
    openWorld(created.memory, created.layout).step([]);
    ends.push([name, Float64Array.from(f32.filter((_, k) => k % 4 < 3))]);
  }
  const exact = ends[0]![1];
  const start = (await laboratory({ bodies: [body({ order: "gauss-seidel" })] })).positions();
  const moved = Math.max(...exact.map((v, k) => Math.abs(v - start[k]!)));
  // float32 corrections of a few units in the last place of 0.2 m never end: 1e-4 of the motion
  for (const [name, x] of ends)
    expect(Math.max(...x.map((v, k) => Math.abs(v - exact[k]!))) / moved, name).toBeLessThan(1e-4);
});

test("split masses keep linear momentum in every iteration, angular in the first, without the momentum stage", async () => {
  for (const sweep of [{ order: "jacobi" }, { order: "jacobi", relaxation: 1.5, rho: 0.9 }] as Sweep[]) {
    for (const solver of ["compliant", "paper"] as const) {
      const scene = {
        version: 1 as const,
        title: "momentum",
        gravity: [0, 0, 0] as [number, number, number],
        bodies: [{ ...solid(sweep), pins: [], solver } as Body],
      };
      const created = await createWorld(scene, { baseDir: "." });
      const { particles: p, groups } = referenceRoom(scene, created, [], []);
      const h = 1 / 240;
      p.xPrev.set(p.x);
      for (let i = 0; i < p.count; i++) {
        p.x[3 * i]! *= 1.2;
        p.x[3 * i + 1]! += 0.3 * p.x[3 * i]! ** 2 + 0.05 * p.x[3 * i + 2]!;
      }
      const u = (x: Float64Array): Float64Array => x.map((v, k) => (v - before[k]!) / h);
      const before = Float64Array.from(p.x);
      const state = startSweep(p, groups[0]!);
      for (let iteration = 0; iteration < 10; iteration++) {
        iterateGroup(p, groups[0]!, state, iteration, h);
        const { linear } = momentumOf(p.w, p.x, u(p.x), 0, p.count);
        const size = Math.max(...u(p.x).map(Math.abs)) / Math.max(...p.w);
        const what = `${JSON.stringify(sweep)}, ${solver}, iteration ${iteration}`;
        // To float64 rounding. Angular momentum is measured at the positions of the gradients, which are those of the
        // first iteration.
        expect(norm(linear) / size, what).toBeLessThan(1e-11);
        if (iteration === 0)
          expect(norm(momentumOf(p.w, before, u(p.x), 0, p.count).angular) / size, what).toBeLessThan(1e-11);
      }
    }
  }
});

test("symmetric sweeps and Jacobi keep a rest state bit by bit", async () => {
  for (const sweep of Object.values(SWEEPS)) {
    for (const solver of ["compliant", "paper"] as const) {
      for (const body of [solid(sweep), sheet(sweep)]) {
        const at = 1024;
        const size =
          body.kind === "soft"
            ? {
                type: "box" as const,
                size: [0.5, 0.25, 0.25] as [number, number, number],
                cells: [4, 2, 2] as [number, number, number],
              }
            : { type: "grid" as const, size: [0.5, 0.5] as [number, number], cells: [4, 4] as [number, number] };
        const lab = await laboratory({
          substeps: 2,
          iterations: 5,
          worldRadius: 10000,
          bodies: [{ ...body, solver, pins: [], mesh: size, transform: { translate: [at, -at, at] } } as Body],
        });
        const before = lab.positions();
        expect(lab.run(20)).toEqual([]);
        expect(lab.positions(), `${JSON.stringify(sweep)}, ${solver}, ${body.kind}`).toEqual(before);
      }
    }
  }
});
