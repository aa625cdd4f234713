/**
 * Exact continuous collision test: do a vertex and a triangle, or two edges, touch while their corners move in straight
 * lines from t = 0 to t = 1? Primitives are closed, so touching is a hit. Coordinates are converted to integers over a
 * power of two, and nothing is rounded. Four points are coplanar at the roots of
 *   f(t) = N . (p - a),  N = (b - a) x (c - a)      vertex p, triangle a b c
 *   f(t) = N . (c - a),  N = (b - a) x (d - c)      edges a b and c d
 * (Provot 1997), a cubic. At each root in [0, 1] the signs of polynomials decide whether the primitives meet:
 *   vertex-triangle: N . ((b - a) x (p - a)) >= 0 and the same for the two other sides
 *   edge-edge, a + s u / N.N = c + r v / N.N:  0 <= s = ((c - a) x v) . N <= N.N and 0 <= r = ((c - a) x u) . N <= N.N
 * Where N vanishes (a triangle without area, parallel edges), the primitives meet if an end lies on a segment. If f is
 * zero for all t, the first contact is at 0 or at a root of one of these polynomials, where its condition becomes true.
 */
import { cross, dot, minus, straight, subtract, type Moving, type Polynomial } from "./polynomial.ts";
import { toIntegers } from "./integers.ts";
import { at, rootsBetween0And1, signAtRoot, timeOf, type Root } from "./roots.ts";

/** Condition that point p is on the segment a b: (b - a) x (p - a) = 0 and (p - a) . (p - b) <= 0 */
interface OnSegment {
  line: Moving;
  between: Polynomial;
}

function onSegment(p: Moving, a: Moving, b: Moving): OnSegment {
  return { line: cross(minus(b, a), minus(p, a)), between: dot(minus(p, a), minus(p, b)) };
}

const holds = ({ line, between }: OnSegment, t: Root): boolean =>
  line.every((c) => signAtRoot(c, t) === 0) && signAtRoot(between, t) <= 0;

interface Question {
  /** Zero when the four points are coplanar. */
  plane: Polynomial;
  normal: Moving;
  /** All must be >= 0 if the normal is not zero. */
  inside: Polynomial[];
  /** If the normal is zero, one of these must hold. */
  segments: OnSegment[];
}

/** Returns the first time of touch, or -1. */
function answer({ plane, normal, inside, segments }: Question): number {
  const meets = (t: Root): boolean =>
    normal.some((c) => signAtRoot(c, t) !== 0)
      ? inside.every((g) => signAtRoot(g, t) >= 0)
      : segments.some((segment) => holds(segment, t));
  const candidates =
    plane.length > 0
      ? rootsBetween0And1(plane)
      : [
          at(0n),
          at(1n),
          ...[dot(normal, normal), ...inside, ...segments.flatMap(({ line, between }) => [...line, between])].flatMap(
            rootsBetween0And1,
          ),
        ];
  let first = -1;
  for (const root of candidates) {
    if (!meets(root)) continue;
    const time = timeOf(root);
    if (first < 0 || time < first) first = time;
  }
  return first;
}

function motions(q: ArrayLike<number>): [Moving, Moving, Moving, Moving] {
  if (q.length !== 24)
    throw new RangeError(`q has ${q.length} numbers; expected 24: four points at t = 0, then at t = 1`);
  const whole = toIntegers(q);
  return [straight(whole, 0, 12), straight(whole, 3, 15), straight(whole, 6, 18), straight(whole, 9, 21)];
}

/**
 * @param q float64[24] vertex, three corners at t = 0; the same at t = 1
 * @returns the first time in [0, 1] at which they touch, within 2^-53, or -1 if they never do
 * @throws RangeError for another length or a number that is not finite
 */
export function vertexTriangle(q: ArrayLike<number>): number {
  const [p, a, b, c] = motions(q);
  const ab = minus(b, a);
  const ap = minus(p, a);
  const normal = cross(ab, minus(c, a));
  const plane = dot(normal, ap);
  const side = (from: Moving, to: Moving): Polynomial => dot(normal, cross(minus(to, from), minus(p, from)));
  return answer({
    plane,
    normal,
    inside: [side(a, b), side(b, c), side(c, a)],
    segments: [onSegment(p, a, b), onSegment(p, b, c), onSegment(p, c, a)],
  });
}

/**
 * @param q float64[24] ends of one edge and of the other at t = 0; the same at t = 1
 * @returns the first time in [0, 1] at which they touch, within 2^-53, or -1 if they never do
 * @throws RangeError for another length or a number that is not finite
 */
export function edgeEdge(q: ArrayLike<number>): number {
  const [a, b, c, d] = motions(q);
  const u = minus(b, a);
  const v = minus(d, c);
  const w = minus(c, a);
  const normal = cross(u, v);
  const plane = dot(normal, w);
  const square = dot(normal, normal);
  const s = dot(cross(w, v), normal);
  const r = dot(cross(w, u), normal);
  return answer({
    plane,
    normal,
    inside: [s, r, subtract(square, s), subtract(square, r)],
    segments: [onSegment(c, a, b), onSegment(d, a, b), onSegment(a, c, d), onSegment(b, c, d)],
  });
}
