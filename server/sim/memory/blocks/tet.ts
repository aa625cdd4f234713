/** Tetrahedron rows: D_m^-1, the constant tensor K and the isotropic compliance (kernel/assembly/tetrahedron.ts). */
import * as L from "../../../kernel/assembly/layout.ts";
import type { TetElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const tetBlock: BlockKind<TetElements> = { bytes: L.TET_BYTES, phase: L.KIND_TET, paperPhase: L.KIND_PAPER_TET, memory: L.TET_LAMBDA, write: writeTet, pad: padTet };

function writeTet(f32: Float32Array, at: number, e: TetElements, i: number, w: (corner: number) => number): void {
  const B = e.dmInverse.subarray(9 * i, 9 * i + 9);
  B.forEach((b, k) => (f32[at + L.TET_DM / 4 + 4 * k] = b));
  const rows = [0, 1, 2].map((corner) => [B[3 * corner]!, B[3 * corner + 1]!, B[3 * corner + 2]!]);
  rows.push([0, 1, 2].map((r) => -rows[0]![r]! - rows[1]![r]! - rows[2]![r]!));
  [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]].forEach(([a, b], k) => {
    f32[at + L.TET_K / 4 + 4 * k] = rows.reduce((sum, row, corner) => sum + w(corner) * row[a!]! * row[b!]!, 0);
  });
  // isotropic: mu = k/(2(1+nu)) and lambda = k nu/((1+nu)(1-2nu)) give k and nu back
  const k = (e.mu * (3 * e.lambda + 2 * e.mu)) / (e.lambda + e.mu), nu = e.lambda / (2 * (e.lambda + e.mu)), V = e.volume[i]!;
  [1 / (k * V), -nu / (k * V), 1 / (e.mu * V)].forEach((s, row) => (f32[at + L.TET_S / 4 + 4 * row] = s));
}

/** The dummies' unit tetrahedron, undeformed; any compliance will do, nothing there has mass. */
function padTet(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
  f32[at + L.TET_S / 4] = f32[at + L.TET_S / 4 + 8] = 1;
}
