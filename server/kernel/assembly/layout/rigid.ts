/** Shape matching, rigid bodies and their contacts, balls. */
import { F32, F64, I32, LANES } from "./sizes.ts";

export const SHAPE_FIRST = 0; // i32 address of the first particle in X
export const SHAPE_COUNT = SHAPE_FIRST + I32; // i32 particles
// i32 pointer: f64x4 per particle, rest position relative to the center of mass (m), and mass (kg)
export const SHAPE_REST = SHAPE_COUNT + I32;
// i32 pointer: f32x4 per particle, its displacement by this substep's iterations; 0: not needed
export const SHAPE_MEMORY = SHAPE_REST + I32;
export const SHAPE_LINEAR = SHAPE_MEMORY + I32; // i32 0: rigid, 1: a share of the best linear map
export const SHAPE_BODY = SHAPE_LINEAR + I32; // i32 address of the body's BODY row
export const SHAPE_RATE = SHAPE_BODY + I32; // f64 1/s^2, spring rate over mass; infinite: rigid
export const SHAPE_BETA = SHAPE_RATE + F64; // f64 share of the linear map
export const SHAPE_YIELD = SHAPE_BETA + F64; // f64 deviatoric Green strain; infinite: elastic
export const SHAPE_CREEP = SHAPE_YIELD + F64; // f64 1/s
export const SHAPE_MAX = SHAPE_CREEP + F64; // f64 largest plastic strain
export const SHAPE_MOMENT = SHAPE_MAX + F64; // f64x9 (sum m q q^T)^-1 of the undeformed rest shape
// f64x9 S_p, unit volume: STATE, the identity until the body yields
export const SHAPE_PLASTIC = SHAPE_MOMENT + 9 * F64;
// the fields below belong to rigid bodies; every phase that needs them computes them anew (rigid.ts)
export const SHAPE_RADIUS = SHAPE_PLASTIC + 9 * F64; // f64 of a smooth ball, m; 0: the body collides by its particles
export const SHAPE_SURFACE = SHAPE_RADIUS + F64; // i32 surface particles
export const SHAPE_MEASURED = SHAPE_SURFACE + I32; // i32 1: measured for the contacts of this solve
export const SHAPE_INVERSE_MASS = SHAPE_MEASURED + I32; // f64 1/kg, 0 while the body is held
export const SHAPE_INVERSE_INERTIA = SHAPE_INVERSE_MASS + F64; // f64x6 (00 11 22 01 02 12) 1/(kg m^2), about the center
export const SHAPE_CENTER = SHAPE_INVERSE_INERTIA + 6 * F64; // f64x3 m
export const SHAPE_SHIFT = SHAPE_CENTER + 3 * F64; // f64x3 displacement of the center since the start of the substep, m
// f64x3 rotation since the start of the substep: axis times the tangent of the angle
export const SHAPE_TURN = SHAPE_SHIFT + 3 * F64;
export const SHAPE_PUSH = SHAPE_TURN + 3 * F64; // f64x3 part of the shift that this phase has added
export const SHAPE_TWIST = SHAPE_PUSH + 3 * F64; // f64x3 part of the turn that this phase has added
export const SHAPE_PUSH_STILL = SHAPE_TWIST + 3 * F64; // f64x3 part of the push that adds no velocity
export const SHAPE_TWIST_STILL = SHAPE_PUSH_STILL + 3 * F64; // f64x3 part of the twist that adds no velocity
// f64x3 kg m: motion of the body by rounding in this substep; it adds no velocity (rigid.ts)
export const SHAPE_ROUNDING = SHAPE_TWIST_STILL + 3 * F64;
export const SHAPE_ROUNDING_SPIN = SHAPE_ROUNDING + 3 * F64; // f64x3 kg m^2 about the center: turn by rounding
// f64 m: distance of the farthest particle from the center, at the last measurement
export const SHAPE_EXTENT = SHAPE_ROUNDING_SPIN + 3 * F64;
// i32 address of the first RIGID_CONTACT row of its chain (rigidManifold.ts)
export const SHAPE_CONTACT = SHAPE_EXTENT + F64;
// i32 parent in the union-find of islands: address of a SHAPE row, of itself at the root (rigidIslands.ts). Later in
// the solve: number of contacts between it and the ground (rigidRelease.ts)
export const SHAPE_ISLAND = SHAPE_CONTACT + I32;
export const SHAPE_BALL = SHAPE_ISLAND + I32; // i32 address of a smooth ball's BALL row; 0: it is none
export const SHAPE_BYTES = SHAPE_BALL + I32 + 4;

/** Number of 16-byte rows that hold SHAPE_PLASTIC (and, constant, the radius). */
export const SHAPE_STATE_ROWS = 5;

