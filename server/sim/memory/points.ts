/** Weighted-point slots in memory: attachments when the scene is built, grab handles while it runs. */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** sum_i weight_i x_i, by absolute particle address. */
export interface WeightedPoint {
  addresses: number[];
  weights: number[];
}

export interface PointSettings {
  target: readonly [number, number, number];
  /** m/N */
  compliance: number;
  /** N */
  maxForce: number;
  /** Address of the MOTION row of the collider that carries the target; 0 or absent: it stands. */
  motion?: number;
}

/** @param slot address of the slot. More than POINT_MAX_PARTICLES particles are refused. */
export function writePoint(
  f32: Float32Array,
  i32: Int32Array,
  slot: number,
  point: WeightedPoint,
  settings: PointSettings,
): void {
  if (point.addresses.length > L.POINT_MAX_PARTICLES)
    throw new Error(`weighted point: ${point.addresses.length} particles, limit ${L.POINT_MAX_PARTICLES}`);
  const at = slot / 4;
  i32[at + L.POINT_COUNT / 4] = point.addresses.length;
  f32[at + L.POINT_ALPHA / 4] = settings.compliance;
  f32[at + L.POINT_MAX_FORCE / 4] = settings.maxForce;
  f32.set([...settings.target, 0], at + L.POINT_TARGET / 4);
  f32.fill(0, at + L.POINT_LAMBDA / 4, at + L.POINT_LAMBDA / 4 + 4);
  point.addresses.forEach((a, i) => (i32[at + L.POINT_ADDRESS / 4 + i] = a));
  point.weights.forEach((w, i) => (f32[at + L.POINT_WEIGHT / 4 + i] = w));
  i32[at + L.POINT_MOTION / 4] = settings.motion ?? 0;
  i32[at + L.POINT_ACTIVE / 4] = 1;
}
