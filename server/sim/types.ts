/**
 * Interface of the simulation to the rest of the server. `createWorld` builds a room's whole state in one shared
 * WebAssembly.Memory; `openWorld` opens such a memory from any thread. No code outside `server/sim` reads or writes the
 * memory.
 */
import type { Refusal as RangeRefusal } from "../../shared/members/inputRanges.ts";
import type { Topology } from "../../shared/topology.ts";
import type { Pin } from "../../shared/members/pin.ts";
import type { MoverRow } from "../../shared/protocol/fromServer.ts";
import type { BodyLook, LookChange } from "../../shared/scene/bodyLook.ts";
import type { Tuning, TuningChange, TuningLimits } from "../../shared/members/tuningLimits.ts";
import * as stages from "../kernel/assembly/layout/stages.ts";

/**
 * One action of a member, applied at the start of a tick, in the given order. Particle numbers never leave the server;
 * targets are in m from the room's origin.
 */
export type Input =
  | {
      type: "grab";
      member: number;
      grab: number;
      body: number;
      triangle: number;
      u: number;
      v: number;
      target: [number, number, number];
      /** If present, grabs all bodies of the scene's `interaction.together`; absent: only this body. */
      together?: true;
    }
  | { type: "move"; member: number; grab: number; target: [number, number, number] }
  | { type: "release"; member: number; grab: number }
  /** Releases all grabs of a member who left. */
  | { type: "releaseAll"; member: number }
  | {
      type: "impulse";
      member: number;
      body: number;
      triangle: number;
      u: number;
      v: number;
      impulse: [number, number, number];
    }
  | { type: "reset"; member: number }
  /**
   * Puts a spawnable body into the scene. The middle of the underside of its box (as the scene places it) goes to
   * `position`, m from the room's origin; its x axis points along `heading` (x, z, any length). If that place is taken,
   * the input is refused or the body goes to the nearest free place above.
   */
  | {
      type: "spawn";
      member: number;
      body: number;
      position: [number, number, number];
      heading: [number, number];
      occupied: "refuse" | "lift";
    }
  /** Takes a spawnable body out of the scene. */
  | { type: "remove"; member: number; body: number }
  /**
   * Changes gravity, wind or the time scale, or values of a body; `asScene` resets all such changes (applyTuning.ts).
   */
  | ({ type: "tune"; member: number } & TuningChange)
  /** Changes the look of a spawnable body (looks.ts). */
  | ({ type: "dress"; member: number; body: number } & LookChange)
  /** Turns a grab of the member into a pin (grabs/pins.ts). Without `grab`, begins the pin, to undo its removal. */
  | ({ type: "pin"; member: number; grab?: number } & Pin)
  /** Removes a pin; without effect if there is none of this number. */
  | { type: "unpin"; member: number; pin: number };

type Words<S extends string> = S extends `${infer A}_${infer B}`
  ? `${Lowercase<A>}${Capitalize<Words<B>>}`
  : Lowercase<S>;
type Numbered = keyof typeof stages;
type KernelStage = { [K in Numbered]: K extends `STAGE_${infer Name}` ? Words<Name> : never }[Numbered];
/** Stages of the kernel's step: its STAGE_* constants, in their order. */
export const KERNEL_STAGES = Object.entries(stages)
  .filter(([name]) => name.startsWith("STAGE_"))
  .sort(([, a], [, b]) => a - b)
  .map(
    ([name]) =>
      name
        .slice(6)
        .toLowerCase()
        .replace(/_(.)/g, (_, c: string) => c.toUpperCase()) as KernelStage,
  );
/**
 * Stages of a tick. `inputs`, `methods` (methods/), `guard` (with sleep) and `encode` run outside of the kernel;
 * `other` is the rest of it.
 */
export const STAGES = ["inputs", ...KERNEL_STAGES, "methods", "guard", "encode", "other"] as const;
type StageName = (typeof STAGES)[number];
/** Time of each stage of a tick, s. */
export type StageSeconds = Record<StageName, number>;

const NO_SECONDS = Object.fromEntries(STAGES.map((stage) => [stage, 0])) as StageSeconds;

export function noSeconds(): StageSeconds {
  return { ...NO_SECONDS };
}

/** Stages that solve constraints, of any kind. */
const CONSTRAINT_STAGES: readonly StageName[] = [
  ...KERNEL_STAGES.slice(stages.STAGE_TETRAHEDRA, stages.STAGE_CONTACTS + 1),
  "implicit",
  "plasticity",
];

/** Time that a tick spent on constraints, s. */
export function constraintSeconds(seconds: StageSeconds): number {
  return CONSTRAINT_STAGES.reduce((sum, stage) => sum + seconds[stage], 0);
}

/** A surface: a body's or a collider's, by its number in the scene. */
export type SurfaceName = { body: number } | { collider: number };

/**
 * Two surfaces that intersect (or one that intersects itself), or one inside the other. `edges` and `triangles`: how
 * many edges cross how many triangles, of either surface.
 */
export interface IntersectingPair {
  between: [SurfaceName, SurfaceName];
  edges: number;
  triangles: number;
  /** Set if no edges cross, but this surface is wholly inside the other one, which is solid. */
  inside?: SurfaceName;
}

/** Counters of contact between surfaces (kernel/assembly/contact/pipeline.ts). */
export interface ContactCounts {
  /** Pair lists made; a quiet room needs less than one a tick. */
  lists: number;
  /** Pairs that the check at the end of a substep could not clear at once. */
  checks: number;
  /** Impulses that separated such pairs. */
  impulses: number;
  /** Rigid impact zones, made for pairs that impulses did not clear. */
  zones: number;
  /** Particles stopped at their position at the start of the substep, because no other stage cleared their pairs. */
  stops: number;
  /** Number of times that the memory for near pairs was full and could not grow. */
  full: number;
}

