/** Rows of implicit bodies (implicit/step.ts). */
import { FACTOR_BYTES } from "./factor.ts";
import { F64, I32, LANES } from "./sizes.ts";

/** One row for each implicit body (implicit/step.ts). Vectors are f64[3n], x y z of each particle. */
export const IMPLICIT_FIRST = 0; // i32 address of the first particle in X
export const IMPLICIT_COUNT = IMPLICIT_FIRST + I32; // i32 particles
// i32 pointer, STATE: vectors x, v, and x1, v1 of the step before; then f64 elastic energy, J (negative: unknown),
// f64 s for which it takes explicit steps (impact.ts), and friction forces on colliders
export const IMPLICIT_STATE = IMPLICIT_COUNT + I32;
export const IMPLICIT_MASS = IMPLICIT_STATE + I32; // i32 pointer: f64[n] kg, 0 for fixed particles
export const IMPLICIT_WORK = IMPLICIT_MASS + I32; // i32 pointer: VECTORS vectors
export const IMPLICIT_ROTATIONS = IMPLICIT_WORK + I32; // i32 pointer: f64[9n] row by row; 0: none (sheets)
export const IMPLICIT_TETS = IMPLICIT_ROTATIONS + I32; // i32 pointer: IMPLICIT_TET rows
export const IMPLICIT_TRIANGLES = IMPLICIT_TETS + I32 + 4; // i32 pointer: IMPLICIT_TRIANGLE rows
export const IMPLICIT_BENDS = IMPLICIT_TRIANGLES + I32 + 4; // i32 pointer: IMPLICIT_BEND rows
export const IMPLICIT_COLUMNS = IMPLICIT_BENDS + I32 + 4; // i32 columns of the factor: free particles
// i32 pointer: i32[m] byte offset in a vector of each column's particle
export const IMPLICIT_ORDER = IMPLICIT_COLUMNS + I32;
// of solids: i32 pointer: i32[m + 1] first entry of each column
export const IMPLICIT_START = IMPLICIT_ORDER + I32;
export const IMPLICIT_ENTRY_ROWS = IMPLICIT_START + I32; // i32 pointer: i32 byte offset in SOLVED of each entry's row
// i32 pointer: f32[9] by columns for each entry, and one number more at the end
export const IMPLICIT_ENTRIES = IMPLICIT_ENTRY_ROWS + I32;
export const IMPLICIT_DIAGONAL = IMPLICIT_ENTRIES + I32; // i32 pointer: D^-1, stored like IMPLICIT_ENTRIES
export const IMPLICIT_SOLVED = IMPLICIT_DIAGONAL + I32; // i32 pointer: f32x4[m] right side, then solution
export const IMPLICIT_STEPS = IMPLICIT_SOLVED + I32; // i32 steps a tick
export const IMPLICIT_HELD = IMPLICIT_STEPS + I32; // i32 pointer: HELD rows, room for all points of the room
export const IMPLICIT_HELD_COUNT = IMPLICIT_HELD + I32; // i32 number of points that hold this body in this step
// constants of a step: f64 h, s
export const IMPLICIT_STEP_SECONDS = IMPLICIT_HELD_COUNT + I32;
export const IMPLICIT_COEFFICIENT = IMPLICIT_STEP_SECONDS + F64; // f64 1/s^2
export const IMPLICIT_KEEP = IMPLICIT_COEFFICIENT + F64; // f64 1/(1 + 2 h damping / 3)
export const IMPLICIT_EULER = IMPLICIT_KEEP + F64; // f64 1/s^2: (1 + h damping) / h^2
// the same four of the whole step, while a shorter one is taken (impact.ts)
export const IMPLICIT_WHOLE = IMPLICIT_EULER + F64;
export const IMPLICIT_TOLERANCE = IMPLICIT_WHOLE + 4 * F64; // f64
export const IMPLICIT_MU = IMPLICIT_TOLERANCE + F64; // f64 Pa, with lambda, of solids
export const IMPLICIT_LAMBDA = IMPLICIT_MU + F64;
// f64 Pa: plane stress, of sheets
export const IMPLICIT_C00 = IMPLICIT_LAMBDA + F64;
export const IMPLICIT_C01 = IMPLICIT_C00 + F64;
export const IMPLICIT_C11 = IMPLICIT_C01 + F64;
export const IMPLICIT_C22 = IMPLICIT_C11 + F64;
// i32: counters for tools: steps, iterations, halvings, and steps that started from x instead of 2x - x1
export const IMPLICIT_STEPS_DONE = IMPLICIT_C22 + F64;
export const IMPLICIT_ITERATIONS = IMPLICIT_STEPS_DONE + I32;
export const IMPLICIT_HALVINGS = IMPLICIT_ITERATIONS + I32;
export const IMPLICIT_FROM_REST = IMPLICIT_HALVINGS + I32;
// i32 pointer: TOUCH rows, one for each particle; 0: no collider can ever be in reach
export const IMPLICIT_TOUCHES = IMPLICIT_FROM_REST + I32;
export const IMPLICIT_TOUCH_COUNT = IMPLICIT_TOUCHES + I32; // i32 touches in this step
export const IMPLICIT_MEETS = IMPLICIT_TOUCH_COUNT + I32; // i32 BODY_MEETS of the body
export const IMPLICIT_ROUNDS = IMPLICIT_MEETS + I32; // i32, for tools: solves that followed a change of contacts
export const IMPLICIT_SELF = IMPLICIT_ROUNDS + I32; // i32 address of this row: the row list of a group of one body
// i32 1: it may touch surfaces, and is solved together with the bodies that it touches
export const IMPLICIT_TOGETHER = IMPLICIT_SELF + I32;
// i32 1: its velocities were changed from outside since its last step
export const IMPLICIT_HIT = IMPLICIT_TOGETHER + I32;
// i32 address of the row of its group's first body; groups are bodies that touch, also through other bodies
export const IMPLICIT_LEADER = IMPLICIT_HIT + I32;
export const IMPLICIT_ELASTIC = IMPLICIT_LEADER + I32; // f64 J where the step was last linearized or evaluated
// i32 pointer: f64[n] N/m, initial contact stiffness at each particle, of bodies that may touch surfaces
export const IMPLICIT_STIFFNESS = IMPLICIT_ELASTIC + F64;
// of sheets: i32 pointer: QUAD rows, for all triangles in order
export const IMPLICIT_QUADS = IMPLICIT_STIFFNESS + I32;
// i32 pointer: f32x4[2n] factor of the Hessian product, and its result
export const IMPLICIT_LANES = IMPLICIT_QUADS + I32;
// i32 pointer: u32[n] address of the end of each particle's stencil; 0: no bending
export const IMPLICIT_STENCIL_START = IMPLICIT_LANES + I32;
// i32 pointer: for each particle of a stencil, u32 byte offset in the lanes and f32 N/m
export const IMPLICIT_STENCILS = IMPLICIT_STENCIL_START + I32;
// i32 number of iterations of the step whose rotations and stresses this one reuses; -1: it reuses them, and checks the
// residual after each iteration; 0: it computes new ones
export const IMPLICIT_REUSED = IMPLICIT_STENCILS + I32;
// f64 squared residual after these iterations, over that before them
export const IMPLICIT_REUSED_LEFT = IMPLICIT_REUSED + I32;
// i32 pointer, of a viscous body, to the values that strain rates are measured from: f64[6] strains of each
// tetrahedron, or f64[3] strains of each triangle, then f64[3] K x of each stencil; 0: the material is not viscous
export const IMPLICIT_PAST = IMPLICIT_REUSED_LEFT + F64;
export const IMPLICIT_RETARDATION = IMPLICIT_PAST + I32 + 4; // f64 s: viscosity over modulus (Kelvin and Voigt)
// f64 1 + rate times that: stiffness in the current step over the static one
export const IMPLICIT_STIFFENING = IMPLICIT_RETARDATION + F64;
// i32 number of its ROW rows in this step; a row counts for the body of its first free particle
export const IMPLICIT_ROWS = IMPLICIT_STIFFENING + F64;
export const IMPLICIT_MOST_ROWS = IMPLICIT_ROWS + I32; // i32 most ROW rows that it may have
export const IMPLICIT_FACTOR = IMPLICIT_MOST_ROWS + I32; // of sheets: FACTOR
export const IMPLICIT_BYTES = IMPLICIT_FACTOR + FACTOR_BYTES;

