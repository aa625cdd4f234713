/** A bar pulled at both ends until it is still: its stretch and its lateral contraction beside the law's (uniaxial.test.ts says which). */
import { laboratory, type Laboratory } from "./laboratory.ts";

export interface Bar {
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

/** @throws Error if the body was held or an input refused */
export async function stretchBar(bar: Bar): Promise<{ s: number; t: number; ideal: { s: number; t: number }; lab: Laboratory }> {
  const { k, nu, tickHz, substeps, iterations, s, size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } = bar;
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
  const events = lab.run(Math.ceil(Math.max(30 / slow, 0.5) * tickHz));
  if (events.length > 0) throw new Error(`the bar did not go on: ${JSON.stringify(events)}`);
  return { ...stretches(X, lab.positions()), lab, ideal: { s, t: Math.sqrt(1 - nu * (s * s - 1)) } };
}
