/**
 * Every message that crosses a thread, named. The main thread sends a task, a worker answers it; nothing else is
 * exchanged but the shared memories that the tasks carry. A task's name is the name of the function that `simWorker.ts`
 * exports for it, or `buildWorker.ts`.
 */
import type { MessagePort } from "node:worker_threads";
import type { BodyTuning, Tuning } from "../../shared/protocol/protocol.ts";
import type { TuningLimits } from "../../shared/tuning.ts";
import type { FoundInObject } from "../sim/body/objectMeshes.ts";
import type {
  ContactCounts,
  Input,
  MethodError,
  MethodSeconds,
  SimEvent,
  StageSeconds,
  WorldLayout,
} from "../sim/types.ts";

/** `serve`: the thread takes orders from this port until it ends (threadLoop.ts). */
export interface ServeTask {
  port: MessagePort;
  /** int32, shared: counts what was posted, so that a thread that sleeps wakes up. */
  wake: Int32Array<SharedArrayBuffer>;
  /** StepsRunning.words, and this thread's number there. */
  running: Int32Array<SharedArrayBuffer>;
  slot: number;
  /** ThreadWords.words */
  words: Int32Array<SharedArrayBuffer>;
}

/** The room's part of a thread that is too small for all. */
export interface Share {
  /** Rooms of one account have a part together. */
  account: string;
  weight: number;
}

/** When a step is to begin. Times are those of the process, ms (processClock.ts). */
export interface Turn {
  dueMs: number;
  /** It must not begin then or later: the room may be another process's. */
  untilMs: number;
  periodMs: number;
  share: Share;
  /** What its ticks have taken lately, s. */
  expectedSeconds: number;
  /** That have come to their end. */
  ticks: number;
}

/**
 * What the main thread asks of a thread that serves: steps at their time, everything else in the order in which it
 * came. They are posted as lists.
 */
export type ThreadOrder =
  | { id: number; name: "step"; task: StepTask | StepByKey; turn: Turn }
  | { id: number; name: "open" | "save" | "replay" | "inspect" | "help" | "collect"; task: unknown }
  /** The step of this number is not wanted any more, if it has not begun. */
  | { id: number; name: "withdraw" };

export type ThreadAnswer =
  /** The first of a thread: its threadId. */
  | { thread: number }
  /** A step that others may help with has begun. */
  | { id: number; begun: true }
  | { id: number; result: unknown }
  | { id: number; error: unknown }
  /** The step has not begun and will not: it was withdrawn, or its time was over. */
  | { id: number; dropped: true };

/** What a thread that builds is given when it begins. */
export interface BuildThreadData {
  /** StepsRunning.words of what goes first, if its work can wait. */
  steps: Int32Array<SharedArrayBuffer> | undefined;
}

/** What a thread that steps rooms is given when it begins. */
export interface SimThreadData {
  /** int32: counts the collections that threads were asked for (reclaim.ts). */
  collections: Int32Array;
  /** ThreadWords.words of a thread that does not serve. */
  words?: Int32Array<SharedArrayBuffer>;
}

/** What a room's inputs are checked against before they reach the simulation. */
export interface RoomShape {
  /** Surface triangles of each body, of a cloud its points: what a hand may name. */
  triangles: number[];
  /** Numbers of the bodies that may wait; when a scene starts they all do. */
  waiting: number[];
  /** Numbers of the bodies that one hand may pull at once. */
  together: number[];
  /** What owners may change of each body, with the scene's values. */
  tunable: BodyTuning[];
  /** Within these limits. */
  tuning: TuningLimits;
  /** Targets and cursors lie within this distance of the world's origin, m. */
  reach: number;
  /** Where in the world targets and cursors are measured from, m. */
  origin: [number, number, number];
  /** N s */
  maxImpulse: number;
}

/** `build`: makes a scene's template, once per version of the scene. */
export interface BuildTask {
  /** Absolute path of the scene file; of a scene that is no file, of what its files would be relative to. */
  scenePath: string;
  /** What the scene says, where it is no file. */
  text?: string;
  /** Shapes of the objects that it names (meshing/objectShape.ts), by id. */
  shapes?: ReadonlyMap<string, Uint8Array>;
  /** Of a `BuildProgress`. */
  progress?: SharedArrayBuffer;
  /** What memory of its rooms grows to at most, MB. */
  roomMemoryMb?: number;
}

