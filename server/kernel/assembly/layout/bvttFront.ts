/** The bvtt front of contact (contact/detect/bvttFront.ts). */
import { F32, I32, LANES } from "./sizes.ts";

/** Leaves are numbered from 0, nodes follow. A node's children are leaves, or nodes with higher numbers. */
export const FRONT_LEAVES = 0; // i32 pointer: LEAF rows
export const FRONT_LEAF_COUNT = FRONT_LEAVES + I32; // i32
export const FRONT_CHILDREN = FRONT_LEAF_COUNT + I32; // i32 pointer: four numbers for each node, -1: no child
export const FRONT_NODE_COUNT = FRONT_CHILDREN + I32; // i32
export const FRONT_ROOTS = FRONT_NODE_COUNT + I32; // i32 pointer: root number of every surface, -1: no primitives
// i32 pointer: for every leaf and node, by number, its box swept from S to x: f32x4 low, f32x4 -high
export const FRONT_BOXES = FRONT_ROOTS + I32;
export const FRONT_DISPLACEMENTS = FRONT_BOXES + I32; // i32 pointer: DISPLACEMENT_BYTES for every leaf
export const FRONT_GATHERED = FRONT_DISPLACEMENTS + I32; // i32 pointer: GATHERED rows, one for every leaf
// i32: counts safe positions; gathered leaves carry the stamp that they were gathered for
export const FRONT_STAMP = FRONT_GATHERED + I32;
export const FRONT_SEPARATED = FRONT_STAMP + I32; // i32 pointer: SEPARATED rows
export const FRONT_SEPARATED_CAPACITY = FRONT_SEPARATED + I32; // i32
export const FRONT_SEPARATED_COUNT = FRONT_SEPARATED_CAPACITY + I32; // i32
export const FRONT_LEAF_PAIRS = FRONT_SEPARATED_COUNT + I32; // i32 pointer: LEAF_PAIR rows
export const FRONT_LEAF_PAIR_CAPACITY = FRONT_LEAF_PAIRS + I32; // i32
export const FRONT_LEAF_PAIR_COUNT = FRONT_LEAF_PAIR_CAPACITY + I32; // i32
// i32 pointer, for every lane of the list: u24 next lane of its LEAF_PAIR row plus one, and u8 the row's name; for a
// free lane the next free one
export const FRONT_NEXT = FRONT_LEAF_PAIR_COUNT + I32;
export const FRONT_FREE_VERTEX = FRONT_NEXT + I32; // i32 first free lane plus one, 0: none
export const FRONT_FREE_EDGE = FRONT_FREE_VERTEX + I32; // i32 first free lane plus one, 0: none
export const FRONT_WHOLE = FRONT_FREE_EDGE + I32; // i32 number of SEPARATED rows when the front was built
// i32 pointer: contact blocks that this substep solves, vertex-triangle blocks first
export const FRONT_SOLVED = FRONT_WHOLE + I32;
export const FRONT_SOLVED_CAPACITY = FRONT_SOLVED + I32; // i32 blocks
export const FRONT_SOLVED_VERTEX = FRONT_SOLVED_CAPACITY + I32; // i32 blocks
export const FRONT_SOLVED_EDGE = FRONT_SOLVED_VERTEX + I32; // i32 blocks
export const FRONT_SOLVED_HEADS = FRONT_SOLVED_EDGE + I32; // i32 pointer: i32 a block, -1
// i32 pointer: i32x2 for each near lane: pair number and color; FRONT_PICKED_CAPACITY further ones to pick from follow
export const FRONT_PICKED = FRONT_SOLVED_HEADS + I32;
export const FRONT_REST = FRONT_PICKED + I32; // i32 pointer: f32x4 per particle, its rest position
export const FRONT_SHAPES = FRONT_REST + I32; // i32 pointer: PATCH rows, one for every leaf
export const FRONT_SCRATCH = FRONT_SHAPES + I32; // i32 pointer: FRONT_SCRATCH_BYTES for each of SHARED_PARTS
// i32 pointer: i32 for each name, scratch of rows.ts; 0 between pairs
export const FRONT_NAMED = FRONT_SCRATCH + I32;
export const FRONT_CHAINED = FRONT_NAMED + I32; // i32 1: the chains of the response hold all rows
// i32 pointer: VERDICT rows (pair results), one for every LEAF_PAIR row, and SHARED_PARTS more
export const FRONT_VERDICTS = FRONT_CHAINED + I32 + 8;
export const FRONT_RESULTS = FRONT_VERDICTS + I32; // i32 pointer: rows that threads record while they measure leaves
export const FRONT_RESULT_CAPACITY = FRONT_RESULTS + I32; // i32 words
// i32 1: the rows did not fit; until few are left, only pairs that come near between S and x get rows
export const FRONT_SPARSE = FRONT_RESULT_CAPACITY + I32;
export const FRONT_PICKED_CAPACITY = FRONT_SPARSE + I32; // i32 lanes
export const FRONT_HOLDS = FRONT_PICKED_CAPACITY + I32; // i32 pointer: HOLD rows, one a surface (verify/heldGroups.ts)
export const FRONT_HELD_ANY = FRONT_HOLDS + I32; // i32 1: at least one surface is held
// i32 pointer, for every surface: first leaf, and first node minus the number of leaves; the totals follow
export const FRONT_STARTS = FRONT_HELD_ANY + I32;
export const FRONT_STIRS = FRONT_STARTS + I32; // i32 pointer: STIR rows, one for every leaf
export const FRONT_STIRRED = FRONT_STIRS + I32; // i32 pointer: u8 STIRRED_* bits for every leaf
export const FRONT_STIRRED_COUNT = FRONT_STIRRED + I32; // i32, atomic: leaves stirred in the last refit
export const FRONT_PREDICTS = FRONT_STIRRED_COUNT + I32; // i32 1: x is predicted, before contacts are solved
// i32 1: so many leaves are stirred that every pair is looked at
export const FRONT_RESTLESS = FRONT_PREDICTS + I32;
export const FRONT_QUIETED = FRONT_RESTLESS + I32; // i32 1: some pair may be quiet
// i32 pointer: for every LEAF_PAIR row i32x2, its leaves again; PAIR_QUIET is set in the first
export const FRONT_PAIR_LEAVES = FRONT_QUIETED + I32;
// i32 1: packed blocks still belong to the near lanes of H_BLOCK_PACKED
export const FRONT_PACKED = FRONT_PAIR_LEAVES + I32;
export const FRONT_PRESSED = FRONT_PACKED + I32; // i32 pressed pairs among the packed ones
export const FRONT_KEEPS = FRONT_PRESSED + I32; // i32 packed pairs that may keep pushes
export const FRONT_EMPTY_BLOCKS = FRONT_KEEPS + I32; // i32 empty packed blocks behind those of vertices, and of edges
export const FRONT_CALM = FRONT_EMPTY_BLOCKS + 2 * I32; // i32 substeps in which few leaves have been stirred
export const FRONT_FREED = FRONT_CALM + I32; // i32 1: a row has been freed since rows were last compacted
export const FRONT_TESTED = FRONT_FREED + I32; // u32, atomic: leaf pairs tested since the room began
export const FRONT_CHECKED = FRONT_TESTED + I32; // u32, atomic: blocks checked or predicted since then
export const FRONT_PAIR_MOTIONS = FRONT_CHECKED + I32; // i32 pointer: a PAIR_MOTION row for every LEAF_PAIR row
/** Boxes are fitted only when particles may have left a margin around them (bvttFront.ts). */
export const FRONT_FITS = FRONT_PAIR_MOTIONS + I32; // i32 1: boxes are fitted in this refit
// f32, atomic: greatest displacement of a particle from S to x in the last refit, m
export const FRONT_FARTHEST = FRONT_FITS + I32;
// f32 sum of FRONT_FARTHEST over the substeps that have ended since separated pairs were last scanned, m
export const FRONT_GONE = FRONT_FARTHEST + F32;
export const FRONT_MARGIN = FRONT_GONE + F32; // f32 greatest sum for which boxes are not fitted, m
// i32 pointer: NARROW rows, separated pairs that particles may bring together within the margin
export const FRONT_NARROW = FRONT_MARGIN + F32;
export const FRONT_NARROW_COUNT = FRONT_NARROW + I32; // i32; more than FRONT_LEAF_COUNT: not all are listed
export const FRONT_SCANNED = FRONT_NARROW_COUNT + I32; // i32 number of separated pairs after that scan
// f32 sum of FRONT_FARTHEST over the substeps that have ended since displacements were 0, m
export const FRONT_PATH = FRONT_SCANNED + I32;
// i32 1: no leaf is stirred, and ways are fitted only where they are needed
export const FRONT_STEADY = FRONT_PATH + F32;
// i32 leaf pairs that this substep's last front has tested: only those with moved particles are tested again
export const FRONT_KNOWN = FRONT_STEADY + I32;
export const FRONT_RIGID_PAIRS = FRONT_KNOWN + I32; // i32 1: a packed pair has a rigid body
export const FRONT_BYTES = FRONT_RIGID_PAIRS + I32;