/**
 * i32x4 byte offsets of the corners in a vector; f64: D_m^-1 row by row, volume; then of the last linearization the
 * columns of F (x and y of each, then z of all), the positive part of the stress (00 11 22 12 02 01), and i32 whether
 * the element is crushed.
 */
export const IMPLICIT_TET_DM = LANES;
export const IMPLICIT_TET_COUNT = IMPLICIT_TET_DM + 3 * I32; // i32
export const IMPLICIT_TET_VOLUME = IMPLICIT_TET_COUNT + I32 + 56;
export const IMPLICIT_TET_F = IMPLICIT_TET_VOLUME + F64;
export const IMPLICIT_TET_STRESS = IMPLICIT_TET_F + 9 * F64;
export const IMPLICIT_TET_CRUSHED = IMPLICIT_TET_STRESS + 3 * LANES;
export const IMPLICIT_TET_BYTES = IMPLICIT_TET_CRUSHED + F64;

/** Triangle: byte offsets of the corners as in IMPLICIT_TET, then D_m^-1 (4), volume. */
export const IMPLICIT_TRIANGLE_DM = LANES;
export const IMPLICIT_TRIANGLE_COUNT = IMPLICIT_TRIANGLE_DM + 5 * I32; // i32
export const IMPLICIT_TRIANGLE_VOLUME = IMPLICIT_TRIANGLE_COUNT + I32 + 8;
export const IMPLICIT_TRIANGLE_BYTES = IMPLICIT_TRIANGLE_VOLUME + F64;

