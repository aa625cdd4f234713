/**
 * Float64 twin of kernel/assembly/distances.ts and pairs.ts: the closest points of two primitives as the nearest of all candidates (inside both;
 * each corner or end against each side), and the list of pairs by trying everything with everything.
 */
import { cross, dot, scale, subtract, type Vector } from "./vector.ts";

export interface Closest {
  /** m */
  distance: number;
  /** From the second primitive's closest point to the first's, m. */
  difference: Vector;
}

/** From the point of the segment a b that is nearest to p, to p. */
function fromSegment(p: Vector, a: Vector, b: Vector): Vector {
  const u = subtract(b, a), q = subtract(p, a), length2 = dot(u, u);
  return length2 > 0 ? subtract(q, scale(Math.min(1, Math.max(0, dot(q, u) / length2)), u)) : q;
}

const nearest = (differences: readonly Vector[]): Closest => {
  const distances = differences.map((d) => Math.sqrt(dot(d, d))), distance = Math.min(...distances);
  return { distance, difference: differences[distances.indexOf(distance)]! };
};

/** Vertex p against triangle a, b, c, degenerate or not. */
export function vertexTriangleDistance(p: Vector, a: Vector, b: Vector, c: Vector): Closest {
  const candidates = [[a, b], [b, c], [c, a]].map(([from, to]) => fromSegment(p, from!, to!));
  const u = subtract(b, a), v = subtract(c, a), q = subtract(p, a), n = cross(u, v), n2 = dot(n, n);
  if (n2 > 0) {
    const wb = dot(cross(q, v), n) / n2, wc = dot(cross(u, q), n) / n2;
    if (wb >= 0 && wc >= 0 && wb + wc <= 1) candidates.push(scale(dot(q, n) / n2, n));
  }
  return nearest(candidates);
}

/** Edge a0 a1 against edge b0 b1, parallel, without length, or not. */
export function edgesDistance(a0: Vector, a1: Vector, b0: Vector, b1: Vector): Closest {
  const candidates = [a0, a1].map((p) => fromSegment(p, b0, b1));
  candidates.push(...[b0, b1].map((p) => scale(-1, fromSegment(p, a0, a1))));
  const u = subtract(a1, a0), v = subtract(b1, b0), q = subtract(a0, b0), n = cross(u, v), n2 = dot(n, n);
  if (n2 > 0) {
    const s = dot(cross(v, q), n) / n2, t = dot(cross(u, q), n) / n2;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) candidates.push(scale(dot(q, n) / n2, n));
  }
  return nearest(candidates);
}
