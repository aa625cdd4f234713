/**
 * Constraints of one body as flat float64 arrays, before they are colored and written to memory. Particle numbers are the body's own.
 * `reference/` solves these very arrays; `memory/writeBlocks.ts` rounds them to float32.
 */

/** n tetrahedra. */
export interface TetElements {
  kind: "tet";
  /** uint32[4n] */
  particles: Uint32Array;
  /** float64[9n] D_m^-1 row by row, 1/m */
  dmInverse: Float64Array;
  /** float64[n] rest volume V, m^3 */
  volume: Float64Array;
  mu: number;
  lambda: number;
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

/** n bending stencils. */
export interface BendElements {
  kind: "bend";
  /** uint32[4n]: x0 x1 the common edge, x2 x3 the opposite corners */
  particles: Uint32Array;
  /** float64[4n] K, dimensionless */
  K: Float64Array;
  /** float64[n] (A0 + A1)/B, m/N */
  alpha: Float64Array;
  /** float64[n] |K x| at rest, m; 0 for a flat sheet */
  rest: Float64Array;
}

export type Elements = TetElements | TriangleElements | BendElements;
export type ElementKind = Elements["kind"];

/** Particles of one constraint; in the order in which an iteration solves the kinds. */
export const PARTICLES_PER_ELEMENT: Readonly<Record<ElementKind, number>> = { tet: 4, triangle: 3, bend: 4 };
export const ELEMENT_KINDS = Object.keys(PARTICLES_PER_ELEMENT) as ElementKind[];
