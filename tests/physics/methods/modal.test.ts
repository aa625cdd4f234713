/**
 * Modal analysis: eigenvalues against those of a stiffness matrix assembled and diagonalized by other code
 * (tests/statics), the exact step of an oscillator, and all modes against linear finite elements in motion.
 */
import { describe, expect, test } from "vitest";
import { modal } from "../../../server/sim/methods/modal.ts";
import { propagator } from "../../../server/sim/methods/oscillator.ts";
import { symmetricEigen } from "../../../server/sim/methods/symmetricEigen.ts";
import type { SoftMaterial } from "../../../shared/scene.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { diagonalize } from "../../statics/eigen.ts";
import { densityOf } from "../../statics/materials.ts";
import { elasticHessian, solidMesh } from "../../statics/solidMesh.ts";
import { blockMatrix } from "../../statics/sparse.ts";
import { laboratory } from "../laboratory.ts";
import { cube, known, largest, NOTHING, outside, POISSON, randoms, templateOf, YOUNG } from "./kit.ts";

/** M^-1 K of the free particles at rest, dense, with the particle of each row. */
function independent(template: BodyTemplate): { K: Float64Array; rows: number[]; n: number } {
  const mesh = solidMesh(template.positions, template.tets);
  const A = blockMatrix(template.tets, template.pinned);
  elasticHessian(mesh, densityOf("stvk", YOUNG, POISSON), template.positions, A, false);
  const n = 3 * A.count;
  const K = new Float64Array(n * n);
  for (let i = 0; i < A.count; i++)
    for (let b = A.rows[i]!; b < A.rows[i + 1]!; b++)
      for (let r = 0; r < 9; r++)
        K[n * (3 * i + Math.floor(r / 3)) + 3 * A.columns[b]! + (r % 3)] = A.values[9 * b + r]!;
  const rows: number[] = [];
  A.place.forEach((row, particle) => {
    for (let r = 0; row >= 0 && r < 3; r++) rows[3 * row + r] = 3 * particle + r;
  });
  return { K, rows, n };
}

test("frequencies are those of the eigenproblem of another assembly, by another method", async () => {
  const template = await templateOf(cube({ type: "modal" }));
  const { K, rows, n } = independent(template);
  const scaled = K.map(
    (value, at) =>
      value /
      Math.sqrt(
        template.mass[Math.floor(rows[Math.floor(at / n)]! / 3)]! * template.mass[Math.floor(rows[at % n]! / 3)]!,
      ),
  );
  diagonalize(scaled, new Float64Array(n * n), n);
  const expected = Array.from({ length: n }, (_, i) => Math.sqrt(scaled[n * i + i]!)).sort((a, b) => a - b);
  const spec = { type: "modal", modes: n } as const;
  const { eigenvalues } = modal.plan(template, spec, known(template, 1 / 240), "");
  expect(eigenvalues).toHaveLength(n);
  eigenvalues!.forEach((value, m) => expect(Math.abs(Math.sqrt(value) / expected[m]! - 1)).toBeLessThan(1e-8));
});

test("a body that nothing holds has its six rigid motions at frequency 0", async () => {
  const template = await templateOf(cube({ type: "modal" }, { pins: [] }));
  const { eigenvalues } = modal.plan(template, { type: "modal", modes: 8 }, known(template, 1 / 240), "");
  expect(largest(eigenvalues!.subarray(0, 6))).toBeLessThan(1e-10 * eigenvalues![6]!);
});

