/**
 * The list of pairs (pairs.ts) by several threads: chunks, of as many blocks each, of all the work in the order in
 * which one thread does it. A chunk writes where nobody else does, in pages that it takes from a common heap as it
 * fills them (pairPages.ts); which pages those are depends on who was first, what is in them and how many they are does
 * not. Joined in the chunks' order they are the list of one thread, bit for bit. Calls: beginChunks by one thread;
 * listChunk once for every chunk, by any threads in any order; joinChunks by one. All is published by the caller.
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
 * Trees to positions and trajectories, as for listPairs, which the chunks then read.
 * @returns how many chunks there are: the same as long as the room is
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
  // the row behind the last piece has the sum of all blocks
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

/** The piece that block `block` of all belongs to: the last that begins there or before. */
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
 * Fills H_PAIRS from what all chunks have listed: listPairs' list.
 * @returns rows, or -1 where they do not fit: then the list is empty
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
      // filled from its end, as the list is
      memory.copy(back, page + PAGE_BYTES - bytes, bytes);
    }
  }
  const vertexPairs = fits ? <i32>(front - pairs) / PAIR_BYTES : 0;
  const edgePairs = fits ? <i32>(end - back) / PAIR_BYTES : 0;
  store<i32>(HEADER, vertexPairs, H_VERTEX_PAIRS);
  store<i32>(HEADER, edgePairs, H_EDGE_PAIRS);
  return fits ? vertexPairs + edgePairs : -1;
}
