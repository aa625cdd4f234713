/**
 * Saint Venant-Kirchhoff tetrahedra (kernel/assembly/constraints/tetrahedron.ts): isotropic, orthotropic, plastic. Each
 * element has D_m^-1 and V (Bender et al. 2014, eq 9), the constant tensor K, and an isotropic (in K's axes) or
 * orthotropic compliance; a plastic one also plastic strain and flow.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Plasticity, SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import { rotationMatrix } from "../body/transform.ts";
import { orthotropicTetEnergy, tetEnergy } from "../energy/tetrahedra.ts";
import {
  isotropicCompliance,
  lameCoefficients,
  MOST_PLASTIC_STRAIN,
  orthotropicCompliance,
  type OrthotropicCompliance,
} from "../scene/materialConstants.ts";
import { largestModulus, orthotropicEnergy, orthotropicGradient, solveOrthotropic } from "../reference/orthotropic.ts";
import {
  ENTRIES,
  solveTetrahedron,
  tetrahedronEnergy,
  tetrahedronGradient,
  TETRAHEDRON_MEMORY,
} from "../reference/tetrahedron.ts";
import { NONE, rowsOf, type Constraint, type Material, type Row } from "./constraint.ts";
import type { OrthotropicTetElements, PlasticTetElements, TetElements, TetShapes } from "./elements.ts";
import { eigenvectors } from "./eigenvectors.ts";
import { ownShare, type Visits } from "./overRelaxation.ts";

/**
 * @param X float64[3N] m, undeformed positions
 * @param tets uint32[4n], positively oriented: det(X0-X3, X1-X3, X2-X3) > 0
 * @param lame mu, lambda in Pa
 */
export function tetElements(X: Float64Array, tets: Uint32Array, lame: { mu: number; lambda: number }): TetElements {
  return { kind: "tet", ...tetShapes(X, tets), mu: lame.mu, lambda: lame.lambda };
}

/**
 * Orthotropic tetrahedra. D_m is taken in the material's axes, so that F = D_s D_m^-1 maps them to the world and F^T F
 * - I is in them; nothing is rotated at run time.
 * @param axes rotation vector from the body's own axes to the material's, degrees
 */
export function orthotropicElements(
  X: Float64Array,
  tets: Uint32Array,
  compliance: OrthotropicCompliance,
  axes?: Vec3,
): OrthotropicTetElements {
  return { kind: "tet-ortho", ...tetShapes(inAxes(X, axes), tets), compliance };
}

/** Elastoplastic tetrahedra, initially without plastic strain. */
export function plasticElements(
  X: Float64Array,
  tets: Uint32Array,
  compliance: OrthotropicCompliance,
  flow: Plasticity,
  axes?: Vec3,
): PlasticTetElements {
  return {
    kind: "tet-plastic",
    ...tetShapes(inAxes(X, axes), tets),
    compliance,
    flow,
    plasticStrain: new Float64Array((6 * tets.length) / 4),
  };
}

/** R^T X: coordinates along the material's axes, the columns of R. */
function inAxes(X: Float64Array, axes: Vec3 | undefined): Float64Array {
  const R = rotationMatrix(axes);
  const out = new Float64Array(X.length);
  for (let i = 0; i < X.length; i += 3)
    for (let r = 0; r < 3; r++) out[i + r] = R[r]! * X[i]! + R[3 + r]! * X[i + 1]! + R[6 + r]! * X[i + 2]!;
  return out;
}

function tetShapes(X: Float64Array, tets: Uint32Array): Omit<TetShapes, "kind"> {
  const n = tets.length / 4;
  const dmInverse = new Float64Array(9 * n);
  const volume = new Float64Array(n);
  for (let e = 0; e < n; e++) {
    const p3 = 3 * tets[4 * e + 3]!;
    const D: number[] = [];
    for (let row = 0; row < 3; row++)
      for (let column = 0; column < 3; column++) D.push(X[3 * tets[4 * e + column]! + row]! - X[p3 + row]!);
    const [a, b, c, d, f, g, h, i, j] = D as [number, number, number, number, number, number, number, number, number];
    const determinant = a * (f * j - g * i) - b * (d * j - g * h) + c * (d * i - f * h);
    if (!(determinant > 0)) throw new Error(`tetrahedron ${e}: volume ${determinant / 6} m^3 must be positive`);
    const cofactors = [
      f * j - g * i,
      c * i - b * j,
      b * g - c * f,
      g * h - d * j,
      a * j - c * h,
      c * d - a * g,
      d * i - f * h,
      b * h - a * i,
      a * f - b * d,
    ];
    for (let k = 0; k < 9; k++) dmInverse[9 * e + k] = cofactors[k]! / determinant;
    volume[e] = determinant / 6;
  }
  return { particles: tets, dmInverse, volume };
}

