/**
 * The last decoded frames of a room, in tick order, in reused arrays: the input of interpolation and of the debugging
 * hook. Source: Fiedler, "Snapshot Interpolation" (2014).
 */

export interface Frame {
  /** Server tick that this frame shows. */
  tick: number;
  /** int32[3*particles] decoded grid coordinates, straight from the codec. */
  ints: Int32Array;
  /** float32[3*particles] the same in meters. */
  positions: Float32Array;
  /** Nothing moved since the frame before it. */
  still: boolean;
  /** Tick of the first frame with the same positions: constant during a rest. */
  changedTick: number;
  /** Frames between the one before and this one were skipped, because nothing moved. */
  afterRest: boolean;
}

/** Two frames, and the position (0..1) of a moment between them. */
export interface FramePair {
  from: Frame;
  to: Frame;
  alpha: number;
}

/** Frames kept: two seconds at 30 Hz, many more than the largest buffer delay needs. */
export const FRAMES_KEPT = 60;

export class SnapshotBuffer {
  private readonly frames: Frame[] = [];
  private readonly spare: Frame[] = [];
  readonly particles: number;

  /** @param particles streamed particles of the room's topology */
  constructor(particles: number) {
    this.particles = particles;
  }

  get length(): number {
    return this.frames.length;
  }

  get newest(): Frame | undefined {
    return this.frames[this.frames.length - 1];
  }

  /** Oldest first; the frames are live and valid until the next push. */
  list(): readonly Frame[] {
    return this.frames;
  }

  /**
   * Returns a frame to decode into, for `push` or `giveBack`. Its arrays hold old data.
   * @throws never; allocates only until FRAMES_KEPT + 1 frames exist
   */
  borrow(): Frame {
    return (
      this.spare.pop() ?? {
        tick: 0,
        ints: new Int32Array(3 * this.particles),
        positions: new Float32Array(3 * this.particles),
        still: false,
        changedTick: 0,
        afterRest: false,
      }
    );
  }

  /** Returns a borrowed frame that was not pushed. */
  giveBack(frame: Frame): void {
    this.spare.push(frame);
  }

  /**
   * Adds the newest frame. If its tick is not newer than the last one, empties the buffer first: the room was restored
   * (a reset keeps counting ticks), and no pair across that jump may be interpolated.
   */
  push(frame: Frame): void {
    const last = this.newest;
    if (last && frame.tick <= last.tick) this.clear();
    frame.still = last !== undefined && this.frames.length > 0 && sameInts(last.ints, frame.ints);
    frame.changedTick = frame.still ? last!.changedTick : frame.tick;
    this.frames.push(frame);
    if (this.frames.length > FRAMES_KEPT) this.spare.push(this.frames.shift()!);
  }

  /**
   * Forgets all frames after a gap in the chain, so that the picture jumps once and does not interpolate over the gap.
   */
  clear(): void {
    this.spare.push(...this.frames.splice(0));
  }

  /**
   * Returns the pair around a moment. Before the oldest frame it is the oldest, after the newest the newest. It never
   * extrapolates, because a straight line through a collision shows motion that never happened.
   * @param tick moment on the server's time line, in ticks (fractions allowed)
   * @param maxGap ticks. A longer gap after a still frame, or before a frame with `afterRest`, was a rest: the first
   *   frame is shown until `maxGap` before the second, so that the motion begins when it really began
   */
  at(tick: number, maxGap: number): FramePair | undefined {
    const { frames } = this;
    if (frames.length === 0) return undefined;
    let high = frames.length - 1;
    while (high > 0 && frames[high]!.tick > tick) high--;
    const from = frames[high]!;
    const to = frames[high + 1] ?? from;
    if (to === from || tick <= from.tick) return { from, to, alpha: 0 };
    const start = from.still || to.afterRest ? Math.max(from.tick, to.tick - maxGap) : from.tick;
    return { from, to, alpha: Math.max(0, (tick - start) / (to.tick - start)) };
  }
}

function sameInts(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
