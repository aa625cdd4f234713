/** The kinetic front of contact (contact/front.ts). */
import { F32, I32, LANES } from "./sizes.ts";

/**
 * Leaves have the numbers from 0 on, nodes those behind them; a node's children have higher numbers than it has, or are
 * leaves.
 */
export const FRONT_LEAVES = 0; // i32 pointer: LEAF rows
export const FRONT_LEAF_COUNT = FRONT_LEAVES + I32; // i32
export const FRONT_CHILDREN = FRONT_LEAF_COUNT + I32; // i32 pointer: four numbers for each node, -1: none
export const FRONT_NODE_COUNT = FRONT_CHILDREN + I32; // i32
export const FRONT_ROOTS = FRONT_NODE_COUNT + I32; // i32 pointer: a number for every surface, -1: it has nothing
// i32 pointer: f32x4 low and f32x4 -high of every number: where it is from S to x
export const FRONT_BOXES = FRONT_ROOTS + I32;
export const FRONT_WAYS = FRONT_BOXES + I32; // i32 pointer: FRONT_WAY_BYTES for every leaf
export const FRONT_GATHERED = FRONT_WAYS + I32; // i32 pointer: GATHERED rows, one for every leaf
// i32: counts safe positions; what is gathered has the one that it was gathered for
export const FRONT_STAMP = FRONT_GATHERED + I32;
export const FRONT_PARTED = FRONT_STAMP + I32; // i32 pointer: PARTED rows
export const FRONT_PARTED_CAPACITY = FRONT_PARTED + I32; // i32
export const FRONT_PARTED_COUNT = FRONT_PARTED_CAPACITY + I32; // i32
export const FRONT_CLOSE = FRONT_PARTED_COUNT + I32; // i32 pointer: CLOSE rows
export const FRONT_CLOSE_CAPACITY = FRONT_CLOSE + I32; // i32
export const FRONT_CLOSE_COUNT = FRONT_CLOSE_CAPACITY + I32; // i32
// i32 pointer: of every lane of the list the next one of its CLOSE row plus one, u24, and its name there, u8; of a free
// one the next that is free
export const FRONT_NEXT = FRONT_CLOSE_COUNT + I32;
export const FRONT_FREE_VERTEX = FRONT_NEXT + I32; // i32 first free lane plus one, 0: none
export const FRONT_FREE_EDGE = FRONT_FREE_VERTEX + I32; // i32 likewise
export const FRONT_WHOLE = FRONT_FREE_EDGE + I32; // i32 PARTED rows when the front was made
// i32 pointer: contact blocks that are solved in this substep, vertex-triangle first
export const FRONT_SOLVED = FRONT_WHOLE + I32;
export const FRONT_SOLVED_CAPACITY = FRONT_SOLVED + I32; // i32 blocks
export const FRONT_SOLVED_VERTEX = FRONT_SOLVED_CAPACITY + I32; // i32 blocks
export const FRONT_SOLVED_EDGE = FRONT_SOLVED_VERTEX + I32; // i32 blocks
export const FRONT_SOLVED_HEADS = FRONT_SOLVED_EDGE + I32; // i32 pointer: i32 a block, -1
// i32 pointer: i32x2 a near lane: its pair's number and color; behind FRONT_PICKED_CAPACITY of them as many to pick of
export const FRONT_PICKED = FRONT_SOLVED_HEADS + I32;
export const FRONT_REST = FRONT_PICKED + I32; // i32 pointer: f32x4 per particle, where it is at rest
export const FRONT_SHAPES = FRONT_REST + I32; // i32 pointer: PATCH rows, one for every leaf
export const FRONT_SCRATCH = FRONT_SHAPES + I32; // i32 pointer: FRONT_SCRATCH_BYTES for each of SHARED_PARTS
export const FRONT_NAMED = FRONT_SCRATCH + I32; // i32 pointer: i32 a name, scratch of frontRows.ts; 0 between pairs
export const FRONT_CHAINED = FRONT_NAMED + I32; // i32 1: the chains of the response hold all rows that there are
// i32 pointer: VERDICT rows, one for every CLOSE row, and SHARED_PARTS more
export const FRONT_VERDICTS = FRONT_CHAINED + I32 + 8;
export const FRONT_FOUND = FRONT_VERDICTS + I32; // i32 pointer: rows that are noted while leaves are measured
export const FRONT_FOUND_CAPACITY = FRONT_FOUND + I32; // i32 words
// i32 1: all rows did not fit; until there are few again, only what comes near on the way is one
export const FRONT_SPARSE = FRONT_FOUND_CAPACITY + I32;
export const FRONT_PICKED_CAPACITY = FRONT_SPARSE + I32; // i32 lanes
export const FRONT_HOLDS = FRONT_PICKED_CAPACITY + I32; // i32 pointer: HOLD rows, one for every surface (contact/hold.ts)
export const FRONT_HELD_ANY = FRONT_HOLDS + I32; // i32 1: at least one surface is held
// i32 pointer: of every surface its first leaf and its first node less the leaves, and behind them what there are
export const FRONT_STARTS = FRONT_HELD_ANY + I32;
export const FRONT_BYTES = FRONT_STARTS + I32;

