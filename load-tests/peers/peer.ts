/** What is compared: solvers that take the same mesh and step it. */
import { createHash } from "node:crypto";

/** Time of a step, s: a tick of 60 Hz in one step. */
export const STEP_SECONDS = 1 / 60;

export interface Problem {
  /** float64[3*V], m */
  positions: Float64Array;
  /** uint32[2*E], every edge once. */
  edges: Uint32Array;
  /** uint32[3*T], what may be drawn. */
  triangles: Uint32Array;
  /** uint32[4*N], of a solid. */
  tets?: Uint32Array;
  /** Vertices that stay where they are. */
  pinned: readonly number[];
  /** Of all particles together, kg. */
  mass: number;
  /** Cells along x and z, for a peer that makes the same grid by itself. */
  cells?: readonly [number, number];
}

export interface Peer {
  name: string;
  /** One step with so many iterations. @returns s, of the whole step */
  step(iterations: number): number;
  /** What the last such step took for its iterations alone, s, where the peer has a clock for that. */
  solved?(iterations: number): number;
  /** Of where its particles are now: a run that computes something else shows it. */
  hash(): string;
}

/** First 16 digits of SHA-256 over the bits of float32 coordinates. */
export function hashOf(coordinates: Iterable<number>): string {
  return createHash("sha256")
    .update(new Uint8Array(Float32Array.from(coordinates).buffer))
    .digest("hex")
    .slice(0, 16);
}

/** Seconds that this takes. */
export function timed(work: () => void): number {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
}
