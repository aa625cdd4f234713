/**
 * Bytes behind their checksum, because what a disk gives back is not always what it was given: u32 CRC-32 of the rest,
 * big-endian, then the rest.
 */
import { crc32 } from "node:zlib";

const CHECKSUM_BYTES = 4;

/** The bytes are not what was written. */
export class DamagedError extends Error {}

export function withChecksum(content: Uint8Array): Uint8Array {
  const checksummed = new Uint8Array(CHECKSUM_BYTES + content.byteLength);
  new DataView(checksummed.buffer).setUint32(0, crc32(content));
  checksummed.set(content, CHECKSUM_BYTES);
  return checksummed;
}

/** @throws DamagedError */
export function verifyChecksum(checksummed: Uint8Array): Uint8Array {
  if (checksummed.byteLength <= CHECKSUM_BYTES)
    throw new DamagedError(`there are ${checksummed.byteLength} bytes, but ${CHECKSUM_BYTES} are the checksum alone`);
  const stated = new DataView(checksummed.buffer, checksummed.byteOffset).getUint32(0);
  const content = checksummed.subarray(CHECKSUM_BYTES);
  const found = crc32(content);
  if (stated !== found) throw new DamagedError(`checksum is ${found}, but ${stated} was written`);
  return content;
}
