/** Contact between surfaces: surfaces, listed pairs, contact blocks, intersections, particle marks. */
import { F32, I32, LANES } from "./sizes.ts";

export const SURFACE_FIRST = 0; // i32 address of the body's first particle in X (its surface particles come first)
export const SURFACE_COUNT = SURFACE_FIRST + I32; // i32 surface particles
export const SURFACE_TRIANGLES = SURFACE_COUNT + I32; // i32 pointer: addresses, three per triangle
export const SURFACE_TRIANGLE_COUNT = SURFACE_TRIANGLES + I32; // i32
export const SURFACE_RADIUS = SURFACE_TRIANGLE_COUNT + I32; // f32 contact thickness, m
export const SURFACE_SOLID = SURFACE_RADIUS + F32; // i32 SOLID
export const SURFACE_EDGES = SURFACE_SOLID + I32; // i32 pointer: addresses, two per edge
export const SURFACE_EDGE_COUNT = SURFACE_EDGES + I32; // i32
// i32 pointer: bounding volumes of the triangles (trees.ts); 0: no tree
export const SURFACE_TRIANGLE_TREE = SURFACE_EDGE_COUNT + I32;
export const SURFACE_EDGE_TREE = SURFACE_TRIANGLE_TREE + I32; // i32 pointer
// i32 pointer: a byte MEETS_* for every surface: whether the two may touch (for itself: self-contact)
export const SURFACE_MEETS = SURFACE_EDGE_TREE + I32;
export const SURFACE_STATIC = SURFACE_MEETS + I32; // f32 square root of the static friction coefficient
export const SURFACE_DYNAMIC = SURFACE_STATIC + F32; // f32 square root of the dynamic friction coefficient
export const SURFACE_RESTITUTION = SURFACE_DYNAMIC + F32; // f32 square root of the coefficient of restitution
export const SURFACE_STILL = SURFACE_RESTITUTION + F32; // i32 1: the core mesh of a collider without motion
// f32 m, largest useful move of a particle before its leaf is measured again
export const SURFACE_LIMIT = SURFACE_STILL + I32;
// i32 SHAPED_* of a collider's core mesh if particles collide with its own shape (collide.ts); triangle meshes: 0
export const SURFACE_SHAPED = SURFACE_LIMIT + F32 + 16;
export const SURFACE_BYTES = SURFACE_SHAPED + I32 + 12;

/** Values of SURFACE_SOLID. */
export const SOLID_CLOTH = 0; // a sheet: both sides are outside
export const SOLID_SOFT = 1; // closed: a soft body
export const SOLID_BALL = 2; // solved by balls.ts
export const SOLID_COLLIDER = 3; // a collider's core mesh

/** Values of a byte of SURFACE_MEETS. */
export const MEETS_NEVER = 0;
export const MEETS = 1;
export const MEETS_MARKED = 2; // contact is off between MARK_INTERSECTING particles of the two
export const MEETS_INTERSECTING = 3; // the two intersect: contact between them is off
export const MEETS_SKIPPED = 4; // contact is off, and intersections are not searched now
// MEETS_ASLEEP is added while both are asleep or fixed: no contact. MEETS_TOUCHING: the two touched when they fell
// asleep
export const MEETS_ASLEEP = 16;
export const MEETS_TOUCHING = 32;

/** Values of SURFACE_SHAPED. */
export const SHAPED = 1;
// large and smooth, so that its shape alone keeps surfaces out: its pairs are only verified
export const SHAPED_SMOOTH = 2;

/**
 * A new row of contact (newRows.ts): vertex and triangle (p, a, b, c) or two edges (a0, a1,
 * b0, b1).
 */
export const PAIR_ADDRESS = 0; // i32x4 particle addresses in X
export const PAIR_NORMAL = PAIR_ADDRESS + LANES; // f32x3 unit vector from the second's closest point to the first's
export const PAIR_GAP = PAIR_NORMAL + 3 * F32; // f32 their distance, m
export const PAIR_SURFACES = PAIR_GAP + F32; // i32 first's surface << 16 | second's
export const PAIR_THICKNESS = PAIR_SURFACES + I32; // f32 distance that contact keeps, m
// u32 for a new row: its LEAF_PAIR row << 8 | its name there; once it is placed: its lane, -1: none
export const PAIR_COLOR = PAIR_THICKNESS + F32;
// i32 for a near pair: 1 .. 3, the triangle's corner nearest to the vertex; or 1, if an end of an edge is nearest; else
// 0
export const PAIR_CORNER = PAIR_COLOR + I32;
export const PAIR_BYTES = PAIR_CORNER + I32;

