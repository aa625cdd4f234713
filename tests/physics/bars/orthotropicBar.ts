/** A bar of orthotropic material under even loads on its ends, and the prediction by its tensor. */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { OrthotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { rotationMatrix } from "../../../server/sim/body/transform.ts";
import { orthotropicCompliance } from "../../../server/sim/scene/materialConstants.ts";
import { laboratory } from "../laboratory.ts";

/**
 * Changes of length along the bar's x, y, z, and of the right angles between y z, x z, x y: eps = (F^T F - I)/2, shears
 * as gamma.
 */
export type SixStrains = readonly [number, number, number, number, number, number];

export type OrthotropicConstants = Pick<
  OrthotropicMaterial,
  "youngsModuli" | "poissonsRatios" | "shearModuli" | "axes"
>;

const PAIRS = [
  [0, 0],
  [1, 1],
  [2, 2],
  [1, 2],
  [0, 2],
  [0, 1],
] as const;

/**
 * Strains under the second Piola-Kirchhoff stress S_xx alone: eps' = S (R^T e_x)(R^T e_x)^T in material axes, eps = R
 * eps' R^T in the bar's. A dead load of nominal stress P on faces normal to x that keeps x straight has S_xx = P/s with
 * the stretch s.
 */
export function strainsUnder(stress: number, m: OrthotropicConstants): SixStrains {
  const R = rotationMatrix(m.axes);
  const r = (i: number, j: number): number => R[3 * i + j]!;
  const [a, b, c, bc, ac, ab, g23, g13, g12] = orthotropicCompliance(m);
  const n = [r(0, 0), r(0, 1), r(0, 2)];
  const s = PAIRS.map(([i, j]) => stress * n[i]! * n[j]!) as number[];
  const e = [
    a * s[0]! + ab * s[1]! + ac * s[2]!,
    ab * s[0]! + b * s[1]! + bc * s[2]!,
    ac * s[0]! + bc * s[1]! + c * s[2]!,
    g23 * s[3]!,
    g13 * s[4]!,
    g12 * s[5]!,
  ];
  const own = [
    [e[0]!, e[5]! / 2, e[4]! / 2],
    [e[5]! / 2, e[1]!, e[3]! / 2],
    [e[4]! / 2, e[3]! / 2, e[2]!],
  ];
  const turned = (i: number, j: number): number =>
    [0, 1, 2].reduce((sum, p) => sum + [0, 1, 2].reduce((t, q) => t + r(i, p) * own[p]![q]! * r(j, q), 0), 0);
  return PAIRS.map(([i, j]) => (i === j ? 1 : 2) * turned(i, j)) as unknown as SixStrains;
}

/** Strains of the affine map that fits the motion best. X must be symmetric about the axes. */
export function fittedStrains(X: Float64Array, x: Float64Array): SixStrains {
  const A = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  const D = [0, 0, 0];
  for (let i = 0; i < X.length; i += 3) {
    for (let c = 0; c < 3; c++) {
      D[c]! += X[i + c]! ** 2;
      for (let r = 0; r < 3; r++) A[r]![c]! += x[i + r]! * X[i + c]!;
    }
  }
  const T = (i: number, j: number): number =>
    [0, 1, 2].reduce((sum, r) => sum + (A[r]![i]! / D[i]!) * (A[r]![j]! / D[j]!), 0);
  return PAIRS.map(([i, j]) => (i === j ? (T(i, i) - 1) / 2 : T(i, j))) as unknown as SixStrains;
}

export interface OrthotropicBar {
  material: OrthotropicConstants;
  /** S_xx, Pa */
  stress: number;
  substeps?: number;
  iterations?: number;
  size?: Vec3;
  cells?: [number, number, number];
}

/** Loads the bar until it rests. */
export async function stretchOrthotropicBar(
  bar: OrthotropicBar,
): Promise<{ measured: SixStrains; predicted: SixStrains }> {
  const { material, stress, substeps = 40, iterations = 4, size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } = bar;
  const predicted = strainsUnder(stress, material);
  const force = stress * Math.sqrt(1 + 2 * predicted[0]) * size[1] * size[2];
  const end = 0.4999 * size[0];
  const slow = Math.sqrt(Math.min(...material.youngsModuli, ...material.shearModuli) / 1000) / size[0];
  const lab = await laboratory({
    substeps,
    iterations,
    bodies: [
      {
        name: "bar",
        kind: "soft",
        mesh: { type: "box", size, cells },
        material: { model: "orthotropic", density: 1000, damping: 2 * slow, ...material },
        loads: [
          { select: { box: { min: [end, -10, -10], max: [10, 10, 10] } }, force: [force, 0, 0] },
          { select: { box: { min: [-10, -10, -10], max: [-end, 10, 10] } }, force: [-force, 0, 0] },
        ],
      },
    ],
  });
  const X = lab.positions();
  const events = lab.run(Math.ceil(Math.max(30 / slow, 0.5) * 60));
  if (events.length) throw new Error(`the bar was held: ${JSON.stringify(events[0])}`);
  return { measured: fittedStrains(X, lab.positions()), predicted };
}
