/**
 * What the store holds of a room, as bytes: msgpack behind a checksum, because what a disk gives back is not always what it was given.
 *
 *     u32 CRC-32 of the rest, then msgpack
 *     checkpoint  [FORMAT, tick, stateHash, zstd state, members]
 *     segment     [FORMAT, after, until, [[tick, fresh, [input, ...]], ...], [[tick, stateHash], ...], members or null]
 */
import { crc32 } from "node:zlib";
import { decode, encode } from "@msgpack/msgpack";
import type { Input } from "../sim/types.ts";
import type { TickRecord } from "../workers/messages.ts";
import type { KeptState } from "./history.ts";

const FORMAT = 1;
const CHECKSUM_BYTES = 4;

/** Who was in the room: what `Members.records` gave, for `Members.restore`. */
export type MemberRecords = unknown;

export interface StoredCheckpoint {
  kept: KeptState;
  members: MemberRecords;
}

export interface Segment {
  after: number;
  until: number;
  records: TickRecord[];
  hashes: { tick: number; stateHash: string }[];
  /** null: as in the segment or checkpoint before. */
  members: MemberRecords;
}

/** The bytes are not what was written. */
export class DamagedError extends Error {}

export function encodeCheckpoint({ kept, members }: StoredCheckpoint): Uint8Array {
  return seal(encode([FORMAT, kept.tick, kept.stateHash, kept.packed, members]));
}

/** @throws DamagedError */
export function decodeCheckpoint(bytes: Uint8Array): StoredCheckpoint {
  const [tick, stateHash, packed, members] = open(bytes, "checkpoint") as [number, string, Uint8Array | null, MemberRecords];
  return { kept: { tick, stateHash, packed }, members };
}

export function encodeSegment({ after, until, records, hashes, members }: Segment): Uint8Array {
  return seal(encode([FORMAT, after, until, records.map(({ tick, fresh, inputs }) => [tick, fresh, inputs]), hashes.map(({ tick, stateHash }) => [tick, stateHash]), members]));
}

/** @throws DamagedError */
export function decodeSegment(bytes: Uint8Array): Segment {
  const [after, until, records, hashes, members] = open(bytes, "journal") as [number, number, [number, boolean, Input[]][], [number, string][], MemberRecords];
  return {
    after, until, members,
    records: records.map(([tick, fresh, inputs]) => ({ tick, fresh, inputs })),
    hashes: hashes.map(([tick, stateHash]) => ({ tick, stateHash })),
  };
}

function seal(content: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(CHECKSUM_BYTES + content.byteLength);
  new DataView(sealed.buffer).setUint32(0, crc32(content));
  sealed.set(content, CHECKSUM_BYTES);
  return sealed;
}

function open(sealed: Uint8Array, what: string): unknown[] {
  if (sealed.byteLength <= CHECKSUM_BYTES) throw new DamagedError(`${what}: ${sealed.byteLength} bytes`);
  const stated = new DataView(sealed.buffer, sealed.byteOffset).getUint32(0), content = sealed.subarray(CHECKSUM_BYTES), found = crc32(content);
  if (stated !== found) throw new DamagedError(`${what}: checksum ${found}, but ${stated} was written`);
  const fields = decode(content) as unknown[];
  if (fields[0] !== FORMAT) throw new DamagedError(`${what}: format ${String(fields[0])}, but this program reads ${FORMAT}`);
  return fields.slice(1);
}
