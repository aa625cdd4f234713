/**
 * Thread entry of all stepping threads: one exported function for each task of `messages.ts`. Piscina calls them by
 * name, one at a time. For a thread that serves rooms it calls only `serve`, which takes all other orders
 * (threadLoop.ts). The code that builds scenes is not loaded here (buildWorker.ts), so that a thread that replaces a
 * lost one starts quickly.
 */
import { threadId, workerData } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";
import { forgetList, loadState, saveState } from "../../sim/world/checkpoint.ts";
import type { SimLayout } from "../../sim/world/worldLayout.ts";
import type { ContactCounts } from "../../sim/types.ts";
import { FrameState } from "./frameState.ts";
import { type Done, type StepHooks, ThreadLoop } from "./threadLoop.ts";
import { copyMemory } from "./memoryCopy.ts";
import {
  type ByKey,
  type HelpTask,
  type InspectResult,
  type InspectTask,
  NO_FRAMES,
  type OpenResult,
  type OpenTask,
  type ReplayResult,
  type ReplayTask,
  type SavedState,
  type SaveTask,
  type ServeTask,
  type SharedWork,
  type SimThreadData,
  type StepResult,
  type StepTask,
  type UnknownRoom,
} from "../messages.ts";
import { toProcessMs } from "../processClock.ts";
import { collectGarbage } from "./reclaim.ts";
import { ThreadWords } from "./threadWords.ts";
import { findRoom, forgetRooms, type OpenRoom, openRoom } from "./roomCache.ts";

/**
 * A collection forgets rooms that were not stepped for this time, ms. Opening such a room again takes a millisecond.
 */
const FORGOTTEN_MS = 3000;
/** Absent in tests that run tasks without the pool. */
const { collections, words } = (workerData as SimThreadData | undefined) ?? {};
/** Progress of the tasks that run outside `serve`: replays. */
const own = new ThreadWords(words);
let collected = 0;

function collect(): void {
  forgetRooms(FORGOTTEN_MS);
  collectGarbage();
}

/** For a thread that takes no orders: collects garbage if requested since the last call. */
function collectIfAsked(): void {
  if (!collections) return;
  const asked = Atomics.load(collections, 0);
  if (asked === collected) return;
  collected = asked;
  collect();
}

/** Moves buffers to the main thread instead of copying them. Piscina takes one object or a list of them. */
function transfer<T extends object>(value: T, buffers: ArrayBuffer[]): T {
  return buffers.length > 0 ? (move({ [transferableSymbol]: buffers, [valueSymbol]: value }) as T) : value;
}

/** Takes orders from its own port until the thread ends. */
export function serve(task: ServeTask): Promise<never> {
  const others = {
    open: (order: OpenTask): Done => ({ result: open(order), transfer: [] }),
    save: (order: SaveTask): Done => saved(saveBetween(order)),
    replay: (order: ReplayTask, preempt: StepHooks["preempt"]): Done => ({
      result: runReplay(order, preempt),
      transfer: [],
    }),
    inspect: (order: InspectTask): Done => ({ result: inspect(order), transfer: [] }),
    help: (order: HelpTask | ByKey<HelpTask>, preempt: StepHooks["preempt"]): Done => ({
      result: help(order, preempt),
      transfer: [],
    }),
    collect: (): Done => ({ result: collect(), transfer: [] }),
  };
  const loop = new ThreadLoop(task, {
    step: (order, hooks) => {
      const result = runStep(order, hooks);
      return { result, transfer: "unknown" in result ? [] : buffersOf(result) };
    },
    other: (name, order, preempt) => others[name](order as never, preempt),
  });
  return loop.run();
}

const saved = (result: SavedState): Done => ({ result, transfer: [result.state.buffer] });

const buffersOf = ({ delta, keyframe, positions, saved: state }: StepResult): ArrayBuffer[] =>
  [delta?.bytes, keyframe?.bytes, positions?.bytes, state?.state].flatMap((bytes) =>
    bytes ? [bytes.buffer as ArrayBuffer] : [],
  );

