/** Generated files like those that visitors upload: a ball as OBJ, and as GLB with several textured materials. */
import { Document, NodeIO } from "@gltf-transform/core";
import { encode } from "fast-png";
import { icosphere } from "../../server/meshing/generators.ts";

/** @param subdivisions 4 gives 5,120 triangles; each further one four times as many */
export function objBall(subdivisions = 3, radius = 0.5): string {
  const { positions, triangles } = icosphere(radius, subdivisions);
  const lines: string[] = [];
  for (let i = 0; i < positions.length; i += 3) lines.push(`v ${positions.slice(i, i + 3).join(" ")}`);
  for (let i = 0; i < triangles.length; i += 3)
    lines.push(`f ${[...triangles.slice(i, i + 3)].map((v) => v + 1).join(" ")}`);
  return `${lines.join("\n")}\n`;
}

const SIDE = 64;
type Color = readonly [number, number, number];

/** Squares of two colors. */
const checks = (a: Color, b: Color, cells: number): Uint8Array => {
  const data = new Uint8Array(3 * SIDE * SIDE);
  for (let y = 0; y < SIDE; y++)
    for (let x = 0; x < SIDE; x++)
      data.set((Math.floor((x * cells) / SIDE) + Math.floor((y * cells) / SIDE)) % 2 ? a : b, 3 * (y * SIDE + x));
  return encode({ width: SIDE, height: SIDE, data, channels: 3 });
};

/** Waves, as normals in tangent space. */
const waves = (): Uint8Array => {
  const data = new Uint8Array(3 * SIDE * SIDE);
  for (let y = 0; y < SIDE; y++)
    for (let x = 0; x < SIDE; x++) {
      const slope = 0.6 * Math.cos((8 * Math.PI * x) / SIDE);
      const length = Math.hypot(slope, 1);
      data.set([127.5 + (127.5 * slope) / length, 127.5, 127.5 + 127.5 / length], 3 * (y * SIDE + x));
    }
  return encode({ width: SIDE, height: SIDE, data, channels: 3 });
};

/**
 * A pear of three materials: checks with a normal map below, vertex colors around the middle, rough red checks on top.
 * @param stretch in y, so that no part is accidentally round
 */
export async function texturedGlb(subdivisions = 4, stretch = 1.3): Promise<Uint8Array<ArrayBuffer>> {
  const document = new Document();
  const buffer = document.createBuffer();
  const texture = (image: Uint8Array) => document.createTexture().setImage(image).setMimeType("image/png");
  const materials = [
    document
      .createMaterial("below")
      .setBaseColorTexture(texture(checks([40, 90, 160], [230, 230, 220], 16)))
      .setNormalTexture(texture(waves()))
      .setRoughnessFactor(0.4)
      .setMetallicFactor(0),
    document.createMaterial("middle").setRoughnessFactor(0.8).setMetallicFactor(0.2),
    document
      .createMaterial("<b>top</b>")
      .setBaseColorTexture(texture(checks([190, 40, 40], [250, 210, 120], 8)))
      .setRoughnessFactor(0.9)
      .setMetallicFactor(0),
  ];
  const { positions, triangles } = icosphere(0.5, subdivisions);
  const parts: number[][] = [[], [], []];
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [...triangles.slice(t, t + 3)];
    const height = corners.reduce((sum, v) => sum + positions[3 * v + 1]!, 0) / 3;
    parts[height < -0.12 ? 0 : height < 0.12 ? 1 : 2]!.push(...corners);
  }
  const mesh = document.createMesh("pear");
  for (const [p, corners] of parts.entries()) {
    const numbers = new Map<number, number>();
    const [places, normals, uvs, colors]: number[][] = [[], [], [], []];
    const indices = corners.map((vertex) => {
      let number = numbers.get(vertex);
      if (number !== undefined) return number;
      numbers.set(vertex, (number = numbers.size));
      const [x, y, z] = positions.slice(3 * vertex, 3 * vertex + 3) as unknown as [number, number, number];
      const waist = 1 + 0.35 * Math.cos(5 * y);
      places!.push(waist * x, stretch * y, waist * z);
      const up = (waist * y) / stretch;
      const length = Math.hypot(x, up, z);
      normals!.push(x / length, up / length, z / length);
      uvs!.push(0.5 + Math.atan2(z, x) / (2 * Math.PI), 0.5 + y);
      colors!.push(0.5 + x, 0.5 + y, 0.5 + z, 1);
      return number;
    });
    const accessor = (type: "VEC2" | "VEC3" | "VEC4", values: number[]) =>
      document.createAccessor().setType(type).setArray(Float32Array.from(values)).setBuffer(buffer);
    const primitive = document
      .createPrimitive()
      .setMaterial(materials[p]!)
      .setIndices(document.createAccessor().setArray(Uint16Array.from(indices)).setBuffer(buffer))
      .setAttribute("POSITION", accessor("VEC3", places!))
      .setAttribute("NORMAL", accessor("VEC3", normals!))
      .setAttribute("TEXCOORD_0", accessor("VEC2", uvs!));
    if (p === 1) primitive.setAttribute("COLOR_0", accessor("VEC4", colors!));
    mesh.addPrimitive(primitive);
  }
  document.createScene().addChild(document.createNode("pear").setMesh(mesh).setScale([2, 2, 2]));
  return Uint8Array.from(await new NodeIO().writeBinary(document));
}
