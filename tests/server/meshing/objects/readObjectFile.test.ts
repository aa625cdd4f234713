/** Every format, and every shape feature of glTF, gives the surface that the file describes. */
import { gzipSync } from "node:zlib";
import { EXTMeshGPUInstancing, EXTMeshoptCompression, KHRDracoMeshCompression } from "@gltf-transform/extensions";
import { describe, expect, test } from "vitest";
import { icosphere } from "../../../../server/meshing/generators.ts";
import { readObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";
import { boundsOf, checkFile, volumeOf } from "./checkFile.ts";
import { documentOf, glb, glbOf, gltf, io, jsonOf, objOf, plyOf, stlOf } from "./files.ts";
import { box, bumpySphere, moved, together } from "./wildShapes.ts";

const sphere = bumpySphere(2);
/** Expects equal positions up to float32 rounding, which pictures and most formats have. */
const close = (actual: ArrayLike<number>, expected: ArrayLike<number>, size = 1): void => {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < actual.length; i++)
    if (!(Math.abs(actual[i]! - expected[i]!) <= 2 ** -23 * size)) throw new Error(`${i}: ${actual[i]} ${expected[i]}`);
};

describe("formats", () => {
  test.each([
    ["a.glb", () => glbOf(sphere)],
    ["a.obj", () => objOf(sphere)],
    ["a.ply", () => plyOf(sphere, "ascii")],
    ["a.ply", () => plyOf(sphere, "binary_little_endian")],
    ["a.ply", () => plyOf(sphere, "binary_big_endian")],
    ["a.ply.gz", () => gzipSync(plyOf(sphere, "binary_big_endian"))],
    ["no-ending", () => glbOf(sphere)],
  ] as const)("%s has the sphere's vertices and triangles", async (name, bytes) => {
    const file = await readObjectFile(await bytes(), name);
    await checkFile(file);
    // Vertices are ordered by the triangles that use them first, so the corners are compared.
    const corners = (s: typeof sphere): number[] =>
      [...s.triangles].flatMap((v) => [...s.positions.subarray(3 * v, 3 * v + 3)]);
    expect(file.surface.positions).toHaveLength(sphere.positions.length);
    close(corners(file.surface), corners(sphere));
    expect(file.notes).toEqual([]);
  });

  test.each([true, false])("an STL file (binary: %s) is upright: z becomes y", async (binary) => {
    const file = await readObjectFile(stlOf(sphere, binary), "a.stl");
    await checkFile(file);
    expect(file.surface.positions).toHaveLength(sphere.positions.length);
    const { low, high } = boundsOf(sphere.positions);
    const stands = boundsOf(file.surface.positions);
    close([stands.low[0]!, stands.low[1]!, stands.low[2]!], [low[0]!, low[2]!, -high[1]!]);
    expect(volumeOf(file.surface)).toBeCloseTo(volumeOf(sphere), 5);
    expect(file.notes.map(({ code }) => code)).toEqual(["UP_ASSUMED"]);
  });

  test.each(["utf-16le", "utf-16be"])(
    "text in %s gives the same text, and so does text with a UTF-8 mark",
    async (name) => {
      const plain = Buffer.from(objOf(sphere)).toString();
      const wide = Buffer.from(`\ufeff${plain}`, "utf16le");
      const { surface } = await readObjectFile(name === "utf-16le" ? wide : wide.swap16(), "a.obj");
      expect(surface).toEqual((await readObjectFile(objOf(sphere), "a.obj")).surface);
      expect((await readObjectFile(Buffer.from(`\ufeff${plain}`), "a.obj")).surface).toEqual(surface);
    },
  );

  test("an unknown line in a PLY header is ignored", async () => {
    const plain = Buffer.from(plyOf(sphere, "ascii")).toString();
    const signed = plain.replace("element vertex", "Created by a scanner\nelement vertex");
    expect((await readObjectFile(Buffer.from(signed), "a.ply")).surface).toEqual(
      (await readObjectFile(Buffer.from(plain), "a.ply")).surface,
    );
  });

  test.each([undefined, []])("a glTF with scenes %s draws all nodes without a parent", async (scenes) => {
    const { json, binary } = await jsonOf(documentOf(sphere).document);
    delete json.scene;
    if (scenes === undefined) delete json.scenes;
    else json.scenes = scenes;
    expect((await readObjectFile(glb(json, binary), "a.glb")).surface).toEqual(
      (await readObjectFile(await glbOf(sphere), "a.glb")).surface,
    );
  });

  test("a glTF with its buffer inside equals the GLB", async () => {
    const { json, binary } = await jsonOf(documentOf(sphere).document);
    const a = await readObjectFile(gltf(json, binary), "a.gltf");
    const b = await readObjectFile(await glbOf(sphere), "a.glb");
    expect(a.picture).toEqual(b.picture);
    expect(a.surface).toEqual(b.surface);
  });

  test("texture coordinates, normals and colors of OBJ are in the picture; seams do not cut the surface", async () => {
    const obj =
      "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0.5 0.25\nvn 0 0 1\nusemtl skin\nf 1/1/1 2/2/1 3/3/1\nf 1/4/1 3/3/1 4/1/1\n";
    const file = await readObjectFile(Buffer.from(obj), "a.obj");
    const { document } = await checkFile(file);
    const [primitive] = document.getRoot().listMeshes()[0]!.listPrimitives();
    expect([...primitive!.getAttribute("TEXCOORD_0")!.getArray()!]).toEqual([0, 1, 1, 1, 1, 0, 0.5, 0.75, 0, 1]);
    expect([...primitive!.getAttribute("NORMAL")!.getArray()!]).toEqual([0, 1, 2, 3, 4].flatMap(() => [0, 0, 1]));
    expect([...primitive!.getAttribute("COLOR_0")!.getArray()!].slice(0, 6)).toEqual([1, 0, 0, 0, 1, 0]);
    expect([...file.surfaceOfPicture]).toEqual([0, 1, 2, 0, 3]);
    expect(file.notes.map(({ code }) => code)).toEqual(["MATERIALS_IGNORED"]);
  });

  test("files without normals get some: smooth on a sphere, creased on a cube", async () => {
    const ball = icosphere(0.5, 2);
    const round = await checkFile(await readObjectFile(objOf(ball), "a.obj"));
    expect(round.positions).toHaveLength(ball.positions.length);
    const cube = await checkFile(await readObjectFile(objOf(box(1, 1, 1)), "a.obj"));
    // A vertex for each of the three faces at a corner.
    expect(cube.positions).toHaveLength(3 * 24);
    const normals = cube.document.getRoot().listMeshes()[0]!.listPrimitives()[0]!.getAttribute("NORMAL")!;
    for (let v = 0; v < 24; v++) expect(normals.getElement(v, []).map(Math.abs).sort()).toEqual([0, 0, 1]);
  });
});

