/**
 * Rows of Neo-Hookean tetrahedra: D_m^-1, the constant tensor K, moduli times volume, the clamp
 * (kernel/assembly/constraints/hyperelastic.ts).
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { HyperElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";
import { writeShape } from "./tet.ts";

const block = {
  bytes: L.HYPER_BYTES,
  remembers: { rows: L.HYPER_KEPT_BYTES / 16, apart: true as const },
  settles: true,
  body: L.HYPER_BODY,
  write: writeHyper,
  pad: padHyper,
};
export const neoHookeanBlock: BlockKind<HyperElements> = {
  ...block,
  phase: L.KIND_NEO_HOOKEAN,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase: L.KIND_PAPER_NEO_HOOKEAN,
};
export const stableNeoHookeanBlock: BlockKind<HyperElements> = {
  ...block,
  phase: L.KIND_STABLE_NEO_HOOKEAN,
  stage: L.STAGE_TETRAHEDRA,
  paperPhase: L.KIND_PAPER_STABLE_NEO_HOOKEAN,
};

function writeHyper(f32: Float32Array, at: number, e: HyperElements, i: number, w: (corner: number) => number): void {
  writeShape(f32, at, e, i, w);
  f32[at + L.HYPER_MU / 4] = e.volume[i]! * e.mu;
  f32[at + L.HYPER_LAMBDA / 4] = e.volume[i]! * e.lambda;
  f32[at + L.HYPER_CLAMP / 4] = e.clamp;
}

/** The dummies' unit tetrahedron, undeformed and without stiffness. */
function padHyper(f32: Float32Array, at: number): void {
  for (let k = 0; k < 9; k++) f32[at + L.TET_DM / 4 + 4 * k] = k % 4 === 0 ? 1 : 0;
}
