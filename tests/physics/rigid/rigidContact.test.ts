/**
 * Rigid bodies and balls against each other and against mesh colliders. After a central impact they part with e times
 * their approach speed (Newton), for any masses, speed and step. A sliding block decelerates by mu g, a rolling ball
 * only by damping.
 *
 * Tolerances: impulses converge to a thousandth (rigidContact.ts), once for each body: 0.002 of the speed. The substep
 * of an impact is uncertain, which gives g h. A block's mean deceleration: 2 %, as for friction.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

const G = 9.81;
const rigid = (density: number, friction = 0.4): { material: Body["material"] } => ({
  material: { density, model: "shape-matching", mode: "rigid", friction } as Body["material"],
});
const box = (x: number, speed: number, restitution: number, density = 800): Body =>
  ({
    name: `box ${x}`,
    kind: "soft",
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
    transform: { translate: [x, 0, 0] },
    velocity: [speed, 0, 0],
    ...rigid(density),
    contact: { restitution },
  }) as Body;
const ball = (x: number, speed: number, restitution: number, density = 800): Body => ({
  name: `ball ${x}`,
  kind: "ball",
  mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
  transform: { translate: [x, 0, 0] },
  velocity: [speed, 0, 0],
  material: { density, friction: 0.4 },
  contact: { restitution },
});

/** Mean velocity of a body, weighted by mass, m/s. */
function velocityOf(lab: Laboratory, body: number): Vec3 {
  const { first, count } = lab.created.layout.bodies[body]!;
  const sum = [0, 0, 0];
  let mass = 0;
  for (let i = first; i < first + count; i++) {
    const m = 1 / lab.x[4 * i + 3]!;
    mass += m;
    for (let r = 0; r < 3; r++) sum[r]! += m * lab.v[4 * i + r]!;
  }
  return sum.map((p) => p / mass) as Vec3;
}

const STEPS = [
  [20, 1],
  [8, 2],
  [4, 5],
] as const;

describe.each([0, 0.5, 0.9])("a central impact, e = %d", (e) => {
  test.each(
    (
      [
        ["two boxes", 2, [box(-0.16, 2, e), box(0.16, 0, e)]],
        ["two boxes, one three times as heavy", 2, [box(-0.16, 2, e), box(0.16, 0, e, 2400)]],
        ["a heavy box on a light one", 2, [box(-0.16, 2, e, 4000), box(0.16, 0, e, 400)]],
        ["two boxes at 20 m/s", 20, [box(-0.16, 20, e), box(0.16, 0, e)]],
        ["two balls", 2, [ball(-0.16, 2, e), ball(0.16, 0, e)]],
        ["two balls, one three times as heavy", 2, [ball(-0.16, 2, e), ball(0.16, 0, e, 2400)]],
        ["a ball on a box", 2, [ball(-0.16, 2, e), box(0.16, 0, e)]],
      ] as [string, number, Body[]][]
    ).flatMap(([name, speed, bodies]) =>
      STEPS.map(([substeps, iterations]) => [name, substeps, iterations, speed, bodies] as const),
    ),
  )("%s, %i x %i: they part with e times their approach speed", async (_, substeps, iterations, speed, bodies) => {
    const lab = await laboratory({ bodies, substeps, iterations, worldRadius: 1000 });
    lab.run(20);
    const [a, b] = [velocityOf(lab, 0), velocityOf(lab, 1)];
    expect(b[0]).toBeGreaterThan(0.1 * speed);
    expect(Math.abs((b[0] - a[0]) / speed - e)).toBeLessThan(0.002);
    // and no sideways motion
    expect(Math.hypot(a[1], a[2], b[1], b[2])).toBeLessThan(0.002 * speed);
  });

  const FLOORS: Record<string, Collider> = {
    "a mesh": {
      type: "mesh",
      mesh: { type: "box", size: [3, 0.5, 3], cells: [4, 1, 4] },
      transform: { translate: [0.1, -0.25, 0.05] },
      restitution: e,
      friction: 0,
    },
    "a box": { type: "box", center: [0, -0.25, 0], halfExtents: [1.5, 0.25, 1.5], restitution: e, friction: 0 },
  };
  test.each(
    ["box", "ball"].flatMap((what) =>
      Object.keys(FLOORS).flatMap((floor) =>
        STEPS.map(([substeps, iterations]) => [what, floor, substeps, iterations] as const),
      ),
    ),
  )("a %s that falls on %s, %i x %i, leaves with e times its speed", async (what, floor, substeps, iterations) => {
    const h = 1 / (60 * substeps);
    const falls: Body = {
      ...(what === "box" ? box : ball)(0, 0, e),
      transform: { translate: [0, 0.15, 0], rotate: [0, 20, 0] },
      velocity: [0, -3, 0],
    } as Body;
    const lab = await laboratory({
      bodies: [falls],
      colliders: [FLOORS[floor]!],
      substeps,
      iterations,
      gravity: [0, -G, 0],
    });
    let last = -3;
    let substep = 0;
    let met: { before: number; after: number; at: number } | undefined;
    lab.world.watchSubsteps(() => {
      const [, v] = velocityOf(lab, 0);
      if (!met && v > last) met = { before: last, after: NaN, at: substep };
      // the impact may need a second substep to reverse all of the velocity
      if (met && substep === met.at + 2) met.after = v;
      last = v;
      substep++;
    });
    lab.run(8);
    expect(Math.abs(met!.after + e * met!.before)).toBeLessThan(3.5 * G * h + 0.002 * 3);
  });
});

