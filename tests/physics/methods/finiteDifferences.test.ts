/**
 * Finite differences on a sheet: derivatives, rigid motion, a uniform strain, and order 2 against plate and membrane
 * theory when the spacing is halved. Then a sheet in a room.
 */
import { describe, expect, test } from "vitest";
import type { ClothBody } from "../../../shared/scene.ts";
import { finiteDifferences, Sheet } from "../../../server/sim/methods/finiteDifferences.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { laboratory } from "../laboratory.ts";
import { watched, worst } from "../watched.ts";
import { forcesOf, known, largest, moved, randoms, templateOf } from "./kit.ts";

const SIDE = 0.8;
const THICKNESS = 0.01;
const YOUNG = 1e5;
const POISSON = 0.3;
const RIGIDITY = 0.02;

const sheet = (cells: number, more: Partial<ClothBody> = {}): ClothBody => ({
  name: "sheet",
  kind: "cloth",
  mesh: { type: "grid", size: [SIDE, SIDE], cells: [cells, cells] },
  material: {
    density: 200,
    thickness: THICKNESS,
    damping: 3,
    youngsModulus: YOUNG,
    poissonsRatio: POISSON,
    bendingStiffness: RIGIDITY,
  },
  contact: { self: false },
  method: { type: "finite-differences" },
  ...more,
});

async function model(cells: number, more: Partial<ClothBody> = {}): Promise<{ of: Sheet; template: BodyTemplate }> {
  const template = await templateOf(sheet(cells, more));
  const constants = finiteDifferences.plan(template, { type: "finite-differences" }, known(template, 1), "");
  return { of: new Sheet(constants), template };
}

test("forces are the derivatives of the energy", async () => {
  const { of, template } = await model(4);
  const random = randoms(3);
  const x = template.positions.map((value) => value + 0.02 * random());
  const p = x.map(() => random());
  const energy = (t: number): number => {
    of.at(x.map((value, k) => value + t * p[k]!));
    return of.energy();
  };
  // of order 4 in x: five points are exact
  const d = 1e-3;
  const slope = (8 * (energy(d) - energy(-d)) - (energy(2 * d) - energy(-2 * d))) / (12 * d);
  const work = forcesOf(of, x).reduce((sum, f, k) => sum - f * p[k]!, 0);
  expect(Math.abs(slope - work)).toBeLessThan(1e-9 * Math.abs(work));
});

test("a rigid motion gives no force", async () => {
  const { of, template } = await model(6);
  const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
  const x = moved(template.positions, ([a, b, d]) => [c * a! - s * b! + 1, s * a! + c * b! - 2, d! + 0.5]);
  const unit = YOUNG * THICKNESS * SIDE;
  expect(largest(forcesOf(of, x))).toBeLessThan(1e-12 * unit);
});

test("a uniform strain leaves no force inside, and plane stress on the edges", async () => {
  const { of, template } = await model(5);
  const stretch = 1.02;
  const strain = (stretch * stretch - 1) / 2;
  const narrow = Math.sqrt(1 - 2 * POISSON * strain);
  const x = moved(template.positions, ([a, b, d]) => [stretch * a!, b!, narrow * d!]);
  const f = forcesOf(of, x);
  // first Piola-Kirchhoff: stretch times the modulus times Green's strain, over the side
  const total = YOUNG * THICKNESS * SIDE * strain * stretch;
  let right = 0;
  for (let i = 0; i < template.particleCount; i++) {
    const X = template.positions[3 * i]!;
    if (X > SIDE / 2 - 1e-9) right -= f[3 * i]!;
    if (Math.abs(X) < SIDE / 2 - 1e-9) expect(Math.abs(f[3 * i]!)).toBeLessThan(1e-10 * total);
    expect(Math.abs(f[3 * i + 2]!)).toBeLessThan(1e-10 * total);
  }
  expect(Math.abs(right / total - 1)).toBeLessThan(1e-10);
});

