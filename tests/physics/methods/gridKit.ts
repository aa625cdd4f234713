/** Measurements of the fluid on a staggered grid for the report: exact flows, and Ghia, Ghia and Shin 1982. */
import { gridLength, MacGrid, type GridSpec } from "../../../server/sim/methods/fluids/macGrid.ts";
import { randoms } from "./kit.ts";

/** A flat box of n by n cells, 1 m wide. */
function flat(n: number, more: Partial<GridSpec>, solid = (_i: number, _j: number): boolean => false): MacGrid {
  const cells = [n, n, 1] as const;
  const spec = { cells, edge: 1 / n, viscosity: 0, sticks: false, lid: 0, maccormack: true, ...more };
  return new MacGrid(spec, new Float64Array(gridLength(cells)), solid);
}

const NU = 0.02;
const SECONDS = 0.5;

/** Taylor-Green vortices between walls that slip, m/s. */
const vortices = (t: number, axis: number, x: number, y: number): number =>
  Math.exp(-2 * NU * Math.PI ** 2 * t) *
  (axis === 0 ? Math.sin(Math.PI * x) * Math.cos(Math.PI * y) : -Math.cos(Math.PI * x) * Math.sin(Math.PI * y));

/**
 * Error of decaying Taylor-Green vortices, nu = 0.02 m^2/s, after half a second. The step is proportional to the square
 * of a cell, so that its error has the same order.
 * @returns root mean square, m/s
 */
export function decayError(n: number, maccormack: boolean): number {
  const grid = flat(n, { viscosity: NU, maccormack });
  for (const axis of [0, 1]) grid.eachFace(axis, (values, at, [x, y]) => (values[at] = vortices(0, axis, x!, y!)));
  const steps = (n * n) / 8;
  for (let k = 0; k < steps; k++) grid.step(SECONDS / steps);
  let sum = 0;
  let count = 0;
  for (const axis of [0, 1])
    grid.eachFace(axis, (values, at, [x, y]) => {
      sum += (values[at]! - vortices(SECONDS, axis, x!, y!)) ** 2;
      count++;
    });
  return Math.sqrt(sum / count);
}

/**
 * Flow on the cavity's vertical middle line (Ghia et al. 1982, table I): y, and u relative to the lid's speed at Re 100
 * and 400.
 */
const TABLE = [
  [0.9766, 0.84123, 0.75837],
  [0.9688, 0.78871, 0.68439],
  [0.9609, 0.73722, 0.61756],
  [0.9531, 0.68717, 0.55892],
  [0.8516, 0.23151, 0.29093],
  [0.7344, 0.00332, 0.16256],
  [0.6172, -0.13641, 0.02135],
  [0.5, -0.20581, -0.11477],
  [0.4531, -0.2109, -0.17119],
  [0.2813, -0.15662, -0.32726],
  [0.1719, -0.1015, -0.24299],
  [0.1016, -0.06434, -0.14612],
  [0.0703, -0.04775, -0.10338],
  [0.0625, -0.04192, -0.09266],
  [0.0547, -0.03717, -0.08186],
] as const;
const column = (n: 1 | 2): [y: number, u: number][] => TABLE.map((row) => [row[0], row[n]]);
export const GHIA = { 100: column(1), 400: column(2) };

/**
 * A cavity of 1 m under a lid of 1 m/s, from rest, with steps of 3/4 of a cell.
 * @returns u on its middle line as a function of height
 */
export function cavity(reynolds: number, n: number, seconds: number): (y: number) => number {
  const grid = flat(n, { viscosity: 1 / reynolds, sticks: true, lid: 1 });
  const h = 0.75 / n;
  for (let t = 0; t < seconds; t += h) grid.step(h);
  const u = new Float64Array(3);
  return (y) => {
    grid.sample(0.5, y, 0.5 / n, u);
    return u[0]!;
  };
}

/**
 * One step from random velocities, up to 1 m/s, around an obstacle of 4 x 4 cells in 16 x 16.
 * @returns largest divergence times the edge of a cell, largest speed, and largest speed on faces of the obstacle, m/s
 */
export function around(): { left: number; most: number; into: number } {
  const grid = flat(16, {}, (i, j) => i > 5 && i < 10 && j > 4 && j < 9);
  const random = randoms(5);
  for (const axis of [0, 1]) grid.eachFace(axis, (values, at) => (values[at] = random()));
  grid.step(0.01);
  let [most, into] = [0, 0];
  grid.eachFace(0, (values, at, [x, y]) => {
    const speed = Math.abs(values[at]!);
    most = Math.max(most, speed);
    if (x! > 5.9 / 16 && x! < 10.1 / 16 && y! > 5 / 16 && y! < 9 / 16) into = Math.max(into, speed);
  });
  return { left: grid.divergence() / 16, most, into };
}
