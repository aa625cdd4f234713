/** Points on a body's surface: in a frame, or undeformed. */
import { closestOnTriangle } from "../skinning/attach.ts";
import type { Point } from "../protocol/fromServer.ts";
import type { SurfacePoint } from "../protocol/fromClient.ts";

/** An undeformed surface at its place in the scene. */
export interface RestSurface {
  /** float32[3*count] m */
  rest: Float32Array;
  /** uint32[3*T]; empty for a cloud of points */
  triangles: Uint32Array;
}

/**
 * The point of a surface nearest to x y z; brute force, because the surface moves with every frame.
 * @param positions float32[3*count] m
 * @param triangles uint32[3*T]; empty for a cloud: then `triangle` is the index of a point
 */
export function closestSurfacePoint(
  body: number,
  positions: Float32Array,
  triangles: Uint32Array,
  [x, y, z]: Point,
): SurfacePoint {
  if (triangles.length === 0) return { body, triangle: closestPoint(positions, [x, y, z]), u: 0, v: 0 };
  const corners = new Float64Array(9);
  const best = { body, triangle: 0, u: 0, v: 0 };
  let least = Infinity;
  for (let triangle = 0; 3 * triangle < triangles.length; triangle++) {
    for (let corner = 0; corner < 3; corner++) {
      const at = 3 * triangles[3 * triangle + corner]!;
      for (let r = 0; r < 3; r++) corners[3 * corner + r] = positions[at + r]!;
    }
    const [u, v, distance] = closestOnTriangle(corners, x, y, z);
    if (distance >= least) continue;
    least = distance;
    Object.assign(best, { triangle, u, v });
  }
  return best;
}

function closestPoint(positions: Float32Array, [x, y, z]: Point): number {
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < positions.length; i += 3) {
    const distance = Math.hypot(positions[i]! - x, positions[i + 1]! - y, positions[i + 2]! - z);
    if (distance >= least) continue;
    least = distance;
    best = i / 3;
  }
  return best;
}

/** Number of places that a grab can name: triangles, or the points of a cloud. */
export function placesOf({ positions, triangles }: { positions: Float32Array; triangles: Uint32Array }): number {
  return (triangles.length > 0 ? triangles : positions).length / 3;
}

/** Position of a surface point, m; for a cloud, the point with index `triangle`. */
export function surfacePoint(
  out: Point,
  { positions, triangles }: { positions: Float32Array; triangles: Uint32Array },
  triangle: number,
  u: number,
  v: number,
): void {
  if (triangles.length === 0) {
    for (let k = 0; k < 3; k++) out[k] = positions[3 * triangle + k]!;
    return;
  }
  const a = 3 * triangles[3 * triangle]!;
  const b = 3 * triangles[3 * triangle + 1]!;
  const c = 3 * triangles[3 * triangle + 2]!;
  for (let k = 0; k < 3; k++) out[k] = (1 - u - v) * positions[a + k]! + u * positions[b + k]! + v * positions[c + k]!;
}

/**
 * The corresponding place on another body: the nearest point of its surface if the centers of both bodies' boxes
 * coincided. A pointer that grabs several bodies at once grabs each of them there.
 * @param body index of the other body
 * @returns the place, and the shift from the first place to it, undeformed, m
 */
export function counterpart(
  { triangle, u, v }: SurfacePoint,
  from: RestSurface,
  body: number,
  to: RestSurface,
): SurfacePoint & { shift: Point } {
  const picked: Point = [0, 0, 0];
  surfacePoint(picked, { positions: from.rest, triangles: from.triangles }, triangle, u, v);
  const [here, there] = [middleOf(from.rest), middleOf(to.rest)];
  const wanted = picked.map((x, r) => x - here[r]! + there[r]!) as Point;
  const at = closestSurfacePoint(body, to.rest, to.triangles, wanted);
  const found: Point = [0, 0, 0];
  surfacePoint(found, { positions: to.rest, triangles: to.triangles }, at.triangle, at.u, at.v);
  return { ...at, shift: found.map((x, r) => x - picked[r]!) as Point };
}

/** The corresponding places on the other bodies. @param together indices of all bodies */
export function counterparts(at: SurfacePoint, bodies: readonly RestSurface[], together: readonly number[]) {
  return together
    .filter((body) => body !== at.body)
    .map((body) => counterpart(at, bodies[at.body]!, body, bodies[body]!));
}

/** Center of the bounding box, m. */
function middleOf(positions: Float32Array): Point {
  return [0, 1, 2].map((r) => {
    let [low, high] = [Infinity, -Infinity];
    for (let k = r; k < positions.length; k += 3) {
      low = Math.min(low, positions[k]!);
      high = Math.max(high, positions[k]!);
    }
    return 0.5 * (low + high);
  }) as Point;
}
