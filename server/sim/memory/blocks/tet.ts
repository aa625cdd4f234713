/** Tetrahedron rows: D_m^-1, the constant tensor K and the compliance, isotropic or orthotropic; plastic strain and flow (kernel/assembly/tetrahedron.ts). */
import * as L from "../../../kernel/assembly/layout.ts";
import type { OrthotropicTetElements, PlasticTetElements, TetElements, TetShapes } from "../../constraints/elements.ts";
import { MOST_PLASTIC_STRAIN } from "../../materials.ts";
import type { BlockKind } from "./kind.ts";

export const tetBlock: BlockKind<TetElements> = { bytes: L.TET_BYTES, phase: L.KIND_TET, paperPhase: L.KIND_PAPER_TET, memory: L.TET_LAMBDA, settles: true, write: writeTet, pad: padTet };
export const orthotropicTetBlock: BlockKind<OrthotropicTetElements> = { bytes: L.TET_ORTHO_BYTES, phase: L.KIND_TET_ORTHO, paperPhase: L.KIND_PAPER_TET_ORTHO, memory: L.TET_LAMBDA, settles: true, rows: 15, write: writeOrthotropic, pad: padOrthotropic };
export const plasticTetBlock: BlockKind<PlasticTetElements> = {
  bytes: L.TET_PLASTIC_BYTES, phase: L.KIND_TET_PLASTIC, paperPhase: L.KIND_PAPER_TET_PLASTIC, memory: L.TET_LAMBDA, settles: true, rows: 15, state: { offset: L.TET_PLASTIC_STRAIN, rows: 6 }, body: L.TET_BODY, after: L.KIND_PLASTIC, write: writePlastic, pad: padPlastic,
};

function writeTet(f32: Float32Array, at: number, e: TetElements, i: number, w: (corner: number) => number): void {
  writeShape(f32, at, e, i, w);
  // isotropic: mu = k/(2(1+nu)) and lambda = k nu/((1+nu)(1-2nu)) give k and nu back
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu), nu = e.lambda / (2 * (e.lambda + e.mu)), V = e.volume[i]!;
  [1 / (k * V), -nu / (k * V), 1 / (e.mu * V)].forEach((s, row) => (f32[at + L.TET_S / 4 + 4 * row] = s));
}

/** Byte offsets of the nine compliances. */
const COMPLIANCES = [L.TET_S, L.TET_S_COUPLING, L.TET_S_SHEAR].flatMap((offset) => [offset, offset + 16, offset + 32]);

function writeOrthotropic(f32: Float32Array, at: number, e: OrthotropicTetElements | PlasticTetElements, i: number, w: (corner: number) => number): void {
  writeShape(f32, at, e, i, w);
  e.compliance.forEach((s, k) => (f32[at + COMPLIANCES[k]! / 4] = s / e.volume[i]!));
}

function writePlastic(f32: Float32Array, at: number, e: PlasticTetElements, i: number, w: (corner: number) => number): void {
  writeOrthotropic(f32, at, e, i, w);
  for (let k = 0; k < 6; k++) f32[at + L.TET_PLASTIC_STRAIN / 4 + 4 * k] = e.plasticStrain[6 * i + k]!;
  [e.flow.yield, e.flow.creep, Math.min(e.flow.max, MOST_PLASTIC_STRAIN)].forEach((value, k) => (f32[at + L.TET_FLOW / 4 + 4 * k] = value));
}

/** D_m^-1 and K, which are the same for every material. */
export function writeShape(f32: Float32Array, at: number, e: TetShapes, i: number, w: (corner: number) => number): void {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  B.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  const rows = [0, 1, 2].map((corner) => [B[3 * corner]!, B[3 * corner + 1]!, B[3 * corner + 2]!]);
  rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
  [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]].forEach(([a, b], k) => {
    f32[at + L.TET_K / 4 + 4 * k] = rows.reduce((sum, row, corner) => sum + w(corner) * row[a!]! * row[b!]!, 0);
  });
}

/** The dummies' unit tetrahedron, undeformed; any compliance will do, nothing there has mass. */
function padTet(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
  f32[at + L.TET_S / 4] = f32[at + L.TET_S / 4 + 8] = 1;
}

function padOrthotropic(f32: Float32Array, at: number): void {
  padTet(f32, at);
  for (const [k, offset] of COMPLIANCES.entries()) f32[at + offset / 4] = k < 3 || k > 5 ? 1 : 0;
}

/** Undeformed for ever, so nothing flows. */
function padPlastic(f32: Float32Array, at: number): void {
  padOrthotropic(f32, at);
  f32[at + L.TET_FLOW / 4] = 1;
}
