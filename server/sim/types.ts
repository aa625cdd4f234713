/**
 * The simulation's face to the rest of the server. `createWorld` builds a room's whole state in one shared
 * WebAssembly.Memory;
 * `openWorld` looks at such a memory from any thread. Nothing outside `server/sim` touches the memory's insides.
 */
import type { Tuning, TuningChange } from "../../shared/protocol/protocol.ts";
import type { Topology } from "../../shared/topology.ts";
import type { TuningLimits } from "../../shared/tuning.ts";
import * as stages from "../kernel/assembly/layout/stages.ts";

/**
 * One action of a member, applied at the start of a tick, in the order given. Particle numbers never leave the server;
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
      /** It holds all bodies that the scene lets one hand pull (together.ts); absent: this one. */
      together?: true;
    }
  | { type: "move"; member: number; grab: number; target: [number, number, number] }
  | { type: "release"; member: number; grab: number }
  /** All grabs of a member who left. */
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
   * Puts in a body that waits: the middle of the underside of its box (as the scene places it) at `position`, m from
   * the room's origin, its x axis along
   * `heading` (x, z, any length). Where that place is taken: refused, or put in at the nearest free place above.
   */
  | {
      type: "spawn";
      member: number;
      body: number;
      position: [number, number, number];
      heading: [number, number];
      occupied: "refuse" | "lift";
    }
  /** Takes out a body that the scene lets wait. */
  | { type: "remove"; member: number; body: number }
  /**
   * Changes what the scene said of gravity, wind, time, or of a body; `asScene` takes all such changes back
   * (tuning.ts).
   */
  | ({ type: "tune"; member: number } & TuningChange);

type Words<S extends string> = S extends `${infer A}_${infer B}`
  ? `${Lowercase<A>}${Capitalize<Words<B>>}`
  : Lowercase<S>;
type Numbered = keyof typeof stages;
type KernelStage = { [K in Numbered]: K extends `STAGE_${infer Name}` ? Words<Name> : never }[Numbered];
/** Stages of the kernel's step: its STAGE_*, in their order. */
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
 * A tick's stages. `inputs`, `methods` (methods/), `guard` (with sleep) and `encode` are outside of the kernel; `other`
 * is the rest of it.
 */
export const STAGES = ["inputs", ...KERNEL_STAGES, "methods", "guard", "encode", "other"] as const;
type StageName = (typeof STAGES)[number];
/** Where a tick's time went, s. */
export type StageSeconds = Record<StageName, number>;

const NO_SECONDS = Object.fromEntries(STAGES.map((stage) => [stage, 0])) as StageSeconds;

export function noSeconds(): StageSeconds {
  return { ...NO_SECONDS };
}

/** Those that make constraints hold, whatever their kind. */
const CONSTRAINT_STAGES: readonly StageName[] = [
  ...KERNEL_STAGES.slice(stages.STAGE_TETRAHEDRA, stages.STAGE_CONTACTS + 1),
  "implicit",
  "plasticity",
];

/** What a tick spent on constraints, s. */
export function constraintSeconds(seconds: StageSeconds): number {
  return CONSTRAINT_STAGES.reduce((sum, stage) => sum + seconds[stage], 0);
}

/** A surface: a body's or a collider's, by number in the scene. */
export type SurfaceName = { body: number } | { collider: number };

/**
 * Two surfaces (or one with itself) that intersect, or one inside the other: so many edges of either go through so many
 * triangles of the other.
 */
export interface IntersectingPair {
  between: [SurfaceName, SurfaceName];
  edges: number;
  triangles: number;
  /** Nothing intersects, but this one of the two is wholly inside the other, which is solid. */
  inside?: SurfaceName;
}

/** What contact between surfaces did (kernel/assembly/contact/contacts.ts). */
export interface ContactCounts {
  /** Lists of pairs made; a quiet room needs less than one a tick. */
  lists: number;
  /** Pairs that the verification of a substep could not clear at once. */
  checks: number;
  /** Impulses that pushed such pairs apart. */
  impulses: number;
  /** Rigid impact zones, of what impulses did not clear. */
  zones: number;
  /** Particles that were stopped where their substep began, because nothing else cleared them. */
  stops: number;
  /** Times that memory did not hold what was near, and could not grow. */
  full: number;
}

