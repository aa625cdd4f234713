/**
 * The worlds that this thread has open. Opening one instantiates the kernel on the room's memory, so it is kept for the
 * room's next tick here. A room may have ended or moved to another thread, so worlds that were not used for a while are
 * forgotten.
 */
import { openWorld } from "../../sim/world.ts";
import { SchedulerWords } from "../../sim/threads/schedulerWords.ts";
import type { SimWorld } from "../../sim/world.ts";
import { createFrameModel, FrameEncoder, type FrameModel } from "./frameEncoder.ts";
import { FrameState } from "./frameState.ts";
import type { KnownRoom, RoomHandle } from "../messages.ts";

export interface OpenRoom {
  world: SimWorld;
  memory: WebAssembly.Memory;
  template: WebAssembly.Memory;
  words: SchedulerWords;
  state: FrameState;
  encoder: FrameEncoder;
  lastUsedMs: number;
}

/** Limits the memory of ended rooms that a thread keeps alive. */
const MAX_ROOMS = 1024;
const UNUSED_MS = 30_000;
const MAX_MODELS = 16;

const rooms = new Map<string, OpenRoom>();
const models = new Map<string, FrameModel>();

/** Returns the room's world on this thread; undefined: only its key is given and the world is not open here. */
export function findRoom(room: RoomHandle | KnownRoom): OpenRoom | undefined {
  return "memory" in room || rooms.has(room.key) ? openRoom(room as RoomHandle) : undefined;
}

/** Returns the room's world on this thread; opens it if necessary. */
export function openRoom(handle: RoomHandle): OpenRoom {
  const nowMs = performance.now();
  let room = rooms.get(handle.key);
  if (room) {
    // Insertion order is the order of use: the least recently used entry is first.
    rooms.delete(handle.key);
    room.lastUsedMs = nowMs;
  } else {
    room = {
      world: openWorld(handle.memory, handle.layout, handle.template),
      memory: handle.memory,
      template: handle.template,
      words: new SchedulerWords(handle.memory),
      state: new FrameState(handle.frames),
      encoder: new FrameEncoder(frameModel(handle)),
      lastUsedMs: nowMs,
    };
  }
  rooms.set(handle.key, room);
  for (const [key, other] of rooms) {
    if (rooms.size <= MAX_ROOMS && nowMs - other.lastUsedMs < UNUSED_MS) break;
    rooms.delete(key);
  }
  return room;
}

/** Forgets rooms that were not used for this long. */
export function forgetRooms(unusedMs: number): void {
  const nowMs = performance.now();
  for (const [key, { lastUsedMs }] of rooms) {
    if (nowMs - lastUsedMs < unusedMs) break;
    rooms.delete(key);
  }
}

function frameModel({ topology, topologyHash }: RoomHandle): FrameModel {
  const known = models.get(topologyHash);
  if (known) return known;
  const model = createFrameModel(topology);
  models.set(topologyHash, model);
  if (models.size > MAX_MODELS) models.delete(models.keys().next().value!);
  return model;
}
