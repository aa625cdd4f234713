/** Measurements of smoothed particles for their test and the report: statics, a dam break, floating bodies. */
import type { Body } from "../../../shared/scene/scene.ts";
import type { SmoothedParticles } from "../../../shared/scene/sceneMethodTypes.ts";
import type { Wall } from "../../../server/sim/methods/method.ts";
import { laboratory } from "../laboratory.ts";
import { pressureLine, stepped, tank, water } from "./fluidKit.ts";
import { largest, opened, outside } from "./kit.ts";

export const STEPS = 24;
export const METHOD: SmoothedParticles = { type: "smoothed-particles", steps: STEPS };
export const ROOM = { tickHz: 30, substeps: STEPS, iterations: 2 };
export const GRAVITY: [number, number, number] = [0, -9.81, 0];

/**
 * A column that fills its tank, points of 4 cm, after `settle` ticks and averaged over `measure` ticks.
 * @returns volume, pressure at half the depth and slope of the pressure, relative to theory
 */
export async function column(wide: number, high: number, settle: number, measure: number) {
  const spacing = 0.04;
  const depth = high * spacing;
  const half = (wide * spacing) / 2;
  const bodies = [water(METHOD, [wide, high, wide], spacing)];
  const lab = await laboratory({ ...ROOM, gravity: GRAVITY, bodies, colliders: tank(half) });
  const { method, state } = stepped(lab);
  lab.run(settle);
  const count = state.x.length / 3;
  const [height, pressure] = [new Float64Array(count), new Float64Array(count)];
  for (let n = 0; n < measure; n++) {
    lab.run(1);
    method.pressure(state.x).forEach((p, i) => {
      pressure[i]! += p / measure;
      height[i]! += state.x[3 * i + 1]! / measure;
    });
  }
  const mean = height.reduce((sum, y) => sum + y, 0) / count;
  const volume = mean / (depth / 2);
  // each point has an equal share of the column's volume
  pressure.forEach((p, i) => (pressure[i] = p / volume));
  const { middle, slope } = pressureLine({ x: state.x, height, pressure }, { depth, half, spacing });
  return { volume, middle: middle / ((9810 * depth) / 2), slope: slope / -9810 };
}

/**
 * Front of a column of water, a = 2.25 inches wide and twice as high, behind a dam that vanishes at once: Z = z/a over
 * T = t sqrt(2g/a) (Martin and Moyce 1952, table 2).
 */
export const FRONT: [T: number, Z: number][] = [
  [1.19, 1.44],
  [1.43, 1.67],
  [1.63, 1.89],
  [1.83, 2.11],
  [1.98, 2.33],
  [2.2, 2.56],
  [2.32, 2.78],
  [2.51, 3.0],
  [2.65, 3.22],
  [2.83, 3.44],
  [2.98, 3.67],
  [3.11, 3.89],
  [3.33, 4.11],
];

const plane = (normal: [number, number, number], offset: number): Wall => ({
  plane: normal,
  distanceTo: (x, y, z) => normal[0] * x + normal[1] * y + normal[2] * z + offset,
});

/**
 * No dam of Martin and Moyce vanished at once, so their records are aligned at Z = 1.44.
 * @param wide points of the column. @param deep points across the channel
 * @returns (T, Z) of every step; the shift of T that aligns Z = 1.44 with the records; the largest relative error of Z
 * with this shift, and without it
 */
export async function damBreak(wide: number, deep: number) {
  const a = 0.05715;
  const s = a / wide;
  // sound ten times as fast as a fall from the top
  const h = (0.88 * s) / (10 * Math.sqrt(9.81 * 2 * a));
  const { of, method, state } = await opened(water(METHOD, [wide, 2 * wide, deep], s), h);
  const force = new Float64Array(3 * of.count);
  of.mass.forEach((m, i) => (force[3 * i + 1] = -9.81 * m));
  const channel = (deep * s) / 2;
  const walls = [plane([1, 0, 0], a / 2), plane([0, 1, 0], 0), plane([0, 0, 1], channel), plane([0, 0, -1], channel)];
  const rows: [number, number][] = [];
  const scale = Math.sqrt((2 * 9.81) / a);
  for (let n = 1; n * of.h * scale < 3.5; n++) {
    method.step(state, { ...outside(of, force), walls });
    // the front is a row across the channel, not a single drop
    const xs = state.x.filter((_, k) => k % 3 === 0).sort();
    rows.push([n * of.h * scale, (xs[xs.length - deep]! + s / 2 + a / 2) / a]);
  }
  const at = (T: number): number => rows.find(([t]) => t >= T)![1];
  const shift = FRONT[0]![0] - rows.find(([, Z]) => Z >= FRONT[0]![1])![0];
  const error = (by: number): number => largest(FRONT.map(([T, Z]) => at(T - by) / Z - 1));
  return { rows, shift, worst: error(shift), plain: error(0) };
}

/** A tank and a cube of half the water's density: m, points and cells. */
interface Floating {
  spacing: number;
  cells: [number, number, number];
  side: number;
  mesh: number;
}
export const FLOATING: Floating[] = [
  { spacing: 0.05, cells: [12, 6, 12], side: 0.3, mesh: 4 },
  { spacing: 0.04, cells: [13, 8, 13], side: 0.32, mesh: 6 },
  { spacing: 0.05, cells: [14, 8, 14], side: 0.4, mesh: 5 },
];

/**
 * Depth of the floating cube's center, relative to half of its side. The water level is that of the water's volume plus
 * half of the cube's.
 */
export async function floatingDepth({ spacing, cells, side, mesh }: Floating, settle: number, measure: number) {
  const half = (cells[0] * spacing) / 2;
  const cube: Body = {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [side, side, side], cells: [mesh, mesh, mesh] },
    transform: { translate: [0, cells[1] * spacing + 0.55 * side, 0] },
    material: { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 0.5 },
    contact: { self: false },
    solver: "compliant",
  };
  const bodies = [water(METHOD, cells, spacing), cube];
  const lab = await laboratory({ ...ROOM, gravity: GRAVITY, bodies, colliders: tank(half) });
  lab.run(settle);
  let middle = 0;
  for (let n = 0; n < measure; n++) {
    lab.run(1);
    const x = lab.positions(1);
    middle += x.reduce((sum, value, k) => (k % 3 === 1 ? sum + value : sum), 0) / (x.length / 3) / measure;
  }
  // in any orientation, half of its volume is under water
  const level = (cells[0] * cells[1] * cells[2] * spacing ** 3 + side ** 3 / 2) / (4 * half * half);
  return (level - middle + side / 2) / (side / 2);
}
