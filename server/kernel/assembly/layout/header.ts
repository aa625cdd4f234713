/** A room's header, at address HEADER: pointers to everything else, the scheduler's words, counts, clocks. */
import { F32, F64, I32, I64, LANES } from "./sizes.ts";
import { STAGES } from "./stages.ts";
import { HELPER_BYTES, MAX_THREADS } from "./threads.ts";

/** Address 0 stays unused, so that a zero pointer is a visible bug. */
export const HEADER = 64;

/** i32 pointers: the four particle arrays, each f32x4 per particle. */
export const H_X = HEADER; // position x y z, inverse mass w
export const H_XPREV = H_X + I32; // position at the start of the substep, contact radius
export const H_V = H_XPREV + I32; // velocity, damping rate (1/s)
export const H_ACC = H_V + I32; // external acceleration, square root of the friction coefficient
export const H_PARTICLES = H_ACC + I32; // i32: particles, padding included (a multiple of 4)
export const H_PROGRAM = H_PARTICLES + I32; // i32 pointer: the phases of one substep
export const H_PHASES = H_PROGRAM + I32; // i32: number of phases
export const H_SUBSTEPS = H_PHASES + I32; // i32: substeps in one tick
export const H_SUBSTEP_SECONDS = H_SUBSTEPS + I32; // f32: h
export const H_POINTS = H_SUBSTEP_SECONDS + F32; // i32 pointer: weighted-point constraints
export const H_POINT_COUNT = H_POINTS + I32; // i32: all slots; inactive ones are skipped
export const H_COLLIDERS = H_POINT_COUNT + I32; // i32 pointer
export const H_COLLIDER_COUNT = H_COLLIDERS + I32; // i32
export const H_TICK = H_COLLIDER_COUNT + I32; // u32: ticks done
// i32 pointers: f32x4 per particle, m, the fourth lane 0. A particle's position is x plus its low word (particles.ts)
export const H_LOW = H_TICK + I32;
export const H_LOW_PREV = H_LOW + I32; // low words at the start of the substep
export const H_LOW_SPEED = H_LOW_PREV + I32; // low words of velocities, m/s: a particle's velocity is v plus this
export const H_SURFACE = H_LOW_SPEED + I32; // i32 pointer: per body surface tables for the broad phase
export const H_BODY_COUNT = H_SURFACE + I32; // i32
export const H_TICK_SECONDS = H_BODY_COUNT + I32 + 12; // f32: length of one tick
export const H_WATCH = H_TICK_SECONDS + F32; // i32: callbacks that the host wants, sum of WATCH bits
export const H_BODIES = H_WATCH + I32; // i32 pointer: BODY rows
export const H_WARM_START = H_BODIES + I32; // i32: 1 while stress is remembered from tick to tick (warmStart.ts)
export const H_WARM_STARTED = H_WARM_START + I32; // i32: H_WARM_START of the last tick: its multipliers are stored
// i32 pointer: f32x4 per particle, displacement by the remembered stress in every substep, m
export const H_SUPPORT = H_WARM_STARTED + I32;
export const H_WIND = H_SUPPORT + I32; // i32 pointer: the WIND row
export const H_PAUSED_TICKS = H_WIND + I32; // u32: paused ticks; simulated time is that of the other ticks
export const H_NEXT_SUBSTEP = H_PAUSED_TICKS + I32; // i32: the substep that the next call of `step` begins with; 0: a new tick
// i32, atomic: counted work of the tick, in units of WORK_UNIT_SECONDS (state/work.ts)
export const H_WORK = H_NEXT_SUBSTEP + I32;
export const H_WORK_LIMIT = H_WORK + I32; // i32: work after which a call of `step` ends early; 0: no limit
export const H_SHAPES = H_WORK_LIMIT + I32 + 60; // i32 pointer: SHAPE rows
export const H_SUBSTEP = H_SHAPES + I32; // i32: current substep of the tick
export const H_TICK_HZ = H_SUBSTEP + I32; // f32: ticks in a second
export const H_MOTIONS = H_TICK_HZ + F32; // i32 pointer: MOTION rows
export const H_MOTION_COUNT = H_MOTIONS + I32; // i32
export const H_BALLS = H_MOTION_COUNT + I32; // i32 pointer: BALL rows
export const H_BALL_COUNT = H_BALLS + I32; // i32
// i32 SURFACE rows: one for each body, then the core meshes of colliders
export const H_SURFACE_COUNT = H_BALL_COUNT + I32;
// i32 pointer: PAIR rows, vertex-triangle from the front, edge-edge from the back
export const H_PAIRS = H_SURFACE_COUNT + I32;
export const H_PAIR_CAPACITY = H_PAIRS + I32; // i32 rows
export const H_VERTEX_PAIRS = H_PAIR_CAPACITY + I32; // i32 number of vertex-triangle rows
export const H_EDGE_PAIRS = H_VERTEX_PAIRS + I32; // i32 number of edge-edge rows
export const H_REST = H_EDGE_PAIRS + I32; // i32 pointer: f32x4 per particle, undeformed position
export const H_INTERSECTIONS = H_REST + I32; // i32 pointer: INTERSECTION rows
export const H_INTERSECTION_CAPACITY = H_INTERSECTIONS + I32; // i32 rows
export const H_INTERSECTION_COUNT = H_INTERSECTION_CAPACITY + I32; // i32 number of rows in use

