/** Static solutions against exact solutions, against the dense solver of tests/physics and against beam theory. */
import { expect, test } from "vitest";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import type { BodyTemplate } from "../../server/sim/body/template.ts";
import { equilibrium } from "../physics/bars/statics.ts";
import { staticEquilibrium } from "./equilibrium.ts";
import { densityOf, type StaticModel } from "./materials.ts";
import { solidMesh, weights } from "./solidMesh.ts";
import { blockMatrix, conjugateGradients, factorize, multiplyBlocks, solveFactored } from "./sparse.ts";
import { elasticHessian } from "./solidMesh.ts";
import { softBox } from "../support/bodies.ts";

const MODELS: StaticModel[] = ["stvk", "neo-hookean", "stable-neo-hookean"];

/** An unpinned box of tetrahedra around the origin. */
async function box(
  size: [number, number, number],
  cells: [number, number, number],
  youngsModulus = 1e5,
  poissonsRatio = 0.3,
): Promise<BodyTemplate> {
  const { bodies } = await createWorld(
    {
      version: 1,
      title: "box",
      bodies: [softBox("box", size, cells, { material: { density: 1000, youngsModulus, poissonsRatio } })],
    },
    { baseDir: "." },
  );
  return bodies[0]!;
}

const onSurface = (x: Float64Array, i: number, size: readonly number[]): boolean =>
  [0, 1, 2].some((r) => Math.abs(Math.abs(x[3 * i + r]!) - size[r]! / 2) < 1e-9);

test.each(MODELS)("patch test: if a linear map moves the surface, every inner point follows it, %s", async (model) => {
  const size = [1, 1, 1] as [number, number, number];
  const b = await box(size, [3, 3, 3]);
  const N = b.particleCount;
  const fixed = Uint8Array.from({ length: N }, (_, i) => (onSurface(b.positions, i, size) ? 1 : 0));
  const rest = b.positions.map((v, k) => (fixed[Math.floor(k / 3)] ? v : v + 0.05 * Math.sin(9 * k)));
  const map = [
    [1.2, 0.1, 0],
    [-0.05, 0.9, 0.2],
    [0, 0.1, 1.05],
  ];
  const wanted = rest.map((_, k) => map[k % 3]!.reduce((sum, m, c) => sum + m * rest[k - (k % 3) + c]!, 0));
  const start = rest.map((v, k) => (fixed[Math.floor(k / 3)] ? wanted[k]! : v));
  const { x } = staticEquilibrium({
    rest,
    tets: b.tets,
    fixed,
    force: new Float64Array(3 * N),
    start,
    material: { model, youngsModulus: 1e5, poissonsRatio: 0.3 },
  });
  // residual forces are below 1e-8 of the elastic forces at a strain of 0.1 or more
  x.forEach((v, k) => expect(Math.abs(v - wanted[k]!)).toBeLessThan(1e-8));
});

