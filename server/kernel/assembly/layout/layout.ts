/**
 * The memory map that the kernel (asc) and the loader (tsc) share: byte sizes, byte offsets, phase kinds. Numbers only,
 * so that both compilers read the same file. All addresses in memory are absolute byte addresses in the room's one
 * WebAssembly.Memory.
 */
export * from "./implicitLayout.ts";

// ---- header, at address HEADER
// -------------------------------------------------------------------------------------------------
/** Address 0 stays unused, so that a zero pointer is a bug that shows. */
export const HEADER = 64;
/** i32 pointers: the four particle arrays, each f32x4 per particle. */
export const H_X = 64; // position x y z, inverse mass w
export const H_XPREV = 68; // position at the start of the substep, contact radius
export const H_V = 72; // velocity, damping rate (1/s)
export const H_ACC = 76; // external acceleration, square root of the friction coefficient
export const H_PARTICLES = 80; // i32: particles, padding included (a multiple of 4)
export const H_PROGRAM = 84; // i32 pointer: the phases of one substep
export const H_PHASES = 88; // i32: how many
export const H_SUBSTEPS = 92; // i32: substeps in one tick
export const H_SUBSTEP_SECONDS = 96; // f32: h
export const H_POINTS = 100; // i32 pointer: weighted-point constraints
export const H_POINT_COUNT = 104; // i32: slots in use or not; inactive ones are skipped
export const H_COLLIDERS = 108; // i32 pointer
export const H_COLLIDER_COUNT = 112; // i32
export const H_TICK = 116; // u32: ticks done
// i32 pointers: f32x4 per particle, m, of which the fourth is 0; 0: a room without (sim/precision.ts). A particle's
// place is x plus its low word; what it has moved in this substep is x - xPrev plus its rounding (particles.ts)
export const H_LOW = 120;
export const H_ROUNDING = 124;
export const H_LOW_SPEED = 128; // likewise, m/s: a particle's velocity is v plus this
export const H_SURFACE = 132; // i32 pointer: per body surface tables for the broad phase
export const H_BODY_COUNT = 136; // i32
export const H_TICK_SECONDS = 152; // f32: length of one tick
export const H_WATCH = 156; // i32: what the host wants to see, WATCH bits, added
export const H_BODIES = 160; // i32 pointer: BODY rows
export const H_WARM_START = 164; // i32: 1 while stress is being remembered from tick to tick (warmStart.ts)
export const H_WARM_STARTED = 168; // i32: H_WARM_START of the last tick: its multipliers are kept
// i32 pointer: f32x4 per particle, what the remembered stress moves it by in every substep, m
export const H_SUPPORT = 172;
export const H_WIND = 176; // i32 pointer: the WIND row
export const H_STOOD = 180; // u32: ticks done in which time stood still: simulated time is that of the others
export const H_SHAPES = 256; // i32 pointer: SHAPE rows
export const H_SUBSTEP = 260; // i32: substep of the tick that runs now
export const H_TICK_HZ = 264; // f32: ticks in a second
export const H_MOTIONS = 268; // i32 pointer: MOTION rows
export const H_MOTION_COUNT = 272; // i32
export const WATCH_SUBSTEPS = 1;
export const WATCH_PHASES = 2;
export const WATCH_SHARES = 4;
export const WATCH_PREEMPTION = 8;
export const H_SURFACE_COUNT = 284; // i32 SURFACE rows: a body's each, then the core meshes of colliders
export const H_PAIRS = 288; // i32 pointer: PAIR rows, vertex-triangle from the front, edge-edge from the back
export const H_PAIR_CAPACITY = 292; // i32 rows
export const H_VERTEX_PAIRS = 296; // i32 how many
export const H_EDGE_PAIRS = 300; // i32 how many
export const H_REST = 304; // i32 pointer: f32x4 per particle, undeformed position
export const H_INTERSECTIONS = 308; // i32 pointer: INTERSECTION rows
export const H_INTERSECTION_CAPACITY = 312; // i32 rows
export const H_INTERSECTION_COUNT = 316; // i32 how many are filled
export const H_BALLS = 276; // i32 pointer: BALL rows
export const H_BALL_COUNT = 280; // i32
export const H_WARM_START_SUMS = 576; // three rows of four lanes: the orchestrator's scratch while it settles
/** Each of the scheduler's words on a cache line of its own. */
export const H_TICKET = 320; // i64: what is open: (publication << 8 | parts) << 32 | phase index; no parts: nothing
// i32: counts whenever a phase is opened or something else may concern a helper; helpers that found nothing to do sleep
// on it
export const H_OPENED = 328;
export const H_DONE = 384; // i32: chunks finished in this phase; an orchestrator that has waited for long sleeps on it
export const H_ORCHESTRATOR_SLEEPS = 388; // i32: 1 while it may
export const H_ACTIVE = 448; // i32: generation of the running tick, 0 between ticks; helpers wait on it
export const H_HELPERS_INSIDE = 512; // i32: helpers that are inside a tick now
export const H_SLEEPERS = 516; // i32: of them those that sleep, or are about to
export const H_JOINED = 520; // i32: helpers that have claimed a chunk of the tick that was opened last
export const H_TORN = 524; // i32: 1: a helper was lost inside a chunk, which nobody will finish
export const H_CHUNKS_SHARED = 528; // i32: its chunks that were up to be claimed
export const H_CHUNKS_HELPED = 532; // i32: of them those that helpers did
/** A row of HELPER_BYTES for each thread, on a cache line of its own; row 0 is the orchestrator's. */
export const H_HELPERS = 832;
export const HELPER_BYTES = 64;
export const HELPER_LEAVES = 0; // i32: 1: it is wanted elsewhere
// i32: 1 while it has a chunk, is about to claim one, or has not told of all that it has done
export const HELPER_CLAIMS = 4;
export const HELPER_NEXT = 8; // i64: the ticket's upper half << 32 | next chunk of this row's part of what is open
/** Contact between surfaces: touchList.ts. */
// i32 pointer: f32x4 per particle, where it was when the substep began; nothing intersects there. 0: no two surfaces
// ever meet, and nobody looks for pairs
export const H_SAFE = 640;
// i32 pointer: contact blocks, vertex-triangle from the front, edge-edge at the end
export const H_CONTACT_BLOCKS = 644;
export const H_CONTACT_BLOCK_CAPACITY = 648; // i32 blocks, a multiple of four
export const H_CONTACT_BLOCK_COUNT = 652; // i32 blocks listed
export const H_VERTEX_CONTACT_BLOCKS = 656; // i32 of them vertex-triangle
// i32 pointer: first block of every color of vertex-triangle, as many of edge-edge, both of the last whole list; then
// those of what was added last, and how many of each color are placed
export const H_CONTACT_COLORS = 660;
export const H_COLOR_MASKS = 664; // i32 pointer: two u64 per particle and class, scratch of the coloring
export const H_REFERENCE = 668; // i32 pointer: f32x4 per particle, up to where the front has counted its leaf's way
export const H_DUMMIES = 676; // i32 address of the first dummy
export const H_LIST_VALID = 680; // i32 1: the list holds what it promises
export const H_CHANGED = 684; // i32 pointer: i32 addresses of particles that the response has moved in this substep
export const H_CHANGED_FROM = 688; // i32 pointer: f32x4 per particle, where it was before
export const H_MARKS = 692; // i32 pointer: a byte per particle, MARK bits
export const H_INCIDENT = 696; // i32 pointer: per particle the first of its chain in H_INCIDENCES, plus one; 0: none
// i32 pointer: per particle of a pair (four times the pair's number, plus which) the next of the chain, likewise
export const H_INCIDENCES = 700;
export const H_QUEUE = 708; // i32 pointer: two queues of pair numbers, H_CONTACT_BLOCK_CAPACITY * 4 each
export const H_QUEUED = 712; // i32 pointer: a byte per pair
export const H_ZONES = 716; // i32 pointer: i32 per particle, union-find parent (particle number)
export const H_ZONE_SUMS = 720; // i32 pointer: ZONE_BYTES per particle, IMPULSE_ROWS at least
export const H_PAIR_SCRATCH = 744; // i32 pointer: 48 f64 of the response
export const H_RESOLUTION = 764; // i32 RESOLUTION bits: a search for intersections is due
export const H_DRIVE_COUNT = 768; // i32 rows of H_INTERSECTIONS that are driven apart in this tick
export const H_WAYS = 772; // i32 pointer: WAY_COUNT WAY rows
// i32 pointer: f32x4 per particle, how far it is expected to go while the list lives; fourth: substep of the list up to
// which its pairs are listed
export const H_TRAJECTORIES = 752;
export const H_CHUNKS = 756; // i32 pointer: the CHUNKS row
/**
 * Intersections are looked for at the start of the tick; all anew, those of whole surfaces too; members have been told.
 */
