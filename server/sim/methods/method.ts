/**
 * The seam between rooms and methods of deformable models other than the kernel's own constraints. A method knows a
 * body's masses and rest shape, and moves positions and velocities by one step of its own; hands, colliders, frames,
 * state hash, checkpoints, roll-back, reset and sleep are the room's (methodBodies.ts), the same for all methods.
 *
 *   plan       scene body -> constants: arrays in the room's memory, the same bytes on any machine
 *   open       constants in memory -> what steps, in any thread; it keeps nothing from step to step
 *   step(h)    state and outer forces -> state: float64, only + - * / sqrt, serial sums
 *   energy     elastic, J
 */
import type { Method as MethodSpec } from "../../../shared/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { HoldingPoints } from "../reference/implicit/points.ts";

/** Arrays that a method reads in every step, by name. */
export type Constants = Record<string, Float64Array | Uint32Array>;

/** What every method needs to know of a body. */
export interface MethodBody {
  count: number;
  /** float64[N] kg, 0: fixed */
  mass: Float64Array;
  /** Length of a step, s. */
  h: number;
  /** Rayleigh damping alpha M + beta K: 1/s and s. */
  alpha: number;
  beta: number;
}

/** The whole of what a body is between two steps. */
export interface MethodState {
  /** float64[3N] each, m and m/s */
  x: Float64Array;
  v: Float64Array;
  /** What `MethodKind.more` begins with. */
  more: Float64Array;
}

/** What acts on a body in a step. */
export interface Outside {
  /** float64[3N] N, gravity and loads; 0 for fixed particles */
  force: Float64Array;
  /** Hands and attachments. */
  points: HoldingPoints;
  /** Colliders that stand and have a signed distance. */
  walls: readonly Wall[];
  /** Of other bodies that the method meets: those of the kernel's constraints. */
  surfaces?: readonly Surface[];
}

/** Where a body's surface is now; a method may change its velocities. */
export interface Surface {
  /** It has an inside. */
  closed: boolean;
  /** uint32[3T] of its own particles, outward. */
  triangles: Uint32Array;
  /** float64[3N] m, m/s; float64[N] 1/kg */
  x: Float64Array;
  v: Float64Array;
  w: Float64Array;
}

/** A collider: m; and where it is a plane, its unit normal. */
export interface Wall {
  plane: readonly [number, number, number] | undefined;
  distanceTo(x: number, y: number, z: number): number;
}

export interface Method {
  /** One step of h. @param state inout */
  step(state: MethodState, outside: Outside): void;
  /** A tick begins: what is only kept to be faster is made anew, so that bits do not depend on when it was made. */
  begin?(): void;
  /** Elastic energy, J. */
  energy(state: MethodState): number;
  /** Of a fluid that blows on others: its velocity at a place. @param out m/s. @returns whether it is there */
  velocityAt?(state: MethodState, walls: readonly Wall[], place: Float64Array, out: Float64Array): boolean;
}

export interface MethodKind {
  /**
   * How many times as stiff as the inertia of what it holds, 1/(W h^2), a hand or attachment may be: much where the
   * step solves for it, less than 1 where it does not.
   */
  grip(spec: MethodSpec): number;
  /** @param path of the method in the scene, for errors. @throws SceneError */
  plan(template: BodyTemplate, spec: MethodSpec, body: MethodBody, path: string): Constants;
  open(constants: Constants, spec: MethodSpec, body: MethodBody): Method;
  /** It steps with bodies of the kernel's constraints: soft ones and cloth that it does not pass through. */
  meetsBodies?: true;
  /** Are the constants those of any length of step? Then owners may change `steps` while the room runs. */
  anyStep?: true;
  /** How many eigenmodes the constants have: owners may have the spec that `open` is given keep fewer. */
  modes?(constants: Constants): number;
  /** What the method remembers beside positions and velocities, as it begins. */
  more?(template: BodyTemplate, spec: MethodSpec): Float64Array;
}
