/**
 * Where the server had this member's own hands, tick by tick: it tells everybody's hands, the member's own among them,
 * with the frames. Played at the same playhead as the frames, it says which pull the picture already shows, whatever
 * the line did to the messages on their way; no clock and no round trip is in it.
 */
import type { Grab } from "../../shared/protocol/fromServer.ts";

/** Told ticks kept for each grab: two seconds at 30 Hz, as many as frames. */
const CAPACITY = 60;

/**
 * `before`: the picture does not show the pull yet. `held`: it does. `after`: it shows that the server has let go, or
 * it never will show it.
 */
export type GrabPhase = "before" | "held" | "after";

/**
 * One grab as told. `ticks` ascends; the target stays what it was told until `maxGap` before the next telling, as
 * frames do.
 */
interface Track {
  readonly ticks: Float64Array;
  /** float64[3*CAPACITY] m */
  readonly targets: Float64Array;
  count: number;
  /** Tick at which it was gone, NaN while it is held. */
  goneTick: number;
}

export class AcknowledgedGrabs {
  private readonly tracks = new Map<number, Track>();

  /** This member's hands as told with a tick: every grab that the server has, and none that it has not. */
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

  /** It has been let go of and nothing asks for it any more. */
  forget(grab: number): void {
    this.tracks.delete(grab);
  }

  /**
   * The target that the picture of a moment shows.
   * @param tick moment on the server's time line, ticks (fractions allowed)
   * @param maxGap ticks between two frames
   * @param out float64[3] m, inout: where the hand took hold; becomes the target shown, except after the end
   * @param last float64[3] m: where the hand let go, if it did: the server has that before it lets go itself, though it
   *   may never tell
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
    // NaN while it is held and no more is known: the last target stands.
    const part = Math.min(1, (tick - (nextTick - gap)) / gap);
    if (part > 0 && (told || last))
      for (let r = 0; r < 3; r++) out[r]! += part * ((told ? targets[3 * (i + 1) + r]! : last![r]!) - out[r]!);
    return i < 0 && !(part > 0) ? "before" : "held";
  }

  /** A new line or a new start: the server holds nothing of what it held. */
  clear(): void {
    this.tracks.clear();
  }
}

function newTrack(): Track {
  return { ticks: new Float64Array(CAPACITY), targets: new Float64Array(3 * CAPACITY), count: 0, goneTick: Number.NaN };
}

function append(track: Track, tick: number, target: readonly number[]): void {
  const { ticks, targets } = track;
  // Told twice with one tick (a keyframe brings everything again): the last stands.
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
