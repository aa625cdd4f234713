/**
 * Energies of the static solver: derivatives against finite differences, small strains against linear elasticity, and
 * the projection of tangents.
 */
import { expect, test } from "vitest";
import { diagonalize, projectSemiDefinite } from "./eigen.ts";
import { densityOf, type StaticModel } from "./materials.ts";
import { elasticEnergy, elasticGradient, elasticHessian, solidMesh, weights } from "./solidMesh.ts";
import { blockMatrix } from "./sparse.ts";

const MODELS: StaticModel[] = ["stvk", "neo-hookean", "stable-neo-hookean"];
const K = 1e5;
/** Deformation gradients, from slight deformation to compression by a third with shear. */
const STATES = [
  [1.02, 0.01, 0, -0.02, 0.99, 0.01, 0, 0.03, 1],
  [0.66, 0.3, -0.1, 0.2, 1.3, 0.25, 0.4, -0.2, 0.9],
  [0.1, -1.1, 0.2, 1.2, 0.15, 0, 0.1, 0.3, 0.8],
];

// The error of central differences with a step d is d^2 times the third derivative plus rounding of 1e-16/d: 1e-10 at
// best. d = 1e-5 leaves 1e-9 in stiff cases.
const D = 1e-5;
const CLOSE = 1e-7;

test.each(MODELS.flatMap((model) => [0, 0.3, 0.49].map((nu) => ({ model, nu }))))(
  "stress and tangent are derivatives of the energy: $model, nu $nu",
  ({ model, nu }) => {
    const density = densityOf(model, K, nu);
    const P = new Float64Array(9);
    const up = new Float64Array(9);
    const down = new Float64Array(9);
    const A = new Float64Array(81);
    for (const state of STATES) {
      const F = Float64Array.from(state);
      density.stress(F, P);
      density.tangent(F, A);
      const scale = Math.max(...A.map(Math.abs));
      for (let q = 0; q < 9; q++) {
        const moved = (by: number): Float64Array => F.map((f, i) => (i === q ? f + by : f));
        expect(Math.abs((density.energy(moved(D)) - density.energy(moved(-D))) / (2 * D) - P[q]!) / scale).toBeLessThan(
          CLOSE,
        );
        density.stress(moved(D), up);
        density.stress(moved(-D), down);
        for (let p = 0; p < 9; p++)
          expect(Math.abs((up[p]! - down[p]!) / (2 * D) - A[9 * p + q]!) / scale).toBeLessThan(CLOSE);
      }
    }
  },
);

test.each(MODELS)("small strains of %s give k and nu, and the rest state has no stress and no energy", (model) => {
  const nu = 0.4;
  const density = densityOf(model, K, nu);
  const rest = Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1);
  const P = new Float64Array(9);
  const A = new Float64Array(81);
  expect(Math.abs(density.energy(rest)) / K).toBeLessThan(1e-15);
  density.stress(rest, P);
  expect(Math.max(...P.map(Math.abs)) / K).toBeLessThan(1e-15);
  density.tangent(rest, A);
  // stretch s along x with the lateral strain -nu s: stress k s along x and zero across
  const strain = [1, 0, 0, 0, -nu, 0, 0, 0, -nu];
  const stress = strain.map((_, p) => strain.reduce((sum, e, q) => sum + A[9 * p + q]! * e, 0));
  stress.forEach((s, p) => expect(Math.abs(s - (p === 0 ? K : 0)) / K, `stress ${p}`).toBeLessThan(1e-12));
  // a shear by gamma gives mu gamma, a rotation gives zero
  const mu = K / (2 * (1 + nu));
  expect((A[9 * 1 + 1]! + A[9 * 1 + 3]!) / (2 * mu)).toBeCloseTo(1, 12);
  expect((A[9 * 1 + 1]! - A[9 * 1 + 3]!) / K).toBeCloseTo(0, 12);
});

test("gradient and Hessian of a mesh are derivatives of its energy", () => {
  const rest = Float64Array.of(0, 0, 0, 1.1, 0, 0, 0, 0.9, 0.1, 0, 0.1, 1, 0.9, 1, 0.8);
  const tets = Uint32Array.of(0, 1, 2, 3, 1, 2, 3, 4);
  const mesh = solidMesh(rest, tets);
  const x = rest.map((v, i) => v + 0.15 * Math.sin(7 * i));
  const matrix = blockMatrix(tets, Uint8Array.of(0, 1, 0, 0, 0));
  for (const model of MODELS) {
    const density = densityOf(model, K, 0.3);
    const g = elasticGradient(mesh, density, x);
    elasticHessian(mesh, density, x, matrix, false);
    const scale = Math.max(...matrix.values.map(Math.abs));
    for (let q = 0; q < 15; q++) {
      const moved = (by: number): Float64Array => x.map((v, i) => (i === q ? v + by : v));
      expect(
        Math.abs((elasticEnergy(mesh, density, moved(D)) - elasticEnergy(mesh, density, moved(-D))) / (2 * D) - g[q]!) /
          scale,
      ).toBeLessThan(CLOSE);
      const up = elasticGradient(mesh, density, moved(D));
      const down = elasticGradient(mesh, density, moved(-D));
      const column = matrix.place[Math.floor(q / 3)]!;
      if (column < 0) continue;
      for (let p = 0; p < 5; p++) {
        const row = matrix.place[p]!;
        if (row < 0) continue;
        for (let b = matrix.rows[row]!; b < matrix.rows[row + 1]!; b++) {
          if (matrix.columns[b] !== column) continue;
          for (let r = 0; r < 3; r++)
            expect(
              Math.abs((up[3 * p + r]! - down[3 * p + r]!) / (2 * D) - matrix.values[9 * b + 3 * r + (q % 3)]!) / scale,
            ).toBeLessThan(CLOSE);
        }
      }
    }
  }
});

test("weights add up to mass times gravity for any order of the corners; a flat element is refused", () => {
  const rest = Float64Array.of(0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4);
  for (const tets of [Uint32Array.of(0, 1, 2, 3), Uint32Array.of(1, 0, 2, 3)]) {
    const f = weights(solidMesh(rest, tets), 500, [0, -10, 0]); // 4 m^3
    expect(f.reduce((sum, v) => sum + v, 0)).toBeCloseTo(-20000, 8);
  }
  expect(() => solidMesh(Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0), Uint32Array.of(0, 1, 2, 3))).toThrow(
    "tetrahedron 0: volume 0",
  );
});

test("the projection removes only negative curvature", () => {
  const n = 6;
  const A = Float64Array.from({ length: n * n }, (_, i) => Math.cos(1 + (Math.floor(i / n) + 1) * ((i % n) + 1)));
  const kept = Float64Array.from(A); // symmetric
  projectSemiDefinite(A, n);
  const D0 = Float64Array.from(kept);
  const V = new Float64Array(n * n);
  const D1 = Float64Array.from(A);
  const W = new Float64Array(n * n);
  diagonalize(D0, V, n);
  diagonalize(D1, W, n);
  const values = (D: Float64Array): number[] =>
    Array.from({ length: n }, (_, i) => D[n * i + i]!).sort((a, b) => a - b);
  expect(values(D0)[0]).toBeLessThan(-0.1);
  values(D0).forEach((value, i) => expect(values(D1)[i]!).toBeCloseTo(Math.max(value, 0), 12));
});
