/** Contact sounds of a room: finds impacts in the shown positions and plays them by the bodies' material. */
import { float32Of } from "../../shared/bytes.ts";
import type { Finish } from "../../shared/scene.ts";
import type { Topology, TopologyBody } from "../../shared/topology.ts";
import { Impacts } from "./impacts.ts";
import { type Timbre, Voices } from "./voices.ts";

/** What a listener needs of the picture. */
export interface HeardView {
  /** Positions of a body as they are shown, float32[3n] m. */
  positions: (body: number) => Float32Array;
  /** True if a body is not in the room, or a member holds it. */
  silent: (body: number) => boolean;
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
export function sidesOf({ rest }: Pick<TopologyBody, "rest">): [number, number, number] {
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
  private readonly view: HeardView;
  private readonly impacts: Impacts;
  private readonly kinds: readonly { timbre: Timbre; size: number }[];

  constructor({ bodies }: Pick<Topology, "bodies">, view: HeardView) {
    this.view = view;
    const sides = bodies.map(sidesOf);
    this.kinds = bodies.map((body, n) => ({ timbre: timbreOf(body), size: Math.max(...sides[n]!) }));
    this.impacts = new Impacts(
      bodies.map((_, body) => ({
        positions: view.positions(body),
        // A sheet has no volume; a tenth of its size stands for its thickness.
        mass: Math.min(
          1,
          sides[body]!.reduce((product, side) => product * Math.max(side, 0.1 * this.kinds[body]!.size), 1) / LOUDEST,
        ),
        silent: () => view.silent(body),
      })),
    );
    this.voices.resume();
  }

  /** @param seconds simulated time of the shown positions */
  update(seconds: number): void {
    for (const { body, loudness, at } of this.impacts.at(seconds)) {
      this.voices.play({ ...this.kinds[body]!, loudness, pan: this.view.pan(at) });
      this.played++;
    }
  }

  dispose(): void {
    this.voices.dispose();
  }
}