export const RESOLUTION_SEARCH = 1;
export const RESOLUTION_ANEW = 2;
export const RESOLUTION_REPORTED = 4;
export const H_EDGE_CONTACT_BLOCKS = 788; // i32 blocks edge-edge
export const H_BLOCK_STATUS = 800; // i32 pointer: the STATUS arrays, H_CONTACT_BLOCK_CAPACITY words each
export const H_SHARED_FIRST = 804; // i32: KIND_SHARED_CONTACTS: the first block
export const H_SHARED_COUNT = 808; // i32: how many
// i32, atomic: KIND_SHARED_CHECK: blocks with a pair that is not cleared; KIND_SHARED_CONTACTS: with one that was
// pushed far
export const H_SHARED_FOUND = 812;
export const H_SHARED_AGAIN = 828; // i32: KIND_SHARED_CONTACTS: 1 in all passes but the first
// i32 pointer: u32 per particle, address of the corner behind it in the triangle that owns it
export const H_OWNERS = 780;
/** Counts since the room began, u32. */
export const H_COUNT_LISTS = 724; // lists of pairs made
export const H_COUNT_IMPULSES = 728; // pairs that the response pushed apart
export const H_COUNT_ZONES = 732; // rigid impact zones
export const H_COUNT_STOPS = 736; // particles that were stopped at their last safe position
export const H_COUNT_CHECKS = 740; // pairs that the verification could not clear at once
export const H_FRONT = 760; // i32 pointer: the FRONT row; 0: no two surfaces ever meet
// i32 pointer: RIGID_CONTACT rows of rigid bodies (rigidContact.ts); 0: the room has none
export const H_RIGID_CONTACTS = 816;
export const H_RIGID_CONTACT_CAPACITY = 820; // i32
export const H_RIGID_CONTACT_COUNT = 824; // i32 rows that the last iteration solved
export const H_RIGID_KEPT = 792; // i32 pointer: table of RIGID_KEPT entries
export const H_RIGID_KEPT_CAPACITY = 796; // i32 a power of two
export const H_TOGETHER = 776; // i32 pointer: the TOGETHER row; 0: no implicit body may touch a surface
export const H_STAGE = 1856; // f64 for each stage, seconds that the last tick spent in it
/** In the order of sim/types.ts's KERNEL_STAGES. */
export const STAGE_WARM_START = 0;
export const STAGE_BROAD_PHASE = 1;
export const STAGE_INTEGRATE = 2;
export const STAGE_TETRAHEDRA = 3;
export const STAGE_TRIANGLES = 4;
export const STAGE_BENDING = 5;
export const STAGE_DISTANCES = 6;
export const STAGE_VOLUMES = 7;
export const STAGE_SHAPES = 8;
export const STAGE_SWEEPS = 9;
export const STAGE_POINTS = 10;
export const STAGE_CONTACTS = 11;
export const STAGE_RIGID = 12;
export const STAGE_IMPLICIT = 13;
export const STAGE_MOMENTUM = 14;
export const STAGE_COLLIDE = 15;
export const STAGE_VERIFY = 16;
export const STAGE_RESPONSE = 17;
export const STAGE_PLASTICITY = 18;
export const STAGE_INTERSECTIONS = 19;
export const STAGE_WIND = 20;
export const STAGES = 21;
export const HEADER_END = 2048; // H_STAGE + STAGES * 8, on a cache line

// ---- phases of a substep
// -------------------------------------------------------------------------------------------------------
export const PHASE_BYTES = 64;
export const PHASE_KIND = 0; // i32
export const PHASE_DATA = 4; // i32 pointer to the first block
export const PHASE_COUNT = 8; // i32 blocks (constraints) or particles
export const PHASE_CHUNK = 12; // i32 blocks or particles in a chunk
export const PHASE_CHUNKS = 16; // i32
export const PHASE_PASS = 20; // i32 PASS_FIRST and PASS_LAST, added
export const PHASE_STAGE = 24; // i32
export const PHASE_WARM_START = 28; // i32 pointer to the first block of remembered stress, 0 if the kind has none
/** What only some kinds need; each kind's file says which. */
export const PHASE_FIRST = 32; // i32 first particle, or bytes of a block
// i32 pointer to what the first block of constraints remembers between iterations, if that is in an array of its own
export const PHASE_OWN = 32;
export const PHASE_CORNERS = 36; // i32 particles of a constraint, or rows that it remembers
// i32 address: x_k of every particle, or the multipliers of iteration k, or BODY_MEETS of all its particles
export const PHASE_KEPT = 40;
export const PHASE_SUM = 44; // i32 address: corrections of every particle, their count in the fourth lane
export const PHASE_OLDER = 48; // i32 address: x_(k-1) of every particle, or the multipliers of iteration k-1
export const PHASE_OMEGA = 52; // f32 Chebyshev's factor of this iteration; 1 is none
export const PHASE_RUNS = 56; // i32 pointer: RUN rows, ascending; 0: none of its blocks is left out
export const PHASE_RUN_COUNT = 60; // i32
/** Blocks (or rows) of one body that may wait: left out while it does. */
export const RUN_FIRST = 0; // i32
export const RUN_END = 4; // i32
export const RUN_BODY = 8; // i32 address of its BODY row
export const RUN_BYTES = 16;

/** First iteration of a substep: multipliers start at zero. */
export const PASS_FIRST = 1;
/** Last iteration of a substep: nobody will ask for the multipliers. */
export const PASS_LAST = 2;