/** Deflection of the middle under q sin sin, edges held, with the tangent stiffness at the stretched sheet. */
async function deflection(cells: number, stretch: number, rigidity: number): Promise<number> {
  const { material } = sheet(cells);
  const { of, template } = await model(cells, { material: { ...material, bendingStiffness: rigidity } });
  const X = template.positions;
  of.at(moved(X, ([a, b, d]) => [stretch * a!, b!, stretch * d!]));
  const free = Array.from({ length: X.length }, (_, k) => k).filter(
    (k) => k % 3 === 1 && Math.max(Math.abs(X[k - 1]!), Math.abs(X[k + 1]!)) < SIDE / 2 - 1e-9,
  );
  const wave = (x: number): number => Math.cos((Math.PI * x) / SIDE);
  const load = free.map((k) => (SIDE / cells) ** 2 * wave(X[k - 1]!) * wave(X[k + 1]!));
  // plain conjugate gradients
  const multiply = (p: readonly number[]): number[] => {
    const from = new Float64Array(X.length);
    const to = new Float64Array(X.length);
    free.forEach((k, i) => (from[k] = p[i]!));
    of.addProduct(from, to, 1, 0);
    return free.map((k) => to[k]!);
  };
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, v, i) => sum + v * b[i]!, 0);
  let w = load.map(() => 0);
  let r = load;
  let p = load;
  for (let n = 0; n < 500 && dot(r, r) > 1e-26 * dot(load, load); n++) {
    const q = multiply(p);
    const a = dot(r, r) / dot(p, q);
    w = w.map((v, i) => v + a * p[i]!);
    const next = r.map((v, i) => v - a * q[i]!);
    const b = dot(next, next) / dot(r, r);
    p = next.map((v, i) => v + b * p[i]!);
    r = next;
  }
  return w[free.findIndex((k) => Math.abs(X[k - 1]!) + Math.abs(X[k + 1]!) < 1e-9)]!;
}

describe("order 2 when the spacing is halved", () => {
  const wave2 = 2 * (Math.PI / SIDE) ** 2;
  const order = async (exact: number, stretch: number, rigidity: number): Promise<number> => {
    const errors = [];
    for (const cells of [8, 16, 32]) errors.push(Math.abs((await deflection(cells, stretch, rigidity)) / exact - 1));
    expect(errors[2]).toBeLessThan(0.005);
    expect(Math.abs(Math.log2(errors[0]! / errors[1]!) - 2)).toBeLessThan(0.05);
    return Math.log2(errors[1]! / errors[2]!);
  };

  test("a simply supported plate: w = q/(D (2 pi^2/a^2)^2)", async () => {
    expect(Math.abs((await order(1 / (RIGIDITY * wave2 * wave2), 1, RIGIDITY)) - 2)).toBeLessThan(0.05);
  });

  test("a stretched membrane: w = q/(S 2 pi^2/a^2)", async () => {
    const stretch = 1.1;
    const S = ((YOUNG * THICKNESS) / (1 - POISSON)) * ((stretch * stretch - 1) / 2);
    expect(Math.abs((await order(1 / (S * wave2), stretch, 0)) - 2)).toBeLessThan(0.05);
  });
});

describe("a sheet in a room", () => {
  const hanging = (more: Partial<ClothBody> = {}): ClothBody =>
    sheet(8, { pins: [{ select: { particles: [0, 8] } }], ...more });

  test.each(["implicit", "symplectic"] as const)("hangs, %s, and its books close", async (integrator) => {
    const body = hanging({ method: { type: "finite-differences", integrator, steps: 8 } });
    const { lab, books, run } = await watched({ bodies: [body], gravity: [0, -9.81, 0] });
    run(60);
    expect(worst(books)).toBeLessThan(1e-12);
    lab.run(240);
    expect(largest(lab.velocities())).toBeLessThan(0.05);
    const heights = Array.from(lab.positions()).filter((_, k) => k % 3 === 1);
    expect(Math.min(...heights)).toBeLessThan(-0.7 * SIDE);
    expect(Math.min(...heights)).toBeGreaterThan(-1.2 * SIDE);
  });

  test("lies over a ball, and nothing of it is inside", async () => {
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      bodies: [sheet(8, { transform: { translate: [0, 0.31, 0] } })],
      colliders: [
        { type: "sphere", center: [0, 0, 0], radius: 0.3 },
        { type: "plane", normal: [0, 1, 0], offset: -0.3 },
      ],
    });
    lab.run(180);
    const x = lab.positions();
    for (let i = 0; i < x.length; i += 3) {
      expect(Math.hypot(x[i]!, x[i + 1]!, x[i + 2]!)).toBeGreaterThan(0.3 - 1e-4);
      expect(x[i + 1]!).toBeGreaterThan(-0.3 - 1e-4);
    }
  });
});
