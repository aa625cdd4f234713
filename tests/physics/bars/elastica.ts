/** A strip of cloth that hangs from a clamp with a load at its end. */
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid } from "../../support/bodies.ts";

/**
 * a = P L^2/(B b) -> drop/L and reach/L of the end of an inextensible elastica. Computed; the same numbers as
 * elastica_tip.csv.
 */
export const ELASTICA: Record<number, [number, number]> = {
  0.25: [0.082746, 0.995882],
  1: [0.301721, 0.943567],
  3: [0.603253, 0.74558],
  10: [0.810609, 0.445004],
};

/**
 * Drop and reach of the settled end relative to the strip's length, under P = a B b/L^2. The strip is 1 m long, `cells`
 * + 1 cells, and `across` cells wide.
 */
export async function hang(
  a: number,
  cells: number,
  across = 4,
): Promise<{ drop: number; reach: number; lab: Laboratory }> {
  const d = 1 / cells;
  const B = 1;
  const size = (cells + 1) * d;
  // the first two columns are fixed: the hinge at the second stands for half a cell of the strip on both sides
  const clamp = -size / 2 + d / 2;
  const length = size - d / 2;
  const load = (a * B * across * d) / length ** 2;
  const lab = await laboratory({
    substeps: 20,
    iterations: 10,
    worldRadius: 1000,
    bodies: [
      clothGrid("strip", [size, across * d], [cells + 1, across], {
        pins: [{ select: { box: { min: [-10, -1, -10], max: [-size / 2 + d + 1e-6, 1, 10] } } }],
        loads: [
          {
            select: { box: { min: [size / 2 - 1e-6, -1, -10], max: [10, 1, 10] } },
            force: [0, -load, 0],
            distribute: "mass",
          },
        ], // 1 kg/m^2 and 1 N m: the first mode has 3.5 rad/s, critically damped by 7/s. A membrane of 2e4 N/m stretches
        // by 5e-4 at most.
        material: {
          density: 1000,
          thickness: 0.001,
          youngsModulus: 2e7,
          poissonsRatio: 0,
          bendingStiffness: B,
          damping: 7,
        },
      }),
    ],
  });
  const X = lab.positions();
  const events = lab.run(60 * 8);
  if (events.length > 0) throw new Error(`the strip was held: ${JSON.stringify(events)}`);
  const x = lab.positions();
  let drop = 0;
  let reach = 0;
  let count = 0;
  for (let i = 0; i < X.length; i += 3) {
    if (X[i]! < size / 2 - 1e-6) continue;
    drop += X[i + 1]! - x[i + 1]!;
    reach += x[i]! - clamp;
    count++;
  }
  return { drop: drop / count / length, reach: reach / count / length, lab };
}
