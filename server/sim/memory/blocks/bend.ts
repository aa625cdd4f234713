/** Bending rows: K, compliance and rest length (kernel/assembly/constraints/bending.ts). */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BendElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const bendBlock: BlockKind<BendElements> = {
  bytes: L.BEND_BYTES,
  phase: L.KIND_BEND,
  stage: L.STAGE_BENDING,
  paperPhase: L.KIND_PAPER_BEND,
  remembers: { rows: L.BEND_KEPT_BYTES / 16, apart: true },
  write: writeBend,
  pad: padBend,
};

function writeBend(f32: Float32Array, at: number, e: BendElements, i: number, w: (corner: number) => number): void {
  // as four lanes of float32 would sum them up
  let W = 0;
  for (let k = 3; k >= 0; k--)
    W = Math.fround(W + Math.fround(w(k) * Math.fround(Math.fround(e.K[4 * i + k]!) * Math.fround(e.K[4 * i + k]!))));
  f32[at + L.BEND_W / 4] = W;
  for (let k = 0; k < 4; k++) f32[at + L.BEND_K / 4 + 4 * k] = e.K[4 * i + k]!;
  f32[at + L.BEND_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.BEND_REST / 4] = e.rest[i]!;
}

function padBend(f32: Float32Array, at: number): void {
  f32[at + L.BEND_ALPHA / 4] = 1;
}
