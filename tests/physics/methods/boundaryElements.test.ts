/**
 * Boundary elements: several grabs on one solid, damping, refused scenes. The report (figure boundary-elements)
 * compares them with exact fields and finite elements.
 */
import { describe, expect, test } from "vitest";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { BoundarySolid } from "../../../server/sim/methods/boundary/boundarySolid.ts";
import { solveDense } from "../../../server/sim/methods/boundary/denseSolve.ts";
import type { SoftBody, Vec3 } from "../../../shared/scene/scene.ts";
import { ball, bench, cells, held, ISOTROPIC, METHOD, rested, weight } from "./boundaryKit.ts";
import { cube, largest, opened, outside, randoms, templateOf } from "./kit.ts";

test("a surface without area is refused", () => {
  const mesh = { ...ball(0), positions: new Float64Array(18) };
  const nothing = { displacement: new Float64Array(18), traction: new Float64Array(72) };
  expect(() => new BoundarySolid(mesh, ISOTROPIC).solve([nothing])).toThrow("limit: triangles with an area");
});

describe("grabs", () => {
  test("several grabs share the load: forces on all corners balance", async () => {
    const nothing = ({ particleCount }: BodyTemplate): Float64Array => new Float64Array(3 * particleCount);
    const { state, step, template, stiffness, free } = await bench(nothing);
    const list = [
      held([free[3]!, free[5]!], [0.3, 0.7], [0.2, 0.6, 0]),
      held([free[5]!, free[9]!], [0.5, 0.5], [0, 0.7, 0.3]),
    ];
    step(list);
    const n = 3 * free.length;
    const out = new Float64Array(n);
    free.forEach((_, a) => {
      for (let r = 0; r < 3; r++) {
        for (let j = 0; j < n; j++) {
          const k = 3 * free[Math.floor(j / 3)]! + (j % 3);
          out[3 * a + r]! += stiffness[n * (3 * a + r) + j]! * (state.x[k]! - template.positions[k]!);
        }
      }
    });
    for (const { particles, weights, target, compliance } of list)
      for (let r = 0; r < 3; r++) {
        const gap = particles.reduce((sum, p, i) => sum + weights[i]! * state.x[3 * p + r]!, -target[r]!);
        particles.forEach((p, i) => (out[3 * free.indexOf(p) + r]! += (weights[i]! * gap) / compliance));
      }
    expect(largest(out)).toBeLessThan(1e-9 * largest(stiffness) * 0.5);
  });

  test("stiffnessDamping approaches equilibrium by backward Euler, by a share h / (h + beta) a step", async () => {
    const [h, beta] = [1 / 240, 0.05];
    const { template, of, method, state } = await opened(cells(2), h, { beta });
    const end = await rested(2);
    for (let n = 1; n <= 30; n++) {
      method.step(state, outside(of, weight(template)));
      const left = (1 - h / (h + beta)) ** n;
      const off = state.x
        .map((value, k) => value - template.positions[k]! - (1 - left) * end[k]!)
        .subarray(0, 3 * template.streamedCount);
      expect(largest(off)).toBeLessThan(1e-12);
    }
    expect(method.energy(state)).toBeGreaterThan(0);
  });
});

describe("scenes that are refused with a reason", () => {
  const box = (min: Vec3, max: Vec3): Partial<SoftBody> => ({ pins: [{ select: { box: { min, max } } }] });
  test.each<[string, Partial<SoftBody>, string]>([
    ["a body that nothing holds", { pins: [] }, "0 of 26 particles on the body's surface are fixed"],
    ["one that turns about an edge", box([-9, -9, -9], [9, 0.001, -0.249]), "3 of 26"],
    ["a body that is fixed as a whole", box([-9, -9, -9], [9, 9, 9]), "it needs a free one"],
    ["one that is too fine", { mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [8, 8, 8] } }, "at most 100000"],
  ])("%s", async (_, more, text) => {
    await expect(templateOf(cube(METHOD, more))).rejects.toThrow(text);
  });
});

describe("dense equations", () => {
  test.each([1, 2, 7, 60])("a dense system of %d rows gives back the solution that it was made from", (n) => {
    const random = randoms(n);
    const A = Float64Array.from({ length: n * n }, random);
    const X = Float64Array.from({ length: 3 * n }, random);
    const B = new Float64Array(3 * n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < 3; j++) for (let k = 0; k < n; k++) B[3 * i + j]! += A[n * i + k]! * X[3 * k + j]!;
    expect(solveDense(A, B, n, 3)).toBe(true);
    expect(largest(B.map((value, i) => value - X[i]!))).toBeLessThan(1e-9);
  });

  test("rows are swapped if a pivot is 0, and a singular matrix is reported", () => {
    const B = Float64Array.of(2, 3);
    expect(solveDense(Float64Array.of(0, 1, 1, 0), B, 2, 1)).toBe(true);
    expect([...B]).toEqual([3, 2]);
    expect(solveDense(Float64Array.of(1, 2, 2, 4), B, 2, 1)).toBe(false);
  });
});
