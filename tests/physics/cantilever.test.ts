/**
 * A clamped beam under its own weight (physics.md, section 4: within 5 % at a stated resolution).
 *
 * Against static equilibrium of the same mesh, which says how far the solver is from converged: 1 %. And against beam theory, Timoshenko
 *   tip = rho g A L^4 / (8 k I) + rho g A L^2 / (2 kappa k/(2(1+nu)) A),  kappa = 5/6
 * which says how far the mesh is from the beam: tetrahedra with constant strain are too stiff in bending, 36 % too little sag with 2 cells
 * through the height, 14 % with 4, 4.5 % with 8, 1 % with 10.
 */
import { expect, test } from "vitest";
import { equilibrium } from "./statics.ts";
import { laboratory } from "./laboratory.ts";

const G = 9.81, RHO = 1000, L = 0.5, H = 0.1;

async function settled(k: number, nu: number, width: number, cells: [number, number, number], substeps: number, iterations: number, ticks: number) {
  // damped as the first mode's critical damping, 2 omega, so that half a second is enough
  const damping = 2 * 3.516 * Math.sqrt((k * H * H) / 12 / (RHO * L ** 4));
  const lab = await laboratory({
    substeps, iterations, gravity: [0, -G, 0],
    bodies: [{ name: "beam", kind: "soft", mesh: { type: "box", size: [L, H, width], cells }, pins: [{ select: { box: { min: [-1, -1, -1], max: [-L / 2 + 1e-6, 1, 1] } } }], material: { density: RHO, youngsModulus: k, poissonsRatio: nu, damping } }],
  });
  const X = lab.positions();
  expect(lab.run(ticks)).toEqual([]);
  return { lab, X, x: lab.positions() };
}

/** Mean sag of the free end. */
function tip(X: Float64Array, x: Float64Array): number {
  let sum = 0, count = 0;
  for (let i = 0; i < X.length; i += 3) {
    if (X[i]! < L / 2 - 1e-6) continue;
    sum += X[i + 1]! - x[i + 1]!;
    count++;
  }
  return sum / count;
}

test.each([
  { k: 1e6, nu: 0.3, substeps: 20, iterations: 4 },
  { k: 1e6, nu: 0.3, substeps: 4, iterations: 30 },
  { k: 1e6, nu: 0.45, substeps: 20, iterations: 16 },
  { k: 1e5, nu: 0.3, substeps: 20, iterations: 2 },
])("the beam hangs as static equilibrium of its mesh: k $k Pa, nu $nu, $substeps x $iterations", async ({ k, nu, substeps, iterations }) => {
  const { lab, X, x } = await settled(k, nu, H, [8, 2, 2], substeps, iterations, 180);
  const body = lab.created.bodies[0]!, weight = new Float64Array(X.length);
  body.mass.forEach((m, i) => (weight[3 * i + 1] = -m * G));
  const exact = equilibrium(body.elements, x, body.pinned, weight, 0.05);
  const largest = Math.max(...exact.map((v, i) => Math.abs(v - X[i]!))), error = Math.max(...exact.map((v, i) => Math.abs(v - x[i]!)));
  expect(error / largest, `largest displacement ${largest} m`).toBeLessThan(0.01);
});

test("with ten cells through its height it hangs as beam theory says, within 5 %", async () => {
  const k = 3e6, { X, x } = await settled(k, 0, 0.025, [40, 10, 2], 30, 20, 40);
  const theory = (RHO * G * L ** 4) / (8 * k * (H * H / 12)) + (RHO * G * L * L) / (2 * (5 / 6) * (k / 2));
  expect(tip(X, x) / theory).toBeGreaterThan(0.95);
  expect(tip(X, x) / theory).toBeLessThan(1.05);
});
