/**
 * Plans memory for listing all pairs at once (kernel/assembly/broadPhase/pairs.ts), as tests and a benchmark do; rooms
 * do not. It holds the list's rows and, for several threads (pairChunks.ts), the chunks of work and pages for their
 * results. If the rows fit into the list, they fit into the pages: a chunk leaves less than one page of each kind
 * unfilled (vertex-triangle pairs, edge pairs).
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "./map.ts";
import { type Meets, SOLID, type SurfaceSource, uniqueEdges } from "./surfaces.ts";

/** Blocks of four vertices or edges in a chunk: about 0.1 ms on a cloth that lies folded on itself. */
const BLOCKS = 64;
/**
 * Rows of the list per surface particle, with a minimum for scenes of few particles. If two layers lie vertex on
 * vertex, each particle has 6 triangles and as many edges as these, both ways: 20 pairs. 64 are enough for a crumpled
 * layer between two others.
 */
const PAIRS_PER_PARTICLE = 64;
const LEAST_PAIRS = 4096;
/** Enough chunks to keep more threads busy than a room can have, whatever the chunks cost; their pages take 3 MB. */
const MOST_CHUNKS = 1024;

/**
 * @param meets called for a <= b
 * @returns a function that writes the memory later
 */
export function planPairList(
  sources: readonly SurfaceSource[],
  meets: Meets,
  allocator: Allocator,
): (buffer: ArrayBufferLike) => void {
  const capacity = PAIRS_PER_PARTICLE * sources.reduce((n, s) => n + s.count, 0) + LEAST_PAIRS;
  const pairs = allocator.take(capacity * L.PAIR_BYTES);
  const writeChunks = planChunks(sources, meets, capacity, allocator);
  return (buffer) => {
    new Int32Array(buffer).set([pairs, capacity], (L.HEADER + L.H_PAIRS) / 4);
    writeChunks(buffer);
  };
}

function planChunks(
  sources: readonly SurfaceSource[],
  filter: Meets,
  pairs: number,
  allocator: Allocator,
): (buffer: ArrayBufferLike) => void {
  const surfaces = sources.map(({ count, edges, triangles }) => ({
    vertexBlocks: Math.ceil(count / 4),
    edgeBlocks: Math.ceil((edges ?? uniqueEdges(triangles)).length / 8),
  }));
  const ofCollider = (n: number): boolean => sources[n]!.solid === SOLID.collider;
  const meets: Meets = (a, b) =>
    (a === b ? sources[a]!.touchesItself : filter(a, b)) && !(ofCollider(a) && ofCollider(b));
  const pieces: number[] = [];
  let blocks = 0;
  const add = (a: number, b: number, edges: boolean): void => {
    pieces.push(blocks, a, b, edges ? 1 : 0);
    blocks += edges ? surfaces[a]!.edgeBlocks : surfaces[a]!.vertexBlocks;
  };
  for (let a = 0; a < surfaces.length; a++) {
    for (let b = a; b < surfaces.length; b++) {
      if (!meets(a, b)) continue;
      add(a, b, false);
      if (a !== b) add(b, a, false);
      add(a, b, true);
    }
  }
  pieces.push(blocks, 0, 0, 0); // end of the table
  const size = Math.max(BLOCKS, Math.ceil(blocks / MOST_CHUNKS));
  const count = Math.ceil(blocks / size);
  const pages = Math.ceil(pairs / L.PAGE_CAPACITY) + 2 * count;
  const row = allocator.take(L.CHUNKS_BYTES);
  const table = allocator.take(4 * pieces.length);
  const rows = allocator.take(count * L.CHUNK_BYTES);
  const heap = allocator.take(pages * L.PAGE_BYTES);
  return (buffer) => {
    const i32 = new Int32Array(buffer);
    i32[(L.HEADER + L.H_CHUNKS) / 4] = row;
    i32.set(pieces, table / 4);
    for (const [offset, value] of [
      [L.CHUNKS_PIECES, table],
      [L.CHUNKS_PIECE_COUNT, pieces.length / 4 - 1],
      [L.CHUNKS_BLOCKS, size],
      [L.CHUNKS_COUNT, count],
      [L.CHUNKS_ROWS, rows],
      [L.CHUNKS_PAGES, heap],
      [L.CHUNKS_PAGE_COUNT, pages],
    ] as const)
      i32[(row + offset) / 4] = value;
  };
}
