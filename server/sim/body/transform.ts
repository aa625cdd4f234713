/** Places a mesh in the world: scale, rotate, translate (shared/scene/scene.ts, Transform). */
import type { Transform, Vec3 } from "../../../shared/scene/scene.ts";

export interface Placement {
  scale: number;
  /** float64[9] row by row */
  rotation: readonly number[];
  /** Added after scaling and before rotating, m: centers a fitted mesh. */
  offset: Vec3;
  translate: Vec3;
}

/** Rotation matrix of a rotation vector (axis times angle, degrees), Rodrigues' formula. */
export function rotationMatrix(vector: Vec3 | undefined): number[] {
  const [x, y, z] = vector ?? [0, 0, 0];
  const degrees = Math.sqrt(x * x + y * y + z * z);
  if (degrees === 0) return [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const angle = (degrees * Math.PI) / 180;
  const c = Math.cos(angle);
  const s = Math.sin(angle);
  const [a, b, d] = [x / degrees, y / degrees, z / degrees];
  return [
    c + a * a * (1 - c),
    a * b * (1 - c) - d * s,
    a * d * (1 - c) + b * s,
    b * a * (1 - c) + d * s,
    c + b * b * (1 - c),
    b * d * (1 - c) - a * s,
    d * a * (1 - c) - b * s,
    d * b * (1 - c) + a * s,
    c + d * d * (1 - c),
  ];
}

/** @param positions float64[3N] of the mesh whose box `fitHeight` fits (the detail mesh, if there is one) */
export function placementOf(transform: Transform | undefined, positions: Float64Array): Placement {
  const t = transform ?? {};
  const placement: Placement = {
    scale: t.scale ?? 1,
    rotation: rotationMatrix(t.rotate),
    offset: [0, 0, 0],
    translate: t.translate ?? [0, 0, 0],
  };
  if (t.fitHeight === undefined) return placement;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i++) {
    low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
    high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
  }
  placement.scale = t.fitHeight / (high[1]! - low[1]!);
  placement.offset = [
    -0.5 * (low[0]! + high[0]!) * placement.scale,
    -low[1]! * placement.scale,
    -0.5 * (low[2]! + high[2]!) * placement.scale,
  ];
  return placement;
}

/** Positions in the body's own axes: scaled and centered, m. The rest shape is computed from these. */
export function scaled(positions: Float64Array, p: Placement): Float64Array {
  return positions.map((x, i) => x * p.scale + p.offset[i % 3]!);
}

/** Transforms positions from the body's own axes into the world. */
export function placed(own: Float64Array, p: Placement): Float64Array {
  const out = new Float64Array(own.length);
  const R = p.rotation;
  for (let i = 0; i < own.length; i += 3) {
    for (let r = 0; r < 3; r++)
      out[i + r] = R[3 * r]! * own[i]! + R[3 * r + 1]! * own[i + 1]! + R[3 * r + 2]! * own[i + 2]! + p.translate[r]!;
  }
  return out;
}
