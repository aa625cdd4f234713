/**
 * Hides jumps of the room's motion (a reconnection, a reset): the last picture fades into the current one.
 * Only the picture is blended; decoded frames are untouched.
 */

/** Length of a fade, ms: long enough to be read as motion, short enough not to hide the truth. */
const CROSS_FADE_MS = 260;

export class CrossFade {
  private before: Float32Array | undefined;
  private startMs = 0;

  /** True during a fade. */
  get blending(): boolean {
    return this.before !== undefined;
  }

  /** @param shown float32[n] m: the picture now; copied */
  begin(shown: Float32Array, nowMs: number): void {
    this.before = shown.slice();
    this.startMs = nowMs;
  }

  /**
   * @param live float32[n] m, inout: the current positions; becomes the blended ones
   * @returns true during a fade
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
