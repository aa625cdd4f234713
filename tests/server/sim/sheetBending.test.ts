/**
 * Bending stencils of sheets: which ones a sheet gets, and that those of rectangles are exact
 * (tests/physics/bars/elastica.test.ts measures rigidities).
 */
import { bendingEnergy, bendingGradient } from "../../../server/sim/reference/bending.ts";
import { expect, test } from "vitest";
import { gridCloth, icosphere } from "../../../server/meshing/generators.ts";
import type { BendElements } from "../../../server/sim/constraints/elements.ts";
import { bendElements } from "../../../server/sim/constraints/bending.ts";
import { flattened } from "../../../server/sim/constraints/flattened.ts";
import { rectangularBending } from "../../../server/sim/constraints/rectangularBending.ts";
import { sheetBending } from "../../../server/sim/constraints/sheetBending.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { placed, placementOf, scaled } from "../../../server/sim/body/transform.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { delaunay, equilateral, sheet } from "../../physics/materials/rigidity.ts";
import { inverseMasses } from "../../parity/randomElements.ts";
import { makeKit } from "../../parity/kit.ts";

const energyOf = (e: BendElements, x: Float64Array): number =>
  e.alpha.reduce((sum, _, i) => sum + bendingEnergy(x, e, i), 0);
/** Heights of a quadratic surface over a sheet in the plane y = 0. */
const quadratic = (X: Float64Array, xx: number, zz: number, xz: number): Float64Array =>
  X.map((v, k) => (k % 3 === 1 ? 0.5 * (xx * X[k - 1]! ** 2 + zz * X[k + 1]! ** 2) + xz * X[k - 1]! * X[k + 1]! : v));
/** The part of the sheet whose triangles' middles satisfy `keep`; vertices are renumbered. */
function cut(
  X: Float64Array,
  triangles: Uint32Array,
  keep: (x: number, z: number) => boolean,
): { X: Float64Array; triangles: Uint32Array } {
  const left: number[] = [];
  const now = new Map<number, number>();
  const mean = (t: number, r: number): number =>
    (X[3 * triangles[t]! + r]! + X[3 * triangles[t + 1]! + r]! + X[3 * triangles[t + 2]! + r]!) / 3;
  for (let t = 0; t < triangles.length; t += 3)
    if (keep(mean(t, 0), mean(t, 2))) left.push(...triangles.subarray(t, t + 3));
  const renamed = left.map((v) => now.get(v) ?? now.set(v, now.size).get(v)!);
  return {
    X: Float64Array.from([...now.keys()].flatMap((v) => [...X.subarray(3 * v, 3 * v + 3)])),
    triangles: Uint32Array.from(renamed),
  };
}

test("a sheet one cell wide, an L, uneven rows: the plate's energy without its last half cells", () => {
  const B = 0.3;
  const { positions: X, triangles } = gridCloth([3, 2], [30, 1]);
  // Every inner column bends, for one cell; every cell twists.
  expect(
    energyOf(sheetBending(X, triangles, B), quadratic(X, 0.02, 0, 0)) / (0.5 * B * 0.02 ** 2 * 6 * (29 / 30)),
  ).toBeCloseTo(1, 9);
  expect(energyOf(sheetBending(X, triangles, B), quadratic(X, 0, 0, 0.02)) / (B * 0.02 ** 2 * 6)).toBeCloseTo(1, 9);
  const whole = gridCloth([2, 2], [20, 20]);
  const L = cut(whole.positions, whole.triangles, (x, z) => x < 0 || z < 0);
  // 3 m^2; along x 10 rows of 19 of 20 cells and 10 of 9 of 10 bend, and in the corner a quarter of a cell.
  expect(
    energyOf(sheetBending(L.X, L.triangles, B), quadratic(L.X, 0.02, 0, 0)) /
      (0.5 * B * 0.02 ** 2 * (2 * (19 / 20) + 0.9 + 0.25 * 0.01)),
  ).toBeCloseTo(1, 9);
  // Rows of 1, 2 and 3 parts: half of the first and last is missing.
  const uneven = whole.positions.map((v, k) =>
    k % 3 === 0 ? [0, 1, 3][((k / 3) % 21) % 3]! / 10 + Math.floor(((k / 3) % 21) / 3) * 0.6 : v,
  );
  const e = sheetBending(uneven, whole.triangles, B);
  expect(e.alpha.length).toBe(19 * 21 * 2 + 400);
  const width = uneven[60]!;
  const half = (uneven[3]! + width - uneven[57]!) / 2;
  expect(energyOf(e, quadratic(uneven, 0.02, 0, 0)) / (0.5 * B * 0.02 ** 2 * 2 * (width - half))).toBeCloseTo(1, 9);
});

test("a quadratic surface leaves no force on any inner vertex", () => {
  const { positions: X, triangles } = sheet([9, 14], "one way");
  const e = sheetBending(X, triangles, 1);
  const force = new Float64Array(X.length / 3);
  const x = quadratic(X, 0.3, -0.2, 0.15);
  for (let i = 0; i < e.alpha.length; i++)
    bendingGradient(x, e, i).forEach((g, j) => (force[e.particles[4 * i + j]!]! += g[1]));
  for (let k = 2; k < 13; k++) for (let i = 2; i < 8; i++) expect(Math.abs(force[k * 10 + i]!)).toBeLessThan(1e-12);
});