/** Copies a template into a room's own memory. @throws CheckpointError */
export function open({ template, filled, layout, state }: OpenTask): OpenResult {
  const memory = copyMemory(template, filled);
  if (state) loadState(memory, layout as unknown as SimLayout, state);
  return { memory, frames: FrameState.allocate(layout.streamedParticles) };
}

/** Differences of counters, which are 32 bits wide and wrap around. */
function since(before: ContactCounts, after: ContactCounts): ContactCounts {
  const by = (what: keyof ContactCounts): number => (after[what] - before[what]) >>> 0;
  return {
    lists: by("lists"),
    checks: by("checks"),
    impulses: by("impulses"),
    zones: by("zones"),
    stops: by("stops"),
    full: by("full"),
  };
}

/** Preemption hook of a thread that is not in `serve`: it only counts progress. */
function advance(): number {
  own.advance();
  return 0;
}

/** Runs work on a thread that is not in `serve`. */
function alone<T>(work: () => T): T {
  own.execute(1);
  try {
    return work();
  } finally {
    own.execute(0);
  }
}

/** `runStep` as a task of its own, for a thread that is not in `serve`. */
export function step(task: StepTask | ByKey<StepTask>): StepResult | UnknownRoom {
  collectIfAsked();
  const result = alone(() => runStep(task, { begun: () => {}, preempt: advance }));
  return "unknown" in result ? result : transfer(result, buffersOf(result));
}

/**
 * Runs one tick: inputs, step, encoding. An exception leaves the busy flag set, which marks the room's memory as torn.
 * Seconds are the room's own, without other rooms' ticks in its middle.
 */
function runStep(task: StepTask | ByKey<StepTask>, hooks: StepHooks): StepResult | UnknownRoom {
  const startMs = performance.now();
  // Set the flag before anything can fail: a room that cannot even be opened here must count as torn, not as a room
  // that found no thread.
  if ("frames" in task.room) new FrameState(task.room.frames).enter(threadId);
  const room = findRoom(task.room);
  if (!room) return { unknown: task.room.key };
  const { world, state, encoder } = room;
  if (!("frames" in task.room)) state.enter(threadId);
  if (task.fresh) forgetList(room.memory);
  const before = world.contactCounts();
  const { seconds, events, work, othersSeconds } = stepWorld(room, task, hooks);
  const contact = since(before, world.contactCounts());
  const encodeStartMs = performance.now();
  const frames = task.delta === "none" && !task.keyframe ? NO_FRAMES : encoder.encode(world, state, task);
  const endMs = performance.now();
  const wholeSeconds = (endMs - startMs) / 1000 - othersSeconds;
  const encode = (endMs - encodeStartMs) / 1000;
  const staged = Object.values(seconds).reduce((sum, s) => sum + s, 0);
  state.tick = task.tick;
  const saved = task.save ? saveRoom(room) : null;
  state.leave();
  return {
    tick: task.tick,
    startMs: toProcessMs(startMs),
    saved,
    ...(task.hash && { stateHash: saved?.stateHash ?? world.stateHash() }),
    seconds: { ...seconds, encode, other: Math.max(0, wholeSeconds - encode - staged) },
    wholeSeconds,
    unfinished: world.isUnfinished,
    methods: world.takeMethodSeconds(),
    errors: world.methodErrors(),
    events,
    contact,
    ...(task.touching && { touching: world.touching() }),
    work,
    ...frames,
  };
}

const ALONE: SharedWork = { threads: 1, shared: 0, helped: 0 };

/** Runs the simulation's part of a tick, alone or with helper threads. */
function stepWorld(
  { world, words }: OpenRoom,
  { inputs, generation }: StepTask | ByKey<StepTask>,
  { begun, preempt }: StepHooks,
): ReturnType<OpenRoom["world"]["step"]> & { work: SharedWork; othersSeconds: number } {
  let othersSeconds = 0;
  world.helpers = generation !== undefined;
  world.preempt = () => {
    const seconds = preempt();
    othersSeconds += seconds;
    return seconds;
  };
  try {
    if (generation === undefined) return { ...world.step(inputs), work: ALONE, othersSeconds };
    words.open(generation);
    begun();
    return { ...world.step(inputs), work: words.lastTick(), othersSeconds };
  } finally {
    world.preempt = undefined;
    // Close at once: helpers look for work until then, and encoding takes a while.
    if (generation !== undefined) words.close();
  }
}

