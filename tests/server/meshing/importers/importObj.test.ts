/** OBJ: every way to index a vertex gives the same mesh, and every error names its line. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { importObj } from "../../../../server/meshing/importers/importObj.ts";
import { requireSheet } from "../../../../server/meshing/importers/finishMesh.ts";
import { anySurface, faultOf } from "../meshShapes.ts";

const CORNERS = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

test.each([
  ["plain", "f 1 2 3"],
  ["with texture coordinates", "vt 0 0\nf 1/1 2/1 3/1"],
  ["with normals", "vn 0 0 1\nf 1//1 2//1 3//1"],
  ["with both", "vt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 3/1/1"],
  ["counted from the end", "f -4 -3 -2"],
  ["counted from the end, with both", "vt 0 0\nvn 0 0 1\nf -4/-1/-1 -3/-1/-1 -2/-1/-1"],
  ["with a comment and other records", "# f 9 9 9\ng front\ns off\nusemtl x\nl 1 2\nf 1 2 3 # front"],
  ["over two lines", "f 1 2 \\\n 3"],
])("a face %s", (_, face) => {
  const { positions, triangles, origin } = importObj("a.obj", `${CORNERS}${face}\n`);
  expect([...triangles]).toEqual([0, 1, 2]);
  expect([...positions]).toEqual([0, 0, 0, 1, 0, 0, 1, 1, 0]);
  expect([...origin!]).toEqual([0, 1, 2]);
});

test("polygons become fans, vertices may have weights and colors, faces may come first", () => {
  expect([...importObj("a.obj", `${CORNERS}f 1 2 3 4\n`).triangles]).toEqual([0, 1, 2, 0, 2, 3]);
  expect([...importObj("a.obj", `f 1 2 3\n${CORNERS.replaceAll(/$(?=\n)/gm, " 1 0.5 0.5 0.5")}`).positions]).toEqual([
    0, 0, 0, 1, 0, 0, 1, 1, 0,
  ]);
  expect([...importObj("a.obj", `${CORNERS.replaceAll("\n", "\r\n")}f 1 2 3 4 1`).triangles]).toEqual([
    0, 1, 2, 0, 2, 3,
  ]);
});

test("unused vertices are dropped, and origin gives the indices of the kept ones", () => {
  const { positions, triangles, origin } = importObj("a.obj", `${CORNERS}f 4 2 3\n`);
  expect([...triangles]).toEqual([2, 0, 1]);
  expect([...origin!]).toEqual([1, 2, 3]);
  expect(positions).toHaveLength(9);
});

test.each([
  [`v 0 0 nan\n${CORNERS}f 1 2 3\n`, { line: 1, field: "vertex 0 z", value: Number.NaN }],
  ["v 0 0\n", { line: 1, field: "v z", value: "missing" }],
  ["v 0 1e999 0\n", { line: 1, field: "v y", value: "1e999" }],
  ["v 0 0x10 0\n", { line: 1, field: "v y", value: "0x10" }],
  [`${CORNERS}f 1 2 5\n`, { line: 5, field: "triangle 0 corner 3", value: 5, limit: "a vertex from 1 to 4 is needed" }],
  [`${CORNERS}f 1 2 0\n`, { line: 5, field: "face corner 3", value: "0" }],
  [`${CORNERS}f 1 2 -5\n`, { line: 5, field: "face corner 3", value: "-5" }],
  [`${CORNERS}f 1 2 x\n`, { line: 5, field: "face corner 3", value: "x" }],
  [`${CORNERS}f 1 2\n`, { field: "triangle count", value: 0 }],
  [`${CORNERS}f${" 1 2 3 4".repeat(257)}\n`, { line: 5, field: "corners of a face", value: 1028 }],
  [CORNERS, { field: "triangle count", value: 0 }],
  ["", { field: "vertex count", value: 0 }],
  [`${CORNERS}f 1 1 2\n`, { field: "count of triangles with three different corners", value: 0 }],
  [`${CORNERS}f 1 2 \\\n3\nf 1 2 9\n`, { line: 7, value: 9 }],
])("%j is refused", (text, fault) => {
  expect(faultOf(() => importObj("a.obj", text))).toMatchObject({ file: "a.obj", ...fault });
});

test("a triangle without area is not accepted as cloth", () => {
  const line = importObj("a.obj", "v 0 0 0\nv 1e-3 0 0\nv 3e-3 0 0\nf 1 2 3\n");
  expect(faultOf(() => requireSheet("a.obj", line))).toMatchObject({
    field: "triangle 0 area over longest edge squared",
    value: 0,
  });
  const small = importObj("a.obj", "v 0 0 0\nv 1e-9 0 0\nv 0 1e-9 0\nf 1 2 3\n");
  expect(() => requireSheet("a.obj", small)).not.toThrow();
});

test("property: a written mesh is read unchanged", () => {
  fc.assert(
    fc.property(anySurface, fc.constantFrom("abs", "rel"), ({ positions, triangles }, way) => {
      const count = positions.length / 3;
      const v = Array.from(
        { length: count },
        (_, i) => `v ${positions[3 * i]} ${positions[3 * i + 1]} ${positions[3 * i + 2]}`,
      );
      const name = (i: number): string => (way === "abs" ? `${i + 1}/${i + 1}` : `${i - count}`);
      const f = Array.from(
        { length: triangles.length / 3 },
        (_, t) => `f ${[0, 1, 2].map((k) => name(triangles[3 * t + k]!)).join(" ")}`,
      );
      const read = importObj("a.obj", [...v, ...f].join("\n"));
      expect(read.positions).toEqual(positions);
      expect(read.triangles).toEqual(triangles);
    }),
  );
});

test("property: any text is read or refused with a MeshError", () => {
  const line = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc
      .tuple(
        fc.constantFrom("v", "f", "vn"),
        fc.array(fc.oneof(fc.double().map(String), fc.integer({ min: -4, max: 5 }).map(String)), { maxLength: 5 }),
      )
      .map(([k, n]) => `${k} ${n.join(" ")}`),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      let read: { triangles: Uint32Array } | undefined;
      try {
        read = importObj("a.obj", lines.join("\n"));
      } catch (error) {
        expect((error as Error).name).toBe("MeshError");
      }
      if (read) expect(read.triangles.length).toBeGreaterThan(0);
    }),
  );
});
