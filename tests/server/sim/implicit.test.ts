/** Parts of the implicit step: elimination order, factorization, projection, and features that it does not support. */
import { expect, test } from "vitest";
import { factorize, type BlockMatrix } from "../../../server/sim/implicit/factor.ts";
import { graphOf, nestedDissection } from "../../../server/sim/implicit/order.ts";
import { polarPart, precondition } from "../../../server/sim/reference/implicit/precondition.ts";
import { positivePart } from "../../../server/sim/reference/implicit/positivePart.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { randomStream } from "../../parity/kit.ts";
import { diagonalize, projectSemiDefinite } from "../../statics/eigen.ts";

/** Squares of n x n particles; the first row is fixed. */
const N = 9;
const squares = Uint32Array.from(
  Array.from({ length: (N - 1) ** 2 }, (_, q) => {
    const i = Math.floor(q / (N - 1)) * N + (q % (N - 1));
    return [i, i + 1, i + N, i + N + 1];
  }).flat(),
);
const graph = graphOf(N * N, [{ particles: squares, corners: 4 }]);
const X = Float64Array.from({ length: 3 * N * N }, (_, k) => [Math.floor(k / 3) % N, Math.floor(k / 3 / N), 0][k % 3]!);
const order = nestedDissection(graph, X, (i) => i >= N);

test("every free particle is eliminated once", () => {
  expect(Array.from(order).sort((a, b) => a - b)).toEqual(Array.from({ length: N * N - N }, (_, i) => N + i));
});

test.each([1, 3] as const)("a factor of blocks of %d solves its system", (size) => {
  const random = randomStream(5);
  const values = new Float64Array(size * size * graph.columns.length);
  const matrix: BlockMatrix = { ...graph, size, values };
  // Symmetric and diagonally dominant: 9 blocks of entries below 1.
  for (let i = 0; i < N * N; i++) {
    for (let p = graph.start[i]!; p < graph.start[i + 1]!; p++) {
      const j = graph.columns[p]!;
      const mirrored = graph.columns.indexOf(i, graph.start[j]);
      for (let r = 0; r < size; r++) {
        for (let c = 0; c < size; c++) {
          const value = i === j && r === c ? 9 * size : random();
          values[size * size * p + size * r + c] = value;
          values[size * size * mirrored + size * c + r] = value;
        }
      }
    }
  }
  const x = Float64Array.from({ length: 3 * N * N }, (_, k) => (k < 3 * N ? 0 : random()));
  const b = new Float64Array(x.length);
  for (let i = N; i < N * N; i++) {
    for (let p = graph.start[i]!; p < graph.start[i + 1]!; p++) {
      for (let r = 0; r < 3; r++) {
        for (let c = 0; c < 3; c++) {
          const entry = size === 3 ? values[9 * p + 3 * r + c]! : r === c ? values[p]! : 0;
          b[3 * i + r]! += entry * x[3 * graph.columns[p]! + c]!;
        }
      }
    }
  }
  const solved = precondition(factorize(matrix, order), undefined, b);
  // float32: 2^-24 a rounding, a few hundred roundings for each number, and a condition below 2.
  solved.forEach((value, k) => expect(Math.abs(value - x[k]!)).toBeLessThan(2 ** -24 * 200));
});

test("stress without its negative eigenvalues", () => {
  const random = randomStream(11);
  for (let n = 0; n < 200; n++) {
    const [a, b, c, u, v, w] = Array.from({ length: 6 }, () => random() + 0.2) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const A = Float64Array.of(a, w, v, w, b, u, v, u, c);
    projectSemiDefinite(A, 3);
    const S = positivePart([a, b, c, u, v, w]);
    [A[0], A[4], A[8], A[5], A[2], A[1]].forEach((value, k) => expect(Math.abs(S[k]! - value!)).toBeLessThan(1e-11));
  }
});