function saveRoom({ world, memory, template }: OpenRoom): SavedState {
  const startMs = performance.now();
  const state = saveState(memory, template, world.layout);
  return { tick: world.tickNumber, state, stateHash: world.stateHash(), seconds: (performance.now() - startMs) / 1000 };
}

/** Saves the state between two ticks. As in a step, an exception leaves the busy flag set. */
function saveBetween({ room: handle }: SaveTask): SavedState {
  const room = openRoom(handle);
  room.state.enter(threadId);
  const taken = saveRoom(room);
  room.state.leave();
  return taken;
}

/** `saveBetween` as a task of its own, for a thread that is not in `serve`. */
export function save(task: SaveTask): SavedState {
  const taken = saveBetween(task);
  return transfer(taken, [taken.state.buffer]);
}

/** `runReplay` as a task of its own, for a thread that is not in `serve`. */
export const replay = (task: ReplayTask): ReplayResult => alone(() => runReplay(task, advance));

/** Steps recorded ticks again, without frames. */
function runReplay(
  { room: handle, records, hashes = [], until, fresh, sliceMs }: ReplayTask,
  preempt: StepHooks["preempt"],
): ReplayResult {
  const room = openRoom(handle);
  const { world, state } = room;
  const startMs = performance.now();
  const known = new Map(records.map((record) => [record.tick, record]));
  const recorded = new Map(hashes.map(({ tick, stateHash }) => [tick, stateHash]));
  let differs: ReplayResult["differs"] = null;
  const compare = (): void => {
    const wanted = recorded.get(world.tickNumber);
    if (wanted === undefined || differs) return;
    const stateHash = world.stateHash();
    if (stateHash !== wanted) differs = { tick: world.tickNumber, stateHash, recorded: wanted };
  };
  const from = world.tickNumber;
  compare();
  let othersMs = 0;
  world.preempt = () => {
    const seconds = preempt();
    othersMs += 1000 * seconds;
    return seconds;
  };
  while (world.tickNumber < until && performance.now() - startMs - othersMs < sliceMs) {
    const record = known.get(world.tickNumber + 1);
    state.enter(threadId);
    if (record?.fresh) forgetList(room.memory);
    world.step(record?.inputs ?? []);
    state.tick = world.tickNumber;
    state.leave();
    compare();
  }
  world.preempt = undefined;
  if (fresh && world.tickNumber === until) forgetList(room.memory);
  const numbers = (flags: Uint8Array): number[] => [...flags].flatMap((flag, b) => (flag ? [b] : []));
  return {
    tick: world.tickNumber,
    ticks: world.tickNumber - from,
    held: numbers(world.held()),
    facts: { tuning: world.tuning(), absent: numbers(world.absent()), looks: world.looks(), pins: world.pins() },
    stateHash: world.stateHash(),
    differs,
  };
}

/** Helps with a tick that another thread leads. @returns number of finished chunks */
export function help(
  { room, generation, slot }: HelpTask | ByKey<HelpTask>,
  preempt: StepHooks["preempt"] = advance,
): number | UnknownRoom {
  const open = findRoom(room);
  if (!open) return { unknown: room.key };
  const { world } = open;
  world.preempt = preempt;
  try {
    return world.help(generation, slot);
  } finally {
    world.preempt = undefined;
  }
}

/** Returns the state between two ticks. */
export function inspect({ room }: InspectTask): InspectResult {
  const { world, state } = openRoom(room);
  const positions = new Float32Array(3 * world.layout.streamedParticles);
  world.readStreamed(positions);
  return {
    tick: state.tick,
    positions,
    quantized: state.frameTick < 0 ? null : new Int32Array(state.frame),
    absent: [...world.absent()].flatMap((absent, b) => (absent ? [b] : [])),
    frameTick: state.frameTick,
    stateHash: world.stateHash(),
    origin: world.layout.origin,
  };
}
