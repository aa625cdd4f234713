/**
 * Files that people reported against other readers (three.js, assimp, trimesh, MeshLab, tinyobjloader), rebuilt. A
 * scene's file and an upload must both give the described surface.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXTMeshoptCompression } from "@gltf-transform/extensions";
import { expect, test } from "vitest";
import { loadMeshFile } from "../../../server/meshing/importers/loadMeshFile.ts";
import type { SurfaceMesh } from "../../../server/meshing/mesh.ts";
import type { MeshNote } from "../../../server/meshing/meshNotes.ts";
import { readObjectFile } from "../../../server/meshing/objects/readObjectFile.ts";
import { volumeOf } from "./objects/checkFile.ts";
import { prepareSurface } from "../../../server/meshing/objects/prepareSurface.ts";
import { boundarySurface, surfaceTopology } from "../../../server/meshing/surface/boundary.ts";
import { documentOf, glb, glbOf, io, jsonOf, objOf, plyOf, stlOf } from "./objects/files.ts";
import { mendSurface } from "../../../server/meshing/objects/mendSurface.ts";
import { tetrahedralize } from "../../../server/meshing/tetrahedra/tetrahedralize.ts";
import { box, flipped, patch, together } from "./objects/wildShapes.ts";
import { testFolder } from "../../support/testFolder.ts";

const folder = testFolder("reported");

interface Described {
  /** Area of a sheet, or volume of a solid. */
  size: number;
  notes?: MeshNote["code"][];
}
type Case = readonly [string, string, string | Uint8Array, Described];

const SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
const sheet: Described = { size: 1 };
const OBJ: Case[] = [
  ["no newline at the end", "a.obj", `${SQUARE}f 1 2 3 4`, sheet],
  ["CRLF and a continued line", "a.obj", `${SQUARE}f 1 2 \\\n3 4\n`.replaceAll("\n", "\r\n"), sheet],
  ["a comment that ends with a backslash", "a.obj", `# C:\\models\\\n${SQUARE}f 1 2 3 4\n`, sheet],
  [
    "vertices between faces, counted back (trimesh 2364)",
    "a.obj",
    `${SQUARE}f -4 -3 -2 -1\n${SQUARE.replaceAll(/v (.)/g, "v 2$1")}f -4 -3 -2 -1\n`,
    { size: 2, notes: ["PIECES"] },
  ],
  ["weights", "a.obj", `${SQUARE.replaceAll(" 0\n", " 0 2.0\n")}f 1 2 3 4\n`, sheet],
  ["a group named like a face (trimesh 1829)", "a.obj", `g An f Three Other Thing\n${SQUARE}f 1 2 3 4\n`, sheet],
  ["a polygon with repeated vertices", "a.obj", `${SQUARE}f 1 2 2 3 4 4\n`, sheet],
  [
    "faces of one and two corners",
    "a.obj",
    `${SQUARE}f 1 2\nf 3\nf\nf 1 2 3 4\n`,
    { size: 1, notes: ["POLYGONS_FLAT"] },
  ],
  [
    "exponents, signs and bare points",
    "a.obj",
    "v 0E0 .0 0.\nv 1.e0 -0 +0\nv +1 1.0E+000 0\nv 0 10e-1 0\nf 1 2 3 4",
    sheet,
  ],
  ["a vertex without numbers that no face uses", "a.obj", `${SQUARE}v nan -inf 1.#QNAN\nf 1 2 3 4`, sheet],
  ["NaN as colors", "a.obj", `${SQUARE.replaceAll(" 0\n", " 0 nan nan nan\n")}f 1 2 3 4`, sheet],
  [
    "corners in all four forms, with a normal for each face (trimesh 2154)",
    "a.obj",
    `${SQUARE}vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\nvn 0 0.1 1\nf 1/1/1 2//1 3/3\nf 1/2/2 3/4/2 4\n`,
    sheet,
  ],
  [
    "a comb with corners on its lines (tinyobjloader 295)",
    "a.obj",
    "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\nv 5 0 0\nv 5 2 0\nv 4 2 0\nv 4 1 0\nv 3 1 0\nv 3 2 0\nv 2 2 0\n" +
      "v 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 1 0\nf 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
    { size: 8 },
  ],
  [
    "lines, points and curves beside the faces",
    "a.obj",
    `${SQUARE}vp 0.5\np 1 2\nl 1 2 3\ncstype bezier\ndeg 3\nf 1 2 3 4\nend\n`,
    sheet,
  ],
  [
    "tabs, and spaces before keywords",
    "a.obj",
    `${SQUARE}f 1 2 3 4\n`.replaceAll(" ", "\t").replaceAll("v", "  v"),
    sheet,
  ],
  ["empty references after slashes (tinyobjloader)", "a.obj", `${SQUARE}f 1// 2// 3/ 4\n`, sheet],
  ["a comment behind a face (trimesh)", "a.obj", `${SQUARE}f 1 2 3 4 # wall f 1 2\n`, sheet],
  ["a byte order mark", "a.obj", `\ufeff${SQUARE}f 1 2 3 4\n`, sheet],
  ["face outlines of old files", "a.obj", `${SQUARE}fo 1 2 3 4\n`, sheet],
  ["faces before their vertices", "a.obj", `f 1 2 3 4\n${SQUARE}`, sheet],
  ["a normal in the place of the texture (assimp 3627)", "a.obj", `${SQUARE}vn 0 0 1\nf 1/1 2/1 3/1 4/1\n`, sheet],
  ["UTF-16", "a.obj", Buffer.from(`\ufeff${SQUARE}f 1 2 3 4`, "utf16le"), sheet],
  ["blanks behind the backslash of a continued line (Cinder 1129)", "a.obj", `${SQUARE}f 1 2 \\ \t\n3 4\n`, sheet],
  ["names in Latin-1", "a.obj", Buffer.from(`o W\xfcrfel\n${SQUARE}f 1 2 3 4`, "latin1"), sheet],
  ["indices of both signs in a face", "a.obj", `${SQUARE}f 1 -3 3 -1\n`, sheet],
  ["a polygon that runs round three times (Easy3D 101)", "a.obj", `${SQUARE}f ${"1 2 3 4 ".repeat(3)}\n`, sheet],
  ["normals that the file does not have (assimp 755)", "a.obj", `${SQUARE}f 1//9 2//9 3//9 4//9\n`, sheet],
  ["a huge texture coordinate (assimp 805)", "a.obj", `${SQUARE}vt 6.8e27 0 7.6e27\nvt 1e99 0\nf 1/1 2/2 3/1 4/1\n`, sheet], // biome-ignore format: one line
  ["names with blanks (NifSkope 41)", "a.obj", `mtllib my file.mtl\n${SQUARE}usemtl f 1 2 3\nf 1 2 3 4\n`, sheet],
  [
    "coordinates of a survey (Open3D 6525, CloudCompare 232)",
    "a.obj",
    `${SQUARE.replaceAll(/v (\d) (\d)/g, "v 65200$1.125 480000$2.5")}f 1 2 3 4\n`,
    sheet,
  ],
  ["a vertex far away that no face uses", "a.obj", `${SQUARE}v 1e6 1e6 1e6\nf 1 2 3 4\n`, sheet],
];