/**
 * Two smooth spheres off center, one of them spinning: with normal n (from the first to the second), w = 1/m1 + 1/m2
 * and w_t = w + R^2/I1 + R^2/I2,
 *   J n = -(1 + e) (v1 - v2) . n / w,   friction = min(|v_t| / w_t, mu J): enough to stop the touching points, or mu J
 * n is known to the travel of a substep over the distance of the centers.
 */
test.each([
  ["that slip", 0.1, 30],
  ["that stick", 1, -8],
])("two balls %s, off center and spinning, leave as the closed form says", async (_, friction, spin) => {
  const R = 0.1;
  const e = 0.6;
  const speed = 2;
  const substeps = 80;
  const offset = 0.08;
  const lab = await laboratory({
    substeps,
    iterations: 1,
    worldRadius: 1000,
    bodies: [0, 1].map(
      (n) =>
        ({ ...ball(n ? 0.16 : -0.16, 0, e, n ? 1600 : 800), material: { density: n ? 1600 : 800, friction } }) as Body,
    ),
  });
  // about z: the motion stays in the plane of x and y
  lab.put(
    0,
    (x) => [x[0], x[1] + offset, x[2]],
    ([x, y]) => [speed - spin * y, spin * (x + 0.16), 0],
  );
  const about = (body: number): { m: number; I: number; v: Vec3; spin: number } => {
    const { first, count } = lab.created.layout.bodies[body]!;
    const v = velocityOf(lab, body);
    const c = [0, 0];
    let m = 0;
    let I = 0;
    let L = 0;
    for (let i = first; i < first + count; i++) {
      m += 1 / lab.x[4 * i + 3]!;
      for (let r = 0; r < 2; r++) c[r]! += lab.x[4 * i + r]! / lab.x[4 * i + 3]!;
    }
    for (let i = first; i < first + count; i++) {
      const x = lab.x[4 * i]! - c[0]! / m;
      const y = lab.x[4 * i + 1]! - c[1]! / m;
      const w = lab.x[4 * i + 3]!;
      I += (x * x + y * y) / w;
      L += (x * lab.v[4 * i + 1]! - y * lab.v[4 * i]!) / w;
    }
    return { m, I, v, spin: L / I };
  };
  const a = about(0);
  const b = about(1);
  const n = [Math.sqrt((2 * R) ** 2 - offset ** 2) / (2 * R), -offset / (2 * R)] as const;
  const t = [-n[1], n[0]] as const;
  const w = 1 / a.m + 1 / b.m;
  const J = ((1 + e) * speed * n[0]) / w;
  const slip = speed * t[0] + R * a.spin;
  const wt = w + (R * R) / a.I + (R * R) / b.I;
  const F = Math.max(-friction * J, Math.min(friction * J, slip / wt));
  lab.run(12);
  const after = [about(0), about(1)] as const;
  const sharp = (2 * speed) / (60 * substeps) / (2 * R);
  expect(Math.abs(F) < friction * J).toBe(friction === 1);
  (
    [
      [a, after[0], -1],
      [b, after[1], 1],
    ] as const
  ).forEach(([before, now, sign]) => {
    const ideal = [0, 1].map((r) => before.v[r]! + (sign * (J * n[r]! + F * t[r]!)) / before.m);
    const turned = before.spin - (F * R) / before.I;
    expect(Math.hypot(now.v[0] - ideal[0]!, now.v[1] - ideal[1]!)).toBeLessThan(sharp * speed);
    expect(Math.abs(now.spin - turned)).toBeLessThan((sharp * speed) / R);
  });
});

