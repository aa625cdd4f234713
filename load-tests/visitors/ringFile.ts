/**
 * Generates a closed surface as GLB, of any resolution, with normals and texture coordinates: a file for visitors to
 * drop.
 */
import { Document, NodeIO } from "@gltf-transform/core";

export interface Ring {
  /** Vertices around the ring, and around its tube; two triangles for each pair. */
  around: number;
  across: number;
  /** Moves its bumps, so that files differ. */
  phase?: number;
}

/** A ring with 110,336 triangles. */
export const RING = { around: 431, across: 128 };

/** A ring with bumps, about 2.7 units wide. */
export async function ringGlb({ around, across, phase = 0 }: Ring): Promise<Uint8Array> {
  const vertices = (around + 1) * (across + 1);
  const positions = new Float32Array(3 * vertices);
  const normals = new Float32Array(3 * vertices);
  const uvs = new Float32Array(2 * vertices);
  const indices = new Uint32Array(6 * around * across);
  // The texture coordinates have a seam in both directions, with duplicate vertices.
  for (let i = 0; i <= around; i++)
    for (let j = 0; j <= across; j++) {
      const u = (2 * Math.PI * (i % around)) / around;
      const v = (2 * Math.PI * (j % across)) / across;
      const at = i * (across + 1) + j;
      const r = 0.3 + 0.05 * Math.sin(9 * u + phase) * Math.cos(5 * v) + 0.01 * Math.sin(40 * u + 7 * v);
      const out = 1 + r * Math.cos(v);
      positions.set([out * Math.cos(u), r * Math.sin(v), out * Math.sin(u)], 3 * at);
      normals.set([Math.cos(v) * Math.cos(u), Math.sin(v), Math.cos(v) * Math.sin(u)], 3 * at);
      uvs.set([(8 * i) / around, (3 * j) / across], 2 * at);
      if (i === around || j === across) continue;
      const [a, b] = [at, at + across + 1];
      indices.set([a, b + 1, b, a, a + 1, b + 1], 6 * (i * across + j));
    }
  const document = new Document();
  const buffer = document.createBuffer();
  const accessor = (type: "SCALAR" | "VEC2" | "VEC3", array: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>) =>
    document.createAccessor().setType(type).setArray(array).setBuffer(buffer);
  const primitive = document
    .createPrimitive()
    .setMaterial(document.createMaterial("ring").setBaseColorFactor([0.8, 0.35, 0.2, 1]).setRoughnessFactor(0.6))
    .setIndices(accessor("SCALAR", indices))
    .setAttribute("POSITION", accessor("VEC3", positions))
    .setAttribute("NORMAL", accessor("VEC3", normals))
    .setAttribute("TEXCOORD_0", accessor("VEC2", uvs));
  document
    .createScene()
    .addChild(document.createNode("ring").setMesh(document.createMesh("ring").addPrimitive(primitive)));
  return new NodeIO().writeBinary(document);
}
