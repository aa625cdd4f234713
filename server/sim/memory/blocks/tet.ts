/**
 * Tetrahedron rows: D_m^-1, the constant tensor K and the compliance, isotropic (in K's axes) or orthotropic; plastic
 * strain and flow (kernel/assembly/constraints/tetrahedron.ts).
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { OrthotropicTetElements, PlasticTetElements, TetElements, TetShapes } from "../../constraints/elements.ts";
import { MOST_PLASTIC_STRAIN } from "../../materials.ts";
import { eigenvectors } from "./eigenvectors.ts";
import type { BlockKind } from "./kind.ts";

const remembers = { rows: L.TET_KEPT_BYTES / 16, apart: true } as const;
export const tetBlock: BlockKind<TetElements> = {
  bytes: L.TET_BYTES,
  phase: L.KIND_TET,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase: L.KIND_PAPER_TET,
  remembers,
  settles: true,
  write: writeTet,
  pad: padTet,
};
export const orthotropicTetBlock: BlockKind<OrthotropicTetElements> = {
  bytes: L.TET_ORTHO_BYTES,
  phase: L.KIND_TET_ORTHO,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase: L.KIND_PAPER_TET_ORTHO,
  remembers,
  settles: true,
  write: writeOrthotropic,
  pad: padOrthotropic,
};
export const plasticTetBlock: BlockKind<PlasticTetElements> = {
  bytes: L.TET_PLASTIC_BYTES,
  phase: L.KIND_TET_PLASTIC,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase: L.KIND_PAPER_TET_PLASTIC,
  remembers,
  settles: true,
  state: { offset: L.TET_PLASTIC_STRAIN, rows: 6 },
  body: L.TET_BODY,
  after: L.KIND_PLASTIC,
  write: writePlastic,
  pad: padPlastic,
};

function writeTet(f32: Float32Array, at: number, e: TetElements, i: number, w: (corner: number) => number): void {
  const { rows, K, unit } = inPrincipalAxes(e, i, w);
  rows.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  K.forEach((value, k) => (f32[at + L.TET_K / 4 + 4 * k] = value));
  // isotropic: mu = k/(2(1+nu)) and lambda = k nu/((1+nu)(1-2nu)) give k and nu back
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu);
  const nu = e.lambda / (2 * (e.lambda + e.mu));
  const V = e.volume[i]!;
  [unit / (k * V), (-nu * unit) / (k * V)].forEach((s, row) => (f32[at + L.TET_S / 4 + 4 * row] = s));
  f32[at + L.TET_UNIT / 4] = unit;
}

/**
 * 1/s^2. The unit is 1/tr K, but where elements are very soft, large or fixed, so that aT S in that unit would be above
 * 1/(2^-10 s^2 h^2), whose cube must not leave float32: with h = 0.1 ms it is 10^35. Multipliers are so small there
 * that theta of tetrahedron.ts is 1 to the last bit.
 */
const LEAST_INERTIA = 2 ** -10;

/**
 * An isotropic element in the principal axes of K = sum_i w_i b_i b_i^T, where W of tetrahedron.ts has as many zeros as
 * can be: F R for F, with R the axes. Its strains, multipliers and what it applied are turned likewise, R^T [L] R and A
 * R; x is moved as before.
 * @param w inverse mass of a corner
 * @returns rows of D_m^-1 R; K times the unit; the unit of multipliers, kg m^2; R row by row
 */
export function inPrincipalAxes(
  e: TetElements,
  i: number,
  w: (corner: number) => number,
): { rows: number[]; K: number[]; unit: number; axes: number[] } {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  const [k00, k11, k22, k12, k02, k01] = tensorK(B, w) as [number, number, number, number, number, number];
  const trace = k00 + k11 + k22;
  const { values, axes } = eigenvectors([k00, k01, k02, k01, k11, k12, k02, k12, k22]);
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu);
  const unit = 1 / Math.max(trace, LEAST_INERTIA / (k * e.volume[i]!));
  const rows = [0, 1, 2].flatMap((r) =>
    [0, 1, 2].map((c) => B[3 * r]! * axes[c]! + B[3 * r + 1]! * axes[3 + c]! + B[3 * r + 2]! * axes[6 + c]!),
  );
  return { rows, K: values.map((value) => Math.max(0, value * unit)), unit, axes };
}

/** K (00 11 22 12 02 01) of rows of D_m^-1. */
function tensorK(B: Float64Array, w: (corner: number) => number): number[] {
  const rows = [0, 1, 2].map((corner) => [B[3 * corner]!, B[3 * corner + 1]!, B[3 * corner + 2]!]);
  rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
  return [
    [0, 0],
    [1, 1],
    [2, 2],
    [1, 2],
    [0, 2],
    [0, 1],
  ].map(([a, b]) => rows.reduce((sum, row, corner) => sum + w(corner) * row[a!]! * row[b!]!, 0));
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
): void {
  writeShape(f32, at, e, i, w);
  e.compliance.forEach((s, k) => (f32[at + COMPLIANCES[k]! / 4] = s / e.volume[i]!));
}

function writePlastic(
  f32: Float32Array,
  at: number,
  e: PlasticTetElements,
  i: number,
  w: (corner: number) => number,
): void {
  writeOrthotropic(f32, at, e, i, w);
  for (let k = 0; k < 6; k++) f32[at + L.TET_PLASTIC_STRAIN / 4 + 4 * k] = e.plasticStrain[6 * i + k]!;
  [e.flow.yield, e.flow.creep, Math.min(e.flow.max, MOST_PLASTIC_STRAIN)].forEach(
    (value, k) => (f32[at + L.TET_FLOW / 4 + 4 * k] = value),
  );
}

/** D_m^-1 and K of materials with axes of their own. */
export function writeShape(
  f32: Float32Array,
  at: number,
  e: TetShapes,
  i: number,
  w: (corner: number) => number,
): void {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  B.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  tensorK(B, w).forEach((value, k) => (f32[at + L.TET_K / 4 + 4 * k] = value));
}

/** The dummies' unit tetrahedron, undeformed; any compliance will do, nothing there has mass. */
function padTet(f32: Float32Array, at: number): void {
  padShape(f32, at);
  f32[at + L.TET_S / 4] = f32[at + L.TET_UNIT / 4] = 1;
}

function padShape(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
}

function padOrthotropic(f32: Float32Array, at: number): void {
  padShape(f32, at);
  for (const [k, offset] of COMPLIANCES.entries()) f32[at + offset / 4] = k < 3 || k > 5 ? 1 : 0;
}

/** Undeformed for ever, so nothing flows. */
function padPlastic(f32: Float32Array, at: number): void {
  padOrthotropic(f32, at);
  f32[at + L.TET_FLOW / 4] = 1;
}