export const NARROW_PAIR = 0; // i32 number of a separated pair
export const NARROW_LEFT = NARROW_PAIR + I32; // f32 distance that it had beyond r, m
export const NARROW_BYTES = NARROW_LEFT + F32;

/** Motion of a leaf since it was last stirred (contact/detect/stirredLeaves.ts). */
export const STIR_MOVED = 0; // f32 path of its particles up to the last substep, m
export const STIR_NOW = STIR_MOVED + F32; // f32 largest displacement from S to x, m
export const STIR_PLAY = STIR_NOW + F32; // f32 path after which it is stirred, m
export const STIR_BYTES = STIR_PLAY + F32 + 4;

/** Bits of FRONT_STIRRED. */
export const STIRRED = 1; // by the last refit
export const STIRRED_BEFORE = 2; // by any refit of this substep
export const STIRRED_FAR = 4; // by the last refit, and it has moved further than STIR plays
export const STIRRED_BY_RESPONSE = 8; // the response has moved a particle in this substep

export const PAIR_LEAVES_BYTES = 2 * I32;
/** Bit of a leaf pair: neither of its leaves has been stirred since it was tested, and it has slack left. */
export const PAIR_QUIET = 0x80000000;

/** A surface that may be held until a substep or tick ends. */
export const HOLD_HELD = 0; // i32 HELD_*: its particles stay at the safe positions
export const HOLD_ROOT = HOLD_HELD + I32; // i32 surface that represents its group, while groups are counted
export const HOLD_ROWS = HOLD_ROOT + I32; // i32 rows of the group, at its representative
export const HOLD_TICKS = HOLD_ROWS + I32; // i32 ticks that it was held, since the host last read them
export const HOLD_TOLD = HOLD_TICKS + I32; // i32 ticks that members are shown it as held (sim/rest/crowding.ts)
export const HOLD_BYTES = HOLD_TOLD + I32 + 12;

