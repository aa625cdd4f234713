/** Bytes behind their checksum, because what a disk gives back is not always what it was given: u32 CRC-32 of the rest, big-endian, then the rest. */
import { crc32 } from "node:zlib";

const CHECKSUM_BYTES = 4;

/** The bytes are not what was written. */
export class DamagedError extends Error {}

export function seal(content: Uint8Array): Uint8Array {
  const sealed = new Uint8Array(CHECKSUM_BYTES + content.byteLength);
  new DataView(sealed.buffer).setUint32(0, crc32(content));
  sealed.set(content, CHECKSUM_BYTES);
  return sealed;
}

/** @throws DamagedError */
export function unseal(sealed: Uint8Array): Uint8Array {
  if (sealed.byteLength <= CHECKSUM_BYTES) throw new DamagedError(`there are ${sealed.byteLength} bytes, but ${CHECKSUM_BYTES} are the checksum alone`);
  const stated = new DataView(sealed.buffer, sealed.byteOffset).getUint32(0), content = sealed.subarray(CHECKSUM_BYTES), found = crc32(content);
  if (stated !== found) throw new DamagedError(`checksum is ${found}, but ${stated} was written`);
  return content;
}
