/**
 * Contact between surfaces: surfaces, pairs as they are listed, blocks of contacts, intersections, marks of particles.
 */
import { F32, I32, LANES } from "./sizes.ts";

export const SURFACE_FIRST = 0; // i32 address of the body's first particle in X (its surface particles come first)
export const SURFACE_COUNT = SURFACE_FIRST + I32; // i32 surface particles
export const SURFACE_TRIANGLES = SURFACE_COUNT + I32; // i32 pointer: addresses, three per triangle
export const SURFACE_TRIANGLE_COUNT = SURFACE_TRIANGLES + I32; // i32
export const SURFACE_RADIUS = SURFACE_TRIANGLE_COUNT + I32; // f32 contact thickness, m
export const SURFACE_SOLID = SURFACE_RADIUS + F32; // i32 SOLID
export const SURFACE_EDGES = SURFACE_SOLID + I32; // i32 pointer: addresses, two per edge
export const SURFACE_EDGE_COUNT = SURFACE_EDGES + I32; // i32
// i32 pointer: bounding volumes of the triangles (trees.ts); 0: it has none
export const SURFACE_TRIANGLE_TREE = SURFACE_EDGE_COUNT + I32;
export const SURFACE_EDGE_TREE = SURFACE_TRIANGLE_TREE + I32; // i32 pointer
// i32 pointer: a byte for every surface, MEETS_*: may the two touch (its own: may it touch itself)
export const SURFACE_MEETS = SURFACE_EDGE_TREE + I32;
export const SURFACE_STATIC = SURFACE_MEETS + I32; // f32 square root of the static friction coefficient
export const SURFACE_DYNAMIC = SURFACE_STATIC + F32; // f32 square root of the dynamic one
export const SURFACE_RESTITUTION = SURFACE_DYNAMIC + F32; // f32 square root of the coefficient of restitution
// f32 how far a particle may stray from its trajectory while the list of pairs stays valid, m
export const SURFACE_MARGIN = SURFACE_RESTITUTION + F32;
export const SURFACE_LIMIT = SURFACE_MARGIN + F32; // f32 greatest sensible SURFACE_MARGIN, m
// i32: a core mesh of a collider whose own shape particles answer to (collide.ts); triangle meshes have none: 0
export const SURFACE_SHAPED = SURFACE_LIMIT + F32 + 16;
export const SURFACE_BYTES = SURFACE_SHAPED + I32 + 12;

/** SURFACE_SOLID. */
export const SOLID_CLOTH = 0; // a sheet: both sides are outside
export const SOLID_SOFT = 1; // closed: a soft body
export const SOLID_BALL = 2; // balls.ts handles it
export const SOLID_COLLIDER = 3; // a collider's core mesh

/** A byte of SURFACE_MEETS. */
export const MEETS_NEVER = 0;
export const MEETS = 1;
export const MEETS_MARKED = 2; // contact is off between what is MARK_INTERSECTING of the one and of the other
export const MEETS_INTERSECTING = 3; // they are so tangled that contact between them is off
export const MEETS_SKIPPED = 4; // likewise, and no search for intersections now
// added to one of these while both are asleep or fixed: no contact; and where the two touched when they fell asleep
export const MEETS_ASLEEP = 16;
export const MEETS_TOUCHING = 32;

/** SURFACE_SHAPED. */
export const SHAPED = 1;
export const SHAPED_SMOOTH = 2; // so large and round that nothing else has to push: pairs of it are only verified

/**
 * A pair of primitives as the broad phase lists it (pairs.ts): vertex and triangle (p, a, b, c) or two edges (a0, a1,
 * b0, b1).
 */
export const PAIR_ADDRESS = 0; // i32x4 particle addresses in X
export const PAIR_NORMAL = PAIR_ADDRESS + LANES; // f32x3 unit vector from the second's closest point to the first's
export const PAIR_GAP = PAIR_NORMAL + 3 * F32; // f32 their distance, m
export const PAIR_SURFACES = PAIR_GAP + F32; // i32 first's surface << 16 | second's
export const PAIR_THICKNESS = PAIR_SURFACES + I32; // f32 distance that contact keeps, m
// u32 of a new row: its CLOSE row << 8 | its name there; once it is placed: its lane, -1: none
export const PAIR_COLOR = PAIR_THICKNESS + F32;
// i32 of a near pair: 1 .. 3, the triangle's corner that is nearest to the vertex, or 1, an end of an edge is nearest;
// else 0
export const PAIR_CORNER = PAIR_COLOR + I32;
export const PAIR_BYTES = PAIR_CORNER + I32;

