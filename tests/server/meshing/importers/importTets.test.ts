/** TetGen and Gmsh: numbering, orientation and refusals. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { sixVolume } from "../../../../server/meshing/importers/finishMesh.ts";
import { importGmsh } from "../../../../server/meshing/importers/importGmsh.ts";
import { importTetgen } from "../../../../server/meshing/importers/importTetgen.ts";
import type { TetMesh } from "../../../../server/meshing/mesh.ts";
import { faultOf } from "../meshShapes.ts";

const NODE = "# corner of a cube\n5 3 1 1\n1 0 0 0 7 0\n2 1 0 0 7 0 # x\n3 0 1 0 7 0\n\n4 0 0 1 7 0\n5 9 9 9 7 0\n";
const ELE = "1 4 1\n1 1 2 3 4 8\n# made by hand\n";
const tetgen = (node: string, ele: string | undefined): TetMesh =>
  importTetgen({ nodeFile: "a.node", node, eleFile: "a.ele", ele });

const MSH =
  '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "#body"\n$EndPhysicalNames\n$Nodes\n5\n10 0 0 0\n20 1 0 0\n7 0 1 0\n30 0 0 1\n99 9 9 9\n$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 20 7\n3 4 2 0 1 10 20 7 30\n4 2 2 0 1 10 7 30\n$EndElements\n';

test("TetGen from 1 and from 0, with comments, attributes and markers", () => {
  const one = tetgen(NODE, ELE);
  const zero = tetgen("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n", "1 4 0\n0 0 1 2 3\n");
  for (const mesh of [one, zero]) {
    expect([...mesh.positions]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
    // det(x1 - x4, x2 - x4, x3 - x4) of 0 1 2 3 is -1: two corners are swapped.
    expect([...mesh.tets]).toEqual([1, 0, 2, 3]);
    expect(sixVolume(mesh.positions, 1, 0, 2, 3)).toBe(1);
  }
  expect([...one.origin!]).toEqual([0, 1, 2, 3]);
  expect([...tetgen(NODE, "1 10 1\n1 1 2 3 4 5 5 5 5 5 5 8\n").tets]).toEqual([1, 0, 2, 3]);
});

test.each([
  ["a missing .ele", NODE, undefined, { file: "a.node", field: "element file", limit: "a.ele is needed beside it" }],
  ["NaN", NODE.replace("2 1 0 0", "2 1 NaN 0"), ELE, { file: "a.node", line: 4, field: "vertex 2 y", value: "NaN" }],
  [
    "a missing vertex",
    NODE.replace("5 9 9 9 7 0\n", ""),
    ELE,
    { file: "a.node", field: "vertex records", value: 4, limit: "5 are promised by the header" },
  ],
  [
    "a gap in the numbers",
    NODE.replace("4 0 0 1", "6 0 0 1"),
    ELE,
    { file: "a.node", line: 7, field: "vertex number", value: "6" },
  ],
  ["two dimensions", NODE.replace("5 3", "5 2"), ELE, { file: "a.node", line: 2, field: "dimension" }],
  ["numbering from 2", NODE.replace("1 0 0 0", "2 0 0 0"), ELE, { line: 3, field: "first vertex number", value: "2" }],
  ["too many vertices", NODE.replace("5 3", "99999999 3"), ELE, { line: 2, field: "vertex count", value: "99999999" }],
  [
    "a corner out of range",
    NODE,
    ELE.replace("3 4 8", "3 6 8"),
    { file: "a.ele", line: 2, field: "tetrahedron 1 corner 4", value: "6", limit: "an integer from 1 to 5 is needed" },
  ],
  [
    "a corner below 1",
    NODE,
    ELE.replace("1 1 2", "1 0 2"),
    { file: "a.ele", line: 2, field: "tetrahedron 1 corner 1", value: "0" },
  ],
  [
    "a flat element",
    NODE.replace("4 0 0 1", "4 1 1 0"),
    ELE,
    { file: "a.ele", line: 2, field: "tetrahedron 1 volume over longest edge cubed", value: 0 },
  ],
  ["a corner named twice", NODE, ELE.replace("1 1 2 3 4", "1 1 2 3 3"), { file: "a.ele", line: 2, value: 0 }],
  [
    "elements of five nodes",
    NODE,
    ELE.replace("1 4 1", "1 5 1"),
    { line: 1, field: "nodes per tetrahedron", value: 5 },
  ],
  ["no element", NODE, "0 4 0\n", { file: "a.ele", field: "tetrahedron count", value: "0" }],
  ["an empty .ele", NODE, "# nothing\n", { file: "a.ele", field: "header", value: "missing" }],
])("TetGen: %s is refused", (_, node, ele, fault) => {
  expect(faultOf(() => tetgen(node, ele))).toMatchObject(fault);
});

test("degenerate is relative: the same shape is accepted in nanometers and in megameters, and a sliver is refused in both", () => {
  for (const unit of ["e-9", "", "e6"]) {
    const node = (z: string): string => `4 3 0 0\n0 0 0 0\n1 1${unit} 0 0\n2 0 1${unit} 0\n3 0 0 ${z}${unit}\n`;
    expect(tetgen(node("1"), "1 4 0\n0 0 1 2 3\n").tets).toHaveLength(4);
    expect(faultOf(() => tetgen(node("0.0000000001"), "1 4 0\n0 0 1 2 3\n")).field).toContain("tetrahedron 0");
  }
});

test("Gmsh: tetrahedra if there are any, triangles otherwise; numbers in any order", () => {
  const read = importGmsh("a.msh", MSH);
  if (read.kind !== "tets") throw new Error("tetrahedra expected");
  expect([...read.tets.positions]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
  expect([...read.tets.tets]).toEqual([1, 0, 2, 3]);
  const sheet = importGmsh("a.msh", MSH.replace("4\n1 15", "3\n1 15").replace("3 4 2 0 1 10 20 7 30\n", ""));
  if (sheet.kind !== "surface") throw new Error("triangles expected");
  expect([...sheet.surface.triangles]).toEqual([0, 1, 2, 0, 2, 3]);
});

test.each([
  ["version 4.1", MSH.replace("2.2 0 8", "4.1 0 8"), { line: 2, field: "version", value: "4.1" }],
  ["binary", MSH.replace("2.2 0 8", "2.2 1 8"), { line: 2, field: "file type", value: "1" }],
  ["no format", MSH.slice(MSH.indexOf("$Nodes")), { line: 1, field: "section", value: "$Nodes" }],
  ["an empty file", "", { field: "$MeshFormat", value: "missing" }],
  ["NaN", MSH.replace("20 1 0 0", "20 1 nan 0"), { line: 11, field: "node 20 y", value: "nan" }],
  ["a node named twice", MSH.replace("20 1 0 0", "10 1 0 0"), { line: 11, field: "node number", value: 10 }],
  ["an unknown node", MSH.replace("10 20 7 30", "10 20 8 30"), { line: 20, field: "element 3 node 3", value: 8 }],
  [
    "a missing node number",
    MSH.replace("10 20 7 30", "10 20 7"),
    { line: 20, field: "element 3 node 4", value: "missing" },
  ],
  [
    "a flat element",
    MSH.replace("30 0 0 1", "30 1 1 0"),
    { line: 20, field: "tetrahedron 3 volume over longest edge cubed" },
  ],
  [
    "an open section",
    MSH.replace("$EndElements\n", ""),
    { field: "end of file", limit: "$EndElements is needed first" },
  ],
  [
    "fewer nodes than stated",
    MSH.replace("$Nodes\n5", "$Nodes\n6"),
    { line: 15, field: "node number", value: "$EndNodes" },
  ],
  ["no elements", MSH.replace(/\$Elements[^]*/, ""), { field: "triangle count", value: 0 }],
  ["text between sections", MSH.replace("$Nodes", "nodes"), { line: 8, field: "section", value: "nodes" }],
])("Gmsh: %s is refused", (_, text, fault) => {
  expect(faultOf(() => importGmsh("a.msh", text))).toMatchObject({ file: "a.msh", ...fault });
});

