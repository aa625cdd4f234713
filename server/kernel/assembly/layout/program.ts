/** Phases of a substep, and their kinds. */
import { F32, I32 } from "./sizes.ts";

export const PHASE_KIND = 0; // i32
export const PHASE_DATA = PHASE_KIND + I32; // i32 pointer to the first block
export const PHASE_COUNT = PHASE_DATA + I32; // i32 blocks (constraints) or particles
export const PHASE_CHUNK = PHASE_COUNT + I32; // i32 blocks or particles in a chunk
export const PHASE_CHUNKS = PHASE_CHUNK + I32; // i32
export const PHASE_PASS = PHASE_CHUNKS + I32; // i32 PASS_FIRST and PASS_LAST, added
export const PHASE_STAGE = PHASE_PASS + I32; // i32
// i32 pointer to the first block of remembered stress, 0 if the kind has none
export const PHASE_WARM_START = PHASE_STAGE + I32;
/** Fields that only some kinds need; each kind's file defines them. */
export const PHASE_FIRST = PHASE_WARM_START + I32; // i32 first particle, or bytes of a block
// i32 pointer to the values that the first block keeps between iterations, if they are in a separate array
export const PHASE_OWN = PHASE_FIRST;
export const PHASE_CORNERS = PHASE_FIRST + I32; // i32 particles of a constraint, or rows that it keeps
// i32 address: x_k of every particle, or the multipliers of iteration k, or BODY_MEETS of the phase's particles
export const PHASE_KEPT = PHASE_CORNERS + I32;
export const PHASE_SUM = PHASE_KEPT + I32; // i32 address: corrections of every particle, their count in the fourth lane
// i32 address: x_(k-1) of every particle, or the multipliers of iteration k-1
export const PHASE_OLDER = PHASE_SUM + I32;
export const PHASE_OMEGA = PHASE_OLDER + I32; // f32 Chebyshev's factor of this iteration; 1: none
export const PHASE_RUNS = PHASE_OMEGA + F32; // i32 pointer: RUN rows, ascending; 0: no block is ever left out
export const PHASE_RUN_COUNT = PHASE_RUNS + I32; // i32
export const PHASE_BYTES = PHASE_RUN_COUNT + I32;

/** Blocks (or rows) of one body that may be inactive or asleep: left out meanwhile. */
export const RUN_FIRST = 0; // i32
export const RUN_END = RUN_FIRST + I32; // i32
export const RUN_BODY = RUN_END + I32; // i32 address of its BODY row
export const RUN_BYTES = RUN_BODY + I32 + 4;

/** First iteration of a substep: multipliers start at zero. */
export const PASS_FIRST = 1;

/** Last iteration of a substep: multipliers are not needed afterwards. */
export const PASS_LAST = 2;

/** PHASE_PASS of a prediction: the velocity already includes all forces. */
export const UNFORCED = 4;
/** Kinds of phases. Those of constraints (constraints.ts) and of their schedules are below FIRST_OTHER_KIND. */
/** Schedules other than Gauss-Seidel: sweep.ts. */
export const KIND_SWEEP_BEGIN = 40;
export const KIND_SWEEP_COLLECT = 41;
export const KIND_SWEEP_END = 42;
export const KIND_SWEEP_MEMORY = 43;
export const FIRST_OTHER_KIND = 60;
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
export const KIND_IMPLICIT_AIM = 74; // the TOGETHER row: moves its bodies to their unconstrained positions
export const KIND_IMPLICIT_TOGETHER = 75; // the TOGETHER row
export const KIND_PREFACTORED = 76; // PREFACTORED rows
export const KIND_PREFACTORED_PLACES = 77; // PREFACTORED rows: before contacts
export const KIND_PREFACTORED_FORCES = 78; // PREFACTORED rows: at the end of the substep
export const KIND_PREFACTORED_ANSWER = 79; // PREFACTORED rows: after contacts with other bodies
export const KIND_CARRY = 80;
export const KIND_ENCLOSED = 81; // ENCLOSED rows
export const KIND_DRIFT = 89; // the part of the prediction that follows the elastic solve
export const KIND_PREDICT = 90;
export const KIND_POINTS = 91;
export const KIND_VELOCITY = 92;
export const KIND_COLLIDE = 93;
export const KIND_CONTACTS = 94;
export const KIND_BALANCE = 95;
export const KIND_RESTORE = 96;
export const KIND_POINT_SPEEDS = 97; // of rigid bodies
export const KIND_INNER = 98; // around the constraints of an iteration

/**
 * Rows after the program's phases, for work that is shared in the middle of a phase: pairs of a color, the check of all
 * pairs, boxes of leaves, leaf pairs.
 */
export const KIND_SHARED_CONTACTS = 67;
export const KIND_SHARED_CHECK = 68;
export const KIND_SHARED_REFIT = 69;
export const KIND_SHARED_CLOSE = 71;
export const SHARED_CONTACTS = 0; // numbers of these rows
export const SHARED_CHECK = 1;
export const SHARED_REFIT = 2;
export const SHARED_CLOSE = 3;
export const SHARED_ROWS = 4;

/** Number of parts of such work: enough to balance the threads of a room, few enough to be claimed quickly. */
export const SHARED_PARTS = 8;