/** Listing by several threads (pairChunks.ts): chunks of all blocks of four vertices or edges, piece after piece. */
export const CHUNKS_PIECES = 0; // i32 pointer: PIECE rows, and one more with the sum of all blocks
export const CHUNKS_PIECE_COUNT = CHUNKS_PIECES + I32; // i32
export const CHUNKS_BLOCKS = CHUNKS_PIECE_COUNT + I32; // i32 blocks in a chunk
export const CHUNKS_COUNT = CHUNKS_BLOCKS + I32; // i32 chunks
export const CHUNKS_ROWS = CHUNKS_COUNT + I32; // i32 pointer: CHUNK rows
export const CHUNKS_PAGES = CHUNKS_ROWS + I32; // i32 pointer: PAGE_BYTES each
export const CHUNKS_PAGE_COUNT = CHUNKS_PAGES + I32; // i32
export const CHUNKS_POSITIONS = CHUNKS_PAGE_COUNT + I32; // i32 address that is listed from
export const CHUNKS_TRAJECTORIES = CHUNKS_POSITIONS + I32; // i32 likewise
export const CHUNKS_TAKEN = CHUNKS_TRAJECTORIES + I32 + 28; // i32, atomic: pages asked for; on a cache line of its own
export const CHUNKS_BYTES = CHUNKS_TAKEN + I32 + 60;

/** Vertices of surface a against triangles of b, or edges of a against edges of b. */
export const PIECE_FIRST = 0; // i32 blocks before it
export const PIECE_A = PIECE_FIRST + I32; // i32 surface number
export const PIECE_B = PIECE_A + I32; // i32
export const PIECE_EDGES = PIECE_B + I32; // i32 1: edges, 0: vertices
export const PIECE_BYTES = PIECE_EDGES + I32;

export const CHUNK_VERTEX_PAGES = 0; // i32 address of the first page, 0: none
export const CHUNK_EDGE_PAGES = CHUNK_VERTEX_PAGES + I32; // i32 likewise
export const CHUNK_BYTES = CHUNK_EDGE_PAGES + I32;

export const PAGE_NEXT = 0; // i32 address, 0: none
export const PAGE_ROWS = PAGE_NEXT + I32; // i32 PAIR rows in it: vertex-triangle from its front, edge-edge from its end
export const PAGE_AT = PAGE_ROWS + I32 + 8;
export const PAGE_BYTES = PAGE_AT + 96 * LANES;

export const PAGE_CAPACITY = 32; // rows

/** An edge (a, b) and a triangle (c, d, e) that it meets (intersections.ts). */
export const INTERSECTION_ADDRESS = 0; // i32x5 particle addresses in X
export const INTERSECTION_SURFACES = INTERSECTION_ADDRESS + 5 * I32; // i32 edge's surface << 16 | triangle's
// i32 1: goes through the inside for certain; 0: touches it, or nothing less than exact arithmetic can tell
export const INTERSECTION_CROSSES = INTERSECTION_SURFACES + I32;
/**
 * The list once it is read: what is to be driven, five particles a row, one or more rows for a constraint
 * (resolution.ts).
 */
export const INTERSECTION_ROWS = INTERSECTION_CROSSES; // i32 of this constraint
// f32 how far they are to go apart in a substep, m; 0: left alone
export const INTERSECTION_DRIVE = INTERSECTION_CROSSES + I32;
export const INTERSECTION_NORMAL = INTERSECTION_DRIVE + F32; // f32x3 that way
// f32x5 of the particles: where edge and triangle meet, negative for what goes the other way
export const INTERSECTION_WEIGHT = INTERSECTION_NORMAL + 3 * F32;
export const INTERSECTION_BYTES = INTERSECTION_WEIGHT + 5 * F32;

/** Two surfaces that part as wholes, and the way; kept while they are tangled (server/sim/intersections). */
// i32 lower surface << 16 | higher; never 0 in use, because a surface does not part from itself
export const WAY_PAIR = 0;
export const WAY_TICK = WAY_PAIR + I32; // i32 when it was found
export const WAY_DIRECTION = WAY_TICK + I32; // f32x3 unit vector, of the lower surface
// i32 1 + the surface that the other one is drawn out of, in which it was wholly; 0: neither was in the other
export const WAY_OUTER = WAY_DIRECTION + 3 * F32;
export const WAY_BYTES = WAY_OUTER + I32 + 8;

export const WAY_COUNT = 64;

