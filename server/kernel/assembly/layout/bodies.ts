/** Whole bodies: momentum, remembered stress, islands. */
import { F32, F64, I32 } from "./sizes.ts";

export const BODY_FIRST = 0; // i32 address of the first particle in X
export const BODY_COUNT = BODY_FIRST + I32; // i32 particles
export const BODY_FREE = BODY_COUNT + I32; // i32 1: nothing outside holds or touches it in this tick
// i32: a body whose BODY_INVERTED exceeds this is tangled (plasticity.ts) until BODY_INVERTED is 0
export const BODY_INVERTED_LIMIT = BODY_FREE + I32;
export const BODY_VELOCITY = BODY_INVERTED_LIMIT + I32; // f64x3 m/s, correction
export const BODY_SPIN = BODY_VELOCITY + 3 * F64; // f64x3 rad/s, correction
export const BODY_CENTER = BODY_SPIN + 3 * F64; // f64x3 m
// f32: share of the stress not yet remembered that is stored in this tick
export const BODY_GAIN = BODY_CENTER + 3 * F64;
export const BODY_KEEP = BODY_GAIN + F32; // f32: share of the remembered stress that is kept
export const BODY_MISMATCH = BODY_KEEP + F32; // f64 |C + aT S L|^2 over all elements, weighed by stiffness and volume
export const BODY_STRAIN = BODY_MISMATCH + F64; // f64 |aT S L|^2, summed as BODY_MISMATCH
export const BODY_CHANGE = BODY_STRAIN + F64; // f64 |aT S (L - L0)|^2, summed as BODY_MISMATCH
export const BODY_WEIGHT = BODY_CHANGE + F64; // f64 sum of the weights: stiffness times volume
// f32: least share of its stress that the iterations reach without memory; 0: not measured
export const BODY_SHARE = BODY_WEIGHT + F64;
// i32: iterations of this substep with an inverted plastic element; Neo-Hookean bodies: 1 if an element is inverted
export const BODY_INVERTED = BODY_SHARE + F32;
// i32 1: the body was tangled in the substep before; Neo-Hookean elements read this value, so their order does not
// matter
export const BODY_WAS_INVERTED = BODY_INVERTED + I32;
// i32 pointer: a byte for every collider, 1: the body may touch it; 0: it may touch all
export const BODY_MEETS = BODY_WAS_INVERTED + I32;
// i32 bits. 1 and 2: a fixed particle, grab, ball or core mesh exchanges momentum with it during the solve, 1 in this
// tick, 2 as long as this pair list is valid. HELD_RIGID: a body of its island is rigid
export const BODY_HELD = BODY_MEETS + I32;
// i32: number of the body that represents its island, the bodies that exchange momentum in this tick; its own number:
// alone so far
export const BODY_ISLAND = BODY_HELD + I32;
// i32 address of the SHAPE row of a rigid body, whose velocity is computed from positions (rigid.ts); else 0
export const BODY_RIGID = BODY_ISLAND + I32;
// i32 1: it is absent (sim/spawn/spawnableBodies.ts) or asleep (sim/rest/sleepingIslands.ts)
export const BODY_INACTIVE = BODY_RIGID + I32;
// i32: union-find over bodies that the pair list has near each other: a smaller number, or its own at the root
export const BODY_LISTED = BODY_INACTIVE + I32;
export const BODY_AGAINST = BODY_LISTED + I32; // i32 1: the pair list has this body near a collider's core mesh
// i32 not 0: a step of its own moves it, which conserves momentum. Address of its IMPLICIT row; 1 for a method's body
export const BODY_IMPLICIT = BODY_AGAINST + I32;
// i32 address of its PREFACTORED row, or 0
export const BODY_PREFACTORED = BODY_IMPLICIT + I32;
export const BODY_FORCE = BODY_PREFACTORED + I32; // f64x3 N: external force on all its particles, if it may be free
export const BODY_MASS = BODY_FORCE + 3 * F64; // f64 kg: its mass, if it may be free
// f64x3 m: excess of a substep of symplectic Euler over the exact displacement (momentum.ts)
export const BODY_LEAD = BODY_MASS + F64;
export const BODY_ENCLOSED = BODY_LEAD + 3 * F64; // i32 1: it keeps an enclosed volume, which stresses it at rest
// i32 1: the momentum correction also moves positions of its island (momentum.ts)
export const BODY_MOVED = BODY_ENCLOSED + I32;
// i32 1: a method moves it with all forces, and contact corrects that motion (sim/methods/methodBodies.ts)
export const BODY_UNFORCED = BODY_MOVED + I32;
// f32: part of a substep's way that follows the elastic solve (sim/scene/laterPart.ts)
export const BODY_LATER = BODY_UNFORCED + I32;
export const BODY_CALM = BODY_LATER + F32; // f32 m/s: below that speed its whole way precedes the elastic solve
export const BODY_DRIFT = BODY_CALM + F32; // f32: BODY_LATER or 0, in this tick
export const BODY_BYTES = BODY_DRIFT + F32 + 4; // a multiple of 8

export const HELD_RIGID = 4;
