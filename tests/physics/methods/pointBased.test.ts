/**
 * Point-based bodies: forces of any deformation, implicit steps, Maxwell relaxation. The report (figure point-based)
 * compares them with affine maps and static finite elements.
 */
import { describe, expect, test } from "vitest";
import { laboratory } from "../laboratory.ts";
import { largest, outside, randoms, templateOf, type Opened } from "./kit.ts";
import { body, energyAt, EXPLICIT, forces, mapped, points as opened, SPACING } from "./pointKit.ts";

describe("any deformation", () => {
  const STRAINED = { ...EXPLICIT, volumeStiffness: 0.5, yield: 0.01, creep: 30 } as const;
  /** Displaced points after some steps of flow: the flow is part of the state. */
  const strained = async (): Promise<{ points: Opened; x: Float64Array }> => {
    const points = await opened(STRAINED, true);
    const random = randoms(5);
    const x = mapped(points.template.positions, [1.1, 0.3, 0, 0, 0.75, 0, 0.1, 0, 1], () => 0.05 * SPACING * random());
    points.state.x.set(x);
    for (let n = 0; n < 20; n++) points.step();
    // the flowing rest shape has moved along; it does not flow during the measurement
    expect(
      largest(points.state.more.subarray(2, 5).map((value, r) => value - points.template.positions[r]!)),
    ).toBeGreaterThan(1e-3);
    const still = await opened({ ...STRAINED, yield: 10 });
    still.state.more.set(points.state.more);
    return { points: still, x: x.map((value) => value + 0.03 * SPACING * random()) };
  };

  test("forces are the derivative of the energy", async () => {
    const { points, x } = await strained();
    const random = randoms(9);
    const p = x.map(() => random());
    const d = 1e-5 * SPACING;
    const at = (t: number): number =>
      energyAt(
        points,
        x.map((value, k) => value + t * p[k]!),
      );
    const slope = (at(d) - at(-d)) / (2 * d);
    const work = forces(points, x).reduce((sum, f, k) => sum - f * p[k]!, 0);
    expect(Math.abs(work)).toBeGreaterThan(1);
    expect(Math.abs(slope / work - 1)).toBeLessThan(1e-6);
  });

  test("forces and torques sum to zero", async () => {
    const { points, x } = await strained();
    const f = forces(points, x);
    for (let r = 0; r < 3; r++) {
      const [s, t] = [(r + 1) % 3, (r + 2) % 3];
      let sum = 0;
      let torque = 0;
      for (let k = 0; k < f.length; k += 3) {
        sum += f[k + r]!;
        torque += x[k + s]! * f[k + t]! - x[k + t]! * f[k + s]!;
      }
      expect(Math.abs(sum)).toBeLessThan(1e-12 * largest(f));
      expect(Math.abs(torque)).toBeLessThan(1e-12 * largest(f));
    }
  });
});

test("an implicit step solves its equation: near rest it is backward Euler of the forces", async () => {
  const points = await opened();
  const explicit = await opened(EXPLICIT);
  const random = randoms(3);
  // so small that the terms missing in K, of the size of the strain, are negligible
  const x = points.template.positions.map((value) => value + 1e-7 * random());
  const state = { x: x.slice(), v: new Float64Array(x.length), more: points.state.more };
  points.method.step(state, outside(points.of));
  const f = forces(explicit, state.x);
  const left = f.map((value, k) => value - (points.of.mass[Math.floor(k / 3)]! * state.v[k]!) / points.of.h);
  expect(largest(left)).toBeLessThan(1e-4 * largest(f));
});