export const KIND_PREDICT = 0;
export const KIND_TET = 1;
export const KIND_TRIANGLE = 2;
export const KIND_BEND = 3;
export const KIND_POINTS = 4;
export const KIND_VELOCITY = 5;
export const KIND_COLLIDE = 6;
export const KIND_CONTACTS = 7;
export const KIND_BALANCE = 8;
export const KIND_RESTORE = 9;
export const KIND_TET_ORTHO = 10;
export const KIND_TET_PLASTIC = 11;
export const KIND_PLASTIC = 12;
/** The paper's form of an element: C = E. The same blocks, multipliers unused. */
export const KIND_PAPER_TET = 32;
export const KIND_PAPER_TRIANGLE = 33;
export const KIND_PAPER_BEND = 34;
export const KIND_PAPER_TET_ORTHO = 35;
export const KIND_PAPER_TET_PLASTIC = 36;
export const KIND_PAPER_NEO_HOOKEAN = 37;
export const KIND_PAPER_STABLE_NEO_HOOKEAN = 38;
/** Schedules other than Gauss-Seidel: sweep.ts. */
export const KIND_SWEEP_BEGIN = 40;
export const KIND_SWEEP_COLLECT = 41;
export const KIND_SWEEP_END = 42;
export const KIND_SWEEP_MEMORY = 43;
export const KIND_DISTANCE = 20;
export const KIND_VOLUME = 21;
export const KIND_HEXAHEDRON = 22;
export const KIND_ENCLOSED = 23;
export const KIND_NEO_HOOKEAN = 50;
export const KIND_STABLE_NEO_HOOKEAN = 51;
export const KIND_SHAPE = 60;
export const KIND_RIGID = 61;
export const KIND_MOVE = 62;
export const KIND_BALLS = 63;
export const KIND_CORE_MESHES = 64;
export const KIND_SAFE = 65;
export const KIND_VERIFY = 66;
export const KIND_IMPLICIT = 70; // IMPLICIT rows
export const KIND_WIND_FORCES = 72; // WIND_TRIANGLE rows
export const KIND_WIND_ACCELERATIONS = 73; // WIND_PARTICLE rows
export const KIND_IMPLICIT_AIM = 74; // the TOGETHER row: where its bodies are going
export const KIND_IMPLICIT_TOGETHER = 75; // the TOGETHER row
/**
 * Rows behind the program's phases, shared out in the middle of others: parts of a color's pairs, of the check of all
 * pairs.
 */
export const KIND_SHARED_CONTACTS = 67;
export const KIND_SHARED_CHECK = 68;
export const KIND_SHARED_REFIT = 69;
export const KIND_SHARED_CLOSE = 71;
export const SHARED_CONTACTS = 0; // which row of them
export const SHARED_CHECK = 1;
export const SHARED_REFIT = 2;
export const SHARED_CLOSE = 3;
export const SHARED_ROWS = 4;
/**
 * Parts that what is shared out in the middle of a phase has: enough for the threads of a room to even out, few enough
 * to be claimed quickly.
 */
export const SHARED_PARTS = 8;

// ---- particles
// -----------------------------------------------------------------------------------------------------------------
export const PARTICLE_BYTES = 16;
/**
 * Fixed particles at the end of the arrays that padded lanes point at: a unit tetrahedron's corners (1,0,0) (0,1,0)
 * (0,0,1) (0,0,0).
 */
export const DUMMIES = 4;

// ---- constraint blocks: four lanes each; every row is 16 bytes
// -----------------------------------------------------------------
/**
 * Tetrahedron: 4 x 4 addresses, D_m^-1 row by row. Isotropic and elastic: in the principal axes of K = sum w b b^T,
 * which every isotropic material allows (sim/memory/blocks/tet.ts); K (00 11 22) and the compliance S (normal,
 * coupling) times the unit 1/tr K (that of soft elements is smaller), and that unit, of which multipliers are
 * multiples: what is squared and cubed is near 1.
 */
export const TET_DM = 64;
export const TET_K = 208;
export const TET_S = 256;
export const TET_UNIT = 288; // kg m^2
export const TET_BYTES = 304;
/**
 * Orthotropic: D_m^-1, K (00 11 22 12 02 01) and S (00 11 22, then 12 02 01, then the shears 12 02 01) in the
 * material's axes.
 */
export const TET_ORTHO_S = 304;
export const TET_S_COUPLING = 352;
export const TET_S_SHEAR = 400;
export const TET_ORTHO_BYTES = 448;
/**
 * Plastic tetrahedron, isotropic or not: six plastic strains (shears gamma), which are state, then yield, creep and
 * max, and each lane's body number.
 */
export const TET_PLASTIC_STRAIN = 448;
export const TET_FLOW = 544;
export const TET_BODY = 592;
export const TET_PLASTIC_BYTES = 608;
/**
 * What a tetrahedron block remembers between iterations, in an array of its own, so that a substep of one iteration
 * does not touch it: six multipliers, and F [L] (9) as applied so far, of inverted lanes, too.
 */
export const TET_APPLIED = 96;
export const TET_KEPT_BYTES = 240;

/**
 * Remembered stress of a tetrahedron block: what it remembers between iterations, but as it acts in this tick
 * (warmStart.ts), and each lane's body number.
 */
export const WARM_START_BODY = 240;
export const WARM_START_BYTES = 256;

/**
 * Neo-Hookean tetrahedra: addresses, TET_DM and TET_K, then V mu, V lambda, the stretch below which the energy is
 * continued, each lane's body number. Nine multipliers in an array of their own.
 */
export const HYPER_MU = 304;
export const HYPER_LAMBDA = 320;
export const HYPER_CLAMP = 336;
export const HYPER_BODY = 352;
export const HYPER_BYTES = 368;
export const HYPER_KEPT_BYTES = 144;

/**
 * Triangle: 3 x 4 addresses, D_m^-1 (2x2), compliance S00 S01 S11 S22 (already divided by the volume), K = sum w b b^T
 * (00 01 11). In an array of their own three multipliers, and F [L] (3x2) as applied so far.
 */
export const TRI_DM = 48;
export const TRI_S = 112;
export const TRI_K = 176;
export const TRI_BYTES = 224;
export const TRI_APPLIED = 48;
export const TRI_KEPT_BYTES = 144;

/**
 * Bending stencil: 4 x 4 addresses, K0..K3, compliance, rest length of K x, sum w K^2. In an array of their own three
 * multipliers.
 */
export const BEND_K = 64;
export const BEND_ALPHA = 128;
export const BEND_REST = 144;
export const BEND_W = 160;
export const BEND_BYTES = 176;
export const BEND_KEPT_BYTES = 48;

/**
 * Geometric constraints, all alike behind their addresses: rest value, compliance, k', the bound of the multiplier, 1
 * if the multiplier is kept (compliance) or 0 (stiffness k'). The multiplier is behind them, or of distances in an
 * array of its own.
 */
export const GEOMETRIC_ALPHA = 16;
export const GEOMETRIC_STIFFNESS = 32;
export const GEOMETRIC_LIMIT = 48;
export const GEOMETRIC_KEEP = 64;
export const GEOMETRIC_LAMBDA = 80;
/**
 * Distance: 2 x 4 addresses, then rest length and the rest; the unit vector from x1 to x0 at rest. The multiplier's
 * bound is the upper one.
 */
export const DISTANCE_REST = 32;
export const DISTANCE_DIRECTION = 112;
export const DISTANCE_BYTES = 160;
export const DISTANCE_KEPT_BYTES = 16;
/**
 * Volume of a tetrahedron: 4 x 4 addresses, then six times the rest volume and the rest. The multiplier's bound is the
 * lower one.
 */
export const VOLUME_REST = 64;
export const VOLUME_BYTES = 160;
/**
 * Volumes of a hexahedron: 8 x 4 addresses, six times the rest volume in its two triangulations, compliance of each,
 * two multipliers.
 */
export const HEXAHEDRON_REST = 128;
export const HEXAHEDRON_ALPHA = 160;
export const HEXAHEDRON_LAMBDA = 176;
export const HEXAHEDRON_BYTES = 208;

/** Volume that a body's whole surface encloses: one row a body. */
export const ENCLOSED_SURFACE = 0; // i32 address of the body's SURFACE row
export const ENCLOSED_GRADIENT = 4; // i32 address of one f32x4 per surface particle
export const ENCLOSED_ALPHA = 8; // f32 m^3/Pa
export const ENCLOSED_STIFFNESS = 12; // f32 k'
export const ENCLOSED_LIMIT = 16; // f32 lower bound of the multiplier
export const ENCLOSED_KEEP = 20; // f32 1: the multiplier is kept, 0: not
export const ENCLOSED_REST = 24; // f64 six times the wanted volume, m^3
export const ENCLOSED_LAMBDA = 32; // f64
export const ENCLOSED_BYTES = 64;