test("independent of place, rotation and unit", () => {
  for (const mesh of [gridCloth([1, 1], [6, 9]), delaunay(sheet([10, 10], "alternating", 0.7))]) {
    const ours = sheetBending(mesh.positions, mesh.triangles, 1);
    for (const scale of [1e-3, 1, 1e3]) {
      const p = placementOf(
        { scale, rotate: [30, -50, 110], translate: [2 * scale, -scale, 3 * scale] },
        mesh.positions,
      );
      const e = sheetBending(placed(scaled(mesh.positions, p), p), mesh.triangles, 1);
      expect(e.particles).toEqual(ours.particles);
      e.alpha.forEach((alpha, i) => expect(alpha / scale ** 2 / ours.alpha[i]!).toBeCloseTo(1, 6));
      e.rest.forEach((rest) => expect(rest).toBe(0));
    }
  }
});

test("a rotated grid from a file with six digits has the rectangles' stencils, and is at rest in its initial state", () => {
  const { positions, triangles } = gridCloth([1, 1], [12, 10]);
  const p = placementOf({ rotate: [30, -50, 110] }, positions);
  const X = placed(positions, p).map((x) => Math.round(x * 1e6) / 1e6);
  const e = sheetBending(X, triangles, 1);
  const ideal = sheetBending(positions, triangles, 1);
  expect(e.particles).toEqual(ideal.particles);
  e.alpha.forEach((alpha, i) => expect(alpha / ideal.alpha[i]!).toBeCloseTo(1, 3));
  // Rounding of the digits over the difference that they make: 4 corners times K of 2 at most.
  e.rest.forEach((rest) => expect(rest).toBeLessThan(8e-6));
  for (let i = 0; i < e.alpha.length; i++)
    for (const g of bendingGradient(X, e, i)) expect(Math.max(...g.map(Math.abs))).toBeLessThan(1e-9);
});

test("hinges get weights between a quarter and four, and equal triangles 1", () => {
  const { positions, triangles } = delaunay(sheet([14, 14], "alternating", 0.8));
  const hinges = bendElements(positions, triangles, 0.2);
  const e = sheetBending(positions, triangles, 0.2);
  expect(e.particles).toEqual(hinges.particles);
  expect(e.K).toEqual(hinges.K);
  const weights = [...hinges.alpha.map((alpha, i) => alpha / e.alpha[i]!)];
  expect(Math.min(...weights)).toBeGreaterThanOrEqual(0.25 - 1e-12);
  expect(Math.max(...weights)).toBeLessThanOrEqual(4 + 1e-12);
  expect(new Set(weights).size).toBeGreaterThan(100);
  // The fit of equal triangles is exact at 1: six directions agree, but patches at the border lack some of them.
  const rows = equilateral(14);
  const same = sheetBending(rows.positions, rows.triangles, 1);
  bendElements(rows.positions, rows.triangles, 1).alpha.forEach((alpha, i) =>
    expect(Math.abs(alpha / same.alpha[i]! - 1)).toBeLessThan(0.2),
  );
});

test("a sheet curved at rest, or without a vertex two rings from its border, keeps the paper's hinges", () => {
  const ball = icosphere(0.5, 2);
  const bent = gridCloth([1, 1], [6, 6]);
  bent.positions.forEach((_, k) => {
    if (k % 3 === 1) bent.positions[k] = 0.1 * bent.positions[k - 1]! ** 2;
  });
  const small = delaunay(sheet([3, 3], "alternating", 0.5));
  for (const { positions, triangles } of [ball, bent, small])
    expect(sheetBending(positions, triangles, 1)).toEqual(bendElements(positions, triangles, 1));
});

test("pairs of triangles that form no rectangles have hinges", () => {
  // Right triangles over a common longest side that are mirror images: kites.
  const kites = {
    X: Float64Array.of(0, 0, 0, 3, 0, 0, 1.8, 0, 1.2 * 2, 1.8, 0, -2.4),
    T: Uint32Array.of(0, 2, 1, 0, 1, 3),
  };
  const plane = flattened(kites.X, kites.T)!;
  expect(plane).toBeDefined();
  expect(rectangularBending(kites.X, plane, kites.T, 1)).toBeUndefined();
  // One triangle too many.
  const { positions, triangles } = gridCloth([1, 1], [2, 2]);
  expect(rectangularBending(positions, flattened(positions, triangles)!, triangles.subarray(3), 1)).toBeUndefined();
});

test("bodies with solver paper keep the paper's hinges", async () => {
  const of = async (solver?: "paper"): Promise<number> => {
    const body = {
      name: "b",
      kind: "cloth",
      mesh: { type: "grid", size: [1, 1], cells: [5, 7] },
      material: { density: 300, thickness: 0.001, youngsModulus: 1e4, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
      ...(solver && { solver }),
    };
    const { bodies } = await createWorld({ version: 1, title: "t", bodies: [body] } as Scene, { baseDir: "." });
    return bodies[0]!.elements.find((e) => e.kind === "bend")!.particles.length / 4;
  };
  expect(await of("paper")).toBe(5 * 6 + 4 * 7 + 5 * 7); // inner edges
  expect(await of()).toBe(4 * 8 + 6 * 6 + 5 * 7); // inner vertices of rows and of columns, cells
});

test("a flat rest state keeps every bit, a kilometer from the origin as well", () => {
  const { positions, triangles } = gridCloth([0.5, 0.75], [8, 6]);
  const e = sheetBending(positions, triangles, 1);
  for (const at of [0, 1024]) {
    const kit = makeKit(
      e,
      positions.map((x) => x + at),
      inverseMasses(positions.length / 3, 0.1, 5),
      1 / 240,
    );
    const before = kit.kernelPositions();
    for (let iteration = 0; iteration < 5; iteration++) kit.iterate(iteration === 0);
    expect(kit.kernelPositions()).toEqual(before);
  }
});
