/** Mesh files of scenes: one path for all formats, with the repairs and notes of uploaded objects. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";
import { loadMeshFile } from "../../../../server/meshing/importers/loadMeshFile.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import type { MeshNote } from "../../../../server/meshing/meshNotes.ts";
import { enclosedVolume } from "../../../../server/sim/body/meshes.ts";
import { boundsOf } from "../objects/checkFile.ts";
import { documentOf, glbOf, gltf, io, jsonOf, objOf, plyOf, stlOf } from "../objects/files.ts";
import { box, bumpySphere, flipped, moved, patch, together } from "../objects/wildShapes.ts";
import { testFolder } from "../../../support/testFolder.ts";

const folder = testFolder("mesh");

/** Loads bytes as a file of a scene. */
async function load(
  name: string,
  bytes: Uint8Array | string,
  role: "soft" | "cloth" | "collider" = "cloth",
): Promise<SurfaceMesh & { notes: MeshNote[] }> {
  writeFileSync(join(folder, name), bytes);
  const { notes, ...mesh } = await loadMeshFile(join(folder, name), role);
  if (mesh.kind !== "surface") throw new Error("no surface");
  return { ...mesh.surface, notes };
}
const codes = (notes: readonly MeshNote[]): string[] => notes.map(({ code }) => code);

/** A flat sheet of 1 m in two halves, each with vertices of its own along x = 0. */
const half = (x: number): SurfaceMesh => patch(10, (u, v) => [x + 0.5 * u, 0, v - 0.5]);
const seam = together(half(-0.5), half(0));

describe("a sheet that is cut along a texture seam is one sheet", () => {
  test.each([
    ["a.obj", objOf(seam)],
    ["a.ply", plyOf(seam, "ascii")],
    ["b.ply", plyOf(seam, "binary_big_endian")],
    ["a.stl", stlOf(seam, true)],
  ])("%s", async (name, bytes) => {
    const { positions, triangles, notes } = await load(name, bytes);
    expect(positions.length / 3).toBe(21 * 11);
    expect(surfaceTopology(triangles)).toMatchObject({ euler: 1, openEdges: 60, pinched: [] });
    expect(notes).toEqual([]);
  });

  test("a.glb and a.gltf", async () => {
    const { json, binary } = await jsonOf(documentOf(seam).document);
    for (const [name, bytes] of [["a.glb", await glbOf(seam)], ["a.gltf", gltf(json, binary)]] as const) // biome-ignore format: one line
      expect((await load(name, bytes)).positions.length / 3).toBe(21 * 11);
  });

  test("numbers of merged vertices name the vertex that they became", async () => {
    const { origin, merged } = await load("a.obj", objOf(seam));
    // The last column of the first half is the first of the second: vertex 121 + 11 j is vertex 11 j + 10.
    expect(merged!.size).toBe(11);
    for (let j = 0; j < 11; j++) expect(merged!.get(121 + 11 * j)).toBe(11 * j + 10);
    expect([...origin!].filter((v) => merged!.has(v))).toEqual([]);
    expect(origin).toHaveLength(231);
  });
});

test("pieces, holes and flipped triangles are reported with their places", async () => {
  const holed = patch(10, (u, v) => [u, 0, v]);
  const surface = together(
    { ...holed, triangles: flipped(holed, (t) => t === 20).triangles.filter((_, i) => Math.floor(i / 3) !== 110) },
    moved(
      patch(2, (u, v) => [u, 0, v]),
      0.1,
      [3, 0, 0],
    ),
  );
  const { notes } = await load("a.obj", objOf(surface));
  expect(codes(notes)).toEqual(["HOLES", "FLIPPED", "PIECES"]);
  expect(notes[2]!.text).toMatch(/^2 pieces/);
  // The size is 3.1, so the small piece begins at (3 - 1.55) / 3.1.
  expect(notes[2]!.at![0]).toBeGreaterThan(0.4);
  expect(notes[1]!.text).toMatch(/^1 triangles/);
  for (const { at } of notes) expect(at!.every(Number.isFinite)).toBe(true);
});

