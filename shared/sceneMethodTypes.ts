/**
 * Types of a body's `method` in a scene file (scene.ts): methods in place of the constraints of `solver`
 * (server/sim/methods).
 */
import type { Positive, Time } from "./sceneNumbers.ts";

interface MethodCommon {
  /** Steps of the method per tick. @asType integer @minimum 1 @maximum 256 @default 4 */
  steps?: number;
}

interface Damped extends MethodCommon {
  /**
   * beta of Rayleigh damping alpha M + beta K, s; alpha is the material's `damping`. @minimum 0 @maximum 10
   * @default 0
   */
  stiffnessDamping?: number;
}

interface Integrated extends Damped {
  /** Variant of Euler's method. @default "implicit" */
  integrator?: "explicit" | "symplectic" | "implicit";
}

export type Method =
  /** Edges are springs of stiffness 1/compliance (material model pbd). */
  | (Integrated & { type: "mass-spring" })
  /** Metric and curvature of a sheet of the grid generator. */
  | (Integrated & { type: "finite-differences" })
  /** Hooke's law on tetrahedra; warped (default): in the rotated frame of each element. */
  | (Integrated & { type: "finite-elements"; warped?: boolean })
  | (Integrated & { type: "finite-volumes"; warped?: boolean })
  /** The surface of a linear elastic solid, without inertia. */
  | (Damped & { type: "boundary-elements" })
  /** The lowest eigenmodes of linear finite elements, each integrated exactly. */
  | (Damped & {
      type: "modal";
      /** Number of modes. @asType integer @minimum 1 @maximum 1200 @default 24 */
      modes?: number;
    })
  | LennardJones
  | PointBased
  | PositionBasedFluid
  | SmoothedParticles
  | EulerianFluid;

/** Fluid in a box of cells around the body's center; its points are tracers. */
export interface EulerianFluid extends MethodCommon {
  type: "eulerian-fluid";
  cells: [FluidCells, FluidCells, FluidCells];
  /** Edge of a cell, m. */
  edge: Positive;
  /** nu, m^2/s. @minimum 0 @maximum 1e6 @default 0 */
  kinematicViscosity?: number;
  /** Advection scheme. @default "semi-lagrangian" */
  advection?: "semi-lagrangian" | "maccormack";
  /** Boundary condition at the walls of the box. @default "slip" */
  walls?: "slip" | "no-slip";
  /** Velocity of the top wall along x, for no-slip walls, m/s. @minimum -100 @maximum 100 @default 0 */
  lid?: number;
  /** Accelerates fluid upwards within `radius` (m) of the center of the bottom, m/s^2. */
  plume?: {
    radius: Positive;
    /** @minimum -1000 @maximum 1000 */
    acceleration: number;
  };
}

/** @asType integer @minimum 1 @maximum 128 */
type FluidCells = number;

interface Cohesion {
  /** kappa: attraction between neighbors, 1/s^2. @minimum 0 @maximum 1e4 @default 0 */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s. @minimum 0 @maximum 10 @default 0 */
  vorticity?: number;
}

/** A fluid of points whose pressure follows from their density (SPH). */
export interface SmoothedParticles extends MethodCommon, Cohesion {
  type: "smoothed-particles";
  /** nu in addition to the stabilizing viscosity, m^2/s. @minimum 0 @maximum 1e6 @default 0 */
  viscosity?: number;
}

/** A fluid of points that keep their initial density. */
export interface PositionBasedFluid extends MethodCommon, Cohesion {
  type: "position-based-fluid";
  /** Density corrections per step. @asType integer @minimum 1 @maximum 16 @default 2 */
  iterations?: number;
  /**
   * c of XSPH: share of the neighbors' velocity that a step mixes in @minimum 0 @maximum 0.5
   * @default 0.01
   */
  viscosity?: number;
}

/** Points of an elastic solid without a mesh; it can yield and melt. */
export interface PointBased extends Integrated {
  type: "point-based";
  /**
   * Volume conservation in addition to Hooke's law, relative to Young's modulus @minimum 0 @maximum 100
   * @default 0
   */
  volumeStiffness?: number;
  /** Deviatoric strain above which it flows; absent: never. @minimum 0 @maximum 10 */
  yield?: number;
  /**
   * Rate at which the strain above the yield limit flows away, 1/s @exclusiveMinimum 0 @maximum 1e4
   * @default 10
   */
  creep?: number;
  /**
   * Temperature relative to melting: lowers the yield limit, to 0 at 1. @minimum 0 @maximum 10
   * @default 0
   */
  temperature?: number;
  /** Time from the room's start in which the temperature rises from 0, s. @default 0 */
  warmUp?: Time;
}

/** Loosely coupled points: each pair attracts at a distance and repels when close. */
export interface LennardJones extends MethodCommon {
  type: "lennard-jones";
  /** e_0 per mass of a point: the energy to separate a pair, J/kg. @exclusiveMinimum 0 @maximum 1e6 */
  dissociation: number;
  /**
   * m < n of the bi-reciprocal function and 12: high exponents are brittle, low ones soft.
   * @default [6, 12]
   */
  exponents?: [Exponent, Exponent];
  /** Cut-off distance of the force, in spacings. @minimum 1.2 @maximum 4 @default 2.2 */
  cutOff?: number;
  /** Target k T / e_0 of the pairs; absent: no thermostat. @minimum 0 @maximum 10 */
  temperature?: number;
  /**
   * Rate at which the thermostat changes the motion of pairs, 1/s @exclusiveMinimum 0 @maximum 100
   * @default 4
   */
  heatRate?: number;
  /** Time from the room's start in which the temperature rises from 0 to `temperature`, s. @default 0 */
  warmUp?: Time;
}

/** @asType integer @minimum 1 @maximum 32 */
type Exponent = number;
