/**
 * Prefactored solids: they hang at the right length and swing at nearly the right frequency for any stiffness, keep
 * their momentum, recover from crushed positions, carry a hundred times their mass, and fall asleep.
 */
import { expect, test } from "vitest";
import type { Body, Collider, SoftBody } from "../../../shared/scene/scene.ts";
import { cantilever, modeMotion } from "../bars/barModes.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { elongation, hangs, middle } from "../measures.ts";
import { CLEAR, floor, HZ, Stage } from "../pairs/act.ts";
import { block, FRICTION, type Placed, SIZE } from "../pairs/kinds.ts";
import { softBox } from "../../support/bodies.ts";

const G = 9.81;

type Material = { density: number; youngsModulus: number; poissonsRatio: number; damping?: number; friction?: number };
const solid = (material: Material, more: Partial<SoftBody> = {}): Body =>
  ({
    name: "solid",
    kind: "soft",
    solver: "prefactored",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [4, 4, 4] },
    ...more,
    material,
  }) as Body;
const scene = { substeps: 20, iterations: 1, gravity: [0, -G, 0] as [number, number, number] };
const plane: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 };

/** A bar of 1 m that hangs by its upper face. */
const hanging = (youngsModulus: number): Promise<Laboratory> =>
  laboratory({
    ...scene,
    bodies: [
      solid(
        { density: 1000, youngsModulus, poissonsRatio: 0, damping: 4 },
        {
          contact: { self: false },
          mesh: { type: "box", size: [0.1, 1, 0.1], cells: [2, 20, 2] },
          pins: [{ select: { box: { min: [-1, 0.4999, -1], max: [1, 1, 1] } } }],
        },
      ),
    ],
  });

test.each([1e5, 1e8])("a bar of %d Pa hangs as far down as its weight requires, also after a change", async (k) => {
  const lab = await hanging(k);
  lab.run(180);
  expect(Math.abs(elongation(lab) / hangs(20, 1000, k) - 1)).toBeLessThan(0.01);
  lab.run(180, [{ type: "tune", member: 1, body: 0, youngsModulus: 3 * k }]);
  expect(Math.abs(elongation(lab) / hangs(20, 1000, 3 * k) - 1)).toBeLessThan(0.01);
});

test("a cantilever of 10^6 Pa swings at its frequency", async () => {
  const k = 1e6;
  const motion = await modeMotion(
    { ...cantilever(k, [12, 2, 2], "prefactored"), refine: false, ...scene, gravity: [0, 0, 0] },
    k,
    3,
  );
  // P has half of (3 lambda + 2 mu) |grad u|^2, E/(1 - 2 nu), in addition to the mass; |u'|^2 is 4.65 u^2/L^2
  const slower = (0.5 * 0.5 * (k / 0.4) * 4.65) / 1000 / 1200 ** 2;
  expect(motion.measured / motion.exact).toBeLessThan(1);
  expect(1 - motion.measured / motion.exact).toBeLessThan(2 * slower);
  expect(Math.abs(motion.damping)).toBeLessThan(1e-3);
});

test("a spinning solid keeps its momentum and its energy", async () => {
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    bodies: [solid({ density: 500, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 0 })],
  });
  lab.put(
    0,
    (at) => at,
    ([x, , z]) => [10 * z + 1, 0.3, -10 * x],
  );
  const { mass } = lab.created.bodies[0]!;
  const measure = (): { x: number; spin: number; energy: number } => {
    const [x, v] = [lab.positions(), lab.velocities()];
    const M = mass.reduce((sum, m) => sum + m, 0);
    const mean = (a: Float64Array, r: number): number => mass.reduce((sum, m, i) => sum + (m * a[3 * i + r]!) / M, 0);
    const [cx, cz, vx, vz] = [mean(x, 0), mean(x, 2), mean(v, 0), mean(v, 2)];
    let [spin, energy] = [0, 0];
    mass.forEach((m, i) => {
      spin += m * ((x[3 * i + 2]! - cz) * (v[3 * i]! - vx) - (x[3 * i]! - cx) * (v[3 * i + 2]! - vz));
      energy += (m * (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2)) / 2;
    });
    return { x: vx, spin, energy };
  };
  const before = measure();
  lab.run(180);
  const after = measure();
  expect(Math.abs(after.x - before.x)).toBeLessThan(1e-5);
  expect(Math.abs(after.spin / before.spin - 1)).toBeLessThan(1e-4);
  expect(after.energy / before.energy).toBeGreaterThan(0.99);
  expect(after.energy / before.energy).toBeLessThan(1.001);
});

