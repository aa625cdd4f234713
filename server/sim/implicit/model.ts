/**
 * Model of a body for its implicit step (kernel/assembly/implicit/step.ts): masses,
 * elements, step, and the factor of the matrix at rest that all its steps share,
 *   A = c M + (1 + 3 tau / 2h) K(rest),   c = 2.25 (1 + 2 h d / 3) / h^2,   d the damping in 1/s, tau the material's
 *   retardation time in s
 * Solids have blocks of 3 x 3, which the step rotates with the particles. A sheet has no stiffness across its plane at
 * rest, but gets some as soon as it is pulled. So its factor consists of numbers, the same for x, y and z: c M + the
 * weighted Laplacian of its triangles, plus bending if it is large enough. Bending stencils reach twice as far, and
 * make the factor three times as large.
 */
import type { BodyTemplate } from "../body/template.ts";
import { bend } from "../constraints/bend.ts";
import { CONSTRAINTS } from "../constraints/kinds.ts";
import type { BendElements, TetElements, TriangleElements } from "../constraints/elements.ts";
import { shapeOf } from "../reference/triangle.ts";
import { blockAt, factorize, type BlockMatrix, type Factor } from "./factor.ts";
import { graphOf, nestedDissection, type Graph } from "./order.ts";

/** Longest step, s: with it BDF2 lowers a frequency of 10 Hz by 0.8 %, and of 30 Hz by 8 %. */
const LONGEST_STEP = 1 / 240;
/**
 * Largest remaining part of the preconditioned residual. With more, slow modes keep energy that they should lose (and a
 * cloth hangs too long).
 */
const SOLID_TOLERANCE = 0.1;
const SHEET_TOLERANCE = 0.05;

/** Share of bending below which the factor leaves it out: it then barely changes the number of iterations. */
const LEAST_BENDING = 0.1;

/** Plane stress, Pa: stress = (c00 c01 0; c01 c11 0; 0 0 c22) (weft, warp, shear strain). */
export interface SheetStiffness {
  c00: number;
  c01: number;
  c11: number;
  c22: number;
}

/** Bending as rows of numbers, N/m, the same for x, y and z: K^T K / alpha, rounded to float32. */
export interface Stencils extends Graph {
  values: Float32Array;
}

export interface ImplicitModel {
  count: number;
  /** float64[n] kg; 0 for fixed particles */
  mass: Float64Array;
  /** Steps per tick, and their length in s. */
  steps: number;
  h: number;
  /** c above, 1/s^2, and 1/(1 + 2 h d / 3) */
  coefficient: number;
  keep: number;
  /** Retardation time of the material, s (kernel/assembly/implicit/viscosity.ts). */
  retardationTime: number;
  /** (1 + h d)/h^2, for an implicit Euler step, 1/s^2 */
  euler: number;
  tolerance: number;
  tets: TetElements | undefined;
  triangles: TriangleElements | undefined;
  stiffness: SheetStiffness;
  bends: BendElements | undefined;
  stencils: Stencils | undefined;
  factor: Factor;
  /**
   * float64[n] N/m: initial contact stiffness at each particle. It is the mean of the particle's diagonal entries of A;
   * for a sheet, the entry across its plane.
   */
  diagonal: Float64Array;
}

/** Steps per tick of an implicit body, unless its caller chooses them. */
export const stepsOf = (tickHz: number): number => Math.ceil(1 / (tickHz * LONGEST_STEP) - 1e-9);

/** Constants of a step of h seconds with a damping of d 1/s: `keep`, `coefficient` and `euler` of the model. */
export function stepConstants(h: number, d: number): Pick<ImplicitModel, "keep" | "coefficient" | "euler"> {
  const keep = 1 / (1 + (2 * h * d) / 3);
  return { keep, coefficient: 2.25 / (h * h * keep), euler: (1 + h * d) / (h * h) };
}

