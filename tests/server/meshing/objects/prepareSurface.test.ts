/**
 * Defective surfaces become meshes that can be simulated, cover the drawn surface, and carry it to the file's
 * positions.
 */
import { describe, expect, test } from "vitest";
import { boundarySurface, surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";
import { icosphere } from "../../../../server/meshing/generators.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { mendSurface } from "../../../../server/meshing/objects/mendSurface.ts";
import { prepareSurface } from "../../../../server/meshing/objects/prepareSurface.ts";
import type { PreparedSurface } from "../../../../server/meshing/objects/prepareSurface.ts";
import type { ObjectChoice } from "../../../../server/meshing/objects/objectFile.ts";
import { readObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";
import { encodeShape } from "../../../../server/meshing/objectShape.ts";
import { pieceOfTets } from "../../../../server/meshing/tetrahedra/pieces.ts";
import { tetrahedralize } from "../../../../server/meshing/tetrahedra/tetrahedralize.ts";
import { buildTriangleTree, distanceToSurface } from "../../../../server/meshing/tetrahedra/triangleTree.ts";
import { buildWindingField, windingNumber } from "../../../../server/meshing/tetrahedra/windingNumber.ts";
import { ObjectMeshes } from "../../../../server/sim/body/objectMeshes.ts";
import { attachDetail } from "../../../../shared/skinning/index.ts";
import { boundsOf, volumeOf } from "./checkFile.ts";
import { objOf } from "./files.ts";
import { FAMILY } from "./family.ts";
import { box, bumpySphere, flipped, moebius, moved, patch, sheet, spider, together, without } from "./wildShapes.ts";

const prepared = async (surface: SurfaceMesh, choice: Partial<ObjectChoice> = {}): Promise<PreparedSurface> =>
  prepareSurface(await readObjectFile(objOf(surface), "a.obj"), { role: "soft", size: 1, particles: 400, ...choice });
const tetsOf = ({ mesh }: PreparedSurface) => {
  if (mesh.kind !== "tets") throw new Error("no tetrahedra");
  return mesh.tets;
};
const sheetOf = ({ mesh }: PreparedSurface): SurfaceMesh => {
  if (mesh.kind !== "surface") throw new Error("no surface");
  return mesh.surface;
};
const codes = ({ notes }: PreparedSurface): string[] => notes.map(({ code }) => code).sort();

/** Distance from a place to the nearest drawn vertex; the size is 1. */
const nearestOf = (detail: Float64Array, [x, y, z]: readonly number[]): number => {
  let least = Infinity;
  for (let v = 0; v < detail.length; v += 3)
    least = Math.min(least, Math.hypot(detail[v]! - x!, detail[v + 1]! - y!, detail[v + 2]! - z!));
  return least;
};

/**
 * Furthest distance of a drawn vertex outside the tetrahedra, in spacings. Each sample of the surface without a lattice
 * vertex gets its nearest one. No point is further from a lattice vertex than sqrt(5)/4 spacings, the covering radius
 * of the body-centered lattice. Simplification may move the surface by a tenth.
 */
function sticksOut(result: PreparedSurface): number {
  const tets = tetsOf(result);
  const tree = buildTriangleTree(tets.positions, boundarySurface(tets));
  const field = buildWindingField(tree);
  let worst = 0;
  for (let v = 0; v < result.detail.length; v += 3) {
    const [x, y, z] = [result.detail[v]!, result.detail[v + 1]!, result.detail[v + 2]!];
    const distance = distanceToSurface(tree, x, y, z);
    if (distance > worst && windingNumber(field, x, y, z) <= 0.5) worst = distance;
  }
  return worst / result.spacing!;
}
const COVERED = Math.sqrt(5) / 4 + 0.1;

const pieces = (result: PreparedSurface): number => pieceOfTets(tetsOf(result).tets).count;

describe("soft", () => {
  test("an intact body has at most the allowed number of particles, its volume, its place and its size", async () => {
    const ball = bumpySphere(4);
    const result = await prepared(moved(ball, 1e3, [5e3, 0, 0]), { size: 0.5, particles: 1000 });
    const { positions, tets } = tetsOf(result);
    expect(positions.length / 3).toBeLessThanOrEqual(1000);
    expect(positions.length / 3).toBeGreaterThan(600);
    const { low, high } = boundsOf(result.detail);
    expect(Math.max(...high.map((h, k) => h - low[k]!))).toBeCloseTo(0.5, 6);
    expect(low[1]).toBeCloseTo(0, 6);
    expect(low[0]! + high[0]!).toBeCloseTo(0, 6);
    // Stuffing puts its vertices on the surface: only the caps between them are missing, within s^2 / 8 r of it.
    const scaled = volumeOf(ball) * (1e3 * result.scale) ** 3;
    const volume = volumeOf({ positions, triangles: boundarySurface({ positions, tets }) });
    expect(Math.abs(volume / scaled - 1)).toBeLessThan(0.15);
    // The surface is located to 2^-10 of a lattice edge: close to the result of twenty bisections.
    const own = {
      positions: ball.positions.map((x, i) => x * 1e3 * result.scale + (i % 3 ? 0 : 1)),
      triangles: ball.triangles,
    };
    const finer = tetrahedralize(own, { spacing: result.spacing!, minPiece: 0 }).mesh;
    const found = volumeOf({ positions: finer.positions, triangles: boundarySurface(finer) });
    expect(Math.abs(volume / found - 1)).toBeLessThan(2e-3);
    expect(sticksOut(result)).toBeLessThan(COVERED);
    expect(codes(result)).toEqual([]);
  });

  test.each([
    ["turned inside out", flipped(bumpySphere(3)), ["FLIPPED"]],
    ["with half of its triangles turned", flipped(bumpySphere(3), (t) => t % 2 === 0), ["FLIPPED"]],
    ["with holes", without(bumpySphere(3), (t) => t % 50 === 0), ["HOLES"]],
    ["drawn from both sides", together(bumpySphere(3), flipped(bumpySphere(3))), []],
  ])("a body %s is the same body", async (_, surface, notes) => {
    const right = tetsOf(await prepared(bumpySphere(3)));
    const result = await prepared(surface);
    const volume = (tets: { positions: Float64Array; tets: Uint32Array }): number =>
      volumeOf({ positions: tets.positions, triangles: boundarySurface(tets) });
    expect(volume(tetsOf(result)) / volume(right)).toBeCloseTo(1, 1);
    expect(codes(result)).toEqual(notes);
    // The reported hole is at the surface.
    for (const { at } of result.notes.filter(({ code }) => code === "HOLES"))
      expect(nearestOf(result.detail, at!)).toBeLessThan(0.01);
    expect(sticksOut(result)).toBeLessThan(COVERED);
  });

  test("a piece that is turned inside out is repaired, a cavity remains one", () => {
    const outer = icosphere(0.5, 2);
    const beside = moved(icosphere(0.2, 2), 1, [1, 0, 0]);
    const cavity = flipped(icosphere(0.3, 2));
    const { surface, findings } = mendSurface(together(outer, flipped(beside), cavity));
    expect(volumeOf(surface)).toBeCloseTo(volumeOf(outer) + volumeOf(beside) + volumeOf(cavity), 9);
    expect(findings).toMatchObject({ turned: 320, open: 0, crossed: 0, patches: 3, closed: 3 });
  });

  test("thin limbs are kept, all of one piece", async () => {
    // Limbs of a third of the spacing.
    const result = await prepared(spider(0.015));
    expect(result.spacing!).toBeGreaterThan(0.04);
    expect(sticksOut(result)).toBeLessThan(COVERED);
    expect(pieces(result)).toBe(1);
  });

  test("pieces that nearly touch are joined; pieces far apart are reported as separate", async () => {
    const stacked = together(box(1, 0.4, 1), box(1, 0.4, 1, [0, 0.48, 0]));
    const near = await prepared(stacked);
    expect(pieces(near)).toBe(1);
    // Gaps that the lattice leaves open, shorter and longer than its spacing of a quarter.
    for (const x of [1.15, 1.25, 1.4]) {
      const beside = await prepared(together(bumpySphere(2), moved(bumpySphere(2), 1, [x, 0, 0])));
      expect([x, pieces(beside), codes(beside)]).toEqual([x, 1, ["PIECES_JOINED"]]);
      expect(tetsOf(beside).positions.length / 3).toBeLessThanOrEqual(400);
      expect(sticksOut(beside)).toBeLessThan(COVERED);
    }
    const apart = await prepared(together(bumpySphere(2), moved(bumpySphere(2), 1, [3, 0, 0])));
    expect(pieces(apart)).toBe(2);
    // 4.1 wide, so the middles of the two are at a little more than a third on either side.
    expect(apart.notes).toMatchObject([
      { code: "PIECES", at: [expect.any(Number), expect.any(Number), expect.any(Number)] },
    ]);
    expect(Math.abs(apart.notes[0]!.at![0])).toBeGreaterThan(0.2);
  });

  test("a sheet becomes a slab, all of it, and cloth is recommended", async () => {
    const result = await prepared(sheet(12));
    expect(codes(result)).toContain("SHEET");
    expect(result.notes.find(({ code }) => code === "SHEET")!.text).toMatch(/The role cloth fits better/);
    expect(sticksOut(result)).toBeLessThan(COVERED);
    expect(pieces(result)).toBe(1);
  });

  test("at rest the tetrahedra carry the picture to the file's positions", async () => {
    for (const surface of [bumpySphere(4), spider(0.03), without(bumpySphere(3), (t) => t % 20 === 0)]) {
      const result = await prepared(surface);
      const tets = tetsOf(result);
      const rest = Float32Array.from(tets.positions);
      const attached = attachDetail({ positions: rest, triangles: boundarySurface(tets) }, result.detail);
      // Coordinates are rounded to float32; the grid of positions is half a millimetre.
      expect(attached.worst).toBeLessThan(5e-4);
      expect(attached.exact / (result.detail.length / 3)).toBeGreaterThan(0.99);
    }
  });
});

describe("cloth", () => {
  test("a coarse sheet gets particles, a fine one loses some; its border stays, and no triangle degenerates to a line", async () => {
    for (const cells of [1, 7, 90]) {
      const flat = patch(cells, (u, v) => [u - 0.5, 0, v - 0.5]);
      const result = await prepared(flat, { role: "cloth" });
      const cloth = sheetOf(result);
      expect(cloth.positions.length / 3).toBeLessThanOrEqual(400);
      expect(cloth.positions.length / 3).toBeGreaterThan(160);
      const { low, high } = boundsOf(cloth.positions);
      expect([low, high].flat().map((x) => Math.round(x * 1e6) / 1e6)).toEqual([-0.5, 0, -0.5, 0.5, 0, 0.5]);
      const topology = surfaceTopology(cloth.triangles);
      expect(topology).toMatchObject({ euler: 1, crossedEdges: 0 });
      let area = 0;
      for (let t = 0; t < cloth.triangles.length; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) => 3 * cloth.triangles[t + k]!) as [number, number, number];
        const x = cloth.positions;
        const own = 0.5 * ((x[b + 2]! - x[a + 2]!) * (x[c]! - x[a]!) - (x[b]! - x[a]!) * (x[c + 2]! - x[a + 2]!));
        expect(Math.abs(own)).toBeGreaterThan(1e-8);
        area += own;
      }
      // All with the same orientation, and no triangle twice.
      expect(Math.abs(area)).toBeCloseTo(1, 5);
    }
  });

  test("a one-sided strip and a closed shell are cloth, too", async () => {
    expect(surfaceTopology(sheetOf(await prepared(moebius(40), { role: "cloth" })).triangles).euler).toBe(0);
    expect(surfaceTopology(sheetOf(await prepared(bumpySphere(4), { role: "cloth" })).triangles)).toMatchObject({
      euler: 2,
      openEdges: 0,
    });
  });
});

