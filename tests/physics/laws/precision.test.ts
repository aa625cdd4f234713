/**
 * Float32 is not visible in motion. A body falls along its parabola at any height, size and number of substeps, and
 * many substeps cause no tremor.
 */
import { describe, expect, test } from "vitest";
import type { Body, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";
import { inLong } from "../../support/run/long.ts";

const G = 9.81;

const bodies: Record<string, (at: number, size: number) => Body> = {
  "a soft cube": (at, size) => ({
    name: "body",
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [3, 3, 3] },
    transform: { translate: [at, at, -at] },
    material: { density: 1000, youngsModulus: 2e4 * size, poissonsRatio: 0.3 },
  }),
  "a rigid cube": (at, size) => ({
    name: "body",
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [2, 2, 2] },
    transform: { translate: [at, at, -at] },
    material: { model: "shape-matching", mode: "rigid", density: 1000 },
  }),
  "a sheet": (at, size) => ({
    name: "body",
    kind: "cloth",
    mesh: { type: "grid", size: [size, size], cells: [6, 6] },
    transform: { translate: [at, at, -at] },
    material: { density: 500, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 },
  }),
};

/** A small body at the origin, which keeps the room's origin there. */
const anchor: Body = {
  name: "anchor",
  kind: "soft",
  mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [1, 1, 1] },
  transform: { translate: [-300, -300, 300] },
  material: { density: 1000, youngsModulus: 1e6, poissonsRatio: 0.3 },
};

describe.each(Object.entries(bodies))("%s falls by g t^2/2", (_, body) => {
  test.each(inLong([1, 20, 100, 512], [1, 20, 512]))("300 m away, with %i substeps", async (substeps) => {
    const lab = await laboratory({ gravity: [0, -G, 0], worldRadius: 1e4, substeps, bodies: [body(300, 1), anchor] });
    const before = middle(lab.positions());
    const seconds = substeps > 100 ? 1 : 3;
    lab.run(60 * seconds);
    const after = middle(lab.positions());
    const fall = (G * seconds ** 2) / 2;
    // 0.4 mm in 44 m: steps of float32 there are 0.03 mm
    expect(Math.abs(before[1]! - after[1]! - fall)).toBeLessThan(1e-5 * fall);
    for (const r of [0, 2]) expect(Math.abs(after[r]! - before[r]!)).toBeLessThan(1e-5 * fall);
    // the mean: float32 strains at 300 m make particles quiver by a few tenths of a millimeter a second
    const [, speed] = middle(lab.velocities());
    expect(Math.abs(speed / (G * seconds) + 1)).toBeLessThan(1e-5);
  });
});

test("a soft cube 500 m up falls freely above a floor within the reach of contact detection", async () => {
  const lab = await laboratory({
    gravity: [0, -G, 0],
    worldRadius: 1e4,
    bodies: [bodies["a soft cube"]!(300, 500)],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });
  const before = middle(lab.positions())[1]!;
  lab.run(60);
  // symplectic Euler: g (t^2 + h t)/2, and half a step of float32 at 550 m
  expect(Math.abs(before - middle(lab.positions())[1]! - (G / 2) * (1 + 1 / 1200))).toBeLessThan(2 ** -14);
});

test.each(inLong([40, 160], [160]))("a soft bar at rest is still with %i substeps", async (substeps) => {
  const lab = await laboratory({
    gravity: [0, -1, 0],
    substeps,
    damping: 2,
    bodies: [
      {
        name: "bar",
        kind: "soft",
        mesh: { type: "box", size: [1, 0.2, 0.2], cells: [10, 2, 2] },
        transform: { translate: [1, 1, 1] },
        material: { density: 100, youngsModulus: 1e4, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-10, -10, -10], max: [0.51, 10, 10] } } }],
      },
    ],
  });
  lab.run(480);
  // speed of a particle after a correction by half a step of float32 at 1.5 m in a single substep
  const thrown = 2 ** -24 * 1.5 * 60 * substeps;
  // the limit covers the remaining swing (0.6 Hz, decayed to e^-8)
  const speeds = lab.velocities();
  const rms = Math.sqrt(speeds.reduce((sum, v) => sum + v * v, 0) / (speeds.length / 3));
  expect(rms).toBeLessThan(2 * thrown);
});

