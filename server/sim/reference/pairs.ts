/**
 * Float64 twin of kernel/assembly/math/closestPoints.ts and pairs.ts. The closest points of two primitives are the
 * nearest of all candidates (inside both; each corner or end against each side). Pairs are found by testing all
 * primitives against all, at all times.
 */
import { add, combine, cross, dot, norm, scale, subtract, type Vector } from "./vector.ts";

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

/** A surface with the kernel's particle numbers and float32 values. */
export interface PairSurface {
  vertices: readonly number[];
  /** Three particles for each triangle, two for each edge. */
  triangles: readonly number[][];
  edges: readonly number[][];
  radius: number;
  margin: number;
  /** By surface number. */
  meets: readonly boolean[];
}

export interface ListedPair extends Closest {
  kind: "vertex" | "edges";
  particles: [number, number, number, number];
  surfaces: [number, number];
  /** r + m, m */
  reach: number;
  thickness: number;
  /** Lower bound of the distance, m: the distance minus the largest approach of two corners along the difference. */
  bound: number;
  /** Largest difference of two of its particles' trajectories, m. */
  relative: number;
  /**
   * Whether it comes that near (m) while its particles follow their trajectories. True is certain; false is certain
   * except within a time of 1e-9.
   */
  comesWithin: (reach: number) => boolean;
}

/**
 * Whether f(t) <= limit for some t in [0, 1], by bisection: a function that changes by at most `rate` exceeds (f(t0) +
 * f(t1) - rate (t1 - t0)) / 2 between t0 and t1.
 */
function goesBelow(f: (t: number) => number, rate: number, limit: number): boolean {
  const search = (t0: number, f0: number, t1: number, f1: number): boolean => {
    if (f0 <= limit || f1 <= limit) return true;
    if (f0 + f1 - rate * (t1 - t0) > 2 * limit || t1 - t0 < 1e-9) return false;
    const t = 0.5 * (t0 + t1);
    const middle = f(t);
    return search(t0, f0, t, middle) || search(t, middle, t1, f1);
  };
  return search(0, f(0), 1, f(1));
}

/**
 * Every pair that may get closer than `slack` times its reach, by testing all pairs.
 * @param x current positions, by particle
 * @param rest undeformed positions, by particle
 * @param w inverse masses
 * @param trajectories displacements of the particles; default: none
 */
export function everyPair(
  surfaces: readonly PairSurface[],
  x: readonly Vector[],
  rest: readonly Vector[],
  w: readonly number[],
  slack = 1,
  trajectories: readonly Vector[] = x.map(() => [0, 0, 0]),
): ListedPair[] {
  const found: ListedPair[] = [];
  surfaces.forEach((A, a) =>
    surfaces.forEach((B, b) => {
      if (!A.meets[b]) return;
      const r = Math.fround(A.radius + B.radius);
      const reach = A.radius + B.radius + A.margin + B.margin;
      const offer = (
        kind: ListedPair["kind"],
        particles: ListedPair["particles"],
        of: (x: readonly Vector[]) => Closest,
      ): void => {
        if (particles.every((p) => w[p] === 0)) return;
        const closest = of(x);
        const ways = particles.map((p) => trajectories[p]!);
        const relative = Math.max(...ways.flatMap((a) => ways.map((b) => norm(subtract(a, b)))));
        if (!(closest.distance - relative <= slack * reach)) return;
        const first = kind === "vertex" ? 1 : 2;
        const n = closest.distance > 0 ? scale(1 / closest.distance, closest.difference) : ([0, 0, 0] as Vector);
        const approach = Math.max(
          0,
          ...ways.slice(0, first).flatMap((a) => ways.slice(first).map((b) => -dot(n, subtract(a, b)))),
        );
        const later = (t: number): number =>
          of(
            particles.reduce<Vector[]>((at, p, i) => {
              at[p] = add(x[p]!, scale(t, ways[i]!));
              return at;
            }, []),
          ).distance;
        const atRest = a === b ? of(rest).distance : Infinity;
        found.push({
          ...closest,
          kind,
          particles,
          surfaces: [a, b],
          reach,
          thickness: atRest < r ? 0.9 * atRest : r,
          bound: closest.distance - approach,
          relative,
          comesWithin: (limit) => goesBelow(later, relative, limit),
        });
      };
      for (const p of A.vertices) {
        for (const [i, j, k] of B.triangles as [number, number, number][]) {
          if (a === b && (p === i || p === j || p === k)) continue;
          offer("vertex", [p, i, j, k], (x) => vertexTriangleDistance(x[p]!, x[i]!, x[j]!, x[k]!));
        }
      }
      if (a > b) return;
      A.edges.forEach(([i, j], e) =>
        B.edges.forEach(([k, l], f) => {
          if (a === b && (e >= f || i === k || i === l || j === k || j === l)) return;
          offer("edges", [i!, j!, k!, l!], (x) => edgesDistance(x[i!]!, x[j!]!, x[k!]!, x[l!]!));
        }),
      );
    }),
  );
  return found;
}
