/** Selects the particles of a pin or load, and spreads a load's force over them. */
import type { Selection, Vec3 } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import type { Shape } from "./template.ts";

/**
 * @param body its particles' positions, placed and undeformed, m; and their numbers in the mesh file
 * @param path of the selection in the scene, for the error
 */
export function selectParticles(
  select: Selection,
  { positions, origin, merged }: Pick<Shape, "positions" | "origin" | "merged">,
  path: string,
): number[] {
  const wanted = select.particles && new Set(select.particles.map((particle) => merged?.get(particle) ?? particle));
  const chosen: number[] = [];
  for (let i = 0; i < origin.length; i++) {
    const x = [positions[3 * i]!, positions[3 * i + 1]!, positions[3 * i + 2]!];
    if (wanted && !wanted.has(origin[i]!)) continue;
    if (select.box && !x.every((c, r) => c >= select.box!.min[r]! && c <= select.box!.max[r]!)) continue;
    if (select.sphere) {
      const d = x.map((c, r) => c - select.sphere!.center[r]!);
      if (d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]! > select.sphere.radius ** 2) continue;
    }
    chosen.push(i);
  }
  if (wanted) {
    const known = new Set(origin);
    const missing = [...wanted].find((p) => !known.has(p));
    if (missing !== undefined)
      throw new SceneError(`${path}/particles`, missing, `a particle of the body's ${origin.length}`);
  }
  if (chosen.length === 0) throw new SceneError(path, select, "a selection with at least one particle in it");
  return chosen;
}

/** A body under a load, in any axes: only lengths and areas are used. */
interface LoadedBody {
  /** float64[3N] m */
  positions: Float64Array;
  /** uint32[3T] */
  triangles: Uint32Array;
  /** float64[N] kg */
  mass: Float64Array;
}

/**
 * Spreads a total force over particles: the consistent nodal load of a uniform traction. A selected face (surface
 * triangles whose corners are all selected) takes it by area, a third of each triangle to each corner. Without a face,
 * a selected hem (edges of only one triangle whose ends are selected) takes it by length, half of each edge to each
 * end. Without both, force follows mass, which alternates along a hem with the mesh's diagonals.
 * @param force float64[3N] N, inout
 */
export function addLoad(
  force: Float64Array,
  chosen: readonly number[],
  total: Vec3,
  distribute: "area" | "mass",
  body: LoadedBody,
): void {
  let weight = new Map<number, number>();
  if (distribute === "area") {
    const inside = new Set(chosen);
    weight = areas(inside, body);
    if (weight.size === 0) weight = hemLengths(inside, body);
  }
  if (weight.size === 0) for (const p of chosen) weight.set(p, body.mass[p]!);
  let sum = 0;
  for (const w of weight.values()) sum += w;
  for (const [p, w] of weight) for (let r = 0; r < 3; r++) force[3 * p + r] = force[3 * p + r]! + (total[r]! * w) / sum;
}

/** Third of the area of the wholly selected triangles, m^2, by corner. */
function areas(inside: ReadonlySet<number>, { positions: x, triangles }: LoadedBody): Map<number, number> {
  const weight = new Map<number, number>();
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [...triangles.subarray(t, t + 3)] as [number, number, number];
    if (!corners.every((c) => inside.has(c))) continue;
    const [a, b, c] = corners;
    const u = [0, 1, 2].map((r) => x[3 * b + r]! - x[3 * a + r]!);
    const v = [0, 1, 2].map((r) => x[3 * c + r]! - x[3 * a + r]!);
    const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    const area = 0.5 * Math.sqrt(n[0]! * n[0]! + n[1]! * n[1]! + n[2]! * n[2]!);
    for (const p of corners) weight.set(p, (weight.get(p) ?? 0) + area / 3);
  }
  return weight;
}

/** Half of the length of the selected edges that belong to one triangle, m, by end. */
function hemLengths(inside: ReadonlySet<number>, { positions: x, triangles }: LoadedBody): Map<number, number> {
  const triangleCounts = new Map<string, number>();
  for (let corner = 0; corner < triangles.length; corner++) {
    const p = triangles[corner]!;
    const q = triangles[corner % 3 === 2 ? corner - 2 : corner + 1]!;
    if (!inside.has(p) || !inside.has(q)) continue;
    const edge = p < q ? `${p} ${q}` : `${q} ${p}`;
    triangleCounts.set(edge, (triangleCounts.get(edge) ?? 0) + 1);
  }
  const weight = new Map<number, number>();
  for (const [edge, count] of triangleCounts) {
    if (count !== 1) continue;
    const [p, q] = edge.split(" ").map(Number) as [number, number];
    const d = [0, 1, 2].map((r) => x[3 * p + r]! - x[3 * q + r]!);
    const length = Math.sqrt(d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!);
    for (const end of [p, q]) weight.set(end, (weight.get(end) ?? 0) + length / 2);
  }
  return weight;
}