test("layers of cloth that are wound alike keep their fronts", async () => {
  const layer = patch(4, (u, v) => [u, 0, v]);
  const { triangles, notes } = await load("a.obj", objOf(together(layer, moved(layer, 1, [0, 0.5, 0]))));
  expect(codes(notes)).toEqual(["PIECES"]);
  const half = triangles.length / 2;
  expect([...triangles.subarray(half)]).toEqual([...triangles.subarray(0, half)].map((v) => v + 25));
});

test("a solid that is inside out faces outward; a collider keeps its file's orientation", async () => {
  const inward = objOf(flipped(box(1, 1, 1)));
  expect(enclosedVolume(await load("a.obj", inward, "soft"))).toBeCloseTo(1, 12);
  const collider = await load("a.obj", inward, "collider");
  expect(enclosedVolume(collider)).toBeCloseTo(-1, 12);
  expect(codes(collider.notes)).toEqual([]);
});

test("values are those of the file, in float64, also far from the origin", async () => {
  const text = "v 1e6 0.1 0.2\nv 1000000.25 0.1 0.2\nv 1000000.25 0.30000000000000004 0.2\nf 1 2 3\n";
  expect([...(await load("a.obj", text)).positions]).toEqual([
    1e6, 0.1, 0.2, 1000000.25, 0.1, 0.2, 1000000.25, 0.30000000000000004, 0.2,
  ]);
  const { positions } = await load("a.glb", await glbOf(moved(box(1, 1, 1), 1, [64, 0, 0])), "soft");
  expect(boundsOf(positions)).toEqual({ low: [63.5, -0.5, -0.5], high: [64.5, 0.5, 0.5] });
});

describe("STL", () => {
  const cube = box(1, 1, 1);
  const lower = Buffer.from(stlOf(cube, false)).toString();
  test.each([
    ["upper case", lower.toUpperCase().replaceAll("E-", "e-")],
    ["mixed case", lower.replaceAll("facet", "Facet").replace("solid", "Solid")],
    ["a first line of 4,000 bytes", lower.replace("solid a", `solid ${"x".repeat(4000)}`)],
    ["carriage returns alone", lower.replaceAll("\n", "\r")],
    ["a byte order mark", `\ufeff${lower}`],
  ])("text with %s is the same box", async (_, text) => {
    const expected = await load("a.stl", lower, "soft");
    expect(await load("b.stl", text, "soft")).toEqual(expected);
    expect(enclosedVolume(expected)).toBeCloseTo(1, 12);
  });

  test("a binary file that is cut off is refused, whatever its header says", async () => {
    await expect(load("c.stl", stlOf(cube, true).subarray(0, -10))).rejects.toThrow("facet count is 12");
  });
});

test("numbers that are not finite in unused data are ignored with a note; in positions they are refused", async () => {
  const ply = (normal: string, z = "0"): string =>
    `ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 ${z} ${normal}\n1 0 0 1\n0 1 0 1\n3 0 1 2\n`;
  for (const word of ["nan", "-NaN", "nan(ind)", "-1.#IND", "1.#QNAN", "inf", "-Infinity"])
    expect(codes((await load("a.ply", ply(word))).notes)).toEqual(["NUMBERS_IGNORED"]);
  expect(codes((await load("a.ply", ply("0"))).notes)).toEqual([]);
  await expect(load("a.ply", ply("0", "nan"))).rejects.toThrow("vertex 0 z is NaN, a finite number is needed");
  await expect(load("a.ply", ply("many"))).rejects.toThrow("vertex 0 nx is many");
});

test("a glTF that needs another file is refused with the field", async () => {
  const { json, binary } = await jsonOf(documentOf(box(1, 1, 1)).document);
  const bytes = Buffer.from(gltf(json, binary))
    .toString()
    .replace(/"uri":"[^"]*"/, '"uri":"a.bin"');
  await expect(load("a.gltf", bytes)).rejects.toThrow("/buffers/0/uri is a.bin, all data must be inside the file");
});

test("Draco files load, too", async () => {
  const { document } = documentOf(bumpySphere(2));
  const { KHRDracoMeshCompression } = await import("@gltf-transform/extensions");
  document.createExtension(KHRDracoMeshCompression).setRequired(true);
  const { triangles, notes } = await load("d.glb", await (await io()).writeBinary(document), "soft");
  expect(surfaceTopology(triangles)).toMatchObject({ openEdges: 0, euler: 2 });
  expect(notes).toEqual([]);
});