test("strain above the yield creeps as in a Maxwell fluid for any rest shape, and keeps the volume", async () => {
  const limit = 0.02;
  const creep = 12;
  const points = await opened({ yield: limit, creep }, true);
  const { state, of, step } = points;
  const X = points.template.positions;
  const shear = 0.4;
  state.x.set(mapped(X, [1, shear, 0, 0, 1, 0, 0, 0, 1]));
  const deviatoric = (): number => {
    // of one point, from its own state: F = J Q
    const rest = state.more.subarray(2, 2 + X.length);
    const Q = state.more.subarray(2 + X.length, 2 + X.length + 9);
    const gamma = Math.abs(rest[4]! - X[4]!) > 0 ? 0 : shear;
    const moved = rest.some((value, k) => Math.abs(value - X[k]!) > 1e-9);
    const J = moved ? [1, 0, 0, 0, 1, 0, 0, 0, 1] : [1, gamma, 0, 0, 1, 0, 0, 0, 1];
    const F = J.map((_, k) => {
      const [r, s] = [3 * Math.floor(k / 3), k % 3];
      return J[r]! * Q[s]! + J[r + 1]! * Q[3 + s]! + J[r + 2]! * Q[6 + s]!;
    });
    const e = F.map((_, k) => {
      const [r, s] = [Math.floor(k / 3), k % 3];
      return 0.5 * (F[r]! * F[s]! + F[3 + r]! * F[3 + s]! + F[6 + r]! * F[6 + s]! - (r === s ? 1 : 0));
    });
    const mean = (e[0]! + e[4]! + e[8]!) / 3;
    expect(Math.abs(determinant(F) - 1)).toBeLessThan(1e-12);
    return Math.sqrt(e.reduce((sum, value, k) => sum + (value - (k % 4 === 0 ? mean : 0)) ** 2, 0));
  };
  let before = deviatoric();
  const first = before;
  for (let n = 0; n < 240; n++) {
    step();
    const now = deviatoric();
    // d|e'|/dt = -creep (|e'| - limit) (1 + 2 |e|): the last factor is F^T F, from the change of strain with F
    const rate = Math.log((before - limit) / (now - limit)) / of.h;
    if (now - limit > 1e-6) {
      expect(rate).toBeGreaterThan(creep * (1 - 2 * now - creep * of.h));
      expect(rate).toBeLessThan(creep * (1 + 3 * before + creep * of.h));
    }
    before = now;
  }
  expect(first).toBeGreaterThan(10 * limit);
  expect(before - limit).toBeLessThan(1e-4);
});

const determinant = ([a, b, c, d, e, f, g, h, i]: readonly number[]): number =>
  a! * (e! * i! - f! * h!) - b! * (d! * i! - f! * g!) + c! * (d! * h! - e! * g!);

test("a warm block melts and flows, a cold one keeps its shape", async () => {
  const run = async (temperature: number): Promise<{ width: number; height: number }> => {
    const cold = body({ yield: 0.2, creep: 60, temperature, stiffnessDamping: 0.002 });
    const lab = await laboratory({
      gravity: [0, -3, 0],
      bodies: [{ ...cold, material: { ...cold.material, damping: 1 } }],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    });
    lab.run(180);
    const x = lab.positions();
    const along = (r: number): number[] => Array.from(x).filter((_, k) => k % 3 === r);
    const size = (r: number): number => Math.max(...along(r)) - Math.min(...along(r));
    return { width: size(0), height: size(1) };
  };
  const [cold, warm] = [await run(0), await run(1)];
  expect(cold.height).toBeGreaterThan(0.19);
  expect(cold.width).toBeLessThan(0.31);
  expect(warm.height).toBeLessThan(0.8 * cold.height);
  expect(warm.width).toBeGreaterThan(1.2 * cold.width);
});

test("points in a plane, and moduli in the wrong place, are refused", async () => {
  const flat = body();
  const cells: [number, number, number] = [4, 3, 1];
  await expect(templateOf({ ...flat, mesh: { ...flat.mesh, cells } as never })).rejects.toThrow(
    /mesh\/cells.*in a plane/,
  );
  await expect(laboratory({ bodies: [{ ...flat, material: { density: 1000 } }] })).rejects.toThrow(/point-based/);
  const pairs = { type: "lennard-jones", dissociation: 1 } as const;
  await expect(laboratory({ bodies: [{ ...flat, method: pairs }] })).rejects.toThrow(/absent unless/);
  await expect(
    templateOf({
      ...flat,
      method: { type: "point-based", steps: 256 },
      mesh: { ...flat.mesh, cells: [10, 10, 10] } as never,
    }),
  ).rejects.toThrow(/method\/steps.*at most/);
});