// ---- weighted points: attachments and grabs
// ------------------------------------------------------------------------------------
/** sum_i b_i x_i = target. b sums to 1 (held in space) or to 0 (two bodies held together). */
export const POINT_MAX_PARTICLES = 24;
export const POINT_ACTIVE = 0; // i32: 0 not in use, POINT_HELD or POINT_HAND
export const POINT_HELD = 1;
/** The target moves by POINT_STEP a substep, and no further ahead than the force reaches. */
export const POINT_HAND = 2;
/** Holds an implicit body (implicit/points.ts). */
export const POINT_IMPLICIT = 3;
export const POINT_COUNT = 4; // i32 particles
export const POINT_ALPHA = 8; // f32 compliance, m/N
export const POINT_MAX_FORCE = 12; // f32 N
export const POINT_TARGET = 16; // f32x4
export const POINT_LAMBDA = 32; // f32x4
export const POINT_ADDRESS = 48; // i32[POINT_MAX_PARTICLES]
export const POINT_WEIGHT = 144; // f32[POINT_MAX_PARTICLES]
/** MOTION row of the collider that carries the target, which is then its place at rest; 0: it stands. */
export const POINT_MOTION = 240; // i32 pointer
/** Of a hand: the target's motion in each substep of this tick, m. */
export const POINT_STEP = 244; // f32[3]
/** Of a hand: the edges that it may stretch, EDGE rows, and how many there are. */
export const POINT_EDGES = 256; // i32 pointer
export const POINT_EDGE_COUNT = 260; // i32
/** Length of an edge over its rest length at which a hand has no force left; and that from which on it has less. */
export const POINT_MAX_STRETCH = 264; // f32
export const POINT_EASE_STRETCH = 268; // f32
/** Furthest that a hand moves the point in one substep, m. */
export const POINT_MAX_SHIFT = 272; // f32
/** Share of the force that the body as a whole leaves the hand in this tick, 0 to 1; and the body's number. */
export const POINT_SHARE = 280; // f32
export const POINT_BODY = 284; // i32
/** Share of its speed that the hand has in the next substep, 0 to 1. */
export const POINT_PACE = 288; // f32
/** Most of |L| in this substep, N s^2. */
export const POINT_LIMIT = 276; // f32
export const POINT_BYTES = 320;
export const POINT_MAX_EDGES = 384;
export const EDGE_A = 0; // i32 address of a particle
export const EDGE_B = 4; // i32
export const EDGE_INVERSE_SQUARE = 8; // f32 1 / rest length^2, 1/m^2
export const EDGE_BYTES = 12;

// ---- wind (wind.ts)
// -----------------------------------------------------------------------------------------------------------------
export const WIND_PHASES = 0; // i32 phases at the program's beginning that are passed over while there is none
export const WIND_ON = 4; // i32 1: there is
export const WIND_DRAG = 8; // f32 rho/2 C_D, kg/m^3 in the memory's unit of mass
export const WIND_LIFT = 12; // f32 rho/2 C_L
export const WIND_VELOCITY = 16; // f32x4 U, m/s; the fourth is 0
export const WIND_BASE = 32; // i32 pointer: f32x4 per particle, external acceleration without wind
export const WIND_MODE_COUNT = 36; // i32
export const WIND_MODES = 48; // WIND_MODE rows
/** One wave: k in cycles a meter, the phase in cycles, and how far it swings, m/s. */
export const WIND_MODE_PHASE = 12; // f32
export const WIND_MODE_SWING = 16; // f32x4, the fourth is 0
export const WIND_MODE_BYTES = 32;
export const WIND_MOST_MODES = 12;
export const WIND_BYTES = 432; // WIND_MODES + WIND_MOST_MODES * WIND_MODE_BYTES
/** A triangle that air reaches: addresses of its corners. */
export const WIND_TRIANGLE_CLOSED = 12; // i32 1: of a closed surface, outward
export const WIND_TRIANGLE_AIR = 16; // f32x3 u in this tick, m/s
// f32 s: the step over three times its part of the area around the corner that has the least of it
export const WIND_TRIANGLE_REACH = 28;
export const WIND_TRIANGLE_FORCE = 32; // f32x4 a third of the force, N in the memory's unit of mass
export const WIND_TRIANGLE_BYTES = 48;
export const WIND_PARTICLE_ADDRESS = 0; // i32 in X
export const WIND_PARTICLE_FIRST = 4; // i32 pointer: addresses of its triangles' rows
export const WIND_PARTICLE_COUNT = 8; // i32 how many
export const WIND_PARTICLE_BYTES = 16;

// ---- colliders
// -----------------------------------------------------------------------------------------------------------------
export const COLLIDER_PLANE = 0;
export const COLLIDER_SPHERE = 1;
export const COLLIDER_BOX = 2;
export const COLLIDER_CAPSULE = 3;
export const COLLIDER_CYLINDER = 4;
export const COLLIDER_FUNNEL = 5;
/** Triangles, which only its core mesh knows; the row has a ball that holds it (A, radius). */
export const COLLIDER_MESH = 6;
export const COLLIDER_TYPE = 0; // i32
export const COLLIDER_FRICTION = 4; // f32 square root of the coefficient
export const COLLIDER_RADIUS = 8; // f32 sphere, capsule, cylinder; funnel: of the wall's middle at a
export const COLLIDER_A = 16; // f32x3 plane normal + offset (4th), center, or end a of capsule, cylinder, funnel
export const COLLIDER_B = 32; // f32x3 box half extents, or end b
export const COLLIDER_ROTATION = 48; // f32x9 box axes as rows: local = R (x - center)
export const COLLIDER_RADIUS_B = 48; // f32 funnel: of the wall's middle at b
// f32 sphere, capsule: how deep the core lies where it is smooth (server/sim/colliders/smooth.ts), else 0, m
export const COLLIDER_INSET = 48;
export const COLLIDER_HALF_WALL = 52; // f32 funnel: half the wall's thickness
export const COLLIDER_MOTION = 12; // i32 address of its MOTION row; 0: it stands
// f32 radius of the sphere around A (boxes: the center) that holds the collider; infinite for a plane
export const COLLIDER_BOUND = 84;
export const COLLIDER_STATIC = 88; // f32 square root of the static friction coefficient
export const COLLIDER_RESTITUTION = 92; // f32 square root of the coefficient of restitution
export const COLLIDER_BYTES = 96;

/**
 * A collider's way: where it is at the start (0) and the end (1) of the substep. Pose: center s, rotation R row by row
 * from the frame in which the scene describes it to the world: world = s + R (p - center).
 */
