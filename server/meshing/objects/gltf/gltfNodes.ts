/**
 * Validates a glTF's node tree: finds the meshes that its scene draws, with transforms and instances, and checks that
 * their total is within the limits. Source: glTF 2.0 specification (Khronos, ISO/IEC 12113), sections 3.5, 3.7 and 5.
 */
import type { MeshNote } from "../../meshNotes.ts";
import { damaged, isObject, tooLarge } from "./gltfContainer.ts";
import type { Json } from "./gltfContainer.ts";
import { at, checkDraco, DRACO, indexOf, listOf, shown, wholeOf } from "./gltfGuard.ts";
import type { CheckedGltf } from "./gltfGuard.ts";
import { ObjectError } from "../objectFile.ts";
import type { ObjectLimits } from "../objectFile.ts";
import { IDENTITY, matrixOf, product } from "./gltfTransforms.ts";
import type { Matrix } from "./gltfTransforms.ts";

export const INSTANCING = "EXT_mesh_gpu_instancing";
const VISIBILITY = "KHR_node_visibility";
const TARGETS = 1024;
const ATTRIBUTES = 64;
const JOINTS = 4096;
const SMALLER = "Remove copies, or merge them into one simpler mesh";

/** A mesh drawn by a node of the scene. */
export interface Placement {
  mesh: number;
  node: number;
  /** Transform from the node to the world. */
  world: Matrix;
  /** Index of the node's skin. */
  skin: number | undefined;
  /** Weights of morph targets. */
  weights: readonly number[];
}

export interface SceneTree {
  placements: Placement[];
  /** Transforms to the world, of every node of the file. */
  worlds: Matrix[];
}

const numbersOf = (value: unknown, where: string, length?: number): number[] => {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length) || value.length > TARGETS)
    throw damaged(where, shown(value), `a list of ${length ?? `at most ${TARGETS}`} numbers is needed`);
  value.forEach((number, i) => {
    if (typeof number !== "number") throw damaged(`${where}/${i}`, shown(number), "a number is needed");
  });
  return value as number[];
};

/** Largest error of a row that is exact but for the rounding of an exporter. */
const ROUNDING = 1e-4;

/** @throws ObjectError unless the last row is 0 0 0 1. Some exporters list the numbers row by row. */
export function affine(matrix: Matrix, where: string): Matrix {
  const isLast = (indices: readonly number[]): boolean =>
    indices.every((i) => Math.abs(matrix[i]! - IDENTITY[i]!) <= ROUNDING);
  const row = [3, 7, 11, 15];
  if (isLast(row)) return matrix;
  const order = isLast([12, 13, 14, 15]) ? "; the numbers stand row by row, glTF has them column by column" : "";
  throw damaged(where, row.map((i) => matrix[i]).join(" "), `0 0 0 1 is needed as its last row${order}`);
}

function localMatrix(node: Json, where: string): Matrix {
  if (node.matrix !== undefined) return affine(numbersOf(node.matrix, `${where}/matrix`, 16), `${where}/matrix`);
  const of = (name: string, absent: number[]): number[] =>
    node[name] === undefined ? absent : numbersOf(node[name], `${where}/${name}`, absent.length);
  return matrixOf(of("translation", [0, 0, 0]), of("rotation", [0, 0, 0, 1]), of("scale", [1, 1, 1]));
}

/** Children by node. @throws ObjectError if the nodes are not a forest: a node with two parents, or within itself */
function forestOf(nodes: Json[], limits: ObjectLimits): { children: number[][]; roots: number[] } {
  const parent = new Int32Array(nodes.length).fill(-1);
  const children = nodes.map((node, i) => {
    const list = node.children ?? [];
    if (!Array.isArray(list)) throw damaged(`/nodes/${i}/children`, shown(list), "a list is needed");
    return list.map((child, k) => {
      const index = indexOf(child, `/nodes/${i}/children/${k}`, nodes.length);
      if (parent[index] !== -1 || index === i)
        throw damaged(
          `/nodes/${i}/children/${k}`,
          index,
          `node ${index} is ${index === i ? "its own child" : `a child of node ${parent[index]} already`}`,
        );
      parent[index] = i;
      return index;
    });
  });
  const roots = nodes.map((_, i) => i).filter((i) => parent[i] === -1);
  // Nodes that the roots do not reach form a cycle.
  let level = roots;
  let reached = roots.length;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.nodeDepth)
      throw tooLarge(`depth of /nodes/${level[0]}`, depth, limits.nodeDepth, "Make the tree of nodes flatter");
    level = level.flatMap((i) => children[i]!);
    reached += level.length;
  }
  if (reached < nodes.length) {
    const seen = new Set(roots);
    for (const i of seen) for (const child of children[i]!) seen.add(child);
    const lost = nodes.findIndex((_, i) => !seen.has(i));
    throw damaged(`/nodes/${lost}`, "its own ancestor", "nodes must form a tree");
  }
  return { children, roots };
}