test("a collider is the surface, simplified to within 1/200 of its size", async () => {
  const result = await prepared(bumpySphere(5), { role: "collider", particles: 2000 });
  const { positions, triangles } = sheetOf(result);
  expect(triangles.length / 3).toBeLessThanOrEqual(6000);
  const tree = buildTriangleTree(positions, triangles);
  for (let v = 0; v < result.detail.length; v += 3)
    expect(distanceToSurface(tree, result.detail[v]!, result.detail[v + 1]!, result.detail[v + 2]!)).toBeLessThan(0.01);
});

test.each([
  [{ size: 0.001 }, /size in m is 0.001, from 0.02 to 20/],
  [{ size: Number.NaN }, /size in m is NaN/],
  [{ particles: 7 }, /particles is 7, a whole number from 50/],
  [{ role: "gas" as never }, /role is gas, one of soft/],
])("a choice of %o is refused", async (choice, message) => {
  await expect(prepared(box(1, 1, 1), choice)).rejects.toMatchObject({
    code: "CHOICE_INVALID",
    message: expect.stringMatching(message),
  });
});

test("an impossible choice is refused with a code that survives the transfer to another thread", async () => {
  // Every other triangle of a sheet: nothing of it can be simplified.
  const { surface, surfaceOfPicture } = await readObjectFile(objOf(without(sheet(30), (t) => t % 2 === 0)), "a.obj");
  const shape = encodeShape({ surface, surfaceOfPicture, pictureTriangles: surface.triangles });
  const meshes = new ObjectMeshes(new Map([["holed", shape]]));
  const error = await meshes
    .prepare({ type: "object", id: "holed", size: 1, particles: 50 }, "cloth")
    .catch((thrown: Error) => structuredClone(thrown));
  expect(error).toMatchObject({
    cause: "ROLE_IMPOSSIBLE",
    message: expect.stringMatching(/join the pieces, choose more/),
  });
});

test("every defective surface of the family opens, or is refused with a known code", async () => {
  let opened = 0;
  for (const { name, surface, role } of FAMILY) {
    const outcome = await prepared(surface(), { role, particles: 150 }).then(
      (result) => {
        const mesh = result.mesh.kind === "tets" ? result.mesh.tets.positions : result.mesh.surface.positions;
        if (!mesh.every(Number.isFinite) || mesh.length === 0) throw new Error(`${name}: a mesh without numbers`);
        return "opened";
      },
      (error: { code?: string; name: string }) => {
        if (error.name !== "ObjectError") throw error;
        return error.code;
      },
    );
    if (outcome === "opened") opened++;
    else expect(["ROLE_IMPOSSIBLE", "GEOMETRY_INVALID"], name).toContain(outcome);
  }
  expect(opened / FAMILY.length).toBeGreaterThan(0.9);
});