const head = (vertices: number, faces: number, list = "uchar int", format = "ascii"): string =>
  `ply\nformat ${format} 1.0\nelement vertex ${vertices}\nproperty float x\nproperty float y\nproperty float z\n` +
  `element face ${faces}\nproperty list ${list} vertex_indices\nend_header\n`;
const POINTS = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
const ASCII = `${head(4, 1)}${POINTS}4 0 1 2 3\n`;
/** A square in big-endian numbers with byte indices, and a vertex without numbers that no face uses. */
function gaps(): Uint8Array {
  const body = new DataView(new ArrayBuffer(65));
  [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, Number.NaN, Infinity, 0].forEach((x, i) => body.setFloat32(4 * i, x, false));
  [4, 0, 1, 2, 3].forEach((v, i) => body.setUint8(60 + i, v));
  return Buffer.concat([Buffer.from(head(5, 1, "uchar uchar", "binary_big_endian")), new Uint8Array(body.buffer)]);
}
/** A square in little-endian numbers; the first byte of its data is given. */
const quad = (byte: number): Uint8Array => {
  const body = new DataView(new ArrayBuffer(65));
  [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0].forEach((x, i) => body.setFloat32(4 * i, x, true));
  [0, 1, 2, 3].forEach((v, i) => body.setInt32(49 + 4 * i, v, true));
  body.setUint8(48, 4);
  body.setUint8(0, byte);
  return new Uint8Array(body.buffer);
};
/** A square in big-endian float64, with a list before the coordinates of each vertex and 16-bit indices. */
function wide(): Uint8Array {
  const body = new DataView(new ArrayBuffer(4 * (3 + 24) + 10));
  [[0, 0], [1, 0], [1, 1], [0, 1]].forEach((point, v) => {
    body.setUint8(27 * v, 1);
    point.forEach((x, k) => body.setFloat64(27 * v + 3 + 8 * k, x, false));
    body.setUint16(108 + 2 + 2 * v, v, false);
  }); // biome-ignore format: one line
  body.setUint16(108, 4, false);
  const text = head(4, 1, "ushort ushort", "binary_big_endian").replaceAll("float", "double");
  return Buffer.concat([
    Buffer.from(text.replace("property double x", "property list uchar short id\nproperty double x")),
    new Uint8Array(body.buffer),
  ]);
}
const BINARY = head(4, 1, "uchar int", "binary_little_endian");
const lineEnds = (end: string, byte: number): Uint8Array =>
  Buffer.concat([Buffer.from(BINARY.replaceAll("\n", end)), quad(byte)]);
const longList = (): Uint8Array =>
  Buffer.concat([
    Buffer.from(BINARY.replace("element face", "element track 1\nproperty list ushort float mark\nelement face")),
    quad(0).subarray(0, 48),
    new Uint8Array(Uint16Array.of(300).buffer),
    new Uint8Array(1200),
    quad(0).subarray(48),
  ]);
