/** A valid recording, and a helper that puts a matching checksum before any content. */
import { crc32 } from "node:zlib";
import { RECORDING_FORMAT, type RoomRecording } from "../../server/persistence/recording.ts";

export const whole: RoomRecording = {
  format: RECORDING_FORMAT,
  room: "room",
  scene: "cube",
  sceneText: "{}",
  identity: "i",
  topology: "t",
  tickHz: 60,
  from: 60,
  until: 180,
  recordedAt: "2026-01-01T00:00:00.000Z",
  states: [
    { tick: 60, packed: new Uint8Array([1, 2, 3]), stateHash: "a" },
    { tick: 120, packed: new Uint8Array([4, 5]), stateHash: "b" },
  ],
  records: [
    { tick: 61, fresh: false, inputs: [{ type: "reset", member: 1 }] },
    { tick: 100, fresh: true, inputs: [] },
  ],
  hashes: [
    { tick: 120, stateHash: "b" },
    { tick: 180, stateHash: "c" },
  ],
};

/** Adds a matching checksum, as an attacker would. */
export function sealed(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4 + content.byteLength);
  new DataView(bytes.buffer).setUint32(0, crc32(content));
  bytes.set(content, 4);
  return bytes;
}
