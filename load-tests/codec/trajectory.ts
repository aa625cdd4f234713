/** Input of the codec measurements: bodies, and their positions frame by frame. */

export interface Trajectory {
  /** Description for the bench's table. */
  readonly name: string;
  readonly sendHz: number;
  readonly bodies: readonly TrajectoryBody[];
  /** float32[3*particles] m, one per sent frame. */
  readonly frames: readonly Float32Array[];
  /** Named ranges of frames, end exclusive. */
  readonly phases: readonly { name: string; first: number; end: number }[];
}

export interface TrajectoryBody {
  readonly name: string;
  readonly count: number;
  /** uint32[3*T], indices into this body's particles. */
  readonly triangles: Uint32Array;
  /** Grid of the codec, m. */
  readonly quantum: number;
}
