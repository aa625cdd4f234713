/** Interface of the compared solvers, which take the same mesh and step it. */
import { createHash } from "node:crypto";

/** Time of a step, s: a tick of 60 Hz in one step. */
export const STEP_SECONDS = 1 / 60;

export interface Problem {
  /** float64[3*V], m */
  positions: Float64Array;
  /** uint32[2*E], every edge once. */
  edges: Uint32Array;
  /** uint32[3*T] surface. */
  triangles: Uint32Array;
  /** uint32[4*N] tetrahedra of a solid. */
  tets?: Uint32Array;
  /** Vertices that do not move. */
  pinned: readonly number[];
  /** Mass of all particles together, kg. */
  mass: number;
  /** Cells along x and z, for a peer that creates the same grid itself. */
  cells?: readonly [number, number];
}

export interface Peer {
  name: string;
  /** Performs one step with this number of iterations. @returns time of the whole step, s */
  step(iterations: number): number;
  /** Time of the iterations alone in the last such step, s, if the peer has a clock for that. */
  solved?(iterations: number): number;
  /** Hash of the current positions; another computation gives another hash. */
  hash(): string;
}

/** First 16 digits of SHA-256 over the bits of float32 coordinates. */
export function hashOf(coordinates: Iterable<number>): string {
  return createHash("sha256")
    .update(new Uint8Array(Float32Array.from(coordinates).buffer))
    .digest("hex")
    .slice(0, 16);
}

/** Time of `work`, s. */
export function timed(work: () => void): number {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
}
