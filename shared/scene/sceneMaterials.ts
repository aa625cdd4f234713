/** Types of materials in a `scenes/*.json` file (scene.ts); limits are JSON Schema tags. */
import type { Compliance, Damping, Friction, Modulus, PoissonsRatio, Positive, Scalar, Vec3 } from "./sceneNumbers.ts";

type Moduli = [Modulus, Modulus, Modulus];

/**
 * The material's own damping, viscosity over modulus, s: see the tutorial. Not for `solver: "paper"` or a `method`.
 * @minimum 0 @maximum 10
 */
type RetardationTime = number;

export interface MaterialCommon {
  /** kg/m^3 */
  density: Positive;
  /** dv/dt = -damping v, 1/s. Default: the scene's. */
  damping?: Damping;
  /** @default 0.5 */
  friction?: Friction;
}

/**
 * Additive plasticity with von Mises yield (Bender et al. 2014, section 4.2). Strains are Frobenius norms of Green
 * strain, dimensionless.
 */
export interface Plasticity {
  /** gamma_yield: deviatoric elastic strain at which flow begins; below `max`. @minimum 0 @maximum 100 */
  yield: number;
  /**
   * gamma_creep: rate at which the plastic strain takes over the deviatoric elastic strain, 1/s.
   * @minimum 0 @maximum 1e6
   */
  creep: number;
  /**
   * gamma_max: largest plastic strain. In tetrahedra more than 0.6 acts as 0.6, because a rest shape may be flat from
   * 0.61 on.
   * @exclusiveMinimum 0 @maximum 100
   */
  max: number;
}

export interface IsotropicMaterial extends MaterialCommon {
  /**
   * Isotropic hyperelastic solid. stvk: Saint Venant-Kirchhoff, gives way at a pressure of 0.19 k. neo-hookean: resists
   * compression without limit. stable-neo-hookean: smooth through inversion.
   * @default "stvk"
   */
  model?: "stvk" | "neo-hookean" | "stable-neo-hookean";
  /** k, Pa */
  youngsModulus: Modulus;
  poissonsRatio: PoissonsRatio;
  /** @default 0 */
  retardationTime?: RetardationTime;
  /** stvk only. */
  plasticity?: Plasticity;
}

export interface OrthotropicMaterial extends MaterialCommon {
  /**
   * Saint Venant-Kirchhoff solid with nine constants in the material's own axes 1, 2, 3: wood, muscle, fiber. The
   * tensor must be positive definite.
   */
  model: "orthotropic";
  /** k_1 k_2 k_3, Pa */
  youngsModuli: Moduli;
  /**
   * nu_12 nu_23 nu_13: nu_ij = -eps_j/eps_i under stress along i. nu_ij/k_i = nu_ji/k_j gives the others. |nu_ij| <
   * sqrt(k_i/k_j), and 1 - nu_12 nu_21 - nu_23 nu_32 - nu_13 nu_31 - 2 nu_21 nu_32 nu_13 is at least 0.00045.
   */
  poissonsRatios: Vec3;
  /** mu_12 mu_23 mu_13, Pa */
  shearModuli: Moduli;
  /** Rotation vector (axis times angle, degrees) from the body's own axes to the material's. @default [0, 0, 0] */
  axes?: Vec3;
  /** @default 0 */
  retardationTime?: RetardationTime;
  plasticity?: Plasticity;
}

/** Stiffness of a geometric constraint (sim/constraints/geometric.ts). Exactly one of the two fields is given. */
export interface GeometricStiffness {
  /**
   * k: share of its error that a constraint loses in a tick of one substep, for any number n of iterations: k' = 1 -
   * (1 - k)^(1/n). With s substeps each takes k/(k + (1 - k) s^2). Depends on `tickHz` and the mesh. 1 is rigid.
   * @exclusiveMinimum 0 @maximum 1
   */
  stiffness?: number;
  /** XPBD's, m/N for a length, m^3/Pa for a volume; independent of the step. */
  compliance?: Compliance;
}

interface Edges extends GeometricStiffness {
  /** Resist only stretching. @default false */
  unilateral?: boolean;
}

interface Volume extends GeometricStiffness {
  /**
   * Target volume over rest volume: a balloon. Only for "body". @exclusiveMinimum 0 @maximum 1000
   * @default 1
   */
  pressure?: number;
  /** Resist only compression. @default false */
  unilateral?: boolean;
}