const PLY: Case[] = [
  ["CRLF", "a.ply", ASCII.replaceAll("\n", "\r\n"), sheet],
  ["carriage returns alone", "a.ply", ASCII.replaceAll("\n", "\r"), sheet],
  ["a byte order mark", "a.ply", `\ufeff${ASCII}`, sheet],
  [
    "a comment that names the end of the header, and spaces behind lines (Open3D)",
    "a.ply",
    ASCII.replace("element vertex 4", "comment end_header follows\nobj_info end_header\nelement vertex 4  "),
    sheet,
  ],
  [
    "types by size, and an element between (MeshLab, trimesh)",
    "a.ply",
    `${head(4, 1, "uint8 int32").replaceAll("float", "float64").replace("element face", "element material 2\nproperty list uint8 float32 shade\nproperty int8 id\nelement face")}${POINTS}2 0.5 0.5 1\n0 7\n4 0 1 2 3\n`,
    sheet,
  ],
  [
    "flags and colors behind the indices (VCGLIB)",
    "a.ply",
    `${head(4, 1).replace("end_header", "property int flags\nproperty list uchar float texcoord\nend_header")}${POINTS}4 0 1 2 3 64 2 0.5 0.5\n`,
    sheet,
  ],
  ["UTF-16", "a.ply", Buffer.from(`\ufeff${ASCII}`, "utf16le"), sheet],
  ["float counts and indices", "a.ply", `${head(4, 1, "float float")}${POINTS}4.0 0.0 1.0 2.0 3.0`, sheet],
  ["ushort counts (MeshLab 290)", "a.ply", `${head(4, 1, "ushort uint")}${POINTS}4 0 1 2 3`, sheet],
  ["Fortran exponents", "a.ply", ASCII.replaceAll("1 0 0", "1.0D+00 0 0"), sheet],
  ["deleted faces", "a.ply", `${head(4, 3)}${POINTS}0\n2 0 1\n4 0 1 2 3`, { size: 1, notes: ["POLYGONS_FLAT"] }],
  [
    "texture coordinates in a list before the indices (three.js PLYLoader)",
    "a.ply",
    `${head(4, 1).replace("property list uchar int vertex_indices", "property list uchar float texcoord\nproperty list uchar int vertex_index")}${POINTS}8 0 0 1 0 1 1 0 1 4 0 1 2 3\n`,
    sheet,
  ],
  ["gaps of a depth camera", "a.ply", `${head(5, 1)}nan nan nan\n${POINTS}4 1 2 3 4`, sheet],
  ["gaps of a depth camera, big-endian, byte indices", "a.ply", gaps(), sheet],
  ["binary data behind line ends of two characters (three.js 26229)", "a.ply", lineEnds("\n\r", 0), sheet],
  ["binary data that begin with a line feed, behind carriage returns", "a.ply", lineEnds("\r", 0x0a), sheet],
  ["a blank line between vertices and faces (three.js 18049)", "a.ply", ASCII.replace("0 1 0\n4", "0 1 0\n\n4"), sheet],
  ["blank lines at the end (FabScanPi 133)", "a.ply", `${ASCII}\n\n`, sheet],
  [
    "a face without corners whose line goes on (assimp 2864)",
    "a.ply",
    `${head(4, 2)}${POINTS}0 4 0 1 2 3`,
    { size: 1, notes: ["POLYGONS_FLAT"] },
  ],
  [
    "faces before vertices",
    "a.ply",
    `ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nend_header\n4 0 1 2 3\n${POINTS}`,
    sheet,
  ],
  ["float64, big-endian, behind a list (PlayCanvas 198, PlyImporter 4)", "a.ply", wide(), sheet],
  ["a list of 300 numbers between (MeshLab 1126)", "a.ply", longList(), sheet],
  [
    "strips of triangles, which begin again behind -1 and turn at doubled corners (assimp 6296, VTK)",
    "a.ply",
    `${head(4, 1, "int int").replace("element face", "element tristrips")}${POINTS}12 0 1 2 2 -1 -1 2 3 0 0 -1 1`,
    sheet,
  ],
];