export const MOTION_KEYS = 0; // i32 pointer
export const MOTION_KEY_COUNT = 4; // i32
export const MOTION_LOOP = 8; // i32 MOTION_ONCE, ...
export const MOTION_ONCE = 0; // stays at the last key
export const MOTION_CLOSED = 1; // begins again, where it ends
export const MOTION_JUMPS = 2; // begins again, somewhere else
export const MOTION_CENTER = 16; // f32x3 m
export const MOTION_RADIUS = 28; // f32 of the ball around the center that holds the collider, m; infinite for a plane
export const MOTION_TRAVEL = 32; // f32 furthest that a point of it goes in this tick, m
export const MOTION_S0 = 36; // f32x3
export const MOTION_R0 = 48; // f32x9
export const MOTION_S1 = 84; // f32x3
export const MOTION_R1 = 96; // f32x9
export const MOTION_CORE = 132; // i32 address of its core mesh's first particle in X
export const MOTION_CORE_COUNT = 136; // i32 particles; 0: it has none
export const MOTION_CORE_POINTS = 140; // i32 pointer: f64x3 per particle, from the center in the scene's frame, m
export const MOTION_JUMPED = 144; // i32 1: its path began again elsewhere in this substep
export const MOTION_BYTES = 160;
export const CORE_POINT_BYTES = 24;
/** f64: time (s), translation (m) x y z, unit quaternion w x y z. */
export const KEY_BYTES = 64;

// ---- body contacts: surfaces and candidates
// ------------------------------------------------------------------------------------
export const SURFACE_FIRST = 0; // i32 address of the body's first particle in X (its surface particles come first)
export const SURFACE_COUNT = 4; // i32 surface particles
export const SURFACE_TRIANGLES = 8; // i32 pointer: addresses, three per triangle
export const SURFACE_TRIANGLE_COUNT = 12; // i32
export const SURFACE_RADIUS = 16; // f32 contact thickness, m
export const SURFACE_SOLID = 20; // i32 SOLID
export const SOLID_CLOTH = 0; // a sheet: both sides are outside
export const SOLID_SOFT = 1; // closed: a soft body
export const SOLID_BALL = 2; // balls.ts handles it
export const SOLID_COLLIDER = 3; // a collider's core mesh
export const SURFACE_EDGES = 24; // i32 pointer: addresses, two per edge
export const SURFACE_EDGE_COUNT = 28; // i32
export const SURFACE_TRIANGLE_TREE = 32; // i32 pointer: bounding volumes of the triangles (trees.ts); 0: it has none
export const SURFACE_EDGE_TREE = 36; // i32 pointer
// i32 pointer: a byte for every surface, MEETS_*: may the two touch (its own: may it touch itself)
export const SURFACE_MEETS = 40;
export const MEETS_NEVER = 0;
export const MEETS = 1;
export const MEETS_MARKED = 2; // contact is off between what is MARK_INTERSECTING of the one and of the other
export const MEETS_INTERSECTING = 3; // they are so tangled that contact between them is off
export const MEETS_SKIPPED = 4; // likewise, and no search for intersections now
export const SURFACE_STATIC = 44; // f32 square root of the static friction coefficient
export const SURFACE_DYNAMIC = 48; // f32 square root of the dynamic one
export const SURFACE_RESTITUTION = 52; // f32 square root of the coefficient of restitution
// f32 how far a particle may stray from its trajectory while the list of pairs stays valid, m
export const SURFACE_MARGIN = 56;
export const SURFACE_LIMIT = 60; // f32 greatest sensible SURFACE_MARGIN, m
// i32: a core mesh of a collider whose own shape particles answer to (collide.ts); triangle meshes have none: 0
export const SURFACE_SHAPED = 80;
export const SHAPED = 1;
export const SHAPED_SMOOTH = 2; // so large and round that nothing else has to push: pairs of it are only verified
export const SURFACE_BYTES = 96;

/**
 * A pair of primitives as the broad phase lists it (pairs.ts): vertex and triangle (p, a, b, c) or two edges (a0, a1,
 * b0, b1).
 */
export const PAIR_ADDRESS = 0; // i32x4 particle addresses in X
export const PAIR_NORMAL = 16; // f32x3 unit vector from the second's closest point to the first's
export const PAIR_GAP = 28; // f32 their distance, m
export const PAIR_SURFACES = 32; // i32 first's surface << 16 | second's
export const PAIR_THICKNESS = 36; // f32 distance that contact keeps, m
export const PAIR_COLOR = 40; // u32 of a new row: its CLOSE row << 8 | its name there; once it is placed: its lane, -1: none
// i32 of a near pair: 1 .. 3, the triangle's corner that is nearest to the vertex, or 1, an end of an edge is nearest;
// else 0
export const PAIR_CORNER = 44;
export const PAIR_BYTES = 48;

/** Listing by several threads (pairChunks.ts): chunks of all blocks of four vertices or edges, piece after piece. */
export const CHUNKS_PIECES = 0; // i32 pointer: PIECE rows, and one more with the sum of all blocks
export const CHUNKS_PIECE_COUNT = 4; // i32
export const CHUNKS_BLOCKS = 8; // i32 blocks in a chunk
export const CHUNKS_COUNT = 12; // i32 chunks
export const CHUNKS_ROWS = 16; // i32 pointer: CHUNK rows
export const CHUNKS_PAGES = 20; // i32 pointer: PAGE_BYTES each
export const CHUNKS_PAGE_COUNT = 24; // i32
export const CHUNKS_POSITIONS = 28; // i32 address that is listed from
export const CHUNKS_TRAJECTORIES = 32; // i32 likewise
export const CHUNKS_TAKEN = 64; // i32, atomic: pages asked for; on a cache line of its own
export const CHUNKS_BYTES = 128;
/** Vertices of surface a against triangles of b, or edges of a against edges of b. */
export const PIECE_FIRST = 0; // i32 blocks before it
export const PIECE_A = 4; // i32 surface number
export const PIECE_B = 8; // i32
export const PIECE_EDGES = 12; // i32 1: edges, 0: vertices
export const PIECE_BYTES = 16;
export const CHUNK_VERTEX_PAGES = 0; // i32 address of the first page, 0: none
export const CHUNK_EDGE_PAGES = 4; // i32 likewise
export const CHUNK_BYTES = 8;
export const PAGE_NEXT = 0; // i32 address, 0: none
export const PAGE_ROWS = 4; // i32 PAIR rows in it: vertex-triangle from its front, edge-edge from its end
export const PAGE_AT = 16;
export const PAGE_CAPACITY = 32; // rows
export const PAGE_BYTES = 1552;

/** An edge (a, b) and a triangle (c, d, e) that it meets (intersections.ts). */
export const INTERSECTION_ADDRESS = 0; // i32x5 particle addresses in X
export const INTERSECTION_SURFACES = 20; // i32 edge's surface << 16 | triangle's
// i32 1: goes through the inside for certain; 0: touches it, or nothing less than exact arithmetic can tell
export const INTERSECTION_CROSSES = 24;
/**
 * The list once it is read: what is to be driven, five particles a row, one or more rows for a constraint
 * (resolution.ts).
 */
