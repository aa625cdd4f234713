/**
 * Finds intersecting triangles of a laboratory's surfaces with the checker's exact test (server/tools/check), which
 * does not use code of the simulation.
 */
import { CROSSING, trianglesMeet } from "../../../server/tools/check/triangles.ts";
import type { Laboratory } from "../laboratory.ts";

/**
 * @param between whether triangles of one surface may intersect
 * @returns number of pairs of triangles, of bodies and core meshes, that share no corner and intersect
 */
export function crossings({ created: { layout, memory, bodies } }: Laboratory, between = false): number {
  const triangles = [
    ...bodies.map((body, b) => Array.from(body.triangles, (p) => layout.bodies[b]!.first + p)),
    ...layout.cores.map((core) => [...core.triangles]),
  ];
  const movable = bodies.reduce((n, b) => n + b.triangles.length / 3, 0);
  const all = triangles.flat();
  const owners = triangles.flatMap((corners, surface) => corners.map(() => surface));
  const rows = new Float32Array(memory.buffer, layout.x);
  const count = Math.max(...all) + 1;
  const x = new Float32Array(3 * count);
  for (let i = 0; i < 3 * count; i++) x[i] = rows[4 * Math.floor(i / 3) + (i % 3)]!;
  const box = (t: number, r: number, of: (...values: number[]) => number): number =>
    of(x[3 * all[3 * t]! + r]!, x[3 * all[3 * t + 1]! + r]!, x[3 * all[3 * t + 2]! + r]!);
  const low = Float32Array.from({ length: all.length }, (_, i) => box(Math.floor(i / 3), i % 3, Math.min));
  const high = Float32Array.from({ length: all.length }, (_, i) => box(Math.floor(i / 3), i % 3, Math.max));
  const ids = new Uint32Array(6);
  let found = 0;
  for (let a = 0; a < movable; a++) {
    next: for (let b = a + 1; b < all.length / 3; b++) {
      if (between && owners[3 * a] === owners[3 * b]) continue;
      for (let r = 0; r < 3; r++)
        if (low[3 * a + r]! > high[3 * b + r]! || low[3 * b + r]! > high[3 * a + r]!) continue next;
      for (let k = 0; k < 3; k++) {
        ids[k] = all[3 * a + k]!;
        ids[3 + k] = all[3 * b + k]!;
      }
      if (new Set(ids).size === 6 && trianglesMeet({ x, stride: 3 * count }, ids, 0) === CROSSING) found++;
    }
  }
  return found;
}