/** A surface that may be held for the rest of a tick. */
export const HOLD_HELD = 0; // i32 HELD_*: its particles stay where their substep began
export const HOLD_ROOT = HOLD_HELD + I32; // i32 surface that stands for its group, while groups are counted
export const HOLD_ROWS = HOLD_ROOT + I32; // i32 rows of the group, at the surface that stands for it
export const HOLD_TICKS = HOLD_ROWS + I32; // i32 ticks for which it was held, since the host has read them
export const HOLD_TOLD = HOLD_TICKS + I32; // i32 ticks for which members take it for held (server/sim/crowding.ts)
export const HOLD_BYTES = HOLD_TOLD + I32 + 12;

/** From FRONT_FREE_* to where lanes wait that become free while the response has chains, i32 first lane plus one. */
export const FRONT_WAITING = 56;

/** What becomes of a CLOSE row: its number, APART and so on, and the addresses between which its rows are noted. */
export const VERDICT_ROW = 0;
export const VERDICT_KIND = VERDICT_ROW + I32;
export const VERDICT_FROM = VERDICT_KIND + I32;
export const VERDICT_TO = VERDICT_FROM + I32;
export const VERDICT_BYTES = VERDICT_TO + I32;

/** Four triangles at most, and what they are the first to have; first i32 how many particles, at most 12. */
export const LEAF_VERTICES = I32; // i32 own ones
export const LEAF_EDGES = LEAF_VERTICES + I32; // i32 own ones
export const LEAF_TRIANGLES = LEAF_EDGES + I32; // i32
export const LEAF_PARTICLE = LEAF_TRIANGLES + I32; // i32 x 12 addresses
export const LEAF_VERTEX = LEAF_PARTICLE + 12 * I32; // i32 x 12
export const LEAF_EDGE = LEAF_VERTEX + 12 * I32; // i32x2 x 12
export const LEAF_TRIANGLE = LEAF_EDGE + 24 * I32; // i32x4 x 3: first, second, third corners
export const LEAF_SIDE2 = LEAF_TRIANGLE + 3 * LANES; // f32 square of the longest side at rest, m^2
export const LEAF_BYTES = LEAF_SIDE2 + F32 + 12;

/**
 * How far its particles have gone since they were last counted from 0, at least and at most, by axis: up to the last
 * substep, and up to x.
 */
export const WAY_LOW = 0; // f32x4
export const WAY_HIGH = WAY_LOW + LANES;
export const WAY_NOW_LOW = WAY_HIGH + LANES;
export const WAY_NOW_HIGH = WAY_NOW_LOW + LANES;
export const FRONT_WAY_BYTES = WAY_NOW_HIGH + LANES;

