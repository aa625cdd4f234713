/**
 * One element, n = 1 .. 1000 iterations: the solver's fixed point is one step of implicit Euler,
 *   m_j (x_j - xTilde_j)/h^2 + dE/dx_j (x) = 0,
 * for any stiffness and step. The test finds the solution by Newton's method in float64 with a numerical Hessian.
 *
 * Tolerance for the kernel in float32: rounding of positions (0.1 m: 6e-9 m) relative to the correction; in float64
 * 1e-6 of it. Errors must not grow either: more iterations are at most 1.5 times as bad as fewer.
 */
import type { Elements } from "../../server/sim/constraints/kinds.ts";
import { expect, test } from "vitest";
import { hyperelasticGradient } from "../../server/sim/reference/hyperelastic.ts";
import { tetrahedronGradient } from "../../server/sim/reference/tetrahedron.ts";
import { triangleGradient } from "../../server/sim/reference/triangle.ts";
import { solveLinear, type Vector } from "../../server/sim/reference/vector.ts";
import { HYPER_KINDS, randomHyper, randomTets, randomTriangles } from "./randomElements.ts";
import { makeKit, randomStream, UNIT } from "./kit.ts";

/** dE/dx of an element of the kernel, rounded to float32. */
type Gradient<E extends Elements> = (x: Float64Array, e: E) => readonly Vector[];

/** Newton's method with halved steps from xTilde. */
function implicitEuler(
  xTilde: Float64Array,
  w: readonly number[],
  h: number,
  gradient: (x: Float64Array) => readonly Vector[],
): Float64Array {
  const n = xTilde.length;
  const residual = (x: Float64Array): number[] => {
    const g = gradient(x).flat();
    return Array.from({ length: n }, (_, k) => (x[k]! - xTilde[k]!) / (w[Math.floor(k / 3)]! * h * h) + g[k]!);
  };
  const size = (r: number[]): number => Math.sqrt(r.reduce((s, v) => s + v * v, 0));
  let x = Float64Array.from(xTilde);
  for (let iteration = 0; iteration < 100; iteration++) {
    const r = residual(x);
    const d = 1e-8;
    const columnsOfJ = Array.from({ length: n }, (_, k) => {
      const up = Float64Array.from(x);
      const down = Float64Array.from(x);
      up[k]! += d;
      down[k]! -= d;
      const a = residual(up);
      const b = residual(down);
      return a.map((v, i) => (v - b[i]!) / (2 * d));
    });
    const step = solveLinear(
      Array.from({ length: n }, (_, i) => columnsOfJ.map((c) => c[i]!)),
      r.map((v) => -v),
    );
    let t = 1;
    let next = x.map((v, k) => v + step[k]!);
    while (size(residual(next)) > size(r) && t > 1e-6) {
      t /= 2;
      next = x.map((v, k) => v + t * step[k]!);
    }
    x = next;
    if (Math.max(...step.map(Math.abs)) < 1e-15) break;
  }
  return x;
}

const most = (a: Float64Array, b: Float64Array): number => Math.max(...a.map((v, k) => Math.abs(v - b[k]!)));

const strained = (rest: Float64Array, strain: number): Float64Array => {
  const random = randomStream(31);
  return rest.map((v) => v + strain * 0.1 * random());
};

/** @param start predicted positions of the substep */
function converge<E extends Elements>(
  elements: E,
  start: Float64Array,
  w: number[],
  h: number,
  gradient: Gradient<E>,
): void {
  const xTilde = Float64Array.from(Float32Array.from(start));
  const kit = makeKit(elements, xTilde, Float64Array.from(w), h);
  const exact = implicitEuler(xTilde, w.map(Math.fround), kit.h, (x) => gradient(x, kit.elements as E));
  const correction = most(xTilde, exact);
  const twins: number[] = [];
  const kernels: number[] = [];
  for (let n = 1; n <= 1000; n++) {
    kit.iterate(n === 1);
    if (![1, 2, 5, 10, 100, 1000].includes(n)) continue;
    twins.push(most(kit.particles.x, exact) / correction);
    kernels.push(most(kit.kernelPositions(), exact) / correction);
  }
  const what = `errors of the twin ${twins.map((e) => e.toExponential(1)).join(" ")}, of the kernel ${kernels.map((e) => e.toExponential(1)).join(" ")}`;
  expect(twins.at(-1), what).toBeLessThan(1e-6);
  // 64 units: each of the last iterations adds its own rounding, until corrections are smaller than one
  expect(kernels.at(-1), what).toBeLessThan(1e-5 + (64 * UNIT * 0.2) / correction);
  for (let k = 1; k < twins.length; k++) expect(twins[k]!, what).toBeLessThan(1.5 * twins[k - 1]! + 1e-7);
}

for (const strain of [0.05, 0.3]) {
  for (const h of [1 / 60, 1 / 240, 1 / 1200]) {
    test(`strained by ${100 * strain} %, h = 1/${Math.round(1 / h)} s: iterations converge to implicit Euler`, () => {
      for (const k of [1e3, 1e5, 1e7]) {
        const tets = randomTets(1, 0.1, k, 0.3, 40);
        const w = [10, 12, 8, 15];
        converge(tets.elements, strained(tets.X, strain), w, h, (x, e) => tetrahedronGradient(x, e, 0));
        for (const kind of HYPER_KINDS) {
          const hyper = randomHyper(kind, 1, 0.1, k, 0.3, 40);
          converge(hyper.elements, strained(hyper.X, strain), w, h, (x, e) => hyperelasticGradient(x, e, 0));
        }
        const sheet = randomTriangles(
          1,
          0.1,
          { kWeft: k, kWarp: 3 * k, kShear: 0.3 * k, nuWeft: 0.1, nuWarp: 0.3 },
          40,
        );
        converge(sheet.elements, strained(sheet.X, strain), [100, 120, 80], h, (x, e) => triangleGradient(x, e, 0));
      }
    });
  }
}

// beyond the compression at which the regular stress decreases; there an element is one scalar constraint of its
// continued energy
for (const [what, by] of [
  ["crushed to two fifths", 0.4],
  ["mirrored in its height", -0.5],
] as const) {
  test(`${what}, h = 1/240 s: iterations converge to implicit Euler`, () => {
    for (const k of [1e3, 1e4]) {
      const { elements, X } = randomTets(1, 0.1, k, 0.3, 40);
      const low = X[1]!;
      converge(
        elements,
        X.map((v, i) => (i % 3 === 1 ? low + by * (v - low) : v)),
        [10, 12, 8, 15],
        1 / 240,
        (x, e) => tetrahedronGradient(x, e, 0),
      );
    }
  });
}