export const INTERSECTION_ROWS = 24; // i32 of this constraint
export const INTERSECTION_DRIVE = 28; // f32 how far they are to go apart in a substep, m; 0: left alone
export const INTERSECTION_NORMAL = 32; // f32x3 that way
// f32x5 of the particles: where edge and triangle meet, negative for what goes the other way
export const INTERSECTION_WEIGHT = 44;
export const INTERSECTION_BYTES = 64;
/** Two surfaces that part as wholes, and the way; kept while they are tangled (server/sim/intersections). */
// i32 lower surface << 16 | higher; never 0 in use, because a surface does not part from itself
export const WAY_PAIR = 0;
export const WAY_TICK = 4; // i32 when it was found
export const WAY_DIRECTION = 8; // f32x3 unit vector, of the lower surface
// i32 1 + the surface that the other one is drawn out of, in which it was wholly; 0: neither was in the other
export const WAY_OUTER = 20;
export const WAY_BYTES = 32;
export const WAY_COUNT = 64;
/** Four pairs of one kind and color. */
export const CONTACT_BLOCK_ADDRESS = 0; // i32x4 x 4: first .. fourth particle of each
// f32x4 x 3: a direction in which the pair is apart, from the second to the first
export const CONTACT_BLOCK_NORMAL = 64;
export const CONTACT_BLOCK_KEEP = 112; // f32x4 least distance, m
export const CONTACT_BLOCK_THICKNESS = 128; // f32x4 distance that contact keeps, m
// f32x4 distance when the pair was looked at last (of pairs that are far a lower bound), m; for tests and tools
export const CONTACT_BLOCK_GAP = 144;
export const CONTACT_BLOCK_NEAR = 160; // i32x4 mask: solved in this substep
export const CONTACT_BLOCK_BAD = 176; // i32x4 mask: not cleared
export const CONTACT_BLOCK_WEIGHT = 192; // f32x4 x 4: closest points' weights, negative for the second primitive
export const CONTACT_BLOCK_STATIC = 256; // f32x4 static friction coefficient
export const CONTACT_BLOCK_DYNAMIC = 272; // f32x4 dynamic
export const CONTACT_BLOCK_BOUNCE = 288; // f32x4 coefficient of restitution
// i32x4 bits: corner k of the triangle is this pair's to answer for when it is what the vertex is nearest to
export const CONTACT_BLOCK_OWNS = 304;
export const CONTACT_BLOCK_BYTES = 320;
/**
 * What decides whether a block is looked at stands apart from it, in two arrays of a word a block (blockStatus.ts).
 */
export const STATUS_NEAR = 0; // i32: 0 if no lane is CONTACT_BLOCK_NEAR
export const STATUS_BAD = 1; // i32: 0 if no lane is CONTACT_BLOCK_BAD
export const STATUS_BYTES = 8;
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
export const MARK_CHANGED = 1;
export const MARK_ROUND = 2;
export const MARK_ZONE = 4; // of a rigid zone, while there are any
export const MARK_LEANS = 4; // on a collider, while there are impulses: neither lists nor zones are made then
export const MARK_INTERSECTING = 8;
export const MARK_LAGS = 16; // of a collider's core mesh: the response has held it back in the last substep
export const MARK_GLIDES = 16; // of a body that is drawn out of another one: colliders do not hold it by friction
// tangled with a collider; without MARK_INTERSECTING: of a body that is drawn out of one as a whole, or off one:
// colliders' shapes leave it alone, but for planes
export const MARK_WITHIN = 32;
export const MARK_RIGID = 128; // of a rigid body, for good
export const MARK_SLOW = 64; // of a body that is: what began inside leaves slowly

// ---- whole bodies: what the solve did to their momentum
// -------------------------------------------------------------------------
export const BODY_FIRST = 0; // i32 address of the first particle in X
export const BODY_COUNT = 4; // i32 particles
export const BODY_FREE = 8; // i32 1: nothing holds or touches it in this tick
export const BODY_INVERTED_LIMIT = 12; // i32: BODY_INVERTED above it makes the body tangled, until BODY_INVERTED is 0
export const BODY_VELOCITY = 16; // f64x3 m/s to put back
export const BODY_SPIN = 40; // f64x3 rad/s to put back
export const BODY_CENTER = 64; // f64x3 m
export const BODY_GAIN = 88; // f32: share of the stress not yet remembered that memory takes over in this tick
export const BODY_KEEP = 92; // f32: share of the remembered stress that is kept
export const BODY_MISMATCH = 96; // f64 |C + aT S L|^2 over all elements, weighed by stiffness and volume
export const BODY_STRAIN = 104; // f64 |aT S L|^2 likewise
export const BODY_CHANGE = 112; // f64 |aT S (L - L0)|^2 likewise
export const BODY_WEIGHT = 120; // f64 the weights themselves: stiffness times volume
export const BODY_SHARE = 128; // f32: least share of its stress that the iterations built up alone; 0: not measured
// i32: how often an iteration of this substep found one of its plastic elements inverted; 1 if a Neo-Hookean one
export const BODY_INVERTED = 132;
// i32 1: the body was tangled in the substep before: what Neo-Hookean elements go by, in any order
export const BODY_WAS_INVERTED = 136;
export const BODY_MEETS = 140; // i32 pointer: a byte for every collider, 1: the body may touch it; 0: it may touch all
// i32: something fixed, a hand, a ball or a collider within reach takes momentum from it or gives it some: 1 in this
// tick, 2 as long as this list of pairs lives; HELD_RIGID: one of its island is rigid
export const BODY_HELD = 144;
export const HELD_RIGID = 4;
// i32: number of the body that stands for all that exchange momentum with it in this tick; its own: so far with none
export const BODY_ISLAND = 148;
// i32 address of the SHAPE row of a rigid body, whose motion is made from positions (rigid.ts); else 0
export const BODY_RIGID = 152;
export const BODY_INACTIVE = 156; // i32 1: it takes no part (server/sim/inactive.ts)
// i32: number of a body that the list of pairs has near it, or near one that is, and so on to the smallest of them: its
// own
export const BODY_LISTED = 160;
export const BODY_AGAINST = 164; // i32 1: the list has a pair of it and a collider's core mesh
// i32 not 0: its own step keeps its momentum: address of its IMPLICIT row, or 1 of a method's
export const BODY_IMPLICIT = 168;
export const BODY_FORCE = 176; // f64x3 N: external, of all its particles; where it may be free
export const BODY_MASS = 200; // f64 kg, likewise
export const BODY_LEAD = 208; // f64x3 m: what a substep of symplectic Euler falls too far (momentum.ts)
export const BODY_BYTES = 240;

// ---- per-instance scratch, behind everything else
// ------------------------------------------------------------------------------
/**
 * The inversion path's spill: F and G (9 rows each); the paper's form has P for G, then E and which lanes are done,
 * then come U and V (9 each) and the three singular values; a hexahedron has its corners and gradients (24 rows each).
 * One area a thread.
 */
export const SCRATCH_F = 0;
export const SCRATCH_P = 144;
export const SCRATCH_G = 144;
export const SCRATCH_ENERGY = 288;
export const SCRATCH_DONE = 304;
export const SCRATCH_U = 320;
export const SCRATCH_V = 464;
export const SCRATCH_SIGMA = 608;
export const SCRATCH_BYTES = 768;
export const MAX_THREADS = 16;

