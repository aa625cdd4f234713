/**
 * Immediate response to an own grab: the neighborhood of the grabbed point follows the pointer by the pointer's
 * movement since the pull that the picture already shows.
 *
 *     offset = sat(RESPONSE (h - e)),   sat(d) = d / (1 + |d| / LIMIT)
 *
 * h: the pointer's target now; e: the target that the server had at the moment shown (`state/acknowledgedGrabs.ts`).
 * When the server's answer arrives, the offset shrinks in the same picture. It is one smooth offset on top of the
 * server's positions: nothing is corrected afterwards, and no state is simulated here.
 *
 * Why nothing pops: sat is 1-Lipschitz, and the weights are at most 1. Between two pictures a vertex moves by the
 * server's motion plus at most RESPONSE (|dh| + |de|). At the end of a grab h rests and e arrives at h where the server
 * releases, so the offset is zero when the body flies off. The slope of the offset over the surface is at most 1.54
 * LIMIT = 0.54 of an undeformed length (`(1 - q)^2` falls fastest at r = radius / sqrt 3), so neither the surface nor a
 * detail mesh folds.
 *
 * Tried and rejected: e from the local history at now - (round trip + buffer). The estimate shifts with the latency (15
 * mm at 1 m/s for 25 ms), delayed messages arrive in bunches, and at the release the offset had to be faded against a
 * body that was still pulled.
 */
import type { AcknowledgedGrabs } from "../../state/acknowledgedGrabs.ts";

export interface BendTarget {
  /** float32[3*count] m, inout: displayed positions of the body. */
  positions: Float32Array;
  /** float32[3*count] m: undeformed positions, which measure the neighborhood. */
  rest: Float32Array;
}

/** Share of the pointer's movement that the surface shows at once: less than 1, because rubber yields. */
export const RESPONSE = 0.6;
/** Radius of the neighborhood, as a share of the body's own radius. */
export const BEND_RADIUS = 0.42;
/** Largest offset, as a share of the neighborhood's radius: a fast pointer must not pull a spike. */
export const LIMIT = 0.35;
/** Time to fade the offset out after the server ended the grab itself, ms; as long as a cross-fade. */
export const FADE_MS = 260;

export interface ShownMoment {
  nowMs: number;
  /** Tick shown now (fractional). */
  tick: number;
  /** Ticks between two frames. */
  sendTicks: number;
  /** Longest time to wait for an answer, ms: if the server has not confirmed a released grab by then, it never will. */
  patienceMs: number;
}

export class LocalBend {
  private readonly target: BendTarget;
  private readonly indices: Uint32Array;
  private readonly weights: Float32Array;
  private readonly limit: number;
  private readonly begin: Float64Array;
  private readonly pulledTo: Float64Array;
  private readonly shown = new Float64Array(3);
  private readonly offset = new Float64Array(3);
  readonly grab: number;
  private releasedMs = Number.NaN;
  /** Time at which the offset began to fade out; NaN: it is not fading. */
  private fadeMs = Number.NaN;
  private strength = 1;
  private done = false;

  /**
   * @param grab its id, as sent to the server
   * @param pulledTo target when the grab began, m
   * @param held rest position of the grabbed point, m
   * @param radius of the neighborhood, m
   */
  constructor(
    target: BendTarget,
    grab: number,
    pulledTo: readonly [number, number, number],
    held: readonly [number, number, number],
    radius: number,
  ) {
    this.target = target;
    this.grab = grab;
    this.begin = Float64Array.from(pulledTo);
    this.pulledTo = Float64Array.from(pulledTo);
    this.limit = LIMIT * radius;
    const indices: number[] = [];
    const weights: number[] = [];
    for (let i = 0; i < target.rest.length; i += 3) {
      const dx = target.rest[i]! - held[0];
      const dy = target.rest[i + 1]! - held[1];
      const dz = target.rest[i + 2]! - held[2];
      const q = (dx * dx + dy * dy + dz * dz) / (radius * radius);
      // (1 - q)^2 is flat at the center and reaches zero with zero slope.
      if (q < 1) {
        indices.push(i);
        weights.push((1 - q) * (1 - q));
      }
    }
    this.indices = Uint32Array.from(indices);
    this.weights = Float32Array.from(weights);
  }

  /** Sets the current target, m. Ignored after the release. */
  move(x: number, y: number, z: number): void {
    if (!Number.isNaN(this.releasedMs)) return;
    this.pulledTo[0] = x;
    this.pulledTo[1] = y;
    this.pulledTo[2] = z;
  }

  /**
   * @param told true if the release is sent to the server with the last target; false if the server has already
   *   released, so that the offset fades out
   */
  release(nowMs: number, told: boolean): void {
    if (!Number.isNaN(this.releasedMs)) return;
    this.releasedMs = nowMs;
    if (!told && Number.isNaN(this.fadeMs)) this.fadeMs = nowMs;
  }

  /** True if the bend can be removed. */
  get finished(): boolean {
    return this.done;
  }

  /** Called once per picture, before `apply`. */
  update(acknowledged: AcknowledgedGrabs, { nowMs, tick, sendTicks, patienceMs }: ShownMoment): void {
    const released = !Number.isNaN(this.releasedMs);
    if (Number.isNaN(this.fadeMs)) {
      this.shown.set(this.begin);
      const phase = acknowledged.at(this.grab, tick, sendTicks, this.shown, released ? this.pulledTo : undefined);
      if (phase !== "after") this.aim();
      // The server released at the same target: no offset is left.
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
    const { pulledTo, shown, offset, limit } = this;
    const x = RESPONSE * (pulledTo[0]! - shown[0]!);
    const y = RESPONSE * (pulledTo[1]! - shown[1]!);
    const z = RESPONSE * (pulledTo[2]! - shown[2]!);
    const factor = limit / (limit + Math.sqrt(x * x + y * y + z * z));
    offset[0] = x * factor;
    offset[1] = y * factor;
    offset[2] = z * factor;
  }
}
