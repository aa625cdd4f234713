/**
 * Smoothed particles against statics, a dam break and what floats. What measures better or worse with other numbers of
 * points is in docs/LIMITS.md.
 */
import { describe, expect, test } from "vitest";
import type { Body, PointsBody, SmoothedParticles } from "../../../shared/scene.ts";
import { smoothedParticles } from "../../../server/sim/methods/smoothedParticles.ts";
import type { MethodState, Wall } from "../../../server/sim/methods/method.ts";
import { laboratory } from "../laboratory.ts";
import { inLong } from "../../support/long.ts";
import { opened, pressureLine, stepped, tank, water } from "./fluidKit.ts";
import { known, largest, NOTHING, outside, randoms, templateOf } from "./kit.ts";

const STEPS = 24;
const TYPE = "smoothed-particles";
const METHOD: SmoothedParticles = { type: TYPE, steps: STEPS };
const ROOM = { tickHz: 30, substeps: STEPS, iterations: 2 };
const GRAVITY: [number, number, number] = [0, -9.81, 0];

const meanOf = (x: Float64Array, r: number): number =>
  x.reduce((sum, value, k) => (k % 3 === r ? sum + value : sum), 0) / (x.length / 3);

describe("a column in a tank", () => {
  test.each(
    inLong(
      [
        [12, 12],
        [10, 14],
      ],
      [[10, 10]],
    ),
  )(
    "%i points wide, %i high: its volume within 1 percent, its pressure that of its depth within 2",
    async (wide, high) => {
      const S = 0.04;
      const depth = high * S;
      const half = (wide * S) / 2;
      const bodies = [water(METHOD, [wide, high, wide], S)];
      const lab = await laboratory({ ...ROOM, gravity: GRAVITY, bodies, colliders: tank(half) });
      const { method, state } = stepped(lab);
      const measure = inLong(60, 30);
      lab.run(inLong(90, 30));
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
      // a point has as much room as the column has left it
      pressure.forEach((p, i) => (pressure[i] = (p * depth) / 2 / mean));
      const line = pressureLine({ x: state.x, height, pressure }, { depth, half, spacing: S });
      expect(Math.abs(mean / (depth / 2) - 1)).toBeLessThan(0.01);
      expect(Math.abs(line.middle / ((9810 * depth) / 2) - 1)).toBeLessThan(inLong(0.02, 0.04));
      expect(Math.abs(line.slope / -9810 - 1)).toBeLessThan(inLong(0.02, 0.04));
    },
  );
});

/**
 * The front of a column of water, a = 2.25 inches wide and twice as high, behind a dam that is gone at once, over the
 * time T = t sqrt(2g/a) (Martin and Moyce 1952, table 2). Their times are set so that Z = 1.44 is at T = 1.19: none of
 * their dams was gone at once.
 */
