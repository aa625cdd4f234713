/** A clamped beam under its own weight, settled, with its reference solutions (cantilever.test.ts). */
import { laboratory } from "../laboratory.ts";
import { equilibrium } from "./statics.ts";

export const G = 9.81;
export const RHO = 1000;
export const L = 0.5;
export const H = 0.1;

/** @throws Error if the room held the beam */
export async function settled(
  k: number,
  nu: number,
  width: number,
  cells: [number, number, number],
  substeps: number,
  iterations: number,
  ticks: number,
) {
  // critical damping of the first mode, 2 omega, so that half a second is enough
  const damping = 2 * 3.516 * Math.sqrt((k * H * H) / 12 / (RHO * L ** 4));
  const lab = await laboratory({
    substeps,
    iterations,
    gravity: [0, -G, 0],
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size: [L, H, width], cells },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [-L / 2 + 1e-6, 1, 1] } } }],
        material: { density: RHO, youngsModulus: k, poissonsRatio: nu, damping },
      },
    ],
  });
  const X = lab.positions();
  const events = lab.run(ticks);
  if (events.length > 0) throw new Error(`the beam was held: ${JSON.stringify(events)}`);
  return { lab, X, x: lab.positions() };
}

/** Mean sag of the free end. */
export function tip(X: Float64Array, x: Float64Array): number {
  let sum = 0;
  let count = 0;
  for (let i = 0; i < X.length; i += 3) {
    if (X[i]! < L / 2 - 1e-6) continue;
    sum += X[i + 1]! - x[i + 1]!;
    count++;
  }
  return sum / count;
}

/** Sag of the free end by Timoshenko's theory for nu = 0, m. */
export function beamTheory(k: number): number {
  return (RHO * G * L ** 4) / (8 * k * ((H * H) / 12)) + (RHO * G * L * L) / (2 * (5 / 6) * (k / 2));
}

/** Largest distance of a particle from static equilibrium on the same mesh, relative to the largest displacement. */
export function againstStatics({ lab, X, x }: Awaited<ReturnType<typeof settled>>): number {
  const body = lab.created.bodies[0]!;
  const weight = new Float64Array(X.length);
  body.mass.forEach((m, i) => (weight[3 * i + 1] = -m * G));
  const exact = equilibrium(body.elements, x, body.pinned, weight, 0.05);
  const largest = Math.max(...exact.map((v, i) => Math.abs(v - X[i]!)));
  const error = Math.max(...exact.map((v, i) => Math.abs(v - x[i]!)));
  return error / largest;
}