function writeTet(
  f32: Float32Array,
  at: number,
  e: TetElements,
  i: number,
  w: (corner: number) => number,
  visits?: Visits,
): void {
  const { rows, K, unit, trace } = inPrincipalAxes(e, i, w);
  rows.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  const theta = ownShare((e.lambda + 2 * e.mu) * e.volume[i]! * trace, visits);
  K.forEach((value, k) => (f32[at + L.TET_K / 4 + 4 * k] = theta * value));
  // isotropic: mu = k/(2(1+nu)) and lambda = k nu/((1+nu)(1-2nu)) give k and nu back
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu);
  const nu = e.lambda / (2 * (e.lambda + e.mu));
  const V = e.volume[i]!;
  [unit / (k * V), (-nu * unit) / (k * V)].forEach((s, row) => (f32[at + L.TET_S / 4 + 4 * row] = s));
  f32[at + L.TET_UNIT / 4] = unit;
}

/**
 * Lower bound of the unit, 1/s^2. The unit is 1/tr K, except for very soft, large or fixed elements, where aT S in that
 * unit would exceed 1/(2^-10 s^2 h^2). The cube of that must stay within float32: for h = 0.1 ms it is 10^35.
 * Multipliers are then so small that theta of tetrahedron.ts is 1 to the last bit.
 */
const LEAST_INERTIA = 2 ** -10;

/**
 * An isotropic element in the principal axes of K = sum_i w_i b_i b_i^T, where W of tetrahedron.ts has the most zeros:
 * F becomes F R, with R the axes. Its strains, multipliers and applied corrections rotate in the same way, R^T [L] R
 * and A R; x moves as before.
 * @param w inverse mass of a corner
 * @returns rows of D_m^-1 R; K times the unit; the unit of multipliers, kg m^2; tr K; R row by row
 */
export function inPrincipalAxes(
  e: TetElements,
  i: number,
  w: (corner: number) => number,
): { rows: number[]; K: number[]; unit: number; trace: number; axes: number[] } {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  const [k00, k11, k22, k12, k02, k01] = tensorK(B, w) as [number, number, number, number, number, number];
  const trace = k00 + k11 + k22;
  const { values, axes } = eigenvectors([k00, k01, k02, k01, k11, k12, k02, k12, k22]);
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu);
  const unit = 1 / Math.max(trace, LEAST_INERTIA / (k * e.volume[i]!));
  const rows = [0, 1, 2].flatMap((r) =>
    [0, 1, 2].map((c) => B[3 * r]! * axes[c]! + B[3 * r + 1]! * axes[3 + c]! + B[3 * r + 2]! * axes[6 + c]!),
  );
  return { rows, K: values.map((value) => Math.max(0, value * unit)), unit, trace, axes };
}

/** K (00 11 22 12 02 01) of rows of D_m^-1. */
function tensorK(B: Float64Array, w: (corner: number) => number): number[] {
  const rows = [0, 1, 2].map((corner) => [B[3 * corner]!, B[3 * corner + 1]!, B[3 * corner + 2]!]);
  rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
  return ENTRIES.map(([a, b]) => rows.reduce((sum, row, corner) => sum + w(corner) * row[a]! * row[b]!, 0));
}

/** Byte offsets of the nine compliances. */
const COMPLIANCES = [L.TET_ORTHO_S, L.TET_S_COUPLING, L.TET_S_SHEAR].flatMap((offset) => [
  offset,
  offset + 16,
  offset + 32,
]);

