/** Numbers the edges of triangles: open addressing, so that millions of triangles take milliseconds and no objects. */
import { yieldPoint } from "../../../shared/yieldPoint.ts";

/** The next half-edge in its triangle. Half-edge h starts at corner h of the triangle list. */
export const next = (h: number): number => (h % 3 === 2 ? h - 2 : h + 1);

/**
 * @param triangles uint32[3m]
 * @returns uint32[3m] edge of each half-edge, whatever its direction, in the order of the first half-edges; and these
 */
export function numberEdges(triangles: Uint32Array): { edgeOf: Uint32Array; first: number[] } {
  const edgeOf = new Uint32Array(triangles.length);
  let capacity = 16;
  while (capacity < 2 * triangles.length) capacity *= 2;
  const slots = new Int32Array(capacity).fill(-1);
  const first: number[] = [];
  for (let h = 0; h < triangles.length; h++) {
    yieldPoint();
    const [a, b] = [triangles[h]!, triangles[next(h)]!];
    const [low, high] = [Math.min(a, b), Math.max(a, b)];
    let hash = Math.imul(low, 0x85ebca6b) ^ Math.imul(high, 0xc2b2ae35);
    hash ^= hash >>> 15;
    let slot = (Math.imul(hash, 0x27d4eb2f) >>> 0) & (capacity - 1);
    for (;;) {
      const edge = slots[slot]!;
      if (edge < 0) {
        slots[slot] = edgeOf[h] = first.length;
        first.push(h);
        break;
      }
      const [p, q] = [triangles[first[edge]!]!, triangles[next(first[edge]!)]!];
      if (Math.min(p, q) === low && Math.max(p, q) === high) {
        edgeOf[h] = edge;
        break;
      }
      slot = (slot + 1) & (capacity - 1);
    }
  }
  return { edgeOf, first };
}

/** Sets of vertices that grow together; the least vertex is the root of its set. */
export class VertexSets {
  readonly #parent: Uint32Array;

  constructor(count: number) {
    this.#parent = Uint32Array.from({ length: count }, (_, v) => v);
  }

  root(v: number): number {
    const parent = this.#parent;
    while (parent[v] !== v) v = parent[v] = parent[parent[v]!]!;
    return v;
  }

  /** @returns whether they were in two sets */
  join(a: number, b: number): boolean {
    const [p, q] = [this.root(a), this.root(b)];
    this.#parent[Math.max(p, q)] = Math.min(p, q);
    return p !== q;
  }
}
