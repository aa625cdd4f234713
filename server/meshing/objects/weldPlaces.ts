/** Merges vertices at the same position: seams of texture and normals are not cuts of the surface. */
import { yieldPoint } from "../../../shared/yieldPoint.ts";

/**
 * Numbers positions in the order of their first vertices. Positions are equal if their float32 values are (0 and -0
 * count as equal).
 * @param positions float32[3n]
 * @returns uint32[n] position number of each vertex, and the number of positions
 */
export function weldPlaces(positions: Float32Array): { places: Uint32Array; count: number } {
  const total = positions.length / 3;
  const places = new Uint32Array(total);
  const plain = Float32Array.from(positions, (x) => x + 0);
  const bits = new Uint32Array(plain.buffer);
  let capacity = 16;
  while (capacity < 2 * total) capacity *= 2;
  const slots = new Int32Array(capacity).fill(-1);
  const first: number[] = [];
  for (let v = 0; v < total; v++) {
    yieldPoint();
    const [a, b, c] = [bits[3 * v]!, bits[3 * v + 1]!, bits[3 * v + 2]!];
    let slot = mixed(a, b, c) & (capacity - 1);
    for (;;) {
      const place = slots[slot]!;
      if (place < 0) {
        slots[slot] = first.length;
        places[v] = first.length;
        first.push(v);
        break;
      }
      const w = 3 * first[place]!;
      if (bits[w] === a && bits[w + 1] === b && bits[w + 2] === c) {
        places[v] = place;
        break;
      }
      slot = (slot + 1) & (capacity - 1);
    }
  }
  return { places, count: first.length };
}

/** Hash of three words (the finalizer of MurmurHash3, A. Appleby, public domain). */
function mixed(a: number, b: number, c: number): number {
  let h = Math.imul(a, 0x85ebca6b) ^ Math.imul(b, 0xc2b2ae35) ^ Math.imul(c, 0x27d4eb2f);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
