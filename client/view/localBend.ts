/**
 * What you grab answers at once: the neighbourhood of the held point follows the hand by what the hand has moved since
 * the pull that the picture already shows.
 *
 *     offset = sat(RESPONSE (h - e)),   sat(d) = d / (1 + |d| / LIMIT)
 *
 * h: the hand now; e: the hand as the server had it at the moment shown (`state/acknowledgedGrabs.ts`), so what the
 * server's answer brings is taken back in the same picture. Nothing is corrected afterwards and no state is simulated
 * here: one smooth offset on top of the server's positions.
 *
 * Why nothing pops: sat is 1-Lipschitz, and so is the weight's use of it; between two pictures a vertex moves by the
 * server's motion plus at most RESPONSE (|dh| + |de|): what the hand moves now, and what the server's hand moves in the
 * time line shown. At the end of a hold h rests, e arrives at h where the server let go, and the offset is zero when
 * the body flies off. The slope of the offset over the surface is at most 1.54 LIMIT = 0.54 of an undeformed length
 * (`(1 - q)^2` falls fastest at r = radius / sqrt 3), so the surface does not fold and a detail mesh on it neither.
 *
 * Tried and rejected: e from the hand's own history at now - (round trip + buffer). Estimates move when the line does
 * (15 mm at 1 m/s for 25 ms), moves that waited and came together are not where that history has them, and at release
 * the offset had to be faded against a body that was still being pulled.
 */
import type { AcknowledgedGrabs } from "../state/acknowledgedGrabs.ts";

export interface BendTarget {
  /** float32[3*count] m, inout: displayed positions of the body. */
  positions: Float32Array;
  /** float32[3*count] m: undeformed positions, which measure the neighbourhood. */
  rest: Float32Array;
}

/** Part of the hand's motion that the surface shows at once: rubber gives, so not all of it. */
export const RESPONSE = 0.6;
/** Radius of the neighbourhood that answers at once, as a part of the body's own radius. */
export const BEND_RADIUS = 0.42;
/** Largest offset, as a part of the neighbourhood's radius: a hand that races off must not pull a spike. */
export const LIMIT = 0.35;
/**
 * Where the server let go by itself there is no answer to blend into: the offset fades out in this time, ms; as long as
 * a cross-fade.
 */
export const FADE_MS = 260;

export interface ShownMoment {
  nowMs: number;
  /** Tick shown now (fractional). */
  tick: number;
  /** Ticks between two frames. */
  sendTicks: number;
  /**
   * How long an answer takes at most, ms: when a hand that let go is still not known to the server, it never will be.
   */
  patienceMs: number;
}

export class LocalBend {
  private readonly target: BendTarget;
  private readonly indices: Uint32Array;
  private readonly weights: Float32Array;
  private readonly limit: number;
  private readonly begin: Float64Array;
  private readonly hand: Float64Array;
  private readonly shown = new Float64Array(3);
  private readonly offset = new Float64Array(3);
  readonly grab: number;
  private releasedMs = Number.NaN;
  /** Since when the offset fades out, NaN: it does not. */
  private fadeMs = Number.NaN;
  private strength = 1;
  private done = false;

  /**
   * @param grab its number, as told to the server
   * @param hand where the hand took hold, m
   * @param held rest position of the held point, m
   * @param radius of the neighbourhood, m
   */
  constructor(
    target: BendTarget,
    grab: number,
    hand: readonly [number, number, number],
    held: readonly [number, number, number],
    radius: number,
  ) {
    this.target = target;
    this.grab = grab;
    this.begin = Float64Array.from(hand);
    this.hand = Float64Array.from(hand);
    this.limit = LIMIT * radius;
    const indices: number[] = [];
    const weights: number[] = [];
    for (let i = 0; i < target.rest.length; i += 3) {
      const dx = target.rest[i]! - held[0];
      const dy = target.rest[i + 1]! - held[1];
      const dz = target.rest[i + 2]! - held[2];
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

  /** The hand is here now, m. Ignored once it has let go. */
  move(x: number, y: number, z: number): void {
    if (!Number.isNaN(this.releasedMs)) return;
    this.hand[0] = x;
    this.hand[1] = y;
    this.hand[2] = z;
  }

  /**
   * @param told the server hears of it and of where the hand was last; if not, it has let go already, and the offset
   *   fades out
   */
  release(nowMs: number, told: boolean): void {
    if (!Number.isNaN(this.releasedMs)) return;
    this.releasedMs = nowMs;
    if (!told && Number.isNaN(this.fadeMs)) this.fadeMs = nowMs;
  }

  /** Nothing left to add: forget this bend. */
  get finished(): boolean {
    return this.done;
  }

  /** Once per picture, before `apply`. */
  update(acknowledged: AcknowledgedGrabs, { nowMs, tick, sendTicks, patienceMs }: ShownMoment): void {
    const released = !Number.isNaN(this.releasedMs);
    if (Number.isNaN(this.fadeMs)) {
      this.shown.set(this.begin);
      const phase = acknowledged.at(this.grab, tick, sendTicks, this.shown, released ? this.hand : undefined);
      if (phase !== "after") this.aim();
      // The server's hand let go where this one did: nothing is left.
      else if (released) this.done = true;
      else this.fadeMs = nowMs;
      if (released && nowMs - this.releasedMs > patienceMs) this.fadeMs = nowMs;
    }
    const t = (nowMs - this.fadeMs) / FADE_MS;
    if (t >= 1 && released) this.done = true;
    this.strength = t > 0 ? (t < 1 ? 1 - t * t * (3 - 2 * t) : 0) : 1;
  }

  /**
   * Adds the offset to the displayed positions.
   * @param floorY particles are kept above this, m
   */
  apply(floorY: number): void {
    if (this.done) return;
    const x = this.offset[0]! * this.strength;
    const y = this.offset[1]! * this.strength;
    const z = this.offset[2]! * this.strength;
    if (x === 0 && y === 0 && z === 0) return;
    const { positions } = this.target;
    for (let k = 0; k < this.indices.length; k++) {
      const i = this.indices[k]!;
      const weight = this.weights[k]!;
      positions[i]! += weight * x;
      positions[i + 1] = Math.max(positions[i + 1]! + weight * y, Math.min(floorY, positions[i + 1]!));
      positions[i + 2]! += weight * z;
    }
  }

  private aim(): void {
    const { hand, shown, offset, limit } = this;
    const x = RESPONSE * (hand[0]! - shown[0]!);
    const y = RESPONSE * (hand[1]! - shown[1]!);
    const z = RESPONSE * (hand[2]! - shown[2]!);
    const factor = limit / (limit + Math.sqrt(x * x + y * y + z * z));
    offset[0] = x * factor;
    offset[1] = y * factor;
    offset[2] = z * factor;
  }
}