/** Reason why an input cannot be applied. */
export interface Refusal extends RangeRefusal {
  /** Surface that occupies the place. */
  by?: SurfaceName;
}

/** Place of a body as a spawn names it: position m from the room's origin, and the direction of its x axis. */
export interface Pose {
  position: [number, number, number];
  heading: [number, number];
}

export type SimEvent =
  /**
   * Surfaces intersected before contact checked them: at a start, a reset, after a roll-back or a jump of a collider.
   * `count`: number of edges that cross a triangle. `pairs` counts those of them that were listed. `first`: the first
   * few crossings, with particle numbers of their surface. Surfaces are moved apart, except for bodies in `held`, which
   * stay in place until a reset.
   */
  | {
      type: "tangled";
      tick: number;
      count: number;
      pairs: IntersectingPair[];
      held: number[];
      first: { edgeOf: SurfaceName; edge: number[]; triangleOf: SurfaceName; triangle: number[] }[];
    }
  /** No surfaces intersect any more. */
  | { type: "untangled"; tick: number }
  /** Contact of `bodies` does not fit into the room's lists: they are held until it does. */
  | { type: "crowded"; tick: number; bodies: number[] }
  /** All bodies move again. */
  | { type: "uncrowded"; tick: number }
  /** A body became unstable: it was rolled back to its last good state and is held. */
  | { type: "bodyHeld"; tick: number; body: number; reason: string }
  /**
   * `grab`: number of the refused grab; `by`: the surface that occupies the place for a spawned body; `input`: place of
   * a refused spawn, removal, tuning, look or pin among the tick's inputs.
   */
  | {
      type: "inputRejected";
      tick: number;
      member: number;
      field: string;
      value: number | string;
      limit: string;
      grab?: number;
      by?: SurfaceName;
      input?: number;
    }
  /** A spawnable body is in the scene from this tick on. */
  | { type: "spawned"; tick: number; member: number; body: number }
  /** A spawnable body is out of the scene from this tick on. A spawn at `position` and `heading` puts it back. */
  | ({ type: "removed"; tick: number; member: number; body: number } & Pose)
  | { type: "reset"; tick: number; member: number }
  /**
   * A body has another look from this tick on. `before`: its look until then. `input`: place of the change among the
   * tick's inputs; absent: the body was taken out, or the scene starts again.
   */
  | { type: "dressed"; tick: number; member: number; body: number; look: BodyLook; before: BodyLook; input?: number }
  /**
   * A pin was set (`after`) or removed (`before`). `input`: place of the change among the tick's inputs; absent: its
   * body was taken out, or the scene starts again.
   */
  | { type: "pinned"; tick: number; member: number; pin: number; before?: Pin; after?: Pin; input?: number }
  /** All moving colliders that bodies keep off their paths, with displacements, m: each tick with any, and the next. */
  | { type: "yielded"; tick: number; movers: MoverRow[] }
  /** `tuning` applies from this tick on. */
  | { type: "tuned"; tick: number; member: number; tuning: Tuning };

/** Plain data, structured-cloneable: the memory map and everything else that a thread needs beside the memory. */
export type WorldLayout = Record<string, unknown> & {
  tickHz: number;
  streamedParticles: number;
  bodyCount: number;
  /** The room's origin in world coordinates, m. */
  origin: [number, number, number];
  /** Tunable values of the scene. */
  tuned: Tuning;
  /** Limits for changes by owners. */
  limits: TuningLimits;
};

export interface BuiltWorld {
  memory: WebAssembly.Memory;
  layout: WorldLayout;
  /**
   * Made at first access: attaching a detail mesh to a body takes seconds, and callers that only step do not need it.
   */
  readonly topology: Topology;
}

/** Time of one step of a body's own method, s. */
export interface MethodSeconds {
  body: number;
  stepSeconds: number;
}

/** Distance of a body from its reference, relative to its largest side; null: not known. */
export interface MethodError {
  body: number;
  error: number | null;
}

export interface World {
  readonly layout: WorldLayout;
  readonly tickNumber: number;
  /** Steps one tick: inputs, substeps, guard. */
  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] };
  /** Returns step times of bodies with a method that were stepped since the last call. */
  takeMethodSeconds(): MethodSeconds[];
  /** Errors of bodies that the scene compares with a reference. */
  methodErrors(): MethodError[];
  /** Counts since the room began. */
  contactCounts(): ContactCounts;
  /** Writes the current positions of the streamed particles, float32[3*streamedParticles], m from the room's origin. */
  readStreamed(out: Float32Array): void;
  /** Returns 1 for each body that sleeps or is inactive, else 0. */
  asleep(): Uint8Array;
  /** Returns 1 for each inactive spawnable body, else 0. */
  absent(): Uint8Array;
  tuning(): Tuning;
  /** Looks of the bodies that do not look as in the scene. */
  looks(): [body: number, look: BodyLook][];
  pins(): [pin: number, at: Pin][];
  /** Pairs a, b of bodies that touch each other, a < b, in one flat array. */
  touching(): number[];
  /** True while a collider moves and for a moment after; depends only on the tick number. */
  collidersMove(): boolean;
  /** FNV-1a-64 (hex) over tick number, positions, velocities and tuned values. */
  stateHash(): string;
}
