/** Rows of implicit bodies (implicit/step.ts): one a body. Vectors are f64[3n], x y z of each particle. Part of layout.ts. */
export const IMPLICIT_FIRST = 0; // i32 address of the first particle in X
export const IMPLICIT_COUNT = 4; // i32 particles
// i32 pointer: STATE: x, v, those a step before x1, v1; f64 elastic energy, J, below 0: not known; forces of friction
export const IMPLICIT_STATE = 8;
export const IMPLICIT_MASS = 12; // i32 pointer: f64[n] kg, 0 for fixed particles
export const IMPLICIT_WORK = 16; // i32 pointer: VECTORS vectors
export const IMPLICIT_ROTATIONS = 20; // i32 pointer: f64[9n] row by row; 0: none, of a sheet
export const IMPLICIT_TETS = 24; // i32 pointer: IMPLICIT_TET rows
export const IMPLICIT_TET_COUNT = 28; // i32
export const IMPLICIT_TRIANGLES = 32; // i32 pointer: IMPLICIT_TRIANGLE rows
export const IMPLICIT_TRIANGLE_COUNT = 36; // i32
export const IMPLICIT_BENDS = 40; // i32 pointer: IMPLICIT_BEND rows
export const IMPLICIT_BEND_COUNT = 44; // i32
export const IMPLICIT_COLUMNS = 48; // i32 columns of the factor: free particles
export const IMPLICIT_ORDER = 52; // i32 pointer: i32[m] byte offset in a vector of each column's particle
export const IMPLICIT_START = 56; // i32 pointer: i32[m + 1] first entry of each column
export const IMPLICIT_ENTRY_ROWS = 60; // i32 pointer: i32 byte offset in SOLVED of each entry's row
export const IMPLICIT_ENTRIES = 64; // i32 pointer: f32 each, or f32x4 x 3, the columns of a block
export const IMPLICIT_DIAGONAL = 68; // i32 pointer: D^-1 likewise
export const IMPLICIT_SOLVED = 72; // i32 pointer: f32x4[m] right side, then solution
export const IMPLICIT_STEPS = 76; // i32 steps a tick
export const IMPLICIT_HELD = 80; // i32 pointer: HELD rows, as many as there are points in the room
export const IMPLICIT_HELD_COUNT = 84; // i32 of them that hold this body in this step
export const IMPLICIT_STEP_SECONDS = 88; // f64
export const IMPLICIT_COEFFICIENT = 96; // f64 1/s^2
export const IMPLICIT_KEEP = 104; // f64 1/(1 + 2 h damping / 3)
export const IMPLICIT_TOLERANCE = 112; // f64
export const IMPLICIT_MU = 120; // f64 Pa, with lambda, of solids
export const IMPLICIT_LAMBDA = 128;
export const IMPLICIT_C00 = 136; // f64 Pa: plane stress, of sheets
export const IMPLICIT_C01 = 144;
export const IMPLICIT_C11 = 152;
export const IMPLICIT_C22 = 160;
// i32, for tools: steps, iterations, halvings, and steps that began where the last one had ended
export const IMPLICIT_STEPS_DONE = 168;
export const IMPLICIT_ITERATIONS = 172;
export const IMPLICIT_HALVINGS = 176;
export const IMPLICIT_FROM_REST = 180;
export const IMPLICIT_TOUCHES = 184; // i32 pointer: TOUCH rows, as many as particles; 0: no collider is ever in reach
export const IMPLICIT_TOUCH_COUNT = 188; // i32 of this step
export const IMPLICIT_MEETS = 192; // i32 BODY_MEETS of the body
export const IMPLICIT_ROUNDS = 196; // i32, for tools: solves that followed a change of what touches
export const IMPLICIT_EULER = 200; // f64 1/s^2: (1 + h damping) / h^2
export const IMPLICIT_SELF = 208; // i32 address of this row: the list of a body that is stepped alone
export const IMPLICIT_TOGETHER = 212; // i32 1: it may touch surfaces, and is stepped with what it touches
export const IMPLICIT_HIT = 216; // i32 1: others have changed its velocities since its last step
export const IMPLICIT_LEADER = 220; // i32 address of the row of the first body that it touches, through others too
export const IMPLICIT_ELASTIC = 224; // f64 J where the step was linearized or measured last
export const IMPLICIT_STIFFNESS = 232; // i32 pointer: f64[n] N/m, of its factored matrix at each particle; of what may touch surfaces
export const IMPLICIT_BYTES = 240;
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
/** Bytes of the state behind its vectors. */
export const IMPLICIT_STATE_END = 16;
/**
 * i32x4 byte offsets of the corners in a vector; f64: D_m^-1 row by row, volume; then of the last linearization F row
 * by row, the positive part of the stress (00 11 22 12 02 01), and i32 whether it is crushed.
 */
export const IMPLICIT_TET_DM = 16;
export const IMPLICIT_TET_VOLUME = 88;
export const IMPLICIT_TET_F = 96;
export const IMPLICIT_TET_STRESS = 168;
export const IMPLICIT_TET_CRUSHED = 216;
export const IMPLICIT_TET_BYTES = 224;
/** Likewise: D_m^-1 (4), volume; the columns of F (6), stress (weft, warp, shear). */
export const IMPLICIT_TRIANGLE_DM = 16;
export const IMPLICIT_TRIANGLE_VOLUME = 48;
export const IMPLICIT_TRIANGLE_F = 56;
export const IMPLICIT_TRIANGLE_STRESS = 104;
export const IMPLICIT_TRIANGLE_BYTES = 128;
/** Likewise: K (4), alpha in m/N, rest in m. */
export const IMPLICIT_BEND_K = 16;
export const IMPLICIT_BEND_ALPHA = 48;
export const IMPLICIT_BEND_REST = 56;
export const IMPLICIT_BEND_BYTES = 64;
/**
 * A point that holds the body: i32 address of its POINT slot; f64 stiffness, that of the last linearization (N/m),
 * f64x3 target.
 */
