/** What the tests of fluids of points share. */
import type { Collider, PointsBody } from "../../../shared/scene.ts";
import { METHOD_KINDS } from "../../../server/sim/methods/kinds.ts";
import type { MethodState } from "../../../server/sim/methods/method.ts";
import type { Laboratory } from "../laboratory.ts";
import { block, known, NOTHING, outside, templateOf } from "./kit.ts";

/** A block of water that stands on the ground. @param spacing m */
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

/** Points without a room, without gravity. @param h s */
export async function opened(body: PointsBody, h: number) {
  const template = await templateOf(body);
  const of = known(template, h);
  const kind = METHOD_KINDS[body.method.type];
  const method = kind.open(kind.plan(template, body.method, of, ""), body.method, of);
  const state: MethodState = {
    x: Float64Array.from(template.positions),
    v: new Float64Array(3 * of.count),
    more: NOTHING,
  };
  const nobody = outside(of);
  return { state, of, step: () => method.step(state, nobody) };
}

/** What a room steps, with what only a fluid can say. */
interface Stepped {
  method: { pressure(x: Float64Array): Float64Array };
  state: MethodState;
}

/** The first body with a method. */
export const stepped = (lab: Laboratory): Stepped =>
  (lab.world as unknown as { methods: { bodies: Stepped[] } }).methods.bodies[0]!;

/** A line through pressures over heights, of points away from walls and surface: Pa at half the depth, Pa/m. */
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