/** The scheduler's words, each on a cache line of its own. */
// i64: the open phase: (publication << 8 | parts) << 32 | phase index; no parts: nothing is open
export const H_TICKET = H_INTERSECTION_COUNT + I32;
// i32: counts when a phase is opened, or on another event for helpers; helpers without work sleep on it
export const H_OPENED = H_TICKET + I64;
// i32: chunks finished in this phase; an orchestrator that waits long sleeps on it
export const H_DONE = H_OPENED + I32 + 52;
export const H_ORCHESTRATOR_SLEEPS = H_DONE + I32; // i32: 1 while it may sleep
// i32: generation of the running tick, 0 between ticks; helpers wait on it
export const H_ACTIVE = H_ORCHESTRATOR_SLEEPS + I32 + 56;
export const H_HELPERS_INSIDE = H_ACTIVE + I32 + 60; // i32: helpers inside a tick now
export const H_SLEEPERS = H_HELPERS_INSIDE + I32; // i32: those of them that sleep, or are about to
export const H_JOINED = H_SLEEPERS + I32; // i32: helpers that have claimed a chunk of the last opened tick
export const H_TORN = H_JOINED + I32; // i32: 1: a helper was lost inside a chunk, which will never finish
export const H_CHUNKS_SHARED = H_TORN + I32; // i32: the tick's chunks that could be claimed
export const H_CHUNKS_HELPED = H_CHUNKS_SHARED + I32; // i32: number of them that helpers ran
// three rows of four lanes: the orchestrator's scratch for the warm start
export const H_WARM_START_SUMS = H_CHUNKS_HELPED + I32 + 40;

/** Contact between surfaces (contact/prepare/contactList.ts). */
// i32 pointer: f32x4 per particle, safe positions at the start of the substep, free of intersections. 0: no two
// surfaces ever meet, and pairs are not searched
export const H_SAFE = H_WARM_START_SUMS + 3 * LANES + 16;
// i32 pointer: contact blocks, vertex-triangle from the front, edge-edge at the end
export const H_CONTACT_BLOCKS = H_SAFE + I32;
export const H_CONTACT_BLOCK_CAPACITY = H_CONTACT_BLOCKS + I32; // i32 blocks, a multiple of four
export const H_CONTACT_BLOCK_COUNT = H_CONTACT_BLOCK_CAPACITY + I32; // i32 blocks in use
export const H_VERTEX_CONTACT_BLOCKS = H_CONTACT_BLOCK_COUNT + I32; // i32 vertex-triangle blocks among them
// i32 pointer: first block of every color of vertex-triangle, then of edge-edge, of the packed blocks; then tables of
// the last added ones, and the number placed of each color
export const H_CONTACT_COLORS = H_VERTEX_CONTACT_BLOCKS + I32;
// i32 pointer: two u64 per particle and class, scratch of the coloring
export const H_COLOR_MASKS = H_CONTACT_COLORS + I32;
// i32 pointer: f32x4 per particle, position up to which the front has counted its leaf's displacement
export const H_REFERENCE = H_COLOR_MASKS + I32;
// i32 pointer: PUSH rows, the contact pushes of a forgotten pair list
export const H_PUSHES = H_REFERENCE + I32;
export const H_DUMMIES = H_PUSHES + I32; // i32 address of the first dummy
export const H_LIST_VALID = H_DUMMIES + I32; // i32 1: the list is complete
// i32 pointer: i32 addresses of particles that the response has moved in this substep
export const H_CHANGED = H_LIST_VALID + I32;
export const H_CHANGED_FROM = H_CHANGED + I32; // i32 pointer: f32x4 per particle, its position before that
export const H_MARKS = H_CHANGED_FROM + I32; // i32 pointer: u16 per particle, MARK bits
// i32 pointer: per particle the first of its chain in H_INCIDENCES, plus one; 0: none
export const H_INCIDENT = H_MARKS + I32;
// i32 pointer: for each particle of a pair (four times the pair's number, plus 0 .. 3) the next entry of the chain,
// plus one; 0: none
export const H_INCIDENCES = H_INCIDENT + I32;
export const H_PUSH_COUNT = H_INCIDENCES + I32; // i32 PUSH rows in use
// i32 pointer: two queues of pair numbers, H_CONTACT_BLOCK_CAPACITY * 4 each
export const H_QUEUE = H_PUSH_COUNT + I32;
export const H_QUEUED = H_QUEUE + I32; // i32 pointer: a byte per pair
export const H_ZONES = H_QUEUED + I32; // i32 pointer: i32 per particle, union-find parent (particle number)
export const H_ZONE_SUMS = H_ZONES + I32; // i32 pointer: ZONE_BYTES per particle, IMPULSE_ROWS at least

