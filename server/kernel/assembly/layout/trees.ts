/** Bounding volume trees (intersections/trees.ts): one for a surface's triangles, one for its edges. */
import { F32, I32, LANES } from "./sizes.ts";

export const TREE_NODES = 0; // i32 pointer: NODE rows, the root first, a node before its children
export const TREE_NODE_COUNT = TREE_NODES + I32; // i32; 0: no primitives
export const TREE_LEAVES = TREE_NODE_COUNT + I32; // i32 pointer: LEAF rows
export const TREE_LEAF_COUNT = TREE_LEAVES + I32; // i32
export const TREE_COUNT = TREE_LEAF_COUNT + I32; // i32 primitives: four in every leaf, the rest in the last
export const TREE_LONGEST = TREE_COUNT + I32; // f32 greatest distance of two corners of a primitive at rest, m
export const TREE_BYTES = TREE_LONGEST + F32;

/** Boxes of four children in lanes, then the box around all of them. */
export const NODE_LOW = 0; // f32x4 of x, of y, of z
export const NODE_HIGH = NODE_LOW + LANES + 32; // f32x4 of x, of y, of z
export const NODE_CHILDREN = NODE_HIGH + 3 * LANES; // i32x4 addresses; a leaf's with bit 0 set; 0: none
export const NODE_BOX_LOW = NODE_CHILDREN + LANES; // f32x4 x y z
export const NODE_BOX_HIGH = NODE_BOX_LOW + LANES;
export const NODE_BYTES = NODE_BOX_HIGH + LANES;

/**
 * Four primitives in lanes: i32x4 addresses of their corners, corner by corner, then f32x4 coordinates x y z of the
 * first corner, of the second, ... as of the last refit.
 */
export const TRIANGLE_LEAF_AT = 3 * LANES;
export const TRIANGLE_LEAF_BYTES = TRIANGLE_LEAF_AT + 9 * LANES;

export const EDGE_LEAF_AT = 2 * LANES;
export const EDGE_LEAF_BYTES = EDGE_LEAF_AT + 6 * LANES;
