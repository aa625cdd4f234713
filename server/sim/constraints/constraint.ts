/**
 * Descriptor of one kind of constraint: the bodies that have it, its layout in memory, its float64 twin, its energy,
 * and its tunable values. kinds.ts lists the kinds; all other code uses that list.
 */
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import type { ClothMaterial, SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import type { Particles } from "../reference/particles.ts";
import type { Vector } from "../reference/vector.ts";
import type { AnyElements } from "./elements.ts";
import type { Visits } from "./overRelaxation.ts";

/**
 * compliant: C = sqrt(2E) and similar forms with a multiplier. paper: C = E. implicit and method: no constraints, but
 * their own step (memory/bodies/implicitRows.ts, methods/).
 */
export type Form = "compliant" | "paper" | "prefactored" | "implicit" | "method";

/** Number of visits of a constraint in a tick. */
export interface Pace {
  substeps: number;
  iterations: number;
}

/** A soft body, ready for its constraints. */
export interface Solid {
  material: SoftMaterial;
  /** float64[3N] m, undeformed positions in the body's own axes (scaled, not rotated) */
  X: Float64Array;
  /** uint32[4n], positively oriented: det(X0-X3, X1-X3, X2-X3) > 0 */
  tets: Uint32Array;
  /** uint32[3T] its surface, normals outward */
  triangles: Uint32Array;
  /** uint32[8n] cells of a box mesh: corner c has x from bit 0, y from bit 1, z from bit 2 */
  cells: Uint32Array | undefined;
  pace: Pace;
  /** Length of a substep, s. */
  seconds: number;
  form: Form;
  /** Path in the scene, for errors. */
  path: string;
}

/** A cloth, ready for its constraints. */
export interface Sheet extends Pick<Solid, "X" | "triangles" | "pace" | "seconds" | "form"> {
  material: ClothMaterial;
}

/** Values from which a body's rows are made; equal to `scene` until tuned. */
export type Material = Omit<BodyTuning, "body" | "damping" | "friction">;

/** Relation of moduli to constraints; scaled: all moduli change with one, in the scene's proportions. */
export type Elasticity = "isotropic" | "neo-hookean" | "stable-neo-hookean" | "scaled";

/** A lane of a block with the scene's values, in the room's unit of mass. */
export interface Row {
  /**
   * @param offset of a row in the block, bytes
   * @param row number of the row, from there on
   */
  read: (offset: number, row?: number) => number;
  scene: Material;
  now: Material;
  elasticity?: Elasticity | undefined;
  /** Unit of mass, kg. */
  massUnit: number;
}

/** Particles of an element that is read back from a row: none, because the row itself names them. */
export const NONE = new Uint32Array(0);

/** float64[count] of consecutive rows. */
export const rowsOf = (read: Row["read"], offset: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, row) => read(offset, row));

interface Twin<E> {
  /** Count of numbers that one constraint keeps between iterations, in the order of the kernel's rows. */
  memory: number;
  /**
   * One compliant step of constraint i.
   * @returns the linear system that it solved, if there was one
   */
  solve: (p: Particles, e: E, i: number, memory: Float64Array, h: number) => number[][] | void;
  /** Elastic energy of constraint i, J, continued for flat or inverted elements; absent: no elastic energy. */
  energy?: (x: Float64Array, e: E, i: number) => number;
  /** dE/dx_j of its corners, N. */
  gradient?: (x: Float64Array, e: E, i: number) => readonly Vector[];
}

export interface Constraint<E extends AnyElements = AnyElements, Made extends AnyElements = E> {
  /** Particles of one constraint. */
  corners: number;
  /**
   * Elements of this kind in a soft body or in a cloth, with accompanying ones. Absent: none.
   * @throws SceneError
   */
  ofSolid?: (solid: Solid) => Made[];
  ofSheet?: (sheet: Sheet) => Made[];
  /** float64[N] masses of a soft body, kg, if they differ from those of its tetrahedra. */
  masses?: (solid: Solid) => Float64Array | undefined;

  /** Bytes of one block of four lanes. */
  bytes: number;
  /** The kernel's KIND_ that solves it. */
  phase: number;
  /** The kernel's STAGE_ that its time counts for. */
  stage: number;
  /**
   * The kernel's KIND_ that solves the same blocks in the paper's form, C = E; absent for a constraint without elastic
   * energy.
   */
  paperPhase?: number;
  /** Data kept between iterations: rows of 16 bytes from this byte offset of the block, or in an array of their own. */
  remembers: { rows: number; offset: number } | { rows: number; apart: true };
  /**
   * Whether its stress is remembered from tick to tick while the body is slow (kernel/assembly/warmStart/warmStart.ts).
   */
  settles?: boolean;
  /** Rows that outlive a substep: part of the room's state, so reset, roll-back and state hash include them. */
  state?: { offset: number; rows: number };
  /** Byte offset of the row with each lane's body number. */
  body?: number;
  /** The kernel's KIND_ of a phase over the same blocks at the end of each substep, after collisions. */
  after?: number;
  /**
   * @param at float32 index of the lane in the block's first row
   * @param w inverse mass of a corner (particles are written before constraints)
   * @param visits of a sweep that may be over-relaxed
   */
  write: (f32: Float32Array, at: number, e: E, i: number, w: (corner: number) => number, visits?: Visits) => void;
  /** Writes a padded lane, whose corners are the dummy particles. */
  pad: (f32: Float32Array, at: number) => void;

  twin: Twin<E>;
  /**
   * Energy of constraint i for the ledger (energy/), J; 0 at rest, and 0 for a constraint that stores none.
   * @param x float64[3N] m
   * @param form of the solver, which decides the continuation of the energy of a crushed element
   */
  energy: (x: Float64Array, e: E, i: number, form: Form) => number;

  /**
   * Byte offset of a row proportional to the inverse of Young's modulus, if no other row depends on the modulus:
   * `alpha` of the elements.
   */
  compliance?: number;
  /** Present if other rows depend on the material: one constraint with the current material, made from its row. */
  remade?: (row: Row) => E;
  /** The same for all constraints of a body, in float64: the readable twin. */
  tuned?: (e: E, of: Pick<Row, "scene" | "elasticity">, now: BodyTuning) => E;
}
