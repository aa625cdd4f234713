/** An intersecting edge and triangle, measured: where they meet, and the triangle's position relative to the edge. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";

export interface Intersection {
  /** Numbers of the surfaces: the edge's, the triangle's. */
  edgeOf: number;
  triangleOf: number;
  /** Room numbers: the edge's two particles, then the triangle's three. */
  particles: [number, number, number, number, number];
  /** True if the edge passes through the triangle, false if it only touches it. */
  crosses: boolean;
  /** Unit normal of the triangle; zeros if it has no area. */
  normal: Vec3;
  /** Heights of the edge's ends above the triangle's plane, m. */
  heights: [number, number];
  /** Meeting point: share of the edge's second end, and shares of the triangle's corners. */
  along: number;
  shares: Vec3;
}

export const minus = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const plus = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const times = (s: number, a: Vec3): Vec3 => [s * a[0], s * a[1], s * a[2]];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const length = (a: Vec3): number => Math.sqrt(dot(a, a));
/** Unit vector; zeros for a vector without a direction. */
export function unit(a: Vec3): Vec3 {
  const l = length(a);
  return l > 0 && l < Infinity ? times(1 / l, a) : [0, 0, 0];
}

/**
 * Reads the rows of H_INTERSECTIONS, as the last search left them.
 * @param x address of the room's positions
 */
export function readIntersections({ f32, i32 }: Views, x: number): Intersection[] {
  const rows = i32[(L.HEADER + L.H_INTERSECTIONS) / 4]! / 4;
  const count = i32[(L.HEADER + L.H_INTERSECTION_COUNT) / 4]!;
  const at = (particle: number): Vec3 => [
    f32[x / 4 + 4 * particle]!,
    f32[x / 4 + 4 * particle + 1]!,
    f32[x / 4 + 4 * particle + 2]!,
  ];
  return Array.from({ length: count }, (_, n) => {
    const row = rows + (n * L.INTERSECTION_BYTES) / 4;
    const both = i32[row + L.INTERSECTION_SURFACES / 4]!;
    const particles = Array.from(
      i32.subarray(row, row + 5),
      (address) => (address - x) / 16,
    ) as Intersection["particles"];
    return {
      edgeOf: both >>> 16,
      triangleOf: both & 0xffff,
      particles,
      crosses: i32[row + L.INTERSECTION_CROSSES / 4] === 1,
      ...measure(particles.map(at) as [Vec3, Vec3, Vec3, Vec3, Vec3]),
    };
  });
}

function measure([a, b, c, d, e]: [Vec3, Vec3, Vec3, Vec3, Vec3]): Pick<
  Intersection,
  "normal" | "heights" | "along" | "shares"
> {
  const whole = cross(minus(d, c), minus(e, c));
  const normal = unit(whole);
  const heights: [number, number] = [dot(normal, minus(a, c)), dot(normal, minus(b, c))];
  const apart = heights[0] - heights[1];
  const along = apart !== 0 ? Math.min(1, Math.max(0, heights[0] / apart)) : 0.5;
  // shares of the corners where the edge meets the plane, moved into the triangle if rounding or a touch puts them
  // outside
  const p = plus(a, times(along, minus(b, a)));
  const area = dot(whole, whole);
  const share = (q: Vec3, r: Vec3): number =>
    area > 0 ? Math.max(0, dot(cross(minus(q, p), minus(r, p)), whole) / area) : 1 / 3;
  const shares: Vec3 = [share(d, e), share(e, c), share(c, d)];
  const sum = shares[0] + shares[1] + shares[2];
  return { normal, heights, along, shares: sum > 0 && sum < Infinity ? times(1 / sum, shares) : [1 / 3, 1 / 3, 1 / 3] };
}
