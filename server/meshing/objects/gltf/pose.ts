/**
 * Applies the stored pose of an animated mesh: morph targets with their weights, bones at their nodes. Source: glTF 2.0
 * specification (Khronos, ISO/IEC 12113), sections 3.7.2.2 and 3.7.3.3.
 */
import type { Accessor } from "@gltf-transform/core";
import { damaged } from "./gltfContainer.ts";
import type { Part } from "../parts.ts";
import { determinant, flip, largestScale, linearPart, normalMatrix, transformDirections } from "./gltfTransforms.ts";
import type { Matrix } from "./gltfTransforms.ts";

/** Applies morph targets in place: x += w d. */
export function morph(
  positions: Float64Array,
  targets: readonly (Accessor | undefined)[],
  weights: readonly number[],
): void {
  targets.forEach((target, k) => {
    const weight = weights[k] ?? 0;
    if (!target || weight === 0) return;
    const element: number[] = [];
    const count = Math.min(target.getCount(), positions.length / 3);
    for (let v = 0; v < count; v++) {
      target.getElement(v, element);
      for (let r = 0; r < 3; r++) positions[3 * v + r]! += weight * element[r]!;
    }
  });
}

/** A part's bones, and each vertex's weights. */
export interface Skinning {
  /** World matrix times inverse bind matrix, of each joint. */
  bones: readonly Matrix[];
  /** JOINTS_n and WEIGHTS_n: four of each for a vertex. */
  sets: readonly (readonly [joints: Accessor, weights: Accessor])[];
  where: string;
}

/**
 * Moves a part's vertices and directions to the pose of the bones, in place: x = sum w B x. Triangles that the bones
 * mirror are flipped back.
 */
export function pose(part: Part, { bones, sets, where }: Skinning): void {
  const { positions } = part;
  part.precision *= bones.reduce((most, bone) => Math.max(most, largestScale(bone)), 0);
  const normals = part.attributes.get("NORMAL")?.values;
  const tangents = part.attributes.get("TANGENT")?.values;
  const mirrored = new Uint8Array(positions.length / 3);
  const four: number[] = [];
  const all = (v: number, which: 0 | 1): number[] => sets.flatMap((set) => [...set[which].getElement(v, four)]);
  for (let v = 0; v < positions.length / 3; v++) {
    const [joint, weight] = [all(v, 0), all(v, 1)];
    const sum = weight.reduce((total, w) => total + w, 0);
    const blended = new Array<number>(16).fill(0);
    for (let k = 0; k < weight.length; k++) {
      // If all weights are zero, use the first joint alone.
      const w = sum > 0 ? weight[k]! / sum : k === 0 ? 1 : 0;
      if (w === 0) continue;
      const bone = bones[joint[k]!];
      if (!bone) throw damaged(`${where}, joint of vertex ${v}`, joint[k]!, `one below ${bones.length} is needed`);
      for (let i = 0; i < 16; i++) blended[i]! += w * bone[i]!;
    }
    if (determinant(blended) < 0) mirrored[v] = 1;
    const [x, y, z] = [positions[3 * v]!, positions[3 * v + 1]!, positions[3 * v + 2]!];
    for (let r = 0; r < 3; r++)
      positions[3 * v + r] = blended[r]! * x + blended[4 + r]! * y + blended[8 + r]! * z + blended[12 + r]!;
    if (normals) transformDirections(normals.subarray(3 * v, 3 * v + 3), 3, normalMatrix(blended));
    if (!tangents) continue;
    transformDirections(tangents.subarray(4 * v, 4 * v + 4), 4, linearPart(blended));
    if (mirrored[v]) tangents[4 * v + 3] = -tangents[4 * v + 3]!;
  }
  flip(part.triangles, (a, b, c) => mirrored[a]! + mirrored[b]! + mirrored[c]! > 1);
}
