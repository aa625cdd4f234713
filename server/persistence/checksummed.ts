/** Adds a checksum to bytes, to detect damage on disk: u32 CRC-32 of the content, big-endian, then the content. */
import { crc32 } from "node:zlib";

const CHECKSUM_BYTES = 4;

/** The bytes are not the ones that were written. */
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
    throw new DamagedError(`only ${checksummed.byteLength} bytes, but the checksum alone takes ${CHECKSUM_BYTES}`);
  const stated = new DataView(checksummed.buffer, checksummed.byteOffset).getUint32(0);
  const content = checksummed.subarray(CHECKSUM_BYTES);
  const found = crc32(content);
  if (stated !== found) throw new DamagedError(`checksum is ${found}, but ${stated} was written`);
  return content;
}
