/**
 * Rest coordinates of a solid for light inside of it (jelly.ts): a box's own axes, or the world's for other
 * shapes, whose inside is taken as the ellipsoid in their bounding box.
 */

export interface Interior {
  /** float32[3*count] m, from the middle. */
  at: Float32Array;
  /** Half of the extents, m. */
  half: [number, number, number];
  /** True for a box. */
  box: boolean;
}

type Axis = readonly [number, number, number];

/** Faces of a box have normals along its axes: least cosine. */
const ALONG = 0.98;
const WORLD: readonly Axis[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];

/**
 * @param rest float32[3*count] m
 * @param triangles uint32[3*T]
 */
export function interiorOf(rest: Float32Array, triangles: Uint32Array): Interior {
  const axes = boxAxes(rest, triangles);
  const at = new Float32Array(rest.length);
  const half: Interior["half"] = [0, 0, 0];
  (axes ?? WORLD).forEach((axis, k) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = 0; i < rest.length; i += 3) {
      const x = axis[0] * rest[i]! + axis[1] * rest[i + 1]! + axis[2] * rest[i + 2]!;
      at[i + k] = x;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    for (let i = k; i < at.length; i += 3) at[i]! -= 0.5 * (low + high);
    half[k] = Math.max(1e-6, 0.5 * (high - low));
  });
  return { at, half, box: axes !== undefined };
}

/** Axes of a box, right-handed; undefined if the surface is not one. */
function boxAxes(rest: Float32Array, triangles: Uint32Array): readonly Axis[] | undefined {
  const axes: Axis[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const normal = normalAt(rest, triangles, t);
    const cosines = axes.map((axis) => Math.abs(dot(axis, normal)));
    if (cosines.some((cosine) => cosine > ALONG)) continue;
    if (axes.length === 3 || cosines.some((cosine) => cosine > 1 - ALONG)) return undefined;
    axes.push(normal);
  }
  const [x, y] = axes;
  return axes.length === 3 ? [x!, y!, cross(x!, y!)] : undefined;
}

function normalAt(rest: Float32Array, triangles: Uint32Array, t: number): Axis {
  const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]!) as [number, number, number];
  const step = (to: number): Axis => [rest[to]! - rest[a]!, rest[to + 1]! - rest[a + 1]!, rest[to + 2]! - rest[a + 2]!];
  const [x, y, z] = cross(step(b), step(c));
  const length = Math.max(1e-30, Math.hypot(x, y, z));
  return [x / length, y / length, z / length];
}

const dot = (a: Axis, b: Axis): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Axis, b: Axis): Axis => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