describe("glTF", () => {
  test("node transforms are applied, mirrors flip triangles, later nodes come later", async () => {
    const made = documentOf(sphere);
    const child = made.document
      .createNode()
      .setMesh(made.mesh)
      .setTranslation([0, 3, 0])
      .setRotation([0, 0, Math.SQRT1_2, Math.SQRT1_2]);
    const parent = made.document.createNode().setScale([-2, 1, 1]).setTranslation([5, 0, 0]).addChild(child);
    made.scene.addChild(parent);
    const file = await readObjectFile(await (await io()).writeBinary(made.document), "a.glb");
    await checkFile(file);
    const n = sphere.positions.length / 3;
    expect(file.surface.positions.length / 3).toBe(2 * n);
    // A quarter turn about z: x y z becomes -y x z; then up by 3, then mirrored and stretched, then 5 along x.
    const expected: number[] = [];
    for (const v of sphere.triangles) {
      const [x, y, z] = sphere.positions.subarray(3 * v, 3 * v + 3);
      expected.push(5 - 2 * -y!, x! + 3, z!);
    }
    const mirrored = [...file.surface.triangles.subarray(sphere.triangles.length)].flatMap((v) => [
      ...file.surface.positions.subarray(3 * v, 3 * v + 3),
    ]);
    // Two corners are swapped, so sums over triangles are compared.
    const sums = (all: number[]): number[] =>
      Array.from({ length: all.length / 3 / 3 }, (_, t) =>
        [0, 1, 2].reduce((sum, k) => sum + all[9 * t + 3 * k]! + 7 * all[9 * t + 3 * k + 1]!, 0),
      );
    close(sums(mirrored), sums(expected), 200);
    expect(volumeOf(file.surface)).toBeCloseTo(3 * volumeOf(sphere), 4);
  });

  test("a matrix with shear is not split into rotation and scale", async () => {
    const made = documentOf(box(1, 1, 1));
    const { json, binary } = await jsonOf(made.document);
    json.nodes[0].matrix = [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    const { surface } = await readObjectFile(glb(json, binary), "a.glb");
    expect(boundsOf(surface.positions).high[0]).toBe(0.75);
  });

  test("bones and morph targets keep the pose of the file, and a note says so", async () => {
    const made = documentOf(box(1, 1, 1));
    const joint = made.document.createNode("bone").setTranslation([0, 2, 0]);
    made.scene.addChild(joint);
    const inverse = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1];
    made.primitive.setAttribute("JOINTS_0", made.accessor("VEC4", new Uint8Array(32))).setAttribute(
      "WEIGHTS_0",
      made.accessor(
        "VEC4",
        Float32Array.from({ length: 32 }, (_, i) => (i % 4 ? 0 : 0.5)),
      ),
    );
    const target = made.document.createPrimitiveTarget().setAttribute(
      "POSITION",
      made.accessor(
        "VEC3",
        Float32Array.from({ length: 24 }, (_, i) => (i % 3 ? 0 : 8)),
      ),
    );
    made.primitive.addTarget(target);
    made.mesh.setWeights([0.25]);
    // A skinned mesh follows its bones, independent of its node.
    made.node.setTranslation([100, 100, 100]).setSkin(
      made.document
        .createSkin()
        .addJoint(joint)
        .setInverseBindMatrices(made.accessor("MAT4", Float32Array.from(inverse))),
    );
    made.document.createAnimation("wave");
    made.document.createCamera("eye");
    const file = await readObjectFile(await (await io()).writeBinary(made.document), "a.glb");
    await checkFile(file);
    const { low, high } = boundsOf(file.surface.positions);
    expect([low, high]).toEqual([
      [1.5, 0.5, -0.5],
      [2.5, 1.5, 0.5],
    ]);
    expect(file.notes.map(({ code }) => code).sort()).toEqual(["ANIMATIONS_IGNORED", "CAMERAS_IGNORED", "POSED"]);
  });

  test("instances are expanded", async () => {
    const made = documentOf(box(1, 1, 1));
    const extension = made.document.createExtension(EXTMeshGPUInstancing);
    made.node.setExtension(
      "EXT_mesh_gpu_instancing",
      extension
        .createInstancedMesh()
        .setAttribute("TRANSLATION", made.accessor("VEC3", Float32Array.of(0, 0, 0, 5, 0, 0, 0, 5, 0))),
    );
    const file = await readObjectFile(await (await io()).writeBinary(made.document), "a.glb");
    await checkFile(file);
    expect(volumeOf(file.surface)).toBeCloseTo(3, 5);
    expect(boundsOf(file.surface.positions).high).toEqual([5.5, 5.5, 0.5]);
  });

  test.each(["sequential", "edgebreaker"] as const)("Draco (%s)", async (method) => {
    const { document } = documentOf(sphere);
    document
      .createExtension(KHRDracoMeshCompression)
      .setRequired(true)
      .setEncoderOptions({ method: method as never, quantizationBits: { POSITION: 14 } });
    const file = await readObjectFile(await (await io()).writeBinary(document), "a.glb");
    await checkFile(file);
    expect(file.surface.triangles).toHaveLength(sphere.triangles.length);
    // 14 bits over a box of 1.2: half a step in each axis, over an area of 3.5 at most.
    expect(Math.abs(volumeOf(file.surface) - volumeOf(sphere))).toBeLessThan((3.5 * 1.2 * 0.87) / 2 ** 14);
  });

  test("meshopt", async () => {
    const { document } = documentOf(sphere);
    document.createExtension(EXTMeshoptCompression).setRequired(true);
    const file = await readObjectFile(await (await io()).writeBinary(document), "a.glb");
    await checkFile(file);
    close([volumeOf(file.surface), file.surface.triangles.length], [volumeOf(sphere), sphere.triangles.length], 4);
  });

  test("sparse, normalized, interleaved, strips, fans, points", async () => {
    const strip = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0);
    const { json, binary } = await jsonOf(
      documentOf({ positions: Float64Array.from(strip), triangles: Uint32Array.of(0, 1, 2) }).document,
    );
    const [view] =
      json.bufferViews.length > 0 ? [json.accessors[json.meshes[0].primitives[0].attributes.POSITION]] : [];
    expect(view.count).toBe(4);
    const position = json.meshes[0].primitives[0].attributes.POSITION;
    // After the file's own content: normalized bytes, three and one of padding; then a sparse index and its value.
    const extra = Buffer.concat([
      binary,
      new Uint8Array((4 - (binary.length % 4)) % 4),
      Uint8Array.of(0, 0, 0, 9, 127, 0, 0, 9, 0, 127, 0, 9, 127, 127, 0, 9),
      Uint8Array.of(3, 0, 0, 0),
      new Uint8Array(Float32Array.of(2, 2, 0).buffer),
    ]);
    const at = extra.length - 32;
    const first = json.bufferViews.length;
    json.bufferViews.push(
      { buffer: 0, byteOffset: at, byteLength: 16, byteStride: 4 },
      { buffer: 0, byteOffset: at + 16, byteLength: 1 },
      { buffer: 0, byteOffset: at + 20, byteLength: 12 },
    );
    json.buffers[0].byteLength = extra.length;
    json.extensionsUsed = ["KHR_mesh_quantization"];
    json.extensionsRequired = ["KHR_mesh_quantization"];
    const bytes =
      json.accessors.push({ bufferView: first, componentType: 5120, normalized: true, count: 4, type: "VEC3" }) - 1;
    const sparse =
      json.accessors.push({
        ...json.accessors[position],
        sparse: {
          count: 1,
          indices: { bufferView: first + 1, componentType: 5121 },
          values: { bufferView: first + 2 },
        },
      }) - 1;
    json.meshes = [bytes, sparse].map((POSITION, i) => ({
      primitives: [
        { attributes: { POSITION }, mode: 5 + i },
        { attributes: { POSITION }, mode: 0 },
      ],
    }));
    json.nodes = [{ mesh: 0 }, { mesh: 1, translation: [0, 0, 10] }];
    json.scenes = [{ nodes: [0, 1] }];
    const file = await readObjectFile(glb(json, extra), "a.glb");
    await checkFile(file);
    const corners = [...file.surface.triangles].map((v) => [...file.surface.positions.subarray(3 * v, 3 * v + 3)]);
    expect(corners).toEqual([
      // The strip 0 1 2, 2 1 3 as glTF orients it.
      ...[
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 0],
        [1, 1],
        [0, 1],
      ].map(([x, y]) => [x, y, 0]),
      // The fan 1 2 0, 2 3 0, with the sparse vertex.
      ...[
        [1, 0],
        [0, 1],
        [0, 0],
        [0, 1],
        [2, 2],
        [0, 0],
      ].map(([x, y]) => [x, y, 10]),
    ]);
    expect(file.notes).toMatchObject([{ code: "LINES_IGNORED", text: expect.stringContaining("2 primitives") }]);
  });

  test("the picture has several materials with textures, but no names, extras or hidden parts", async () => {
    const made = documentOf(sphere);
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    const texture = made.document.createTexture("<b>").setImage(png).setMimeType("image/png").setURI("x/../<i>.png");
    const red = made.document
      .createMaterial("<img src=x onerror=alert(1)>")
      .setBaseColorFactor([1, 0, 0, 1])
      .setBaseColorTexture(texture)
      .setNormalTexture(texture)
      .setExtras({ a: "<script>" });
    made.document.createMaterial("unused");
    made.primitive
      .setMaterial(red)
      .setAttribute("TEXCOORD_0", made.accessor("VEC2", new Float32Array((2 * sphere.positions.length) / 3).fill(0.5)))
      .setAttribute("_HEAT", made.accessor("SCALAR", new Float32Array(sphere.positions.length / 3)));
    const other = documentOf(box(1, 1, 1));
    const blue = made.document.createMaterial("blue").setDoubleSided(true).setAlphaMode("BLEND");
    made.mesh.addPrimitive(
      made.document
        .createPrimitive()
        .setAttribute(
          "POSITION",
          made.accessor("VEC3", other.primitive.getAttribute("POSITION")!.getArray() as Float32Array),
        )
        .setIndices(made.accessor("SCALAR", other.primitive.getIndices()!.getArray() as Uint32Array))
        .setMaterial(blue),
    );
    // Twice in the scene: one material still gives one primitive.
    made.scene.addChild(made.document.createNode().setMesh(made.mesh).setTranslation([4, 0, 0]));
    const file = await readObjectFile(await (await io()).writeBinary(made.document), "a.glb");
    const { document } = await checkFile(file);
    const root = document.getRoot();
    expect(root.listMaterials().map((m) => m.getName())).toEqual(["img srcx onerroralert1", "blue"]);
    expect(root.listTextures().map((t) => Buffer.from(t.getImage()!))).toEqual([png]);
    const primitives = root.listMeshes()[0]!.listPrimitives();
    expect(primitives.map((p) => p.listSemantics().sort())).toEqual([["POSITION", "TEXCOORD_0"], ["POSITION"]]);
    expect(primitives[0]!.getMaterial()!.getNormalTexture()).not.toBeNull();
    expect(primitives[1]!.getMaterial()!.getAlphaMode()).toBe("BLEND");
    expect(volumeOf(file.surface)).toBeCloseTo(2 * (volumeOf(sphere) + 1), 4);
  });

  test("hidden nodes are not drawn; of several scenes the default one is drawn", async () => {
    const { json, binary } = await jsonOf(documentOf(box(1, 1, 1)).document);
    json.nodes = [
      { mesh: 0 },
      { extensions: { KHR_node_visibility: { visible: false } }, children: [2] },
      { mesh: 0, translation: [9, 0, 0] },
      { mesh: 0, translation: [0, 9, 0] },
    ];
    json.extensionsUsed = ["KHR_node_visibility"];
    json.scenes = [{ nodes: [3] }, { nodes: [0, 1] }];
    json.scene = 1;
    const file = await readObjectFile(glb(json, binary), "a.glb");
    expect(boundsOf(file.surface.positions).high).toEqual([0.5, 0.5, 0.5]);
    expect(file.notes.map(({ code }) => code)).toEqual(["SCENES_IGNORED"]);
  });
});