/** Counts since the room began, u32. */
export const H_COUNT_LISTS = H_ZONE_SUMS + I32; // fronts built from nothing
export const H_COUNT_IMPULSES = H_COUNT_LISTS + I32; // pairs that the response pushed apart
export const H_COUNT_ZONES = H_COUNT_IMPULSES + I32; // rigid impact zones
export const H_COUNT_STOPS = H_COUNT_ZONES + I32; // particles put back to their safe positions
export const H_COUNT_CHECKS = H_COUNT_STOPS + I32; // pairs that the verification did not clear
export const H_PAIR_SCRATCH = H_COUNT_CHECKS + I32; // i32 pointer: 48 f64, scratch of the response
export const H_LEFT_OUT = H_PAIR_SCRATCH + I32; // i32 bodies with BODY_INACTIVE in this tick
export const H_SPARE = H_LEFT_OUT + I32; // i32 pointer: f32 per pair, its spare distance in a contact response, m
export const H_FRONT = H_SPARE + I32 + 4; // i32 pointer: the FRONT row; 0: no two surfaces ever meet
export const H_RESOLUTION = H_FRONT + I32; // i32 RESOLUTION bits: a search for intersections is due
export const H_DRIVE_COUNT = H_RESOLUTION + I32; // i32 rows of H_INTERSECTIONS that are driven apart in this tick
export const H_SEPARATIONS = H_DRIVE_COUNT + I32; // i32 pointer: SEPARATION_COUNT SEPARATION rows
export const H_TOGETHER = H_SEPARATIONS + I32; // i32 pointer: the TOGETHER row; 0: no implicit body may touch a surface
// i32 pointer: u32 per particle, address of the next corner in the triangle that owns it
export const H_OWNERS = H_TOGETHER + I32;
// i32 substeps in a row with a pile; then PILES: pairs keep their pushes between substeps (contactLoads.ts)
export const H_PRESSED = H_OWNERS + I32;
export const H_EDGE_CONTACT_BLOCKS = H_PRESSED + I32; // i32 edge-edge blocks
export const H_RIGID_KEPT = H_EDGE_CONTACT_BLOCKS + I32; // i32 pointer: table of RIGID_KEPT entries
export const H_RIGID_KEPT_CAPACITY = H_RIGID_KEPT + I32; // i32 a power of two
export const H_BLOCK_NEAR = H_RIGID_KEPT_CAPACITY + I32; // i32 pointer: a word a block (blockStatus.ts)
export const H_SHARED_FIRST = H_BLOCK_NEAR + I32; // i32: KIND_SHARED_CONTACTS: the first block
export const H_SHARED_COUNT = H_SHARED_FIRST + I32; // i32: their number
// i32, atomic: number of blocks. KIND_SHARED_CHECK: with a pair that is not cleared; KIND_SHARED_CONTACTS: with one
// that was pushed far
export const H_SHARED_FOUND = H_SHARED_COUNT + I32;
// i32 pointer: RIGID_CONTACT rows of rigid bodies (rigidContact.ts); 0: no rigid bodies
export const H_RIGID_CONTACTS = H_SHARED_FOUND + I32;
export const H_RIGID_CONTACT_CAPACITY = H_RIGID_CONTACTS + I32; // i32
export const H_RIGID_CONTACT_COUNT = H_RIGID_CONTACT_CAPACITY + I32; // i32 rows that the last iteration solved
export const H_SHARED_AGAIN = H_RIGID_CONTACT_COUNT + I32; // i32: KIND_SHARED_CONTACTS: 1 in all passes but the first