test.each(MODELS.flatMap((model) => [0, 0.3, 0.49].map((nu) => ({ model, nu }))))(
  "a pulled bar stretches and thins as its energy predicts: $model, nu $nu",
  async ({ model, nu }) => {
    const k = 1e5;
    const size = [2, 1, 1] as [number, number, number];
    const b = await box(size, [4, 2, 2], k, nu);
    const N = b.particleCount;
    // s along and t across, with no stress across: for stvk P = k s (s^2 - 1)/2 and t^2 = 1 - nu (s^2 - 1); for the
    // others t by bisection of P_yy = 0
    const s = 1.2;
    const density = densityOf(model, k, nu);
    const P = new Float64Array(9);
    const across = (t: number): number => {
      density.stress(Float64Array.of(s, 0, 0, 0, t, 0, 0, 0, t), P);
      return P[4]!;
    };
    let low = 0.5;
    let high = 1.2;
    for (let n = 0; n < 60; n++) across((low + high) / 2) < 0 ? (low = (low + high) / 2) : (high = (low + high) / 2);
    const t = (low + high) / 2;
    across(t);
    if (model === "stvk") {
      expect(t * t).toBeCloseTo(1 - nu * (s * s - 1), 9);
      expect(P[0]! / ((k * s * (s * s - 1)) / 2)).toBeCloseTo(1, 9);
    }
    // traction P on both ends, shared over the mesh's triangles; three fixed points prevent rigid motion
    const force = new Float64Array(3 * N);
    for (let e = 0; e < b.triangles.length; e += 3) {
      const [p, q, r] = [0, 1, 2].map((c) => b.triangles[e + c]!) as [number, number, number];
      const side = Math.sign(b.positions[3 * p]!);
      if (![p, q, r].every((c) => Math.abs(b.positions[3 * c]! - side) < 1e-9)) continue;
      const u = [0, 1, 2].map((c) => b.positions[3 * q + c]! - b.positions[3 * p + c]!);
      const v = [0, 1, 2].map((c) => b.positions[3 * r + c]! - b.positions[3 * p + c]!);
      for (const c of [p, q, r]) force[3 * c]! += (side * P[0]! * Math.abs(u[1]! * v[2]! - u[2]! * v[1]!)) / 6;
    }
    const find = (want: number[]): number =>
      Array.from({ length: N }, (_, i) => i).find((i) =>
        want.every((w, c) => Math.abs(b.positions[3 * i + c]! - w) < 1e-9),
      )!;
    const exact = b.positions.map((v, i) => v * (i % 3 === 0 ? s : t));
    const held = [find([0, 0, 0]), find([0, 0.5, 0]), find([0, 0, 0.5])];
    const fixed = new Uint8Array(N);
    const start = Float64Array.from(b.positions);
    for (const i of held) {
      fixed[i] = 1;
      for (let c = 0; c < 3; c++) start[3 * i + c] = exact[3 * i + c]!;
    }
    const { x } = staticEquilibrium({
      rest: b.positions,
      tets: b.tets,
      fixed,
      force,
      start,
      material: { model, youngsModulus: k, poissonsRatio: nu },
    });
    expect(Math.max(...x.map((v, i) => Math.abs(v - exact[i]!)))).toBeLessThan(1e-6);
  },
);

test("agrees with the dense solver, which uses the simulation's own energies", async () => {
  const b = await box([0.5, 0.1, 0.1], [8, 2, 2], 1e5, 0.45);
  const fixed = Uint8Array.from(b.pinned, (_, i) => (b.positions[3 * i]! < -0.2499 ? 1 : 0));
  const force = weights(solidMesh(b.positions, b.tets), 1000, [0, -9.81, 0]);
  const ours = staticEquilibrium({
    rest: b.positions,
    tets: b.tets,
    fixed,
    force,
    material: { model: "stvk", youngsModulus: 1e5, poissonsRatio: 0.45 },
  });
  expect(ours.residual / ours.load).toBeLessThan(1e-8);
  expect(ours.smallestStretch).toBeGreaterThan(1 / Math.sqrt(3)); // here the simulation does not continue the energy
  const theirs = equilibrium(
    b.elements,
    ours.x.map((v, i) => (fixed[Math.floor(i / 3)] ? v : v + 1e-4 * Math.sin(5 * i))),
    fixed,
    force,
    0.05,
  );
  const far = Math.max(...ours.x.map((v, i) => Math.abs(v - b.positions[i]!)));
  expect(far).toBeGreaterThan(0.1);
  expect(Math.max(...ours.x.map((v, i) => Math.abs(v - theirs[i]!))) / far).toBeLessThan(1e-6);
});

/**
 * Ratio of tip sag to Timoshenko's theory for a 5:1 cantilever under a hundredth of its weight, so that it bends
 * little.
 */
