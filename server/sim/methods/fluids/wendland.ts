/**
 * Kernel of smoothed particles, W = (1 - q)^4 (1 + 4q), q = r/H (Wendland 1995); its sum over a fluid's initial
 * lattice; and the contribution of a half space of it to a point near a wall (smoothedParticles.ts has the equations).
 */
import { latticeSums } from "./halfSpaces.ts";

/** H in spacings: here the density sums over simple, body- and face-centered cubic lattices differ by 0.2 %. */
export const REACH = 2.2;
/** Share of the lattice's sum that settled points have at the same density. */
const SETTLED = 0.996;

const weightAt = (q: number): number => (q < 1 ? (1 - q) * (1 - q) * (1 - q) * (1 - q) * (1 + 4 * q) : 0);
/** Part of W beyond a plane at the distance (1 - u) H, and its slope along u. */
const beyond = (u: number): number => u * u * u * u * u * u * (3.5 - 4.5 * u + 1.5 * u * u);
const slopeOfBeyond = (u: number): number => 21 * u * u * u * u * u * (1 - 1.5 * u + (4 / 7) * u * u);

const LATTICE = latticeSums(weightAt, REACH, 2);
/** Sum of W over the fluid's lattice. */
export const W_0 = SETTLED * LATTICE.all;
/** w(d) = WALL beyond^2: the density that a layer at half a spacing is missing, with twice the slope. */
const WALL = LATTICE.side / LATTICE.all / beyond(1 - 0.5 / REACH) ** 2;
const MOST_WALL = 0.95;

/** w at the distance d from a wall, and its slope. */
export function wallAt(d: number, H: number): number {
  const b = beyond(d > 0 ? 1 - d / H : 1);
  return Math.min(MOST_WALL, WALL * b * b);
}
export function wallSlope(d: number, H: number): number {
  if (!(d > 0)) return 0;
  const u = 1 - d / H;
  return (-2 * WALL * beyond(u) * slopeOfBeyond(u)) / H;
}