/** @param steps per tick, if given */
export function implicitModel(
  body: Pick<
    BodyTemplate,
    "elements" | "mass" | "pinned" | "positions" | "own" | "damping" | "retardationTime" | "particleCount"
  >,
  tickHz: number,
  steps = stepsOf(tickHz),
): ImplicitModel {
  const { elements, particleCount: count } = body;
  const h = 1 / (tickHz * steps);
  const of = <K extends "tet" | "triangle" | "bend">(
    kind: K,
  ): Extract<BodyTemplate["elements"][number], { kind: K }> | undefined =>
    elements.find((e): e is Extract<BodyTemplate["elements"][number], { kind: K }> => e.kind === kind);
  const tets = of("tet");
  const triangles = of("triangle");
  const bends = of("bend");
  const { keep, coefficient, euler } = stepConstants(h, body.damping);
  const stiffness = sheetStiffness(triangles);
  const mass = body.mass.map((m, i) => (body.pinned[i] ? 0 : m));
  const stiff = bends !== undefined && bendingShare(bends, triangles, stiffness) > LEAST_BENDING;
  const graph = graphOf(
    count,
    elements
      .filter((e) => e !== bends || stiff)
      .map((e) => ({ particles: e.particles, corners: CONSTRAINTS[e.kind].corners })),
  );
  const size = tets ? 3 : 1;
  const matrix: BlockMatrix = { ...graph, size, values: new Float64Array(size * size * graph.columns.length) };
  const { retardationTime } = body;
  const stiffening = 1 + (1.5 * retardationTime) / h;
  addMasses(matrix, mass, coefficient);
  if (tets) addTetrahedra(matrix, tets, stiffening);
  if (triangles) addTriangles(matrix, triangles, stiffness, stiffening);
  if (bends && stiff) addBending(matrix, bends, stiffening);
  const order = nestedDissection(graph, body.own ?? body.positions, (i) => mass[i]! > 0);
  return {
    count,
    mass,
    steps,
    h,
    coefficient,
    keep,
    retardationTime,
    euler,
    tolerance: tets ? SOLID_TOLERANCE : SHEET_TOLERANCE,
    tets,
    triangles,
    stiffness,
    bends,
    stencils: bends && stencilsOf(count, bends),
    factor: factorize(matrix, order),
    diagonal: tets ? diagonalOf(matrix, count) : resistanceAcross(mass, coefficient, bends),
  };
}

function diagonalOf(matrix: BlockMatrix, count: number): Float64Array {
  const { size, values } = matrix;
  return Float64Array.from({ length: count }, (_, i) => {
    const at = size * size * blockAt(matrix, i, i);
    let sum = 0;
    for (let r = 0; r < size; r++) sum += values[at + (size + 1) * r]!;
    return sum / size;
  });
}

/**
 * c M and bending, on the diagonal.
 * Tried: the membrane's stiffness, which acts in the plane. Folds then throw each other about: a sheet of 800 triangles
 * pulled by three grabs took 488 iterations a tick and 60 impulses after the solve instead of 110 and 7. With 0.3 of c
 * M it takes 84 and 11, with 4 times as much 158 and 9.
 */
function resistanceAcross(mass: Float64Array, coefficient: number, bends: BendElements | undefined): Float64Array {
  const diagonal = mass.map((m) => coefficient * m);
  bends?.particles.forEach((particle, j) => (diagonal[particle]! += bends.K[j]! ** 2 / bends.alpha[j >> 2]!));
  return diagonal;
}

export function sheetStiffness(triangles: TriangleElements | undefined): SheetStiffness {
  if (!triangles) return { c00: 0, c01: 0, c11: 0, c22: 0 };
  const { s00, s01, s11, s22 } = triangles.compliance;
  const determinant = s00 * s11 - s01 * s01;
  return { c00: s11 / determinant, c01: -s01 / determinant, c11: s00 / determinant, c22: 1 / s22 };
}

