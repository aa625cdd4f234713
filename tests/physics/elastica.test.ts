/**
 * What bendingStiffness means. B is the flexural rigidity of a plate, N m: a sheet bent to a cylinder of curvature kappa holds B/2 kappa^2 a
 * square meter, and a strip hangs as the elastica does (elastica_tip.csv).
 *
 * Isometric bending is the sum over edges of the square of their dihedral angles, and that is not isotropic: between the rows of a grid
 * vertices give way, and along its diagonals edges are longer. Measured below by letting a patch of the generator's grid (alternating
 * diagonals) relax inside a bent rim, relative to a plate of rigidity B:
 *   cylinder along the grid's sides 0.85, at 45 degrees 1.35, on average over all directions 1.10
 *   free strip along the sides (may also curve across) 0.82
 * So a strip of the generator's sheet follows the elastica of 0.82 B within 2 %, and sags up to a fifth more than one of B: the target of 5 %
 * (physics.md, section 4) is met for the form's own rigidity, not for the nominal one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gridCloth } from "../../server/meshing/generators.ts";
import { bendElements } from "../../server/sim/constraints/bending.ts";
import { bendingEnergy } from "../../server/sim/reference/bending.ts";
import { dataFolder, lacksData } from "../support/dataFolder.ts";
import { along, cylinder, ELASTICA, FREE_STRIP, hang } from "./elastica.ts";

test("a sheet bent to a cylinder across its columns holds B/2 kappa^2 for every square it bends", () => {
  const { positions, triangles } = gridCloth([1, 1], [20, 20]), B = 0.7, kappa = 0.01, e = bendElements(positions, triangles, B);
  const bent = positions.map((_, k) => [Math.sin(kappa * positions[k - (k % 3)]!) / kappa, (1 - Math.cos(kappa * positions[k - (k % 3)]!)) / kappa, positions[k]!][k % 3]!);
  let energy = 0;
  for (let i = 0; i < e.alpha.length; i++) energy += bendingEnergy(bent, e, i);
  // 19 columns of edges bend, each for a column of squares
  expect(energy / ((B / 2) * kappa ** 2 * (19 / 20))).toBeCloseTo(1, 4);
});

test("how far from isotropic the form is on the generator's grid", () => {
  expect(along).toBeGreaterThan(0.8);
  expect(cylinder(45).relaxed).toBeLessThan(1.35);
  const mean = [0, 15, 30, 45, 60, 75].reduce((sum, degrees) => sum + cylinder(degrees).relaxed / 6, 0);
  expect(mean).toBeGreaterThan(0.95);
  expect(mean).toBeLessThan(1.15);
  expect(FREE_STRIP).toBeGreaterThan(0.78);
  expect(FREE_STRIP).toBeLessThan(0.86);
});

describe("a strip hangs as the elastica of its rigidity, within 2 %", () => {
  test.each(Object.keys(ELASTICA).map(Number))("a = P L^2/(B b) = %f", async (a) => {
    const { drop, reach } = await hang(a * FREE_STRIP, 20), [idealDrop, idealReach] = ELASTICA[a]!;
    expect(Math.abs(drop / idealDrop - 1), `drop ${drop} L`).toBeLessThan(0.02);
    expect(Math.abs(reach - idealReach), `reach ${reach} L`).toBeLessThan(0.02);
  });
});

test("against the nominal rigidity it sags a fifth more under a small load", async () => {
  const { drop } = await hang(0.25, 20);
  expect(drop / ELASTICA[0.25]![0]).toBeGreaterThan(1.15);
  expect(drop / ELASTICA[0.25]![0]).toBeLessThan(1.25);
});

test.skipIf(lacksData("elastica_tip.csv"))("the table is that of elastica_tip.csv", () => {
  const rows = readFileSync(join(dataFolder, "elastica_tip.csv"), "utf8").split("\n").filter((line) => /^[0-9]/.test(line)).map((line) => line.split(",").map(Number));
  for (const [a, [drop, reach]] of Object.entries(ELASTICA)) expect(rows.find((row) => row[0] === Number(a))!.slice(1, 3)).toEqual([drop, reach]);
});
