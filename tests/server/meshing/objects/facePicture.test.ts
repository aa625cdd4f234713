/** A model with inward winding is drawn from outside, as it is simulated. */
import { expect, test } from "vitest";
import { readObjectFile } from "../../../../server/meshing/objects/readObjectFile.ts";
import { icosphere } from "../../../../server/meshing/generators.ts";
import { checkFile, volumeOf } from "./checkFile.ts";
import { documentOf, io } from "./files.ts";
import { box, flipped, together } from "./wildShapes.ts";

const ball = icosphere(0.5, 2);
/** GLB of a ball with normals, times a sign, and tangents. */
async function glbOf(inward: boolean, sign: 1 | -1): Promise<Uint8Array> {
  const made = documentOf(inward ? flipped(ball) : ball);
  const normals = Float32Array.from(ball.positions, (x) => 2 * sign * x);
  const tangents = Float32Array.from({ length: (4 * ball.positions.length) / 3 }, (_, i) => [1, 0, 0, 1][i % 4]!);
  made.primitive
    .setAttribute("NORMAL", made.accessor("VEC3", normals))
    .setAttribute("TANGENT", made.accessor("VEC4", tangents));
  return (await io()).writeBinary(made.document);
}

test.each([
  ["outward, normals outward", false, 1, 1],
  ["inward, normals inward", true, -1, -1],
  ["inward, normals outward", true, 1, 1],
] as const)("a ball wound %s is drawn outward", async (_, inward, sign, w) => {
  const picture = await checkFile(await readObjectFile(await glbOf(inward, sign), "a.glb"));
  expect(volumeOf(picture)).toBeCloseTo(volumeOf(ball), 4);
  const primitive = picture.document.getRoot().listMeshes()[0]!.listPrimitives()[0]!;
  const normals = primitive.getAttribute("NORMAL")!.getArray()!;
  picture.positions.forEach((x, i) => expect(Math.sign(normals[i]!) * x).toBeGreaterThanOrEqual(0));
  // The bitangent, normal x tangent times w, is that of the file.
  const tangents = primitive.getAttribute("TANGENT")!.getArray()!;
  expect([...tangents].filter((_value, i) => i % 4 === 3).every((value) => value === w)).toBe(true);
});

test("triangles that are drawn from both sides stay, and a cavity stays one", async () => {
  const hollow = together(box(2, 2, 2), flipped(ball));
  const { document } = documentOf(together(hollow, flipped(hollow)));
  const picture = await checkFile(await readObjectFile(await (await io()).writeBinary(document), "a.glb"));
  expect(volumeOf(picture)).toBeCloseTo(0, 6);
  const single = await checkFile(
    await readObjectFile(await (await io()).writeBinary(documentOf(hollow).document), "a.glb"),
  );
  expect(volumeOf(single)).toBeCloseTo(8 - volumeOf(ball), 4);
});