/** Bodies of edges of EDGE at rest, which gravity strains, with their first corner at `at`. */
const EDGE = 0.125;
const resting: Record<string, (at: number) => Partial<Scene> & Pick<Scene, "bodies">> = {
  "a bar, clamped at one end": (at) => ({ bodies: [bar(at, { pins: clamp(at) })] }),
  "a bar of another material": (at) => ({
    bodies: [bar(at, { pins: clamp(at), material: { model: "stable-neo-hookean", ...SOFT } })],
  }),
  "a bar that hangs on two points": (at) => ({
    bodies: [bar(at)],
    attachments: [0, 1].map((x) => {
      const corner: [number, number, number] = [at + x, at + 2 * EDGE, at];
      return { from: { body: "bar", near: corner }, to: { world: corner } };
    }),
  }),
  "a sheet, clamped at one edge": (at) => ({
    bodies: [
      {
        name: "sheet",
        kind: "cloth",
        solver: "compliant",
        mesh: { type: "grid", size: [1, 1], cells: [8, 8] },
        transform: { translate: [at + 0.5, at, at + 0.5] },
        material: { density: 500, thickness: 1e-3, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
        pins: clamp(at),
      },
    ],
  }),
};
const SOFT = { density: 100, youngsModulus: 1e4, poissonsRatio: 0.3 };

function bar(at: number, extra: object = {}): Body {
  return {
    name: "bar",
    kind: "soft",
    solver: "compliant",
    mesh: { type: "box", size: [1, 2 * EDGE, 2 * EDGE], cells: [8, 2, 2] },
    transform: { translate: [at + 0.5, at + EDGE, at + EDGE] },
    material: SOFT,
    ...extra,
  } as Body;
}

const clamp = (at: number): NonNullable<Body["pins"]> => [
  { select: { box: { min: [at - 0.06, -1e3, -1e3], max: [at + 0.06, 1e3, 1e3] } } },
];

test("a bar on a floor through the origin does not tremble", async () => {
  const lab = await laboratory({
    gravity: [0, -1, 0],
    damping: 2,
    bodies: [bar(0)],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });
  lab.run(1200);
  const speeds = lab.velocities();
  const rms = Math.sqrt(speeds.reduce((sum, v) => sum + v * v, 0) / (speeds.length / 3));
  expect(rms).toBeLessThan(2 ** -24 * EDGE * 1200);
});

/** Root mean square of a body's speeds, m/s. */
function rmsOf(lab: Laboratory): number {
  const v = lab.velocities();
  return Math.sqrt(v.reduce((sum, c) => sum + c * c, 0) / (v.length / 3));
}

/** A body of edges of EDGE that stands on a plane with this normal, 100 m from the anchor near the room's origin. */
const standing: Record<string, (along: Vec3, normal: Vec3) => Body> = {
  "a soft cube": (translate, normal) => ({ ...cube(translate, normal), solver: "compliant", material: SOFT }) as Body,
  "a rigid cube": (translate, normal) =>
    ({ ...cube(translate, normal), material: { model: "shape-matching", mode: "rigid", density: 100 } }) as Body,
};

function cube(center: Vec3, normal: Vec3): object {
  // turns the y axis to the normal
  const angle = Math.acos(normal[1]) * (180 / Math.PI);
  return {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [2 * EDGE, 2 * EDGE, 2 * EDGE], cells: [2, 2, 2] },
    transform: { translate: center, rotate: [0, 0, normal[0] > 0 ? -angle : angle] },
  };
}

describe.each(Object.entries(standing))("%s at rest on a plane 100 m away", (_, body) => {
  test.each([[[0, 1, 0] as Vec3], [[0.28, 0.96, 0] as Vec3]])(
    "with the normal %o neither trembles nor creeps",
    async (normal) => {
      const offset = 70;
      const foot: Vec3 = [offset * normal[0], offset * normal[1], 70];
      const center = foot.map((c, r) => c + (EDGE + 0.006) * normal[r]!) as Vec3;
      const near = { ...anchor, transform: { translate: [-1, -1, -1] }, pins: clamp(-1) } as Body;
      const lab = await laboratory({
        gravity: [0, -9.81, 0],
        damping: 1,
        bodies: [body(center, normal), near],
        colliders: [{ type: "plane", normal, offset, friction: 1 }],
      });
      lab.run(900);
      const before = lab.positions();
      // one step of float32 there in a substep is 9 mm/s
      let most = 0;
      for (let tick = 0; tick < 300; tick++) {
        lab.run(1);
        most = Math.max(most, rmsOf(lab));
      }
      expect(most).toBeLessThan(5e-5);
      const moved = lab.positions().map((c, k) => Math.abs(c - before[k]!));
      // a step of float32 at 70 m: the rounding of what is read
      expect(Math.max(...moved)).toBeLessThanOrEqual(2 ** -17);
    },
  );
});

