/**
 * Cloth triangles (kernel/assembly/constraints/triangle.ts), their rest shape in the (weft, warp) frame of the sheet
 * (Bender et al. 2014, section 4.3).
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { sheetCompliance, sheetModuli, type SheetModuli } from "../scene/materialConstants.ts";
import { continuedTriangleEnergy, continuedTriangleGradient } from "../reference/paperTriangle.ts";
import { solveTriangle, TRIANGLE_MEMORY, triangleEnergy, triangleStiffness } from "../reference/triangle.ts";
import { NONE, rowsOf, type Constraint, type Row } from "./constraint.ts";
import type { TriangleElements } from "./elements.ts";
import { ownShare, type Visits } from "./overRelaxation.ts";

/**
 * Makes triangles. The weft direction is the body's own x axis laid onto each triangle (its own z axis if x is normal
 * to the triangle); warp is perpendicular to it in the triangle's plane.
 * @param X float64[3N] m, undeformed positions in the body's own axes (scaled, not rotated)
 * @param triangles uint32[3n]
 * @param thickness m
 */
export function triangleElements(
  X: Float64Array,
  triangles: Uint32Array,
  moduli: SheetModuli,
  thickness: number,
): TriangleElements {
  const n = triangles.length / 3;
  const dmInverse = new Float64Array(4 * n);
  const volume = new Float64Array(n);
  for (let e = 0; e < n; e++) {
    const [p0, p1, p2] = [0, 1, 2].map((k) => 3 * triangles[3 * e + k]!) as [number, number, number];
    const u = [X[p0]! - X[p2]!, X[p0 + 1]! - X[p2 + 1]!, X[p0 + 2]! - X[p2 + 2]!];
    const v = [X[p1]! - X[p2]!, X[p1 + 1]! - X[p2 + 1]!, X[p1 + 2]! - X[p2 + 2]!];
    const normal = cross(u, v);
    const twiceArea = Math.sqrt(dot(normal, normal));
    if (!(twiceArea > 0)) throw new Error(`triangle ${e}: area must be positive`);
    const unit = normal.map((c) => c / twiceArea);
    // x axis in the plane; below 0.1 its direction there is arbitrary, but z's is not
    let weft = [1 - unit[0]! * unit[0]!, -unit[0]! * unit[1]!, -unit[0]! * unit[2]!];
    if (dot(weft, weft) < 0.01) weft = [-unit[2]! * unit[0]!, -unit[2]! * unit[1]!, 1 - unit[2]! * unit[2]!];
    const length = Math.sqrt(dot(weft, weft));
    weft = weft.map((c) => c / length);
    const warp = cross(unit, weft);
    const a = dot(u, weft);
    const b = dot(v, weft);
    const c = dot(u, warp);
    const d = dot(v, warp); // D_m = (a b; c d)
    const determinant = a * d - b * c;
    dmInverse.set([d / determinant, -b / determinant, -c / determinant, a / determinant], 4 * e);
    volume[e] = (twiceArea / 2) * thickness;
  }
  return { kind: "triangle", particles: triangles, dmInverse, volume, compliance: sheetCompliance(moduli) };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
}

function cross(a: readonly number[], b: readonly number[]): number[] {
  return [a[1]! * b[2]! - a[2]! * b[1]!, a[2]! * b[0]! - a[0]! * b[2]!, a[0]! * b[1]! - a[1]! * b[0]!];
}

