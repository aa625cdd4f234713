/** Borders that a file's rounding has separated are joined; layers and gaps of the model's own are not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { KHRDracoMeshCompression, KHRMeshQuantization } from "@gltf-transform/extensions";
import { describe, expect, test } from "vitest";
import { surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";
import { loadMeshFile } from "../../../../server/meshing/importers/loadMeshFile.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { prepareSurface } from "../../../../server/meshing/objects/prepareSurface.ts";
import { readObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";
import { WrittenDigits } from "../../../../server/meshing/importers/filePrecision.ts";
import { weldSurface } from "../../../../server/meshing/surface/weldSurface.ts";
import { checkFile } from "../objects/checkFile.ts";
import { documentOf, io, objOf } from "../objects/files.ts";
import { flipped, patch, together } from "../objects/wildShapes.ts";
import { testFolder } from "../../../support/testFolder.ts";

/** A curved sheet of 1 m in four parts, with the same numbers along their common borders. */
const curved = (u: number, v: number): [number, number, number] => [u, 0.2 * Math.sin(3 * u) * Math.cos(2 * v), v];
const quarters = (n: number): SurfaceMesh[] =>
  [0, 1, 2, 3].map((q) => patch(n, (u, v) => curved(((q % 2) + u) / 2, (Math.floor(q / 2) + v) / 2)));

/**
 * Writes each part as a primitive of its own node, quantized in its own box.
 * @param bits that are used of those of the file
 */
async function quantizedGlb(parts: readonly SurfaceMesh[], bits: number, storage = 16): Promise<Uint8Array> {
  const made = documentOf(parts[0]!);
  made.document.createExtension(KHRMeshQuantization).setRequired(true);
  made.mesh.dispose();
  for (const { positions, triangles } of parts) {
    const low = [0, 1, 2].map((k) => Math.min(...positions.filter((_, i) => i % 3 === k)));
    const size = Math.max(...positions.map((x, i) => x - low[i % 3]!));
    const levels = 2 ** bits - 1;
    const stored = positions.map((x, i) => {
      const level = Math.round((levels * (x - low[i % 3]!)) / size);
      return Math.round((level * (2 ** storage - 1)) / levels);
    });
    const values = storage === 16 ? Uint16Array.from(stored) : Uint8Array.from(stored);
    const primitive = made.document
      .createPrimitive()
      .setIndices(made.accessor("SCALAR", triangles.slice()))
      .setAttribute("POSITION", made.accessor("VEC3", values as never).setNormalized(true));
    const mesh = made.document.createMesh().addPrimitive(primitive);
    const node = made.document.createNode().setMesh(mesh).setScale([size, size, size]);
    made.scene.addChild(node.setTranslation(low as [number, number, number]));
  }
  return (await io()).writeBinary(made.document);
}

/** Writes each part as a mesh of its own, which Draco quantizes in its own box. */
async function dracoGlb(parts: readonly SurfaceMesh[], bits: number): Promise<Uint8Array> {
  const made = documentOf(parts[0]!);
  made.document
    .createExtension(KHRDracoMeshCompression)
    .setRequired(true)
    .setEncoderOptions({ quantizationBits: { POSITION: bits } });
  for (const { positions, triangles } of parts.slice(1)) {
    const primitive = made.document
      .createPrimitive()
      .setIndices(made.accessor("SCALAR", triangles.slice()))
      .setAttribute("POSITION", made.accessor("VEC3", Float32Array.from(positions)));
    made.scene.addChild(made.document.createNode().setMesh(made.document.createMesh().addPrimitive(primitive)));
  }
  return (await io()).writeBinary(made.document);
}

describe("parts that were quantized apart become one sheet", () => {
  const quantized: [string, number, () => Promise<Uint8Array>][] = [
    ["16 bits", 12, () => quantizedGlb(quarters(12), 16)],
    ["14 of 16 bits", 12, () => quantizedGlb(quarters(12), 14)],
    ["12 of 16 bits", 12, () => quantizedGlb(quarters(12), 12)],
    ["8 bits", 12, () => quantizedGlb(quarters(12), 8, 8)],
    ["14 bits, with large triangles", 3, () => quantizedGlb(quarters(3), 14)],
    ["Draco with 14 bits", 12, () => dracoGlb(quarters(12), 14)],
    ["Draco with 11 bits", 12, () => dracoGlb(quarters(12), 11)],
  ];
  test.each(quantized)("%s", async (_, n, glb) => {
    const file = await readObjectFile(await glb(), "a.glb");
    await checkFile(file);
    expect(surfaceTopology(file.surface.triangles)).toMatchObject({
      vertices: (2 * n + 1) ** 2,
      openEdges: 8 * n,
      euler: 1,
    });
    expect(file.notes).toMatchObject([{ code: "BORDERS_JOINED", at: expect.any(Array) }]);
    const { notes } = await prepareSurface(file, { role: "cloth", size: 1, particles: 2000 });
    expect(notes.map(({ code }) => code)).toEqual([]);
  });

  test("a part that is wound the other way is joined and flipped", async () => {
    const [first, ...rest] = quarters(12);
    const file = await readObjectFile(await quantizedGlb([flipped(first!), ...rest], 14), "a.glb");
    expect(surfaceTopology(file.surface.triangles)).toMatchObject({ vertices: 25 * 25, openEdges: 96 });
    const { notes } = await prepareSurface(file, { role: "cloth", size: 1, particles: 2000 });
    expect(notes.map(({ code }) => code)).toEqual(["FLIPPED"]);
  });
});

