/**
 * Model of a prefactored body (kernel/assembly/prefactored/step.ts): elements, and the factor of
 *   P = M/h^2 + sum over triangles V (a b_weft b_weft^T + b b_warp b_warp^T) + bending
 * one matrix of numbers for x, y and z. P must be at least as stiff as the sheet in every direction, or the solve gains
 * energy. So a = max(C00 + |C01|, 2 C22), and b likewise: half of 2 C22 bounds shear in either direction. Weak bending
 * is bounded by the membrane; stronger bending is part of the matrix, which then has three times as many entries.
 * Solids:
 *   P = M/h^2 + BOUND sum over tetrahedra V (3 lambda + 2 mu) sum_j b_j b_j^T
 */
import type { BodyTemplate } from "../body/template.ts";
import { bend } from "../constraints/bend.ts";
import type { BendElements, TetElements, TriangleElements } from "../constraints/elements.ts";
import { tet } from "../constraints/tetrahedra.ts";
import { triangle } from "../constraints/triangle.ts";
import { blockAt, factorize, type BlockMatrix, type Factor } from "../implicit/factor.ts";
import { addBending, sheetStiffness, type SheetStiffness } from "../implicit/model.ts";
import { graphOf, nestedDissection } from "../implicit/order.ts";
import { shapeOf as shapeOfTet } from "../reference/tetrahedron.ts";
import { shapeOf } from "../reference/triangle.ts";

/**
 * Elastic forces of solids, and of sheets that can touch nothing, are taken at xPrev + LEAD of the substep's motion,
 * which damps a mode of w rad/s by the ratio LEAD w h/2. The step is then stable with BOUND of the Laplacian that
 * bounds the stiffness.
 */
const LEAD = 0.1;
export const BOUND = 0.5;
/** The same of such sheets. Less allows for less stretch (kernel/assembly/prefactored/step.ts). */
export const ALONE_BOUND = 0.85;

/** Largest number of particles of a body: bounds the time to factor it, and the work of a tick. */
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
  triangles: TriangleElements | undefined;
  stiffness: SheetStiffness;
  bends: BendElements | undefined;
  tets: TetElements | undefined;
  factor: Factor;
  /** Share of the substep's motion after which the elastic forces are taken. */
  lead: number;
  /** Membrane's stiffness in the matrix over that which bounds it. */
  bound: number;
  /** Mean of P's diagonal over m/h^2. */
  stiffer: number;
}

type WithElements = Pick<BodyTemplate, "elements">;
const trianglesOf = ({ elements }: WithElements): TriangleElements | undefined =>
  elements.find((e): e is TriangleElements => e.kind === "triangle");
const bendsOf = ({ elements }: WithElements): BendElements | undefined =>
  elements.find((e): e is BendElements => e.kind === "bend");

/**
 * @param h length of a substep, s
 * @param anchors particles that rigid attachments hold in space: the matrix holds them, too, so that their corrections
 * do not move each other (the correction is exact with any such stiffness: augmented Lagrangian)
 * @param touches whether the body may touch anything
 */
export function prefactoredModel(
  body: Pick<BodyTemplate, "elements" | "mass" | "pinned" | "positions" | "own" | "particleCount">,
  h: number,
  anchors: readonly number[] = [],
  touches = true,
): PrefactoredModel {
  const count = body.particleCount;
  const triangles = trianglesOf(body);
  const bends = bendsOf(body);
  const tets = body.elements.find((e): e is TetElements => e.kind === "tet");
  const stiffness = sheetStiffness(triangles);
  const inertia = body.mass.map((m, i) => (body.pinned[i] ? 0 : m / (h * h)));
  const share = bendingShare(body);
  const weak = share <= WEAK_BENDING;
  const bound = tets || touches ? 1 : ALONE_BOUND;
  const graph = graphOf(count, [
    ...(triangles ? [{ particles: triangles.particles, corners: triangle.corners }] : []),
    ...(bends && !weak ? [{ particles: bends.particles, corners: bend.corners }] : []),
    ...(tets ? [{ particles: tets.particles, corners: tet.corners }] : []),
  ]);
  const matrix: BlockMatrix = { ...graph, size: 1, values: new Float64Array(graph.columns.length) };
  inertia.forEach((value, i) => (matrix.values[blockAt(matrix, i, i)] = value));
  if (triangles) addTriangles(matrix, triangles, boundsOf(stiffness), bound * (weak ? weakened(share) : 1));
  if (bends && !weak) addBending(matrix, bends, 1);
  if (tets) addTetrahedra(matrix, tets);
  for (const i of anchors) matrix.values[blockAt(matrix, i, i)]! *= 1 + ANCHOR;
  const order = nestedDissection(graph, body.own ?? body.positions, (i) => inertia[i]! > 0);
  const free = [...order.filter((i) => inertia[i]! > 0)];
  const ratios = free.map((i) => matrix.values[blockAt(matrix, i, i)]! / inertia[i]!);
  const stiffer = ratios.reduce((sum, ratio) => sum + ratio, 0) / Math.max(1, ratios.length);
  const lead = tets || !touches ? LEAD : 1;
  return { inertia, triangles, stiffness, bends, tets, factor: factorize(matrix, order), lead, bound, stiffer };
}

/** Trace of the bending stiffness over the membrane's. */
export function bendingShare(body: WithElements): number {
  const triangles = trianglesOf(body);
  const bends = bendsOf(body);
  return triangles && bends ? bendingTrace(bends) / membraneTrace(triangles, boundsOf(sheetStiffness(triangles))) : 0;
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

function addTetrahedra(matrix: BlockMatrix, tets: TetElements): void {
  const k = BOUND * (3 * tets.lambda + 2 * tets.mu);
  tets.volume.forEach((V, e) => {
    const b = shapeOfTet(tets, e);
    for (let i = 0; i < 4; i++)
      for (let j = 0; j < 4; j++) {
        const at = blockAt(matrix, tets.particles[4 * e + i]!, tets.particles[4 * e + j]!);
        matrix.values[at]! += V * k * (b[i]![0] * b[j]![0] + b[i]![1] * b[j]![1] + b[i]![2] * b[j]![2]);
      }
  });
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
