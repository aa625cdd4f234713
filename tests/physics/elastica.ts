/** How stiff the isometric bending form is on the generator's grid, and a strip that hangs (elastica.test.ts says what follows from it). */
import { gridCloth } from "../../server/meshing/generators.ts";
import { bendElements } from "../../server/sim/constraints/bending.ts";
import { solveLinear } from "../../server/sim/reference/vector.ts";
import { laboratory, type Laboratory } from "./laboratory.ts";

/** a = P L^2/(B b) -> drop/L and reach/L of the end of an inextensible elastica. Computed; the same numbers as elastica_tip.csv. */
export const ELASTICA: Record<number, [number, number]> = { 0.25: [0.082746, 0.995882], 1: [0.301721, 0.943567], 3: [0.603253, 0.74558], 10: [0.810609, 0.445004] };

const N = 20;
const patch = gridCloth([2, 2], [N, N]), stencils = bendElements(patch.positions, patch.triangles, 1);
/** Energy over the plate's, in the middle of the patch, of heights y: as given, and with all but the rim relaxed. */
function rigidity(height: (x: number, z: number) => number, kappa2: number): { nominal: number; relaxed: number } {
  const { positions: X } = patch, { particles, K, alpha } = stencils, y = new Float64Array(X.length / 3).map((_, i) => height(X[3 * i]!, X[3 * i + 2]!));
  /** The middle is 1 m x 1 m; edges on its rim are shared with what lies outside. */
  const middle = (): number => {
    let energy = 0;
    for (let s = 0; s < alpha.length; s++) {
      const [a, b, c, d] = particles.subarray(4 * s, 4 * s + 4) as unknown as [number, number, number, number];
      const out = Math.max(Math.abs(X[3 * a]! + X[3 * b]!) / 2, Math.abs(X[3 * a + 2]! + X[3 * b + 2]!) / 2) - 0.5;
      if (out > 1e-9) continue;
      const Ky = K[4 * s]! * y[a]! + K[4 * s + 1]! * y[b]! + K[4 * s + 2]! * y[c]! + K[4 * s + 3]! * y[d]!;
      energy += ((out > -1e-9 ? 0.5 : 1) * Ky * Ky) / (2 * alpha[s]!);
    }
    return energy / (kappa2 / 2);
  };
  const nominal = middle(), place = new Int32Array(y.length).fill(-1), free: number[] = [];
  for (let i = 0; i < y.length; i++) if (Math.max(Math.abs(X[3 * i]!), Math.abs(X[3 * i + 2]!)) < 0.8) place[i] = free.push(i) - 1;
  const A = free.map(() => new Array<number>(free.length).fill(0)), right = free.map(() => 0);
  for (let s = 0; s < alpha.length; s++) {
    for (let i = 0; i < 4; i++) {
      const p = particles[4 * s + i]!;
      if (place[p]! < 0) continue;
      for (let j = 0; j < 4; j++) {
        const q = particles[4 * s + j]!, value = (K[4 * s + i]! * K[4 * s + j]!) / alpha[s]!;
        if (place[q]! >= 0) A[place[p]!]![place[q]!]! += value;
        else right[place[p]!]! -= value * y[q]!;
      }
    }
  }
  solveLinear(A, right).forEach((value, n) => (y[free[n]!] = value));
  return { nominal, relaxed: middle() };
}

/** Nominal and relaxed rigidity of a cylinder bent across this direction. */
export const cylinder = (degrees: number): { nominal: number; relaxed: number } => {
  const c = Math.cos((degrees * Math.PI) / 180), s = Math.sin((degrees * Math.PI) / 180);
  return rigidity((x, z) => 0.5 * (c * x + s * z) ** 2, 1);
};
export const along = cylinder(0).relaxed;
const sphere = rigidity((x, z) => 0.5 * (x * x + z * z), 1).relaxed;
/** Free to curve across as well: E = (A k1^2 + A k2^2 + 2 C k1 k2)/2 is least at k2 = -C/A k1. */
export const FREE_STRIP = along - (sphere / 2 - along) ** 2 / along;

/** Drop and reach of the settled end over the strip's length, under P = a B b/L^2. */
export async function hang(a: number, cells: number): Promise<{ drop: number; reach: number; lab: Laboratory }> {
  const d = 1 / cells, across = 4, B = 1, size = (cells + 1) * d;
  // the first two columns are held: the hinge at the second stands for the strip half a cell to both sides of it
  const clamp = -size / 2 + d / 2, length = size - d / 2, load = (a * B * across * d) / length ** 2;
  const lab = await laboratory({
    substeps: 20, iterations: 10, worldRadius: 1000,
    bodies: [{
      name: "strip", kind: "cloth", mesh: { type: "grid", size: [size, across * d], cells: [cells + 1, across] },
      pins: [{ select: { box: { min: [-10, -1, -10], max: [-size / 2 + d + 1e-6, 1, 10] } } }],
      loads: [{ select: { box: { min: [size / 2 - 1e-6, -1, -10], max: [10, 1, 10] } }, force: [0, -load, 0], distribute: "mass" }],
      // 1 kg/m^2 and 1 N m: the first mode turns at 3.5 rad/s, critically damped by 7/s; 2e4 N/m of membrane stretches by 5e-4 at most
      material: { density: 1000, thickness: 0.001, youngsModulus: 2e7, poissonsRatio: 0, bendingStiffness: B, damping: 7 },
    }],
  });
  const X = lab.positions();
  const events = lab.run(60 * 8);
  if (events.length > 0) throw new Error(`the strip did not go on: ${JSON.stringify(events)}`);
  const x = lab.positions();
  let drop = 0, reach = 0, count = 0;
  for (let i = 0; i < X.length; i += 3) {
    if (X[i]! < size / 2 - 1e-6) continue;
    drop += X[i + 1]! - x[i + 1]!;
    reach += x[i]! - clamp;
    count++;
  }
  return { drop: drop / count / length, reach: reach / count / length, lab };
}
