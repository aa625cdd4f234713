/** Bending rows: K, compliance and rest length (kernel/assembly/bending.ts). */
import * as L from "../../../kernel/assembly/layout.ts";
import type { BendElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const bendBlock: BlockKind<BendElements> = { bytes: L.BEND_BYTES, phase: L.KIND_BEND, paperPhase: L.KIND_PAPER_BEND, remembers: { rows: 3, offset: L.BEND_LAMBDA }, write: writeBend, pad: padBend };

function writeBend(f32: Float32Array, at: number, e: BendElements, i: number): void {
  for (let k = 0; k < 4; k++) f32[at + L.BEND_K / 4 + 4 * k] = e.K[4 * i + k]!;
  f32[at + L.BEND_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.BEND_REST / 4] = e.rest[i]!;
}

function padBend(f32: Float32Array, at: number): void {
  f32[at + L.BEND_ALPHA / 4] = 1;
}