const cube = box(1, 1, 1);
const LATER = glb({ asset: { version: "2.1", minVersion: "2.1" } });
const solid: Described = { size: 1 };
/** A binary file with this header, and bytes behind its facets. */
function headed(header: string, behind: number): Uint8Array {
  const bytes = Buffer.concat([stlOf(cube, true), new Uint8Array(behind)]);
  bytes.fill(0, 0, 80);
  bytes.write(header, 0, 80, "latin1");
  return bytes;
}
/** A binary file whose attributes are colors. */
function colored(): Uint8Array {
  const bytes = headed("COLOR=\xff\x00\x00\xffMATERIAL=", 0);
  for (let at = 84 + 48; at < bytes.length; at += 50) bytes.set([0xff, 0x83], at);
  return bytes;
}
function uncounted(): Uint8Array {
  const bytes = headed("streamed", 0);
  bytes.fill(0, 80, 84);
  return bytes;
}
const text = Buffer.from(stlOf(cube, false)).toString();
/** Sphere as three.js makes it: a seam, and poles of many vertices, apart by the rounding of sine and cosine. */
const threeSphere = flipped(
  patch(8, (u, v) => {
    const [a, b] = [2 * Math.PI * u, Math.PI * v];
    return [-Math.cos(a) * Math.sin(b), Math.cos(b), Math.sin(a) * Math.sin(b)];
  }),
);
const inOneLine = text.replaceAll("\n", " ");
const STL: Case[] = [
  ["all in one line (three.js, trimesh)", "a.stl", inOneLine, solid],
  ["a facet a line", "a.stl", text.replaceAll(/\n(?!facet|endsolid)/g, " "), solid],
  [
    "commas between numbers, and a name of keywords (meshio 641)",
    "a.stl",
    text.replaceAll(/(vertex \S+) (\S+)/g, "$1, $2,").replace("solid a", "solid facet normal of a vertex"),
    solid,
  ],
  ["keywords in two words (numpy-stl 206, MeshLab 194)", "a.stl", text.replaceAll(/^end(\w+)/gm, "end $1"), solid],
  ["no space behind endsolid (assimp 3756)", "a.stl", text.replace("endsolid a", "endsolida"), solid],
  ["exponents without a point (three.js 13612)", "a.stl", text.replaceAll("0.5", "5e-1"), solid],
  ["a binary header like text (jsc3d 2)", "a.stl", headed("solid facet normal 0 0 0", 0), solid],
  ["a binary header like text, and bytes behind", "a.stl", headed("solid plate\n facet normal 0 0 0", 5), solid],
  ["a binary header like a byte order mark", "a.stl", headed("\xff\xfesolid", 0), solid],
  ["a name of other letters (three.js 10883)", "a.stl", text.replace("solid a", "solid 穿山甲 #1"), solid],
  ["normals without numbers", "a.stl", text.replaceAll("normal 0 0 0", "normal -nan(ind) inf 0"), solid],
  [
    "two solids in a file (assimp, PrusaSlicer)",
    "a.stl",
    `${text}${text.replace("solid a", "solid b").replaceAll(/vertex (\S+)/g, (_all, x: string) => `vertex ${Number(x) + 5}`)}`,
    // A solid's pieces are told when it has its tetrahedra.
    { size: 2 },
  ],
  ["no end of the solid, tabs, CRLF", "a.stl", text.replace("endsolid a\n", "").replaceAll("\n", "\r\n\t"), solid],
  ["a count of 0, which a streaming program left", "a.stl", uncounted(), solid],
  ["colors in header and attributes (Magics, VisCAM)", "a.stl", colored(), solid],
  ["a comment before the solid, a signature behind it", "a.stl", `\n# written by hand\n${text}#signature 1\n`, solid],
  ["a blank before the first word (numpy-stl 156)", "a.stl", ` ${text}`, solid],
  ["exponents of rounding (numpy-stl 52, OpenSTL 25)", "a.stl", text.replaceAll("0.5", "5.000000e-01"), solid],
  ["each facet twice", "a.stl", text.replace(/^(solid.*\n)([^]*)(endsolid.*)$/, "$1$2$2$3"), solid],
  ["UTF-16", "a.stl", Buffer.from(`\ufeff${text}`, "utf16le"), solid],
  [
    "a corner that differs by the rounding of float32 (warp 1369)",
    "a.stl",
    text.replace("vertex -0.5 -0.5 -0.5", "vertex -0.50000003 -0.5 -0.5"),
    { size: 1, notes: ["BORDERS_JOINED"] },
  ],
];

test.each([...OBJ, ...PLY, ...STL])("%s: %s", async (_, name, bytes, described) => checkBoth(name, bytes, described));

/** Reads a file as a scene's and as an upload. */
async function checkBoth(name: string, bytes: string | Uint8Array, { size, notes = [] }: Described): Promise<void> {
  writeFileSync(join(folder, name), bytes);
  const isSheet = !/\.(stl|glb)$/.test(name);
  const scene = await loadMeshFile(join(folder, name), isSheet ? "cloth" : "soft");
  if (scene.kind !== "surface") throw new Error("no surface");
  const upload = await readObjectFile(Buffer.from(bytes), name);
  for (const { positions, triangles } of [scene.surface, upload.surface])
    expect(isSheet ? areaOf(positions, triangles) : volumeOf({ positions, triangles })).toBeCloseTo(size, 6);
  expect(scene.notes.map(({ code }) => code)).toEqual(notes);
}

/** Area of flat triangles in planes of equal z. */
function areaOf(x: ArrayLike<number>, triangles: ArrayLike<number>): number {
  let twice = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]!) as [number, number, number];
    const [ux, uy, vx, vy] = [x[b]! - x[a]!, x[b + 1]! - x[a + 1]!, x[c]! - x[a]!, x[c + 1]! - x[a + 1]!];
    twice += Math.abs(ux * vy - uy * vx);
  }
  return twice / 2;
}

