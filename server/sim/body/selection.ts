/** Which particles a pin or load means, and how a load's force is spread over them. */
import type { Selection, Vec3 } from "../../../shared/scene.ts";
import { SceneError } from "../../../shared/sceneError.ts";

/**
 * @param positions float64[3N] m, placed and undeformed
 * @param origin uint32[N], the number that the scene file knows each particle by
 * @param path of the selection in the scene, for the error
 */
export function selectParticles(
  select: Selection,
  positions: Float64Array,
  origin: Uint32Array,
  path: string,
): number[] {
  const wanted = select.particles && new Set(select.particles);
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

/**
 * Spreads a total force over particles, in proportion to the surface area around each (a third of every surface
 * triangle whose corners are all selected: the consistent nodal load of a uniform traction) or to mass. Falls back to
 * mass where no triangle is selected whole.
 * @param force float64[3N] N, inout
 * @param body positions float64[3N] m, in any axes: only areas are taken from them
 */
export function addLoad(
  force: Float64Array,
  chosen: readonly number[],
  total: Vec3,
  distribute: "area" | "mass",
  body: { positions: Float64Array; triangles: Uint32Array; mass: Float64Array },
): void {
  const weight = new Map<number, number>();
  if (distribute === "area") {
    const inside = new Set(chosen);
    for (let t = 0; t < body.triangles.length; t += 3) {
      const corners = [...body.triangles.subarray(t, t + 3)];
      if (!corners.every((c) => inside.has(c))) continue;
      const [a, b, c] = corners.map((p) => body.positions.subarray(3 * p, 3 * p + 3)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const u = [0, 1, 2].map((r) => b[r]! - a[r]!);
      const v = [0, 1, 2].map((r) => c[r]! - a[r]!);
      const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
      const area = 0.5 * Math.sqrt(n[0]! * n[0]! + n[1]! * n[1]! + n[2]! * n[2]!);
      for (const p of corners) weight.set(p, (weight.get(p) ?? 0) + area / 3);
    }
  }
  if (weight.size === 0) for (const p of chosen) weight.set(p, body.mass[p]!);
  let sum = 0;
  for (const w of weight.values()) sum += w;
  for (const [p, w] of weight) for (let r = 0; r < 3; r++) force[3 * p + r] = force[3 * p + r]! + (total[r]! * w) / sum;
}
