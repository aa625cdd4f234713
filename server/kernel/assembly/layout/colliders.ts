/** Rows of colliders and of their motion. */
import { F32, F64, I32 } from "./sizes.ts";

export const COLLIDER_PLANE = 0;
export const COLLIDER_SPHERE = 1;
export const COLLIDER_BOX = 2;
export const COLLIDER_CAPSULE = 3;
export const COLLIDER_CYLINDER = 4;
export const COLLIDER_FUNNEL = 5;

/** Triangles, stored only in its core mesh; the row has a bounding ball (A, radius). */
export const COLLIDER_MESH = 6;

export const COLLIDER_TYPE = 0; // i32
export const COLLIDER_FRICTION = COLLIDER_TYPE + I32; // f32 square root of the coefficient
// f32 radius of a sphere, capsule or cylinder; of a funnel's wall middle at end a
export const COLLIDER_RADIUS = COLLIDER_FRICTION + F32;
export const COLLIDER_MOTION = COLLIDER_RADIUS + F32; // i32 address of its MOTION row; 0: it does not move
// f32x3 plane normal + offset (4th), center, or end a of capsule, cylinder, funnel
export const COLLIDER_A = COLLIDER_MOTION + I32;
export const COLLIDER_B = COLLIDER_A + 3 * F32 + 4; // f32x3 box half extents, or end b
export const COLLIDER_ROTATION = COLLIDER_B + 3 * F32 + 4; // f32x9 box axes as rows: local = R (x - center)
export const COLLIDER_RADIUS_B = COLLIDER_ROTATION; // f32 funnel: radius of the wall's middle at end b
// f32 sphere, capsule: depth of the core where the shape is smooth (server/sim/colliders/smooth.ts), else 0, m
export const COLLIDER_INSET = COLLIDER_ROTATION;
export const COLLIDER_HALF_WALL = COLLIDER_RADIUS_B + F32; // f32 funnel: half the wall's thickness
// f32 radius of the bounding sphere around A (boxes: the center); infinite for a plane
export const COLLIDER_BOUND = COLLIDER_ROTATION + 9 * F32;
export const COLLIDER_STATIC = COLLIDER_BOUND + F32; // f32 square root of the static friction coefficient
export const COLLIDER_RESTITUTION = COLLIDER_STATIC + F32; // f32 square root of the coefficient of restitution
export const COLLIDER_BYTES = COLLIDER_RESTITUTION + F32;

/**
 * A collider's motion: its poses at the start (0) and the end (1) of the substep. Pose: center s, rotation R row by row
 * from the scene's frame to the world: world = s + R (p - center).
 */
export const MOTION_KEYS = 0; // i32 pointer
export const MOTION_KEY_COUNT = MOTION_KEYS + I32; // i32
export const MOTION_LOOP = MOTION_KEY_COUNT + I32; // i32 MOTION_ONCE, ...
export const MOTION_CENTER = MOTION_LOOP + I32 + 4; // f32x3 m
// f32 radius of the bounding ball around the center, m; infinite for a plane
export const MOTION_RADIUS = MOTION_CENTER + 3 * F32;
export const MOTION_TRAVEL = MOTION_RADIUS + F32; // f32 largest travel of a point of it in this tick, m
export const MOTION_S0 = MOTION_TRAVEL + F32; // f32x3
export const MOTION_R0 = MOTION_S0 + 3 * F32; // f32x9
export const MOTION_S1 = MOTION_R0 + 9 * F32; // f32x3
export const MOTION_R1 = MOTION_S1 + 3 * F32; // f32x9
export const MOTION_CORE = MOTION_R1 + 9 * F32; // i32 address of its core mesh's first particle in X
export const MOTION_CORE_COUNT = MOTION_CORE + I32; // i32 particles; 0: no core mesh
// i32 pointer: f64x3 per particle, from the center in the scene's frame, m
export const MOTION_CORE_POINTS = MOTION_CORE_COUNT + I32;
export const MOTION_JUMPED = MOTION_CORE_POINTS + I32; // i32 1: its path restarted elsewhere in this substep
// movers that yield (contact/solve/movers.ts). f64x3 displacement from its path, m: state
export const MOTION_YIELD = MOTION_JUMPED + I32 + 4;
export const MOTION_STEP = MOTION_YIELD + 3 * F64; // f64x3 its change in this solve, m
export const MOTION_RETURN = MOTION_STEP + 3 * F64; // f64x3 the change without contacts, m
export const MOTION_DRIVE = MOTION_RETURN + 3 * F64; // f64x3 kg m, push that holds it there
export const MOTION_INVERSE = MOTION_DRIVE + 3 * F64; // f64 1/kg; 0: it does not yield in this solve
export const MOTION_MOST = MOTION_INVERSE + F64; // f64 kg m, largest push that holds it
export const MOTION_ROOT = MOTION_MOST + F64; // i32 a SHAPE row that touches it, while islands are joined; 0: none
export const MOTION_BYTES = MOTION_ROOT + I32 + 4;

export const MOTION_ONCE = 0; // stays at the last key
export const MOTION_CLOSED = 1; // restarts where it ends
export const MOTION_JUMPS = 2; // restarts somewhere else
export const CORE_POINT_BYTES = 24;

/** f64: time (s), translation (m) x y z, unit quaternion w x y z. */
export const KEY_BYTES = 64;
