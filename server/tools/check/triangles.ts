/**
 * Static intersections of one frame, decided exactly. Signs of determinants come from Shewchuk's adaptive predicates
 * (1997), which are exact for binary32 coordinates: no product of three differences overflows or underflows.
 * Two triangles cross if an edge of one passes through the interior of the other. They touch if they meet in any other
 * way, which the exact swept tests decide with corners at rest.
 */
import { orient3d } from "robust-predicates";
import { edgeEdge, vertexTriangle } from "./exact/swept.ts";
import { openFrames, pieces, type Frames } from "./separate.ts";

const APART = 0;
export const TOUCHING = 1;
export const CROSSING = 2;

/**
 * Minus the sign of (b - a) x (c - a) . (d - a); callers only compare signs.
 * @param a offset of the point in x, as are b, c and d
 */
function orient(x: Float32Array, a: number, b: number, c: number, d: number): number {
  return Math.sign(
    orient3d(
      x[a]!,
      x[a + 1]!,
      x[a + 2]!,
      x[b]!,
      x[b + 1]!,
      x[b + 2]!,
      x[c]!,
      x[c + 1]!,
      x[c + 2]!,
      x[d]!,
      x[d + 1]!,
      x[d + 2]!,
    ),
  );
}

/**
 * Whether the segment p q passes through the interior of the triangle a b c, given that its ends are on different
 * sides.
 */
function pierces(x: Float32Array, p: number, q: number, a: number, b: number, c: number): boolean {
  const first = orient(x, p, q, a, b);
  return first !== 0 && orient(x, p, q, b, c) === first && orient(x, p, q, c, a) === first;
}

const SIDES = [
  [0, 1],
  [1, 2],
  [2, 0],
] as const;

/**
 * @param ids particles of the first triangle, then of the second, none in both
 * @returns APART, TOUCHING or CROSSING
 */
export function trianglesMeet({ x, stride }: Frames, ids: ArrayLike<number>, frame: number): number {
  const at = (i: number): number => frame * stride + 3 * ids[i]!;
  const [a, b] = [
    [at(0), at(1), at(2)],
    [at(3), at(4), at(5)],
  ] as [number[], number[]];
  const sides = (of: number[], from: number[]): number[] => of.map((p) => orient(x, from[0]!, from[1]!, from[2]!, p));
  const ofA = sides(a, b);
  if (ofA[0] !== 0 && ofA[1] === ofA[0] && ofA[2] === ofA[0]) return APART;
  const ofB = sides(b, a);
  if (ofB[0] !== 0 && ofB[1] === ofB[0] && ofB[2] === ofB[0]) return APART;
  for (const [i, j] of SIDES) {
    if (ofA[i]! * ofA[j]! < 0 && pierces(x, a[i]!, a[j]!, b[0]!, b[1]!, b[2]!)) return CROSSING;
    if (ofB[i]! * ofB[j]! < 0 && pierces(x, b[i]!, b[j]!, a[0]!, a[1]!, a[2]!)) return CROSSING;
  }
  return touch({ x, stride }, ids, frame) ? TOUCHING : APART;
}

/**
 * For triangles that share only their first corners (ids[0] = ids[3]): does the opposite side of one pass through the
 * interior of the other?
 */
export function neighborsCross({ x, stride }: Frames, ids: ArrayLike<number>, frame: number): boolean {
  const at = (i: number): number => frame * stride + 3 * ids[i]!;
  const [s, a, b, , c, d] = [0, 1, 2, 3, 4, 5].map(at) as [number, number, number, number, number, number];
  return (
    (orient(x, s, c, d, a) * orient(x, s, c, d, b) < 0 && pierces(x, a, b, s, c, d)) ||
    (orient(x, s, a, b, c) * orient(x, s, a, b, d) < 0 && pierces(x, c, d, s, a, b))
  );
}

const vertexFace = pieces(1, 3);
const edges = pieces(2, 2);

/** Exact test of closed primitives: some vertex on a triangle, or two edges that meet. */
function touch(frames: Frames, ids: ArrayLike<number>, frame: number): boolean {
  const { x, stride } = frames;
  const base = frame * stride;
  const meet = (pair: typeof edges, test: (q: readonly number[]) => number, corners: readonly number[]): boolean => {
    corners.forEach((corner, i) => (pair.ids[i] = ids[corner]!));
    let open = false;
    openFrames(frames, pair, frame, frame, () => (open = true));
    if (!open) return false;
    const q = corners.flatMap((corner) => [0, 1, 2].map((r) => x[base + 3 * ids[corner]! + r]!));
    return test([...q, ...q]) >= 0;
  };
  for (let i = 0; i < 3; i++) {
    if (meet(vertexFace, vertexTriangle, [i, 3, 4, 5]) || meet(vertexFace, vertexTriangle, [3 + i, 0, 1, 2]))
      return true;
    for (const [c, d] of SIDES) if (meet(edges, edgeEdge, [i, (i + 1) % 3, 3 + c, 3 + d])) return true;
  }
  return false;
}