/** `readObject`: makes of a file that somebody brought along what is kept of it. */
export interface ReadObjectTask {
  bytes: Uint8Array;
  /** For its ending, and for sentences. */
  name: string;
  /** Shared: the thread writes its processor time, ms, into it when it begins (workDeadline.ts). */
  beganMs?: Float64Array;
}

export interface ReadObjectResult {
  /** SHA-256 (hex) of shape and picture. */
  id: string;
  shape: Uint8Array;
  /** GLB */
  picture: Uint8Array;
  about: ObjectAbout;
  seconds: number;
}

/** Why a file is refused: an error's own fields do not cross a thread, so this is an answer. */
export interface ObjectRefusal {
  refused: {
    code: string;
    message: string;
    where: string;
    value: string | number;
    limit: string;
    help: string;
  };
}

/** What was found in an object's file. */
export interface ObjectAbout {
  /** Of the surface, and of what is drawn. */
  triangles: number;
  drawnTriangles: number;
  materials: number;
  textures: number;
  /** Sides of the box around it, in the file's unit. */
  box: [number, number, number];
  /** What was ignored or mended. */
  notes: { code: string; text: string }[];
}

export interface BuildResult {
  /** Pristine state at tick 0: copied for every room, never stepped. */
  template: WebAssembly.Memory;
  /** Where in it there is something (memoryCopy.ts). */
  filled: Uint32Array;
  layout: WorldLayout;
  /** msgpack of the `Topology`, in shared memory so that every worker reads the same bytes. */
  topology: SharedArrayBuffer;
  /** SHA-256 (hex, first 32 digits) of the topology bytes. */
  topologyHash: string;
  /**
   * Names all that gives the bits of a state their meaning (identity.ts): one that was saved under another name cannot
   * be loaded.
   */
  identity: string;
  shape: RoomShape;
  /** Of the objects that the scene names. */
  found: FoundInObject[];
  seconds: number;
}

/** `open`: copies a template into a room's own memory, and puts a saved state into it if there is one. */
export interface OpenTask {
  template: WebAssembly.Memory;
  /** Of the template. */
  filled: Uint32Array;
  layout: WorldLayout;
  /** Of sim/checkpoint.ts; absent: as the scene starts. */
  state?: Uint8Array;
}

export interface OpenResult {
  memory: WebAssembly.Memory;
  /** The room's encoder state and busy flag; see `frameState.ts`. */
  frames: SharedArrayBuffer;
}

/** What any thread needs to work on a room. A handful of handles to shared memory: cheap to post with every task. */
export interface RoomHandle {
  /** Unique over the life of the process; a restored room gets a new one, so no thread mistakes old state for new. */
  key: string;
  memory: WebAssembly.Memory;
  /** What `memory` began as: saved states hold what has changed. */
  template: WebAssembly.Memory;
  layout: WorldLayout;
  frames: SharedArrayBuffer;
  topology: SharedArrayBuffer;
  topologyHash: string;
}

/**
 * A room that the thread may have open already, by its key alone: a handle's memory and layout take longer to post than
 * a light tick's share of a core. A thread that does not know it answers `UnknownRoom`, and gets the handle.
 */
export interface KnownRoom {
  key: string;
}

/** The thread has not opened this room, or not lately; nothing has been done. */
export interface UnknownRoom {
  unknown: string;
}

/** `step`: one tick of one room. */
export interface StepTask {
  room: RoomHandle;
  /**
   * When it is due, and from when on it must not begin, ms on the main thread's performance.now(); absent: now, never.
   */
  dueMs?: number;
  untilMs?: number;
  /** Absent: a whole one of its own. */
  share?: Share;
  /** The room's tick number on the wire. */
  tick: number;
  inputs: Input[];
  /** A state was taken before this tick when it was stepped first, which left its mark (sim/checkpoint.ts). */
  fresh?: boolean;
  /** `none`: not a send tick. `moving`: a delta if anything changed. `always`: a delta even if it is empty. */
  delta: "none" | "moving" | "always";
  /**
   * Also a keyframe of this tick's frame: somebody joined, or fell behind. The delta is then encoded even if it is
   * empty, so that
   * everybody stands on the same frame. */
  keyframe: boolean;
  /**
   * Also the whole frame as it is, for members in simple mode. `moving`: if anything changed. `always`: somebody has
   * not got the last one. Absent: no.
   */
  positions?: "moving" | "always";
  /** Also which bodies touch. */
  touching?: boolean;
  /** Also the state as this tick leaves it. */
  save?: boolean;
  /** Also its hash. */
  hash?: boolean;
  /**
   * Set by the pool for a heavy room: others may help with this tick (`taskScheduler.ts`); a number that no tick of the
   * room had before it.
   */
  generation?: number;
}

