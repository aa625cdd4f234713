/**
 * Encodes a room's stored data: msgpack behind a checksum (checksummed.ts).
 *
 *     checkpoint  [FORMAT, tick, stateHash, zstd state, members]
 *     segment     [FORMAT, after, until, [[tick, fresh, [input, ...]], ...], [[tick, stateHash], ...], members or null]
 *     members     [FORMAT, members]
 */
import { decode, encode } from "@msgpack/msgpack";
import type { Input } from "../sim/types.ts";
import type { TickRecord } from "../workers/messages.ts";
import type { Checkpoint } from "./history.ts";
import { DamagedError, withChecksum, verifyChecksum } from "./checksummed.ts";

const FORMAT = 1;

/** The room's members: result of `Members.records`, input of `Members.restore`. */
export type MemberRecords = unknown;

export interface StoredCheckpoint {
  checkpoint: Checkpoint;
  members: MemberRecords;
}

export interface Segment {
  after: number;
  until: number;
  records: TickRecord[];
  hashes: { tick: number; stateHash: string }[];
  /**
   * null: unchanged since the segment or checkpoint before. New segments always have null: members are stored apart.
   */
  members: MemberRecords;
}

export function encodeCheckpoint({ checkpoint, members }: StoredCheckpoint): Uint8Array {
  return withChecksum(encode([FORMAT, checkpoint.tick, checkpoint.stateHash, checkpoint.packed, members]));
}

/** @throws DamagedError */
export function decodeCheckpoint(bytes: Uint8Array): StoredCheckpoint {
  const [tick, stateHash, packed, members] = open(bytes) as [number, string, Uint8Array | null, MemberRecords];
  return { checkpoint: { tick, stateHash, packed }, members };
}

export function encodeSegment({ after, until, records, hashes, members }: Segment): Uint8Array {
  return withChecksum(
    encode([
      FORMAT,
      after,
      until,
      records.map(({ tick, fresh, inputs }) => [tick, fresh, inputs]),
      hashes.map(({ tick, stateHash }) => [tick, stateHash]),
      members,
    ]),
  );
}

/** @throws DamagedError */
export function decodeSegment(bytes: Uint8Array): Segment {
  const [after, until, records, hashes, members] = open(bytes) as [
    number,
    number,
    [number, boolean, Input[]][],
    [number, string][],
    MemberRecords,
  ];
  return {
    after,
    until,
    members,
    records: records.map(([tick, fresh, inputs]) => ({ tick, fresh, inputs })),
    hashes: hashes.map(([tick, stateHash]) => ({ tick, stateHash })),
  };
}

export function encodeMembers(members: MemberRecords): Uint8Array {
  return withChecksum(encode([FORMAT, members]));
}

/** @throws DamagedError */
export function decodeMembers(bytes: Uint8Array): MemberRecords {
  return open(bytes)[0];
}

/** @throws DamagedError */
function open(checksummed: Uint8Array): unknown[] {
  const [format, ...fields] = decode(verifyChecksum(checksummed)) as unknown[];
  if (format !== FORMAT) throw new DamagedError(`format is ${String(format)}, but this program reads ${FORMAT}`);
  return fields;
}
