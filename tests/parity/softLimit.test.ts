/**
 * Appendix A of the paper: as stiffness goes to zero, one element with one iteration is explicit FEM, dx_j = -h^2 w_j
 * dE/dx_j (lambda = -h^2 C). Guarantee: 1e-5 relative in float32, for the kernel.
 */
import { bendingGradient } from "../../server/sim/reference/bending.ts";
import { expect, test } from "vitest";
import { tetrahedronGradient } from "../../server/sim/reference/tetrahedron.ts";
import { triangleGradient } from "../../server/sim/reference/triangle.ts";
import { randomStencils, randomTets, randomTriangles } from "./randomElements.ts";
import { explicitStepError } from "./explicitStep.ts";

const COUNT = 16;

test("soft tetrahedra take an explicit step", () => {
  for (const nu of [0, 0.3, 0.45]) {
    const { X, elements } = randomTets(COUNT, 0.5, 1, nu, 21);
    expect(
      explicitStepError(elements, X, 100, 1 / 1000, (x, i) => tetrahedronGradient(x, elements, i)),
      `nu ${nu}`,
    ).toBeLessThan(1e-5);
  }
});

test("soft cloth triangles take an explicit step", () => {
  const { X, elements } = randomTriangles(
    COUNT,
    0.5,
    { kWeft: 10, kWarp: 40, kShear: 5, nuWeft: 0.1, nuWarp: 0.4 },
    21,
  );
  expect(explicitStepError(elements, X, 100, 1 / 1000, (x, i) => triangleGradient(x, elements, i))).toBeLessThan(1e-5);
});

test("soft bending stencils take an explicit step", () => {
  const { X, elements } = randomStencils(COUNT, 0.5, 1e-3, true, 21);
  expect(explicitStepError(elements, X, 100, 1 / 1000, (x, i) => bendingGradient(x, elements, i))).toBeLessThan(1e-5);
});
