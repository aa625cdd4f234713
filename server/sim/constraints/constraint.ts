/**
 * What the host knows of one kind of constraint, all in one place: which bodies have it, how it lies in memory, its
 * float64 twin, its energy, and what of it an owner may change. kinds.ts lists the kinds; all else goes by that list.
 */
import type { BodyTuning } from "../../../shared/protocol/protocol.ts";
import type { ClothMaterial, SoftMaterial } from "../../../shared/scene.ts";
import type { Form } from "../memory/writeBlocks.ts";
import type { Particles } from "../reference/particles.ts";
import type { Vector } from "../reference/vector.ts";
import type { TunableBody } from "../tunable.ts";
import type { Elements } from "./kinds.ts";

/**
 * Constraints of one body as flat float64 arrays, before they are colored and written to memory. The twins solve these
 * very arrays; memory/writeBlocks.ts rounds them to float32.
 */
export interface AnyElements {
  kind: string;
  /** The body's own numbers, `corners` of each constraint. */
  particles: Uint32Array;
}

/** How often a tick visits a constraint. */
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
  /** uint32[3T] its surface, outward */
  triangles: Uint32Array;
  /** uint32[8n] cells of a box mesh: corner c has x from bit 0, y from bit 1, z from bit 2 */
  cells: Uint32Array | undefined;
  pace: Pace;
  /** Of a substep. */
  seconds: number;
  form: Form;
  /** In the scene, for errors. */
  path: string;
}

/** A cloth, ready for its constraints. */
export interface Sheet extends Pick<Solid, "X" | "triangles" | "pace" | "seconds" | "form"> {
  material: ClothMaterial;
}

/** What makes a body's rows; all as the scene says where it is equal to `scene`. */
export type Material = Omit<TunableBody["scene"], "damping" | "friction">;

/** A lane of a block as the scene has it, in the room's unit of mass. */
export interface Row {
  /** @param offset in bytes of a row in the block; row behind it */
  read: (offset: number, row?: number) => number;
  scene: Material;
  now: Material;
  elasticity: TunableBody["elasticity"];
  /** kg */
  massUnit: number;
}

/** For elements that are made from a row: it knows its particles already. */
export const NONE = new Uint32Array(0);

/** float64[count] rows behind each other. */
export const rowsOf = (read: Row["read"], offset: number, count: number): Float64Array =>
  Float64Array.from({ length: count }, (_, row) => read(offset, row));

interface Twin<E> {
  /** Numbers that one constraint remembers between iterations, in the order of the kernel's rows. */
  memory: number;
  /** One compliant step of constraint i. @returns the linear system that it solved, where there was one */
  solve: (p: Particles, e: E, i: number, memory: Float64Array, h: number) => number[][] | void;
  /** Elastic energy of constraint i, J, continued where elements are flat or inverted; absent where there is none. */
  energy?: (x: Float64Array, e: E, i: number) => number;
  /** dE/dx_j of its corners, N. */
  gradient?: (x: Float64Array, e: E, i: number) => readonly Vector[];
}

export interface Constraint<E extends AnyElements = AnyElements> {
  /** Particles of one constraint. */
  corners: number;
  /** What a soft body has of it, with what goes with it; likewise a cloth. Absent: nothing. @throws SceneError */
  ofSolid?: (solid: Solid) => Elements[];
  ofSheet?: (sheet: Sheet) => Elements[];
  /** float64[N] kg of a soft body that it weighs, where not as its tetrahedra do. */
  masses?: (solid: Solid) => Float64Array | undefined;

  /** Bytes of one block of four lanes. */
  bytes: number;
  /** The kernel's KIND_ that solves it. */
  phase: number;
  /** The kernel's STAGE_ that its time counts for. */
  stage: number;
  /**
   * The kernel's KIND_ that solves the same blocks in the paper's form, C = E; absent where a constraint has no elastic
   * energy.
   */
  paperPhase?: number;
  /**
   * What it remembers between iterations: rows of 16 bytes from this byte offset of the block, or from the beginning of
   * an array of its own.
   */
  remembers: { rows: number; offset: number } | { rows: number; apart: true };
  /** Its stress is remembered from tick to tick while the body is slow (kernel/assembly/warmStart/warmStart.ts). */
  settles?: boolean;
  /** Rows that outlive a substep: part of the room's state, which reset, roll-back and the state hash take in. */
  state?: { offset: number; rows: number };
  /** Byte offset of the row that holds each lane's body number. */
  body?: number;
  /** The kernel's KIND_ of a phase over the same blocks at the end of each substep, after collisions. */
  after?: number;
  /**
   * @param at float32 index of the lane in the block's first row; w inverse mass of a corner (particles are in memory
   *   before constraints)
   */
  write: (f32: Float32Array, at: number, e: E, i: number, w: (corner: number) => number) => void;
  /** Padded lanes rest on the dummy particles. */
  pad: (f32: Float32Array, at: number) => void;

  twin: Twin<E>;
  /**
   * Energy of constraint i for the ledger (energy/), J; none below rest. 0 where it stores none.
   * @param x float64[3N] m; form of the solver, which decides how an energy goes on where an element is crushed
   */
  energy: (x: Float64Array, e: E, i: number, form: Form) => number;

  /**
   * Byte offset of a row that goes with the inverse of Young's modulus, and is all that another one changes: `alpha` of
   * the elements.
   */
  compliance?: number;
  /** Where more changes: one constraint as the scene's loader would make it now, from its row. */
  remade?: (row: Row) => E;
  /** The same of all of them, in float64: the readable twin. */
  tuned?: (e: E, of: TunableBody, now: BodyTuning) => E;
}