test.each<[string, (json: Record<string, any>) => void, string]>([
  ["JSON padded with zeros", () => {}, "\0"],
  ["a matrix that turns (glTF-Sample-Viewer 185)", (json) => (json.nodes[0].matrix = [0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 9, 8, 7, 1]), ""], // biome-ignore format: one line
  ["a last row of rounded numbers", (json) => (json.nodes[0].matrix = [1, 0, 0, 1e-9, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 0.9999999]), ""], // biome-ignore format: one line
  ["a scene that lists a child, too", (json) => (json.nodes = [{ children: [1] }, { mesh: 0 }]), ""],
  ["targets without a buffer view (three.js 24838)", addTarget, ""],
  ["a mirrored node", (json) => (json.nodes[0].scale = [1, -1, 1]), ""],
  ["a second scene that is not shown", (json) => json.scenes.push({ nodes: [0, 0] }), ""],
  ["a mesh without a node", (json) => json.meshes.push(structuredClone(json.meshes[0])), ""],
  ["a position accessor without bounds (three.js)", withoutBounds, ""],
  ["extras, and a camera beside the mesh", withExtras, ""],
  ["indices that end within a triangle", (json) => json.accessors[json.meshes[0].primitives[0].indices].count--, ""],
  ["a stride of 0 (cesium-native 751, Online3DViewer 59)", zeroStride, ""],
  ["a node of scale 0 beside", (json) => json.scenes[0].nodes.push(json.nodes.push(FAR) - 1), ""],
  ["a scale of -1 with a rotation (assimp 4976)", (json) => Object.assign(json.nodes[0], TURNED), ""],
  ["the least version of its reader", (json) => (json.asset.minVersion = "2.0"), ""],
  ["a rotation that is not normalized (glTF-Validator)", (json) => (json.nodes[0].rotation = [0, 0, 0.5, 0.5]), ""],
])("GLB: %s", async (name, change, padding) => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  change(json);
  if (name.includes("child")) json.scenes = [{ nodes: [0, 1] }];
  const open = name.includes("end within");
  const second: MeshNote["code"][] = json.scenes.length > 1 ? ["SCENES_IGNORED"] : [];
  const cameras: MeshNote["code"][] = json.cameras ? ["CAMERAS_IGNORED"] : second;
  const dropped: MeshNote["code"][] = json.nodes[1]?.scale ? ["TRIANGLES_DROPPED"] : cameras;
  const notes: MeshNote["code"][] = open ? ["HOLES"] : dropped;
  const content = JSON.stringify(json);
  const padded = content + padding.repeat(8 - (content.length % 4));
  await checkBoth("a.glb", glb(padded, binary), { size: open ? 11 / 12 : 1, notes });
});

/** A part that an animation has not shown yet. It must not count in the size of the model. */
const FAR = { mesh: 0, scale: [0, 0, 0], translation: [100, 0, 0] };
const TURNED = { scale: [-1, -1, -1], rotation: [0.987344, 0, -0.158593, 0], translation: [3, 0.5, -2] };

function zeroStride(json: Record<string, any>): void {
  for (const view of json.bufferViews) view.byteStride = 0;
}

function addTarget(json: Record<string, any>): void {
  json.accessors.push({ componentType: 5126, type: "VEC3", count: 8 });
  json.meshes[0].primitives[0].targets = [{ POSITION: json.accessors.length - 1 }];
  json.meshes[0].weights = [0.5];
}

function withExtras(json: Record<string, any>): void {
  json.extras = { deep: [[[{}]]] };
  json.nodes.push({ camera: 0, extras: null });
  json.cameras = [{ type: "perspective", perspective: { yfov: 1, znear: 0.1 } }];
}

function withoutBounds(json: Record<string, any>): void {
  for (const accessor of json.accessors) {
    delete accessor.min;
    delete accessor.max;
  }
}

// tinygltf 511, three.js forum: exporters that list their matrices row by row, which moved nothing without a word.
test.each<[string, number[], string]>([
  ["row by row", [1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7, 0, 0, 0, 1], "stand row by row, glTF has them column by column"],
  ["of a projection", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -1, 0, 0, 2, 0], "0 0 0 1 is needed as its last row"],
])("GLB: a matrix %s is refused, and the refusal names it", async (_, matrix, reason) => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  json.nodes[0].matrix = matrix;
  await expect(readObjectFile(Buffer.from(glb(json, binary)), "a.glb")).rejects.toThrow(`/nodes/0/matrix is ${[3, 7, 11, 15].map((i) => matrix[i]).join(" ")}`); // biome-ignore format: one line
  await expect(readObjectFile(Buffer.from(glb(json, binary)), "a.glb")).rejects.toThrow(reason);
});

// glTF 1345, glTF-Validator 226, gltflib 1: other readers open these files.
test("GLB and glTF with a byte order mark, a name in Latin-1 or an empty binary chunk are read", async () => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  const named = { ...json, nodes: [{ ...json.nodes[0], name: "\u00a3" }] };
  const latin1 = Buffer.from(JSON.stringify(named), "latin1");
  await checkBoth("a.glb", glb(`\ufeff${JSON.stringify(json)}`, binary), { size: 1 });
  await checkBoth("a.glb", glb(latin1, binary), { size: 1 });
  const uri = `data:application/octet-stream;base64,${Buffer.from(binary).toString("base64")}`;
  const inside = { ...json, buffers: [{ byteLength: binary.length, uri }] };
  await checkBoth("a.glb", glb(inside, new Uint8Array(0)), { size: 1 });
  const bytes = Buffer.from(`\ufeff${JSON.stringify(inside)}`);
  const { surface } = await readObjectFile(bytes, "a.gltf");
  expect(volumeOf(surface)).toBeCloseTo(1, 6);
});

