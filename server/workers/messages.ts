/**
 * All messages between threads. The main thread sends a task, and a worker answers it. Apart from that, threads share
 * only the memories in the tasks. A task's name is that of its function in `simWorker.ts` or `buildWorker.ts`.
 */
import type { MessagePort } from "node:worker_threads";
import type { Pin } from "../../shared/members/pin.ts";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import type { BodyTuning, Tuning, TuningLimits } from "../../shared/members/tuningLimits.ts";
import type { FoundInMesh } from "../sim/body/meshes.ts";
import type { BodyNote } from "../sim/scene/standIns.ts";
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
  /** int32, shared: counts posted messages and wakes the sleeping thread. */
  wake: Int32Array<SharedArrayBuffer>;
  /** StepsRunning.words, and this thread's number in it. */
  running: Int32Array<SharedArrayBuffer>;
  slot: number;
  /** ThreadWords.words */
  words: Int32Array<SharedArrayBuffer>;
}

/** A room's share of an overloaded thread. */
export interface Share {
  /** Rooms with the same account have a common share. */
  account: string;
  weight: number;
}

/** When a step may begin. Times are ms of the process clock (processClock.ts). */
export interface Turn {
  dueMs: number;
  /** The step must not begin at this time or later, because another process may have the room by then. */
  untilMs: number;
  periodMs: number;
  share: Share;
  /** Recent time of its ticks, s. */
  expectedSeconds: number;
  /** Number of finished ticks. */
  ticks: number;
}

/**
 * Orders from the main thread to a serving thread. Steps run at their time, all other orders in their order. They are
 * posted as lists.
 */
export type ThreadOrder =
  | { id: number; name: "step"; task: StepTask | ByKey<StepTask>; turn: Turn }
  | { id: number; name: "open" | "save" | "replay" | "inspect" | "help" | "collect"; task: unknown }
  /** Cancels the step of this number, if it has not begun. */
  | { id: number; name: "withdraw" };

export type ThreadAnswer =
  /** First answer of a thread: its threadId. */
  | { thread: number }
  /** A step has begun that other threads may help with. */
  | { id: number; begun: true }
  | { id: number; result: unknown }
  | { id: number; error: unknown }
  /** The step has not begun and will not: it was withdrawn, or its deadline passed. */
  | { id: number; dropped: true };

/** Start data of a building thread. */
export interface BuildThreadData {
  /** StepsRunning.words of the steps that have priority; undefined: the work does not wait. */
  steps: Int32Array<SharedArrayBuffer> | undefined;
}

/** Start data of a stepping thread. */
export interface SimThreadData {
  /** int32: counts requested garbage collections (reclaim.ts). */
  collections: Int32Array;
  /** ThreadWords.words of the replay thread; a thread that serves gets its own in the ServeTask. */
  words?: Int32Array<SharedArrayBuffer>;
}

/** Limits against which a room's inputs are checked before they reach the simulation. */
export interface RoomShape {
  /** Number of surface triangles of each body, or points of a cloud: the range of a grab's index. */
  triangles: number[];
  /** Spawnable bodies. At the start of a scene none of them is in it. */
  spawnable: number[];
  /** Bodies that one grab may pull together. */
  together: number[];
  /** Fields of each body that owners may change, with the scene's values. */
  tunable: BodyTuning[];
  /** Limits of these changes. */
  tuning: TuningLimits;
  /** Targets and cursors must be within this distance of the world's origin, m. */
  reach: number;
  /** Origin of targets and cursors in the world, m. */
  origin: [number, number, number];
  /** Largest impulse, N s. */
  maxImpulse: number;
}

/** `build`: builds a scene's template, once per version of the scene. */
export interface BuildTask {
  /** Absolute path of the scene file; for a stored scene, the path that its files would be relative to. */
  scenePath: string;
  /** Text of a stored scene. */
  text?: string;
  /** Shapes of the scene's objects (meshing/objectShape.ts), by id. */
  shapes?: ReadonlyMap<string, Uint8Array>;
  /** Memory of a `BuildProgress`. */
  progress?: SharedArrayBuffer;
  /** Limit of a room's memory, MB. */
  roomMemoryMb?: number;
}