function addMasses(matrix: BlockMatrix, mass: Float64Array, coefficient: number): void {
  mass.forEach((m, i) => {
    const at = matrix.size * matrix.size * blockAt(matrix, i, i);
    for (let r = 0; r < matrix.size; r++) matrix.values[at + 4 * r] = coefficient * m;
  });
}

/**
 * V (mu (b_i.b_j 1 + b_j b_i^T) + lambda b_i b_j^T): Hooke's law, to which Saint Venant-Kirchhoff's reduces at rest.
 */
function addTetrahedra(matrix: BlockMatrix, tets: TetElements, stiffening: number): void {
  const { particles, dmInverse, volume } = tets;
  const [mu, lambda] = [stiffening * tets.mu, stiffening * tets.lambda];
  const b = new Float64Array(12);
  for (let e = 0; e < volume.length; e++) {
    b.set(dmInverse.subarray(9 * e, 9 * e + 9));
    for (let r = 0; r < 3; r++) b[9 + r] = -b[r]! - b[3 + r]! - b[6 + r]!;
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++) {
        const at = 9 * blockAt(matrix, particles[4 * e + i]!, particles[4 * e + j]!);
        const dot = b[3 * i]! * b[3 * j]! + b[3 * i + 1]! * b[3 * j + 1]! + b[3 * i + 2]! * b[3 * j + 2]!;
        for (let r = 0; r < 3; r++) {
          for (let c = 0; c < 3; c++) {
            matrix.values[at + 3 * r + c]! +=
              volume[e]! *
              (mu * ((r === c ? dot : 0) + b[3 * j + r]! * b[3 * i + c]!) + lambda * b[3 * i + r]! * b[3 * j + c]!);
          }
        }
      }
    }
  }
}

function addTriangles(
  matrix: BlockMatrix,
  triangles: TriangleElements,
  stiffness: SheetStiffness,
  stiffening: number,
): void {
  const [c00, c11] = [stiffening * stiffness.c00, stiffening * stiffness.c11];
  for (let e = 0; e < triangles.volume.length; e++) {
    const b = shapeOf(triangles, e);
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 3; j++) {
        const at = blockAt(matrix, triangles.particles[3 * e + i]!, triangles.particles[3 * e + j]!);
        matrix.values[at]! += triangles.volume[e]! * (c00 * b[i]![0] * b[j]![0] + c11 * b[i]![1] * b[j]![1]);
      }
    }
  }
}

/** Trace of the bending stiffness over that of the membrane's weighted Laplacian. */
function bendingShare(
  { K, alpha }: BendElements,
  triangles: TriangleElements | undefined,
  { c00, c11 }: SheetStiffness,
): number {
  let bending = 0;
  let membrane = 0;
  for (let e = 0; e < alpha.length; e++) for (let j = 4 * e; j < 4 * e + 4; j++) bending += (K[j]! * K[j]!) / alpha[e]!;
  triangles?.volume.forEach((V, e) =>
    shapeOf(triangles, e).forEach(([a, b]) => (membrane += V * (c00 * a * a + c11 * b * b))),
  );
  return bending / membrane;
}

function stencilsOf(count: number, bends: BendElements): Stencils {
  const graph = graphOf(count, [{ particles: bends.particles, corners: bend.corners }]);
  const values = new Float64Array(graph.columns.length);
  addBending({ ...graph, size: 1, values }, bends, 1);
  return { ...graph, values: Float32Array.from(values) };
}

export function addBending(matrix: BlockMatrix, { particles, K, alpha }: BendElements, stiffening: number): void {
  for (let e = 0; e < alpha.length; e++) {
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++)
        matrix.values[blockAt(matrix, particles[4 * e + i]!, particles[4 * e + j]!)]! +=
          (stiffening * (K[4 * e + i]! * K[4 * e + j]!)) / alpha[e]!;
    }
  }
}
