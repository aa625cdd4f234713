/**
 * This member's own grabs as the server had them, tick by tick. The server sends the grabs of all members with the
 * frames, including the member's own. Read at the same playhead as the frames, they tell which pull the picture already
 * shows. This depends on no clock and no round-trip time, so delays of messages cannot distort it.
 */
import type { Grab } from "../../shared/protocol/fromServer.ts";

/** Ticks kept for each grab: two seconds at 30 Hz, as many as frames. */
const CAPACITY = 60;

/**
 * `before`: the picture does not show the pull yet. `held`: it does. `after`: it shows the release, or it will never
 * show the pull.
 */
export type GrabPhase = "before" | "held" | "after";

/**
 * History of one grab. `ticks` ascends. Between two entries the target keeps the older value until `maxGap` before the
 * newer one, as frames do.
 */
interface Track {
  readonly ticks: Float64Array;
  /** float64[3*CAPACITY] m */
  readonly targets: Float64Array;
  count: number;
  /** Tick at which the grab had ended; NaN while it lives. */
  goneTick: number;
}

export class AcknowledgedGrabs {
  private readonly tracks = new Map<number, Track>();

  /** Records this member's grabs at a tick: the complete list of the server. */
  note(tick: number, grabs: readonly Grab[]): void {
    for (const [id, track] of this.tracks) {
      if (Number.isNaN(track.goneTick) && !grabs.some(({ grab }) => grab === id)) track.goneTick = tick;
    }
    for (const { grab, target } of grabs) {
      const track = this.tracks.get(grab) ?? newTrack();
      this.tracks.set(grab, track);
      append(track, tick, target);
    }
  }

  /** Deletes the history of a grab that was released and that no bend needs any more. */
  forget(grab: number): void {
    this.tracks.delete(grab);
  }

  /**
   * Returns the target that the picture of a moment shows.
   * @param tick moment on the server's time line, ticks (fractions allowed)
   * @param maxGap ticks between two frames
   * @param out float64[3] m, inout: where the grab began; becomes the target shown, except after the end
   * @param last float64[3] m: the last target before the release, if it was released. The server had it before the
   *   release, but may never report it
   */
  at(grab: number, tick: number, maxGap: number, out: Float64Array, last: Float64Array | undefined): GrabPhase {
    const track = this.tracks.get(grab);
    if (!track) return "before";
    const { ticks, targets, count, goneTick } = track;
    if (tick >= goneTick) return "after";
    let i = count - 1;
    while (i >= 0 && ticks[i]! > tick) i--;
    if (i >= 0) for (let r = 0; r < 3; r++) out[r] = targets[3 * i + r]!;
    const told = i + 1 < count;
    const nextTick = told ? ticks[i + 1]! : goneTick;
    const gap = i < 0 ? maxGap : Math.min(maxGap, nextTick - ticks[i]!);
    // NaN while the grab lives and no newer entry exists: the last target stays.
    const part = Math.min(1, (tick - (nextTick - gap)) / gap);
    if (part > 0 && (told || last))
      for (let r = 0; r < 3; r++) out[r]! += part * ((told ? targets[3 * (i + 1) + r]! : last![r]!) - out[r]!);
    return i < 0 && !(part > 0) ? "before" : "held";
  }

  /** Deletes everything, after a new connection or a reset: the server has released all grabs. */
  clear(): void {
    this.tracks.clear();
  }
}

function newTrack(): Track {
  return { ticks: new Float64Array(CAPACITY), targets: new Float64Array(3 * CAPACITY), count: 0, goneTick: Number.NaN };
}

function append(track: Track, tick: number, target: readonly number[]): void {
  const { ticks, targets } = track;
  // A second report for the same tick (a keyframe repeats everything) replaces the first.
  if (track.count > 0 && ticks[track.count - 1]! >= tick) track.count--;
  if (track.count === CAPACITY) {
    ticks.copyWithin(0, 1);
    targets.copyWithin(0, 3);
    track.count--;
  }
  ticks[track.count] = tick;
  targets.set(target, 3 * track.count);
  track.count++;
}
