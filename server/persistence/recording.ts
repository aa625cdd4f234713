/**
 * A room's last minutes as one file: a state, every input since, state hashes, the scene, and the shapes of its
 * objects. With the same program and the scene's other meshes it replays to the same bits (`npm run replay`), so it
 * serves as a bug report. It contains the members' numbers, but no other data of them.
 *
 *     behind a checksum (checksummed.ts) msgpack of a map {format, room, scene, sceneText, identity, topology, tickHz,
 *     from, until, states, records, hashes, recordedAt, missing?, objects?, memoryMb?}
 */
import { crc32 } from "node:zlib";
import { decode, encode } from "@msgpack/msgpack";
import type { TickRecord } from "../workers/messages.ts";
import type { Checkpoint, RoomHistory } from "./history.ts";
import { DamagedError, withChecksum, verifyChecksum } from "./checksummed.ts";

export const RECORDING_FORMAT = "pliant-room-1";

export interface RoomRecording {
  format: typeof RECORDING_FORMAT;
  room: string;
  /** Id of the scene, and its file at the time. */
  scene: string;
  sceneText: string;
  /** State identity that replays it to the same bits (workers/stateIdentity.ts). */
  identity: string;
  topology: string;
  tickHz: number;
  /** First tick, which has a state, and last tick. */
  from: number;
  until: number;
  /** Ascending, the first at tick `from`; null: the scene's start. */
  states: Checkpoint[];
  records: TickRecord[];
  hashes: { tick: number; stateHash: string }[];
  /** ISO 8601. */
  recordedAt: string;
  /**
   * Parts that could not be included, each with the reason; absent: complete. Without its scene, `sceneText` or
   * `topology` is empty and `tickHz` is the default; with the scene from elsewhere the recording can still be replayed.
   */
  missing?: string[];
  /** Shapes of the scene's objects (meshing/objectShape.ts), if it has any. */
  objects?: { id: string; shape: Uint8Array }[];
  /** Limit of the room's memory, MiB; absent: the default of the replaying program. */
  memoryMb?: number;
}

export class RecordingError extends Error {}

/** Converts a scene's objects for a recording; returns no field if there are none. */
export const recordedObjects = (shapes: ReadonlyMap<string, Uint8Array>): Pick<RoomRecording, "objects"> =>
  shapes.size === 0 ? {} : { objects: [...shapes].map(([id, shape]) => ({ id, shape })) };

/** Fields of a recording beside its history. */
export type About = Pick<
  RoomRecording,
  | "room"
  | "scene"
  | "sceneText"
  | "identity"
  | "topology"
  | "tickHz"
  | "recordedAt"
  | "missing"
  | "objects"
  | "memoryMb"
>;

/** @param seconds least length, if the history reaches so far back; default: the whole history */
export function recordingOf(history: RoomHistory, about: About, seconds = Infinity): RoomRecording {
  const until = history.tick;
  const wanted = until - seconds * about.tickHz;
  const from = (history.states.findLast(({ tick }) => tick <= wanted) ?? history.states[0]!).tick;
  return {
    format: RECORDING_FORMAT,
    ...about,
    from,
    until,
    states: history.states.filter(({ tick }) => tick >= from),
    records: history.records(from),
    hashes: history.hashes.filter(({ tick }) => tick > from),
  };
}

export function encodeRecording(recording: RoomRecording): Uint8Array {
  return withChecksum(encode(recording));
}

/** Number of ticks or hashes that are encoded without a pause. */
const BATCH = 256;
/** Number of bytes after which the main thread handles other work. */
const PAUSE_BYTES = 256 * 1024;

/** Yields `encode(recording)` in pieces of at most a state's size, so that none blocks the main thread for long. */
function* partsOf(recording: RoomRecording): Generator<Uint8Array, void, void> {
  const fields = Object.entries(recording);
  if (fields.length > MOST_FIXMAP) throw new Error("a recording has more fields than a msgpack fixmap");
  yield Uint8Array.of(FIXMAP | fields.length);
  for (const [name, value] of fields as [string, unknown][]) {
    yield encode(name);
    if (!Array.isArray(value)) {
      yield encode(value);
      continue;
    }
    yield arrayHead(value.length);
    const batch = name === "states" || name === "objects" ? 1 : BATCH;
    for (let at = 0; at < value.length; at += batch)
      yield Buffer.concat(value.slice(at, at + batch).map((item) => encode(item)));
  }
}

/** msgpack heads: a map of up to 15 fields; arrays with the shortest form of their length. */
const FIXMAP = 0x80;
const MOST_FIXMAP = 15;
const FIXARRAY = 0x90;
const MOST_FIXARRAY = 15;
const ARRAY_16 = 0xdc;
const MOST_ARRAY_16 = 0xffff;
const ARRAY_32 = 0xdd;