/**
 * Four triangles (implicit/sheetProducts.ts): u32x4 byte offsets in the lanes of their first, second and third corners;
 * f32x4 D_m^-1 (4), volume; of the last linearization the columns of F (6), positive part of the stress (weft, warp,
 * shear).
 */
export const QUAD_DM = 3 * LANES;
export const QUAD_VOLUME = QUAD_DM + 4 * LANES;
export const QUAD_F = QUAD_VOLUME + LANES;
export const QUAD_STRESS = QUAD_F + 6 * LANES;
export const QUAD_BYTES = QUAD_STRESS + 3 * LANES;

/** Bending stencil: byte offsets of the corners as in IMPLICIT_TET, then K (4), 1/alpha in N/m, rest in m. */
export const IMPLICIT_BEND_K = LANES;
export const IMPLICIT_BEND_COUNT = IMPLICIT_BEND_K + 7 * I32; // i32
export const IMPLICIT_BEND_STIFFNESS = IMPLICIT_BEND_COUNT + I32;
export const IMPLICIT_BEND_REST = IMPLICIT_BEND_STIFFNESS + F64;
export const IMPLICIT_BEND_BYTES = IMPLICIT_BEND_REST + F64;

/** Vectors of a body's work area. */
export const VECTOR_Y = 0;
export const VECTOR_TARGET = 1;
export const VECTOR_D = 2;
export const VECTOR_R = 3;
export const VECTOR_Z = 4;
export const VECTOR_P = 5;
export const VECTOR_Q = 6;
export const VECTOR_THERE = 7;
export const VECTORS = 8;

/** Bytes of the state after its vectors. */
export const IMPLICIT_STATE_END = 16;

/**
 * A point that holds the body: i32 address of its POINT slot; f64 stiffness, f64 stiffness of the last linearization
 * (N/m), f64x3 target.
 */
export const HELD_POINT = 0;
export const HELD_STIFFNESS = HELD_POINT + F64;
export const HELD_EFFECTIVE = HELD_STIFFNESS + F64;
export const HELD_TARGET = HELD_EFFECTIVE + F64;
// f64x3 direction of a pull at the force limit, along which the point is not stiff; 0: below the limit
export const HELD_ALONG = HELD_TARGET + 3 * F64;
export const HELD_BYTES = HELD_ALONG + 3 * F64;

/**
 * A particle in contact with a collider: i32 byte offset in a vector, and its state (TOUCH_OPEN, _STICKS, _SLIDES);
 * f64x3 normal, contact point, and slip of the last linearization; f64 coefficients of friction; mu lambda_n, N; slip
 * below which it sticks in the next step, and slip over which friction grows, m.
 */
export const TOUCH_STATE = I32;
export const TOUCH_NORMAL = TOUCH_STATE + I32;
export const TOUCH_PLACE = TOUCH_NORMAL + 3 * F64;
export const TOUCH_SLIP = TOUCH_PLACE + 3 * F64;
export const TOUCH_STATIC = TOUCH_SLIP + 3 * F64;
export const TOUCH_DYNAMIC = TOUCH_STATIC + F64;
export const TOUCH_FRICTION = TOUCH_DYNAMIC + F64;
export const TOUCH_LEAST = TOUCH_FRICTION + F64;
export const TOUCH_ROUND = TOUCH_LEAST + F64;
export const TOUCH_RESTING = TOUCH_ROUND + F64; // f64 m: displacement by external acceleration in two steps
export const TOUCH_DRAG = TOUCH_RESTING + F64; // f64 N/m: friction over slip at the last linearization
export const TOUCH_STEADY = TOUCH_DRAG + F64; // f64 1/m^2: 1/t^2 of steady sliding there, else 0
export const TOUCH_BYTES = TOUCH_STEADY + F64;

export const TOUCH_OPEN = 0;
export const TOUCH_STICKS = 1;
export const TOUCH_SLIDES = 2;

