/**
 * The pair list (pairs.ts) by several threads. Chunks have equal numbers of blocks, in the order in which one thread
 * would work. A chunk writes to its own pages, taken from a common heap as it fills them (pairPages.ts). The threads'
 * timing decides which pages a chunk gets, but not their contents or number. Joined in the order of the chunks they are
 * bitwise the list of one thread. Calls: beginChunks by one thread; listChunk once for every chunk, by any threads in
 * any order; joinChunks by one. The caller publishes all data.
 */
import {
  HEADER,
  H_CHUNKS,
  H_PAIRS,
  H_PAIR_CAPACITY,
  H_VERTEX_PAIRS,
  H_EDGE_PAIRS,
  CHUNKS_PIECES,
  CHUNKS_PIECE_COUNT,
  CHUNKS_BLOCKS,
  CHUNKS_COUNT,
  CHUNKS_ROWS,
  CHUNKS_POSITIONS,
  CHUNKS_TRAJECTORIES,
  CHUNK_VERTEX_PAGES,
  CHUNK_EDGE_PAGES,
  CHUNK_BYTES,
  PAGE_NEXT,
  PAGE_ROWS,
  PAGE_AT,
  PAGE_BYTES,
  PAIR_BYTES,
  PIECE_FIRST,
  PIECE_A,
  PIECE_B,
  PIECE_EDGES,
  PIECE_BYTES,
} from "../layout/layout";
import { closePages, openPages, turnSurfaces } from "./pairList";
import { emptyHeap, heapWasEnough } from "./pairPages";
import { listEdges, listVertices, openPair, refitTrees } from "./pairs";

// @inline
function chunks(): usize {
  return <usize>load<u32>(HEADER, H_CHUNKS);
}
// @inline
function chunkRow(n: i32): usize {
  return <usize>load<u32>(chunks(), CHUNKS_ROWS) + <usize>n * CHUNK_BYTES;
}

/**
 * Refits trees to positions and trajectories, as for listPairs; the chunks then read them.
 * @returns number of chunks, constant in a room
 */
export function beginChunks(positions: usize, trajectories: usize): i32 {
  const all = chunks();
  refitTrees(positions, trajectories);
  emptyHeap();
  store<u32>(all, <u32>positions, CHUNKS_POSITIONS);
  store<u32>(all, <u32>trajectories, CHUNKS_TRAJECTORIES);
  return load<i32>(all, CHUNKS_COUNT);
}

/** Lists one chunk, 0 <= chunk < beginChunks(). */
export function listChunk(chunk: i32): void {
  const all = chunks();
  const row = chunkRow(chunk);
  const positions = <usize>load<u32>(all, CHUNKS_POSITIONS);
  const trajectories = <usize>load<u32>(all, CHUNKS_TRAJECTORIES);
  const size = load<i32>(all, CHUNKS_BLOCKS);
  const pieces = <usize>load<u32>(all, CHUNKS_PIECES);
  const last = pieces + <usize>load<i32>(all, CHUNKS_PIECE_COUNT) * PIECE_BYTES;
  // the row after the last piece has the number of all blocks
  const begin = chunk * size;
  const end = min<i32>(begin + size, load<i32>(last, PIECE_FIRST));
  openPages(positions, trajectories);
  let a = -1;
  let b = -1;
  let open = false;
  for (
    let piece = pieceOf(pieces, last, begin);
    piece < last && load<i32>(piece, PIECE_FIRST) < end;
    piece += PIECE_BYTES
  ) {
    const own = load<i32>(piece, PIECE_A);
    const other = load<i32>(piece, PIECE_B);
    const first = load<i32>(piece, PIECE_FIRST);
    const low = min<i32>(own, other);
    const high = max<i32>(own, other);
    if (low !== a || high !== b) {
      a = low;
      b = high;
      open = openPair(a, b, positions, trajectories);
    }
    if (!open) continue;
    const from = max<i32>(begin, first) - first;
    const to = min<i32>(end, load<i32>(piece + PIECE_BYTES, PIECE_FIRST)) - first;
    turnSurfaces(own, other);
    if (load<i32>(piece, PIECE_EDGES)) listEdges(own, other, from, to);
    else listVertices(own, other, from, to);
  }
  closePages(row);
}

/** Returns the piece that contains block number `block`: the last one that begins there or before. */
function pieceOf(pieces: usize, last: usize, block: i32): usize {
  let low: i32 = 0;
  let high = <i32>((last - pieces) / PIECE_BYTES);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (load<i32>(pieces + <usize>middle * PIECE_BYTES, PIECE_FIRST) <= block) low = middle;
    else high = middle;
  }
  return pieces + <usize>low * PIECE_BYTES;
}

/**
 * Fills H_PAIRS from the lists of all chunks: the same list as listPairs.
 * @returns number of rows, or -1 if they do not fit: then the list is empty
 */
export function joinChunks(): i32 {
  const count = load<i32>(chunks(), CHUNKS_COUNT);
  const pairs = <usize>load<u32>(HEADER, H_PAIRS);
  const end = pairs + <usize>load<i32>(HEADER, H_PAIR_CAPACITY) * PAIR_BYTES;
  let front = pairs;
  let back = end;
  let fits = heapWasEnough();
  for (let n = 0; n < count && fits; n++) {
    for (
      let page = <usize>load<u32>(chunkRow(n), CHUNK_VERTEX_PAGES);
      page && fits;
      page = <usize>load<u32>(page, PAGE_NEXT)
    ) {
      const bytes = <usize>load<i32>(page, PAGE_ROWS) * PAIR_BYTES;
      fits = front + bytes <= back;
      if (!fits) break;
      memory.copy(front, page + PAGE_AT, bytes);
      front += bytes;
    }
    for (
      let page = <usize>load<u32>(chunkRow(n), CHUNK_EDGE_PAGES);
      page && fits;
      page = <usize>load<u32>(page, PAGE_NEXT)
    ) {
      const bytes = <usize>load<i32>(page, PAGE_ROWS) * PAIR_BYTES;
      fits = front + bytes <= back;
      if (!fits) break;
      back -= bytes;
      // filled from its end, like the list
      memory.copy(back, page + PAGE_BYTES - bytes, bytes);
    }
  }
  const vertexPairs = fits ? <i32>(front - pairs) / PAIR_BYTES : 0;
  const edgePairs = fits ? <i32>(end - back) / PAIR_BYTES : 0;
  store<i32>(HEADER, vertexPairs, H_VERTEX_PAIRS);
  store<i32>(HEADER, edgePairs, H_EDGE_PAIRS);
  return fits ? vertexPairs + edgePairs : -1;
}
