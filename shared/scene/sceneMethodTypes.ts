/**
 * Types of a body's `method` in a scene file (scene.ts): methods in place of the constraints of `solver`
 * (server/sim/methods).
 */
import type { Positive, Time } from "./sceneNumbers.ts";

interface MethodCommon {
  /**
   * Steps a tick, times particles at most 262,144; the scene's `substeps` and `iterations` do not apply. @asType
   * integer @minimum 1 @maximum 256 @default 4
   */
  steps?: number;
}

interface Damped extends MethodCommon {
  /**
   * beta of Rayleigh damping alpha M + beta K, s; alpha is `damping` (unused by boundary-elements). @minimum 0 @maximum
   * 10
   * @default 0
   */
  stiffnessDamping?: number;
}

interface Integrated extends Damped {
  /**
   * Euler's three. symplectic is stable to 2/omega, explicit rarely, implicit always, damping a mode by about h
   * omega^2/2 a second.
   * @default "implicit"
   */
  integrator?: "explicit" | "symplectic" | "implicit";
}

interface Warped extends Integrated {
  /** Forces in the rotated frame of each element. false: linear, swells when turning. @default true */
  warped?: boolean;
}

export type Method =
  | (Integrated & {
      /**
       * soft, cloth of model pbd with `distance.compliance` > 0 only. Edges are springs, 1/compliance stiff (N/m),
       * damped along themselves. Exact for its own net of springs, which has no Young's modulus.
       */
      type: "mass-spring";
    })
  | (Integrated & {
      /**
       * cloth of the grid generator with moduli. Metric and curvature of a regular sheet. Exact for uniform strain;
       * membranes and simply supported plates to order 2.
       */
      type: "finite-differences";
    })
  | (Warped & {
      /**
       * soft; stvk without plasticity. Linear tetrahedra under Hooke's law. Exact for uniform strain; `warped`: any
       * rotation.
       */
      type: "finite-elements";
    })
  | (Warped & {
      /**
       * The same bodies. Stress on element faces: the forces of finite-elements to
       * rounding.
       */
      type: "finite-volumes";
    })
  | (Damped & {
      /**
       * The same bodies with three fixed surface particles not on a line; particles times surface particles at most
       * 100,000. The surface of a linear massless solid by Kelvin's solution; grabs by Green's functions. Exact for
       * small strains and rotations at rest.
       */
      type: "boundary-elements";
    })
  | (Damped & {
      /**
       * The same bodies, at most 400 free particles. Lowest eigenmodes of linear finite elements, each stepped exactly.
       * Exact for small rotations; all modes are linear elements.
       */
      type: "modal";
      /** Number of modes. @asType integer @minimum 1 @maximum 1200 @default 24 */
      modes?: number;
    })
  | LennardJones
  | PointBased
  | PositionBasedFluid
  | SmoothedParticles
  | EulerianFluid;

export interface EulerianFluid extends MethodCommon {
  /**
   * points, as tracers. Staggered grid in a box around the middle of the points; fixed colliders are obstacles of whole
   * cells; no gravity or impulses. With `wind` it blows on bodies, which do not slow it. Exact: zero divergence; order
   * 2 with maccormack.
   */
  type: "eulerian-fluid";
  /** Number, times steps at most 16,384. */
  cells: [FluidCells, FluidCells, FluidCells];
  /** Edge of a cell, m. */
  edge: Positive;
  /** nu, m^2/s; at most 4/3 edge^2 a step. @minimum 0 @maximum 1e6 @default 0 */
  kinematicViscosity?: number;
  /** semi-lagrangian: order 1, damping. maccormack: order 2, cubic, 1.3 times the cost. @default "semi-lagrangian" */
  advection?: "semi-lagrangian" | "maccormack";
  /** Of the box. @default "slip" */
  walls?: "slip" | "no-slip";
  /** Velocity of a no-slip top along x, m/s. A box one cell deep slips there. @minimum -100 @maximum 100 @default 0 */
  lid?: number;
  /** Pushes up around the middle of the bottom. */
  plume?: {
    /** m */
    radius: Positive;
    /** m/s^2 @minimum -1000 @maximum 1000 */
    acceleration: number;
  };
}

/** @asType integer @minimum 1 @maximum 128 */
type FluidCells = number;