test.each([1e6, 1e8])("a cube of %d Pa recovers from crushed positions", async (youngsModulus) => {
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    bodies: [solid({ density: 500, youngsModulus, poissonsRatio: 0.3, damping: 0.5 }, { contact: { self: false } })],
  });
  const X = lab.positions();
  lab.put(
    0,
    (_at, i) => [1, 2, 3].map((r) => 0.2 * ((Math.sin(9.1 * r * (i + 1)) * 43758.5) % 1)) as [number, number, number],
  );
  expect(lab.run(240)).toEqual([]);
  const x = lab.positions();
  const { tets } = lab.created.bodies[0]!;
  for (let e = 0; e < tets.length; e += 4)
    for (let a = 0; a < 4; a++)
      for (let b = 0; b < a; b++) {
        const length = (p: Float64Array): number =>
          Math.hypot(...[0, 1, 2].map((r) => p[3 * tets[e + a]! + r]! - p[3 * tets[e + b]! + r]!));
        expect(Math.abs(length(x) / length(X) - 1)).toBeLessThan(0.01);
      }
});

const cube = (name: string, density: number, y: number, more: Partial<SoftBody> = {}): Body =>
  solid(
    { density, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 1, friction: 0.5 },
    { name, transform: { translate: [0, y, 0] }, ...more },
  );

test("a cube carries one of a hundred times its mass", async () => {
  const lab = await laboratory({
    ...scene,
    bodies: [cube("low", 100, 0.1), cube("high", 10000, 0.31)],
    colliders: [plane],
  });
  lab.run(240);
  expect(crossings(lab)).toBe(0);
  const [x, y, z] = middle(lab.positions(1)) as [number, number, number];
  expect(Math.hypot(x, z)).toBeLessThan(0.02);
  // strain of the lower cube: weight over area and modulus; contact thickness of 2 mm at the most, twice
  expect(y).toBeGreaterThan(0.3 - (10000 * 0.2 * G * 0.2) / 1e6 - 0.004);
  expect(y).toBeLessThan(0.304);
});

test("a cube of 10^7 Pa tips over its edge as a rigid one does", async () => {
  const angle = (50 * Math.PI) / 180;
  const radius = 0.1 * Math.SQRT2;
  const lab = await laboratory({
    ...scene,
    bodies: [
      solid(
        { density: 1000, youngsModulus: 1e7, poissonsRatio: 0.3, friction: 1 },
        { transform: { translate: [0, radius * Math.sin(angle + Math.PI / 4) + 0.001, 0], rotate: [0, 0, 50] } },
      ),
    ],
    colliders: [{ ...plane, friction: 1 }],
  });
  const X = lab.positions();
  /** A vertical edge's turn from its start, rad. */
  const turn = (): number => {
    const x = lab.positions();
    const [i, j] = [0, X.length - 3];
    const way = (p: Float64Array): number => Math.atan2(p[j + 1]! - p[i + 1]!, p[j]! - p[i]!);
    return Math.abs(way(x) - way(X));
  };
  const ticks = (): number => {
    let n = 0;
    while (n < 200 && turn() < Math.PI / 12) {
      lab.run(1);
      n++;
    }
    return n;
  };
  // I = 2/3 m a^2 about the edge, 5 degrees past the top
  let [theta, w, rigid] = [Math.PI / 36, 0, 0];
  for (; theta < Math.PI / 9; rigid += 0.01) {
    w += ((0.01 / 60) * G * radius * Math.sin(theta)) / ((2 / 3) * 0.2 ** 2);
    theta += (0.01 / 60) * w;
  }
  // with P's inertia it would take three times as long, with a guard that stops what owes energy eight times
  expect(ticks() / rigid).toBeLessThan(1.5);
});