/** A near pair of a rigid body while it is solved (rigidContact.ts), or its contact with a collider. */
// i32 address of its contact block plus four times its lane; 0: a surface particle on a collider (rigidGround.ts)
export const RIGID_CONTACT_LANE = 0;
export const RIGID_CONTACT_FIRST = RIGID_CONTACT_LANE + I32; // i32 address of the first one's SHAPE row; 0: particles
export const RIGID_CONTACT_SECOND = RIGID_CONTACT_FIRST + I32; // i32 the same of the second one
// i32 1: it approaches no faster than a resting contact; 2: on a collider, faster, and may bounce
export const RIGID_CONTACT_RESTS = RIGID_CONTACT_SECOND + I32;
export const RIGID_CONTACT_NORMAL = RIGID_CONTACT_RESTS + I32; // f64x3
// f64x3 from the first body's center to where both are pushed, m
export const RIGID_CONTACT_ARM = RIGID_CONTACT_NORMAL + 3 * F64;
export const RIGID_CONTACT_OTHER_ARM = RIGID_CONTACT_ARM + 3 * F64; // f64x3 from the second body's center
export const RIGID_CONTACT_INVERSE = RIGID_CONTACT_OTHER_ARM + 3 * F64; // f64 1/kg along the normal
// f64 least displacement of the first against the second along the normal in this substep, m
export const RIGID_CONTACT_WANTED = RIGID_CONTACT_INVERSE + F64;
export const RIGID_CONTACT_MISSING = RIGID_CONTACT_WANTED + F64; // f64 least gap, m
export const RIGID_CONTACT_PUSHED = RIGID_CONTACT_MISSING + F64; // f64 kg m, accumulated push along the normal
export const RIGID_CONTACT_DRAG = RIGID_CONTACT_PUSHED + F64; // f64x3 kg m, accumulated friction
// f64x4 weights of the closest points, negative for the second primitive
export const RIGID_CONTACT_WEIGHT = RIGID_CONTACT_DRAG + 3 * F64;
// f64 of a contact with a collider: gap before all pushes, minus its margin, m
export const RIGID_CONTACT_GAP = RIGID_CONTACT_WEIGHT;
export const RIGID_CONTACT_CARRIED = RIGID_CONTACT_GAP + F64; // f64x3 m: displacement of the collider there
export const RIGID_CONTACT_STATIC = RIGID_CONTACT_WEIGHT + 4 * F64; // f64 coefficients of friction
export const RIGID_CONTACT_DYNAMIC = RIGID_CONTACT_STATIC + F64;
export const RIGID_CONTACT_THICKNESS = RIGID_CONTACT_DYNAMIC + F64; // f64 m
// i32 state while manifolds are reduced (rigidManifold.ts: OPEN; KEPT, 1: never left out; SPARE); then i32 address of
// the next row of its chain
export const RIGID_CONTACT_GROUP = RIGID_CONTACT_THICKNESS + F64;
// i32 addresses of the rows before and after it in its island, when islands are known; 0: none
export const RIGID_CONTACT_ISLAND_BEFORE = RIGID_CONTACT_GROUP;
export const RIGID_CONTACT_ISLAND_NEXT = RIGID_CONTACT_GROUP + I32;
// i32 -1 - number of the analytic collider; 0: a pair
export const RIGID_CONTACT_COLLIDER = RIGID_CONTACT_ISLAND_NEXT + I32;
// i32 1: particle over the inside of a triangle, or on a collider
export const RIGID_CONTACT_FACE = RIGID_CONTACT_COLLIDER + I32;
// f64x3 kg m: push with friction before two sweeps, then its change
export const RIGID_CONTACT_BEFORE = RIGID_CONTACT_FACE + I32;
// f64x3 kg m: direction p of the conjugate gradients (rigidContact.ts)
export const RIGID_CONTACT_DIRECTION = RIGID_CONTACT_BEFORE + 3 * F64;
export const RIGID_CONTACT_BEGAN = RIGID_CONTACT_DIRECTION + 3 * F64; // f64x3 m: relative motion before all pushes
export const RIGID_CONTACT_MOVER = RIGID_CONTACT_BEGAN + 3 * F64; // i32 address of its collider's MOTION row; 0: none
export const RIGID_CONTACT_BYTES = RIGID_CONTACT_MOVER + I32 + 4;

/** Push of a contact of rigid bodies in the substep before (rigidWarmStart.ts). */
export const RIGID_KEPT_SUBSTEP = 0; // u32 number of the substep; 0: none
export const RIGID_KEPT_FIRST = RIGID_KEPT_SUBSTEP + I32; // i32 address of the first one's SHAPE row
// i32 address of the second one's; -1 - collider number; 0: particles
export const RIGID_KEPT_SECOND = RIGID_KEPT_FIRST + I32;
export const RIGID_KEPT_TAKEN = RIGID_KEPT_SECOND + I32; // i32 1: a contact of the next substep has taken it over
export const RIGID_KEPT_ARM = RIGID_KEPT_TAKEN + I32; // f64x3 from the first one's center, m
export const RIGID_KEPT_NORMAL = RIGID_KEPT_ARM + 3 * F64; // f64x3 towards the first one
export const RIGID_KEPT_PUSH = RIGID_KEPT_NORMAL + 3 * F64; // f64x3 kg m on the first one
export const RIGID_KEPT_BYTES = RIGID_KEPT_PUSH + 3 * F64 + 8;

export const BALL_SHAPE = 0; // i32 address of its SHAPE row
export const BALL_BODY = BALL_SHAPE + I32; // i32 body number
// i32 pointer: addresses of triangles (three particle addresses each) within reach
export const BALL_LIST = BALL_BODY + I32;
export const BALL_COUNT = BALL_LIST + I32; // i32
// f32 motion that the list still allows for, m; negative: it has to be made anew; -Infinity: in each pass of the tick
export const BALL_SLACK = BALL_COUNT + I32;
export const BALL_BYTES = BALL_SLACK + F32 + 12;
/** Particles or triangles of a surface in a box that balls search (ballLists.ts). */
export const BALL_RUN = 16;
export const BALL_BOX_BYTES = 2 * LANES;