function writeOrthotropic(
  f32: Float32Array,
  at: number,
  e: OrthotropicTetElements | PlasticTetElements,
  i: number,
  w: (corner: number) => number,
  visits?: Visits,
): void {
  writeShape(f32, at, e, i, w, (trace) => ownShare(largestModulus(e) * e.volume[i]! * trace, visits));
  e.compliance.forEach((s, k) => (f32[at + COMPLIANCES[k]! / 4] = s / e.volume[i]!));
}

function writePlastic(
  f32: Float32Array,
  at: number,
  e: PlasticTetElements,
  i: number,
  w: (corner: number) => number,
  visits?: Visits,
): void {
  writeOrthotropic(f32, at, e, i, w, visits);
  for (let k = 0; k < 6; k++) f32[at + L.TET_PLASTIC_STRAIN / 4 + 4 * k] = e.plasticStrain[6 * i + k]!;
  [e.flow.yield, e.flow.creep, Math.min(e.flow.max, MOST_PLASTIC_STRAIN)].forEach(
    (value, k) => (f32[at + L.TET_FLOW / 4 + 4 * k] = value),
  );
}

/**
 * Writes D_m^-1 and K of materials with their own axes.
 * @param share factor of K, by its trace
 */
export function writeShape(
  f32: Float32Array,
  at: number,
  e: TetShapes,
  i: number,
  w: (corner: number) => number,
  share: (trace: number) => number = () => 1,
): void {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  B.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  const K = tensorK(B, w);
  const factor = share(K[0]! + K[1]! + K[2]!);
  K.forEach((value, k) => (f32[at + L.TET_K / 4 + 4 * k] = factor * value));
}

/** Pads a tetrahedron: any compliance works, since the dummies have no inverse mass. */
function padTet(f32: Float32Array, at: number): void {
  padShape(f32, at);
  f32[at + L.TET_S / 4] = f32[at + L.TET_UNIT / 4] = 1;
}

/** The dummies' unit tetrahedron, undeformed. */
export function padShape(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
}

function padOrthotropic(f32: Float32Array, at: number): void {
  padShape(f32, at);
  for (const [k, offset] of COMPLIANCES.entries()) f32[at + offset / 4] = k < 3 || k > 5 ? 1 : 0;
}

/** Pads a plastic tetrahedron: it is never deformed, so it never flows. */
function padPlastic(f32: Float32Array, at: number): void {
  padOrthotropic(f32, at);
  f32[at + L.TET_FLOW / 4] = 1;
}

/**
 * Compliance of a material that is linear in Green's strain.
 * @returns undefined for other materials
 */
function complianceOf(m: SoftMaterial): OrthotropicCompliance | undefined {
  if (m.model === undefined || m.model === "stvk") return isotropicCompliance(m);
  return m.model === "orthotropic" ? orthotropicCompliance(m) : undefined;
}

/** Compliance of the scene with the current moduli, in the order of OrthotropicCompliance. */
function tunedCompliance({ read, scene, now, elasticity }: Row): OrthotropicCompliance {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const was = [L.TET_ORTHO_S, L.TET_S_COUPLING, L.TET_S_SHEAR].flatMap((offset) => [...rowsOf(read, offset, 3)]);
  if (elasticity === "scaled") return was.map((s) => s * softer) as unknown as OrthotropicCompliance;
  const s = was[0]! * softer;
  const nu = now.poissonsRatio!;
  return [s, s, s, -nu * s, -nu * s, -nu * s, 2 * (1 + nu) * s, 2 * (1 + nu) * s, 2 * (1 + nu) * s];
}

/** Current elements in float64, for the twin. */
function tunedGeneral<E extends OrthotropicTetElements | PlasticTetElements>(
  e: E,
  { scene, elasticity }: Pick<Row, "scene" | "elasticity">,
  now: BodyTuning,
): E {
  const softer = scene.youngsModulus! / now.youngsModulus!;
  const compliance =
    elasticity === "isotropic"
      ? isotropicCompliance(moduliOf(now))
      : (e.compliance.map((s) => s * softer) as unknown as OrthotropicCompliance);
  return { ...e, compliance };
}

