/**
 * Surfaces of revolution as triangles: a closed outline in the half plane of (radius from the axis, height along it),
 * turned about the axis in `turns` steps. Rings of the outline become regular polygons; a point on the axis becomes one
 * vertex, so nothing is doubled and the surface is closed. Quads between two rings are planar (two parallel sides), so
 * it does not matter how they are cut in two.
 */
import type { Vec3 } from "../../../shared/scene.ts";
import type { SurfaceMesh } from "../../meshing/mesh.ts";

/** m: radius (below 0: beyond the axis) and height over the first end. */
export type OutlinePoint = readonly [radius: number, height: number];

/**
 * @param outline counter-clockwise in the plane (radius to the right, height up), closed; what lies beyond the axis is
 *   cut off
 * @param a, b m, ends of the axis: height counts from a towards b
 * @returns outward (counter-clockwise seen from outside), closed if the outline is simple
 */
export function revolve(outline: readonly OutlinePoint[], a: Vec3, b: Vec3, turns: number): SurfaceMesh {
  const { u, e, f } = frameOf(a, b);
  const kept = cutAtAxis(outline);
  const positions: number[] = [];
  const triangles: number[] = [];
  const point = (radius: number, height: number, turn: number): void => {
    const angle = (2 * Math.PI * turn) / turns;
    const c = radius * Math.cos(angle);
    const s = radius * Math.sin(angle);
    for (let r = 0; r < 3; r++) positions.push(a[r]! + height * u[r]! + c * e[r]! + s * f[r]!);
  };
  // first vertex of each ring; a pole is a ring of one
  const rings = kept.map(([radius, height]) => {
    const first = positions.length / 3;
    if (radius === 0) point(0, height, 0);
    else for (let k = 0; k < turns; k++) point(radius, height, k);
    return { pole: radius === 0, first };
  });
  rings.forEach((low, i) => {
    const high = rings[(i + 1) % rings.length]!;
    if (low.pole && high.pole) return;
    for (let k = 0; k < turns; k++) {
      const next = (k + 1) % turns;
      if (!low.pole) triangles.push(low.first + k, low.first + next, high.pole ? high.first : high.first + next);
      if (!high.pole) triangles.push(low.pole ? low.first : low.first + k, high.first + next, high.first + k);
    }
  });
  return { positions: Float64Array.from(positions), triangles: Uint32Array.from(triangles) };
}

/** Right-handed: u along the axis, e x f = u. */
function frameOf(a: Vec3, b: Vec3): { u: number[]; e: number[]; f: number[] } {
  const axis = b.map((x, r) => x - a[r]!);
  const length = Math.sqrt(axis.reduce((s, c) => s + c * c, 0));
  const u = axis.map((c) => c / length);
  // across the axis, from the coordinate direction that it is farthest from
  const least = u.reduce((k, c, r) => (Math.abs(c) < Math.abs(u[k]!) ? r : k), 0);
  const along = u[least]!;
  const across = u.map((c, r) => (r === least ? 1 : 0) - along * c);
  const size = Math.sqrt(across.reduce((s, c) => s + c * c, 0));
  const e = across.map((c) => c / size);
  return { u, e, f: [u[1]! * e[2]! - u[2]! * e[1]!, u[2]! * e[0]! - u[0]! * e[2]!, u[0]! * e[1]! - u[1]! * e[0]!] };
}

/**
 * The part of a closed outline with radius >= 0; where it crosses the axis it gets a point of radius 0 (Sutherland &
 * Hodgman 1974, one plane).
 */
function cutAtAxis(outline: readonly OutlinePoint[]): OutlinePoint[] {
  const kept: OutlinePoint[] = [];
  outline.forEach((from, i) => {
    const to = outline[(i + 1) % outline.length]!;
    if (from[0] >= 0) kept.push(from);
    if (from[0] * to[0] < 0) kept.push([0, from[1] + (from[0] / (from[0] - to[0])) * (to[1] - from[1])]);
  });
  return kept;
}
