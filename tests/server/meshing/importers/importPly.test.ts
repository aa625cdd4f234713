/** PLY: text and binary of both byte orders, plain and gzip, and refusals. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { importPly } from "../../../../server/meshing/importers/importPly.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { anySurface, faultOf } from "../meshShapes.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

function header(format: string, vertices: number, faces: number): string {
  return `ply\nformat ${format} 1.0\ncomment made here\nobj_info x\nelement vertex ${vertices}\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face ${faces}\nproperty list uchar int vertex_indices\nend_header\n`;
}

function ascii({ positions, triangles }: SurfaceMesh): Uint8Array {
  const v = Array.from(
    { length: positions.length / 3 },
    (_, i) => `${[...positions.subarray(3 * i, 3 * i + 3)].join(" ")} 7`,
  );
  const f = Array.from(
    { length: triangles.length / 3 },
    (_, t) => `3 ${[...triangles.subarray(3 * t, 3 * t + 3)].join(" ")}`,
  );
  return bytes(`${header("ascii", v.length, f.length)}${[...v, ...f].join("\n")}\n`);
}

function binary({ positions, triangles }: SurfaceMesh, little: boolean): Uint8Array {
  const head = bytes(
    header(little ? "binary_little_endian" : "binary_big_endian", positions.length / 3, triangles.length / 3),
  );
  const data = new DataView(new ArrayBuffer(13 * (positions.length / 3) + 13 * (triangles.length / 3)));
  let at = 0;
  positions.forEach((value, i) => {
    data.setFloat32(at, value, little);
    at += 4;
    if (i % 3 === 2) data.setUint8(at++, 7);
  });
  triangles.forEach((value, i) => {
    if (i % 3 === 0) data.setUint8(at++, 3);
    data.setInt32(at, value, little);
    at += 4;
  });
  return Buffer.concat([head, new Uint8Array(data.buffer)]);
}

test("property: a written mesh is read unchanged, in every format", () => {
  fc.assert(
    fc.property(anySurface, fc.constantFrom("ascii", "little", "big"), fc.boolean(), (surface, format, packed) => {
      const file = format === "ascii" ? ascii(surface) : binary(surface, format === "little");
      const read = importPly("a.ply", packed ? gzipSync(file) : file);
      expect(read.positions).toEqual(surface.positions);
      expect(read.triangles).toEqual(surface.triangles);
    }),
  );
});

test("property: a truncated file, or one with a changed byte, is read or refused with a MeshError", () => {
  fc.assert(
    fc.property(
      anySurface,
      fc.constantFrom("ascii", "little", "big"),
      fc.nat(),
      fc.nat(255),
      fc.boolean(),
      (surface, format, place, value, cut) => {
        const file = Buffer.from(format === "ascii" ? ascii(surface) : binary(surface, format === "little"));
        const at = place % file.length;
        if (!cut) file[at] = value;
        try {
          const read = importPly("a.ply", cut ? file.subarray(0, at) : file);
          expect(Math.max(...read.triangles)).toBeLessThan(read.positions.length / 3);
        } catch (error) {
          expect((error as Error).name).toBe("MeshError");
        }
      },
    ),
    { numRuns: 500 },
  );
});

const QUAD =
  "ply\nformat ascii 1.0\nelement vertex 5\nproperty double z\nproperty double y\nproperty double x\nproperty list uchar float extra\nelement edge 1\nproperty int a\nproperty int b\nelement face 1\nproperty uchar flag\nproperty list uchar uint vertex_index\nend_header\n0 0 0 2 5 5\n0 0 1 0\n0 1 1 0\n0 1 0 1 9\n9 9 9 0\n0 1\n1 4 0 1 2 3\n";

test("polygons become fans; the order of properties, and additional properties and elements, do not matter", () => {
  const { positions, triangles, origin } = importPly("a.ply", bytes(QUAD));
  expect([...triangles]).toEqual([0, 1, 2, 0, 2, 3]);
  expect([...positions]).toEqual([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]);
  expect([...origin!]).toEqual([0, 1, 2, 3]);
});

test.each([
  ["text that is not PLY", "obj\n", { line: 1, field: "first line", value: "obj" }],
  ["unknown format", QUAD.replace("ascii", "utf8"), { line: 2, field: "format", value: "utf8" }],
  ["unknown version", QUAD.replace("ascii 1.0", "ascii 1.1"), { line: 2, field: "version", value: "1.1" }],
  ["endless header", "ply\nformat ascii 1.0\n", { field: "header" }],
  [
    "unknown type",
    QUAD.replace("double y", "constructor y"),
    { line: 5, field: "property type", value: "constructor" },
  ],
  [
    "missing coordinate",
    QUAD.replace("double y", "double w"),
    { field: "vertex properties", limit: "y is needed once" },
  ],
  [
    "no faces",
    QUAD.replace("element face", "element other"),
    { field: "elements", limit: "face or tristrips is needed once" },
  ],
  ["NaN", QUAD.replace("0 0 1 0", "0 nan 1 0"), { line: 16, field: "vertex 1 y", value: Number.NaN }],
  [
    "index out of range",
    QUAD.replace("4 0 1 2 3", "4 0 1 2 5"),
    { line: 21, field: "triangle 1 corner 3", value: 5, limit: "a vertex from 0 to 4 is needed" },
  ],
  ["negative index", QUAD.replace("4 0 1 2 3", "4 0 1 2 -1"), { field: "triangle 1 corner 3", value: -1 }],
  ["fraction as index", QUAD.replace("4 0 1 2 3", "4 0 1 2.5 3"), { field: "triangle 0 corner 3", value: 2.5 }],
  ["only a face of two corners", QUAD.replace("4 0 1 2 3", "2 0 1"), { field: "triangle count", value: 0 }],
  ["hexadecimal number", QUAD.replace("0 0 1 0", "0 0x1 1 0"), { line: 16, field: "vertex 1 y", value: "0x1" }],
  ["too long a polygon", QUAD.replace("4 0 1 2 3", "1000000 0 1"), { field: "length of face 0", value: 1000000 }],
  [
    "too many elements",
    QUAD.replace("element face 1", "element face 99999999"),
    { line: 11, field: "count of element face", value: "99999999" },
  ],
  ["end of file", QUAD.slice(0, -2), { field: "face 0 corner 4", value: "missing" }],
  ["no triangle", QUAD.replace("element face 1", "element face 0"), { field: "triangle count", value: 0 }],
])("%s is refused", (_, text, fault) => {
  expect(faultOf(() => importPly("a.ply", bytes(text)))).toMatchObject({ file: "a.ply", ...fault });
});

test("broken gzip is refused", () => {
  const packed = gzipSync(bytes(QUAD));
  expect(faultOf(() => importPly("a.ply.gz", packed.subarray(0, 40)))).toMatchObject({ field: "gzip stream" });
});
