/**
 * Walls of fluids: finds points near a wall, and computes sums over the fluid's lattice. To each point, a wall is a
 * half space of fluid.
 */
import type { Wall } from "../method.ts";

/**
 * Visits the points nearer to a wall than H, with the number, the distance and the wall's normal there. A shape other
 * than a plane is treated as a plane at each point.
 * @param x float64[3N] m
 * @param H m
 */
export function eachNear(
  wall: Wall,
  x: Float64Array,
  H: number,
  visit: (point: number, distance: number, normal: Float64Array) => void,
): void {
  const { plane } = wall;
  const n = Float64Array.from(plane ?? [0, 0, 0]);
  const [nx, ny, nz] = n as unknown as [number, number, number];
  const offset = wall.distanceTo(0, 0, 0);
  for (let k = 0, at = 0; at < x.length; k++, at += 3) {
    const px = x[at]!;
    const py = x[at + 1]!;
    const pz = x[at + 2]!;
    const d = plane ? nx * px + ny * py + nz * pz + offset : wall.distanceTo(px, py, pz);
    if (!(d < H)) continue;
    if (!plane) normalOf(wall, px, py, pz, 1e-3 * H, n);
    visit(k, d, n);
  }
}

/**
 * Normal by central differences of a signed distance.
 * @param e m
 * @param n float64[3] out
 */
function normalOf({ distanceTo }: Wall, x: number, y: number, z: number, e: number, n: Float64Array): void {
  n[0] = distanceTo(x + e, y, z) - distanceTo(x - e, y, z);
  n[1] = distanceTo(x, y + e, z) - distanceTo(x, y - e, z);
  n[2] = distanceTo(x, y, z + e) - distanceTo(x, y, z - e);
  const l = Math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) || 1;
  for (let r = 0; r < 3; r++) n[r]! /= l;
}

/**
 * Sums of W/W(0) over the cubic lattice: over all of it, and over the first layers on one side of a point's own.
 * @param weight of q = r/H, 0 from 1 on
 * @param reach H in spacings, at most 3
 */
export function latticeSums(
  weight: (q: number) => number,
  reach: number,
  layers: number,
): { all: number; side: number } {
  let all = 0;
  let side = 0;
  for (let i = -2; i <= 2; i++)
    for (let j = -2; j <= 2; j++)
      for (let k = -2; k <= 2; k++) {
        const w = weight(Math.sqrt(i * i + j * j + k * k) / reach);
        all += w;
        if (i > 0 && i <= layers) side += w;
      }
  return { all, side };
}
