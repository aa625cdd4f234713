/**
 * The memory map and all other plain data that a thread needs to step a room: `WorldLayout` in full.
 * Structured-cloneable.
 */
import type { Body } from "../../../shared/scene/scene.ts";
import type { Tuning, TuningLimits } from "../../../shared/members/tuningLimits.ts";
import type { ElementKind } from "../constraints/kinds.ts";
import type { Range } from "../memory/memoryMap.ts";
import type { Mover } from "../colliders/movers.ts";
import type { StateRun } from "../memory/writeBlocks.ts";
import type { MethodLayout } from "../methods/planMethods.ts";
import type { ReferenceLayout } from "../methods/references/planReference.ts";
import type { TunableBody } from "../tuning/tunable.ts";

/** Addresses of one body's rest shape. */
export interface RestShape {
  /** uint32[corners * elementCount], the body's own particle numbers: tetrahedra, or the triangles of a sheet. */
  elements: number;
  elementCount: number;
  corners: 3 | 4;
  /** float32[3N] m */
  positions: number;
}

export interface BodyLayout {
  name: string;
  kind: Body["kind"];
  /** First particle in the room's arrays, and number of particles. */
  first: number;
  count: number;
  /** First index in the stream, and number of streamed particles. */
  streamedFirst: number;
  streamedCount: number;
  /** Address of this body's SURFACE row. */
  surface: number;
  meanEdge: number;
  /** Undeformed shape; absent for rigid bodies. */
  rest?: RestShape;
  /** Damping of the scene, 1/s; the current value is in applyTuning.ts. */
  damping: number;
  /** Absent: same as the current `friction`. */
  staticFriction?: number;
  /** Accelerations by loads, float64[3*count] m/s^2; absent: no loads. */
  loads?: Float64Array;
  /** Diagonal of the box around the body as placed, m. */
  size: number;
  /** Mass per area that faces the air, kg/m^2. */
  facing: number;
  /** Largest speed of its particles at the start of a tick, m/s (motionLimits.ts). */
  mostSpeed: number;
  /** True if the body starts flattened or inside out. */
  startsDegenerate: boolean;
  /** True for a spawnable body (spawnableBodies.ts). */
  spawnable: boolean;
  /** True if the body has its own step (implicit solver, or a method) and settles without calming. */
  implicit: boolean;
  /** True if the scene pins or attaches it: it may swing for any length of time. */
  hangs: boolean;
  /** Number of the mover that the body is attached to: a reset puts the body where that mover is now. */
  carrier: number | undefined;
}

/** A collider's core mesh (colliders/coreMesh.ts). */
export interface CoreLayout {
  /** Number of the collider in the scene. */
  collider: number;
  /** First particle in the room's arrays, and number of particles. */
  first: number;
  count: number;
  /** uint32[3T], particle numbers of the room; normals point outward. */
  triangles: Uint32Array;
}

export interface SimLayout extends Record<string, unknown> {
  tickHz: number;
  substeps: number;
  iterations: number;
  /** Substeps from one verification of contact to the next; absent: 1. */
  verifyEvery?: number;
  /** Particles of all bodies. */
  particleCount: number;
  /** Address of the BODY rows: one for each body and one more. */
  bodyRows: number;
  /** Address ranges of remembered stress. */
  memories: { address: number; bytes: number }[];
  streamedParticles: number;
  bodyCount: number;
  bodies: BodyLayout[];
  /**
   * Core meshes of all colliders except planes. Their particles follow the bodies' particles, are fixed, and are not
   * part of the state.
   */
  cores: CoreLayout[];
  /**
   * Present if the scene has spawnable bodies: uint8, one row for each surface, 1 where the scene lets two surfaces
   * touch. The tables in memory say this only for active bodies.
   */
  sceneMeets?: Uint8Array;
  /** Addresses. */
  x: number;
  xPrev: number;
  v: number;
  /** Copies for reset and roll-back: positions, then velocities. */
  initial: number;
  good: number;
  /** State besides particles: rows of constraint blocks, body by body. */
  states: StateRun[];
  /** Bodies with their own method. */
  methods: MethodLayout[];
  /** Triangles exposed to wind: WIND_TRIANGLE rows. */
  blown: { address: number; count: number };
  /** References that the scene compares bodies with. */
  reference?: ReferenceLayout;
  points: number;
  /** Point slots: attachments first, then grabs. */
  attachmentCount: number;
  grabFirst: number;
  grabCount: number;
  /** Colliders on a path. */
  movers: Mover[];
  /** int32 pairs (member, grab + 1; zeros: free), one for each grab slot. */
  grabOwners: number;
  /** float32[3] for each grab slot: from the picked point to the average of its neighborhood, m. */
  grabOffsets: number;
  /** float32[3] for each grab slot: goal of its target, m; the target moves there at most at grabSpeed. */
  grabGoals: number;
  /** POINT_MAX_EDGES rows for each grab slot. */
  grabEdges: number;
  /** float32[3] per streamed particle: its position when the count of still ticks began. */
  anchor: number;
  /**
   * int32 words, in this order. Per body: ticks at rest. One word: whether the room sleeps. Per body: HELD or WAITS
   * (spawnableBodies.ts), ticks near its anchor, calm ticks (findResting.ts). Last per body: 0, or one more than the
   * body that represents its sleeping island (sleepingIslands.ts).
   */
  still: number;
  scratch: number;
  /** Ranges of the pair list, ascending: not part of a checkpoint (checkpoint.ts). */
  lists: Range[];
  /** End of the allocated memory. */
  end: number;
  /** The room's origin in world coordinates, m. */
  origin: [number, number, number];
  /**
   * Unit of mass in memory, kg. All values that contain mass (forces, stiffnesses, compliances, multipliers) use it
   * (massUnit.ts).
   */
  massUnit: number;
  /** Radius of the world about its origin, m. */
  worldRadius: number;
  quantum: number;
  /** Gravity of the scene, m/s^2. */
  gravity: [number, number, number];
  /** Address of the looks of spawnable bodies (looks.ts). */
  looks: number;
  /** Address of the pins (pins.ts). */
  pins: number;
  /** Address of the tunable values (applyTuning.ts), then the scene's values and their limits. */
  tuning: number;
  tuned: Tuning;
  limits: TuningLimits;
  /** Tunable values of each body as the scene gives them, and the data that changing them needs. */
  tunable: TunableBody[];
  /** Runs of lanes of compliant bodies, RUN_INTEGERS numbers each (retune.ts). */
  materialRuns: Int32Array;
  /** Balloons: address of the ENCLOSED row, and six times the target volume that the scene sets, m^3. */
  enclosed: { body: number; row: number; rest: number }[];
  /** Treatment of surfaces that intersect from the start. */
  intersections: "untangle" | "hold";
  /** SI units. */
  interaction: {
    grabCompliance: number;
    grabMaxForce: number;
    grabRadius: number;
    grabSpeed: number;
    grabMaxStretch: number;
    maxImpulse: number;
    /** Bodies that one grab may hold at once. */
    together: number[];
  };
  /** Number of four-lane blocks by kind, including padded lanes: benchmarks divide by it. */
  blocks: Record<ElementKind, number>;
  colors: Record<ElementKind, number>;
}
