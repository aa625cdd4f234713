/**
 * Meaning of bendingStiffness: B is the flexural rigidity of a plate, N m. A sheet bent to a cylinder of curvature
 * kappa stores B/2 kappa^2 per square meter, in any direction and on any mesh. A strip hangs as the elastica does
 * (elastica_tip.csv).
 */
import { bendingEnergy } from "../../../server/sim/reference/bending.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SurfaceMesh } from "../../../server/meshing/mesh.ts";
import { bendElements } from "../../../server/sim/constraints/bending.ts";
import { sheetBending } from "../../../server/sim/constraints/sheetBending.ts";
import { dataFolder, lacksData } from "../../support/dataFolder.ts";
import { ELASTICA, hang } from "./elastica.ts";
import { cylinder, delaunay, equilateral, freeStrip, range, rigidity, sheet } from "../materials/rigidity.ts";

test.each([
  ["alternating", bendElements],
  ["alternating", sheetBending],
  ["one way", sheetBending],
] as const)("a sheet bent to a cylinder across its columns stores B/2 kappa^2 per area: %s", (diagonals, bending) => {
  const { positions, triangles } = sheet([20, 20], diagonals);
  const B = 0.7;
  const kappa = 0.005;
  const e = bending(positions, triangles, B);
  const bent = positions.map(
    (_, k) =>
      [
        Math.sin(kappa * positions[k - (k % 3)]!) / kappa,
        (1 - Math.cos(kappa * positions[k - (k % 3)]!)) / kappa,
        positions[k]!,
      ][k % 3]!,
  );
  let energy = 0;
  for (let i = 0; i < e.alpha.length; i++) energy += bendingEnergy(bent, e, i);
  // 19 columns of edges bend, each for a column of squares; 4 m^2
  expect(energy / ((B / 2) * kappa ** 2 * 4 * (19 / 20))).toBeCloseTo(1, 4);
});

describe("a sheet has its nominal rigidity in every direction", () => {
  // error of the weight that counts stencils: its second difference over a cell, 4 (h/0.65)^2/6
  const counted = (cells: number): number => (4 / 6) * (2 / cells / 0.65) ** 2;
  const measured = ({ positions, triangles }: SurfaceMesh): ReturnType<typeof rigidity> =>
    rigidity({ positions, triangles }, sheetBending(positions, triangles, 1));

  test.each([
    [[16, 16], "alternating"],
    [[12, 24], "alternating"],
    [[13, 17], "alternating"],
    [[16, 16], "one way"],
    [[24, 10], "one way"],
  ] as const)("rectangles, %j, %s: any cylinder and any free strip", (cells, diagonals) => {
    const { nominal, settled } = measured(sheet([...cells], diagonals));
    const close = counted(Math.min(...cells));
    for (const [C, of] of [
      [nominal, cylinder],
      [settled, cylinder],
      [settled, freeStrip],
    ] as const) {
      const [least, most] = range(C, of);
      expect(least).toBeGreaterThan(1 - close);
      expect(most).toBeLessThan(1 + close);
    }
    // no Poisson's ratio, and no relaxation of the settled vertices
    expect(Math.abs(settled[0]![1]!)).toBeLessThan(1e-9);
    settled.flat().forEach((value, i) => expect(Math.abs(value - nominal.flat()[i]!)).toBeLessThan(1e-9));
  });

  test.each([
    ["alternating squares, moved by 0.3 of half a cell", sheet([20, 20], "alternating", 0.3)],
    ["Delaunay, moved by 0.6", delaunay(sheet([20, 20], "alternating", 0.6))],
    ["Delaunay, moved by 0.8", delaunay(sheet([20, 20], "alternating", 0.8))],
    ["equilateral triangles", equilateral(20)],
  ] as const)("%s: any cylinder within 5 %", (_, mesh) => {
    const [least, most] = range(measured(mesh).settled, cylinder);
    expect(least).toBeGreaterThan(0.95);
    expect(most).toBeLessThan(1.05);
  });

  test("the paper's hinges do not have it", () => {
    const of = (mesh: SurfaceMesh): [number, number] =>
      range(rigidity(mesh, bendElements(mesh.positions, mesh.triangles, 1)).settled, cylinder);
    expect(of(sheet([16, 16]))[0]).toBeLessThan(0.9);
    expect(of(sheet([16, 16]))[1]).toBeGreaterThan(1.3);
    expect(of(sheet([16, 16], "one way"))[1]).toBeGreaterThan(2.9);
    expect(of(delaunay(sheet([20, 20], "alternating", 0.8)))[1]).toBeGreaterThan(1.1);
  });
});

describe("a strip hangs as the elastica of its nominal rigidity, within 2 %", () => {
  test.each(
    Object.keys(ELASTICA)
      .map(Number)
      .flatMap((a) => [
        { a, cells: 20, across: 4 },
        ...(a === 1
          ? [
              { a, cells: 10, across: 4 },
              { a, cells: 20, across: 1 },
              { a, cells: 20, across: 3 },
            ]
          : []),
      ]),
  )("a = P L^2/(B b) = $a, $cells cells long and $across wide", async ({ a, cells, across }) => {
    const { drop, reach } = await hang(a, cells, across);
    const [idealDrop, idealReach] = ELASTICA[a]!;
    expect(Math.abs(drop / idealDrop - 1), `drop ${drop} L`).toBeLessThan(0.02);
    expect(Math.abs(reach - idealReach), `reach ${reach} L`).toBeLessThan(0.02);
  });
});

test.skipIf(lacksData("elastica_tip.csv"))("the table agrees with elastica_tip.csv", () => {
  const rows = readFileSync(join(dataFolder, "elastica_tip.csv"), "utf8")
    .split("\n")
    .filter((line) => /^[0-9]/.test(line))
    .map((line) => line.split(",").map(Number));
  for (const [a, [drop, reach]] of Object.entries(ELASTICA))
    expect(rows.find((row) => row[0] === Number(a))!.slice(1, 3)).toEqual([drop, reach]);
});