export const H_BLOCK_BAD = H_SHARED_AGAIN + I32; // i32 pointer: a word a block (blockStatus.ts)

/** Memory of lists that grow (contact/prepare/listMemory.ts). */
// i32 pointer: a word a block, QUIET_* (blockStatus.ts)
export const H_BLOCK_QUIET = H_BLOCK_BAD + I32;
export const H_BLOCK_PACKED = H_BLOCK_QUIET + I32; // i32 pointer: its word of H_BLOCK_NEAR when pairs were packed
export const H_MAY_QUIET = H_BLOCK_PACKED + I32; // i32 QUIET_* bits that the check may give to near blocks; 0: to none
export const H_LISTS = H_MAY_QUIET + I32 + 4; // i32 pointer: LIST rows, by address of the lists
export const H_LIST_COUNT = H_LISTS + I32; // i32
export const H_LIST_KINDS = H_LIST_COUNT + I32; // i32 pointer: a GROWTH row for each of LIST_KINDS
export const H_LISTS_END = H_LIST_KINDS + I32; // u32 address behind the last list, a multiple of 64
export const H_MEMORY_LIMIT = H_LISTS_END + I32; // i32 limit of the room's memory, pages of 64 KiB
export const H_LISTS_FULL = H_MEMORY_LIMIT + I32; // i32 bits, 1 << kind: lists that did not fit since the room began
export const H_COUNT_FULL = H_LISTS_FULL + I32; // u32 fronts that did not fit into memory, since the room began
// i32 blocks: above this number, only pairs that come near between S and x get rows
export const H_BLOCKS_MANY = H_COUNT_FULL + I32;
export const H_BALL_RUNS = H_BLOCKS_MANY + I32; // i32 pointer: boxes of runs of surfaces (ballLists.ts)

/** Contact that is found and verified only every few substeps (step.ts). */
// i32 pointer: positions at the start of the substep; between groups of small steps, at the start of the last group.
// H_SAFE if every substep is verified
export const H_START = H_BALL_RUNS + I32;
export const H_VERIFY_EVERY = H_START + I32; // i32 substeps from one verification to the next
// f32 s: KIND_PREDICT predicts that far, for detection alone; < 0: takes that back; 0: predicts a substep
export const H_AHEAD = H_VERIFY_EVERY + I32;
// f32 square of the external acceleration that all free particles have in this tick, m^2/s^4; negative: they differ
export const H_FALL2 = H_AHEAD + I32;

/** Pairs under load (contact/solve/piles.ts). */
// i32 substeps in a row with such pairs; while pairs keep pushes: without a push to keep
export const H_LOADED = H_FALL2 + F32;
export const H_LOADED_NOW = H_LOADED + I32; // i32, atomic: blocks with them in this substep's first pass

/** A HELPER row for each thread. */
export const H_HELPERS = H_LOADED_NOW + I32;
// f64 for each stage, seconds that the last tick spent in it
export const H_STAGE = H_HELPERS + MAX_THREADS * HELPER_BYTES;
export const HEADER_END = H_STAGE + STAGES * F64 + 24; // aligned to a cache line

export const WATCH_SUBSTEPS = 1;
export const WATCH_PHASES = 2;
export const WATCH_SHARES = 4;
export const WATCH_PREEMPTION = 8;

/**
 * RESOLUTION bits. SEARCH: search intersections at the start of the tick. ANEW: all of them, also of whole surfaces.
 * REPORTED: members have been told.
 */
export const RESOLUTION_SEARCH = 1;
export const RESOLUTION_ANEW = 2;
export const RESOLUTION_REPORTED = 4;

/** Time of a unit of counted work on the machine that the weights were measured on, s. */
export const WORK_UNIT_SECONDS = 1e-8;
