/** Writes weighted-point slots in memory: attachments when the scene is built, grabs while it runs. */
import * as L from "../../../kernel/assembly/layout/layout.ts";

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
  f32.fill(0, at + L.POINT_STEP / 4, at + L.POINT_STEP / 4 + 3);
  i32[at + L.POINT_EDGES / 4] = room;
  i32[at + L.POINT_EDGE_COUNT / 4] = edges.length;
  f32[at + L.POINT_MAX_STRETCH / 4] = maxStretch;
  f32[at + L.POINT_EASE_STRETCH / 4] = easeStretch;
  f32[at + L.POINT_PACE / 4] = 1;
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
  f32[at + L.POINT_SHARE / 4] = 1;
  const response = i32[at + L.POINT_RESPONSE / 4]!;
  if (response) i32[(response + L.RESPONSE_VALID) / 4] = 0;
  if (settings.grab) writeGrab(f32, i32, at, settings.grab);
  const held = settings.grab ? L.POINT_GRAB : L.POINT_HELD;
  i32[at + L.POINT_ACTIVE / 4] = settings.implicit ? L.POINT_IMPLICIT : held;
}