/** @param unit of mass, kg */
const moduliOf = (m: Material, unit = 1): { youngsModulus: number; poissonsRatio: number } => ({
  youngsModulus: m.youngsModulus! / unit,
  poissonsRatio: m.poissonsRatio!,
});

const shared = {
  corners: 4,
  stage: L.STAGE_TETRAHEDRA,
  remembers: { rows: L.TET_KEPT_BYTES / 16, apart: true as const },
  settles: true,
};
const generalTwin = {
  memory: TETRAHEDRON_MEMORY,
  solve: solveOrthotropic,
  energy: orthotropicEnergy,
  gradient: orthotropicGradient,
};

export const tet: Constraint<TetElements> = {
  ...shared,
  ofSolid: ({ material: m, X, tets }) =>
    (m.model === undefined || m.model === "stvk") && !m.plasticity ? [tetElements(X, tets, lameCoefficients(m))] : [],
  bytes: L.TET_BYTES,
  phase: L.KIND_TET,
  paperPhase: L.KIND_PAPER_TET,
  write: writeTet,
  pad: padTet,
  twin: {
    memory: TETRAHEDRON_MEMORY,
    solve: solveTetrahedron,
    energy: tetrahedronEnergy,
    gradient: tetrahedronGradient,
  },
  energy: tetEnergy,
  remade: ({ read, scene, now, massUnit }) => ({
    kind: "tet",
    particles: NONE,
    dmInverse: rowsOf(read, L.TET_DM, 9),
    volume: Float64Array.of(read(L.TET_UNIT) / read(L.TET_S) / moduliOf(scene, massUnit).youngsModulus),
    ...lameCoefficients(moduliOf(now, massUnit)),
  }),
  tuned: (e, _, now) => ({ ...e, ...lameCoefficients(moduliOf(now)) }),
};

export const orthotropicTet: Constraint<OrthotropicTetElements> = {
  ...shared,
  ofSolid: ({ material: m, X, tets }) =>
    m.model === "orthotropic" && !m.plasticity ? [orthotropicElements(X, tets, orthotropicCompliance(m), m.axes)] : [],
  bytes: L.TET_ORTHO_BYTES,
  phase: L.KIND_TET_ORTHO,
  paperPhase: L.KIND_PAPER_TET_ORTHO,
  write: writeOrthotropic,
  pad: padOrthotropic,
  twin: generalTwin,
  energy: orthotropicTetEnergy,
  remade: (row) => ({
    kind: "tet-ortho",
    particles: NONE,
    dmInverse: rowsOf(row.read, L.TET_DM, 9),
    volume: Float64Array.of(1),
    compliance: tunedCompliance(row),
  }),
  tuned: tunedGeneral,
};

export const plasticTet: Constraint<PlasticTetElements> = {
  ...shared,
  ofSolid: ({ material: m, X, tets }) => {
    const compliance = complianceOf(m);
    const plasticity = compliance && (m as { plasticity?: Plasticity }).plasticity;
    if (!plasticity) return [];
    return [plasticElements(X, tets, compliance, plasticity, m.model === "orthotropic" ? m.axes : undefined)];
  },
  bytes: L.TET_PLASTIC_BYTES,
  phase: L.KIND_TET_PLASTIC,
  paperPhase: L.KIND_PAPER_TET_PLASTIC,
  state: { offset: L.TET_PLASTIC_STRAIN, rows: 6 },
  body: L.TET_BODY,
  after: L.KIND_PLASTIC,
  write: writePlastic,
  pad: padPlastic,
  twin: generalTwin,
  energy: orthotropicTetEnergy,
  remade: (row) => {
    const [, creep, max] = rowsOf(row.read, L.TET_FLOW, 3);
    return {
      kind: "tet-plastic",
      particles: NONE,
      dmInverse: rowsOf(row.read, L.TET_DM, 9),
      volume: Float64Array.of(1),
      compliance: tunedCompliance(row),
      flow: { yield: row.now.yield!, creep: creep!, max: max! },
      plasticStrain: new Float64Array(6),
    };
  },
  tuned: tunedGeneral,
};