/** An edge (a, b) and a triangle (c, d, e) that intersect (intersections.ts). */
export const INTERSECTION_ADDRESS = 0; // i32x5 particle addresses in X
export const INTERSECTION_SURFACES = INTERSECTION_ADDRESS + 5 * I32; // i32 edge's surface << 16 | triangle's
// i32 1: the edge crosses the triangle's inside for certain; 0: it touches, or only exact arithmetic could tell
export const INTERSECTION_CROSSES = INTERSECTION_SURFACES + I32;
/**
 * The same row after the host has read the list: five particles to drive apart. A constraint has one or more rows
 * (resolution.ts).
 */
export const INTERSECTION_ROWS = INTERSECTION_CROSSES; // i32 rows of this constraint
// f32 distance to move apart in a substep, m; 0: left alone
export const INTERSECTION_DRIVE = INTERSECTION_CROSSES + I32;
export const INTERSECTION_NORMAL = INTERSECTION_DRIVE + F32; // f32x3 direction to move apart
// f32x5 weights of the particles at the intersection, negative for those that move the other way
export const INTERSECTION_WEIGHT = INTERSECTION_NORMAL + 3 * F32;
export const INTERSECTION_BYTES = INTERSECTION_WEIGHT + 5 * F32;

/**
 * Two surfaces that are separated as wholes, and their separation direction; kept while they intersect
 * (server/sim/intersections).
 */
// i32 lower surface << 16 | higher; never 0 in use, because a surface is not separated from itself
export const SEPARATION_PAIR = 0;
export const SEPARATION_TICK = SEPARATION_PAIR + I32; // i32 tick when it was found
export const SEPARATION_DIRECTION = SEPARATION_TICK + I32; // f32x3 unit vector along which the lower surface moves
// i32 1 + the enclosing surface, if the other one was wholly inside and is pulled out of it; 0: neither enclosed the
// other
export const SEPARATION_OUTER = SEPARATION_DIRECTION + 3 * F32;
export const SEPARATION_BYTES = SEPARATION_OUTER + I32 + 8;

export const SEPARATION_COUNT = 64;

/** Four pairs of one kind and color. */
export const CONTACT_BLOCK_ADDRESS = 0; // i32x4 x 4: first .. fourth particle of each
// f32x4 x 3: a direction that separates the pair, from the second to the first
export const CONTACT_BLOCK_NORMAL = CONTACT_BLOCK_ADDRESS + 4 * LANES;
export const CONTACT_BLOCK_KEEP = CONTACT_BLOCK_NORMAL + 3 * LANES; // f32x4 least distance that contact guarantees, m
export const CONTACT_BLOCK_THICKNESS = CONTACT_BLOCK_KEEP + LANES; // f32x4 distance that contact keeps, m
// f32x4 distance at the last check (a lower bound for far pairs), m; for tests and tools
export const CONTACT_BLOCK_GAP = CONTACT_BLOCK_THICKNESS + LANES;
export const CONTACT_BLOCK_NEAR = CONTACT_BLOCK_GAP + LANES; // i32x4 mask: solved in this substep
export const CONTACT_BLOCK_BAD = CONTACT_BLOCK_NEAR + LANES; // i32x4 mask: not cleared
// f32x4 x 4: closest points' weights, negative for the second primitive
export const CONTACT_BLOCK_WEIGHT = CONTACT_BLOCK_BAD + LANES;
export const CONTACT_BLOCK_STATIC = CONTACT_BLOCK_WEIGHT + 4 * LANES; // f32x4 static friction coefficient
export const CONTACT_BLOCK_DYNAMIC = CONTACT_BLOCK_STATIC + LANES; // f32x4 dynamic
export const CONTACT_BLOCK_BOUNCE = CONTACT_BLOCK_DYNAMIC + LANES; // f32x4 coefficient of restitution
// i32x4 bits 0 .. 2: this pair is the one that is solved if corner k of the triangle is nearest to the vertex; from
// OWNS_PLACE on: its lane in the packed blocks
export const CONTACT_BLOCK_OWNS = CONTACT_BLOCK_BOUNCE + LANES;
// f32x4 x 3: push on the first primitive in the last substep, kg m, while the room has piles (contactLoads.ts)
export const CONTACT_BLOCK_PUSH = CONTACT_BLOCK_OWNS + LANES;
// f32x4 twice the larger play of both leaves, m (stirredLeaves.ts)
export const CONTACT_BLOCK_PLAY = CONTACT_BLOCK_PUSH + 3 * LANES;
export const CONTACT_BLOCK_BYTES = CONTACT_BLOCK_PLAY + LANES; // whole cache lines
/** In a packed block: i32x4, for each lane the number of its pair plus one; 0: no pair. */
export const CONTACT_BLOCK_PAIR = CONTACT_BLOCK_GAP;

