/**
 * Wind on surfaces compared with a flat plate and a box (server/kernel/assembly/wind/wind.ts): drag on the projected
 * area, lift across, terminal velocity, the energy ledger, sleep. Tolerances: forces and velocities are float32 results
 * of a few operations, 1e-5; motion is by symplectic Euler, h.
 */
import { describe, expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import type { SceneWind } from "../../../shared/scene/sceneSettings.ts";
import { dot, norm, type Vector } from "../../../server/sim/reference/vector.ts";
import { modesOf, windOf } from "../../../server/sim/tuning/windRow.ts";
import { wave } from "../../../server/sim/reference/wind.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { now, sum, watched, worst } from "../laws/watched.ts";

const G = 9.81;
const RHO = 1.2;
/** kg/m^2 */
const SIGMA = 0.3;

function sheet(rotate: [number, number, number] = [0, 0, 0], more: object = {}, material: object = {}): Body {
  return {
    name: "sheet",
    kind: "cloth",
    mesh: { type: "grid", size: [1, 1], cells: [4, 4] },
    transform: { rotate },
    material: { density: 300, thickness: 0.001, youngsModulus: 20_000, poissonsRatio: 0.3, damping: 0, ...material },
    contact: { self: false },
    ...more,
  } as Body;
}

const JELLY = { density: 100, youngsModulus: 50_000, poissonsRatio: 0.3, damping: 0 };
const box = (size: [number, number, number], material: object = JELLY): Body =>
  ({ name: "box", kind: "soft", mesh: { type: "box", size, cells: [2, 2, 2] }, material }) as Body;

/** Mean velocity, weighted by mass, and total force on a body from the accelerations of its particles. */
function motionOf({ created, x, v, acceleration }: Laboratory): { velocity: Vector; force: Vector } {
  const { massUnit, particleCount } = created.layout;
  const P: [number, number, number] = [0, 0, 0];
  const F: [number, number, number] = [0, 0, 0];
  let M = 0;
  for (let i = 0; i < particleCount; i++) {
    const w = x[4 * i + 3]!;
    if (w === 0) continue;
    M += massUnit / w;
    for (let r = 0; r < 3; r++) {
      P[r]! += (massUnit / w) * v[4 * i + r]!;
      F[r]! += (massUnit / w) * acceleration[4 * i + r]!;
    }
  }
  return { velocity: [P[0] / M, P[1] / M, P[2] / M], force: F };
}

describe("a flat sheet", () => {
  test.each([
    ["compliant", {}, {}, 20],
    ["implicit", { solver: "implicit" }, {}, 20],
    [
      "mass-spring",
      { method: { type: "mass-spring", integrator: "symplectic", steps: 16 } },
      { model: "pbd", youngsModulus: undefined, poissonsRatio: undefined, distance: { compliance: 0.01 } },
      20,
    ],
  ] as const)("falls at its terminal velocity, %s", async (_, more, material, substeps) => {
    // 0.5 rho C_D A v^2 = m g
    const terminal = Math.sqrt((2 * SIGMA * G) / (RHO * 1.2));
    const lab = await laboratory({
      gravity: [0, -G, 0],
      substeps,
      wind: {},
      bodies: [sheet([0, 0, 0], more, material)],
    });
    lab.run(12);
    // v = v_t tanh(g t/v_t); a method samples the air once a step, at most a tick long
    const early = terminal * Math.tanh((G * 0.2) / terminal);
    expect(Math.abs(-motionOf(lab).velocity[1] - early)).toBeLessThan(G / 60);
    // 1 - tanh(g t/v_t) < 1e-6 from 7.2 v_t/g = 1.5 s on
    lab.run(108);
    expect(-motionOf(lab).velocity[1] / terminal).toBeCloseTo(1, 4);
  });

  test.each([0, 20, 45, 70, 90])("turned by %i degrees it feels drag and lift", async (degrees) => {
    const U = 8;
    const wind: SceneWind = { velocity: [U, 0, 0], density: RHO, drag: 1.1, lift: 0.8 };
    // Its normal, +y, is turned towards +x by 90 - degrees. It is so heavy that one step of a whole tick does not limit
    // the force.
    const lab = await laboratory({ substeps: 1, wind, bodies: [sheet([0, 0, degrees - 90], {}, { density: 1e5 })] });
    lab.run(1);
    const { force } = motionOf(lab);
    const angle = (degrees * Math.PI) / 180; // between normal and wind
    const pressure = 0.5 * RHO * U * U;
    const most = pressure * 1.1;
    expect(force[0] / most).toBeCloseTo(Math.cos(angle), 5);
    expect(force[1] / most).toBeCloseTo((0.8 / 1.1) * Math.sin(angle) * Math.cos(angle), 5);
    expect(force[2] / most).toBeCloseTo(0, 5);
  });

  test("feels no force when it moves with the wind", async () => {
    const velocity: [number, number, number] = [3, -1, 2];
    const lab = await laboratory({ wind: { velocity }, bodies: [sheet([20, 30, 0], { velocity })] });
    lab.run(30);
    // rounding of velocities only: the force grows with the square of the relative velocity
    expect(norm(motionOf(lab).force)).toBeLessThan(1e-9);
  });
});

describe("a closed body", () => {
  test.each([
    ["along an axis", [1, 0, 0], 0.4 * 0.3],
    ["against another", [0, -1, 0], 0.5 * 0.3],
    ["across a corner", [3 / 5, 4 / 5, 0], (3 / 5) * 0.4 * 0.3 + (4 / 5) * 0.5 * 0.3],
  ] as const)("has the drag of its projected area, %s", async (_, towards, shadow) => {
    const U = 5;
    const velocity = towards.map((part) => part * U) as [number, number, number];
    const lab = await laboratory({
      substeps: 1,
      wind: { velocity, density: RHO, drag: 1.05, lift: 0.9 },
      bodies: [box([0.5, 0.4, 0.3])],
    });
    lab.run(1);
    const { force } = motionOf(lab);
    const drag = 0.5 * RHO * 1.05 * shadow * U * U;
    expect(dot(force, towards) / drag).toBeCloseTo(1, 5);
    // Faces along or against the wind have no lift. The lift of two oblique faces cancels only if they are alike.
    if (towards[2] === 0 && towards[0] * towards[1] === 0) expect(norm(force) / drag).toBeCloseTo(1, 5);
  });

  test.each([
    ["compliant", {}, [0.5, 0.05, 0.5], [6, 1, 6]],
    ["implicit", { solver: "implicit" }, [0.5, 0.05, 0.5], [6, 1, 6]],
    ["implicit, cube", { solver: "implicit" }, [0.3, 0.3, 0.3], [5, 5, 5]],
    ["finite elements", { method: { type: "finite-elements" } }, [0.5, 0.05, 0.5], [6, 1, 6]],
  ] as const)("of foam falls at its terminal velocity, %s", async (_, more, size, cells) => {
    const [width, height, depth] = size;
    const density = 20;
    const body = { ...box([width, height, depth], { density, youngsModulus: 1e5, poissonsRatio: 0.3 }), ...more };
    const lab = await laboratory({
      gravity: [0, -G, 0],
      substeps: 20,
      worldRadius: 1000,
      wind: {},
      bodies: [{ ...body, mesh: { type: "box", size, cells }, contact: { self: false } } as unknown as Body],
    });
    lab.run(300);
    const right = Math.sqrt((2 * density * height * G) / (RHO * 1.2));
    expect(-motionOf(lab).velocity[1] / right).toBeCloseTo(1, 3);
  });

  test("as light as a film it does not overtake a storm", async () => {
    // rigid, so that it has one velocity; a single substep would change that by 24 times w
    const lab = await laboratory({
      substeps: 4,
      wind: { velocity: [80, 0, 0] },
      worldRadius: 1000,
      bodies: [box([0.02, 1, 1], { model: "shape-matching", mode: "rigid", density: 0.5 })],
    });
    for (let tick = 0; tick < 60; tick++) {
      lab.run(1);
      // a velocity is the difference of two float32 places, 2^-17 m apart from 64 m on
      expect(motionOf(lab).velocity[0]).toBeLessThan(80 + 2 ** -17 * 240);
    }
    expect(motionOf(lab).velocity[0]).toBeGreaterThan(60);
    expect([...lab.world.held()]).toEqual([0]);
  });

  test("wind on its middle moves a rigid body without turning it", async () => {
    const lab = await laboratory({
      substeps: 4,
      wind: { velocity: [10, 0, 0], lift: 0 },
      bodies: [box([0.4, 0.4, 0.4], { model: "shape-matching", mode: "rigid", density: 100 })],
    });
    const before = lab.positions();
    lab.run(30);
    const after = lab.positions();
    const shift = after.map((c, k) => c - before[k]!);
    // m dv/dt = k (U - v)^2 from rest: x = U t - m/k log(1 + k U t/m)
    const mass = 100 * 0.4 ** 3;
    const k = 0.5 * 1.2 * 1.2 * 0.16;
    const t = 0.5;
    const way = 10 * t - (mass / k) * Math.log(1 + (k * 10 * t) / mass);
    for (let i = 0; i < shift.length; i += 3) {
      // symplectic Euler leads by a step: h v
      expect(Math.abs(shift[i]! - way)).toBeLessThan((1 / 240) * 1);
      expect(Math.abs(shift[i + 1]!)).toBeLessThan(1e-4);
      expect(Math.abs(shift[i + 2]!)).toBeLessThan(1e-4);
    }
  });
});

test("the energy ledger has an entry for wind, and balances", async () => {
  const { books, run } = await watched({
    gravity: [0, -G, 0],
    wind: { velocity: [6, 0, 1], turbulence: { intensity: 0.4, scale: 0.7 } },
    bodies: [
      sheet([80, 0, 0], { pins: [{ select: { box: { min: [-1, 0.49, -1], max: [1, 1, 1] } } }] }),
      { ...box([0.3, 0.3, 0.3]), transform: { translate: [3, 0, 0] } },
    ],
  });
  run(30);
  expect(worst(books)).toBeLessThan(1e-12);
  for (const body of [0, 1]) expect(Math.abs(sum(books, "wind", body))).toBeGreaterThan(0.01);
});

test("the energy that wind adds to a free sheet is its kinetic energy", async () => {
  const { books, run } = await watched({ wind: { velocity: [5, 0, 0], lift: 0 }, bodies: [sheet([0, 0, 90])] });
  run(30);
  const { kinetic } = now(books);
  expect(kinetic).toBeGreaterThan(0.3);
  // rounding stretches the sheet, which takes the remainder
  expect(sum(books, "wind") / kinetic).toBeCloseTo(1, 4);
});

test("a room that rests wakes when the wind changes, and never rests in gusts", async () => {
  const lab = await laboratory({
    gravity: [0, -G, 0],
    bodies: [{ ...box([0.3, 0.3, 0.3], { ...JELLY, damping: 1 }), transform: { translate: [0, 0.15, 0] } }],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.05 }],
  });
  const { world } = lab;
  world.mayRest = true;
  for (let n = 0; n < 900 && !world.resting; n++) world.step([]);
  expect(world.resting).toBe(true);
  const before = lab.positions()[0]!;
  const wind = { velocity: [30, 0, 0] as [number, number, number], density: 1.2 };
  lab.run(60, [{ type: "tune", member: 1, wind }]);
  // a = rho/2 C_D A U^2/m = 21.6 m/s^2, minus friction, damping and the effect of its own velocity
  expect(lab.positions()[0]! - before).toBeGreaterThan(1);
  // no air: no force remains
  lab.run(1, [{ type: "tune", member: 1, wind: { density: 0 } }]);
  expect(lab.acceleration[0]).toBe(0);
  lab.run(1, [{ type: "tune", member: 1, wind: { velocity: [0.01, 0, 0], density: 1.2, intensity: 0.5 } }]);
  for (let n = 0; n < 600; n++) world.step([]);
  expect(world.resting).toBe(false);
});

describe("turbulence", () => {
  const wind = windOf({ velocity: [4, 0, -3], turbulence: { intensity: 0.5, scale: 2, seed: 11 } });
  test("has no divergence, and the requested strength", () => {
    const modes = modesOf(wind);
    for (const { k, swing } of modes) expect(Math.abs(dot(k, swing))).toBeLessThan(1e-12);
    // one period of each wave at 1000 phases: mean squares add up, because phases are independent
    let mean = 0;
    for (let n = 0; n < 1000; n++) mean += wave(n / 1000) ** 2 / 1000;
    const square = modes.reduce((total, { swing }) => total + dot(swing, swing) * mean, 0);
    // the parabola's mean square is a sum of 1000 parts of a smooth function's: 1e-6
    expect(Math.sqrt(square)).toBeCloseTo(0.5 * 5, 4);
  });

  test("depends only on its seed", () => {
    expect(modesOf(wind)).toEqual(modesOf({ ...wind }));
    expect(modesOf({ ...wind, seed: 12 })).not.toEqual(modesOf(wind));
    expect(modesOf({ ...wind, intensity: 0 })).toEqual([]);
  });
});
