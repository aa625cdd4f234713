/**
 * Constraints of one body as flat float64 arrays, before they are colored and written to memory. Particle numbers are
 * the body's own.
 * `reference/` solves these very arrays; `memory/writeBlocks.ts` rounds them to float32.
 */
import type { Plasticity } from "../../../shared/scene.ts";
import type { OrthotropicCompliance } from "../materials.ts";

/** n tetrahedra of any material. */
export interface TetShapes {
  /** uint32[4n] */
  particles: Uint32Array;
  /** float64[9n] D_m^-1 row by row, 1/m; in the axes that the material's constants are given in */
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

/** Elastoplastic ones, isotropic or orthotropic. */
export interface PlasticTetElements extends TetShapes {
  kind: "tet-plastic";
  compliance: OrthotropicCompliance;
  flow: Plasticity;
  /** float64[6n] plastic strain at the beginning (11 22 33, then gamma 23 13 12); the twins' state */
  plasticStrain: Float64Array;
  /** The twins': how often this substep found an element inverted. */
  inverted?: number;
  /** The twins': too many were, and have not all come back. */
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
  /** The twins': an element of the body was inverted in the substep before; and one is in this. */
  tangled?: boolean;
  folded?: boolean;
}

/** n cloth triangles. */
export interface TriangleElements {
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

/** n bending stencils: hinges, or of rectangles (rectangularBending.ts). */
export interface BendElements {
  kind: "bend";
  /** uint32[4n]: of a hinge x0 x1 the common edge, x2 x3 the opposite corners */
  particles: Uint32Array;
  /** float64[4n] K, dimensionless */
  K: Float64Array;
  /** float64[n] m/N: (A0 + A1)/B of a hinge, over its weight (bendingWeights.ts) */
  alpha: Float64Array;
  /** float64[n] |K x| at rest, m; 0 for a flat sheet */
  rest: Float64Array;
}

/** How a geometric constraint acts: by compliance (stiffness is 1) or by stiffness k' (alpha is 0). */
export interface Hold {
  /** k', the part of the error that one iteration removes */
  stiffness: number;
  /** The multiplier is kept from one iteration to the next: compliance. */
  keeps: boolean;
  /** Only resists stretching (distance) or compression (volume). */
  unilateral: boolean;
}

/** n distances between two particles. */
export interface DistanceElements extends Hold {
  kind: "distance";
  /** uint32[2n] */
  particles: Uint32Array;
  /** float64[n] rest length, m */
  rest: Float64Array;
  /**
   * float64[3n] unit vector from the second particle to the first, at rest: where they part to, should they be in one
   * place
   */
  direction: Float64Array;
  /** float64[n] m/N */
  alpha: Float64Array;
}

/** Volumes of n tetrahedra. */
export interface VolumeElements extends Hold {
  kind: "volume";
  /** uint32[4n] */
  particles: Uint32Array;
  /** float64[n] six times the rest volume, m^3 */
  rest: Float64Array;
  /** float64[n] m^3/Pa */
  alpha: Float64Array;
}

/** Volumes of n hexahedra, each in both of its triangulations (kernel/assembly/constraints/hexahedron.ts). */
export interface HexahedronElements {
  kind: "hexahedron";
  /** uint32[8n]: corner c has x from bit 0, y from bit 1, z from bit 2 */
  particles: Uint32Array;
  /** float64[2n] six times the rest volume, m^3 */
  rest: Float64Array;
  /** float64[n] of each of the two, m^3/Pa */
  alpha: Float64Array;
}

export type Elements =
  | TetElements
  | OrthotropicTetElements
  | PlasticTetElements
  | HyperElements
  | TriangleElements
  | BendElements
  | DistanceElements
  | VolumeElements
  | HexahedronElements;
export type ElementKind = Elements["kind"];

/** Particles of one constraint; in the order in which an iteration solves the kinds. */
export const PARTICLES_PER_ELEMENT: Readonly<Record<ElementKind, number>> = {
  tet: 4,
  "tet-ortho": 4,
  "tet-plastic": 4,
  "neo-hookean": 4,
  "stable-neo-hookean": 4,
  triangle: 3,
  bend: 4,
  distance: 2,
  volume: 4,
  hexahedron: 8,
};
export const ELEMENT_KINDS = Object.keys(PARTICLES_PER_ELEMENT) as ElementKind[];