/** Roots of the drawn nodes: those of the default scene, else of the first scene, else all nodes without a parent. */
function sceneRoots(json: Json, nodes: Json[], roots: number[], notes: MeshNote[]): number[] {
  const scenes = listOf(json, "scenes", "");
  if (scenes.length === 0) return roots;
  const chosen = json.scene === undefined ? 0 : indexOf(json.scene, "/scene", scenes.length);
  if (scenes.length > 1)
    notes.push({
      code: "SCENES_IGNORED",
      text: `The file has ${scenes.length} scenes; scene ${chosen + 1} was used, the others are ignored.`,
    });
  const list = scenes[chosen]!.nodes ?? [];
  if (!Array.isArray(list)) throw damaged(`/scenes/${chosen}/nodes`, shown(list), "a list is needed");
  return [...new Set(list.map((node, k) => indexOf(node, `/scenes/${chosen}/nodes/${k}`, nodes.length)))];
}

/**
 * Finds all drawn meshes.
 * @throws ObjectError if the nodes are not a forest, an index is invalid, or the total is too large
 */
export function checkNodes(checked: CheckedGltf, limits: ObjectLimits, notes: MeshNote[]): SceneTree {
  const { json } = checked;
  const nodes = listOf(json, "nodes", "", limits.nodes);
  const meshes = listOf(json, "meshes", "", limits.nodes);
  const costs = meshes.map((mesh, i) => meshCost(checked, mesh, `/meshes/${i}`));
  const { children, roots } = forestOf(nodes, limits);
  const worlds: Matrix[] = nodes.map(() => IDENTITY);
  const hidden = nodes.map((node) => at(node, "extensions", VISIBILITY, "visible") === false);
  const stack = [...roots];
  for (const root of roots) worlds[root] = localMatrix(nodes[root]!, `/nodes/${root}`);
  while (stack.length > 0) {
    const i = stack.pop()!;
    for (const child of children[i]!) {
      worlds[child] = product(worlds[i]!, localMatrix(nodes[child]!, `/nodes/${child}`));
      hidden[child] ||= hidden[i]!;
      stack.push(child);
    }
  }
  checkSkins(checked, nodes.length);
  const placements: Placement[] = [];
  const sums = { vertices: 0, triangles: 0, primitives: 0 };
  const drawn = sceneRoots(json, nodes, roots, notes).reverse();
  const seen = new Set<number>();
  while (drawn.length > 0) {
    const i = drawn.pop()!;
    // Some scenes list the children of their nodes, too.
    if (seen.has(i)) continue;
    seen.add(i);
    drawn.push(...children[i]!.toReversed());
    const node = nodes[i]!;
    if (node.mesh === undefined || hidden[i]) continue;
    const mesh = indexOf(node.mesh, `/nodes/${i}/mesh`, meshes.length);
    const times = instancesOf(checked, node, `/nodes/${i}`);
    for (const key of ["vertices", "triangles", "primitives"] as const) {
      sums[key] += times * costs[mesh]![key];
      if (sums[key] > limits[key]) throw tooLarge(`count of ${key} up to /nodes/${i}`, sums[key], limits[key], SMALLER);
    }
    placements.push({
      mesh,
      node: i,
      world: worlds[i]!,
      skin:
        node.skin === undefined ? undefined : indexOf(node.skin, `/nodes/${i}/skin`, listOf(json, "skins", "").length),
      weights: numbersOf(node.weights ?? meshes[mesh]!.weights ?? [], `/nodes/${i}/weights`),
    });
  }
  return { placements, worlds };
}

/** Number of instances that a node draws. */
function instancesOf(checked: CheckedGltf, node: Json, where: string): number {
  const instancing = at(node, "extensions", INSTANCING, "attributes");
  if (instancing === undefined) return 1;
  const place = `${where}/extensions/${INSTANCING}/attributes`;
  if (!isObject(instancing)) throw damaged(place, shown(instancing), "an object is needed");
  const accessors = listOf(checked.json, "accessors", "");
  const counts = ["TRANSLATION", "ROTATION", "SCALE"]
    .filter((name) => instancing[name] !== undefined)
    .map((name) => accessors[indexOf(instancing[name], `${place}/${name}`, accessors.length)]!.count as number);
  if (counts.some((count) => count !== counts[0]))
    throw damaged(place, counts.join(" and "), "all attributes need the same count");
  return counts[0] ?? 1;
}

