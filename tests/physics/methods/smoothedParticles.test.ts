/**
 * Smoothed particles against statics, a dam break and floating bodies. docs/LIMITS.md states how results change with
 * the number of points.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, PointsBody } from "../../../shared/scene/scene.ts";
import type { SmoothedParticles } from "../../../shared/scene/sceneMethodTypes.ts";
import { laboratory } from "../laboratory.ts";
import { inLong } from "../../support/run/long.ts";
import { flows, momentumLost, tank, water } from "./fluidKit.ts";
import { largest, opened } from "./kit.ts";
import { column, damBreak, FLOATING, floatingDepth, GRAVITY, METHOD, ROOM, STEPS } from "./waterKit.ts";

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
      const { volume, middle, slope } = await column(wide, high, ...inLong<[number, number]>([90, 60], [30, 30]));
      const most = inLong(0.02, 0.04);
      expect(Math.abs(volume - 1)).toBeLessThan(0.01);
      expect(Math.abs(middle - 1)).toBeLessThan(most);
      expect(Math.abs(slope - 1)).toBeLessThan(most);
    },
  );
});

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
  const { shift, worst } = await damBreak(wide, deep);
  expect(shift).toBeLessThan(0.3);
  expect(worst).toBeLessThan(0.05);
});

test.each(inLong(FLOATING, FLOATING.slice(0, 1)))(
  "a cube of half the water's density floats at half its side within 3 %: %o",
  async (floating) => {
    const depth = await floatingDepth(floating, ...inLong<[number, number]>([60, 60], [45, 30]));
    expect(Math.abs(depth - 1)).toBeLessThan(0.03);
  },
);

describe("bodies in water", () => {
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
  ])("a drop that hits %s loses the momentum that the body gains", async (_, body) => {
    const drop = water(METHOD, [4, 3, 4], 0.05, { velocity: [0.2, 2, 0.1] });
    const lab = await laboratory({ ...ROOM, bodies: [drop, body] });
    const masses = lab.created.bodies.map(({ mass }) => mass);
    const momentum = (b: number): number[] =>
      [0, 1, 2].map((r) => masses[b]!.reduce((sum, m, i) => sum + m * lab.velocities(b)[3 * i + r]!, 0));
    const before = momentum(0);
    lab.run(15);
    const [after, gained] = [momentum(0), momentum(1)];
    const weighs = (b: number): number => masses[b]!.reduce((sum, m) => sum + m, 0);
    // at least half the velocity of a perfectly inelastic collision
    expect(gained[1]!).toBeGreaterThan((0.5 * before[1]! * weighs(1)) / (weighs(0) + weighs(1)));
    expect(largest(before.map((p, r) => p - after[r]! - gained[r]!))).toBeLessThan(2e-4 * before[1]!);
  });

  test("too high a viscosity is refused", async () => {
    const bodies = [water({ ...METHOD, viscosity: 1 }, [2, 2, 2], 0.05)];
    await expect(laboratory({ ...ROOM, bodies })).rejects.toThrow(/method\/viscosity: .*at most 0\.13/);
  });

  test("a sheet fixed at its rim carries water", async () => {
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

test("two fluids of other spacings, densities and steps keep momentum when they meet", async () => {
  const drop = (name: string, steps: number, spacing: number, density: number, x: number): Body =>
    water({ ...METHOD, steps }, [4, 4, 4], spacing, {
      name,
      transform: { translate: [x, x / 4, 0] },
      velocity: [-10 * x, 0, 0],
      material: { density, friction: 0 },
    });
  const bodies = [drop("heavy", STEPS, 0.05, 1000, 0.12), drop("light", 2 * STEPS, 0.04, 500, -0.12)];
  const lab = await laboratory({ ...ROOM, bodies });
  const momentum = (): number[] => {
    const sum = [0, 0, 0, 0, 0, 0];
    lab.created.bodies.forEach(({ mass }, b) => {
      const [x, v] = [lab.positions(b), lab.velocities(b)];
      mass.forEach((m, i) => {
        for (let r = 0; r < 3; r++) {
          const [s, t] = [3 * i + ((r + 1) % 3), 3 * i + ((r + 2) % 3)];
          sum[r]! += m * v[3 * i + r]!;
          sum[3 + r]! += m * (x[s]! * v[t]! - x[t]! * v[s]!);
        }
      });
    });
    return sum;
  };
  const before = momentum();
  lab.run(15);
  // float32 velocities of 1.2 m/s, 10 kg
  expect(largest(momentum().map((p, r) => p - before[r]!))).toBeLessThan(1e-5);
  // the drops no longer approach each other
  const mean = (b: number): number => lab.velocities(b).reduce((sum, v, k) => (k % 3 ? sum : sum + v / 64), 0);
  expect(mean(1) - mean(0)).toBeLessThan(0.5);
});

test.each([STEPS, 2 * STEPS])(
  "a platform and a bowl of triangles carry water of %i steps a tick upwards",
  async (steps) => {
    const motion = { keys: [{ time: 0 }, { time: 1, translate: [0, 0.3, 0] as [number, number, number] }] };
    const sides = tank(0.1).slice(1);
    const floors: Collider[] = [
      { type: "box", center: [0, -0.1, 0], halfExtents: [1, 0.1, 1], motion },
      {
        type: "mesh",
        mesh: { type: "box", size: [2, 0.2, 2], cells: [8, 1, 8] },
        transform: { translate: [0, -0.1, 0] },
        motion,
      },
    ];
    for (const floor of floors) {
      const body = water({ ...METHOD, steps }, [4, 4, 4], 0.05, {});
      const lab = await laboratory({
        ...ROOM,
        gravity: GRAVITY,
        bodies: [body],
        colliders: [floor, ...sides],
        damping: 1,
      });
      lab.run(90);
      const y = lab.positions(0).filter((_, k) => k % 3 === 1);
      // the lowest layer is half a spacing above the floor, less the compression of the lattice
      expect(Math.min(...y)).toBeGreaterThan(0.315);
      expect(Math.max(...y)).toBeLessThan(0.5);
    }
  },
);

describe("a drop without walls", () => {
  const S = 0.04;
  const drop = (more: Partial<SmoothedParticles> = {}) =>
    opened(water({ ...METHOD, ...more }, [5, 5, 5], S) as PointsBody, 1 / 720);

  test("keeps its momentum under any internal force", async () => {
    expect(await momentumLost(drop({ viscosity: 0.01, surfaceTension: 50 }))).toBeLessThan(1e-12);
  });

  test("returns to its density after compression", async () => {
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

  test("viscosity damps relative motion, surface tension holds together, vorticity keeps rotation", async () => {
    const { sheared, apart, turned } = flows(drop, 180);
    expect(await sheared({ viscosity: 0.08 })).toBeLessThan(0.85 * (await sheared({})));
    expect(await apart({ surfaceTension: 120 })).toBeLessThan(0.9 * (await apart({})));
    expect(await turned({ vorticity: 0.3 })).toBeGreaterThan(1.01 * (await turned({})));
  });
});