test.each<[string, string, string | Uint8Array, string]>([
  ["an STL file without facets (trimesh 95)", "b.stl", "solid Empty\nendsolid Empty", "vertex count is 0"],
  [
    "an STL facet with a fourth corner (numpy-stl 37)",
    "b.stl",
    text.replace("endloop", "vertex 1 1 1\nendloop"),
    "facet",
  ],
  ["a glTF of a later version (glTF 2.0, 3.2)", "b.glb", LATER, "minVersion"],
  [
    "an OBJ file under another name",
    "b.stl",
    `# a square of one meter, in the plane z = 0, of two triangles\n${SQUARE}f 1 2 3 4\n`,
    "vertex count is 0",
  ],
])("%s is refused, and the refusal names the reason", async (_, name, bytes, reason) => {
  writeFileSync(join(folder, name), bytes);
  await expect(readObjectFile(Buffer.from(bytes), name)).rejects.toThrow(reason);
  await expect(loadMeshFile(join(folder, name), "soft")).rejects.toThrow(reason);
});

// meshoptimizer 966, three.js 32163
test("GLB: KHR_meshopt_compression is read like its predecessor", async () => {
  const { document } = documentOf(cube);
  document.createExtension(EXTMeshoptCompression).setRequired(true);
  const { json, binary } = await jsonOf(document);
  const text = JSON.stringify(json);
  expect(text).toContain("EXT_meshopt_compression");
  await checkBoth("a.glb", glb(text.replaceAll("EXT_meshopt", "KHR_meshopt"), binary), { size: 1 });
});

// three.js 33401: a strip that restarts would become wrong triangles.
test.each(["KHR_mesh_primitive_restart", "EXT_mesh_primitive_restart", "MSFT_lod"])(
  "GLB: the required extension %s is not known, and the refusal names it",
  async (name) => {
    const { json, binary } = await jsonOf(documentOf(cube).document);
    const content = JSON.stringify({ ...json, extensionsUsed: [name], extensionsRequired: [name] });
    const bytes = glb(content, binary);
    writeFileSync(join(folder, "b.glb"), bytes);
    await expect(readObjectFile(Buffer.from(bytes), "b.glb")).rejects.toThrow(name);
    await expect(loadMeshFile(join(folder, "b.glb"), "soft")).rejects.toThrow(name);
  },
);

// Godot 106722, JoltPhysics.js 206: soft bodies of such spheres burst at their seam, or have faces without area.
test.each([
  ["a.obj", objOf(threeSphere)],
  ["a.ply", plyOf(threeSphere, "binary_little_endian")],
  ["a.stl", stlOf(threeSphere, true)],
  ["a.glb", await glbOf(threeSphere)],
])("a sphere of three.js is closed: %s", async (name, bytes) => {
  writeFileSync(join(folder, name), bytes);
  const { surface, notes } = (await loadMeshFile(join(folder, name), "soft")) as { surface: SurfaceMesh } & {
    notes: MeshNote[];
  };
  const upload = await readObjectFile(Buffer.from(bytes), name);
  for (const { triangles, positions } of [surface, upload.surface]) {
    expect(surfaceTopology(triangles)).toMatchObject({ vertices: 58, openEdges: 0, euler: 2 });
    expect(volumeOf({ positions, triangles })).toBeCloseTo(3.6277, 4);
  }
  expect(notes.map(({ code }) => code)).not.toContain("HOLES");
});

test("GLB: a node of scale 0 far away does not change the size of an upload", async () => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  json.scenes[0].nodes.push(json.nodes.push(FAR) - 1);
  const file = await readObjectFile(Buffer.from(glb(json, binary)), "a.glb");
  const { detail } = await prepareSurface(file, { role: "collider", size: 0.5, particles: 100 });
  expect(Math.max(...detail)).toBe(0.5);
});

test.each([
  [5121, Uint8Array],
  [5123, Uint16Array],
  [5125, Uint32Array],
])("GLB: all positions in a sparse accessor (Godot 76875), with indices of type %i", async (componentType, List) => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  const { POSITION } = json.meshes[0].primitives[0].attributes;
  const { bufferView, byteOffset = 0, ...accessor } = json.accessors[POSITION];
  const indices = new List([0, 1, 2, 3, 4, 5, 6, 7]);
  const padded = Buffer.concat([binary, new Uint8Array((4 - (binary.length % 4)) % 4)]);
  json.bufferViews.push({ buffer: 0, byteOffset: padded.length, byteLength: indices.byteLength });
  const values = { bufferView, byteOffset };
  accessor.sparse = { count: 8, indices: { bufferView: json.bufferViews.length - 1, componentType }, values };
  json.accessors[POSITION] = accessor;
  const bytes = (): Uint8Array => glb(json, Buffer.concat([padded, new Uint8Array(indices.buffer)]));
  json.buffers[0].byteLength = padded.length + indices.byteLength;
  await checkBoth("a.glb", bytes(), { size: 1 });
  // An index beyond the accessor names nothing: its vertex would be lost.
  indices[3] = 8;
  const refusal = /sparse\/indices, entry 3.* 8,? the accessor has 8 elements/;
  await expect(readObjectFile(Buffer.from(bytes()), "a.glb")).rejects.toThrow(refusal);
});

