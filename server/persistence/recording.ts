/**
 * A room's last minutes as one file: a state, every input since, hashes along the way, and the scene. Whoever has the
 * same program and the scene's meshes steps it again to the same bits (`npm run replay`), which makes it a bug report.
 * There is nothing of the members in it but their numbers.
 *
 *     behind a checksum (checksummed.ts) msgpack of a map {format, room, scene, sceneText, identity, topology, tickHz,
 *     from, until, states, records, hashes, recordedAt}
 */
import { decode, encode } from "@msgpack/msgpack";
import type { TickRecord } from "../workers/messages.ts";
import type { Checkpoint, RoomHistory } from "./history.ts";
import { DamagedError, withChecksum, verifyChecksum } from "./checksummed.ts";

export const RECORDING_FORMAT = "pliant-room-1";

export interface RoomRecording {
  format: typeof RECORDING_FORMAT;
  room: string;
  /** Id of the scene, and its file as it was. */
  scene: string;
  sceneText: string;
  /** What can step it to the same bits (workers/identity.ts). */
  identity: string;
  topology: string;
  tickHz: number;
  /** Ticks: from the state at `from` to `until`. */
  from: number;
  until: number;
  /** Ascending, the first at `from`; null: as the scene starts. */
  states: Checkpoint[];
  records: TickRecord[];
  hashes: { tick: number; stateHash: string }[];
  /** ISO 8601. */
  recordedAt: string;
}

export class RecordingError extends Error {}

/** What is said of a recording beside its history. */
export type About = Pick<
  RoomRecording,
  "room" | "scene" | "sceneText" | "identity" | "topology" | "tickHz" | "recordedAt"
>;

/** @param seconds how far back at least, if the history reaches so far; default: all of it */
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

/** @throws RecordingError: what is wrong with the bytes */
export function decodeRecording(bytes: Uint8Array): RoomRecording {
  let recording: RoomRecording;
  try {
    recording = decode(verifyChecksum(bytes)) as RoomRecording;
  } catch (error) {
    if (error instanceof DamagedError)
      throw new RecordingError(`${error.message}: the file is damaged, or no recording of a room`);
    throw new RecordingError("not one msgpack value");
  }
  if (recording?.format !== RECORDING_FORMAT)
    throw new RecordingError(
      `format is ${JSON.stringify(recording?.format ?? null)}, but this program reads ${JSON.stringify(RECORDING_FORMAT)}`,
    );
  checkShape(recording);
  return recording;
}

/** A checksum says that the bytes are as they were written, not by whom. */
function checkShape(recording: RoomRecording): void {
  const wrong = (field: string, limit: string): never => {
    throw new RecordingError(`${field} is not ${limit}`);
  };
  const isTick = (tick: unknown): tick is number => Number.isSafeInteger(tick) && (tick as number) >= 0;
  for (const field of ["room", "scene", "sceneText", "identity", "topology", "recordedAt"] as const)
    if (typeof recording[field] !== "string") wrong(field, "a string");
  const { tickHz, from, until, states, records, hashes } = recording;
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
