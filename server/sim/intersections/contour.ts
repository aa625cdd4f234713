/**
 * Direction for an edge if neither surface is separated into parts by the other. It shortens the intersection contour,
 * the curve along which they intersect (Volino & Magnenat-Thalmann 2006, Resolving surface collisions through
 * intersection contour minimization):
 *   G = sum over the edge's triangles i of  R_i - 2 (E . R_i)/(E . N) N
 * E is the edge's direction, N the normal of the intersected triangle, R_i the direction of the curve from the edge
 * into triangle i. An inner edge that passes straight through a flat sheet has G = 0: the ends of the curve shorten it,
 * and pull inner edges along.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { cross, dot, minus, plus, times, unit, type Intersection } from "./intersection.ts";
import { edgeKey, type IntersectingSurface } from "./surface.ts";

/** Lower bound of |E . N|: an edge in the plane gives no direction through it. */
const LEAST_SLOPE = 0.1;

/**
 * @param at position of a particle of the room, m
 * @returns G of the head; zeros if the contour does not pass through the edge's triangles
 */
export function shortening(
  { particles: [a, b], normal: N }: Intersection,
  { first, beside }: IntersectingSurface,
  at: (particle: number) => Vec3,
): Vec3 {
  const E = unit(minus(at(b), at(a)));
  const slope = dot(E, N);
  const steep = slope < 0 ? Math.min(slope, -LEAST_SLOPE) : Math.max(slope, LEAST_SLOPE);
  let G: Vec3 = [0, 0, 0];
  for (const opposite of beside().get(edgeKey(a - first, b - first)) ?? []) {
    const into = minus(at(first + opposite), at(a));
    const along = unit(cross(N, cross(minus(at(b), at(a)), into)));
    // the part of `into` perpendicular to the edge distinguishes the two directions of the line
    const R = dot(along, minus(into, times(dot(into, E), E))) < 0 ? times(-1, along) : along;
    G = plus(G, minus(R, times((2 * dot(E, R)) / steep, N)));
  }
  return G;
}
