/**
 * Appendix A of the paper: as stiffness goes to zero one element with one iteration is explicit FEM, dx_j = -h^2 w_j dE/dx_j (lambda = -h^2 C).
 * Claim: 1e-5 relative in float32, for the kernel. Corrections are far below the rounding of positions there, so each corner in turn is put
 * on the origin, where float32 keeps all digits of its correction.
 */
import { expect, test } from "vitest";
import type { Elements } from "../../server/sim/constraints/elements.ts";
import { bendingGradient } from "../../server/sim/reference/bending.ts";
import { tetrahedronGradient } from "../../server/sim/reference/tetrahedron.ts";
import { triangleGradient } from "../../server/sim/reference/triangle.ts";
import type { Vector } from "../../server/sim/reference/vector.ts";
import { DEFORMATIONS, deformed, inverseMasses, randomStencils, randomTets, randomTriangles } from "./elements.ts";
import { makeKit } from "./kit.ts";

const COUNT = 16;

function compare(elements: Elements, X: Float64Array, corners: number, mass: number, h: number, gradient: (x: Float64Array, i: number) => readonly Vector[]): number {
  const w = inverseMasses(corners * COUNT, mass, 5), strained = deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.5, 9);
  let worst = 0;
  for (let c = 0; c < corners; c++) {
    const x = Float64Array.from(Float32Array.from(strained.map((value, k) => value - strained[3 * (corners * Math.floor(k / (3 * corners)) + c) + (k % 3)]!)));
    const kit = makeKit(elements, x, w, h);
    kit.iterate(true);
    const moved = kit.kernelPositions();
    for (let i = 0; i < COUNT; i++) {
      const particle = corners * i + c, fem = gradient(x, i)[c]!.map((g) => -h * h * Math.fround(w[particle]!) * g), size = Math.sqrt(fem[0]! ** 2 + fem[1]! ** 2 + fem[2]! ** 2);
      for (let r = 0; r < 3; r++) worst = Math.max(worst, Math.abs(moved[3 * particle + r]! - fem[r]!) / size);
    }
  }
  return worst;
}

test("tetrahedra", () => {
  for (const nu of [0, 0.3, 0.45]) {
    const { X, elements } = randomTets(COUNT, 0.5, 1, nu, 21);
    expect(compare(elements, X, 4, 100, 1 / 1000, (x, i) => tetrahedronGradient(x, elements, i)), `nu ${nu}`).toBeLessThan(1e-5);
  }
});

test("cloth triangles", () => {
  const { X, elements } = randomTriangles(COUNT, 0.5, { kWeft: 10, kWarp: 40, kShear: 5, nuWeft: 0.1, nuWarp: 0.4 }, 21);
  expect(compare(elements, X, 3, 100, 1 / 1000, (x, i) => triangleGradient(x, elements, i))).toBeLessThan(1e-5);
});

test("bending stencils", () => {
  const { X, elements } = randomStencils(COUNT, 0.5, 1e-3, true, 21);
  expect(compare(elements, X, 4, 100, 1 / 1000, (x, i) => bendingGradient(x, elements, i))).toBeLessThan(1e-5);
});