/** Bodies that may touch surfaces (implicit/step.ts), one row a room. */
// i32 pointer: addresses of their IMPLICIT rows, then room for the same, sorted by group
export const TOGETHER_LIST = 0;
export const TOGETHER_COUNT = TOGETHER_LIST + I32; // i32
export const TOGETHER_ROWS = TOGETHER_COUNT + I32; // i32 pointer: ROW rows
export const TOGETHER_ROW_COUNT = TOGETHER_ROWS + I32; // i32 contacts in this step
export const TOGETHER_ORDER = TOGETHER_ROW_COUNT + I32; // i32 pointer: addresses of ROW rows, group by group
export const TOGETHER_KEPT = TOGETHER_ORDER + I32; // i32 pointer: i32 count, then KEPT rows: STATE
// i32 pointer: i32 places in KEPT plus one, by hash of the pair; then by hash of its first vertex or edge
export const TOGETHER_TABLE = TOGETHER_KEPT + I32;
export const TOGETHER_TABLE_SIZE = TOGETHER_TABLE + I32; // i32 entries of each table, a power of two
export const TOGETHER_BYTES = TOGETHER_TABLE_SIZE + I32 + 12;

/**
 * A near pair in an implicit step (implicit/contactRows.ts): f64x3 unit normal towards the first primitive; f64x4
 * weights of the closest points, negative for the second; u32x4 addresses of the free particles' entries in the first
 * vector, 0: not free, u32x4 bytes from one vector to the next.
 */
export const ROW_NORMAL = 0;
export const ROW_WEIGHT = ROW_NORMAL + 3 * F64;
export const ROW_ENTRY = ROW_WEIGHT + 2 * LANES;
export const ROW_STRIDE = ROW_ENTRY + LANES;
export const ROW_FIXED = ROW_STRIDE + LANES; // f64x3 weighted sum of the particles that are not free, m
export const ROW_START = ROW_FIXED + 3 * F64; // f64x3 weighted sum of all particles at the start of the step, m
// f64x3 the same, but with particles that are not free at the end of the step
export const ROW_HERE = ROW_START + 3 * F64;
export const ROW_REST = ROW_HERE + 3 * F64; // f64 gap below which it pushes, m
export const ROW_STIFFNESS = ROW_REST + F64; // f64 N/m at zero depth
export const ROW_APPROACH = ROW_STIFFNESS + F64; // f64 m: approach that v alone would make in the step
export const ROW_STATIC = ROW_APPROACH + F64; // f64 coefficients of friction
export const ROW_DYNAMIC = ROW_STATIC + F64;
export const ROW_PUSH = ROW_DYNAMIC + F64; // f64 N: push that limits friction
export const ROW_SHEAR = ROW_PUSH + F64; // f64x3 m: elastic part of the previous slip
// f64x3 m: slip with it, at the last linearization; before that: the change of s that v makes in the step
export const ROW_SLIP = ROW_SHEAR + 3 * F64;
export const ROW_ON = ROW_SLIP + 3 * F64; // i32 1: it is in the active set of this solve
export const ROW_SLID = ROW_ON + I32; // i32 1: it slid in the step before
export const ROW_PARTICLES = ROW_SLID + I32; // u32x4 addresses
// f64 N/m: friction over slip at the last linearization
export const ROW_DRAG = ROW_PARTICLES + LANES;
export const ROW_RESTING = ROW_DRAG + F64; // f64 m: approach up to which it counts as resting
export const ROW_STEADY = ROW_RESTING + F64; // i32 1: it slid steadily at the last linearization
export const ROW_HOLD = ROW_STEADY + I32 + 4; // f64 N/m: stiffness of sticking friction
export const ROW_CURVE = ROW_HOLD + F64; // f64 N/m: second derivative of the push's potential at the last linearization
export const ROW_BODY = ROW_CURVE + F64; // i32 address of the IMPLICIT row of its first free particle's body
export const ROW_OTHER = ROW_BODY + I32; // i32 the same for its last free particle
export const ROW_BETWEEN = ROW_OTHER + I32; // i32 1: all its particles are free
export const ROW_THICKNESS = ROW_BETWEEN + I32 + 4; // f64 m
// f64x3 m: slip without any force, with its elastic part
export const ROW_GLIDE = ROW_THICKNESS + F64;
export const ROW_REACH = ROW_GLIDE + 3 * F64; // f64 m: its length
export const ROW_BYTES = ROW_REACH + F64;

/**
 * State that a pair keeps from step to step: u32x4 particles; f32 friction x y z, N, gap below which it pushes
 * (negative: it slid).
 */
export const KEPT_SHEAR = LANES;
export const KEPT_REST = KEPT_SHEAR + 3 * I32;
export const KEPT_EDGE = KEPT_REST + I32; // i32 1: pair of two edges
export const KEPT_BYTES = KEPT_EDGE + I32 + 12;
