/** Elements of one body, by kind. A kind whose twin is beside its descriptor defines its elements there. */
import type { Plasticity } from "../../../shared/scene/sceneMaterials.ts";
import type { OrthotropicCompliance } from "../scene/materialConstants.ts";

/**
 * Constraints of one body as flat float64 arrays, before they are colored and written to memory. The twins solve these
 * arrays; memory/writeBlocks.ts rounds them to float32.
 */
export interface AnyElements {
  kind: string;
  /** Particle numbers in the body, `corners` for each constraint. */
  particles: Uint32Array;
}

/** n tetrahedra of any material. */
export interface TetShapes extends AnyElements {
  /** uint32[4n] */
  particles: Uint32Array;
  /** float64[9n] D_m^-1 row by row, 1/m; in the axes of the material's constants */
  dmInverse: Float64Array;
  /** float64[n] rest volume V, m^3 */
  volume: Float64Array;
}

/** Isotropic Saint Venant-Kirchhoff tetrahedra. */
export interface TetElements extends TetShapes {
  kind: "tet";
  mu: number;
  lambda: number;
}

/** Orthotropic Saint Venant-Kirchhoff tetrahedra. */
export interface OrthotropicTetElements extends TetShapes {
  kind: "tet-ortho";
  compliance: OrthotropicCompliance;
}

/** Elastoplastic tetrahedra, isotropic or orthotropic. */
export interface PlasticTetElements extends TetShapes {
  kind: "tet-plastic";
  compliance: OrthotropicCompliance;
  flow: Plasticity;
  /** float64[6n] initial plastic strain (11 22 33, then gamma 23 13 12); the twins' state */
  plasticStrain: Float64Array;
  /** For the twins: number of inverted elements that this substep's iterations found. */
  inverted?: number;
  /** For the twins: whether too many were inverted, and some still are. */
  tangled?: boolean;
}

/** Neo-Hookean or stable Neo-Hookean tetrahedra. */
export interface HyperElements extends TetShapes {
  kind: "neo-hookean" | "stable-neo-hookean";
  /** Pa */
  mu: number;
  /** Pa: Lame's lambda, or the stable model's lambda' = lambda + mu */
  lambda: number;
  /** Principal stretch below which the energy is continued. */
  clamp: number;
  /** For the twins: whether the body had an inverted element in the previous substep, and has one in this one. */
  tangled?: boolean;
  folded?: boolean;
}

/** n cloth triangles. */
export interface TriangleElements extends AnyElements {
  kind: "triangle";
  /** uint32[3n] */
  particles: Uint32Array;
  /** float64[4n] 2x2 D_m^-1 row by row, 1/m; columns are weft and warp */
  dmInverse: Float64Array;
  /** float64[n] rest area times thickness, m^3 */
  volume: Float64Array;
  /** Material compliance, 1/Pa. */
  compliance: { s00: number; s01: number; s11: number; s22: number };
}

/** n bending stencils: of hinges, or of rectangles (rectangularBending.ts). */
export interface BendElements extends AnyElements {
  kind: "bend";
  /** uint32[4n]: for a hinge, x0 x1 the common edge, x2 x3 the opposite corners */
  particles: Uint32Array;
  /** float64[4n] K, dimensionless */
  K: Float64Array;
  /** float64[n] m/N: (A0 + A1)/B for a hinge, over its weight (bendingWeights.ts) */
  alpha: Float64Array;
  /** float64[n] |K x| at rest, m; 0 for a flat sheet */
  rest: Float64Array;
}

export interface Past {
  /** float64: strain of each dashpot at the end of the last substep; the twins' state */
  past: Float64Array;
}

/** `past` has six strains for each element. */
export interface TetDashpots extends Omit<OrthotropicTetElements, "kind">, Past {
  kind: "tet-dashpot";
}

/** `past` has three strains for each element. */
export interface TriangleDashpots extends Omit<TriangleElements, "kind">, Past {
  kind: "triangle-dashpot";
}

/** `past` has K x of each element, along vectors that rotate with the stencil. */
export interface BendDashpots extends Omit<BendElements, "kind">, Past {
  kind: "bend-dashpot";
}