test.each([1e-6, 1e6])(
  "units of %d are kept; a shape far from the origin is moved there, and a note says so",
  async (unit) => {
    const far = moved(sphere, unit, [1000 * unit, 0, 0]);
    const { json, binary } = await jsonOf(documentOf(moved(sphere, unit, [0, 0, 0])).document);
    json.nodes[0].translation = [1000 * unit, 0, 0];
    const file = await readObjectFile(glb(json, binary), "a.glb");
    await checkFile(file);
    const { low, high } = boundsOf(file.surface.positions);
    const { low: farLow, high: farHigh } = boundsOf(far.positions);
    close(
      low.map((l, k) => l + file.origin[k]!),
      farLow,
      unit,
    );
    close(
      high.map((h, k) => h - low[k]!),
      farHigh.map((h, k) => h - farLow[k]!),
      2 * unit,
    );
    expect(file.notes.map(({ code }) => code)).toEqual(["FAR_FROM_ORIGIN"]);
  },
);

test("a picture with more triangles than a page can draw is simplified; the surface is not", async () => {
  const file = await readObjectFile(await glbOf(bumpySphere(5)), "a.glb", { pictureTriangles: 4000 });
  const picture = await checkFile(file);
  expect(picture.triangles.length / 3).toBeLessThanOrEqual(4400);
  expect(file.surface.triangles.length / 3).toBe(20 * 4 ** 5);
  // At most a hundredth of the size off, over an area of 3.5.
  expect(Math.abs(volumeOf(picture) - volumeOf(file.surface))).toBeLessThan(0.035);
  expect(file.notes.map(({ code }) => code)).toEqual(["PICTURE_SIMPLIFIED"]);
});

test("parts of one model that touch become one surface there", async () => {
  const a = box(1, 1, 1);
  const file = await readObjectFile(objOf(together(a, moved(a, 1, [1, 0, 0]))), "a.obj");
  expect(file.surface.positions.length / 3).toBe(12);
});
