/**
 * Surfaces of revolution as triangles: a closed outline in the half plane of (radius from the axis, height along it),
 * revolved about the axis in `turns` steps. Rings of the outline become regular polygons. A point on the axis becomes
 * one vertex, so there are no duplicates and the surface is closed. Quads between two rings are planar (two parallel
 * sides), so either diagonal may cut them.
 */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { SurfaceMesh } from "../../meshing/mesh.ts";

/** Radius, m (below 0: beyond the axis), and height above the first end, m. */
export type OutlinePoint = readonly [radius: number, height: number];

/**
 * @param outline counterclockwise in the plane (radius to the right, height up), closed; parts beyond the axis are cut
 * off
 * @param a first end of the axis, m
 * @param b second end, m; height counts from a towards b
 * @returns triangles counterclockwise from outside; closed if the outline is simple
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

/** Right-handed frame: u along the axis, e x f = u. */
function frameOf(a: Vec3, b: Vec3): { u: number[]; e: number[]; f: number[] } {
  const axis = b.map((x, r) => x - a[r]!);
  const length = Math.sqrt(axis.reduce((s, c) => s + c * c, 0));
  const u = axis.map((c) => c / length);
  // perpendicular to the axis, from the coordinate direction farthest from it
  const least = u.reduce((k, c, r) => (Math.abs(c) < Math.abs(u[k]!) ? r : k), 0);
  const along = u[least]!;
  const across = u.map((c, r) => (r === least ? 1 : 0) - along * c);
  const size = Math.sqrt(across.reduce((s, c) => s + c * c, 0));
  const e = across.map((c) => c / size);
  return { u, e, f: [u[1]! * e[2]! - u[2]! * e[1]!, u[2]! * e[0]! - u[0]! * e[2]!, u[0]! * e[1]! - u[1]! * e[0]!] };
}

/**
 * Part of a closed outline with radius >= 0, with a point of radius 0 wherever it crosses the axis (Sutherland &
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
