/**
 * Guarantees of solver "implicit": motion has the material's stiffness, static solutions are those of its model, free
 * bodies keep their momentum, no element inverts. Reset, sleep and grabs work as for any other body.
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { laboratory, volumeOf } from "../laboratory.ts";
import { momentum } from "../laws/worldMomentum.ts";
import { elongation, extent, hangs } from "../measures.ts";
import { bdf2, cantilever, modeMotion } from "../bars/barModes.ts";
import { watched } from "../laws/watched.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

test.each([1e6, 1e8])(
  "a cantilever of %d Pa swings at the frequency of its mesh's lowest mode",
  async (youngsModulus) => {
    const scene = cantilever(youngsModulus, [20, 2, 2], "implicit");
    const { exact, measured, damping } = await modeMotion(scene, youngsModulus);
    // the integrator's error is known; conjugate gradients leave a tenth of what a step adds, of order (w h)^2
    const slack = 0.1 * ((2 * Math.PI * exact) / 240) ** 2 + 2e-4;
    expect(Math.abs(measured / exact - 1 - bdf2(exact))).toBeLessThan(slack);
    expect(Math.abs(damping)).toBeLessThan(slack);
  },
);

function bar(youngsModulus: number, stretch: number): Body {
  const force = ((youngsModulus * stretch * (stretch * stretch - 1)) / 2) * 0.01;
  return softBox("bar", [0.3, 0.1, 0.1], [6, 2, 2], {
    solver: "implicit",
    contact: { self: false },
    material: { density: 1000, youngsModulus, poissonsRatio: 0.3, damping: 4 },
    loads: [
      { select: { box: { min: [0.1499, -1, -1], max: [1, 1, 1] } }, force: [force, 0, 0] },
      { select: { box: { min: [-1, -1, -1], max: [-0.1499, 1, 1] } }, force: [-force, 0, 0] },
    ],
  });
}

test.each([
  [1e4, 1.1],
  [1e7, 1.1],
  [1e9, 1.3],
])("a free bar of %d Pa under sudden tension comes to rest %d times as long", async (youngsModulus, stretch) => {
  const room = await laboratory({ bodies: [bar(youngsModulus, stretch)] });
  room.run(360);
  const length = (r: number): number => extent(room.positions(), r);
  // Saint Venant-Kirchhoff: P = k s (s^2 - 1)/2, t^2 = 1 - nu (s^2 - 1)
  expect(Math.abs(length(0) / 0.3 / stretch - 1)).toBeLessThan(1e-3);
  expect(Math.abs(length(1) / 0.1 / Math.sqrt(1 - 0.3 * (stretch * stretch - 1)) - 1)).toBeLessThan(1e-3);
});

test.each([
  [8, 1e6],
  [60, 1e8],
])("a free solid that rotates at %d 1/s keeps rotating, and its energy does not grow", async (rate, youngsModulus) => {
  const box: Body = softBox("box", [0.4, 0.2, 0.2], [4, 2, 2], {
    solver: "implicit",
    contact: { self: false },
    material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
  });
  const { lab, books, run } = await watched({ bodies: [box] });
  lab.put(
    0,
    (x) => x,
    ([x, , z]) => [rate * z, 0, -rate * x],
  );
  run(600);
  const [first, last] = [books.entries[1]!.bodies[0]!, books.entries.at(-1)!.bodies[0]!];
  // positions and velocities are read as float32
  expect(Math.abs(last.angularMomentum[1] / first.angularMomentum[1] - 1)).toBeLessThan(1e-5);
  expect(last.total / first.total - 1).toBeLessThan(1e-6);
});

test.each([10, 40])("a sheet of %d cells hangs as far down as the weight of its rows requires", async (cells) => {
  const [density, thickness, youngsModulus] = [200, 1e-3, 1e6];
  const room = await laboratory({
    gravity: [0, -9.81, 0],
    bodies: [
      clothGrid("sheet", [1, 1], [cells, cells], {
        solver: "implicit",
        contact: { self: false },
        transform: { rotate: [90, 0, 0] },
        material: { density, thickness, youngsModulus, poissonsRatio: 0, damping: 4 },
        pins: [{ select: { box: { min: [-1, 0.4999, -1], max: [1, 1, 1] } } }],
      }),
    ],
  });
  room.run(300);
  expect(Math.abs(elongation(room) / hangs(cells, density, youngsModulus) - 1)).toBeLessThan(1e-3);
});

test("a body in free flight keeps its momentum and angular momentum", async () => {
  const room = await laboratory({
    gravity: [0, -9.81, 0],
    bodies: [
      softBox("beam", [0.6, 0.1, 0.1], [12, 2, 2], {
        solver: "implicit",
        contact: { self: false },
        transform: { translate: [0, 50, 0] },
        material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
      }),
    ],
  });
  // spins about z at 8 rad/s, and bends from it
  const spin = (x: readonly [number, number, number]): [number, number, number] => [-8 * (x[1] - 50), 8 * x[0], 0];
  room.put(0, (x) => x, spin);
  const before = momentum(room);
  room.run(60);
  const after = momentum(room);
  // the state is float64, but is read as float32: 2^-24 of 50 m and 10 m/s
  expect(Math.abs(after.linear[1] - before.linear[1] + 9.81 * before.mass) / before.mass).toBeLessThan(1e-5);
  expect(Math.abs(after.center[1] - before.center[1] - before.linear[1] / before.mass + 9.81 / 2)).toBeLessThan(1e-4);
  // BDF2 damps a rotation by order (w h)^4 a step
  expect(Math.abs(after.angular[2] / before.angular[2] - 1)).toBeLessThan(2e-3);
});

test("a grab that crumples a soft block inverts no element", async () => {
  const room = await laboratory({
    bodies: [
      softBox("block", [0.3, 0.3, 0.3], [4, 4, 4], {
        solver: "implicit",
        contact: { self: false },
        material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [1, -0.149, 1] } } }],
      }),
    ],
    interaction: { grabMaxForce: 1e6 },
  });
  const grab = { type: "grab", member: 1, grab: 0, body: 0, triangle: 40, u: 0.3, v: 0.3 } as const;
  room.run(1, [{ ...grab, target: [0.1, -0.1, 0] }]);
  room.run(60);
  expect(volumeOf(room.positions(), room.created.bodies[0]!.tets).inverted).toBe(0);
});
