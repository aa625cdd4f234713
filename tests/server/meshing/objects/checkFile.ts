/** Checks of every ObjectFile, whose bytes are read by third-party code. */
import { WebIO } from "@gltf-transform/core";
import type { Document } from "@gltf-transform/core";
import { ALL_EXTENSIONS } from "@gltf-transform/extensions";
import { expect } from "vitest";
import type { ObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";

export interface Picture {
  document: Document;
  positions: number[];
  triangles: number[];
}

/** The picture's vertices and triangles, primitive after primitive. */
async function pictureOf(file: ObjectFile): Promise<Picture> {
  const document = await new WebIO().registerExtensions(ALL_EXTENSIONS).readBinary(file.picture);
  const positions: number[] = [];
  const triangles: number[] = [];
  for (const primitive of document.getRoot().listMeshes()[0]!.listPrimitives()) {
    const first = positions.length / 3;
    for (const x of primitive.getAttribute("POSITION")!.getArray()!) positions.push(x);
    for (const v of primitive.getIndices()!.getArray()!) triangles.push(first + v);
  }
  return { document, positions, triangles };
}

/** Fails if the parts of an ObjectFile do not match each other or are not self-contained. */
export async function checkFile(file: ObjectFile): Promise<Picture> {
  const { surface, surfaceOfPicture } = file;
  const vertices = surface.positions.length / 3;
  expect(surface.positions.every(Number.isFinite)).toBe(true);
  expect(surface.triangles.length).toBeGreaterThan(0);
  expect(surface.triangles.every((v) => v < vertices)).toBe(true);
  for (let t = 0; t < surface.triangles.length; t += 3)
    if (new Set(surface.triangles.subarray(t, t + 3)).size < 3) throw new Error(`triangle ${t / 3} has a corner twice`);

  const view = new DataView(file.picture.buffer, file.picture.byteOffset);
  const json = JSON.parse(Buffer.from(file.picture.subarray(20, 20 + view.getUint32(12, true))).toString());
  expect(json.nodes).toEqual([{ mesh: 0 }]);
  expect(json.meshes).toHaveLength(1);
  for (const name of ["animations", "skins", "cameras", "extensionsRequired"]) expect(json[name]).toBeUndefined();
  for (const { uri } of [...json.buffers, ...(json.images ?? [])]) expect(uri).toBeUndefined();
  expect(JSON.stringify(json)).not.toMatch(/[<>]|extras/);

  const picture = await pictureOf(file);
  expect(surfaceOfPicture).toHaveLength(picture.positions.length / 3);
  surfaceOfPicture.forEach((place, v) => {
    for (let k = 0; k < 3; k++)
      if (picture.positions[3 * v + k] !== surface.positions[3 * place + k])
        throw new Error(`vertex ${v} is at another place`);
  });
  return picture;
}

/** Signed volume, by the divergence theorem. */
export function volumeOf({ positions: x, triangles }: { positions: ArrayLike<number>; triangles: ArrayLike<number> }) {
  let six = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    six +=
      x[a]! * (x[b + 1]! * x[c + 2]! - x[b + 2]! * x[c + 1]!) +
      x[a + 1]! * (x[b + 2]! * x[c]! - x[b]! * x[c + 2]!) +
      x[a + 2]! * (x[b]! * x[c + 1]! - x[b + 1]! * x[c]!);
  }
  return six / 6;
}

export function boundsOf(x: ArrayLike<number>): { low: number[]; high: number[] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < x.length; i++) {
    low[i % 3] = Math.min(low[i % 3]!, x[i]!);
    high[i % 3] = Math.max(high[i % 3]!, x[i]!);
  }
  return { low, high };
}
