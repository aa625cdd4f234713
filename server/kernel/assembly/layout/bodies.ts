/** Whole bodies: what the solve did to their momentum. */
import { F32, F64, I32 } from "./sizes.ts";

export const BODY_FIRST = 0; // i32 address of the first particle in X
export const BODY_COUNT = BODY_FIRST + I32; // i32 particles
export const BODY_FREE = BODY_COUNT + I32; // i32 1: nothing holds or touches it in this tick
// i32: BODY_INVERTED above it makes the body tangled, until BODY_INVERTED is 0
export const BODY_INVERTED_LIMIT = BODY_FREE + I32;
export const BODY_VELOCITY = BODY_INVERTED_LIMIT + I32; // f64x3 m/s to put back
export const BODY_SPIN = BODY_VELOCITY + 3 * F64; // f64x3 rad/s to put back
export const BODY_CENTER = BODY_SPIN + 3 * F64; // f64x3 m
// f32: share of the stress not yet remembered that memory takes over in this tick
export const BODY_GAIN = BODY_CENTER + 3 * F64;
export const BODY_KEEP = BODY_GAIN + F32; // f32: share of the remembered stress that is kept
export const BODY_MISMATCH = BODY_KEEP + F32; // f64 |C + aT S L|^2 over all elements, weighed by stiffness and volume
export const BODY_STRAIN = BODY_MISMATCH + F64; // f64 |aT S L|^2 likewise
export const BODY_CHANGE = BODY_STRAIN + F64; // f64 |aT S (L - L0)|^2 likewise
export const BODY_WEIGHT = BODY_CHANGE + F64; // f64 the weights themselves: stiffness times volume
// f32: least share of its stress that the iterations built up alone; 0: not measured
export const BODY_SHARE = BODY_WEIGHT + F64;
// i32: how often an iteration of this substep found one of its plastic elements inverted; 1 if a Neo-Hookean one
export const BODY_INVERTED = BODY_SHARE + F32;
// i32 1: the body was tangled in the substep before: what Neo-Hookean elements go by, in any order
export const BODY_WAS_INVERTED = BODY_INVERTED + I32;
// i32 pointer: a byte for every collider, 1: the body may touch it; 0: it may touch all
export const BODY_MEETS = BODY_WAS_INVERTED + I32;
// i32: something fixed, a hand, a ball or a collider within reach takes momentum from it or gives it some: 1 in this
// tick, 2 as long as this list of pairs lives; HELD_RIGID: one of its island is rigid
export const BODY_HELD = BODY_MEETS + I32;
// i32: number of the body that stands for all that exchange momentum with it in this tick; its own: so far with none
export const BODY_ISLAND = BODY_HELD + I32;
// i32 address of the SHAPE row of a rigid body, whose motion is made from positions (rigid.ts); else 0
export const BODY_RIGID = BODY_ISLAND + I32;
export const BODY_INACTIVE = BODY_RIGID + I32; // i32 1: it waits (server/sim/inactive.ts) or sleeps (sleepingIslands.ts)
// i32: number of a body that the list of pairs has near it, or near one that is, and so on to the smallest of them: its
// own
export const BODY_LISTED = BODY_INACTIVE + I32;
export const BODY_AGAINST = BODY_LISTED + I32; // i32 1: the list has a pair of it and a collider's core mesh
// i32 not 0: its own step keeps its momentum: address of its IMPLICIT row, or 1 of a method's
export const BODY_IMPLICIT = BODY_AGAINST + I32;
export const BODY_FORCE = BODY_IMPLICIT + I32 + 4; // f64x3 N: external, of all its particles; where it may be free
export const BODY_MASS = BODY_FORCE + 3 * F64; // f64 kg, likewise
export const BODY_LEAD = BODY_MASS + F64; // f64x3 m: what a substep of symplectic Euler falls too far (momentum.ts)
export const BODY_BYTES = BODY_LEAD + 3 * F64 + 8;

export const HELD_RIGID = 4;