test.each(inLong([0.3, 1], [0.3]))(
  "a free bar under tension is still and as long as its material says, with a damping of %d",
  async (damping) => {
    const size: Vec3 = [2.4, 0.8, 0.8];
    const force = 330;
    const end = (side: number): object => ({
      select: { box: { min: [side * 1.2 - 0.001, -1, -1], max: [side * 1.2 + 0.001, 1, 1] } },
      force: [side * force, 0, 0],
    });
    const lab = await laboratory({
      damping,
      bodies: [
        {
          name: "bar",
          kind: "soft",
          solver: "compliant",
          mesh: { type: "box", size, cells: [6, 2, 2] },
          material: { density: 1614, youngsModulus: 1e4, poissonsRatio: 0.18 },
          loads: [end(-1), end(1)],
        } as Body,
      ],
    });
    const x0 = lab.positions();
    let pull = 0;
    for (let i = 0; i < x0.length / 3; i++) if (x0[3 * i]! > 1.19) pull += lab.acceleration[4 * i]! / lab.x[4 * i + 3]!;
    lab.run(5400);
    // a substep that throws a particle by half a step of float32 at an edge's length makes 3e-5 m/s; it was 0.04
    expect(rmsOf(lab)).toBeLessThan(1e-4);
    const x = lab.positions();
    const mean = (side: number): number => {
      const ends = [...x0.keys()].filter((k) => k % 3 === 0 && side * x0[k]! > 1.19);
      return ends.reduce((sum, k) => sum + x[k]!, 0) / ends.length;
    };
    // Saint Venant-Kirchhoff: pull / area = E s (s^2 - 1)/2
    const stress = pull / (size[1] * size[2]);
    let stretch = 1;
    for (let n = 0; n < 50; n++)
      stretch += (stress - 5e3 * stretch * (stretch ** 2 - 1)) / (5e3 * (3 * stretch ** 2 - 1));
    const strain = (mean(1) - mean(-1)) / size[0] - 1;
    // corners of the end faces give way a little more: the load is spread over their particles
    expect(Math.abs(strain / (stretch - 1) - 1)).toBeLessThan(0.03);
  },
);

describe.each(Object.entries(resting))("%s does not tremble", (_, scene) => {
  test.each(inLong([1, 56], [56]))("at (1, 1, 1) times %i m, with damping and without", async (at) => {
    const { bodies, ...others } = scene(at);
    const near = { ...anchor, transform: { translate: [-1, -1, -1] }, pins: clamp(-1) } as Body;
    const lab = await laboratory({ gravity: [0, -1, 0], damping: 2, ...others, bodies: [...bodies, near] });
    const rms = (): number => {
      const v = lab.velocities();
      return Math.sqrt(v.reduce((sum, c) => sum + c * c, 0) / (v.length / 3));
    };
    // speed of a particle that one substep throws by half a step of float32 at an edge's length. Nothing coarser is
    // rounded: differences of positions have the digits of an edge, wherever the body is
    const thrown = 2 ** -24 * EDGE * 1200;
    lab.run(1200);
    expect(rms()).toBeLessThan(thrown);
    // Without damping the kicks add up like a random walk. A strain of 2^-24 kicks a particle by q of that speed, q =
    // (c h/edge)^2 < 0.005 with c = 10 m/s (sheet: 14), a few elements at a time; n = 6,000 substeps make sqrt(n) q
    for (let i = 0; i < lab.created.layout.particleCount; i++) lab.v[4 * i + 3] = 0;
    lab.run(300);
    expect(rms()).toBeLessThan(4 * Math.sqrt(6000) * 0.005 * thrown);
  });
});

test("in a minute a pendulum loses only the energy that its time step damps, and gains none", async () => {
  const lab = await laboratory({
    gravity: [0, -1, 0],
    bodies: [
      {
        name: "bob",
        kind: "soft",
        mesh: { type: "box", size: [0.2, 1, 0.2], cells: [2, 5, 2] },
        transform: { translate: [3, 3, 3] },
        material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3 },
      },
    ],
    attachments: [{ from: { body: "bob", near: [3, 3.5, 3] }, to: { world: [3, 3.5, 3] } }],
  });
  const omega = Math.sqrt(1.5); // a rod of 1 m under 1 m/s^2
  lab.put(
    0,
    (x) => x,
    (x) => [0.05 * (3.5 - x[1]), 0, 0],
  );
  const swing = (): number => {
    let most = 0;
    for (let tick = 0; tick < 480; tick++) {
      lab.run(1);
      const v = lab.velocities();
      most = Math.max(
        most,
        v.reduce((sum, c) => sum + c * c, 0),
      );
    }
    return most;
  };
  swing(); // until the stretching by its weight has decayed
  const first = swing();
  lab.run(3600 - 480);
  // implicit Euler takes omega^2 h of the energy in a second; the first and last peak are known to a swing each
  const kept = swing() / first;
  expect(kept).toBeGreaterThan(1 - (omega ** 2 / 1200) * 70 - 0.01);
  expect(kept).toBeLessThan(1.001);
});