// glTF 2.0, 3.7.2.1: the winding follows the determinant of the transform; that of a skin is its bones'.
test("GLB: bones that mirror do not turn a model inside out", async () => {
  const made = documentOf(patch(2, (u, v) => [u, 0, v]));
  const bone = made.document.createNode().setScale([-1, 1, 1]);
  const joints = made.accessor("VEC4", new Uint8Array(36));
  const weights = made.accessor("VEC4", Float32Array.from({ length: 36 }, (_, i) => (i % 4 ? 0 : 1))); // biome-ignore format: one line
  made.primitive.setAttribute("JOINTS_0", joints).setAttribute("WEIGHTS_0", weights);
  made.scene.addChild(bone);
  made.node.setSkin(made.document.createSkin().addJoint(bone));
  const up = (file: { surface: SurfaceMesh }): number => {
    const { positions: x, triangles } = file.surface;
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[k]!) as [number, number, number];
    return Math.sign((x[b + 2]! - x[a + 2]!) * (x[c]! - x[a]!) - (x[b]! - x[a]!) * (x[c + 2]! - x[a + 2]!));
  };
  const plain = await readObjectFile(await glbOf(patch(2, (u, v) => [u, 0, v])), "a.glb");
  const posed = await readObjectFile(await (await io()).writeBinary(made.document), "a.glb");
  expect(up(posed)).toBe(up(plain));
});

/** Appends an accessor to a document in JSON. @returns its number */
type Append = (
  values: Float32Array | Int16Array | Int8Array | Uint16Array | Uint8Array,
  type: string,
  more?: object,
) => number;
const TYPES = new Map<unknown, number>([[Float32Array, 5126], [Int16Array, 5122], [Uint16Array, 5123], [Int8Array, 5120], [Uint8Array, 5121]]); // biome-ignore format: one line
/** A cube that is skinned by bones of these scales; for each, the weights of JOINTS_n. */
const skinned =
  (scales: readonly number[], weights: readonly number[]) => (json: Record<string, any>, append: Append) => {
    const { attributes } = json.meshes[0].primitives[0];
    weights.forEach((weight, n) => {
      attributes[`JOINTS_${n}`] = append(Uint8Array.from({ length: 32 }, () => n), "VEC4"); // biome-ignore format: one line
      attributes[`WEIGHTS_${n}`] = append(Float32Array.from({ length: 32 }, (_, i) => (i % 4 ? 0 : weight)), "VEC4"); // biome-ignore format: one line
    });
    for (const scale of scales) json.scenes[0].nodes.push(json.nodes.push({ scale: [scale, scale, scale] }) - 1);
    json.skins = [{ joints: scales.map((_, n) => n + 1) }];
    Object.assign(json.nodes[0], { skin: 0, scale: [10, 10, 10] });
  };
const target = (weights: object) => (json: Record<string, any>, append: Append) => {
  json.meshes[0].primitives[0].targets = [{ POSITION: append(Float32Array.from(cube.positions), "VEC3") }];
  Object.assign(json.meshes[0], { weights: [5] });
  Object.assign(json.nodes[0], weights);
};
test.each<[string, number, (json: Record<string, any>, append: Append) => void, MeshNote["code"][]]>([
  ["a skin replaces its node's transform (glTF 2.0, 3.7.3.3)", 8, skinned([2], [1]), ["POSED"]],
  ["eight bones for a vertex (GLTFUtility 1, Godot 56705)", 8, skinned([1, 3], [0.5, 0.5]), ["POSED"]],
  ["weights of targets at the node replace the mesh's", 8, target({ weights: [1] }), []],
  [
    "instances without the mesh itself (Babylon.js 8149)",
    2,
    (json, append) => {
      const TRANSLATION = append(Float32Array.of(5, 0, 0, 9, 0, 0), "VEC3");
      json.extensionsUsed = json.extensionsRequired = ["EXT_mesh_gpu_instancing"];
      json.nodes[0].extensions = { EXT_mesh_gpu_instancing: { attributes: { TRANSLATION } } };
    },
    [],
  ],
  [
    "unsigned positions that are not normalized, with a stride (Babylon-Lite 393)",
    27_000_000,
    (json, append) => {
      const values = Uint16Array.from({ length: 32 }, (_, i) => (i % 4 < 3 && cube.positions[3 * (i >> 2) + (i % 4)]! > 0 ? 300 : 0)); // biome-ignore format: one line
      json.meshes[0].primitives[0].attributes.POSITION = append(values, "VEC3", { count: 8 });
      json.bufferViews.at(-1).byteStride = 8;
      json.extensionsUsed = json.extensionsRequired = ["KHR_mesh_quantization"];
    },
    [],
  ],
  [
    "targets of other integers than the positions (three.js 17608, PlayCanvas 3431)",
    8,
    (json, append) => {
      const values = Int8Array.from({ length: 32 }, (_, i) => (i % 4 < 3 ? Math.sign(cube.positions[3 * (i >> 2) + (i % 4)]!) : 0)); // biome-ignore format: one line
      json.meshes[0].primitives[0].targets = [{ POSITION: append(values, "VEC3", { count: 8 }) }];
      json.bufferViews.at(-1).byteStride = 4;
      json.meshes[0].weights = [0.5];
      json.extensionsUsed = json.extensionsRequired = ["KHR_mesh_quantization"];
    },
    [],
  ],
  [
    "the least integer, which is -1, too, in quantized positions (KHR_mesh_quantization)",
    8,
    (json, append) => {
      const values = Int16Array.from(cube.positions, (x) => (x < 0 ? -32768 : 32767));
      const padded = Int16Array.from({ length: 32 }, (_, i) => (i % 4 < 3 ? values[3 * (i >> 2) + (i % 4)]! : 0));
      json.meshes[0].primitives[0].attributes.POSITION = append(padded, "VEC3", { count: 8, normalized: true });
      json.bufferViews.at(-1).byteStride = 8;
      json.extensionsUsed = json.extensionsRequired = ["KHR_mesh_quantization"];
    },
    [],
  ],
])("GLB: %s", async (_, size, change, notes) => {
  const { json, binary } = await jsonOf(documentOf(cube).document);
  let bytes = Buffer.from(binary);
  change(json, (values, type, more = {}) => {
    bytes = Buffer.concat([bytes, new Uint8Array((4 - (bytes.length % 4)) % 4)]);
    json.bufferViews.push({ buffer: 0, byteOffset: bytes.length, byteLength: values.byteLength });
    bytes = Buffer.concat([bytes, new Uint8Array(values.buffer)]);
    const componentType = TYPES.get(values.constructor);
    const count = values.length / Number(type.slice(3));
    return json.accessors.push({ bufferView: json.bufferViews.length - 1, componentType, type, count, ...more }) - 1;
  });
  json.buffers[0].byteLength = bytes.length;
  await checkBoth("a.glb", glb(json, bytes), { size, notes });
});

