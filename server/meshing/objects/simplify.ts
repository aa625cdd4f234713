/**
 * Mesh simplification by meshoptimizer (A. Kapoulkine): edge collapses with quadric errors (M. Garland, P. Heckbert
 * 1997), which keep topology and borders; if they fail, vertex clustering.
 */
import { MeshoptSimplifier } from "meshoptimizer/simplifier";
import { finishSurface } from "../importers/finishMesh.ts";
import type { SurfaceMesh } from "../mesh.ts";
import { clusterCells } from "./clusterCells.ts";
import type { Attribute, Part } from "./parts.ts";
import { compacted } from "./parts.ts";

/** Weights of attributes relative to positions, for unit size; normals as in meshoptimizer's own demos. */
const WEIGHTS: Record<string, number> = { NORMAL: 0.5, TEXCOORD_0: 1, COLOR_0: 0.5 };
/** Relative to the size: a simplified picture looks the same when the whole object is in view. */
const PICTURE_ERROR = 0.01;
/** If collapses leave more than this multiple of the target, the picture is clustered. */
const PICTURE_EXCESS = 1.25;
/**
 * Limit of steps of edge collapses per triangle. meshoptimizer searches all edges of a vertex for each edge that ends
 * there, so its work grows with the square of the vertex's valence: 200,000 triangles on one edge take minutes. Closed
 * surfaces take 18, a fan of 64 triangles 70.
 */
const MOST_STEPS = 512;

/**
 * @param target number of triangles; more remain if the error would be larger
 * @param error largest distance from the surface, in its unit
 */
export async function simplifySurface(surface: SurfaceMesh, target: number, error: number): Promise<SurfaceMesh> {
  if (surface.triangles.length <= 3 * target) return surface;
  if (stepsOf(surface) > MOST_STEPS * surface.triangles.length)
    return ofTriangles(surface, clusterCells(surface.positions, surface.triangles, target));
  await MeshoptSimplifier.ready;
  const positions = inFloat32(surface.positions);
  const [indices] = MeshoptSimplifier.simplify(surface.triangles, positions, 3, 3 * target, error, [
    "ErrorAbsolute",
    "Regularize",
  ]);
  return indices.length === 0 ? surface : ofTriangles(surface, indices);
}

/** Simplifies by clustering: works for any triangle soup, but loses shape. @param error relative to the size */
export async function clusterSurface(surface: SurfaceMesh, target: number, error: number): Promise<SurfaceMesh> {
  if (surface.triangles.length <= 3 * target) return surface;
  await MeshoptSimplifier.ready;
  const positions = inFloat32(surface.positions);
  const [indices] = MeshoptSimplifier.simplifySloppy(surface.triangles, positions, 3, null, 3 * target, error);
  return indices.length === 0 ? surface : ofTriangles(surface, indices);
}

/** Counts the steps of a search for edge collapses: it visits, for every edge, all edges of the edge's end vertex. */
function stepsOf({ positions, triangles }: { positions: Float64Array; triangles: Uint32Array }): number {
  const edges = new Uint32Array(positions.length / 3);
  for (const v of triangles) edges[v]! += 1;
  // As many edges end at a vertex as start there.
  return edges.reduce((sum, count) => sum + count * count, 0);
}

function ofTriangles({ positions }: SurfaceMesh, elements: Uint32Array): SurfaceMesh {
  const { positions: kept, triangles } = finishSurface({ file: "simplification", positions, elements });
  return { positions: kept, triangles };
}

/** Centers the positions near zero, where float32 is most precise. */
function inFloat32(positions: Float64Array): Float32Array {
  return Float32Array.from(positions, (x, i) => x - positions[i % 3]!);
}

/** Reduces a part to about `target` triangles of its own vertices; `kept` has their original indices. */
export async function simplifyPart(part: Part, target: number): Promise<{ part: Part; kept: Uint32Array }> {
  await MeshoptSimplifier.ready;
  const vertices = part.positions.length / 3;
  const collapsed = stepsOf(part) > MOST_STEPS * part.triangles.length ? part.triangles : collapsePart(part, target);
  const triangles =
    collapsed.length > 3 * PICTURE_EXCESS * target ? clusterCells(part.positions, collapsed, target) : collapsed;
  // Carry the vertex indices through compaction as an additional attribute.
  const numbers: Attribute = { size: 2, values: new Float32Array(2 * vertices) };
  for (let v = 0; v < vertices; v++) {
    numbers.values[2 * v] = v & 0xffff;
    numbers.values[2 * v + 1] = v >>> 16;
  }
  const small = compacted({ ...part, triangles, attributes: new Map([...part.attributes, ["_NUMBER", numbers]]) });
  const { values } = small.attributes.get("_NUMBER")!;
  small.attributes.delete("_NUMBER");
  return {
    part: small,
    kept: Uint32Array.from({ length: values.length / 2 }, (_, v) => values[2 * v]! + 65536 * values[2 * v + 1]!),
  };
}

function collapsePart(part: Part, target: number): Uint32Array {
  const vertices = part.positions.length / 3;
  const names = [...part.attributes.keys()].filter((name) => name in WEIGHTS);
  const sizes = names.map((name) => part.attributes.get(name)!.size);
  const stride = sizes.reduce<number>((sum, size) => sum + size, 0);
  const packed = new Float32Array(stride * vertices);
  names.forEach((name, i) => {
    const { size, values } = part.attributes.get(name) as Attribute;
    const offset = sizes.slice(0, i).reduce<number>((sum, s) => sum + s, 0);
    for (let v = 0; v < vertices; v++)
      for (let k = 0; k < size; k++) packed[stride * v + offset + k] = values[size * v + k]!;
  });
  const weights = names.flatMap((name, i) => new Array<number>(sizes[i]!).fill(WEIGHTS[name]!));
  const positions = inFloat32(part.positions);
  const [triangles] =
    stride > 0
      ? MeshoptSimplifier.simplifyWithAttributes(
          part.triangles,
          positions,
          3,
          packed,
          stride,
          weights,
          null,
          3 * target,
          PICTURE_ERROR,
        )
      : MeshoptSimplifier.simplify(part.triangles, positions, 3, 3 * target, PICTURE_ERROR);
  return triangles;
}
