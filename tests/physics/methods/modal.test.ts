/**
 * Modal analysis: rigid motions, dense eigenvalues, and the exact step of an oscillator. The report
 * (report/figures/methods/modalAnalysis.ts) shows frequencies, motion and energy.
 */
import { describe, expect, test } from "vitest";
import { modal } from "../../../server/sim/methods/elements/modal.ts";
import { propagator } from "../../../server/sim/methods/elements/oscillator.ts";
import { symmetricEigen } from "../../../server/sim/methods/elements/symmetricEigen.ts";
import { cube, known, largest, randoms, templateOf } from "./kit.ts";

test("a free body has its six rigid motions at frequency 0", async () => {
  const template = await templateOf(cube({ type: "modal" }, { pins: [] }));
  const { eigenvalues } = modal.plan(template, { type: "modal", modes: 8 }, known(template, 1 / 240), "");
  expect(largest(eigenvalues!.subarray(0, 6))).toBeLessThan(1e-10 * eigenvalues![6]!);
});

describe("eigenvalues of dense matrices", () => {
  test.each([1, 2, 3, 40])("of %d rows: orthogonal eigenvectors that diagonalize the matrix", (n) => {
    const random = randoms(n);
    const A = new Float64Array(n * n);
    for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) A[n * i + j] = A[n * j + i] = random();
    const { values, vectors } = symmetricEigen(A, n);
    const row = (m: number): Float64Array => vectors.subarray(n * m, n * m + n);
    for (let m = 0; m < n; m++) {
      for (let k = 0; k <= m; k++) {
        const dot = row(m).reduce((sum, a, i) => sum + a * row(k)[i]!, 0);
        expect(Math.abs(dot - (k === m ? 1 : 0))).toBeLessThan(1e-13);
      }
      for (let i = 0; i < n; i++) {
        const product = row(m).reduce((sum, a, j) => sum + A[n * i + j]! * a, 0);
        expect(Math.abs(product - values[m]! * row(m)[i]!)).toBeLessThan(1e-13 * n);
      }
    }
  });

  test("a diagonal matrix has its diagonal as eigenvalues", () => {
    expect([...symmetricEigen(Float64Array.of(3, 0, 0, 0, 1, 0, 0, 0, 2), 3).values]).toEqual([1, 2, 3]);
  });
});

test.each([
  [0, 0],
  [0, 3],
  [400, 0],
  [400, 3],
  [1e6, 20],
  [4, 10],
])("an oscillator of lambda %d and damping %d is stepped exactly", (lambda, c) => {
  const h = 1 / 60;
  const [a, b, , d, e] = propagator(lambda, c, h);
  const half = c / 2;
  const square = lambda - half * half;
  // x'' + c x' + lambda x = 0 from (1, 0) and (0, 1)
  const w = Math.sqrt(Math.abs(square));
  const cos = square > 0 ? Math.cos(w * h) : Math.cosh(w * h);
  const sinOver = w === 0 ? h : (square > 0 ? Math.sin(w * h) : Math.sinh(w * h)) / w;
  const decay = Math.exp(-half * h);
  const size = Math.max(1, Math.sqrt(lambda));
  expect(Math.abs(a! - decay * (cos + half * sinOver))).toBeLessThan(1e-12);
  expect(Math.abs(b! - decay * sinOver)).toBeLessThan(1e-12);
  expect(Math.abs(d! + decay * lambda * sinOver)).toBeLessThan(1e-12 * size);
  expect(Math.abs(e! - decay * (cos - half * sinOver))).toBeLessThan(1e-12);
});

test("a constant force moves a free mode along a parabola, and a stiff one to its equilibrium", () => {
  const h = 1 / 60;
  const [, , c, , , f] = propagator(0, 0, h);
  expect(Math.abs((2 * c!) / (h * h) - 1)).toBeLessThan(1e-14);
  expect(Math.abs(f! / h - 1)).toBeLessThan(1e-14);
  const lambda = 900;
  const [a, , g, d, , s] = propagator(lambda, 12, h);
  // at the equilibrium g/lambda the oscillator stays
  expect(Math.abs(a! / lambda + g! - 1 / lambda)).toBeLessThan(1e-15);
  expect(Math.abs(d! / lambda + s!)).toBeLessThan(1e-14);
});
