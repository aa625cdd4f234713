/**
 * The kernel of smoothed particles, W = (1 - q)^4 (1 + 4q), q = r/H (Wendland 1995), its sum over the lattice that a
 * fluid begins as, and what half a space of it adds to a point before a wall (smoothedParticles.ts has the equations).
 */
import { latticeSums } from "./halfSpaces.ts";

/** H in spacings: there the sums of a density over simple, body- and face-centered cubic lattices differ by 0.2 %. */
export const REACH = 2.2;
/** Points that have settled have so much of the lattice's sum where they are as dense. */
const SETTLED = 0.996;

const weightAt = (q: number): number => (q < 1 ? (1 - q) * (1 - q) * (1 - q) * (1 - q) * (1 + 4 * q) : 0);
/** Part of W beyond a plane at the distance (1 - u) H, and its slope along u. */
const beyond = (u: number): number => u * u * u * u * u * u * (3.5 - 4.5 * u + 1.5 * u * u);
const slopeOfBeyond = (u: number): number => 21 * u * u * u * u * u * (1 - 1.5 * u + (4 / 7) * u * u);

const LATTICE = latticeSums(weightAt, REACH, 2);
/** Of the fluid. */
export const W_0 = SETTLED * LATTICE.all;
/** w(d) = WALL beyond^2 is what a layer at half a spacing lacks, with twice the slope of that. */
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