/** Tetrahedra without shared vertices, big enough not to be degenerate. */
const anyTets = fc
  .array(fc.tuple(fc.boolean(), fc.integer({ min: -1000, max: 1000 }), fc.integer({ min: 1, max: 50 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => {
    const points: number[][] = [];
    const tets = parts.map(([mirrored, offset, size], e) => {
      points.push([offset, 0, e], [offset + size, 0, e], [offset, size, e], [offset, 0, e + (mirrored ? -size : size)]);
      return [4 * e, 4 * e + 1, 4 * e + 2, 4 * e + 3];
    });
    return { points, tets, volume: parts.reduce((sum, [, , size]) => sum + size ** 3 / 6, 0) };
  });

test("property: a written mesh is read with positive volume, in both formats", () => {
  const volume = (mesh: TetMesh): number => {
    let sum = 0;
    for (let e = 0; e < mesh.tets.length; e += 4) {
      const six = sixVolume(mesh.positions, mesh.tets[e]!, mesh.tets[e + 1]!, mesh.tets[e + 2]!, mesh.tets[e + 3]!);
      expect(six).toBeGreaterThan(0);
      sum += six / 6;
    }
    return sum;
  };
  fc.assert(
    fc.property(anyTets, fc.constantFrom(0, 1), fc.nat(1000), ({ points, tets, volume: expected }, base, shift) => {
      const node = `${points.length} 3 0 0\n${points.map((p, i) => `${i + base} ${p.join(" ")}`).join("\n")}\n`;
      const ele = `${tets.length} 4 0\n${tets.map((t, e) => `${e + base} ${t.map((v) => v + base).join(" ")}`).join("\n")}\n`;
      const read = tetgen(node, ele);
      expect([...read.positions]).toEqual(points.flat());
      expect(volume(read)).toBeCloseTo(expected, 6);
      const name = (i: number): number => 1 + shift + 3 * (points.length - i);
      const msh = `$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n${points.length}\n${points.map((p, i) => `${name(i)} ${p.join(" ")}`).join("\n")}\n$EndNodes\n$Elements\n${tets.length}\n${tets.map((t, e) => `${e + 1} 4 0 ${t.map(name).join(" ")}`).join("\n")}\n$EndElements\n`;
      const gmsh = importGmsh("a.msh", msh);
      if (gmsh.kind !== "tets") throw new Error("tetrahedra expected");
      expect(gmsh.tets).toEqual(read);
    }),
  );
});
