/** Contact sounds of a room: finds impacts in its frames and plays them by the bodies' material. */
import { float32Of } from "../../shared/bytes.ts";
import type { Finish } from "../../shared/scene/scene.ts";
import type { Topology, TopologyBody } from "../../shared/topology.ts";
import type { Frame } from "../state/snapshotBuffer.ts";
import { Impacts } from "./impacts.ts";
import { type Timbre, Voices } from "./voices.ts";

/** Access to the picture and the room's state. */
export interface HeardView {
  /** True if a body is not in the room at this tick, or a member holds it. */
  silent: (body: number, tick: number) => boolean;
  /** Simulated time of a tick, s. */
  secondsAt: (tick: number) => number;
  /** -1 (left) to 1 (right) */
  pan: (at: readonly [number, number, number]) => number;
}

/** Volume of the box of a body with the loudest sound, m³. */
const LOUDEST = 0.02;
const HARD: readonly (Finish | undefined)[] = ["clay", "metal"];
const THIN: readonly (Finish | undefined)[] = ["canvas", "silk", "leather", "paper"];

export function timbreOf({ kind, look: { finish, metalness = 0 } }: Pick<TopologyBody, "kind" | "look">): Timbre {
  if (finish === "metal" || metalness > 0.5) return "metal";
  if (HARD.includes(finish) || (kind === "ball" && finish === undefined)) return "hard";
  return kind === "cloth" || THIN.includes(finish) ? "cloth" : "soft";
}

/** Sides of the box of the undeformed body, m. */
function sidesOf({ rest }: Pick<TopologyBody, "rest">): [number, number, number] {
  const places = float32Of(rest);
  return [0, 1, 2].map((r) => {
    let [least, most] = [Infinity, -Infinity];
    for (let i = r; i < places.length; i += 3) {
      least = Math.min(least, places[i]!);
      most = Math.max(most, places[i]!);
    }
    return Math.max(0, most - least);
  }) as [number, number, number];
}

export class ContactSounds {
  readonly voices = new Voices();
  /** Sounds since the start. */
  played = 0;
  /** The last frame that was played. */
  private tick = Number.NEGATIVE_INFINITY;
  private readonly view: HeardView;
  private readonly impacts: Impacts;
  private readonly kinds: readonly { timbre: Timbre; size: number }[];

  constructor({ bodies }: Pick<Topology, "bodies">, view: HeardView) {
    this.view = view;
    const sides = bodies.map(sidesOf);
    this.kinds = bodies.map((body, n) => ({ timbre: timbreOf(body), size: Math.max(...sides[n]!) }));
    this.impacts = new Impacts(
      bodies.map((_, body) => ({
        first: bodies[body]!.first,
        count: bodies[body]!.count,
        // A sheet has no volume; a tenth of its size stands for its thickness.
        mass: Math.min(
          1,
          sides[body]!.reduce((product, side) => product * Math.max(side, 0.1 * this.kinds[body]!.size), 1) / LOUDEST,
        ),
        silent: (tick) => view.silent(body, tick),
      })),
    );
    this.voices.resume();
  }

  /**
   * Plays the frames up to the shown tick that were not played yet.
   * @param frames in tick order
   */
  update(frames: readonly Pick<Frame, "tick" | "positions">[], shownTick: number): void {
    // The room went back.
    if (shownTick < this.tick) this.tick = shownTick;
    for (const { tick, positions } of frames) {
      if (tick <= this.tick || tick > shownTick) continue;
      this.tick = tick;
      for (const { body, loudness, at } of this.impacts.at(tick, this.view.secondsAt(tick), positions)) {
        this.voices.play({ ...this.kinds[body]!, loudness, pan: this.view.pan(at) });
        this.played++;
      }
    }
  }

  dispose(): void {
    this.voices.dispose();
  }
}