async function sagOverTheory(cells: [number, number, number]): Promise<number> {
  const k = 3e6;
  const [L, H, W] = [0.5, 0.1, 0.025];
  const g = 0.0981;
  const b = await box([L, H, W], cells, k, 0);
  const fixed = Uint8Array.from(b.pinned, (_, i) => (b.positions[3 * i]! < -L / 2 + 1e-9 ? 1 : 0));
  const { x } = staticEquilibrium({
    rest: b.positions,
    tets: b.tets,
    fixed,
    force: weights(solidMesh(b.positions, b.tets), 1000, [0, -g, 0]),
    material: { model: "stvk", youngsModulus: k, poissonsRatio: 0 },
  });
  const end = Array.from(fixed, (_, i) => i).filter((i) => b.positions[3 * i]! > L / 2 - 1e-9);
  const tip = end.reduce((sum, i) => sum + (b.positions[3 * i + 1]! - x[3 * i + 1]!) / end.length, 0);
  return tip / ((1000 * g * L ** 4) / (8 * k * ((H * H) / 12)) + (1000 * g * L * L) / (2 * (5 / 6) * (k / 2)));
}

test("a cantilever of small cells sags as Timoshenko's beam, within 1 %", async () => {
  // the error of constant-strain tetrahedra is of second order in their size: extrapolate from two sizes
  const coarse = await sagOverTheory([20, 4, 1]);
  const fine = await sagOverTheory([40, 8, 2]);
  expect(coarse).toBeLessThan(fine);
  expect(fine).toBeLessThan(1);
  expect((4 * fine - coarse) / 3).toBeGreaterThan(0.99);
  expect((4 * fine - coarse) / 3).toBeLessThan(1.01);
});

test("a factor solves its system and preconditions a nearby matrix; an indefinite matrix has no factor", async () => {
  const b = await box([1, 0.4, 0.4], [6, 2, 2]);
  const fixed = Uint8Array.from(b.pinned, (_, i) => (b.positions[3 * i]! < -0.499 ? 1 : 0));
  const mesh = solidMesh(b.positions, b.tets);
  const density = densityOf("stvk", 1e5, 0.3);
  const A = blockMatrix(b.tets, fixed);
  const n = 3 * A.count;
  const wanted = Float64Array.from({ length: n }, (_, i) => Math.sin(3 * i));
  const rhs = new Float64Array(n);
  const close = (x: Float64Array): number => Math.max(...x.map((v, i) => Math.abs(v - wanted[i]!)));
  elasticHessian(mesh, density, b.positions, A, false);
  const factor = factorize(A)!;
  multiplyBlocks(A, wanted, rhs);
  const x = Float64Array.from(rhs);
  solveFactored(factor, x);
  expect(close(x)).toBeLessThan(1e-9);
  elasticHessian(
    mesh,
    density,
    b.positions.map((v, i) => v + 0.01 * Math.sin(11 * i)),
    A,
    true,
  );
  multiplyBlocks(A, wanted, rhs);
  expect(close(conjugateGradients(A, factor, rhs, 1e-12, 200)!)).toBeLessThan(1e-8);
  expect(conjugateGradients(A, factor, rhs, 1e-12, 2)).toBeUndefined();
  // compressed to half: the energy of Saint Venant-Kirchhoff has negative curvature
  elasticHessian(
    mesh,
    density,
    b.positions.map((v) => 0.5 * v),
    A,
    false,
  );
  expect(factorize(A)).toBeUndefined();
});

test("a load without equilibrium is refused", async () => {
  const b = await box([0.5, 0.1, 0.1], [4, 1, 1]);
  const fixed = Uint8Array.from(b.pinned, (_, i) => (b.positions[3 * i]! < -0.249 ? 1 : 0));
  // compressed far beyond the 58 % at which Saint Venant-Kirchhoff loses stability
  const force = Float64Array.from(b.positions, (v, i) => (i % 3 === 0 && v > 0.249 ? -1e5 : 0));
  expect(() =>
    staticEquilibrium({
      rest: b.positions,
      tets: b.tets,
      fixed,
      force,
      material: { model: "stvk", youngsModulus: 1e5, poissonsRatio: 0 },
    }),
  ).toThrow("no equilibrium");
});