// Exporters write both sides of a wall, from any corner: Norbyte lslib 224, WoWbjectImporter 5.
test("OBJ and PLY: a sheet with both sides of its polygons has its mass once", async () => {
  const [l, square] = ["0 0 0\n1 0 0\n1 .5 0\n.5 .5 0\n.5 1 0\n0 1 0\n", "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"];
  const obj = (places: string): string => places.replaceAll(/^/gm, "v ").slice(0, -2);
  for (const [name, content, size] of [
    ["a.obj", `${obj(square)}f 1 2 3 4\nf 4 3 2 1\nf 2 3 4 1\n`, 1],
    ["b.obj", `${obj(square)}${obj(square)}f 1 2 3 4\nf 8 7 6 5\n`, 1],
    ["c.obj", `${obj(l)}f 1 2 3 4 5 6\nf 4 3 2 1 6 5\n`, 0.75],
    ["a.ply", `${head(4, 2)}${square}4 0 1 2 3\n4 2 1 0 3\n`, 1],
  ] as const) {
    writeFileSync(join(folder, name), content);
    const { surface } = (await loadMeshFile(join(folder, name), "cloth")) as { surface: SurfaceMesh };
    expect(areaOf(surface.positions, surface.triangles)).toBeCloseTo(size, 9);
    const upload = await readObjectFile(Buffer.from(content), name);
    const { surface: mended } = mendSurface(upload.surface);
    expect(areaOf(mended.positions, mended.triangles)).toBeCloseTo(size, 9);
  }
});

// Slic3r 1502, trimesh 1789 and 2082; Manifold 297 (a wall between two cells); T-junctions and common edges of CAD.
test.each<[string, SurfaceMesh, number]>([
  ["a hollow body", together(cube, flipped(box(0.5, 0.5, 0.5))), 7 / 8],
  ["a hollow body that is inside out", flipped(together(cube, flipped(box(0.5, 0.5, 0.5)))), 7 / 8],
  ["a body in a body", together(cube, box(0.5, 0.5, 0.5)), 1],
  ["a body in a body, inside out", flipped(together(cube, box(0.5, 0.5, 0.5))), 1],
  ["two cells with a wall between", together(cube, box(1, 1, 1, [1, 0, 0])), 2],
  ["two cubes with a common edge", together(cube, box(1, 1, 1, [1, 1, 0])), 2],
  ["overlapping cubes", together(cube, box(1, 1, 1, [0.5, 0, 0])), 1.5],
])("OBJ: %s is filled", async (_, surface, volume) => {
  writeFileSync(join(folder, "d.obj"), objOf(surface));
  const file = (await loadMeshFile(join(folder, "d.obj"), "soft")) as { surface: SurfaceMesh };
  const { mesh } = tetrahedralize(file.surface, { spacing: 0.125 });
  const filled = volumeOf({ positions: mesh.positions, triangles: boundarySurface(mesh) });
  // Only a common edge is rounded by the lattice: by less than a tetrahedron of it for each of its cells.
  expect(Math.abs(filled / volume - 1)).toBeLessThan(0.003);
});

test("OBJ: a decimal comma is refused with its line", async () => {
  const content = SQUARE.replace("1 1 0", "1,5 1 0");
  await expect(readObjectFile(Buffer.from(content), "a.obj")).rejects.toThrow(/line 3: v x is 1,5/);
});
