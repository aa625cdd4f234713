/**
 * Interface between rooms and methods of deformable models other than the kernel's own constraints. A method knows a
 * body's masses and rest shape, and moves positions and velocities by its own step. Grabs, colliders, frames, state
 * hash, checkpoints, roll-back, reset and sleep belong to the room (methodBodies.ts), the same for all methods.
 *
 *   plan       scene body -> constants: arrays in the room's memory, the same bytes on any machine
 *   open       constants in memory -> a stepper, in any thread; it keeps nothing from step to step
 *   step(h)    state and outer forces -> state: float64, only + - * / sqrt, serial sums
 *   energy     elastic, J
 */
import type { Method as MethodSpec } from "../../../shared/scene/sceneMethodTypes.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { RigidGrabs } from "../reference/implicit/heldPoints.ts";

/** Arrays that a method reads in every step, by name. */
export type Constants = Record<string, Float64Array | Uint32Array>;

/** Values of a body that every method needs. */
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

/** Complete state of a body between two steps. */
export interface MethodState {
  /** float64[3N] each, m and m/s */
  x: Float64Array;
  v: Float64Array;
  /** Extra state; `MethodKind.more` gives its initial value. */
  more: Float64Array;
}

/** External influences on a body in a step. */
export interface Outside {
  /** float64[3N] N, gravity and loads; 0 for fixed particles */
  force: Float64Array;
  /** Grabs and attachments. */
  points: RigidGrabs;
  /** Colliders with a signed distance. */
  walls: readonly Wall[];
  /** Surfaces that the method meets: of bodies of the kernel's constraints, and of mesh colliders. */
  surfaces?: readonly Surface[];
  /** Other bodies of methods that meet bodies. */
  others?: readonly OtherBody[];
}

/** Another body of a method; a method may change its velocities. */
export interface OtherBody {
  method: Method;
  state: MethodState;
}

/** Current surface of a body; a method may change its velocities. */
export interface Surface {
  /** True if it has an inside. */
  closed: boolean;
  /** uint32[3T] of its own particles, normals outward. */
  triangles: Uint32Array;
  /** float64[3N] m, m/s; float64[N] 1/kg */
  x: Float64Array;
  v: Float64Array;
  w: Float64Array;
}

/** A collider with its signed distance, m; for a plane also its unit normal. */
export interface Wall {
  plane: readonly [number, number, number] | undefined;
  distanceTo(x: number, y: number, z: number): number;
}

/** Points of a fluid, as other methods meet them. */
export interface FluidPoints {
  body: MethodBody;
  /** Reach of a point, m. */
  H: number;
  /** Length of a step, s. */
  h: number;
  /** float64[N] 1/kg, 0: fixed */
  light: Float64Array;
  /** Mass of a free point, kg. */
  mass: number;
}

export interface Method {
  /** Its points, if other methods may meet them; they may change their velocities. */
  readonly points?: FluidPoints;
  /**
   * Takes one step of h.
   * @param state inout
   */
  step(state: MethodState, outside: Outside): void;
  /** Called when a tick begins: rebuilds caches, so that bits do not depend on when they were built. */
  begin?(): void;
  /** Elastic energy, J. */
  energy(state: MethodState): number;
  /**
   * For a fluid that blows on other bodies: its velocity at a place.
   * @param out m/s
   * @returns whether the fluid is there
   */
  velocityAt?(state: MethodState, walls: readonly Wall[], place: Float64Array, out: Float64Array): boolean;
}

export interface MethodKind {
  /**
   * Largest stiffness of a grab or attachment, over the inertia of the held particles, 1/(W h^2): large if the step
   * solves for it, less than 1 otherwise.
   */
  grab(spec: MethodSpec): number;
  /**
   * @param path of the method in the scene, for errors
   * @throws SceneError
   */
  plan(template: BodyTemplate, spec: MethodSpec, body: MethodBody, path: string): Constants;
  open(constants: Constants, spec: MethodSpec, body: MethodBody): Method;
  /**
   * True if it steps together with bodies of the kernel's constraints, moving colliders and other such methods, unless
   * it passes through them.
   */
  meetsBodies?: true;
  /** True if the constants do not depend on the step's length. Owners may then change `steps` while the room runs. */
  anyStep?: true;
  /** Number of eigenmodes in the constants: owners may keep fewer in the spec for `open`. */
  modes?(constants: Constants): number;
  /** Initial extra state of the method, besides positions and velocities. */
  more?(template: BodyTemplate, spec: MethodSpec): Float64Array;
}