function writeTriangle(
  f32: Float32Array,
  at: number,
  e: TriangleElements,
  i: number,
  w: (corner: number) => number,
  visits?: Visits,
): void {
  for (let k = 0; k < 4; k++) f32[at + L.TRI_DM / 4 + 4 * k] = e.dmInverse[4 * i + k]!;
  // K over the three corners, b_2 = -(b_0 + b_1), in float32
  const f = Math.fround;
  const [m00, m01, m10, m11] = [0, 1, 2, 3].map((k) => f(e.dmInverse[4 * i + k]!)) as [number, number, number, number];
  const n0 = f(m00 + m10);
  const n1 = f(m01 + m11);
  const sum = (a: number, b: number, c: number): number => f(f(w(0) * f(a)) + f(f(w(1) * f(b)) + f(w(2) * f(c))));
  const K = [
    sum(m00 * m00, m10 * m10, n0 * n0),
    sum(m00 * m01, m10 * m11, n0 * n1),
    sum(m01 * m01, m11 * m11, n1 * n1),
  ];
  const { s00, s01, s11, s22 } = e.compliance;
  const V = e.volume[i]!;
  const theta = ownShare(triangleStiffness(e, i) * (K[0]! + K[2]!), visits);
  K.forEach((value, k) => (f32[at + L.TRI_K / 4 + 4 * k] = theta * value));
  [s00, s01, s11, s22].forEach((s, k) => (f32[at + L.TRI_S / 4 + 4 * k] = s / V));
}

/**
 * Pads a triangle. Corners 0 and 1 are the dummies (1,0,0) and (0,1,0), corner 2 is (0,0,1): any compliance works,
 * since the dummies have no inverse mass.
 */
function padTriangle(f32: Float32Array, at: number): void {
  f32[at + L.TRI_DM / 4] = 1;
  f32[at + L.TRI_DM / 4 + 12] = 1;
  for (const k of [0, 2, 3]) f32[at + L.TRI_S / 4 + 4 * k] = 1;
}

/** Current compliance: in the scene's proportions, or isotropic. */
function compliance({ read, scene, now, elasticity }: Row): TriangleElements["compliance"] {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const [s00, s01, s11, s22] = rowsOf(read, L.TRI_S, 4).map((s) => s * softer) as unknown as Quadruple;
  if (elasticity === "scaled") return { s00, s01, s11, s22 };
  const nu = now.poissonsRatio!;
  return { s00, s01: -nu * s00, s11: s00, s22: 2 * (1 + nu) * s00 };
}
type Quadruple = [number, number, number, number];

export const triangle: Constraint<TriangleElements> = {
  corners: 3,
  ofSheet: ({ material, X, triangles }) =>
    material.model === "pbd" ? [] : [triangleElements(X, triangles, sheetModuli(material), material.thickness)],
  bytes: L.TRI_BYTES,
  phase: L.KIND_TRIANGLE,
  stage: L.STAGE_TRIANGLES,
  paperPhase: L.KIND_PAPER_TRIANGLE,
  remembers: { rows: L.TRI_KEPT_BYTES / 16, apart: true },
  write: writeTriangle,
  pad: padTriangle,
  twin: {
    memory: TRIANGLE_MEMORY,
    solve: solveTriangle,
    energy: continuedTriangleEnergy,
    gradient: continuedTriangleGradient,
  },
  // the paper's solver continues the energy of a crushed triangle
  energy: (x, e, i, form) => (form === "paper" ? continuedTriangleEnergy : triangleEnergy)(x, e, i),
  remade: (row) => ({
    kind: "triangle",
    particles: NONE,
    dmInverse: rowsOf(row.read, L.TRI_DM, 4),
    volume: Float64Array.of(1),
    compliance: compliance(row),
  }),
  tuned: (e, { scene, elasticity }, { youngsModulus: k, poissonsRatio: nu }) => {
    const softer = scene.youngsModulus! / k!;
    const { s00, s01, s11, s22 } = e.compliance;
    return {
      ...e,
      compliance:
        elasticity === "isotropic"
          ? sheetCompliance({ kWeft: k!, kWarp: k!, kShear: k! / (2 * (1 + nu!)), nuWeft: nu!, nuWarp: nu! })
          : { s00: s00 * softer, s01: s01 * softer, s11: s11 * softer, s22: s22 * softer },
    };
  },
};
