/**
 * Where the room's motion jumps (a lost line that came back, a reset), what was shown last fades into what is true now.
 * Only the picture is blended; decoded frames are untouched.
 */

/** Long enough to be read as motion, short enough not to hide the truth, ms. */
const CROSS_FADE_MS = 260;

export class CrossFade {
  private before: Float32Array | undefined;
  private startMs = 0;

  /** A picture is being cross-faded. */
  get blending(): boolean {
    return this.before !== undefined;
  }

  /** @param shown float32[n] m: the picture now; copied */
  begin(shown: Float32Array, nowMs: number): void {
    this.before = shown.slice();
    this.startMs = nowMs;
  }

  /**
   * @param live float32[n] m, inout: what is true; becomes what to show
   * @returns whether it is being blended
   */
  blendInto(live: Float32Array, nowMs: number): boolean {
    const { before } = this;
    if (!before) return false;
    const t = (nowMs - this.startMs) / CROSS_FADE_MS;
    if (!(t < 1) || before.length !== live.length) {
      this.before = undefined;
      return true;
    }
    const weight = t > 0 ? t * t * (3 - 2 * t) : 0;
    for (let i = 0; i < live.length; i++) live[i] = before[i]! + (live[i]! - before[i]!) * weight;
    return true;
  }
}