/** Offset from FRONT_FREE_* to the lanes that become free while the response has chains, i32 first lane plus one. */
export const FRONT_WAITING = 56;

/**
 * Result of testing a LEAF_PAIR row: its number, its kind (APART and so on), and the addresses between which its rows
 * lie.
 */
export const VERDICT_ROW = 0;
export const VERDICT_KIND = VERDICT_ROW + I32;
export const VERDICT_FROM = VERDICT_KIND + I32;
export const VERDICT_TO = VERDICT_FROM + I32;
export const VERDICT_BYTES = VERDICT_TO + I32;

/**
 * A leaf: at most four triangles, and those of their vertices and edges that no earlier leaf owns. It begins with the
 * number of its particles (i32), at most 12.
 */
export const LEAF_VERTICES = I32; // i32 number of vertices that it owns
export const LEAF_EDGES = LEAF_VERTICES + I32; // i32 number of edges that it owns
export const LEAF_TRIANGLES = LEAF_EDGES + I32; // i32 number of triangles
export const LEAF_PARTICLE = LEAF_TRIANGLES + I32; // i32 x 12 addresses
export const LEAF_VERTEX = LEAF_PARTICLE + 12 * I32; // i32 x 12
export const LEAF_EDGE = LEAF_VERTEX + 12 * I32; // i32x2 x 12
export const LEAF_TRIANGLE = LEAF_EDGE + 24 * I32; // i32x4 x 3: first, second, third corners
export const LEAF_SIDE2 = LEAF_TRIANGLE + 3 * LANES; // f32 square of the longest side at rest, m^2
export const LEAF_BYTES = LEAF_SIDE2 + F32 + 12;

/**
 * Least and greatest displacement of a leaf's particles since counting restarted, by axis: up to the last substep, and
 * up to x.
 */
export const DISPLACEMENT_LOW = 0; // f32x4
export const DISPLACEMENT_HIGH = DISPLACEMENT_LOW + LANES;
export const DISPLACEMENT_NOW_LOW = DISPLACEMENT_HIGH + LANES;
export const DISPLACEMENT_NOW_HIGH = DISPLACEMENT_NOW_LOW + LANES;
export const DISPLACEMENT_BYTES = DISPLACEMENT_NOW_HIGH + LANES;