/** A push that outlives the list of pairs (contactLoads.ts). */
export const PUSH_ADDRESS = 0; // i32x4 particles of the pair
export const PUSH_FORCE = PUSH_ADDRESS + LANES; // f32x3 on the first primitive, kg m
export const PUSH_NEXT = PUSH_FORCE + 3 * F32; // i32 scratch: the next push on the same first particle, plus one
export const PUSH_BYTES = PUSH_NEXT + I32;

/** Capacity of the list of pushes, per particle. */
export const PUSHES_A_PARTICLE = 4;

/** H_PRESSED in a room with piles or a lasting load: pairs keep pushes. */
export const PILES = -1;

/**
 * Status words, stored apart from the blocks (blockStatus.ts): i32 0 if no lane is CONTACT_BLOCK_NEAR, and i32 0 if no
 * lane is CONTACT_BLOCK_BAD.
 */
export const STATUS_BYTES = 4;

/** In CONTACT_BLOCK_OWNS: shift of a near lane's place in the packed blocks. */
export const OWNS_PLACE = 3;

/**
 * Bits of a word of H_BLOCK_NEAR: near lanes, pressed ones from NEAR_PRESSED on, those beside a face from NEAR_BESIDE,
 * far ones from NEAR_FAR.
 */
export const NEAR_LANES = 15;
export const NEAR_PRESSED = 4;
export const NEAR_PRESSED_LANES = NEAR_LANES << NEAR_PRESSED;
export const NEAR_BESIDE = 8;
export const NEAR_KEY = NEAR_LANES | NEAR_PRESSED_LANES | (NEAR_LANES << NEAR_BESIDE);
export const NEAR_FAR = 16;
export const NEAR_FAR_LANES = NEAR_LANES << NEAR_FAR;
export const NEAR_FRESH = 0x1000; // near lanes or their directions have changed since pairs were packed

/** Bits of a word of H_BLOCK_QUIET. */
export const QUIET_AHEAD = 1; // no further lane can come near by a predicted x
export const QUIET_STILL = 2; // the check would clear all lanes, and change none
export const QUIET = QUIET_AHEAD | QUIET_STILL;
// The upper bits count the stirs until the block is awake, in this unit. At 0, QUIET_AHEAD and QUIET_STILL are invalid.
export const QUIET_STIR = 4;

/** Number of colors. Further pairs get blocks of their own behind the last color. */
export const CONTACT_COLORS = 128;

/**
 * Entries of a color table (contactList.ts): for near pairs and for the rest, the colors and one entry for pairs
 * without a color.
 */
export const COLOR_ENTRIES = 258;

/**
 * Sums of a zone, f64: mass, m S (3), m u (3), m S x u (3), m S S^T (6), displacement (3) and spin (3) to apply, center
 * (3), flags.
 */
export const ZONE_BYTES = 208;

/**
 * Least number of rows; there is also one for each particle. Before zones store their sums there, pairs with an impulse
 * use rows of that size (impulses.ts).
 */
export const IMPULSE_ROWS = 1024;
export const MARK_BYTES = 2; // a u16 for each particle (state/marks.ts)
export const MARK_CHANGED = 1;
export const MARK_ROUND = 2;
export const MARK_ZONE = 4; // member of a rigid zone, while zones are solved
export const MARK_STOPPED = 8; // stopped by a collider, while impulses are solved
export const MARK_INTERSECTING = 16;
export const MARK_LAGS = 32; // particle of a collider's core mesh that the response held back in the last substep
// particle of a body that is pulled out of another one: colliders apply no friction to it
export const MARK_GLIDES = 64;
// intersects a collider; without MARK_INTERSECTING: the body is pulled out of or off a collider as a whole. Colliders'
// shapes ignore it, except planes
export const MARK_WITHIN = 128;
export const MARK_SLOW = 256; // began inside a collider, and leaves it slowly
export const MARK_RIGID = 512; // particle of a rigid body, always
export const MARK_MET = 1024; // particle of a prefactored sheet that is near another body in this substep
export const MARK_COUNTED = 2048; // while the neighbors of a round are counted
export const MARK_SLIDES = 4096; // in a pair that slides, while the kept forces of its prefactored body are updated