test("a cube under a rigid box of ten times its mass falls asleep", async () => {
  const box: Body = softBox("box", [0.15, 0.15, 0.15], [2, 2, 2], {
    transform: { translate: [0, 0.3, 0] },
    material: { model: "shape-matching", mode: "rigid", density: 8000, friction: 0.5 },
  });
  const lab = await laboratory({ ...scene, bodies: [cube("cube", 500, 0.105), box], colliders: [plane] });
  lab.world.mayRest = true;
  const fastest = (): number =>
    Math.max(...lab.created.bodies.flatMap((_, b) => [...lab.velocities(b)].map((v) => Math.abs(v))));
  for (let ticks = 0; ticks < 1800 && (ticks < 60 || fastest() > 0); ticks += 10) lab.run(10);
  expect(fastest()).toBe(0);
  expect(crossings(lab)).toBe(0);
  expect(Math.hypot(middle(lab.positions(0))[0]!, middle(lab.positions(0))[2]!)).toBeLessThan(0.01);
});

test.each<[number, number, number, number]>([
  [0.01, 1e5, 0, 10],
  [0.01, 1e7, 0, 20],
  [0.1, 1e11, 0.3, 10],
  [0.3, 1e9, 0.3, 10],
  [0.3, 1e6, 0.45, 20],
])(
  "a cube of %d m, %d Pa and Poisson's ratio %d with %d substeps never bounces above its start",
  async (size, E, nu, substeps) => {
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      substeps,
      bodies: [
        softBox("cube", [size, size, size], [4, 4, 4], {
          solver: "prefactored",
          transform: { translate: [0, 0.75 * size, 0] },
          material: { density: 1000, youngsModulus: E, poissonsRatio: nu },
        }),
      ],
      colliders: [{ type: "plane", name: "floor", normal: [0, 1, 0], offset: 0 }],
    });
    /** Mean of the particles' height and of the height to which their velocity would carry them, m. */
    const height = (): number => {
      const [x, v] = [lab.positions(), lab.velocities()];
      const square = v.reduce((sum, c) => sum + c * c, 0);
      return (x.reduce((sum, c, k) => sum + (k % 3 === 1 ? c : 0), 0) + square / (2 * 9.81)) / (x.length / 3);
    };
    const start = height();
    let top = 0;
    for (let tick = 0; tick < 300; tick++) {
      lab.run(1);
      top = Math.max(top, height());
    }
    // the guard leaves 16 kinetic energies of a fall of one substep
    expect(top - start).toBeLessThan(8 * 9.81 * (1 / 60 / substeps) ** 2);
  },
);

/** A cube of the matrix of pairs, prefactored. */
const blockOf = (youngsModulus: number, placed: Placed): Body => {
  const body = block("compliant solid", placed) as SoftBody;
  return { ...body, solver: "prefactored", material: { ...body.material, youngsModulus } } as SoftBody;
};

// a step of the contact forces that was cut to the cone had moved the body in full: 0.66 and 0.20 of the distance, and
// twice the friction
test.each([1e6, 1e7])(
  "a cube of %d Pa slides as far as Coulomb's law says, and friction never exceeds it",
  async (k) => {
    const stage = await Stage.open([blockOf(k, { name: "a", center: [0, SIZE / 2 + CLEAR, 0] })], {
      gravity: G,
      colliders: [floor(FRICTION)],
    });
    stage.run(1);
    stage.push(0, [1, 0, 0]);
    const from = stage.center(0)[0];
    let [x, y] = stage.velocity(0);
    let most = 0;
    stage.run(0.5, () => {
      const [u, v] = stage.velocity(0);
      const normal = G / HZ + v - y;
      if (u > 0.1 && normal > 0.1 * (G / HZ)) most = Math.max(most, (x - u) / (FRICTION * normal));
      [x, y] = [u, v];
    });
    expect(most).toBeLessThan(1.001);
    const distance = (stage.center(0)[0] - from) * 2 * FRICTION * G;
    expect(distance).toBeGreaterThan(0.99);
    expect(distance).toBeLessThan(1.05);
  },
);

// P resists turning: with it alone the bodies kept 0.87 of their angular momentum
test("two cubes of 10^7 Pa that meet off-centre keep their angular momentum", async () => {
  const apart = SIZE / 2 + 0.02;
  const stage = await Stage.open(
    [blockOf(1e7, { name: "a", center: [-apart, 0, 0] }), blockOf(1e7, { name: "b", center: [apart, 0.07, 0.04] })],
    {},
  );
  stage.run(0.5);
  stage.push(0, [1, 0, 0]);
  stage.push(1, [-1, 0, 0]);
  for (const { law, value } of await stage.collide(0.5, true)) expect(value, law).toBeLessThan(1e-4);
});
