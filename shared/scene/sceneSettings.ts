/** Types of a scene file (scene.ts) for the whole scene: texts, wind, limits of grabs, the live reference. */
import type { Compliance, Positive } from "./sceneNumbers.ts";

export interface Interaction {
  /** Of the grab's spring, m/N. @default 0.0001 */
  grabCompliance?: Compliance;
  /** N; beyond it the grab slips. @exclusiveMinimum 0 @maximum 1e9 @default 200 */
  grabMaxForce?: number;
  /** Held neighborhood, in a solid also inside, m; the 24 nearest particles at most. Default: two mean edges. */
  grabRadius?: Positive;
  /** Largest speed of a grab's target, m per second of simulated time. Default: 3, less for small bodies. */
  grabSpeed?: Positive;
  /**
   * Length of an edge over its rest length at which a grab has no force left. @exclusiveMinimum 1 @maximum 1000
   * @default 2
   */
  grabMaxStretch?: number;
  /** Largest impulse, N s. @exclusiveMinimum 0 @maximum 1e9 @default 20 */
  maxImpulse?: number;
  /** Bodies that one pointer may grab at once, each at the same place. @minItems 2 @maxItems 16 @uniqueItems */
  together?: string[];
}

/** m/s @minimum -1000 @maximum 1000 */
type WindSpeed = number;

/** Fills the scene with air. `{}` is still air with drag; without `wind` there is no air. */
export interface SceneWind {
  /** @default [0, 0, 0] */
  velocity?: [WindSpeed, WindSpeed, WindSpeed];
  /** kg/m^3; 0 is no air. @minimum 0 @maximum 100000 @default 1.2 */
  density?: number;
  /** C_D: rho/2 C_D w^2 on the area across w, the relative air speed. @minimum 0 @maximum 100 @default 1.2 */
  drag?: number;
  /**
   * C_L: rho/2 C_L w^2 sin(a) cos(a) per area across w, a the angle of attack.
   * @minimum 0 @maximum 100 @default 1.2
   */
  lift?: number;
  turbulence?: {
    /** Root mean square of the gusts over the wind's speed. @minimum 0 @maximum 10 */
    intensity: number;
    /** Length of the largest gusts, m; the smallest are a twelfth of it. @minimum 1e-6 @maximum 1e6 @default 1 */
    scale?: number;
    /** The same seed gives the same wind on any machine. @asType integer @minimum 0 @maximum 4294967295 @default 1 */
    seed?: number;
  };
}

/** @asType integer @minimum 2 @maximum 12 @multipleOf 2 */
type ReferenceCells = number;

/** One of the bodies on finer meshes, with the same grabs as each compared body. */
export interface Reference {
  /** Name of a soft `box` of model `stvk` without plasticity; its size, pins, loads and material are used. */
  of: string;
  /** Cells of the finer mesh, even; the coarser one has half as many. */
  cells: [ReferenceCells, ReferenceCells, ReferenceCells];
  /**
   * Steps of the reference a tick; too few are refused with the least. @asType integer @minimum 1 @maximum 64
   * @default 6
   */
  steps?: number;
  /**
   * Compared bodies: soft boxes of that size, and points; placed by `translate` alone, without attachments, not
   * spawnable.
   * @minItems 1 @maxItems 16 @uniqueItems
   */
  bodies: string[];
}

export interface SceneTexts {
  /** @minLength 1 @maxLength 80 */
  title: string;
  /** @maxLength 1000 */
  description: string;
  /** @minLength 1 @maxLength 200 */
  try?: string;
  /** @minLength 1 @maxLength 200 */
  notice?: string;
}