interface PbdSolidMaterial extends MaterialCommon {
  /** Position based: edges keep their length, tetrahedra or the body their volume. `distance`, `volume` or both. */
  model: "pbd";
  /** Edges. */
  distance?: Edges;
  volume?: Volume & {
    /** Every tetrahedron, or the closed surface as a whole. @default "tetrahedra" */
    of?: "tetrahedra" | "body";
  };
}

export interface HexahedralMaterial extends MaterialCommon {
  /**
   * The element of Rodero Gomez, chapter 4: edges, face and inner diagonals and volume with k_e k_f k_d k_v fitted to
   * nu. Meshes are boxes of cubes (`size` over `cells` equal within 1 %).
   */
  model: "hexahedral";
  youngsModulus: Modulus;
  poissonsRatio: PoissonsRatio;
  /**
   * moduli: coefficients for which a uniform strain stores the energy of k and nu, exact from nu = 1/4 on (below that
   * nu is 1/4). published: the polynomials of the thesis, which fit a matrix instead: 0.76 to 1.1 times k up to nu =
   * 0.4,
   * 5.8 times at 0.49, nu = 0.32 for lower values.
   * @default "moduli"
   */
  fit?: "moduli" | "published";
}

/** Materials whose constraints require one type of mesh. */
export const MESH_OF_MODEL: Readonly<Record<string, string>> = { hexahedral: "box" };

interface ShapeMatchingMaterial extends MaterialCommon {
  /** Mueller et al. 2005: pulls particles to the best-fitting transformed copy of the rest shape. */
  model: "shape-matching";
  /** rigid: a rigid body, only rotation and translation. linear: blends in a share of the best linear map. */
  mode: "rigid" | "linear";
  /**
   * alpha: share of the distance to the goal moved per substep; rigid is 1. @exclusiveMinimum 0 @maximum 1
   * @default 1
   */
  stiffness?: number;
  /** beta: share of the linear map (mode linear). @minimum 0 @exclusiveMaximum 1 @default 0 */
  linearity?: number;
  /** The rest shape follows lasting deformation (mode linear). */
  plasticity?: Plasticity;
}

export type SoftMaterial =
  | IsotropicMaterial
  | OrthotropicMaterial
  | PbdSolidMaterial
  | HexahedralMaterial
  | ShapeMatchingMaterial;

/**
 * Give `youngsModulus` and `poissonsRatio` (isotropic), all of `kWeft` to `nuWarp` (orthotropic), or `distance` (pbd).
 */
export interface ClothMaterial {
  /**
   * stvk: plane-stress Saint Venant-Kirchhoff. orthotropic: the same with the five constants below (this name may be
   * left out). pbd: edges keep their length.
   * @default "stvk"
   */
  model?: "stvk" | "orthotropic" | "pbd";
  /** pbd only: edges. */
  distance?: Edges;
  /** pbd and closed meshes only: the enclosed volume, as for a soft body of model pbd with `of: "body"`. */
  volume?: Volume;
  /** kg/m^3; mass per area is density times thickness. */
  density: Positive;
  /** m; membrane stiffness is modulus times thickness. */
  thickness: Positive;
  youngsModulus?: Modulus;
  /** nu @exclusiveMinimum -1 @exclusiveMaximum 1 */
  poissonsRatio?: number;
  /** Pa. Weft is the sheet's own x, warp its z. */
  kWeft?: Modulus;
  kWarp?: Modulus;
  kShear?: Modulus;
  /** kWeft nuWarp = kWarp nuWeft must hold within 0.1 %, and nuWeft nuWarp < 1. */
  nuWeft?: Scalar;
  nuWarp?: Scalar;
  /**
   * Flexural rigidity, N m; of a homogeneous sheet k t^3/(12 (1 - nu^2)). Exact in every direction for rectangles,
   * within 5 % for irregular flat sheets; sheets curved at rest and `solver: "paper"` bend as their mesh has it.
   * @minimum 0 @maximum 1e9 @default 0
   */
  bendingStiffness?: number;
  damping?: Damping;
  /** @default 0 */
  retardationTime?: RetardationTime;
  /** @default 0.5 */
  friction?: Friction;
}