test("also with two almost equal eigenvalues, and one almost zero", () => {
  const random = randomStream(12);
  for (let n = 0; n < 200; n++) {
    const R = polarPart([1, 0, 0, 0, 1, 0, 0, 0, 1].map((value) => value + 0.5 * random()));
    const near = 10 ** (-16 * Math.abs(random()));
    const values = [
      [near, -near, -1],
      [near, -near, 1],
      [1, 1 - near, -near],
      [-1, near - 1, near],
      [0, -1, near],
    ][n % 5]!;
    const turned = (e: readonly number[]): number[] =>
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [1, 2],
        [0, 2],
        [0, 1],
      ].map(([i, j]) => e.reduce((sum, value, k) => sum + value * R[3 * i! + k]! * R[3 * j! + k]!, 0));
    const wanted = turned(values.map((value) => Math.max(0, value)));
    // The square root of a double root's rounding: sqrt 2^-52, a few times.
    positivePart(turned(values)).forEach((value, k) => expect(Math.abs(value - wanted[k]!)).toBeLessThan(4 * 2 ** -26));
  }
});

test("the rotation of a deformation", () => {
  const random = randomStream(3);
  for (let n = 0; n < 50; n++) {
    const M = [1, 0, 0, 0, 1, 0, 0, 0, 1].map((value) => value + 0.3 * random());
    const R = polarPart(M);
    const product = (A: readonly number[], i: number, j: number): number =>
      [0, 1, 2].reduce((sum, k) => sum + A[3 * k + i]! * R[3 * k + j]!, 0);
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        // R^T R = 1, and M^T R is symmetric and positive.
        expect(Math.abs(product(R, i, j) - (i === j ? 1 : 0))).toBeLessThan(1e-10);
        expect(Math.abs(product(M, i, j) - product(M, j, i))).toBeLessThan(1e-10);
      }
    }
    const stretch = Float64Array.from({ length: 9 }, (_, k) => product(M, Math.floor(k / 3), k % 3));
    diagonalize(stretch, new Float64Array(9), 3);
    expect(Math.min(stretch[0]!, stretch[4]!, stretch[8]!)).toBeGreaterThan(0);
  }
  expect(polarPart([1, 0, 0, 0, 1, 0, 0, 0, -1])).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

const sheet = {
  name: "sheet",
  kind: "cloth",
  solver: "implicit",
  contact: { self: false, ignore: ["floor"] },
  mesh: { type: "grid", size: [1, 1], cells: [4, 4] },
  material: { density: 200, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3 },
};
const floor = { type: "plane", name: "floor", normal: [0, 1, 0], offset: -1 };
const meshCollider = { type: "mesh", name: "table", mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] } };
const scene = (body: object, more: object = {}): unknown => ({
  version: 1,
  title: "t",
  bodies: [{ ...sheet, ...body }],
  colliders: [floor],
  ...more,
});

test.each([
  ["/bodies/0/sweep", { sweep: { order: "jacobi" } }, {}],
  ["/bodies/0/spawnable", { spawnable: true }, {}],
  ["/bodies/0/solver", { material: { model: "pbd", density: 200, thickness: 1e-3, distance: { compliance: 0 } } }, {}],
])("solver implicit is refused at %s", (path, body, more) => {
  expect(() => validateScene(scene(body, more))).toThrow(expect.objectContaining({ path }));
});

test("solver implicit in scenes without contact, with shapes, and with implicit bodies and meshes", () => {
  const two = {
    bodies: [
      { ...sheet, contact: {} },
      { ...sheet, name: "other" },
    ],
    colliders: [floor, meshCollider],
  };
  expect(validateScene(scene({}, two)).bodies[0]).toMatchObject({ solver: "implicit" });
  expect(validateScene(scene({})).bodies[0]).toMatchObject({ solver: "implicit" });
  const sphere = { type: "sphere", center: [0, -3, 0], radius: 1 };
  const shapes = scene({ contact: { self: false } }, { colliders: [floor, sphere] });
  expect(validateScene(shapes).bodies[0]).toMatchObject({ solver: "implicit" });
});