/** Supports: a mesh with edges every half meter, a fixed body, and a plane without edges. */
const GROUNDS: Record<string, (mu: number) => { bodies: Body[]; colliders: Collider[] }> = {
  "a plane": (friction) => ({ bodies: [], colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction }] }),
  "a mesh collider": (friction) => ({
    bodies: [],
    colliders: [
      {
        type: "mesh",
        mesh: { type: "box", size: [4, 0.5, 4], cells: [9, 1, 9] },
        transform: { translate: [0, -0.25, 0] },
        friction,
      },
    ],
  }),
  "a held body": (friction) => ({
    colliders: [],
    bodies: [
      {
        name: "ground",
        kind: "soft",
        mesh: { type: "box", size: [4, 0.5, 4], cells: [9, 1, 9] },
        transform: { translate: [0, -0.25, 0] },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
        material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3, friction },
      },
    ],
  }),
};

describe.each(Object.entries(GROUNDS))("on %s", (_, make) => {
  test.each([
    [20, 1, 1.5],
    [8, 1, 1.5],
    [8, 1, 3],
    [4, 5, 3],
  ])("%i x %i: a rigid block at %d m/s decelerates by mu g", async (substeps, iterations, speed) => {
    const mu = 0.4;
    const ground = make(mu);
    const ticks = Math.round(60 * Math.min(1.5 / speed, (0.8 * speed) / (G * mu)));
    const slider: Body = {
      name: "block",
      kind: "soft",
      mesh: { type: "box", size: [0.3, 0.1, 0.3], cells: [3, 1, 3] },
      transform: { translate: [-1.2, 0.056, 0.021], rotate: [0, 11, 0] },
      ...rigid(500, mu),
    } as Body;
    const lab = await laboratory({
      ...ground,
      bodies: [slider, ...ground.bodies],
      substeps,
      iterations,
      gravity: [0, -G, 0],
      worldRadius: 1000,
    });
    lab.run(60);
    const { first, count } = lab.created.layout.bodies[0]!;
    for (let i = first; i < first + count; i++) lab.v[4 * i]! += speed;
    const before = velocityOf(lab, 0)[0];
    lab.run(ticks);
    const after = velocityOf(lab, 0);
    expect(Math.abs((before - after[0]) / ((mu * G * ticks) / 60) - 1)).toBeLessThan(0.02);
    expect(Math.abs(after[2])).toBeLessThan(0.01 * speed);
  });
});

describe.each([0, 0.4])("a rolling ball, friction %d", (friction) => {
  const grounds: Record<string, Collider> = {
    "a plane": { type: "plane", normal: [0, 1, 0], offset: 0, friction },
    "a box": { type: "box", center: [0, -0.25, 0], halfExtents: [20, 0.25, 2], friction },
    "a mesh": {
      type: "mesh",
      mesh: { type: "box", size: [40, 0.5, 4], cells: [20, 1, 4] },
      transform: { translate: [0, -0.25, 0] },
      friction,
    },
  };
  // with damping 0.1 1/s a substep of 1/1200 s changes less than float32 positions resolve
  test.each(
    Object.keys(grounds).flatMap((on) =>
      [
        [0.5, 8],
        [0.1, 20],
      ].map(([damping, substeps]) => [on, damping!, substeps!] as const),
    ),
  )("on %s, %d 1/s, %i substeps: only damping decelerates the ball", async (on, damping, substeps) => {
    const R = 0.1;
    const lab = await laboratory({
      substeps,
      iterations: 1,
      damping,
      gravity: [0, -G, 0],
      worldRadius: 1000,
      colliders: [grounds[on]!],
      bodies: [
        {
          name: "ball",
          kind: "ball",
          mesh: { type: "ball", radius: R, subdivisions: 2 },
          transform: { translate: [0, R, 0] },
          material: { density: 800, friction },
        },
      ],
    });
    lab.run(30);
    const y = lab.positions().filter((_, k) => k % 3 === 1);
    const center = (Math.max(...y) + Math.min(...y)) / 2;
    lab.put(
      0,
      (x) => x,
      ([x, height]) => (friction ? [1 + (height - center) / R, -x / R, 0] : [1, 0, 0]),
    );
    lab.run(180);
    // v / (1 + h damping) in every substep
    expect(Math.abs(velocityOf(lab, 0)[0] / (1 + damping / (60 * substeps)) ** (-180 * substeps) - 1)).toBeLessThan(
      0.002,
    );
  });
});