/** Counts the content of a mesh's primitives; checks that their accessors exist and match each other. */
function meshCost(
  checked: CheckedGltf,
  mesh: Json,
  where: string,
): { vertices: number; triangles: number; primitives: number } {
  const accessors = listOf(checked.json, "accessors", "");
  const primitives = listOf(mesh, "primitives", where);
  const cost = { vertices: 0, triangles: 0, primitives: primitives.length };
  primitives.forEach((primitive, i) => {
    const place = `${where}/primitives/${i}`;
    const materials = listOf(checked.json, "materials", "").length;
    if (primitive.material !== undefined) indexOf(primitive.material, `${place}/material`, materials);
    wholeOf(primitive.mode, `${place}/mode`, 0, 6, 4);
    const accessor = (value: unknown, of: string): Json => accessors[indexOf(value, of, accessors.length)]!;
    const { attributes } = primitive;
    if (!isObject(attributes)) throw damaged(`${place}/attributes`, shown(attributes), "an object is needed");
    const names = Object.keys(attributes);
    if (names.length > ATTRIBUTES)
      throw tooLarge(`count of ${place}/attributes`, names.length, ATTRIBUTES, "Remove unused attributes");
    for (const name of names) {
      if (name in Object.prototype) throw damaged(`${place}/attributes`, name, "a name of glTF is needed");
      accessor(attributes[name], `${place}/attributes/${name}`);
    }
    listOf(primitive, "targets", place, TARGETS).forEach((target, k) => {
      for (const name of Object.keys(target)) accessor(target[name], `${place}/targets/${k}/${name}`);
    });
    const vertices =
      attributes.POSITION === undefined
        ? 0
        : (accessor(attributes.POSITION, `${place}/attributes/POSITION`).count as number);
    const corners =
      primitive.indices === undefined ? vertices : (accessor(primitive.indices, `${place}/indices`).count as number);
    const draco = at(primitive, "extensions", DRACO);
    if (isObject(draco)) {
      const decoded = checkDraco(checked, draco, `${place}/extensions/${DRACO}`);
      if (3 * decoded.faces > corners || vertices > decoded.points)
        throw damaged(
          `Draco data of ${place}`,
          `${decoded.faces} triangles`,
          `the primitive declares ${Math.floor(corners / 3)} triangles of ${vertices} vertices`,
        );
    }
    cost.vertices += vertices;
    // Upper bound for strips.
    cost.triangles += ((primitive.mode ?? 4) as number) > 4 ? corners : Math.floor(corners / 3);
  });
  return cost;
}

function checkSkins(checked: CheckedGltf, nodes: number): void {
  const accessors = listOf(checked.json, "accessors", "");
  listOf(checked.json, "skins", "").forEach((skin, i) => {
    const { joints } = skin;
    if (!Array.isArray(joints)) throw damaged(`/skins/${i}/joints`, shown(joints), "a list is needed");
    if (joints.length > JOINTS) throw tooLarge(`count of /skins/${i}/joints`, joints.length, JOINTS, "Use fewer bones");
    joints.forEach((joint, k) => indexOf(joint, `/skins/${i}/joints/${k}`, nodes));
    if (skin.skeleton !== undefined) indexOf(skin.skeleton, `/skins/${i}/skeleton`, nodes);
    if (skin.inverseBindMatrices === undefined) return;
    const where = `/skins/${i}/inverseBindMatrices`;
    const matrices = accessors[indexOf(skin.inverseBindMatrices, where, accessors.length)]!;
    if (matrices.type !== "MAT4" || (matrices.count as number) < joints.length)
      throw damaged(
        where,
        `${shown(matrices.count)} of ${shown(matrices.type)}`,
        `${joints.length} of MAT4 are needed`,
      );
  });
}

/** @throws ObjectError unless every required extension is supported */
export function checkExtensions(json: Json, known: ReadonlySet<unknown>): void {
  const needed = json.extensionsRequired ?? [];
  if (!Array.isArray(needed)) throw damaged("/extensionsRequired", shown(needed), "a list is needed");
  const unknown = needed.filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new ObjectError("NOT_SUPPORTED", {
      where: "/extensionsRequired",
      value: unknown.map(shown).join(", "),
      limit: "these required extensions are not supported",
      help: "Export the model without them",
    });
}