// ---- shape matching: one row a body, then its rest shape
// ------------------------------------------------------------------------
export const SHAPE_FIRST = 0; // i32 address of the first particle in X
export const SHAPE_COUNT = 4; // i32 particles
export const SHAPE_REST = 8; // i32 pointer: f64x4 per particle, rest position from the center of mass (m) and mass (kg)
// i32 pointer: f32x4 per particle, how far this substep's iterations have moved it; 0: not needed
export const SHAPE_MEMORY = 12;
export const SHAPE_LINEAR = 16; // i32 0: rigid, 1: a share of the best linear map
export const SHAPE_BODY = 20; // i32 address of the body's BODY row
export const SHAPE_RATE = 24; // f64 1/s^2, spring rate over mass; infinite: all the way
export const SHAPE_BETA = 32; // f64 share of the linear map
export const SHAPE_YIELD = 40; // f64 deviatoric Green strain; infinite: elastic
export const SHAPE_CREEP = 48; // f64 1/s
export const SHAPE_MAX = 56; // f64 largest plastic strain
export const SHAPE_MOMENT = 64; // f64x9 (sum m q q^T)^-1 of the undeformed rest shape
export const SHAPE_PLASTIC = 136; // f64x9 S_p, unit volume: STATE, the identity until the body flows
/** 16-byte rows that hold it (and, constant, the radius). */
export const SHAPE_STATE_ROWS = 5;
// of a rigid one, made anew in every phase that asks (rigid.ts)
export const SHAPE_RADIUS = 208; // f64 of a smooth ball, m; 0: its particles are what touches
export const SHAPE_SURFACE = 216; // i32 surface particles
export const SHAPE_MEASURED = 220; // i32 1: measured for the contacts that are being solved
export const SHAPE_INVERSE_MASS = 224; // f64 1/kg, 0 while it is held
export const SHAPE_INVERSE_INERTIA = 232; // f64x6 (00 11 22 01 02 12) 1/(kg m^2), about the center
export const SHAPE_CENTER = 280; // f64x3 m
export const SHAPE_SHIFT = 304; // f64x3 of the center since the start of the substep, m
export const SHAPE_TURN = 328; // f64x3 since the start of the substep: axis times the tangent of the angle
export const SHAPE_PUSH = 352; // f64x3 what this phase has added to the shift
export const SHAPE_TWIST = 376; // f64x3 what this phase has added to the turn
export const SHAPE_PUSH_STILL = 400; // f64x3 part of the push that makes no velocity
export const SHAPE_TWIST_STILL = 424; // f64x3 likewise
// f64x3 kg m: what rounding has moved the body in this substep; it makes no velocity (rigid.ts)
export const SHAPE_ROUNDING = 448;
export const SHAPE_ROUNDING_SPIN = 472; // f64x3 kg m^2 about the center, likewise
export const SHAPE_EXTENT = 496; // f64 m: farthest particle from the center, when it was measured last
export const SHAPE_CONTACT = 504; // i32 address of the first RIGID_CONTACT row of its chain (rigidManifold.ts)
export const SHAPE_ISLAND = 508; // i32 address of the SHAPE row that leads its island, or nearer to it (rigidIslands.ts)
export const SHAPE_BYTES = 512;

// ---- balls
// ----------------------------------------------------------------------------------------------------------------------
/** A near pair of a rigid body while it is solved (rigidContact.ts). */
// i32 address of its contact block plus four times its lane; 0: a surface particle on a collider (rigidGround.ts)
export const RIGID_CONTACT_LANE = 0;
export const RIGID_CONTACT_FIRST = 4; // i32 address of the first one's SHAPE row; 0: particles
export const RIGID_CONTACT_SECOND = 8; // i32 likewise of the second
export const RIGID_CONTACT_RESTS = 12; // i32 1: it comes nearer by no more than rest does
export const RIGID_CONTACT_NORMAL = 16; // f64x3
export const RIGID_CONTACT_ARM = 40; // f64x3 from the first one's center to where both are pushed, m
export const RIGID_CONTACT_OTHER_ARM = 64; // f64x3 from the second one's
export const RIGID_CONTACT_INVERSE = 88; // f64 1/kg along the normal
// f64 way of the first against the second along the normal in this substep, at least, m
export const RIGID_CONTACT_WANTED = 96;
export const RIGID_CONTACT_MISSING = 104; // f64 gap, at least, m
export const RIGID_CONTACT_PUSHED = 112; // f64 kg m so far along the normal
export const RIGID_CONTACT_DRAG = 120; // f64x3 kg m so far of friction
export const RIGID_CONTACT_WEIGHT = 144; // f64x4 of the closest points, negative for the second primitive
export const RIGID_CONTACT_GAP = 144; // f64 of one on a collider: before all pushes, less its margin, m
export const RIGID_CONTACT_CARRIED = 152; // f64x3 likewise: how far the collider went there, m
export const RIGID_CONTACT_STATIC = 176; // f64 coefficients of friction
export const RIGID_CONTACT_DYNAMIC = 184;
export const RIGID_CONTACT_THICKNESS = 192; // f64 m
// i32 1: kept whatever others hold (rigidManifold.ts), then i32 address of the next row of its chain
export const RIGID_CONTACT_GROUP = 200;
// i32 addresses of the rows before and after it in its island, once there are islands; 0: none
export const RIGID_CONTACT_ISLAND_BEFORE = 200;
export const RIGID_CONTACT_ISLAND_NEXT = 204;
export const RIGID_CONTACT_COLLIDER = 208; // i32 -1 - number of the analytic collider; 0: a pair
// i32 1: of a particle over the inside of a triangle, or on a collider
export const RIGID_CONTACT_FACE = 212;
export const RIGID_CONTACT_BEFORE = 216; // f64x3 kg m: push with friction before two sweeps, then what they changed
export const RIGID_CONTACT_DIRECTION = 240; // f64x3 kg m: that pushes were driven on along
export const RIGID_CONTACT_BYTES = 264;
/** What a contact of rigid bodies was pushed by in the substep before (rigidWarmStart.ts). */
export const RIGID_KEPT_SUBSTEP = 0; // u32 number of the substep; 0: none
export const RIGID_KEPT_FIRST = 4; // i32 address of the first one's SHAPE row
export const RIGID_KEPT_SECOND = 8; // i32 of the second one's; -1 - collider; 0: particles
export const RIGID_KEPT_TAKEN = 12; // i32 1: a contact of the next substep began with it
export const RIGID_KEPT_ARM = 16; // f64x3 from the first one's center, m
export const RIGID_KEPT_NORMAL = 40; // f64x3 to the first one
export const RIGID_KEPT_PUSH = 64; // f64x3 kg m on the first one
export const RIGID_KEPT_BYTES = 96;

export const BALL_SHAPE = 0; // i32 address of its SHAPE row
export const BALL_BODY = 4; // i32 body number
export const BALL_LIST = 8; // i32 pointer: addresses of triangles (three particle addresses each) within reach
export const BALL_COUNT = 12; // i32
// f32 how far things may still travel before the list has to be made anew, m; negative: at once
export const BALL_SLACK = 16;
export const BALL_BYTES = 32;

// ---- bounding volume trees (trees.ts): one of a surface's triangles, one of its edges
// ---------------------------------------------
export const TREE_NODES = 0; // i32 pointer: NODE rows, the root first, a node before its children
export const TREE_NODE_COUNT = 4; // i32; 0: no primitives
export const TREE_LEAVES = 8; // i32 pointer: LEAF rows
export const TREE_LEAF_COUNT = 12; // i32
export const TREE_COUNT = 16; // i32 primitives: four in every leaf, in the last as many as are left
export const TREE_LONGEST = 20; // f32 greatest distance of two corners of a primitive at rest, m
// i32 pointer: addresses of the surface's particles, neighbors together, four in a block; of the triangles' tree only
export const TREE_VERTICES = 24;
export const TREE_VERTEX_COUNT = 28; // i32
export const TREE_BYTES = 32;
/** Boxes of four children in lanes, then of all of them, at the start; then the same at the end of all trajectories. */
export const NODE_LOW = 0; // f32x4 of x, of y, of z
export const NODE_HIGH = 48; // likewise
export const NODE_CHILDREN = 96; // i32x4 addresses; a leaf's with bit 0 set; 0: none
export const NODE_ENDS = 112; // i32x4 addresses behind the last leaf below each child
export const NODE_BOX_LOW = 128; // f32x4 x y z
export const NODE_BOX_HIGH = 144;
export const NODE_LATER_LOW = 160; // f32x4 of x, of y, of z
export const NODE_LATER_HIGH = 208;
export const NODE_LATER_BOX_LOW = 256; // f32x4 x y z
export const NODE_LATER_BOX_HIGH = 272;
export const NODE_BYTES = 288;
/**
 * Four primitives in lanes: i32x4 addresses of their corners, corner by corner, then f32x4 coordinates x y z of the
 * first corner, of the second, ... as of the last refit, then their trajectories likewise.
 */