interface Cohesion {
  /** kappa: pull of neighbors, 1/s^2. @minimum 0 @maximum 1e4 @default 0 */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s. @minimum 0 @maximum 10 @default 0 */
  vorticity?: number;
}

export interface SmoothedParticles extends MethodCommon, Cohesion {
  /**
   * points, cubic. SPH fluid, as incompressible as its steps allow; planes and shapes are half spaces of fluid; coupled
   * with soft bodies and cloth. Exact: momentum; volume to 1 %, pressure to 2 %, buoyancy to 3 %, dam break to 5 %.
   */
  type: "smoothed-particles";
  /**
   * nu in addition to the stabilizing viscosity, m^2/s; at most 0.073 spacing^2 a step. @minimum 0 @maximum 1e6
   * @default 0
   */
  viscosity?: number;
}

export interface PositionBasedFluid extends MethodCommon, Cohesion {
  /**
   * points, cubic. Density corrections (Macklin and Mueller 2013); planes as half spaces. Exact: rest, momentum;
   * pressure to 2 %; not volume and fronts.
   */
  type: "position-based-fluid";
  /**
   * Density corrections a step; too few make deep water too dense. @asType integer @minimum 1 @maximum 16 @default 2
   */
  iterations?: number;
  /**
   * c of XSPH: share of the neighbors' velocity that a step mixes in. @minimum 0 @maximum 0.5
   * @default 0.01
   */
  viscosity?: number;
}

export interface PointBased extends Integrated {
  /**
   * points, cubic or fcc, 2 or more each way, points times steps at most 32,768; with `youngsModulus`, `poissonsRatio`.
   * Moving least squares (Mueller et al. 2004); may yield and melt. Exact: affine maps, any rotation; momentum, angular
   * momentum.
   */
  type: "point-based";
  /**
   * Resistance to volume change and inversion in addition to Hooke's law, in Young's moduli. @minimum 0 @maximum 100
   * @default 0
   */
  volumeStiffness?: number;
  /** Deviatoric strain at which flow begins; absent: never. @minimum 0 @maximum 10 */
  yield?: number;
  /**
   * Share of the excess strain that flows away in a second, 1/s. Molten viscosity is shear modulus over `creep`.
   * @exclusiveMinimum 0 @maximum 1e4
   * @default 10
   */
  creep?: number;
  /**
   * Temperature divided by that of melting: lowers `yield`, to 0 from 1 on. @minimum 0 @maximum 10
   * @default 0
   */
  temperature?: number;
  /** Time after start or reset in which the temperature rises from 0, s. @default 0 */
  warmUp?: Time;
}

export interface LennardJones extends MethodCommon {
  /**
   * points, at most 65,536 times steps a tick. Pairs attract afar and repel near: crystals that bend, break, melt.
   * Exact: its lattice at rest; momentum; energy to 1e-4 without heat and grabs.
   */
  type: "lennard-jones";
  /**
   * Energy that separates a pair, over a point's mass, J/kg. Inner steps keep omega h <= 1/2, omega^2 = 8 m n
   * dissociation/d_0^2.
   * @exclusiveMinimum 0 @maximum 1e6
   */
  dissociation: number;
  /**
   * m < n of phi(d) = -e_0/(m - n) (m (d_0/d)^n - n (d_0/d)^m); high is brittle. d_0 puts the mesh's lattice at rest.
   * @default [6, 12]
   */
  exponents?: [Exponent, Exponent];
  /** Spacings beyond which there is no force, without a jump. @minimum 1.2 @maximum 4 @default 2.2 */
  cutOff?: number;
  /**
   * k T over a pair's energy, by a pair thermostat (Groot and Warren 1997); absent: none. A free 12-6 crystal melts at
   * 0.4 (layer) to 0.6. @minimum 0 @maximum 10
   */
  temperature?: number;
  /**
   * Rate at which the thermostat changes the motion of pairs, 1/s. @exclusiveMinimum 0 @maximum 100
   * @default 4
   */
  heatRate?: number;
  /** Time after start or reset in which the temperature rises from 0 to `temperature`, s. @default 0 */
  warmUp?: Time;
}

/** @asType integer @minimum 1 @maximum 32 */
type Exponent = number;
