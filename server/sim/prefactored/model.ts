/**
 * Model of a prefactored sheet (kernel/assembly/prefactored/step.ts): elements, and the factor of
 *   P = M/h^2 + sum over triangles V (a b_weft b_weft^T + b b_warp b_warp^T) + bending
 * one matrix of numbers for x, y and z. P must be at least as stiff as the sheet in every direction, or the solve gains
 * energy. So a = max(C00 + |C01|, 2 C22), and b likewise: half of 2 C22 bounds shear in either direction. Weak bending
 * is bounded by the membrane; stronger bending is part of the matrix, which then has three times as many entries.
 */
import type { BodyTemplate } from "../body/template.ts";
import { bend } from "../constraints/bend.ts";
import type { BendElements, TriangleElements } from "../constraints/elements.ts";
import { triangle } from "../constraints/triangle.ts";
import { blockAt, factorize, type BlockMatrix, type Factor } from "../implicit/factor.ts";
import { addBending, sheetStiffness, type SheetStiffness } from "../implicit/model.ts";
import { graphOf, nestedDissection } from "../implicit/order.ts";
import { shapeOf } from "../reference/triangle.ts";

/** Largest number of particles of a sheet: bounds the time to factor it, and the work of a tick. */
export const MOST_PARTICLES = 16_384;

/** Trace of the bending stiffness over the membrane's up to which the membrane bounds it. */
export const WEAK_BENDING = 0.02;
/** Stiffness of an anchor over the particle's own. It only moves the work from the correction to the solve. */
export const ANCHOR = 10;
/** Largest ratio of bending to membrane stiffness for a vector, over that of their traces. */
const BENDING_BOUND = 3;

/** Factor on a membrane that bounds weak bending, too. @param share trace of bending over that of the membrane */
export const weakened = (share: number): number => 1 + BENDING_BOUND * share;

export interface PrefactoredModel {
  /** float64[n] N/m: mass / h^2; 0 for fixed particles */
  inertia: Float64Array;
  triangles: TriangleElements;
  stiffness: SheetStiffness;
  bends: BendElements | undefined;
  factor: Factor;
}

/**
 * @param h length of a substep, s
 * @param anchors particles that rigid attachments hold in space: the matrix holds them, too, so that their corrections
 * do not move each other (the correction is exact with any such stiffness: augmented Lagrangian)
 */
export function prefactoredModel(
  body: Pick<BodyTemplate, "elements" | "mass" | "pinned" | "positions" | "own" | "particleCount">,
  h: number,
  anchors: readonly number[] = [],
): PrefactoredModel {
  const { elements, particleCount: count } = body;
  const triangles = elements.find((e): e is TriangleElements => e.kind === "triangle")!;
  const bends = elements.find((e): e is BendElements => e.kind === "bend");
  const stiffness = sheetStiffness(triangles);
  const inertia = body.mass.map((m, i) => (body.pinned[i] ? 0 : m / (h * h)));
  const bounds = boundsOf(stiffness);
  const share = bendingShare(elements);
  const weak = share <= WEAK_BENDING;
  const graph = graphOf(count, [
    { particles: triangles.particles, corners: triangle.corners },
    ...(bends && !weak ? [{ particles: bends.particles, corners: bend.corners }] : []),
  ]);
  const matrix: BlockMatrix = { ...graph, size: 1, values: new Float64Array(graph.columns.length) };
  inertia.forEach((value, i) => (matrix.values[blockAt(matrix, i, i)] = value));
  addTriangles(matrix, triangles, bounds, weak ? weakened(share) : 1);
  if (bends && !weak) addBending(matrix, bends, 1);
  for (const i of anchors) matrix.values[blockAt(matrix, i, i)]! *= 1 + ANCHOR;
  const order = nestedDissection(graph, body.own ?? body.positions, (i) => inertia[i]! > 0);
  return { inertia, triangles, stiffness, bends, factor: factorize(matrix, order) };
}

/** Trace of the bending stiffness over the membrane's. */
export function bendingShare(elements: BodyTemplate["elements"]): number {
  const triangles = elements.find((e): e is TriangleElements => e.kind === "triangle")!;
  const bends = elements.find((e): e is BendElements => e.kind === "bend");
  return bends ? bendingTrace(bends) / membraneTrace(triangles, boundsOf(sheetStiffness(triangles))) : 0;
}

interface Bounds {
  weft: number;
  warp: number;
}

function boundsOf({ c00, c01, c11, c22 }: SheetStiffness): Bounds {
  return { weft: Math.max(c00 + Math.abs(c01), 2 * c22), warp: Math.max(c11 + Math.abs(c01), 2 * c22) };
}

function addTriangles(matrix: BlockMatrix, triangles: TriangleElements, { weft, warp }: Bounds, factor: number): void {
  for (let e = 0; e < triangles.volume.length; e++) {
    const b = shapeOf(triangles, e);
    const V = factor * triangles.volume[e]!;
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        const at = blockAt(matrix, triangles.particles[3 * e + i]!, triangles.particles[3 * e + j]!);
        matrix.values[at]! += V * (weft * b[i]![0] * b[j]![0] + warp * b[i]![1] * b[j]![1]);
      }
    }
  }
}

function membraneTrace(triangles: TriangleElements, { weft, warp }: Bounds): number {
  let trace = 0;
  triangles.volume.forEach((V, e) =>
    shapeOf(triangles, e).forEach(([a, b]) => (trace += V * (weft * a * a + warp * b * b))),
  );
  return trace;
}

function bendingTrace({ K, alpha }: BendElements): number {
  return K.reduce((sum, k, j) => sum + (k * k) / alpha[j >> 2]!, 0);
}