/** The same for a thread that may know the room. */
export type StepByKey = Omit<StepTask, "room"> & { room: KnownRoom };

/**
 * What several threads did in a tick: threads that worked on it, chunks of work that were up to be claimed, and those
 * of them that helpers did.
 */
export interface SharedWork {
  threads: number;
  shared: number;
  helped: number;
}

/** `help`: a part of another task's `step`, for as long as it lasts. Changes nothing but the room's memory. */
export interface HelpTask {
  room: RoomHandle;
  /** The tick's own. */
  generation: number;
  /** This helper's row, no other helper's of the room. */
  slot: number;
}

export interface EncodedMessage {
  kind: "keyframe" | "delta" | "positions";
  /** The whole socket message, envelope and all; its buffer is transferred. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** What a tick has for the members' pictures; null: nothing. */
export interface Frames {
  /** Is this frame another than the one before? */
  moved: boolean;
  delta: EncodedMessage | null;
  keyframe: EncodedMessage | null;
  positions: EncodedMessage | null;
}

export const NO_FRAMES: Frames = { moved: false, delta: null, keyframe: null, positions: null };

export interface StepResult extends Frames {
  tick: number;
  /**
   * When the thread began with it, ms; process time in the thread's answer, the main thread's performance.now() in what
   * the pool gives.
   */
  startMs: number;
  seconds: StageSeconds;
  /** The task from start to end in the worker: step and encode. */
  wholeSeconds: number;
  /** The tick's work reached its limit: the next tick goes on with the same simulated time. */
  unfinished: boolean;
  methods: MethodSeconds[];
  errors: MethodError[];
  events: SimEvent[];
  /** What contact did in this tick. */
  contact: ContactCounts;
  /** Pairs of bodies that touch after it, if that was asked for. */
  touching?: number[];
  work: SharedWork;
  saved: SavedState | null;
  /** If it was asked for. */
  stateHash?: string;
}

/** A room's state between two ticks (sim/checkpoint.ts). */
export interface SavedState {
  tick: number;
  /** Its buffer is transferred. */
  state: Uint8Array<ArrayBuffer>;
  stateHash: string;
  /** What the tick after waited for. */
  seconds: number;
}

/** `save`: the state between two ticks, of a room that stands still. */
export interface SaveTask {
  room: RoomHandle;
}

/** What went into one tick. `fresh`: a state was saved before it, which leaves its mark (sim/checkpoint.ts). */
export interface TickRecord {
  tick: number;
  inputs: Input[];
  fresh: boolean;
}

/** What a room's state was after a tick. */
export interface TickHash {
  tick: number;
  stateHash: string;
}

/** `replay`: steps a room again through what is known of its ticks, without frames, for as long as a slice lasts. */
export interface ReplayTask {
  room: RoomHandle;
  /** All of them between the room's tick and `until` in which something happened, ascending. */
  records: TickRecord[];
  /** To be compared: of the room's tick and of ticks after it. */
  hashes?: TickHash[];
  until: number;
  /** A state was saved after the last of them. */
  fresh: boolean;
  /** No further tick begins after so long, ms: others wait for this thread. */
  sliceMs: number;
}

export interface ReplayResult {
  tick: number;
  ticks: number;
  /** Bodies that are held, and that wait, by number. */
  held: number[];
  waiting: number[];
  tuning: Tuning;
  stateHash: string;
  /** The first tick after which the state was not what `hashes` says, and what it was; null: none. */
  differs: (TickHash & { recorded: string }) | null;
}

/** `inspect`: what tests and developers ask for; between two ticks. */
export interface InspectTask {
  room: RoomHandle;
}

export interface InspectResult {
  /** Wire tick of the positions. */
  tick: number;
  positions: Float32Array<ArrayBuffer>;
  /** int32[3*streamed] of the last frame, or null before the first. */
  quantized: Int32Array<ArrayBuffer> | null;
  /** Numbers of the bodies that wait. */
  waiting: number[];
  /** Wire tick of that frame, -1 before the first. */
  frameTick: number;
  stateHash: string;
  /** Where in the world positions are measured from, m. */
  origin: [number, number, number];
}
