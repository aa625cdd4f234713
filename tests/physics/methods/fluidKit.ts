/** Shared by the tests of fluids of points. */
import type { Collider, PointsBody } from "../../../shared/scene/scene.ts";
import type { MethodState } from "../../../server/sim/methods/method.ts";
import type { Laboratory } from "../laboratory.ts";
import { block, largest, randoms, type Opened } from "./kit.ts";

/** A block of water on the ground. @param spacing m */
export function water(
  method: PointsBody["method"],
  cells: [number, number, number],
  spacing: number,
  more: Partial<PointsBody> = {},
): PointsBody {
  return block(method, {
    name: "water",
    mesh: { type: "lattice", arrangement: "cubic", cells, spacing },
    transform: { translate: [0, (cells[1] * spacing) / 2, 0] },
    material: { density: 1000, friction: 0 },
    ...more,
  });
}

/** A floor and four walls. @param half m */
export function tank(half: number): Collider[] {
  const plane = (normal: [number, number, number], offset: number): Collider => ({
    type: "plane",
    normal,
    offset,
    friction: 0,
  });
  return [
    plane([0, 1, 0], 0),
    plane([1, 0, 0], -half),
    plane([-1, 0, 0], -half),
    plane([0, 0, 1], -half),
    plane([0, 0, -1], -half),
  ];
}

/** Forces within a fluid besides pressure. */
type Within = Partial<Record<"viscosity" | "surfaceTension" | "vorticity", number>>;

/** Change of the mean velocity in 100 steps from random velocities, m/s. */
export async function momentumLost(drop: Promise<Opened>): Promise<number> {
  const { state, of, step } = await drop;
  const random = randoms(7);
  state.v.forEach((_, k) => (state.v[k] = random()));
  const momentum = (): number[] =>
    [0, 1, 2].map((r) => state.v.reduce((sum, v, k) => (k % 3 === r ? sum + v : sum), 0));
  const before = momentum();
  for (let n = 0; n < 100; n++) step();
  return largest(momentum().map((p, r) => p - before[r]!)) / of.count;
}

/**
 * Sheared, expanding and turning drops around (0, 0.1, 0) after `steps`, by internal force: remaining velocities or
 * width, as sums of squares.
 */
export function flows(drop: (within: Within) => Promise<Opened>, steps: number) {
  const after = async (within: Within, start: (x: number[], r: number) => number) => {
    const { state, step } = await drop(within);
    state.v.forEach((_, k) => (state.v[k] = start([...state.x.subarray(k - (k % 3), k - (k % 3) + 3)], k % 3)));
    for (let n = 0; n < steps; n++) step();
    const speed = state.v.reduce((sum, v) => sum + v * v, 0);
    const size = state.x.reduce((sum, x, k) => sum + (x - (k % 3 === 1 ? 0.1 : 0)) ** 2, 0);
    return { speed, size };
  };
  return {
    sheared: async (within: Within) => (await after(within, (x, r) => (r === 0 ? x[1]! - 0.1 : 0))).speed,
    apart: async (within: Within) => (await after(within, (x, r) => 0.5 * (x[r]! - (r === 1 ? 0.1 : 0)))).size,
    turned: async (within: Within) =>
      (await after(within, (x, r) => (r === 0 ? x[1]! - 0.1 : r === 1 ? -x[0]! : 0))).speed,
  };
}

/** A stepped fluid body of a room. */
interface Stepped {
  method: { pressure(x: Float64Array): Float64Array };
  state: MethodState;
}

/** The first body with a method. */
export const stepped = (lab: Laboratory): Stepped =>
  (lab.world as unknown as { methods: { bodies: Stepped[] } }).methods.bodies[0]!;

/** Fits a line to pressures over heights of points away from walls and surface: Pa at half the depth, Pa/m. */
export function pressureLine(
  { x, height, pressure }: Record<"x" | "height" | "pressure", Float64Array>,
  { depth, half, spacing }: Record<"depth" | "half" | "spacing", number>,
): { middle: number; slope: number } {
  const inner = Array.from(height.keys()).filter(
    (i) =>
      height[i]! > 1.5 * spacing &&
      height[i]! < depth - 2 * spacing &&
      Math.max(Math.abs(x[3 * i]!), Math.abs(x[3 * i + 2]!)) < half - 1.8 * spacing,
  );
  const mean = (f: (i: number) => number): number => inner.reduce((sum, i) => sum + f(i), 0) / inner.length;
  const [y, p] = [mean((i) => height[i]!), mean((i) => pressure[i]!)];
  const slope = mean((i) => (height[i]! - y) * (pressure[i]! - p)) / mean((i) => (height[i]! - y) * (height[i]! - y));
  return { middle: p + slope * (depth / 2 - y), slope };
}