/** Boxes of a leaf's primitives at S in lanes: triangles, and three groups of four edges. */
export const GATHERED_EDGE_BYTES = 6 * LANES; // f32x4 x 3 low corners, x 3 high corners
export const GATHERED_EDGES = GATHERED_EDGE_BYTES;
export const GATHERED_STAMP = GATHERED_EDGES + 3 * GATHERED_EDGE_BYTES; // i32
export const GATHERED_BYTES = GATHERED_STAMP + I32 + 12;

/** A queued pair of primitives that will be measured. */
export const QUEUED_FIRST = 0; // i32 address of a vertex's particle, or of an edge in LEAF_EDGE
// i32 address of a triangle's first corner in LEAF_TRIANGLE, or of an edge
export const QUEUED_SECOND = QUEUED_FIRST + I32;
export const QUEUED_NAME = QUEUED_SECOND + I32; // i32 name of the row that they may become
export const QUEUED_ROWS = QUEUED_NAME + I32; // i32, in the first of four: bits of those that are rows
export const QUEUED_BYTES = QUEUED_ROWS + I32;

/** Scratch of a thread: two leaves at rest, and a queue for all pairs of two leaves, 12 x 12 edges at most. */
export const FRONT_SCRATCH_QUEUE = 2 * GATHERED_BYTES;
export const FRONT_SCRATCH_BYTES = FRONT_SCRATCH_QUEUE + 144 * QUEUED_BYTES;

/** Particles of a leaf at S in lanes, three groups of f32x4 x, y, z. Their rest positions follow (leafShapes.ts). */
export const PATCH_REST = 9 * LANES;
export const PATCH_STAMP = PATCH_REST + 9 * LANES; // i32
export const PATCH_LEAST = PATCH_STAMP + I32; // f32 least ratio of squared distances, at S to at rest
export const PATCH_MOST = PATCH_LEAST + F32; // f32 greatest ratio
export const PATCH_COMPARED = PATCH_MOST + F32; // i32 PATCH_STAMP that the two ratios belong to
export const PATCH_BYTES = PATCH_COMPARED + I32;

/**
 * A separated pair: the boxes of two nodes are apart on one axis. The row has the places of two numbers: the low side
 * of one box, and minus the high side of the other.
 */
export const SEPARATED_LOW = 0; // i32 address in FRONT_BOXES
export const SEPARATED_HIGH = SEPARATED_LOW + I32; // i32 address in FRONT_BOXES
export const SEPARATED_REACH = SEPARATED_HIGH + I32; // f32 m
export const SEPARATED_SURFACES = SEPARATED_REACH + F32; // i32 first << 16 | second
export const SEPARATED_BYTES = SEPARATED_SURFACES + I32;

/** A leaf pair: two leaves that no axis separates. */
export const LEAF_PAIR_FIRST = 0; // i32 leaf
export const LEAF_PAIR_SECOND = LEAF_PAIR_FIRST + I32; // i32 leaf
export const LEAF_PAIR_SURFACES = LEAF_PAIR_SECOND + I32; // i32 first << 16 | second
export const LEAF_PAIR_LANES = LEAF_PAIR_SURFACES + I32; // i32 first lane of its rows plus one, 0: none
export const LEAF_PAIR_REACH = LEAF_PAIR_LANES + I32; // f32 distance r up to which its primitives have rows, m
// f32 square of the distance at rest, m^2; negative: not measured
export const LEAF_PAIR_REST2 = LEAF_PAIR_REACH + F32;
// f32x4 last separation direction, a unit vector from the second leaf to the first
export const LEAF_PAIR_NORMAL = LEAF_PAIR_REST2 + F32 + 8;
export const LEAF_PAIR_BYTES = LEAF_PAIR_NORMAL + LANES;

/** The slack of a leaf pair, apart from its other data: the test of all pairs reads nothing else. */
// f32x3 DISPLACEMENT_LOW of the first minus DISPLACEMENT_HIGH of the second, at its measurement, plus the motion that
// the slack allows for
export const PAIR_MOTION_LOW = 0;
// f32 slack, m: primitives without a row stay further apart than r if they come nearer by less than this. Negative: not
// measured
export const PAIR_MOTION_SLACK = 3 * F32;
// f32x3 DISPLACEMENT_HIGH of the first minus DISPLACEMENT_LOW of the second
export const PAIR_MOTION_HIGH = PAIR_MOTION_LOW + LANES;
export const PAIR_MOTION_BYTES = PAIR_MOTION_HIGH + LANES;

/** Values of HOLD_HELD. */
export const HELD_SUBSTEP = 1; // until the substep ends: the response could not clear its pairs
export const HELD_TICK = 2; // until the tick ends: its pairs did not fit into the lists
