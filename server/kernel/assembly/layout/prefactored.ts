/** Rows of prefactored bodies (prefactored/step.ts). A column is a free particle, in elimination order. */
import { FACTOR_BYTES } from "./factor.ts";
import { F32, F64, I32, LANES } from "./sizes.ts";

/** One row for each prefactored body. */
export const PREFACTORED_FIRST = 0; // i32 address of the first particle in X
export const PREFACTORED_COLUMNS = PREFACTORED_FIRST + I32; // i32 columns of the factor
// i32 pointer: i32[m] bytes from the first particle to each column's particle
export const PREFACTORED_ORDER = PREFACTORED_COLUMNS + I32;
// i32 pointer: i32[n] byte offset of each particle's column in a vector; for fixed particles, of the entry behind the
// last column
export const PREFACTORED_COLUMN = PREFACTORED_ORDER + I32;
export const PREFACTORED_FACTOR = PREFACTORED_COLUMN + I32; // FACTOR of P
// i32 pointer: f32x4[m + 1] residual, N, then correction, m; the last entry takes the forces on fixed particles
export const PREFACTORED_RESIDUAL = PREFACTORED_FACTOR + FACTOR_BYTES;
// i32 pointer: f32x4[m + 1] m: displacement in this substep by anything but velocity and impulses
export const PREFACTORED_MOVED = PREFACTORED_RESIDUAL + I32;
// i32 pointer: f32x4[m + 1] positions before contacts, m; then impulses per h^2, N
export const PREFACTORED_PLACES = PREFACTORED_MOVED + I32;
// i32 pointer, STATE: f32x4[m] kept contact forces, N; then i32 substeps until they have faded, if
// contacts do not push again, i32 1 if other bodies have pushed, f64 J of energyGuard.ts
export const PREFACTORED_KEPT = PREFACTORED_PLACES + I32;
export const PREFACTORED_LOWS = PREFACTORED_KEPT + I32; // i32 pointer: f32x4[m] low words before contacts, m
// i32 pointer, STATE: f32[m] inverse mass that each column shows to other bodies, 1/kg, 0: its own; 0: the sheet meets
// no other body
export const PREFACTORED_ANSWERS = PREFACTORED_LOWS + I32;
// i32 pointer: f32x4[m] displacement in this substep before contacts, m
export const PREFACTORED_BEFORE = PREFACTORED_ANSWERS + I32;
export const PREFACTORED_INERTIA = PREFACTORED_BEFORE + I32; // i32 pointer: f32[m] mass / h^2, N/m
export const PREFACTORED_TRIANGLES = PREFACTORED_INERTIA + I32; // i32 pointer: PREFACTORED_TRIANGLE rows
export const PREFACTORED_TRIANGLE_ROWS = PREFACTORED_TRIANGLES + I32; // i32
export const PREFACTORED_BENDS = PREFACTORED_TRIANGLE_ROWS + I32; // i32 pointer: PREFACTORED_BEND rows
export const PREFACTORED_BEND_ROWS = PREFACTORED_BENDS + I32; // i32
export const PREFACTORED_TETS = PREFACTORED_BEND_ROWS + I32; // i32 pointer: PREFACTORED_TET rows
export const PREFACTORED_TET_ROWS = PREFACTORED_TETS + I32; // i32
// i32 pointers: PREFACTORED_PAIR rows, ordered by column, or 0; i32[m] number of rows of each column
export const PREFACTORED_PAIRS = PREFACTORED_TET_ROWS + I32;
export const PREFACTORED_PAIR_COUNTS = PREFACTORED_PAIRS + I32;
// f32: part of the substep's motion after which the elastic force is taken: 1 for sheets that touch anything
export const PREFACTORED_LEAD = PREFACTORED_PAIR_COUNTS + I32;
export const PREFACTORED_BOUND = PREFACTORED_LEAD + F32; // f32: membrane's stiffness in P over its bound at rest
export const PREFACTORED_LARGE = PREFACTORED_BOUND + F32; // f32 m^2: square of a correction that is checked
// f64 J: energy at the start of the substep, while contacts may add to it
export const PREFACTORED_ENERGY = PREFACTORED_LARGE + F32;
// u32: counters for tools: checked substeps, repeated solves, substeps that began anew, substeps that gained energy
export const PREFACTORED_CHECKS = PREFACTORED_ENERGY + F64;
export const PREFACTORED_REPEATS = PREFACTORED_CHECKS + I32;
export const PREFACTORED_RESTARTS = PREFACTORED_REPEATS + I32;
export const PREFACTORED_GUARDED = PREFACTORED_RESTARTS + I32;
// i32 1: other bodies have pushed this one in this substep
export const PREFACTORED_MET = PREFACTORED_GUARDED + I32;
// i32 1: PREFACTORED_ENERGY is that at the start of this substep
export const PREFACTORED_NOTED = PREFACTORED_MET + I32;
// f64 J: work of other bodies in this substep, if they have pushed
export const PREFACTORED_WORK = PREFACTORED_NOTED + I32;
export const PREFACTORED_END = PREFACTORED_WORK + F64; // i32 address behind the last particle in X
// i32 pointer: PREFACTORED_TOUCH rows of a solid, one for each column
export const PREFACTORED_TOUCHES = PREFACTORED_END + I32;
// f32: mean over the columns of P's diagonal over m/h^2
export const PREFACTORED_STIFFER = PREFACTORED_TOUCHES + I32;
// f64 J: part of PREFACTORED_ENERGY from the motion and height of the body as a whole
export const PREFACTORED_COMMON = PREFACTORED_STIFFER + F32;
export const PREFACTORED_BYTES = PREFACTORED_COMMON + F64;