/** `readObject`: converts a visitor's file into the stored form of an object. */
export interface ReadObjectTask {
  bytes: Uint8Array;
  /** File name: its ending tells the format, and messages quote it. */
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

/** Why a file is refused. It is an answer, because an error's own fields do not cross threads. */
export interface ObjectRefusal {
  refused: { code: string; message: string; where: string; value: string | number; limit: string; help: string };
}

/** Findings in an object's file. */
export interface ObjectAbout {
  /** Triangles of the surface, and of the picture. */
  triangles: number;
  drawnTriangles: number;
  materials: number;
  textures: number;
  /** Sides of its bounding box, in the file's unit. */
  box: [number, number, number];
  /** Ignored or repaired parts. */
  notes: { code: string; text: string }[];
}

export interface BuildResult {
  /** Pristine state at tick 0: copied for every room, never stepped. */
  template: WebAssembly.Memory;
  /** Filled ranges of the memory (memoryCopy.ts). */
  filled: Uint32Array;
  layout: WorldLayout;
  /** msgpack of the `Topology`, in shared memory so that every worker reads the same bytes. */
  topology: SharedArrayBuffer;
  /** SHA-256 (hex, first 32 digits) of the topology bytes. */
  topologyHash: string;
  /** State identity (stateIdentity.ts): a state that was saved with another one cannot be loaded. */
  identity: string;
  shape: RoomShape;
  /** Findings in the scene's meshes, and changes to its bodies. */
  found: (FoundInMesh | BodyNote)[];
  seconds: number;
}

/** `open`: copies a template into a room's own memory, and loads a saved state if given. */
export interface OpenTask {
  template: WebAssembly.Memory;
  /** Filled ranges of the template. */
  filled: Uint32Array;
  layout: WorldLayout;
  /** Bytes of sim/world/checkpoint.ts; absent: the scene's start. */
  state?: Uint8Array;
}

export interface OpenResult {
  memory: WebAssembly.Memory;
  /** The room's encoder state and busy flag; see `frameState.ts`. */
  frames: SharedArrayBuffer;
}

/** A room for any thread: handles to shared memory, which are cheap to post with every task. */
export interface RoomHandle {
  /** Unique in the process. A restored room gets a new key, so that no thread mistakes old state for new. */
  key: string;
  memory: WebAssembly.Memory;
  /** The initial content of `memory`: saved states contain only the differences. */
  template: WebAssembly.Memory;
  layout: WorldLayout;
  frames: SharedArrayBuffer;
  topology: SharedArrayBuffer;
  topologyHash: string;
}

/**
 * A room that the thread may already have open, by its key alone: posting a handle's memory and layout takes longer
 * than a light tick, and the engine counts the memory anew with each handle, so that it collects the thread's garbage
 * several times a second. A thread that does not know the key answers `UnknownRoom`, and then gets the handle.
 */
export interface KnownRoom {
  key: string;
}

/** The thread does not have this room open; nothing was done. */
export interface UnknownRoom {
  unknown: string;
}

/** `step`: one tick of one room. */
export interface StepTask {
  room: RoomHandle;
  /**
   * Due time, and time from which the step must not begin, ms on the main thread's performance.now(). Absent: due now,
   * no deadline.
   */
  dueMs?: number;
  untilMs?: number;
  /** Absent: an own account with weight 1. */
  share?: Share;
  /** The room's wire tick. */
  tick: number;
  inputs: Input[];
  /** A state was saved before this tick when it was first stepped, which affects it (sim/world/checkpoint.ts). */
  fresh?: boolean;
  /** `none`: not a send tick. `moving`: encode a delta if anything changed. `always`: encode a delta even if empty. */
  delta: "none" | "moving" | "always";
  /**
   * Also encode a keyframe, because a member joined or fell behind. The delta is then encoded even if it is empty, so
   * that all members have the same frame.
   */
  keyframe: boolean;
  /**
   * Also encode the complete positions, for members in simple mode. `moving`: if anything changed. `always`: because a
   * member does not have the last frame. Absent: no.
   */
  positions?: "moving" | "always";
  /** True: the answer has the touching pairs of bodies. */
  touching?: boolean;
  /** True: the answer has the state after this tick. */
  save?: boolean;
  /** True: the answer has the state hash. */
  hash?: boolean;
  /**
   * Set by the pool for a heavy room: other threads may help with this tick (`taskScheduler.ts`). Unique among the
   * room's ticks.
   */
  generation?: number;
}

/** A task for a thread that may have the room open. */
export type ByKey<Task extends { room: RoomHandle }> = Omit<Task, "room"> & { room: KnownRoom };

/** Parallel work in a tick: number of threads that worked on it, of chunks of work, and of chunks that helpers did. */
export interface SharedWork {
  threads: number;
  shared: number;
  helped: number;
}

/** `help`: works on another thread's `step` until it ends. Changes only the room's memory. */
export interface HelpTask {
  room: RoomHandle;
  /** Generation of the tick. */
  generation: number;
  /** This helper's row, unique among the room's helpers. */
  slot: number;
}

export interface EncodedMessage {
  kind: "keyframe" | "delta" | "positions";
  /** The complete socket message; its buffer is transferred. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Encoded frames of a tick; null: none. */
export interface Frames {
  /** Whether this frame differs from the one before. */
  moved: boolean;
  delta: EncodedMessage | null;
  keyframe: EncodedMessage | null;
  positions: EncodedMessage | null;
}

export const NO_FRAMES: Frames = { moved: false, delta: null, keyframe: null, positions: null };

export interface StepResult extends Frames {
  tick: number;
  /**
   * Time at which the thread began, ms: process time in the thread's answer, the main thread's performance.now() in the
   * pool's result.
   */
  startMs: number;
  seconds: StageSeconds;
  /** Time of the whole task in the worker: step and encoding. */
  wholeSeconds: number;
  /** The tick's work reached its limit: the next tick continues the same simulated time. */
  unfinished: boolean;
  methods: MethodSeconds[];
  errors: MethodError[];
  events: SimEvent[];
  /** Counts of contact work in this tick. */
  contact: ContactCounts;
  /** Touching pairs of bodies after the tick, if requested. */
  touching?: number[];
  work: SharedWork;
  saved: SavedState | null;
  /** Present if the task asked for it. */
  stateHash?: string;
}

/** A room's state between two ticks (sim/world/checkpoint.ts). */
export interface SavedState {
  tick: number;
  /** The array's buffer is transferred, not copied. */
  state: Uint8Array<ArrayBuffer>;
  stateHash: string;
  /** Duration of saving, which delays the next tick, s. */
  seconds: number;
}

/** `save`: saves the state of a paused room. */
export interface SaveTask {
  room: RoomHandle;
}

/** Inputs of one tick. `fresh`: a state was saved before it, which affects the tick (sim/world/checkpoint.ts). */
export interface TickRecord {
  tick: number;
  inputs: Input[];
  fresh: boolean;
}

/** A room's state hash after a tick. */
export interface TickHash {
  tick: number;
  stateHash: string;
}

/** `replay`: steps a room through recorded ticks again, without frames, for one slice of time. */
export interface ReplayTask {
  room: RoomHandle;
  /** All records between the room's tick and `until`, ascending. Ticks without a record have no inputs. */
  records: TickRecord[];
  /** Recorded hashes to compare, of the room's tick and of later ticks. */
  hashes?: TickHash[];
  until: number;
  /** True if a state was saved after the last tick, which affects the next one (sim/world/checkpoint.ts). */
  fresh: boolean;
  /** No tick begins after this time, ms, because other rooms wait for this thread. */
  sliceMs: number;
}

/** A room's facts (rooms/roomFacts.ts) as rows. */
export interface FactRows {
  tuning: Tuning;
  absent: number[];
  looks: [body: number, look: BodyLook][];
  pins: [pin: number, at: Pin][];
}

export interface ReplayResult {
  tick: number;
  ticks: number;
  /** Bodies that are held. */
  held: number[];
  facts: FactRows;
  stateHash: string;
  /** The first tick whose hash differs from the recorded one, with both hashes; null: none. */
  differs: (TickHash & { recorded: string }) | null;
}

/** `inspect`: returns the state between two ticks, for tests and developers. */
export interface InspectTask {
  room: RoomHandle;
}

export interface InspectResult {
  /** Wire tick of the positions. */
  tick: number;
  positions: Float32Array<ArrayBuffer>;
  /** int32[3*streamed] of the last frame, or null before the first. */
  quantized: Int32Array<ArrayBuffer> | null;
  /** Spawnable bodies that are not in the scene. */
  absent: number[];
  /** Wire tick of that frame, -1 before the first. */
  frameTick: number;
  stateHash: string;
  /** Origin of the positions in the world, m. */
  origin: [number, number, number];
}
