/** Depth of a finding, m. Plain float64, because it only informs and sorts. */

type Point = readonly [number, number, number];

const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a: Point, b: Point): Point => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const dot = (a: Point, b: Point): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** Position of particle `id` in a frame. */
function pointOf(x: Float32Array, stride: number, frame: number, id: number): Point {
  const at = frame * stride + 3 * id;
  return [x[at]!, x[at + 1]!, x[at + 2]!];
}

/** Distance of `to` from `from` along a normal; 0 if the normal has no length. */
function height(normal: Point, from: Point, to: Point): number {
  const length = Math.sqrt(dot(normal, normal));
  return length > 0 ? dot(normal, minus(to, from)) / length : 0;
}

/**
 * Distance of the vertex from the triangle's plane (four ids), or between the lines of two edges: how far they have
 * passed each other.
 */
export function gap(x: Float32Array, stride: number, frame: number, ids: ArrayLike<number>, edges: boolean): number {
  const [a, b, c, d] = Array.from(ids, (id) => pointOf(x, stride, frame, id)) as [Point, Point, Point, Point];
  return Math.abs(
    edges ? height(cross(minus(b, a), minus(d, c)), a, c) : height(cross(minus(c, b), minus(d, b)), b, a),
  );
}

/** The shortest move along one of the two normals that separates two intersecting triangles (six ids). */
export function overlap(x: Float32Array, stride: number, frame: number, ids: ArrayLike<number>): number {
  const points = Array.from(ids, (id) => pointOf(x, stride, frame, id));
  const through = (of: readonly Point[], by: readonly Point[]): number => {
    const normal = cross(minus(of[1]!, of[0]!), minus(of[2]!, of[0]!));
    const heights = by.map((p) => height(normal, of[0]!, p));
    return Math.max(0, Math.min(Math.max(...heights), -Math.min(...heights)));
  };
  return Math.min(through(points.slice(0, 3), points.slice(3)), through(points.slice(3), points.slice(0, 3)));
}
