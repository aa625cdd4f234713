/** Wind (wind/wind.ts). */
import { F32, I32, LANES } from "./sizes.ts";

/** One wave: k in cycles a meter, the phase in cycles, and its amplitude, m/s. */
export const WIND_MODE_PHASE = 3 * I32; // f32
export const WIND_MODE_SWING = WIND_MODE_PHASE + F32; // f32x4, the fourth is 0
export const WIND_MODE_BYTES = WIND_MODE_SWING + LANES;

export const WIND_MOST_MODES = 12;

export const WIND_PHASES = 0; // i32 phases at the start of the program that are skipped without wind
export const WIND_ON = WIND_PHASES + I32; // i32 1: there is wind
export const WIND_DRAG = WIND_ON + I32; // f32 rho/2 C_D, kg/m^3 in the memory's unit of mass
export const WIND_LIFT = WIND_DRAG + F32; // f32 rho/2 C_L
export const WIND_VELOCITY = WIND_LIFT + F32; // f32x4 U, m/s; the fourth is 0
export const WIND_BASE = WIND_VELOCITY + LANES; // i32 pointer: f32x4 per particle, external acceleration without wind
export const WIND_MODE_COUNT = WIND_BASE + I32; // i32
export const WIND_MODES = WIND_MODE_COUNT + I32 + 8; // WIND_MODE rows
export const WIND_BYTES = WIND_MODES + WIND_MOST_MODES * WIND_MODE_BYTES;

/** A triangle exposed to air: addresses of its corners. */
export const WIND_TRIANGLE_CLOSED = 3 * I32; // i32 1: of a closed surface, outward
export const WIND_TRIANGLE_AIR = WIND_TRIANGLE_CLOSED + I32; // f32x3 u in this tick, m/s
// f32 s: the time step, divided by three times the triangle's share of the area around its corner with the least area
export const WIND_TRIANGLE_REACH = WIND_TRIANGLE_AIR + 3 * F32;
// f32x4 a third of the force, N in the memory's unit of mass
export const WIND_TRIANGLE_FORCE = WIND_TRIANGLE_REACH + F32;
// f32x4 velocity that fluids of the room add to u in this tick (sim/methods/methodBodies.ts), m/s; the fourth is 0
export const WIND_TRIANGLE_FLOW = WIND_TRIANGLE_FORCE + LANES;
export const WIND_TRIANGLE_BYTES = WIND_TRIANGLE_FLOW + LANES;

export const WIND_PARTICLE_ADDRESS = 0; // i32 in X
export const WIND_PARTICLE_FIRST = WIND_PARTICLE_ADDRESS + I32; // i32 pointer: addresses of its triangles' rows
export const WIND_PARTICLE_COUNT = WIND_PARTICLE_FIRST + I32; // i32 their number
export const WIND_PARTICLE_BYTES = WIND_PARTICLE_COUNT + I32 + 4;
