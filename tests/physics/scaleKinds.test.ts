/**
 * What scale.test.ts and distance.test.ts say of the default solids and cloth, for every other model, solver and sweep: the same scene at
 * another size, or a kilometer away, moves alike to the last bit. Lengths times s, gravity times s, moduli times s^2; a compliance for
 * lengths (m/N) goes with s^-3, one for volumes (m^3/Pa) with s.
 */
import { expect, test } from "vitest";
import type { Body, Vec3 } from "../../shared/scene.ts";
import { laboratory, type Laboratory } from "./laboratory.ts";

type Kind = (s: number) => Pick<Body, "kind" | "material" | "solver" | "sweep">;

const soft = { youngsModulus: 3e4, poissonsRatio: 0.4 };
const kinds: Record<string, Kind> = {
  "pbd by stiffness": () => ({ kind: "soft", material: { model: "pbd", density: 500, distance: { stiffness: 0.7 }, volume: { stiffness: 0.9 } } }),
  "pbd by compliance": (s) => ({ kind: "soft", material: { model: "pbd", density: 500, distance: { compliance: 1e-4 / s ** 3 }, volume: { compliance: 1e-9 * s } } }),
  "a closed volume": (s) => ({ kind: "soft", material: { model: "pbd", density: 500, distance: { compliance: 1e-4 / s ** 3, unilateral: true }, volume: { stiffness: 1, of: "body", pressure: 1.1 } } }),
  "neo-hookean": (s) => ({ kind: "soft", material: { model: "neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  "stable neo-hookean": (s) => ({ kind: "soft", material: { model: "stable-neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  "neo-hookean, Jacobi with Chebyshev": (s) => ({ kind: "soft", sweep: { order: "jacobi", rho: 0.5 }, material: { model: "neo-hookean", density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  hexahedral: (s) => ({ kind: "soft", material: { model: "hexahedral", density: 500, youngsModulus: 3e4 * s * s, poissonsRatio: 0.3 } }),
  "stvk, paper solver": (s) => ({ kind: "soft", solver: "paper", material: { density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  "stvk, symmetric sweep": (s) => ({ kind: "soft", sweep: { order: "symmetric" }, material: { density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  "stvk, Jacobi with Chebyshev": (s) => ({ kind: "soft", sweep: { order: "jacobi", rho: 0.5 }, material: { density: 500, ...soft, youngsModulus: 3e4 * s * s } }),
  "cloth of distances": (s) => ({ kind: "cloth", material: { model: "pbd", density: 300, thickness: 0.001 * s, distance: { compliance: 1e-4 / s ** 3 }, bendingStiffness: 1e-4 * s ** 5 } }),
  "orthotropic cloth, paper solver": (s) => ({ kind: "cloth", solver: "paper", material: { density: 300, thickness: 0.001 * s, kWeft: 2e5 * s * s, kWarp: 1e5 * s * s, kShear: 3e4 * s * s, nuWeft: 0.4, nuWarp: 0.2 } }),
};

/** Falls onto a tilted floor and a ball, under a load and tied to a point. */
async function run(kind: Kind, s: number, at: Vec3 = [0, 0, 0]): Promise<Laboratory> {
  const by = (x: number, y: number, z: number): Vec3 => [at[0] + s * x, at[1] + s * y, at[2] + s * z], own = kind(s);
  const lab = await laboratory({
    gravity: [0, -9.81 * s, 0], worldRadius: Math.max(100 * s, 2 * at[0]), quantum: 1e-3, substeps: 6, iterations: 2,
    bodies: [{
      name: "b", ...own, mesh: own.kind === "cloth" ? { type: "grid", size: [0.5 * s, 0.5 * s], cells: [6, 6] } : { type: "box", size: [0.5 * s, 0.25 * s, 0.25 * s], cells: [4, 2, 2] },
      transform: { translate: by(0, 0.375, 0), rotate: [20, 10, 0] }, velocity: [0.5 * s, -1 * s, 0], loads: [{ select: { box: { min: by(0.0625, -9, -9), max: by(9, 9, 9) } }, force: [0, 0.25 * s ** 4, s ** 4] }],
    } as Body],
    colliders: [{ type: "plane", normal: [0.25, 1, 0], offset: 0.25 * at[0] + at[1] }, { type: "sphere", center: by(0.25, 0.125, 0), radius: 0.125 * s }],
    attachments: [{ from: { body: "b", near: by(-0.25, 0.375, 0.125) }, to: { world: by(-0.25, 0.5, 0.25) }, compliance: 0.25 / s ** 3 }],
  });
  expect(lab.run(60)).toEqual([]);
  return lab;
}

test.each(Object.entries(kinds))("%s", async (_, kind) => {
  const base = await run(kind, 1), x = base.positions();
  expect(x.every(Number.isFinite)).toBe(true);
  for (const s of [2 ** -13, 1 / 16, 16]) expect((await run(kind, s)).positions().map((v) => v / s)).toEqual(x);
  const far = await run(kind, 1, [1000, 0, 0]);
  expect(far.created.layout.origin).toEqual([1000, 0, 0]);
  expect(far.world.stateHash()).toBe(base.world.stateHash());
});
