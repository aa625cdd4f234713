/**
 * Finds the point of a simulation surface that a ray meets. Brute force over the displayed triangles, both sides
 * (Moller and Trumbore 1997); some ten thousand triangles take well under a millisecond. If the ray just misses, the
 * nearest particle within a tolerance is taken, because fingers are thick and a detail mesh may be larger than the
 * surface.
 */

/** The surface of one body as displayed now. */
export interface PickSurface {
  /** float32[3*count] m */
  positions: Float32Array;
  /** uint32[3*T] */
  triangles: Uint32Array;
  /** Radius of a cloud of points, m: without triangles, rays meet its spheres. */
  radius?: number | undefined;
  /** True for a spawnable body that is not in the room. */
  hidden?: boolean;
}

export interface PickHit {
  body: number;
  triangle: number;
  /** Barycentric weights of corners b and c. */
  u: number;
  v: number;
  /** Distance along the (unit) ray, m. */
  distance: number;
}

type Vec = readonly [number, number, number];

/**
 * Intersects a ray with a triangle.
 * @returns [distance, u, v], or undefined for a miss (also for a triangle seen edge-on)
 */
export function rayTriangle(origin: Vec, direction: Vec, a: Vec, b: Vec, c: Vec): [number, number, number] | undefined {
  const e1x = b[0] - a[0];
  const e1y = b[1] - a[1];
  const e1z = b[2] - a[2];
  const e2x = c[0] - a[0];
  const e2y = c[1] - a[1];
  const e2z = c[2] - a[2];
  const px = direction[1] * e2z - direction[2] * e2y;
  const py = direction[2] * e2x - direction[0] * e2z;
  const pz = direction[0] * e2y - direction[1] * e2x;
  const determinant = e1x * px + e1y * py + e1z * pz;
  // Relative to the edges, so that a triangle of a micrometer is as pickable as one of a meter.
  const scale = (e1x * e1x + e1y * e1y + e1z * e1z) * (e2x * e2x + e2y * e2y + e2z * e2z);
  if (determinant * determinant <= 1e-16 * scale) return undefined;
  const inverse = 1 / determinant;
  const sx = origin[0] - a[0];
  const sy = origin[1] - a[1];
  const sz = origin[2] - a[2];
  const u = (sx * px + sy * py + sz * pz) * inverse;
  if (!(u >= 0 && u <= 1)) return undefined;
  const qx = sy * e1z - sz * e1y;
  const qy = sz * e1x - sx * e1z;
  const qz = sx * e1y - sy * e1x;
  const v = (direction[0] * qx + direction[1] * qy + direction[2] * qz) * inverse;
  if (!(v >= 0 && u + v <= 1)) return undefined;
  const distance = (e2x * qx + e2y * qy + e2z * qz) * inverse;
  return distance > 0 ? [distance, u, v] : undefined;
}

/** @returns [distance, index] of the nearest sphere that the ray enters, or undefined */
function raySpheres(origin: Vec, direction: Vec, centers: Float32Array, radius: number): [number, number] | undefined {
  let best: [number, number] | undefined;
  for (let i = 0; i < centers.length; i += 3) {
    const x = centers[i]! - origin[0];
    const y = centers[i + 1]! - origin[1];
    const z = centers[i + 2]! - origin[2];
    const along = x * direction[0] + y * direction[1] + z * direction[2];
    const inside = radius * radius - (x * x + y * y + z * z - along * along);
    if (!(inside >= 0)) continue;
    const distance = along - Math.sqrt(inside);
    if (distance > 0 && (!best || distance < best[0])) best = [distance, i / 3];
  }
  return best;
}

/**
 * Returns the nearest hit of a ray over all bodies.
 * @param direction unit vector
 */
export function pickSurfaces(surfaces: readonly PickSurface[], origin: Vec, direction: Vec): PickHit | undefined {
  let best: PickHit | undefined;
  for (let body = 0; body < surfaces.length; body++) {
    const { positions, triangles, radius, hidden } = surfaces[body]!;
    if (hidden) continue;
    const sphere = radius === undefined ? undefined : raySpheres(origin, direction, positions, radius);
    if (sphere && (!best || sphere[0] < best.distance))
      best = { body, triangle: sphere[1], distance: sphere[0], u: 0, v: 0 };
    for (let t = 0; t < triangles.length; t += 3) {
      const hit = rayTriangle(
        origin,
        direction,
        at(positions, triangles[t]!),
        at(positions, triangles[t + 1]!),
        at(positions, triangles[t + 2]!),
      );
      if (hit && (!best || hit[0] < best.distance))
        best = { body, triangle: t / 3, distance: hit[0], u: hit[1], v: hit[2] };
    }
  }
  return best;
}

/**
 * For a ray that misses: returns the particle nearest to the ray in angle, among those within the tolerance.
 * @param tolerance tangent of the largest accepted angle between the ray and the particle's direction
 * @returns the particle as a corner of one of its triangles, or as a point of a cloud
 */
export function pickNearest(
  surfaces: readonly PickSurface[],
  origin: Vec,
  direction: Vec,
  tolerance: number,
): PickHit | undefined {
  let best: { body: number; particle: number; distance: number } | undefined;
  let bestTangent = tolerance;
  for (let body = 0; body < surfaces.length; body++) {
    const { positions, hidden } = surfaces[body]!;
    if (hidden) continue;
    for (let i = 0; i < positions.length; i += 3) {
      const x = positions[i]! - origin[0];
      const y = positions[i + 1]! - origin[1];
      const z = positions[i + 2]! - origin[2];
      const along = x * direction[0] + y * direction[1] + z * direction[2];
      if (along <= 0) continue;
      const across = Math.sqrt(Math.max(0, x * x + y * y + z * z - along * along));
      if (across < bestTangent * along) {
        bestTangent = across / along;
        best = { body, particle: i / 3, distance: along };
      }
    }
  }
  if (!best) return undefined;
  const { triangles } = surfaces[best.body]!;
  if (triangles.length === 0) return { body: best.body, triangle: best.particle, u: 0, v: 0, distance: best.distance };
  const corner = triangles.indexOf(best.particle);
  if (corner < 0) return undefined;
  return {
    body: best.body,
    triangle: Math.floor(corner / 3),
    u: corner % 3 === 1 ? 1 : 0,
    v: corner % 3 === 2 ? 1 : 0,
    distance: best.distance,
  };
}

function at(positions: Float32Array, particle: number): [number, number, number] {
  return [positions[3 * particle]!, positions[3 * particle + 1]!, positions[3 * particle + 2]!];
}