/**
 * Contact of a column with a collider in this substep (prefactored/press.ts): f32x4 normal; f32x4 displacement that it
 * still lacks, m; f32x4 change of its kept force, N; i32 offset of the column; f32 coefficients of static and of
 * dynamic friction.
 */
export const PREFACTORED_TOUCH_LACKS = LANES;
export const PREFACTORED_TOUCH_CHANGE = PREFACTORED_TOUCH_LACKS + LANES;
export const PREFACTORED_TOUCH_COLUMN = PREFACTORED_TOUCH_CHANGE + LANES;
export const PREFACTORED_TOUCH_STATIC = PREFACTORED_TOUCH_COLUMN + I32;
export const PREFACTORED_TOUCH_FRICTION = PREFACTORED_TOUCH_STATIC + F32;
export const PREFACTORED_TOUCH_BYTES = PREFACTORED_TOUCH_FRICTION + F32 + 4;

/**
 * Four triangles: 3 x 4 addresses of corners, 3 x 4 addresses of their columns in PREFACTORED_RESIDUAL, D_m^-1 (2x2),
 * stiffness times volume C00 C01 C11 C22, N m.
 */
export const PREFACTORED_TRIANGLE_COLUMN = 3 * LANES;
export const PREFACTORED_TRIANGLE_DM = PREFACTORED_TRIANGLE_COLUMN + 3 * LANES;
export const PREFACTORED_TRIANGLE_C = PREFACTORED_TRIANGLE_DM + 4 * LANES;
export const PREFACTORED_TRIANGLE_BYTES = PREFACTORED_TRIANGLE_C + 4 * LANES;

/** Four bending stencils: 4 x 4 addresses, 4 x 4 addresses of columns, K0..K3, 1/alpha in N/m, rest in m. */
export const PREFACTORED_BEND_COLUMN = 4 * LANES;
export const PREFACTORED_BEND_K = PREFACTORED_BEND_COLUMN + 4 * LANES;
export const PREFACTORED_BEND_STIFFNESS = PREFACTORED_BEND_K + 4 * LANES;
export const PREFACTORED_BEND_REST = PREFACTORED_BEND_STIFFNESS + LANES;
export const PREFACTORED_BEND_BYTES = PREFACTORED_BEND_REST + LANES;

/**
 * Bending between two particles of a sheet that is flat at rest, kept at the column of one: f32 N/m: force on the one
 * per distance of the other; addresses of the other and of its column in PREFACTORED_RESIDUAL.
 */
export const PREFACTORED_PAIR_STIFFNESS = 0;
export const PREFACTORED_PAIR_PARTICLE = PREFACTORED_PAIR_STIFFNESS + F32;
export const PREFACTORED_PAIR_COLUMN = PREFACTORED_PAIR_PARTICLE + I32;
export const PREFACTORED_PAIR_BYTES = PREFACTORED_PAIR_COLUMN + I32;

/**
 * Four tetrahedra: 4 x 4 addresses, 4 x 4 addresses of columns, D_m^-1 row by row, lambda and mu times volume, N m.
 */
export const PREFACTORED_TET_COLUMN = 4 * LANES;
export const PREFACTORED_TET_DM = PREFACTORED_TET_COLUMN + 4 * LANES;
export const PREFACTORED_TET_LAMBDA = PREFACTORED_TET_DM + 9 * LANES;
export const PREFACTORED_TET_MU = PREFACTORED_TET_LAMBDA + LANES;
export const PREFACTORED_TET_BYTES = PREFACTORED_TET_MU + LANES;

/**
 * Response of a prefactored body to a weighted point: i32 address of its PREFACTORED row, 0: none; i32 address of the
 * point's other RESPONSE row, or 0; i32 1: the values below are those of the point; f32 b^T u; then f32[m] u = P^-1 b /
 * h^2, 1/kg.
 */
export const RESPONSE_BODY = 0;
export const RESPONSE_OTHER = RESPONSE_BODY + I32;
export const RESPONSE_VALID = RESPONSE_OTHER + I32;
export const RESPONSE_WEIGHT = RESPONSE_VALID + I32;
export const RESPONSE_MOTION = RESPONSE_WEIGHT + F32;