export type SimEvent =
  /**
   * Surfaces intersect that contact never saw apart: at a start, a reset, after a roll-back or a jump of a collider.
   * `count`: edges with a triangle that they meet, all of them; `pairs` counts those that were listed; `first`: the
   * first few, particles by their numbers in their surface. They are drawn apart, but for bodies that are `held` until
   * a reset.
   */
  | {
      type: "tangled";
      tick: number;
      count: number;
      pairs: IntersectingPair[];
      held: number[];
      first: { edgeOf: SurfaceName; edge: number[]; triangleOf: SurfaceName; triangle: number[] }[];
    }
  /** Nothing intersects any more. */
  | { type: "untangled"; tick: number }
  /** Contact of `bodies` does not fit into the room's lists: they stand still until it does. */
  | { type: "crowded"; tick: number; bodies: number[] }
  /** All of them move again. */
  | { type: "uncrowded"; tick: number }
  /** A body blew up: rolled back to its last good state and held. */
  | { type: "bodyHeld"; tick: number; body: number; reason: string }
  /** `grab`: the grab that was refused; `by`: what takes the place where a body was to go. */
  | {
      type: "inputRejected";
      tick: number;
      member: number;
      field: string;
      value: number;
      limit: string;
      grab?: number;
      by?: SurfaceName;
    }
  /** A body that waited is there from this tick on; one that was there waits. */
  | { type: "spawned" | "removed"; tick: number; member: number; body: number }
  | { type: "reset"; tick: number; member: number }
  /** From this tick on. */
  | { type: "tuned"; tick: number; member: number; tuning: Tuning };

/** Plain data, structured-cloneable: the memory map and everything else a thread needs beside the memory itself. */
export type WorldLayout = Record<string, unknown> & {
  tickHz: number;
  streamedParticles: number;
  bodyCount: number;
  /** Where in the world the room's positions are measured from, m. */
  origin: [number, number, number];
  /** As the scene says. */
  tuned: Tuning;
  /** What owners may make of that. */
  limits: TuningLimits;
};

export interface BuiltWorld {
  memory: WebAssembly.Memory;
  layout: WorldLayout;
  /**
   * Made when it is first asked for: hanging a detail mesh on a body takes seconds, and whoever only steps needs none.
   */
  readonly topology: Topology;
}

/** What a step of a body's own method took, s. */
export interface MethodSeconds {
  body: number;
  stepSeconds: number;
}

/** How far a body is from what it is compared with, in its largest side; null: nobody can say. */
export interface MethodError {
  body: number;
  error: number | null;
}

export interface World {
  readonly layout: WorldLayout;
  readonly tickNumber: number;
  /** Steps one tick: inputs, substeps, guard. */
  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] };
  /** Of bodies with a method that were stepped since this was asked. */
  takeMethodSeconds(): MethodSeconds[];
  /** Of bodies that the scene compares with a reference. */
  methodErrors(): MethodError[];
  /** Since the room began. */
  contactCounts(): ContactCounts;
  /** float32[3*streamedParticles] current positions of the streamed particles, m from the room's origin. */
  readStreamed(out: Float32Array): void;
  /** True for bodies whose streamed particles have been still long enough to sleep, by body. */
  asleep(): Uint8Array;
  /** 1 for bodies that wait: they are not there. */
  waiting(): Uint8Array;
  tuning(): Tuning;
  /** Pairs a, b of bodies that touch each other, a < b, one pair after the other. */
  touching(): number[];
  /** True while a collider moves and a moment longer, by the tick number alone. */
  collidersMove(): boolean;
  /** FNV-1a-64 (hex) over tick number, positions and velocities, and over what was tuned. */
  stateHash(): string;
}