test("parts whose text differs in the last digit become one sheet, and a scene's file does, too", async () => {
  const parts = quarters(12).map(({ positions, triangles }, q) => ({
    positions: positions.map((x, i) => Number((x + 0.45e-6 * (((7 * i + q) % 3) - 1)).toFixed(6))),
    triangles,
  }));
  const bytes = objOf(together(...parts));
  const folder = testFolder("weld");
  writeFileSync(join(folder, "a.obj"), bytes);
  const loaded = await loadMeshFile(join(folder, "a.obj"), "cloth");
  if (loaded.kind !== "surface") throw new Error("no surface");
  for (const [surface, notes] of [
    [loaded.surface, loaded.notes],
    await readObjectFile(bytes, "a.obj").then((file) => [file.surface, file.notes] as const),
  ] as const) {
    expect(surfaceTopology(surface.triangles)).toMatchObject({ vertices: 25 * 25, openEdges: 96, euler: 1 });
    expect(notes.map(({ code }) => code)).toEqual(["BORDERS_JOINED"]);
  }
});

test("parts with a gap of the model's own stay apart, and their number is said", async () => {
  const apart = quarters(12).map((part, q) => ({
    ...part,
    positions: part.positions.map((x, i) => x + (i % 3 === 0 ? 0.002 * (q % 2) : 0)),
  }));
  const file = await readObjectFile(await quantizedGlb(apart, 14), "a.glb");
  const { notes } = await prepareSurface(file, { role: "cloth", size: 1, particles: 2000 });
  expect(notes.map(({ code, text }) => [code, text.slice(0, 9)])).toEqual([["PIECES", "2 pieces "]]);
});

test("layers nearer than the rounding are not joined", () => {
  const layers = together(
    patch(4, (u, v) => [u, 0, v]),
    patch(4, (u, v) => [u, 1e-5, v]),
  );
  expect(weldSurface(layers.positions, layers.triangles, () => 1e-4)).toMatchObject({ joined: 0 });
  // Beside each other they are one sheet.
  const beside = together(
    patch(4, (u, v) => [u, 0, v]),
    patch(4, (u, v) => [1 + 1e-5 + u, 1e-5, v]),
  );
  const { joined, first, gap } = weldSurface(beside.positions, beside.triangles, () => 1e-4);
  expect([joined, first.length]).toEqual([5, 45]);
  expect(gap).toBeCloseTo(Math.SQRT2 * 1e-5, 12);
});

test("no edge collapses, however coarse the precision is", () => {
  const surface = together(
    patch(4, (u, v) => [u, 0, v]),
    patch(4, (u, v) => [1.01 + u, 0, v]),
  );
  const { places, first } = weldSurface(surface.positions, surface.triangles, () => 1);
  expect(first).toHaveLength(45);
  const corners = surface.triangles.map((v) => places[v]!);
  for (let t = 0; t < corners.length; t += 3) expect(new Set(corners.subarray(t, t + 3)).size).toBe(3);
});

test("the work for a soup of triangles at one place is bounded", () => {
  const count = 30_000;
  const positions = Float64Array.from(
    { length: 9 * count },
    (_, i) => ((i * 7919) % 1000) * 1e-9 + (i % 9 === 3 ? 1 : 0),
  );
  const before = process.cpuUsage();
  weldSurface(positions, Uint32Array.from({ length: 3 * count }, (_, i) => i), () => 1e-6); // biome-ignore format: one line
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(20);
});

test.each([
  ["six digits behind the point", ["0.500000", "12.345678", "-3.100000"], [0, 12.345678], 1e-6],
  ["six significant digits", ["12.3456", "0.000123456", "1"], [0, 12.3456], 1e-4],
  ["scientific notation", ["1.00000000E+00", "-2.50000000E-01"], [0, 1], 1e-8],
  ["round numbers, which are exact", ["0", "0.1", "0.25"], [0, 0.25], 0],
])("precision of %s", (_, words, [low, high], step) => {
  const digits = new WrittenDigits();
  for (const word of words) digits.add(word);
  expect(digits.precision([low!, 0, 0, high!, 0, 0])).toBeCloseTo((Math.sqrt(3) / 2) * step, 14);
});
