/** A small intact file and the importer of every mesh format. */
import { gzipSync } from "node:zlib";
import { importGmsh } from "../../server/meshing/importers/importGmsh.ts";
import { importObj } from "../../server/meshing/importers/importObj.ts";
import { importPly } from "../../server/meshing/importers/importPly.ts";
import { importStl } from "../../server/meshing/importers/importStl.ts";
import { stlOf } from "../server/meshing/objects/files.ts";
import { importTetgen } from "../../server/meshing/importers/importTetgen.ts";

const CORNERS = ["0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 1 1"];
const FACES = [
  [0, 2, 1],
  [0, 1, 3],
  [0, 3, 2],
  [1, 2, 3],
];
const PLY_HEAD = (format: string): string =>
  `ply\nformat ${format} 1.0\ncomment a tetrahedron\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int vertex1\nend_header\n`;

function binaryPly(little: boolean): Uint8Array {
  const body = new DataView(new ArrayBuffer(4 * 13 + 4 * 13 + 4));
  let at = 0;
  for (const corner of CORNERS.slice(0, 4)) {
    for (const c of corner.split(" ")) body.setFloat32((at += 4) - 4, Number(c), little);
    body.setUint8(at++, 200);
  }
  for (const face of FACES) {
    body.setUint8(at++, 3);
    for (const v of face) body.setInt32((at += 4) - 4, v, little);
  }
  return Buffer.concat([
    Buffer.from(PLY_HEAD(little ? "binary_little_endian" : "binary_big_endian")),
    new Uint8Array(body.buffer),
  ]);
}

const NODE = `# nodes\n5 3 1 1\n${CORNERS.map((c, i) => `${i + 1} ${c} 7.5 1`).join("\n")}\n`;
const ELE = "2 4 0\n1 1 2 3 4\n2 2 3 4 5\n";
export const text = (content: string): Uint8Array => Buffer.from(content);

export interface Format {
  name: string;
  /** Intact. */
  file: Uint8Array;
  read: (bytes: Uint8Array) => { positions: Float64Array; corners: Uint32Array };
}
const surface = ({ positions, triangles }: { positions: Float64Array; triangles: Uint32Array }) => ({
  positions,
  corners: triangles,
});
const TETRAHEDRON = {
  positions: Float64Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1),
  triangles: Uint32Array.of(0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3),
};
const stl = (bytes: Uint8Array) => surface(importStl("a.stl", bytes));
const ply = (bytes: Uint8Array) => surface(importPly("a.ply", bytes));
export const FORMATS: readonly Format[] = [
  {
    name: "obj",
    file: text(
      `# cube\no thing\n${CORNERS.slice(0, 4)
        .map((c) => `v ${c}`)
        .join("\n")}\nvt 0 0\nvn 0 0 1\nf 1/1/1 3/1/1 2/1/1\nf 1 2 4\nf -4 -1 -2\nf 2//1 3//1 \\\n 4//1\n`,
    ),
    read: (bytes) => surface(importObj("a.obj", bytes)),
  },
  {
    name: "ply, ASCII",
    file: text(
      `${PLY_HEAD("ascii")}${CORNERS.slice(0, 4)
        .map((c) => `${c} 200`)
        .join("\n")}\n${FACES.map((f) => `3 ${f.join(" ")}`).join("\n")}\n0\n`,
    ),
    read: ply,
  },
  { name: "ply, little-endian", file: binaryPly(true), read: ply },
  { name: "ply, big-endian", file: binaryPly(false), read: ply },
  { name: "ply.gz", file: gzipSync(binaryPly(true)), read: ply },
  { name: "stl, ASCII", file: stlOf(TETRAHEDRON, false), read: stl },
  { name: "stl, binary", file: stlOf(TETRAHEDRON, true), read: stl },
  { name: "node", file: text(NODE), read: (node) => tets(node, text(ELE)) },
  { name: "ele", file: text(ELE), read: (ele) => tets(text(NODE), ele) },
  {
    name: "msh",
    file: text(
      `$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n${CORNERS.map((c, i) => `${10 + i} ${c}`).join("\n")}\n$EndNodes\n$Elements\n3\n1 2 2 0 1 10 11 12\n2 4 2 0 1 10 11 12 13\n3 4 2 0 1 11 12 13 14\n$EndElements\n`,
    ),
    read: (bytes) => {
      const loaded = importGmsh("a.msh", bytes);
      return loaded.kind === "tets"
        ? { positions: loaded.tets.positions, corners: loaded.tets.tets }
        : surface(loaded.surface);
    },
  },
];

function tets(node: Uint8Array, ele: Uint8Array): { positions: Float64Array; corners: Uint32Array } {
  const mesh = importTetgen({ nodeFile: "a.node", node, eleFile: "a.ele", ele });
  return { positions: mesh.positions, corners: mesh.tets };
}