/** Four pairs of one kind and color. */
export const CONTACT_BLOCK_ADDRESS = 0; // i32x4 x 4: first .. fourth particle of each
// f32x4 x 3: a direction in which the pair is apart, from the second to the first
export const CONTACT_BLOCK_NORMAL = CONTACT_BLOCK_ADDRESS + 4 * LANES;
export const CONTACT_BLOCK_KEEP = CONTACT_BLOCK_NORMAL + 3 * LANES; // f32x4 least distance, m
export const CONTACT_BLOCK_THICKNESS = CONTACT_BLOCK_KEEP + LANES; // f32x4 distance that contact keeps, m
// f32x4 distance when the pair was looked at last (of pairs that are far a lower bound), m; for tests and tools
export const CONTACT_BLOCK_GAP = CONTACT_BLOCK_THICKNESS + LANES;
export const CONTACT_BLOCK_NEAR = CONTACT_BLOCK_GAP + LANES; // i32x4 mask: solved in this substep
export const CONTACT_BLOCK_BAD = CONTACT_BLOCK_NEAR + LANES; // i32x4 mask: not cleared
// f32x4 x 4: closest points' weights, negative for the second primitive
export const CONTACT_BLOCK_WEIGHT = CONTACT_BLOCK_BAD + LANES;
export const CONTACT_BLOCK_STATIC = CONTACT_BLOCK_WEIGHT + 4 * LANES; // f32x4 static friction coefficient
export const CONTACT_BLOCK_DYNAMIC = CONTACT_BLOCK_STATIC + LANES; // f32x4 dynamic
export const CONTACT_BLOCK_BOUNCE = CONTACT_BLOCK_DYNAMIC + LANES; // f32x4 coefficient of restitution
// i32x4 bits: corner k of the triangle is this pair's to answer for when it is what the vertex is nearest to
export const CONTACT_BLOCK_OWNS = CONTACT_BLOCK_BOUNCE + LANES;
// f32x4 x 3: push on the first primitive in the last substep, kg m, while the room has piles (contactLoads.ts)
export const CONTACT_BLOCK_PUSH = CONTACT_BLOCK_OWNS + LANES;
export const CONTACT_BLOCK_BYTES = CONTACT_BLOCK_PUSH + 4 * LANES; // whole cache lines
/** Of a packed block: i32x4 pair number plus one of each lane; 0: none. */
export const CONTACT_BLOCK_PAIR = CONTACT_BLOCK_GAP;

/** A push that outlives the list of pairs (contactLoads.ts). */
export const PUSH_ADDRESS = 0; // i32x4 particles of the pair
export const PUSH_FORCE = PUSH_ADDRESS + LANES; // f32x3 on the first primitive, kg m
export const PUSH_NEXT = PUSH_FORCE + 3 * F32; // i32 scratch: the next push on the same first particle, plus one
export const PUSH_BYTES = PUSH_NEXT + I32;

/** Pushes that there is room for, for each particle. */
export const PUSHES_A_PARTICLE = 4;

/** H_PRESSED in a room with piles. */
export const PILES = -1;

/**
 * What decides whether a block is looked at stands apart from it (blockStatus.ts): i32 0 if no lane is
 * CONTACT_BLOCK_NEAR, and i32 0 if no lane is CONTACT_BLOCK_BAD.
 */
export const STATUS_BYTES = 4;

/** Colors; pairs beyond go into blocks of their own, behind the last color. */
export const CONTACT_COLORS = 128;

/**
 * Entries of a table of colors: near pairs, then those that are not (contactList.ts); of each the colors and what
 * stands alone.
 */
export const COLOR_ENTRIES = 258;

/**
 * Sums of a zone: f64 mass, m S (3), m u (3), m S x u (3), m S S^T (6), displacement (3) and spin (3) to give, center
 * (3), flags.
 */
export const ZONE_BYTES = 208;

/**
 * There is room for at least so many, and for one a particle: before zones have their sums there, the pairs that get an
 * impulse have a row of that size (impulses.ts).
 */
export const IMPULSE_ROWS = 1024;
export const MARK_BYTES = 2; // a u16 for each particle (state/marks.ts)
export const MARK_CHANGED = 1;
export const MARK_ROUND = 2;
export const MARK_ZONE = 4; // of a rigid zone, while there are any
export const MARK_LEANS = 8; // on a collider, while there are impulses
export const MARK_INTERSECTING = 16;
export const MARK_LAGS = 32; // of a collider's core mesh: the response has held it back in the last substep
export const MARK_GLIDES = 64; // of a body that is drawn out of another one: colliders do not hold it by friction
// tangled with a collider; without MARK_INTERSECTING: of a body that is drawn out of one as a whole, or off one:
// colliders' shapes leave it alone, but for planes
export const MARK_WITHIN = 128;
export const MARK_SLOW = 256; // of a body that is: what began inside leaves slowly
export const MARK_RIGID = 512; // of a rigid body, for good
