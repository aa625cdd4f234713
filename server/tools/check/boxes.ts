/**
 * Boxes around the primitives of a surface over a run of frames, and trees over the boxes. For tests between surfaces,
 * boxes are in world space. For self-tests, they are in a frame that moves with the surface's mean displacement, in a
 * straight line between frames. So a sheet at 100 m/s does not sweep over itself: a common motion does not change
 * whether two of its primitives meet.
 */
import type { Surface } from "./recording.ts";
import type { Frames } from "./separate.ts";
import { Tree } from "./tree.ts";

/** Relative to the largest coordinate: bounds the float64 rounding of the mean displacement and of the subtraction. */
const ROUNDING = 2 ** -50;

export interface Boxed {
  /** float64[6] each */
  vertices: Float64Array;
  edges: Float64Array;
  readonly edgeTree: Tree;
  triangles: Float64Array;
  triangleTree: Tree;
}

/** Boxes of a surface's vertices from frame `from` to `to`, float64[6 n]. @param moving in the moving frame */
export function vertexBoxes(
  { x, stride }: Frames,
  { vertices }: Surface,
  from: number,
  to: number,
  moving: boolean,
): Float64Array {
  const n = vertices.length;
  const boxes = new Float64Array(6 * n);
  const shift = [0, 0, 0];
  let largest = 0;
  for (let v = 0; v < n; v++)
    for (let r = 0; r < 3; r++) [boxes[6 * v + r], boxes[6 * v + 3 + r]] = [Infinity, -Infinity];
  for (let f = from; f <= to; f++) {
    if (moving && f > from) {
      for (let r = 0; r < 3; r++) {
        let sum = 0;
        for (let v = 0; v < n; v++)
          sum += x[f * stride + 3 * vertices[v]! + r]! - x[from * stride + 3 * vertices[v]! + r]!;
        shift[r] = sum / n;
      }
    }
    for (let v = 0; v < n; v++) {
      const at = f * stride + 3 * vertices[v]!;
      const box = 6 * v;
      for (let r = 0; r < 3; r++) {
        const value = x[at + r]! - shift[r]!;
        const size = Math.abs(x[at + r]!) + Math.abs(shift[r]!);
        if (size > largest) largest = size;
        if (value < boxes[box + r]!) boxes[box + r] = value;
        if (value > boxes[box + 3 + r]!) boxes[box + 3 + r] = value;
      }
    }
  }
  if (moving) for (let i = 0; i < boxes.length; i++) boxes[i]! += (i % 6 < 3 ? -ROUNDING : ROUNDING) * largest;
  return boxes;
}

/** Mean side length of the boxes. */
export function meanSide(boxes: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < boxes.length; i += 6)
    sum += boxes[i + 3]! - boxes[i]! + (boxes[i + 4]! - boxes[i + 1]!) + (boxes[i + 5]! - boxes[i + 2]!);
  return boxes.length === 0 ? 0 : sum / (boxes.length / 2);
}

function around(vertices: Float64Array, places: Uint32Array, size: number): Float64Array {
  const boxes = new Float64Array(6 * (places.length / size));
  for (let i = 0, box = 0; i < places.length; i += size, box += 6) {
    for (let r = 0; r < 3; r++) {
      let low = Infinity;
      let high = -Infinity;
      for (let k = 0; k < size; k++) {
        const at = 6 * places[i + k]! + r;
        if (vertices[at]! < low) low = vertices[at]!;
        if (vertices[at + 3]! > high) high = vertices[at + 3]!;
      }
      boxes[box + r] = low;
      boxes[box + 3 + r] = high;
    }
  }
  return boxes;
}

/** The previous run's tree of each list of primitives, in world space and in the moving frame. */
const kept = { world: new WeakMap<Uint32Array, Tree>(), moving: new WeakMap<Uint32Array, Tree>() };

/**
 * Neighbors on a surface stay neighbors, so the previous run's tree is refitted. If its boxes overlap too much, builds
 * a new one.
 */
function treeOf(primitives: Uint32Array, boxes: Float64Array, moving: boolean): Tree {
  const trees = moving ? kept.moving : kept.world;
  const known = trees.get(primitives);
  if (known?.fit(boxes)) return known;
  const tree = new Tree(boxes);
  trees.set(primitives, tree);
  return tree;
}

/**
 * @param vertices result of vertexBoxes with the same `moving`
 * @returns valid until the next call for the same surface with the same `moving`
 */
export function boxed({ edgeEnds, corners }: Surface, vertices: Float64Array, moving: boolean): Boxed {
  const edges = around(vertices, edgeEnds, 2);
  const triangles = around(vertices, corners, 3);
  let edgeTree: Tree | undefined;
  return {
    vertices,
    edges,
    // built on demand: only swept tests of edges need it
    get edgeTree() {
      return (edgeTree ??= treeOf(edgeEnds, edges, moving));
    },
    triangles,
    triangleTree: treeOf(corners, triangles, moving),
  };
}