/** Boxes of a leaf's primitives at S in lanes: triangles, and three groups of four edges. */
export const GATHERED_EDGE_BYTES = 6 * LANES; // f32x4 x 3 low corners, x 3 high corners
export const GATHERED_EDGES = GATHERED_EDGE_BYTES;
export const GATHERED_STAMP = GATHERED_EDGES + 3 * GATHERED_EDGE_BYTES; // i32
export const GATHERED_BYTES = GATHERED_STAMP + I32 + 12;

/** Two primitives that wait to be measured. */
export const QUEUED_FIRST = 0; // i32 address of a vertex's particle, or of an edge in LEAF_EDGE
export const QUEUED_SECOND = QUEUED_FIRST + I32; // i32 of a triangle's first corner in LEAF_TRIANGLE, or of an edge
export const QUEUED_NAME = QUEUED_SECOND + I32; // i32 name of the row that they may be
export const QUEUED_ROWS = QUEUED_NAME + I32; // i32 of the first of four: which of them are rows
export const QUEUED_BYTES = QUEUED_ROWS + I32;

/** A thread's own: two leaves at rest, and as many pairs as two leaves have, 12 x 12 edges at most. */
export const FRONT_SCRATCH_QUEUE = 2 * GATHERED_BYTES;
export const FRONT_SCRATCH_BYTES = FRONT_SCRATCH_QUEUE + 144 * QUEUED_BYTES;

/** A leaf's particles at S in lanes, three groups of f32x4 x, y, z; behind them at rest (frontShape.ts). */
export const PATCH_REST = 9 * LANES;
export const PATCH_STAMP = PATCH_REST + 9 * LANES; // i32
export const PATCH_LEAST = PATCH_STAMP + I32; // f32 least ratio of a squared distance at S to that at rest
export const PATCH_MOST = PATCH_LEAST + F32; // f32 greatest
export const PATCH_COMPARED = PATCH_MOST + F32; // i32 PATCH_STAMP for which the two ratios are
export const PATCH_BYTES = PATCH_COMPARED + I32;

/** Two numbers whose boxes one axis keeps apart: low of the one, -high of the other. */
export const PARTED_LOW = 0; // i32 address in FRONT_BOXES
export const PARTED_HIGH = PARTED_LOW + I32; // i32 likewise
export const PARTED_REACH = PARTED_HIGH + I32; // f32 m
export const PARTED_SURFACES = PARTED_REACH + F32; // i32 first << 16 | second
export const PARTED_BYTES = PARTED_SURFACES + I32;

/** Two leaves that no axis keeps apart. */
export const CLOSE_FIRST = 0; // i32 leaf
export const CLOSE_SECOND = CLOSE_FIRST + I32; // i32 leaf
export const CLOSE_SURFACES = CLOSE_SECOND + I32; // i32 first << 16 | second
export const CLOSE_LANES = CLOSE_SURFACES + I32; // i32 first lane of its rows plus one, 0: none
export const CLOSE_REACH = CLOSE_LANES + I32; // f32 r, m
// f32 what is no row may come so much nearer and still be further apart than r, m; negative: not measured
export const CLOSE_SLACK = CLOSE_REACH + F32;
// f32 square of how far apart they are at rest, m^2; negative: not measured
export const CLOSE_REST2 = CLOSE_SLACK + F32;
// f32x4 WAY_LOW of the first less WAY_HIGH of the second when it was measured, and as far as the slack allows for
export const CLOSE_LOW = CLOSE_REST2 + F32 + 4;
export const CLOSE_HIGH = CLOSE_LOW + LANES; // f32x4 the other way around
// f32x4 unit vector from the second to the first that may keep them apart
export const CLOSE_NORMAL = CLOSE_HIGH + LANES;
export const CLOSE_BYTES = CLOSE_NORMAL + LANES;

/** HOLD_HELD. */
export const HELD_SUBSTEP = 1; // until the substep ends: the response could not clear its pairs
export const HELD_TICK = 2; // until the tick ends: its pairs did not fit into the lists