export const TRIANGLE_LEAF_AT = 48;
export const TRIANGLE_LEAF_TRAJECTORIES = 192;
export const TRIANGLE_LEAF_BYTES = 336;
export const EDGE_LEAF_AT = 32;
export const EDGE_LEAF_TRAJECTORIES = 128;
export const EDGE_LEAF_BYTES = 224;

// ---- the kinetic front of contact (front.ts)
// ---------------------------------------------------------------------------------
/**
 * Leaves have the numbers from 0 on, nodes those behind them; a node's children have higher numbers than it has, or are
 * leaves.
 */
export const FRONT_LEAVES = 0; // i32 pointer: LEAF rows
export const FRONT_LEAF_COUNT = 4; // i32
export const FRONT_CHILDREN = 8; // i32 pointer: four numbers for each node, -1: none
export const FRONT_NODE_COUNT = 12; // i32
export const FRONT_ROOTS = 16; // i32 pointer: a number for every surface, -1: it has nothing
export const FRONT_BOXES = 20; // i32 pointer: f32x4 low and f32x4 -high of every number: where it is from S to x
export const FRONT_WAYS = 24; // i32 pointer: FRONT_WAY_BYTES for every leaf
export const FRONT_GATHERED = 28; // i32 pointer: GATHERED rows, one for every leaf
export const FRONT_STAMP = 32; // i32: counts safe positions; what is gathered has the one that it was gathered for
export const FRONT_PARTED = 36; // i32 pointer: PARTED rows
export const FRONT_PARTED_CAPACITY = 40; // i32
export const FRONT_PARTED_COUNT = 44; // i32
export const FRONT_CLOSE = 48; // i32 pointer: CLOSE rows
export const FRONT_CLOSE_CAPACITY = 52; // i32
export const FRONT_CLOSE_COUNT = 56; // i32
// i32 pointer: of every lane of the list the next one of its CLOSE row plus one, u24, and its name there, u8; of a free
// one the next that is free
export const FRONT_NEXT = 60;
export const FRONT_FREE_VERTEX = 64; // i32 first free lane plus one, 0: none
export const FRONT_FREE_EDGE = 68; // i32 likewise
export const FRONT_WHOLE = 72; // i32 PARTED rows when the front was made
export const FRONT_SOLVED = 76; // i32 pointer: contact blocks that are solved in this substep, vertex-triangle first
export const FRONT_SOLVED_CAPACITY = 80; // i32 blocks
export const FRONT_SOLVED_VERTEX = 84; // i32 blocks
export const FRONT_SOLVED_EDGE = 88; // i32 blocks
export const FRONT_SOLVED_HEADS = 92; // i32 pointer: i32 a block, -1
export const FRONT_PICKED = 96; // i32 pointer: i32x2 a lane that is solved: its pair's number and color
export const FRONT_REST = 100; // i32 pointer: f32x4 per particle, where it is at rest
export const FRONT_SHAPES = 104; // i32 pointer: PATCH rows, one for every leaf
export const FRONT_SCRATCH = 108; // i32 pointer: SHARED_PARTS times two GATHERED rows
export const FRONT_NAMED = 112; // i32 pointer: i32 a name, scratch of frontRows.ts; 0 between pairs
export const FRONT_CHAINED = 116; // i32 1: the chains of the response hold all rows that there are
/** From FRONT_FREE_* to where lanes wait that become free while the response has chains, i32 first lane plus one. */
export const FRONT_WAITING = 56;
export const FRONT_VERDICTS = 128; // i32 pointer: VERDICT rows, one for every CLOSE row, and SHARED_PARTS more
export const FRONT_FOUND = 132; // i32 pointer: rows that are noted while leaves are measured
export const FRONT_FOUND_CAPACITY = 136; // i32 words
export const FRONT_BYTES = 144;

/** What becomes of a CLOSE row: its number, APART and so on, and the addresses between which its rows are noted. */
export const VERDICT_ROW = 0;
export const VERDICT_KIND = 4;
export const VERDICT_FROM = 8;
export const VERDICT_TO = 12;
export const VERDICT_BYTES = 16;

/** Four triangles at most, and what they are the first to have; first i32 how many particles, at most 12. */
export const LEAF_VERTICES = 4; // i32 own ones
export const LEAF_EDGES = 8; // i32 own ones
export const LEAF_TRIANGLES = 12; // i32
export const LEAF_PARTICLE = 16; // i32 x 12 addresses
export const LEAF_VERTEX = 64; // i32 x 12
export const LEAF_EDGE = 112; // i32x2 x 12
export const LEAF_TRIANGLE = 208; // i32x4 x 3: first, second, third corners
export const LEAF_SIDE2 = 256; // f32 square of the longest side at rest, m^2
export const LEAF_BYTES = 272;

/**
 * How far its particles have gone since they were last counted from 0, at least and at most, by axis: up to the last
 * substep, and up to x.
 */
export const WAY_LOW = 0; // f32x4
export const WAY_HIGH = 16;
export const WAY_NOW_LOW = 32;
export const WAY_NOW_HIGH = 48;
export const FRONT_WAY_BYTES = 64;

/**
 * A leaf's primitives at S in lanes: corners of triangles, boxes; edges in three groups of four: both ends, boxes; the
 * box of all.
 */
export const GATHERED_LOW = 144; // f32x4 x 3; corners before it, f32x4 x 9
export const GATHERED_HIGH = 192;
export const GATHERED_EDGES = 240; // three times: f32x4 x 6 ends, x 3 low, x 3 high
export const GATHERED_EDGE_BYTES = 192;
export const GATHERED_BOX_LOW = 816; // f32x4
export const GATHERED_BOX_HIGH = 832;
export const GATHERED_STAMP = 848; // i32
export const GATHERED_BYTES = 864;

/** A leaf's particles at S in lanes, three groups of f32x4 x, y, z; behind them at rest (frontShape.ts). */
export const PATCH_REST = 144;
export const PATCH_STAMP = 288; // i32
export const PATCH_LEAST = 292; // f32 least ratio of a squared distance at S to that at rest
export const PATCH_MOST = 296; // f32 greatest
export const PATCH_COMPARED = 300; // i32 PATCH_STAMP for which the two ratios are
export const PATCH_BYTES = 304;

/** Two numbers whose boxes one axis keeps apart: low of the one, -high of the other. */
export const PARTED_LOW = 0; // i32 address in FRONT_BOXES
export const PARTED_HIGH = 4; // i32 likewise
export const PARTED_REACH = 8; // f32 m
export const PARTED_SURFACES = 12; // i32 first << 16 | second
export const PARTED_BYTES = 16;

/** Two leaves that no axis keeps apart. */
export const CLOSE_FIRST = 0; // i32 leaf
export const CLOSE_SECOND = 4; // i32 leaf
export const CLOSE_SURFACES = 8; // i32 first << 16 | second
export const CLOSE_LANES = 12; // i32 first lane of its rows plus one, 0: none
export const CLOSE_REACH = 16; // f32 r, m
// f32 what is no row may come so much nearer and still be further apart than r, m; negative: not measured
export const CLOSE_SLACK = 20;
export const CLOSE_REST2 = 24; // f32 square of how far apart they are at rest, m^2; negative: not measured
export const CLOSE_LOW = 32; // f32x4 WAY_LOW of the first less WAY_HIGH of the second when it was measured
export const CLOSE_HIGH = 48; // f32x4 the other way around
export const CLOSE_NORMAL = 64; // f32x4 unit vector from the second to the first that may keep them apart
export const CLOSE_BYTES = 80;