const FRONT: [T: number, Z: number][] = [
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

/** (T, Z) of every step. @param wide points of the column. @param deep points across the channel */
async function damBreak(wide: number, deep: number): Promise<[number, number][]> {
  const a = 0.05715;
  const s = a / wide;
  const template = await templateOf(water(METHOD, [wide, 2 * wide, deep], s));
  // sound ten times as fast as the front
  const of = known(template, (0.4 * 2.2 * s) / (10 * Math.sqrt(9.81 * 2 * a)));
  const method = smoothedParticles.open(smoothedParticles.plan(template, METHOD, of, ""), METHOD, of);
  const state: MethodState = { x: template.positions.slice(), v: new Float64Array(3 * of.count), more: NOTHING };
  const force = new Float64Array(3 * of.count);
  of.mass.forEach((m, i) => (force[3 * i + 1] = -9.81 * m));
  const walls = [
    plane([1, 0, 0], a / 2),
    plane([0, 1, 0], 0),
    plane([0, 0, 1], (deep * s) / 2),
    plane([0, 0, -1], (deep * s) / 2),
  ];
  const rows: [number, number][] = [];
  const scale = Math.sqrt((2 * 9.81) / a);
  for (let n = 1; n * of.h * scale < 3.5; n++) {
    method.step(state, { ...outside(of, force), walls });
    // a row across the channel is there, not a drop
    const xs = state.x.filter((_, k) => k % 3 === 0).sort();
    rows.push([n * of.h * scale, (xs[xs.length - deep]! + s / 2 + a / 2) / a]);
  }
  return rows;
}

test.each(
  inLong(
    [
      [6, 4],
      [8, 4],
      [12, 4],
    ],
    [[6, 3]],
  ),
)("the front of a dam break, %i points wide, is within 5 percent of the measured one", async (wide, deep) => {
  const rows = await damBreak(wide, deep);
  const at = rows.find(([, Z]) => Z >= FRONT[0]![1])!;
  const shift = FRONT[0]![0] - at[0];
  const front = (T: number): number => rows.find(([t]) => t >= T - shift)![1];
  const worst = largest(FRONT.map(([T, Z]) => front(T) / Z - 1));
  expect(shift).toBeLessThan(0.3);
  expect(worst).toBeLessThan(0.05);
});

/** m, of a cube of half density */
interface Floating {
  spacing: number;
  cells: [number, number, number];
  side: number;
  mesh: number;
}
test.each<Floating>(
  inLong(
    [
      { spacing: 0.05, cells: [12, 7, 12], side: 0.3, mesh: 6 },
      { spacing: 0.05, cells: [12, 7, 12], side: 0.2, mesh: 4 },
      { spacing: 0.04, cells: [13, 8, 13], side: 0.32, mesh: 6 },
      { spacing: 0.05, cells: [14, 8, 14], side: 0.4, mesh: 5 },
    ],
    [{ spacing: 0.05, cells: [12, 6, 12], side: 0.3, mesh: 4 }],
  ),
)(
  "a cube of half the water's density floats at half its side within 3 %: %o",
  async ({ spacing, cells, side, mesh }) => {
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
    lab.run(inLong(60, 45));
    let middle = 0;
    const measure = inLong(60, 30);
    for (let n = 0; n < measure; n++) {
      lab.run(1);
      middle += meanOf(lab.positions(1), 1) / measure;
    }
    // whichever way it has turned, half of it is under water
    const volume = cells[0] * cells[1] * cells[2] * spacing ** 3 + side ** 3 / 2;
    const depth = volume / (4 * half * half) - middle + side / 2;
    console.log("FLOAT", spacing, side, 100 * (depth / (side / 2) - 1));
  expect(Math.abs(depth / (side / 2) - 1)).toBeLessThan(0.03);
  },
);

describe("bodies in it", () => {
  const sheet = (more: Partial<Body> = {}): Body =>
    ({
      name: "sheet",
      kind: "cloth",
      mesh: { type: "grid", size: [0.4, 0.4], cells: [6, 6] },
      transform: { translate: [0, 0.3, 0] },
      material: { density: 1000, thickness: 0.001, youngsModulus: 5e6, poissonsRatio: 0.3, damping: 0 },
      contact: { self: false },
      solver: "compliant",
      ...more,
    }) as Body;
  const cube: Body = {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
    transform: { translate: [0, 0.35, 0] },
    material: { density: 700, youngsModulus: 5e4, poissonsRatio: 0.3, damping: 0 },
    contact: { self: false },
    solver: "compliant",
  };

  test.each<[string, Body]>([
    ["a soft body", cube],
    ["a cloth", sheet()],
  ])("what a drop gives %s when it hits it, it loses", async (_, body) => {
    const drop = water(METHOD, [4, 3, 4], 0.05, { velocity: [0.2, 2, 0.1] });
    const lab = await laboratory({ ...ROOM, bodies: [drop, body] });
    const masses = lab.created.bodies.map(({ mass }) => mass);
    const momentum = (b: number): number[] =>
      [0, 1, 2].map((r) => masses[b]!.reduce((sum, m, i) => sum + m * lab.velocities(b)[3 * i + r]!, 0));
    const before = momentum(0);
    lab.run(15);
    const [after, gained] = [momentum(0), momentum(1)];
    const weighs = (b: number): number => masses[b]!.reduce((sum, m) => sum + m, 0);
    // at least half as fast as where both go on together
    expect(gained[1]!).toBeGreaterThan((0.5 * before[1]! * weighs(1)) / (weighs(0) + weighs(1)));
    expect(largest(before.map((p, r) => p - after[r]! - gained[r]!))).toBeLessThan(2e-4 * before[1]!);
  });

  test("a sheet held at its rim carries water", async () => {
    const box = (min: [number, number, number], max: [number, number, number]) => ({ select: { box: { min, max } } });
    const rim = [
      box([-1, -1, -1], [1, 1, -0.19]),
      box([-1, -1, 0.19], [1, 1, 1]),
      box([-1, -1, -1], [-0.19, 1, 1]),
      box([0.19, -1, -1], [1, 1, 1]),
    ];
    const bodies = [
      water(METHOD, [4, 2, 4], 0.05, { transform: { translate: [0, 0.4, 0] } }),
      sheet({ pins: rim } as Partial<Body>),
    ];
    const colliders = tank(0.2);
    const lab = await laboratory({ ...ROOM, gravity: GRAVITY, bodies, colliders });
    lab.run(60);
    const y = lab.positions(0).filter((_, k) => k % 3 === 1);
    expect(Math.min(...y)).toBeGreaterThan(0.1);
    expect(Math.min(...lab.positions(1).filter((_, k) => k % 3 === 1))).toBeLessThan(0.29);
  });
});

describe("a drop without walls", () => {
  const S = 0.04;
  const drop = (more: Partial<SmoothedParticles> = {}) =>
    opened(water({ ...METHOD, ...more }, [5, 5, 5], S) as PointsBody, 1 / 720);

  test("keeps its momentum, whatever acts within it", async () => {
    const { state, of, step } = await drop({ viscosity: 0.01, surfaceTension: 50 });
    const random = randoms(7);
    state.v.forEach((_, k) => (state.v[k] = random()));
    const before = [0, 1, 2].map((r) => meanOf(state.v, r));
    for (let n = 0; n < 100; n++) step();
    expect(largest(before.map((p, r) => p - meanOf(state.v, r)))).toBeLessThan(1e-12);
    expect(of.count).toBe(125);
  });

  test("pressed together it goes back to its density", async () => {
    const { state, step } = await drop();
    const size = (): number => {
      const along = state.x.filter((_, k) => k % 3 === 0);
      return Math.max(...along) - Math.min(...along);
    };
    const before = size();
    state.x.forEach((x, k) => (state.x[k] = k % 3 === 1 ? 0.1 + 0.9 * (x - 0.1) : 0.9 * x));
    for (let n = 0; n < 240; n++) step();
    expect(size()).toBeGreaterThan(0.97 * before);
  });

  test("viscosity evens out what moves against each other, tension holds together, vorticity keeps turning", async () => {
    const after = async (more: Partial<SmoothedParticles>, start: (x: number[], r: number) => number) => {
      const { state, step } = await drop(more);
      state.v.forEach((_, k) => (state.v[k] = start([...state.x.subarray(k - (k % 3), k - (k % 3) + 3)], k % 3)));
      for (let n = 0; n < 180; n++) step();
      const speed = state.v.reduce((sum, v) => sum + v * v, 0);
      const size = state.x.reduce((sum, x, k) => sum + (x - (k % 3 === 1 ? 0.1 : 0)) ** 2, 0);
      return { speed, size };
    };
    const shear = (x: number[], r: number): number => (r === 0 ? x[1]! - 0.1 : 0);
    const away = (x: number[], r: number): number => 0.5 * (x[r]! - (r === 1 ? 0.1 : 0));
    const turn = (x: number[], r: number): number => (r === 0 ? x[1]! - 0.1 : r === 1 ? -x[0]! : 0);
    expect((await after({ viscosity: 0.08 }, shear)).speed).toBeLessThan(0.85 * (await after({}, shear)).speed);
    expect((await after({ surfaceTension: 120 }, away)).size).toBeLessThan(0.9 * (await after({}, away)).size);
    expect((await after({ vorticity: 0.3 }, turn)).speed).toBeGreaterThan(1.01 * (await after({}, turn)).speed);
  });
});
