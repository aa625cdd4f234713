/**
 * The memory map and all other plain data that a thread needs to step a room: `WorldLayout` in full.
 * Structured-cloneable.
 */
import type { Tuning } from "../../shared/protocol/protocol.ts";
import type { Body } from "../../shared/scene.ts";
import type { TuningLimits } from "../../shared/tuning.ts";
import type { ElementKind } from "./constraints/kinds.ts";
import type { Range } from "./memory/map.ts";
import type { Mover } from "./movers.ts";
import type { StateRun } from "./memory/writeBlocks.ts";
import type { RestShape } from "./restShapes.ts";
import type { MethodLayout } from "./methods/planMethods.ts";
import type { ReferenceLayout } from "./methods/planReference.ts";
import type { TunableBody } from "./tunable.ts";

export interface BodyLayout {
  name: string;
  kind: Body["kind"];
  /** First particle in the room's arrays, and how many. */
  first: number;
  count: number;
  /** First place in the stream, and how many are sent. */
  streamedFirst: number;
  streamedCount: number;
  /** Address of this body's SURFACE row. */
  surface: number;
  meanEdge: number;
  /** Of what is not rigid. */
  rest?: RestShape;
  /** As the scene says; what holds now: tuning.ts. 1/s */
  damping: number;
  /** Absent: as `friction`, whatever that is. */
  staticFriction?: number;
  /** Accelerations by loads, float64[3*count] m/s^2; absent: none. */
  loads?: Float64Array;
  /** Diagonal of the box around the body as placed, m. */
  size: number;
  /** Mass behind a square meter that air meets, kg/m^2. */
  facing: number;
  /** Fastest that any of its particles begins a tick, m/s (motionLimits.ts). */
  mostSpeed: number;
  /** The scene begins it flattened or inside out. */
  startsDegenerate: boolean;
  /** It may wait until somebody puts it in (inactive.ts). */
  waits: boolean;
  /** It has a step of its own (solver implicit, or a method), and settles by itself. */
  implicit: boolean;
  /** The scene pins or attaches it: it may swing for as long as it likes. */
  hangs: boolean;
  /** Number of the mover that it is attached to: a reset puts it back to where that has gone. */
  carrier: number | undefined;
}

/** A collider's core mesh (colliders/coreMesh.ts). */
export interface CoreLayout {
  /** Its number in the scene. */
  collider: number;
  /** First particle in the room's arrays, and how many. */
  first: number;
  count: number;
  /** uint32[3T], particle numbers of the room, outward. */
  triangles: Uint32Array;
}

export interface SimLayout extends Record<string, unknown> {
  tickHz: number;
  substeps: number;
  iterations: number;
  /** Of all bodies. */
  particleCount: number;
  /** Address of the BODY rows, one more than bodies. */
  bodyRows: number;
  /** Where remembered stress lies. */
  memories: { address: number; bytes: number }[];
  streamedParticles: number;
  bodyCount: number;
  bodies: BodyLayout[];
  /** Of all colliders but planes. Their particles lie behind the bodies', are fixed, and no part of the state. */
  cores: CoreLayout[];
  /**
   * Where bodies may wait: uint8 a row for each surface, 1 where the scene lets two of them touch; the memory's own
   * tables say so only of what is there.
   */
  sceneMeets?: Uint8Array;
  /** Addresses. */
  x: number;
  xPrev: number;
  v: number;
  /** Copies for reset and roll-back: positions then velocities. */
  initial: number;
  good: number;
  /** What else is state: rows of constraint blocks, body by body. */
  states: StateRun[];
  /** Bodies with a method of their own. */
  methods: MethodLayout[];
  /** Triangles that air reaches: WIND_TRIANGLE rows. */
  blown: { address: number; count: number };
  /** What bodies are compared with. */
  reference?: ReferenceLayout;
  points: number;
  /** Slots: attachments first, then grab handles. */
  attachmentCount: number;
  grabFirst: number;
  grabCount: number;
  /** Colliders on a path. */
  movers: Mover[];
  /** int32 pairs (member, grab + 1; zeros: free) of each grab slot. */
  grabOwners: number;
  /** float32[3] of each grab slot: from the picked point to the average of its neighborhood, m. */
  grabOffsets: number;
  /** float32[3] of each grab slot: where its target is going, m; it gets there at the hand's speed. */
  grabGoals: number;
  /** POINT_MAX_EDGES rows of each grab slot. */
  grabEdges: number;
  /** float32[3] per streamed particle: where it was when the stillness count began. */
  anchor: number;
  /**
   * int32: per body ticks at rest; one for the room asleep; per body HELD or WAITS (inactive.ts); per body ticks near
   * its anchor; per body calm ticks (rest.ts); per body 0, or one more than the body that stands for the island that it
   * sleeps with (sleepingIslands.ts).
   */
  still: number;
  scratch: number;
  /** What belongs to the list of pairs, ascending: no part of a checkpoint (checkpoint.ts). */
  lists: Range[];
  /** Where memory ends that anything was taken from. */
  end: number;
  /** Where in the world the room's positions are measured from, m. */
  origin: [number, number, number];
  /**
   * kg: what masses in memory, and all that contains them (forces, stiffnesses, compliances, multipliers), are measured
   * in (massUnit.ts).
   */
  massUnit: number;
  /** About the world's origin. */
  worldRadius: number;
  quantum: number;
  /** As the scene says, m/s^2. */
  gravity: [number, number, number];
  /** Address of what may be changed of it (tuning.ts), and what the scene says of that. */
  tuning: number;
  tuned: Tuning;
  limits: TuningLimits;
  /** By body: what of it may be changed, as the scene says it, and what that takes. */
  tunable: TunableBody[];
  /** Lanes of compliant bodies' constraints, RUN_INTEGERS each (retune.ts). */
  materialRuns: Int32Array;
  /** By body: address of its ENCLOSED row. */
  enclosed: (number | undefined)[];
  /** What happens to surfaces that intersect from the start. */
  intersections: "untangle" | "hold";
  /** SI. */
  interaction: {
    grabCompliance: number;
    grabMaxForce: number;
    grabRadius: number;
    handSpeed: number;
    grabMaxStretch: number;
    maxImpulse: number;
    /** Bodies that one hand may pull at once. */
    together: number[];
  };
  /** Blocks of four lanes by kind, padded lanes included: what a benchmark divides by. */
  blocks: Record<ElementKind, number>;
  colors: Record<ElementKind, number>;
}
