/** How one kind of constraint lies in memory: what writes a lane of a block, and what fills a lane that holds none. */
import type { Elements } from "../../constraints/elements.ts";

export interface BlockKind<E extends Elements = Elements> {
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
}
