/**
 * Float64 twin of kernel/assembly/math/closestPoints.ts. The closest points of two primitives are the nearest of all
 * candidates (inside both; each corner or end against each side).
 */
import { combine, cross, dot, norm, scale, subtract, type Vector } from "./vector.ts";

export interface Closest {
  /** m */
  distance: number;
  /** From the second primitive's closest point to the first's, m. */
  difference: Vector;
  /**
   * Weights of the four particles such that difference = sum_k weights_k x_k: those of the first primitive sum to 1,
   * those of the second to -1.
   */
  weights: [number, number, number, number];
}

type Weights = Closest["weights"];

/** Parameter s of the segment's point nearest to p: a + s (b - a). */
function placeOn(p: Vector, a: Vector, b: Vector): number {
  const u = subtract(b, a);
  const length2 = dot(u, u);
  return length2 > 0 ? Math.min(1, Math.max(0, dot(subtract(p, a), u) / length2)) : 0;
}

/**
 * The nearest of several pairs of points; of equal ones the first. Measured from the last particle, to keep digits.
 * @param inside candidate with both points inside of their primitives: its difference is along the normal, which keeps
 * more digits
 */
function nearest(x: readonly Vector[], candidates: readonly Weights[], inside?: Closest): Closest {
  const from = x.map((p) => subtract(p, x[3]!));
  const all = candidates.map((weights): Closest => {
    const difference = combine(weights, from);
    return { distance: norm(difference), difference, weights };
  });
  return [...(inside ? [inside] : []), ...all].reduce((best, one) => (one.distance < best.distance ? one : best));
}

/** The part of q along n. */
function along(n: Vector, q: Vector, weights: Weights): Closest {
  const difference = scale(dot(q, n) / dot(n, n), n);
  return { distance: norm(difference), difference, weights };
}

/** Vertex p against triangle a, b, c, degenerate or not. */
export function vertexTriangleDistance(p: Vector, a: Vector, b: Vector, c: Vector): Closest {
  const s = placeOn(p, a, b);
  const t = placeOn(p, b, c);
  const r = placeOn(p, c, a);
  const candidates: Weights[] = [
    [1, s - 1, -s, 0],
    [1, 0, t - 1, -t],
    [1, -r, 0, r - 1],
  ];
  const u = subtract(b, a);
  const v = subtract(c, a);
  const q = subtract(p, a);
  const n = cross(u, v);
  const n2 = dot(n, n);
  let inside: Closest | undefined;
  if (n2 > 0) {
    const wb = dot(cross(q, v), n) / n2;
    const wc = dot(cross(u, q), n) / n2;
    if (wb >= 0 && wc >= 0 && wb + wc <= 1) inside = along(n, q, [1, wb + wc - 1, -wb, -wc]);
  }
  return nearest([p, a, b, c], candidates, inside);
}

/** Edge a0 a1 against edge b0 b1: parallel, degenerate, or neither. */
export function edgesDistance(a0: Vector, a1: Vector, b0: Vector, b1: Vector): Closest {
  const s0 = placeOn(b0, a0, a1);
  const s1 = placeOn(b1, a0, a1);
  const t0 = placeOn(a0, b0, b1);
  const t1 = placeOn(a1, b0, b1);
  const candidates: Weights[] = [
    [1, 0, t0 - 1, -t0],
    [0, 1, t1 - 1, -t1],
    [1 - s0, s0, -1, 0],
    [1 - s1, s1, 0, -1],
  ];
  const u = subtract(a1, a0);
  const v = subtract(b1, b0);
  const q = subtract(a0, b0);
  const n = cross(u, v);
  const n2 = dot(n, n);
  let inside: Closest | undefined;
  if (n2 > 0) {
    const s = dot(cross(v, q), n) / n2;
    const t = dot(cross(u, q), n) / n2;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) inside = along(n, q, [1 - s, s, t - 1, -t]);
  }
  return nearest([a0, a1, b0, b1], candidates, inside);
}
