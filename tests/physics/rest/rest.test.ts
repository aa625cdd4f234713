/**
 * A body at rest stays at rest. On coordinates that are exact in float32, nothing moves by a bit in 10 s, at the origin
 * and a kilometer away. This holds for soft and stiff solids, and for sheets with bending. On other coordinates a body
 * is at most a unit in the last place of its positions away from rest, and stays there.
 *
 * Isotropic Saint Venant-Kirchhoff solids use the axes of each element, which no coordinates make exact. Their rest is
 * known to the rounding of their strain (restRounding.ts).
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { inLong } from "../../support/run/long.ts";
import { laboratory } from "../laboratory.ts";
import { restStrain } from "./restRounding.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const solid = (
  size: [number, number, number],
  at: number,
  youngsModulus: number,
  model: "stvk" | "neo-hookean" | "stable-neo-hookean" = "stvk",
): Body =>
  softBox("b", size, [4, 4, 4], {
    transform: { translate: [at, at, -at] },
    material: { model, density: 500, youngsModulus, poissonsRatio: 0.35 },
  });
const sheet = (size: [number, number], at: number, youngsModulus: number): Body =>
  clothGrid("b", size, [8, 8], {
    transform: { translate: [at, at, -at] },
    material: { density: 500, thickness: 0.001, youngsModulus, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
  });

const MODULI = [1e3, 1e5, 1e9];

// In the short run each place has a modulus of its own.
test.each([
  [0, 1e5],
  [64, 1e9],
  [1024, 1e3],
])("no bit changes %i m from the origin, on exact coordinates", async (at, modulus) => {
  for (const k of inLong(MODULI, [modulus])) {
    for (const body of [
      solid([0.25, 0.25, 0.25], at, k),
      solid([0.25, 0.25, 0.25], at, k, "neo-hookean"),
      solid([0.25, 0.25, 0.25], at, k, "stable-neo-hookean"),
      sheet([0.25, 0.25], at, k),
    ]) {
      for (const steps of [
        { substeps: 20, iterations: 1 },
        { substeps: 2, iterations: 5 },
      ]) {
        const lab = await laboratory({ ...steps, worldRadius: 10000, bodies: [body] });
        const before = lab.positions();
        expect(lab.run(100)).toEqual([]);
        const isotropic = body.kind === "soft" && body.material.model === "stvk";
        const strain = isotropic ? restStrain([0.0625, 0.0625, 0.0625]) : 0;
        expect(Math.max(...lab.positions().map((v, i) => Math.abs(v - before[i]!)))).toBeLessThanOrEqual(strain * 0.25);
        // in a substep nothing moves by more than the strain of an element's longest edge
        expect(Math.max(...lab.velocities().map(Math.abs))).toBeLessThanOrEqual(
          strain * Math.SQRT2 * 0.0625 * 60 * steps.substeps * steps.iterations,
        );
      }
    }
  }
});

test.each([0, 10])("rest is kept to rounding %i m from the origin, on coordinates that float32 rounds", async (at) => {
  for (const body of [
    solid([0.3, 0.2, 0.1], at, 1e6),
    solid([0.3, 0.2, 0.1], at, 1e6, "neo-hookean"),
    solid([0.3, 0.2, 0.1], at, 1e6, "stable-neo-hookean"),
    sheet([0.3, 0.2], at, 1e6),
  ]) {
    const lab = await laboratory({ worldRadius: 10000, bodies: [body] });
    const before = lab.positions();
    lab.run(600);
    const place = at + 0.15;
    const strain = body.kind === "soft" && body.material.model === "stvk" ? restStrain([0.075, 0.05, 0.025]) : 0;
    expect(Math.max(...lab.positions().map((v, k) => Math.abs(v - before[k]!)))).toBeLessThan(
      2 ** -23 * place + strain * 0.3,
    );
  }
});
