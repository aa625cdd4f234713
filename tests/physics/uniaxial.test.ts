/**
 * The law of uniaxial stretch of a Saint Venant-Kirchhoff bar (physics.md, section 4): under nominal stress P on both end faces
 *   P = k s (s^2 - 1)/2,   t^2 = 1 - nu (s^2 - 1)
 * for any k, nu, h and sufficient iterations. Target: stretch s and lateral contraction 1 - t within 1 %.
 *
 * Measured: 0.15 % and 0.9 % at worst, 0.01 % for most rows. "Sufficient" in numbers: with h c the way that sound goes in a substep
 * (c = sqrt(k/rho)), 2 iterations to h c = 0.2 elements, 8 to half an element, 20 to one, 60 to three. One iteration of the default form
 * is 0.1 % off in stretch and 1.3 % in contraction at 0.17 elements, and more with the square of it: that row is below, with its own limit.
 */
import { describe, expect, test } from "vitest";
import { laboratory } from "./laboratory.ts";

interface Row {
  k: number;
  nu: number;
  tickHz: number;
  substeps: number;
  iterations: number;
  /** the stretch that the load is chosen for */
  s: number;
  size?: [number, number, number];
  cells?: [number, number, number];
}

/** Principal stretches along x, and the mean of those along y and z, of the affine map that fits the motion best. */
function stretches(X: Float64Array, x: Float64Array): { s: number; t: number } {
  const A = Array.from({ length: 3 }, () => [0, 0, 0]), D = [0, 0, 0];
  for (let i = 0; i < X.length; i += 3) {
    for (let c = 0; c < 3; c++) {
      D[c]! += X[i + c]! ** 2;
      for (let r = 0; r < 3; r++) A[r]![c]! += x[i + r]! * X[i + c]!;
    }
  }
  const length = (c: number): number => Math.sqrt([0, 1, 2].reduce((sum, r) => sum + (A[r]![c]! / D[c]!) ** 2, 0));
  return { s: length(0), t: (length(1) + length(2)) / 2 };
}

async function stretch(row: Row): Promise<{ s: number; t: number; ideal: { s: number; t: number } }> {
  const { k, nu, tickHz, substeps, iterations, s, size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } = row;
  const force = ((k * s * (s * s - 1)) / 2) * size[1] * size[2], end = 0.4999 * size[0], slow = Math.sqrt(k / 1000) / size[0];
  const lab = await laboratory({
    tickHz, substeps, iterations, worldRadius: 1000,
    bodies: [{
      name: "bar", kind: "soft", mesh: { type: "box", size, cells }, material: { density: 1000, youngsModulus: k, poissonsRatio: nu, damping: Math.min(10000, 2 * slow) },
      loads: [
        { select: { box: { min: [end, -10, -10], max: [10, 10, 10] } }, force: [force, 0, 0] },
        { select: { box: { min: [-10, -10, -10], max: [-end, 10, 10] } }, force: [-force, 0, 0] },
      ],
    }],
  });
  const X = lab.positions();
  expect(lab.run(Math.ceil(Math.max(30 / slow, 0.5) * tickHz))).toEqual([]);
  return { ...stretches(X, lab.positions()), ideal: { s, t: Math.sqrt(1 - nu * (s * s - 1)) } };
}

const ROWS: Row[] = [
  { k: 1e3, nu: 0.3, tickHz: 60, substeps: 8, iterations: 2, s: 1.2 },
  { k: 1e4, nu: 0.3, tickHz: 60, substeps: 8, iterations: 2, s: 1.2 },
  { k: 1e5, nu: 0.3, tickHz: 60, substeps: 20, iterations: 2, s: 1.2 },
  { k: 1e5, nu: 0.3, tickHz: 60, substeps: 4, iterations: 20, s: 1.2 },
  { k: 1e6, nu: 0.3, tickHz: 60, substeps: 20, iterations: 8, s: 1.2 },
  { k: 1e6, nu: 0.3, tickHz: 60, substeps: 60, iterations: 2, s: 1.1 },
  { k: 1e7, nu: 0.25, tickHz: 60, substeps: 100, iterations: 4, s: 1.2 },
  { k: 1e8, nu: 0.3, tickHz: 60, substeps: 100, iterations: 40, s: 1.1 },
  { k: 1e9, nu: 0.3, tickHz: 60, substeps: 200, iterations: 40, s: 1.05 },
  // Poisson's ratio to the limits of what a scene may say
  { k: 1e5, nu: 0, tickHz: 60, substeps: 20, iterations: 2, s: 1.3 },
  { k: 1e5, nu: 0.45, tickHz: 60, substeps: 20, iterations: 4, s: 1.2 },
  { k: 1e5, nu: 0.49, tickHz: 60, substeps: 20, iterations: 10, s: 1.1 },
  { k: 1e5, nu: 0.4999, tickHz: 60, substeps: 20, iterations: 40, s: 1.05 },
  // awkward numbers
  { k: 23456.7, nu: 0.371, tickHz: 97, substeps: 7, iterations: 13, s: 1.137, size: [0.31, 0.07, 0.11], cells: [5, 2, 3] },
  { k: 3.3e6, nu: 0.18, tickHz: 144, substeps: 11, iterations: 17, s: 1.073, size: [0.5, 0.06, 0.09], cells: [7, 1, 2] },
  { k: 812.5, nu: 0.42, tickHz: 25, substeps: 12, iterations: 9, s: 1.41 },
  // large steps
  { k: 7.7e4, nu: 0.33, tickHz: 60, substeps: 2, iterations: 40, s: 1.1 },
  { k: 5e4, nu: 0.3, tickHz: 240, substeps: 1, iterations: 5, s: 1.2 },
  { k: 1e5, nu: 0.3, tickHz: 240, substeps: 1, iterations: 10, s: 1.2 },
  // far stretched, and compressed (a cube: a bar would buckle)
  { k: 1e5, nu: 0.3, tickHz: 60, substeps: 20, iterations: 2, s: 1.5 },
  { k: 1e5, nu: 0.3, tickHz: 60, substeps: 20, iterations: 2, s: 0.9, size: [0.1, 0.1, 0.1], cells: [2, 2, 2] },
];

describe("stretch and contraction are the law's within 1 %", () => {
  test.each(ROWS)("k $k Pa, nu $nu, $tickHz Hz x $substeps x $iterations, s $s", async (row) => {
    const { s, t, ideal } = await stretch(row);
    expect(Math.abs(s / ideal.s - 1), `s ${s}`).toBeLessThan(0.01);
    if (row.nu > 0) expect(Math.abs((1 - t) / (1 - ideal.t) - 1), `t ${t} instead of ${ideal.t}`).toBeLessThan(0.01);
    else expect(Math.abs(t - 1)).toBeLessThan(1e-3);
  });
});

test("one iteration of the default 20 substeps: stretch within 0.2 %, contraction within 2 %", async () => {
  const { s, t, ideal } = await stretch({ k: 1e5, nu: 0.3, tickHz: 60, substeps: 20, iterations: 1, s: 1.2 });
  expect(Math.abs(s / ideal.s - 1)).toBeLessThan(0.002);
  expect(Math.abs((1 - t) / (1 - ideal.t) - 1)).toBeLessThan(0.02);
});
