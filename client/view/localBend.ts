/**
 * What you grab answers at once: the neighbourhood of the held point follows the hand by what the hand has moved since the moment
 * that the displayed frame shows. When the server's answer arrives, that difference has shrunk by itself, so nothing is ever
 * corrected and nothing pops: no state here is simulated, it is one smooth offset on top of the server's positions.
 */

export interface BendTarget {
  /** float32[3*count] m, inout: displayed positions of the body. */
  positions: Float32Array;
  /** float32[3*count] m: undeformed positions, which measure the neighbourhood. */
  rest: Float32Array;
}

/** Part of the hand's motion that the surface shows at once: rubber gives, so not all of it. */
const RESPONSE = 0.6;
/** Once released, the offset dies with this time constant, ms. */
const FADE_MS = 35;

export class LocalBend {
  private readonly target: BendTarget;
  private readonly history: { ms: number; x: number; y: number; z: number }[] = [];
  private readonly indices: Uint32Array;
  private readonly weights: Float32Array;
  private readonly limit: number;
  private readonly offset: [number, number, number] = [0, 0, 0];
  private releasedMs = Number.NaN;

  /**
   * @param held rest position of the held point, m
   * @param radius of the neighbourhood, m
   */
  constructor(target: BendTarget, held: readonly [number, number, number], radius: number) {
    this.target = target;
    this.limit = 0.35 * radius;
    const indices: number[] = [];
    const weights: number[] = [];
    for (let i = 0; i < target.rest.length; i += 3) {
      const dx = target.rest[i]! - held[0], dy = target.rest[i + 1]! - held[1], dz = target.rest[i + 2]! - held[2];
      const q = (dx * dx + dy * dy + dz * dz) / (radius * radius);
      // (1 - q)^2 is flat at the centre and meets zero with zero slope.
      if (q < 1) {
        indices.push(i);
        weights.push((1 - q) * (1 - q));
      }
    }
    this.indices = Uint32Array.from(indices);
    this.weights = Float32Array.from(weights);
  }

  hand(x: number, y: number, z: number, nowMs: number): void {
    this.history.push({ ms: nowMs, x, y, z });
    while (this.history.length > 2 && nowMs - this.history[1]!.ms > 1000) this.history.shift();
  }

  release(nowMs: number): void {
    this.releasedMs = nowMs;
  }

  /** Nothing left to add: forget this bend. */
  finished(nowMs: number): boolean {
    return nowMs - this.releasedMs > 6 * FADE_MS;
  }

  /**
   * Adds the offset to the displayed positions.
   * @param lagMs age of the hand that the displayed frame shows: round trip plus buffer delay
   * @param floorY particles are kept above this, m
   */
  apply(nowMs: number, lagMs: number, floorY: number): void {
    this.updateOffset(nowMs, lagMs);
    const [x, y, z] = this.offset;
    if (x === 0 && y === 0 && z === 0) return;
    const { positions } = this.target;
    for (let k = 0; k < this.indices.length; k++) {
      const i = this.indices[k]!, weight = this.weights[k]!;
      positions[i]! += weight * x;
      positions[i + 1] = Math.max(positions[i + 1]! + weight * y, Math.min(floorY, positions[i + 1]!));
      positions[i + 2]! += weight * z;
    }
  }

  private updateOffset(nowMs: number, lagMs: number): void {
    const now = this.history[this.history.length - 1];
    if (!now) return;
    const then = this.handAt(nowMs - lagMs);
    const x = (now.x - then.x) * RESPONSE, y = (now.y - then.y) * RESPONSE, z = (now.z - then.z) * RESPONSE;
    const size = Math.sqrt(x * x + y * y + z * z);
    // Saturates smoothly: a hand that races off must not pull a spike.
    let factor = this.limit / (this.limit + size);
    if (!Number.isNaN(this.releasedMs)) factor *= Math.exp(-(nowMs - this.releasedMs) / FADE_MS);
    this.offset[0] = x * factor;
    this.offset[1] = y * factor;
    this.offset[2] = z * factor;
  }

  private handAt(ms: number): { x: number; y: number; z: number } {
    const { history } = this;
    let i = history.length - 1;
    while (i > 0 && history[i]!.ms > ms) i--;
    const a = history[i]!, b = history[i + 1];
    if (!b || ms <= a.ms) return a;
    const t = (ms - a.ms) / (b.ms - a.ms);
    return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t, z: a.z + (b.z - a.z) * t };
  }
}
