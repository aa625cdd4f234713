/** Writes weighted-point slots in memory: attachments when the scene is built, grabs while it runs. */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Views } from "../../world/views.ts";

/** sum_i weight_i x_i, by absolute particle address. */
export interface WeightedPoint {
  addresses: number[];
  weights: number[];
}

export interface PointSettings {
  target: readonly [number, number, number];
  /** Where the target goes from there; absent: it stays. */
  goal?: readonly [number, number, number];
  /** m/N */
  compliance: number;
  /** N */
  maxForce: number;
  /** Address of the MOTION row of the collider that carries the target; 0 or absent: the target is fixed. */
  motion?: number;
  /**
   * Present for a grab: it slips, eases off, and its target moves by POINT_STEP in each substep, until that is set
   * again.
   */
  grab?: GrabSettings;
  /** True if it holds an implicit body. */
  implicit?: boolean;
}

export interface GrabSettings {
  /** Address of the memory for POINT_MAX_EDGES rows. */
  room: number;
  /** Edges whose stretch limits the grab: addresses of the ends, and rest length, m. */
  edges: readonly { a: number; b: number; rest: number }[];
  body: number;
  /** Length over rest length at which the force begins to fall, and at which it is zero. */
  easeStretch: number;
  maxStretch: number;
  /** Largest shift in one substep, m. */
  maxShift: number;
}

function writeGrab(
  f32: Float32Array,
  i32: Int32Array,
  at: number,
  { body, room, edges, easeStretch, maxStretch, maxShift }: GrabSettings,
): void {
  if (edges.length > L.POINT_MAX_EDGES)
    throw new Error(`weighted point: ${edges.length} edges, limit ${L.POINT_MAX_EDGES}`);
  i32[at + L.POINT_EDGES / 4] = room;
  i32[at + L.POINT_EDGE_COUNT / 4] = edges.length;
  f32[at + L.POINT_MAX_STRETCH / 4] = maxStretch;
  f32[at + L.POINT_EASE_STRETCH / 4] = easeStretch;
  i32[at + L.POINT_BODY / 4] = body;
  f32[at + L.POINT_MAX_SHIFT / 4] = maxShift;
  edges.forEach(({ a, b, rest }, i) => {
    const row = (room + i * L.EDGE_BYTES) / 4;
    i32[row + L.EDGE_A / 4] = a;
    i32[row + L.EDGE_B / 4] = b;
    f32[row + L.EDGE_INVERSE_SQUARE / 4] = 1 / (rest * rest);
  });
}

/**
 * Writes a point.
 * @param slot address of the slot
 * @throws Error for more than POINT_MAX_PARTICLES particles
 */
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
  f32.fill(0, at + L.POINT_STEP / 4, at + L.POINT_STEP / 4 + 3);
  f32[at + L.POINT_PACE / 4] = 1;
  f32.set([...settings.target, ...(settings.goal ?? settings.target)], at + L.POINT_FROM / 4);
  f32[at + L.POINT_SHARE / 4] = 1;
  const response = i32[at + L.POINT_RESPONSE / 4]!;
  if (response) i32[(response + L.RESPONSE_VALID) / 4] = 0;
  if (settings.grab) writeGrab(f32, i32, at, settings.grab);
  const held = settings.grab ? L.POINT_GRAB : L.POINT_HELD;
  i32[at + L.POINT_ACTIVE / 4] = settings.implicit ? L.POINT_IMPLICIT : held;
}

/**
 * Sets the motion of a point's target in the next tick: towards its goal, by at most `most` m.
 * @param at word of the slot; goal word of the goal's x
 */
export function moveTarget({ f32, i32 }: Views, at: number, goal: number, most: number, substeps: number): void {
  const target = at + L.POINT_TARGET / 4;
  const step = at + L.POINT_STEP / 4;
  const way = [0, 1, 2].map((r) => f32[goal + r]! - f32[target + r]!);
  const length = Math.sqrt(way[0]! ** 2 + way[1]! ** 2 + way[2]! ** 2);
  const share = Math.min(1, most / length);
  // the step of an implicit body is stable for any jump of the target: it has no substeps to distribute it over
  if (i32[at + L.POINT_ACTIVE / 4] === L.POINT_IMPLICIT)
    way.forEach((d, r) => (f32[target + r]! += d === 0 ? 0 : d * share));
  else way.forEach((d, r) => (f32[step + r] = d === 0 ? 0 : d * (share / substeps)));
}