describe("eigenvalues of dense matrices", () => {
  test.each([1, 2, 3, 40])("of %d rows: orthogonal vectors that diagonalize", (n) => {
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

  test("a diagonal matrix is its own", () => {
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

test("a constant force moves a free mode along a parabola, and a stiff one to rest", () => {
  const h = 1 / 60;
  const [, , c, , , f] = propagator(0, 0, h);
  expect(Math.abs((2 * c!) / (h * h) - 1)).toBeLessThan(1e-14);
  expect(Math.abs(f! / h - 1)).toBeLessThan(1e-14);
  const lambda = 900;
  const [a, , g, d, , s] = propagator(lambda, 12, h);
  // g/lambda at rest is where it stays
  expect(Math.abs(a! / lambda + g! - 1 / lambda)).toBeLessThan(1e-15);
  expect(Math.abs(d! / lambda + s!)).toBeLessThan(1e-14);
});

test("all modes move as linear finite elements do", async () => {
  const template = await templateOf(cube({ type: "modal" }));
  const { K, rows, n } = independent(template);
  const h = 1 / 60;
  const steps = 12;
  const beta = 1e-3;
  const body = known(template, h, 0.5, beta);
  const spec = { type: "modal", modes: n } as const;
  const method = modal.open(modal.plan(template, spec, body, ""), spec, body);
  const random = randoms(9);
  const force = new Float64Array(3 * body.count);
  for (const k of rows) force[k] = 3 * random();
  const state = { x: Float64Array.from(template.positions), v: new Float64Array(3 * body.count), more: NOTHING };
  for (let step = 0; step < steps; step++) method.step(state, outside(body, force));

  // M u'' = f - 0.5 M u' - K (u + beta u') by Runge and Kutta's fourth order, 200 times as often
  const mass = (i: number): number => template.mass[Math.floor(rows[i]! / 3)]!;
  const acceleration = (u: Float64Array, v: Float64Array): Float64Array =>
    u.map((_, i) => {
      let sum = force[rows[i]!]!;
      for (let j = 0; j < n; j++) sum -= K[n * i + j]! * (u[j]! + beta * v[j]!);
      return sum / mass(i) - 0.5 * v[i]!;
    });
  let u = new Float64Array(n);
  let v = new Float64Array(n);
  const t = h / 200;
  const plus = (a: Float64Array, s: number, b: Float64Array): Float64Array => a.map((value, i) => value + s * b[i]!);
  for (let step = 0; step < 200 * steps; step++) {
    const a1 = acceleration(u, v);
    const v2 = plus(v, t / 2, a1);
    const a2 = acceleration(plus(u, t / 2, v), v2);
    const v3 = plus(v, t / 2, a2);
    const a3 = acceleration(plus(u, t / 2, v2), v3);
    const v4 = plus(v, t, a3);
    const a4 = acceleration(plus(u, t, v3), v4);
    u = u.map((value, i) => value + (t / 6) * (v[i]! + 2 * v2[i]! + 2 * v3[i]! + v4[i]!));
    v = v.map((value, i) => value + (t / 6) * (a1[i]! + 2 * a2[i]! + 2 * a3[i]! + a4[i]!));
  }
  const most = largest(u);
  expect(most).toBeGreaterThan(1e-3);
  for (let i = 0; i < n; i++)
    expect(Math.abs(state.x[rows[i]!]! - template.positions[rows[i]!]! - u[i]!)).toBeLessThan(1e-6 * most);
});

test("all modes come to rest where linear finite elements do, and few of them above", async () => {
  const settled = async (method: Parameters<typeof cube>[0]): Promise<{ x: Float64Array; energy: number }> => {
    const body = cube(method);
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      bodies: [{ ...body, material: { ...body.material, damping: 6 } as SoftMaterial }],
    });
    lab.run(600);
    return { x: lab.positions(), energy: lab.world.methodEnergy(0)! };
  };
  const elements = await settled({ type: "finite-elements", warped: false });
  const all = await settled({ type: "modal", modes: 54 });
  // float32 positions; exp(-3 t) of the swing is left
  expect(largest(all.x.map((value, k) => value - elements.x[k]!))).toBeLessThan(1e-6 * 0.5);
  expect(Math.abs(all.energy / elements.energy - 1)).toBeLessThan(1e-5);
  // Ritz: fewer modes, less energy
  const few = await settled({ type: "modal", modes: 6 });
  expect(few.energy).toBeLessThan(all.energy);
  expect(few.energy).toBeGreaterThan(0.3 * all.energy);
});
