/** Measures of a body's particles that tests and figures share. Coordinate r: 0 x, 1 y, 2 z. */
import type { Vec3 } from "../../shared/scene/scene.ts";
import type { Laboratory } from "./laboratory.ts";

/** Returns one coordinate of all particles. @param rows x y z of each particle */
export const along = (rows: Float64Array, r: number): Float64Array => rows.filter((_, k) => k % 3 === r);

export const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the mean position or velocity. */
export const middle = (rows: Float64Array): Vec3 => [0, 1, 2].map((r) => mean(along(rows, r))) as Vec3;

/** Returns the greatest minus the least coordinate. */
export function extent(rows: Float64Array, r: number): number {
  const values = along(rows, r);
  return Math.max(...values) - Math.min(...values);
}

/** Mean height of a body, m. */
export const heightOf = (lab: Laboratory, body = 0): number => mean(along(lab.positions(body), 1));

/** Height of a body's lowest particle, m. */
export const lowest = (lab: Laboratory, body = 0): number => Math.min(...along(lab.positions(body), 1));

/** Largest component of a body's velocities, m/s. */
export const fastest = (lab: Laboratory, body = 0): number => Math.max(...lab.velocities(body).map(Math.abs));

/** Speed of a body's fastest particle, m/s. */
export function topSpeed(lab: Laboratory, body = 0): number {
  const v = lab.velocities(body);
  return Math.max(...along(v, 0).map((_, i) => Math.hypot(v[3 * i]!, v[3 * i + 1]!, v[3 * i + 2]!)));
}

/** Stretch s of a bar of modulus k without Poisson's effect under a nominal stress: P = k s (s^2 - 1)/2. */
export function stretchUnder(stress: number, k: number): number {
  let s = 1;
  for (let n = 0; n < 40; n++) s -= ((s * (s * s - 1)) / 2 - stress / k) / ((3 * s * s - 1) / 2);
  return s;
}

/** Elongation in theory of a body of 1 m that hangs by its upper end: a row of cells carries all below its middle. */
export const hangs = (rows: number, density: number, k: number): number =>
  mean(Array.from({ length: rows }, (_, row) => stretchUnder((density * 9.81 * (row + 0.5)) / rows, k) - 1));

/** Elongation of a body of 1 m whose upper end is held at y = 0.5: mean over its lower end. */
export function elongation(lab: Laboratory): number {
  const { positions } = lab.created.bodies[0]!;
  return -0.5 - mean(lab.positions().filter((_, k) => k % 3 === 1 && positions[k]! < -0.4999));
}