export const HELD_POINT = 0;
export const HELD_STIFFNESS = 8;
export const HELD_EFFECTIVE = 16;
export const HELD_TARGET = 24;
export const HELD_BYTES = 48;
/**
 * A particle at a collider: i32 byte offset in a vector, and what it does there (TOUCH_OPEN, _STICKS, _SLIDES); f64x3
 * normal, place where it touches, and slip of the last linearization; f64 coefficients of friction; mu lambda_n, N; the
 * slip that counts as none, and the one over which friction grows, m.
 */
export const TOUCH_STATE = 4;
export const TOUCH_NORMAL = 8;
export const TOUCH_PLACE = 32;
export const TOUCH_SLIP = 56;
export const TOUCH_STATIC = 80;
export const TOUCH_DYNAMIC = 88;
export const TOUCH_FRICTION = 96;
export const TOUCH_LEAST = 104;
export const TOUCH_ROUND = 112;
export const TOUCH_RESTING = 120; // f64 m: what external acceleration makes in two steps
export const TOUCH_DRAG = 128; // f64 N/m: friction over slip at the last linearization
export const TOUCH_STEADY = 136; // f64 1/m^2: 1/t^2 of a steady slip there, 0 else
export const TOUCH_BYTES = 144;
export const TOUCH_OPEN = 0;
export const TOUCH_STICKS = 1;
export const TOUCH_SLIDES = 2;
/** Bodies that may touch surfaces (implicit/together.ts), one row a room. */
export const TOGETHER_LIST = 0; // i32 pointer: addresses of their IMPLICIT rows, then room for the same, group by group
export const TOGETHER_COUNT = 4; // i32
export const TOGETHER_ROWS = 8; // i32 pointer: ROW rows
export const TOGETHER_ROW_CAPACITY = 12; // i32
export const TOGETHER_ROW_COUNT = 16; // i32 of this step
export const TOGETHER_ORDER = 20; // i32 pointer: addresses of ROW rows, group by group
export const TOGETHER_KEPT = 24; // i32 pointer: i32 how many, then KEPT rows: STATE
export const TOGETHER_TABLE = 28; // i32 pointer: i32 places in KEPT plus one, by hash of the pair; then of its first vertex or edge
export const TOGETHER_TABLE_SIZE = 32; // i32 of each, a power of two
export const TOGETHER_BYTES = 48;
/**
 * A pair that is near in an implicit step (implicit/contacts.ts): f64x3 unit normal to the first primitive; f64x4
 * weights of the closest points, negative for the second; u32x4 addresses of the free particles' entries in the first
 * vector, 0: it is not free, u32x4 bytes from one vector to the next.
 */
export const ROW_NORMAL = 0;
export const ROW_WEIGHT = 24;
export const ROW_ENTRY = 56;
export const ROW_STRIDE = 72;
export const ROW_FIXED = 88; // f64x3 weighted sum of what is not free, m
export const ROW_START = 112; // f64x3 weighted sum of all where the step begins, m
export const ROW_HERE = 136; // f64x3 likewise, with what is not free where the step ends
export const ROW_REST = 160; // f64 gap that it keeps, m
export const ROW_STIFFNESS = 168; // f64 N/m where it begins to push
export const ROW_APPROACH = 176; // f64 m by which v brings it nearer in the step
export const ROW_STATIC = 184; // f64 coefficients of friction
export const ROW_DYNAMIC = 192;
export const ROW_PUSH = 200; // f64 N: what friction goes by
export const ROW_SHEAR = 208; // f64x3 m: elastic part of the slip so far
export const ROW_SLIP = 232; // f64x3 m: with it, at the last linearization; before: what v makes of s in the step
export const ROW_ON = 256; // i32 1: it pushes in this solve
export const ROW_SLID = 260; // i32 1: it slid in the step before
export const ROW_PARTICLES = 264; // u32x4 addresses
export const ROW_DRAG = 280; // f64 N/m: friction over slip at the last linearization; 0: friction does not grow with it
export const ROW_RESTING = 288; // f64 m: approach that is none, of what lies there
export const ROW_STEADY = 296; // i32 1: it slid steadily at the last linearization
export const ROW_HOLD = 304; // f64 N/m: of friction while it holds
export const ROW_CURVE = 312; // f64 N/m: of the push at the last linearization
export const ROW_BODY = 320; // i32 address of the IMPLICIT row of its first free particle's body
export const ROW_OTHER = 324; // i32 likewise of the last one's
export const ROW_BETWEEN = 328; // i32 1: between free particles only
export const ROW_THICKNESS = 336; // f64 m
export const ROW_GLIDE = 344; // f64x3 m: slip that there would be without any force, with its elastic part
export const ROW_REACH = 368; // f64 m: its length
export const ROW_BYTES = 376;
/** What a pair keeps from step to step: u32x4 particles; f32 friction x y z, N, gap that it keeps (below 0: it slid). */
export const KEPT_SHEAR = 16;
export const KEPT_REST = 28;
export const KEPT_EDGE = 32; // i32 1: of two edges
export const KEPT_BYTES = 48;
