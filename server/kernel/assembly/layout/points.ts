/**
 * Weighted points: attachments and grabs. sum_i b_i x_i = target; b sums to 1 (held in space) or to 0 (two bodies held
 * together).
 */
import { F32, I32, LANES } from "./sizes.ts";

export const POINT_MAX_PARTICLES = 24;

export const POINT_ACTIVE = 0; // i32: 0 not in use, POINT_HELD, POINT_GRAB or POINT_IMPLICIT
export const POINT_COUNT = POINT_ACTIVE + I32; // i32 particles
export const POINT_ALPHA = POINT_COUNT + I32; // f32 compliance, m/N
export const POINT_MAX_FORCE = POINT_ALPHA + F32; // f32 N
export const POINT_TARGET = POINT_MAX_FORCE + F32; // f32x4
export const POINT_LAMBDA = POINT_TARGET + LANES; // f32x4
export const POINT_ADDRESS = POINT_LAMBDA + LANES; // i32[POINT_MAX_PARTICLES]
export const POINT_WEIGHT = POINT_ADDRESS + POINT_MAX_PARTICLES * I32; // f32[POINT_MAX_PARTICLES]
/**
 * MOTION row of the collider that carries the target, which is then given at the collider's rest pose; 0: fixed in
 * space.
 */
export const POINT_MOTION = POINT_WEIGHT + POINT_MAX_PARTICLES * F32; // i32 pointer
/** Motion of the target in each substep of this tick, m. */
export const POINT_STEP = POINT_MOTION + I32; // f32[3]
/** For a grab: the edges that it may stretch, EDGE rows, and their number. */
export const POINT_EDGES = POINT_STEP + 3 * F32; // i32 pointer
export const POINT_EDGE_COUNT = POINT_EDGES + I32; // i32
/**
 * Length of an edge over its rest length from which on a grab has no force (max), and from which on its force falls
 * (ease).
 */
export const POINT_MAX_STRETCH = POINT_EDGE_COUNT + I32; // f32
export const POINT_EASE_STRETCH = POINT_MAX_STRETCH + F32; // f32
/** Largest motion of the held point by a grab in one substep, m. */
export const POINT_MAX_SHIFT = POINT_EASE_STRETCH + F32; // f32
/** Largest |L| in this substep, N s^2. */
export const POINT_LIMIT = POINT_MAX_SHIFT + F32; // f32
/** Share of a grab's force that the whole body allows in this tick, 0 to 1; and the body's number. */
export const POINT_SHARE = POINT_LIMIT + F32; // f32
export const POINT_BODY = POINT_SHARE + F32; // i32
/** Share of its speed that the target has in the next substep, 0 to 1. */
export const POINT_PACE = POINT_BODY + I32; // f32
// i32 pointer: RESPONSE row of the prefactored body that it holds; 0: the room has none
export const POINT_RESPONSE = POINT_PACE + F32;
/** For an attachment: where its target is at the start and after a reset, and where it goes from there. */
export const POINT_FROM = POINT_RESPONSE + I32; // f32[3]
export const POINT_GOAL = POINT_FROM + 3 * F32; // f32[3]
export const POINT_BYTES = POINT_GOAL + 3 * F32;

/** POINT_ACTIVE: an attachment. */
export const POINT_HELD = 1;
/** A grab: the target moves by POINT_STEP a substep, no further ahead than the force reaches. */
export const POINT_GRAB = 2;
/** Holds an implicit body (implicit/heldPoints.ts). */
export const POINT_IMPLICIT = 3;

export const POINT_MAX_EDGES = 384;

export const EDGE_A = 0; // i32 address of a particle
export const EDGE_B = EDGE_A + I32; // i32
export const EDGE_INVERSE_SQUARE = EDGE_B + I32; // f32 1 / rest length^2, 1/m^2
export const EDGE_BYTES = EDGE_INVERSE_SQUARE + F32;
