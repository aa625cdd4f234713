/**
 * Rows of distances and of tetrahedral volumes: rest value, compliance, k' and the multiplier's bound
 * (kernel/assembly/constraints/geometric.ts).
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { DistanceElements, VolumeElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const distanceBlock: BlockKind<DistanceElements> = {
  bytes: L.DISTANCE_BYTES,
  phase: L.KIND_DISTANCE,
  stage: L.STAGE_DISTANCES,
  remembers: { rows: L.DISTANCE_KEPT_BYTES / 16, apart: true },
  write: (f32, at, e, i) => {
    writeRows(f32, at + L.DISTANCE_REST / 4, e, i, Infinity);
    for (let r = 0; r < 3; r++) f32[at + L.DISTANCE_DIRECTION / 4 + 4 * r] = e.direction[3 * i + r]!;
  },
  pad: (f32, at) => padRows(f32, at + L.DISTANCE_REST / 4),
};

export const volumeBlock: BlockKind<VolumeElements> = {
  bytes: L.VOLUME_BYTES,
  phase: L.KIND_VOLUME,
  stage: L.STAGE_VOLUMES,
  remembers: { rows: 1, offset: L.VOLUME_REST + L.GEOMETRIC_LAMBDA },
  write: (f32, at, e, i) => writeRows(f32, at + L.VOLUME_REST / 4, e, i, -Infinity),
  pad: (f32, at) => padRows(f32, at + L.VOLUME_REST / 4),
};

/** @param free the bound that bounds nothing */
function writeRows(f32: Float32Array, at: number, e: DistanceElements | VolumeElements, i: number, free: number): void {
  f32[at] = e.rest[i]!;
  f32[at + L.GEOMETRIC_ALPHA / 4] = e.alpha[i]!;
  f32[at + L.GEOMETRIC_STIFFNESS / 4] = e.stiffness;
  f32[at + L.GEOMETRIC_LIMIT / 4] = e.unilateral ? 0 : free;
  f32[at + L.GEOMETRIC_KEEP / 4] = e.keeps ? 1 : 0;
}

/** The dummies are fixed, so that no multiplier grows there; compliance keeps the division from 0/0. */
function padRows(f32: Float32Array, at: number): void {
  f32[at + L.GEOMETRIC_ALPHA / 4] = 1;
}
