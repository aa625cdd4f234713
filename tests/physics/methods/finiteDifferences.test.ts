/**
 * Finite differences on a sheet: derivatives, and a sheet in a room. The report
 * (report/figures/methods/finiteDifferences.ts) shows exact solutions and the order 2.
 */
import { describe, expect, test } from "vitest";
import type { ClothBody } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { watched, worst } from "../laws/watched.ts";
import { forcesOf, largest, randoms } from "./kit.ts";
import { sheet, sheetModel, SIDE } from "./sheetKit.ts";

test("forces are the derivatives of the energy", async () => {
  const { of, template } = await sheetModel(4);
  const random = randoms(3);
  const x = template.positions.map((value) => value + 0.02 * random());
  const p = x.map(() => random());
  const energy = (t: number): number => {
    of.at(x.map((value, k) => value + t * p[k]!));
    return of.energy();
  };
  // the energy is of order 4 in x: five points are exact
  const d = 1e-3;
  const slope = (8 * (energy(d) - energy(-d)) - (energy(2 * d) - energy(-2 * d))) / (12 * d);
  const work = forcesOf(of, x).reduce((sum, f, k) => sum - f * p[k]!, 0);
  expect(Math.abs(slope - work)).toBeLessThan(1e-9 * Math.abs(work));
});

describe("a sheet in a room", () => {
  const hanging = (more: Partial<ClothBody> = {}): ClothBody =>
    sheet(8, { pins: [{ select: { particles: [0, 8] } }], ...more });

  test.each(["implicit", "symplectic"] as const)("hangs, %s, and its energy ledger balances", async (integrator) => {
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

  test("lies over a ball without any particle inside", async () => {
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