function arrayHead(length: number): Uint8Array {
  if (length <= MOST_FIXARRAY) return Uint8Array.of(FIXARRAY | length);
  const wide = length > MOST_ARRAY_16;
  const head = Buffer.alloc(wide ? 5 : 3);
  head[0] = wide ? ARRAY_32 : ARRAY_16;
  if (wide) head.writeUInt32BE(length, 1);
  else head.writeUInt16BE(length, 1);
  return head;
}

/**
 * Yields the bytes of `encodeRecording` piece by piece. It encodes twice, because the checksum comes first, so that the
 * whole file is never in memory.
 * @param signal ends it before the next piece
 */
export async function* recordingStream(
  recording: RoomRecording,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let checksum = 0;
  let since = 0;
  const pause = async (bytes: number): Promise<void> => {
    since += bytes;
    if (since < PAUSE_BYTES) return;
    since = 0;
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (const part of partsOf(recording)) {
    checksum = crc32(part, checksum);
    await pause(part.byteLength);
    if (signal.aborted) return;
  }
  const head = Buffer.alloc(4);
  head.writeUInt32BE(checksum);
  yield head;
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for (const part of partsOf(recording)) {
    waiting.push(part);
    bytes += part.byteLength;
    await pause(part.byteLength);
    if (signal.aborted) return;
    if (bytes < SENT_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Least size of a yielded piece, bytes: small fields are joined. */
const SENT_BYTES = 64 * 1024;

/** @throws RecordingError that describes the defect */
export function decodeRecording(bytes: Uint8Array): RoomRecording {
  let recording: RoomRecording;
  try {
    recording = decode(verifyChecksum(bytes)) as RoomRecording;
  } catch (error) {
    if (error instanceof DamagedError)
      throw new RecordingError(`${error.message}: the file is damaged, or not a recording of a room`);
    throw new RecordingError("not one msgpack value");
  }
  if (recording?.format !== RECORDING_FORMAT)
    throw new RecordingError(
      `format is ${JSON.stringify(recording?.format ?? null)}, but this program reads ${JSON.stringify(RECORDING_FORMAT)}`,
    );
  checkShape(recording);
  return recording;
}

/** Checks the fields: the checksum proves that the bytes are undamaged, but not who wrote them. */
function checkShape(recording: RoomRecording): void {
  const wrong = (field: string, limit: string): never => {
    throw new RecordingError(`${field} is not ${limit}`);
  };
  const isTick = (tick: unknown): tick is number => Number.isSafeInteger(tick) && (tick as number) >= 0;
  for (const field of ["room", "scene", "sceneText", "identity", "topology", "recordedAt"] as const)
    if (typeof recording[field] !== "string") wrong(field, "a string");
  const { tickHz, from, until, states, records, hashes, missing, objects, memoryMb } = recording;
  if (memoryMb !== undefined && !(memoryMb > 0 && memoryMb < 2048)) wrong("memoryMb", "a number above 0, below 2048");
  if (missing !== undefined && !(Array.isArray(missing) && missing.every((what) => typeof what === "string")))
    wrong("missing", "a list of strings");
  const isObject = (one: { id?: unknown; shape?: unknown } | null): boolean =>
    typeof one?.id === "string" && one.shape instanceof Uint8Array;
  if (objects !== undefined && !(Array.isArray(objects) && objects.every(isObject)))
    wrong("objects", "a list of ids and shapes");
  if (!(typeof tickHz === "number" && tickHz > 0 && tickHz <= 10_000)) wrong("tickHz", "a number above 0, up to 10000");
  if (!isTick(from)) wrong("from", "a tick");
  if (!isTick(until) || until < from) wrong("until", "a tick after from");
  const ascends = (list: unknown, field: string): void => {
    if (!Array.isArray(list)) return wrong(field, "a list");
    let last = from - 1;
    list.forEach((item: { tick?: unknown }, i) => {
      if (!isTick(item?.tick) || item.tick <= last || item.tick > until)
        wrong(`${field}[${i}].tick`, `a tick after ${last}, up to ${until}`);
      last = item.tick as number;
    });
  };
  ascends(states, "states");
  ascends(records, "records");
  ascends(hashes, "hashes");
  if (states[0]?.tick !== from) wrong("states[0].tick", `${from}`);
  states.forEach((state, i) => {
    if (!(state.packed instanceof Uint8Array || (state.packed === null && state.tick === 0)))
      wrong(`states[${i}].packed`, "bytes");
    if (typeof state.stateHash !== "string") wrong(`states[${i}].stateHash`, "a string");
  });
  records.forEach((record, i) => {
    if (!Array.isArray(record.inputs)) wrong(`records[${i}].inputs`, "a list");
    if (typeof record.fresh !== "boolean") wrong(`records[${i}].fresh`, "true or false");
  });
}
