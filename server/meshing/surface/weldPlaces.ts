/** Merges vertices at the same position: seams of texture and normals are not cuts of the surface. */
import { yieldPoint } from "../../../shared/yieldPoint.ts";

/**
 * Numbers positions in the order of their first vertices. Positions are equal if their bits are (0 and -0 count as
 * equal).
 * @param positions float32[3n] or float64[3n]
 * @returns uint32[n] position number of each vertex, and the first vertex of each position
 */
export function weldPlaces(positions: Float32Array | Float64Array): { places: Uint32Array; first: number[] } {
  const total = positions.length / 3;
  const places = new Uint32Array(total);
  const plain = positions.map((x: number) => x + 0);
  const bits = new Uint32Array(plain.buffer);
  const words = bits.length / total;
  let capacity = 16;
  while (capacity < 2 * total) capacity *= 2;
  const slots = new Int32Array(capacity).fill(-1);
  const first: number[] = [];
  for (let v = 0; v < total; v++) {
    yieldPoint();
    let slot = mixed(bits, words * v, words) & (capacity - 1);
    for (;;) {
      const place = slots[slot]!;
      if (place < 0) {
        slots[slot] = first.length;
        places[v] = first.length;
        first.push(v);
        break;
      }
      if (same(bits, words * v, words * first[place]!, words)) {
        places[v] = place;
        break;
      }
      slot = (slot + 1) & (capacity - 1);
    }
  }
  return { places, first };
}

const same = (bits: Uint32Array, a: number, b: number, words: number): boolean => {
  for (let w = 0; w < words; w++) if (bits[a + w] !== bits[b + w]) return false;
  return true;
};

/** Hash of words (the finalizer of MurmurHash3, A. Appleby, public domain, after a sum with odd factors). */
function mixed(bits: Uint32Array, at: number, words: number): number {
  let h = 0;
  for (let w = 0; w < words; w++) h = Math.imul(h, 0x27d4eb2f) ^ Math.imul(bits[at + w]!, 0x85ebca6b);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
