/**
 * Reads from a Draco header how large the mesh will be, because the decoder's own memory cannot be limited. Source:
 * Draco bitstream specification 2.2 (Google), sections 4 (header), 5 (metadata), 7 (connectivity).
 */

const SEQUENTIAL = 0;
const EDGEBREAKER = 1;
const TRIANGULAR_MESH = 1;
const METADATA = 0x8000;
const MAX_METADATA_DEPTH = 8;

class Bytes {
  private at: number;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw new RangeError("the data ends");
    return this.bytes[this.at++]!;
  }

  /** LEB128. */
  varint(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.byte();
      value += (byte & 127) * shift;
      if (byte < 128) return value;
      if (shift > 2 ** 28) throw new RangeError("a number is too long");
    }
  }

  skip(count: number): void {
    this.at += count;
    if (this.at > this.bytes.length) throw new RangeError("the data ends");
  }
}

function skipMetadata(bytes: Bytes, depth: number): void {
  if (depth > MAX_METADATA_DEPTH) throw new RangeError("metadata is nested too deeply");
  for (let entries = bytes.varint(); entries > 0; entries--) {
    bytes.skip(bytes.byte());
    bytes.skip(bytes.varint());
  }
  for (let inner = bytes.varint(); inner > 0; inner--) {
    bytes.skip(bytes.byte());
    skipMetadata(bytes, depth + 1);
  }
}

/** @returns the declared number of faces, and the maximum number of points; undefined if it is not a Draco 2.2 mesh */
export function dracoCounts(data: Uint8Array): { points: number; faces: number } | undefined {
  if (data.length < 11 || String.fromCharCode(...data.subarray(0, 5)) !== "DRACO") return undefined;
  const [major, minor, type, method] = [data[5]!, data[6]!, data[7]!, data[8]!];
  if (major !== 2 || minor !== 2 || type !== TRIANGULAR_MESH) return undefined;
  const bytes = new Bytes(data, 11);
  try {
    if ((data[9]! + 256 * data[10]!) & METADATA) {
      for (let attributes = bytes.varint(); attributes > 0; attributes--) {
        bytes.varint();
        skipMetadata(bytes, 0);
      }
      skipMetadata(bytes, 0);
    }
    if (method === SEQUENTIAL) {
      const faces = bytes.varint();
      return { faces, points: bytes.varint() };
    }
    if (method !== EDGEBREAKER) return undefined;
    bytes.byte();
    bytes.varint();
    const faces = bytes.varint();
    // Vertices are encoded once; at seams of attributes, decoding creates a point for each corner.
    return { faces, points: 3 * faces };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
