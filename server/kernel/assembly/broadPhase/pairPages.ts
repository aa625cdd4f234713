/**
 * Heap of pages for the chunks of the pair list (pairChunks.ts). Any thread takes pages one by one; all are given back
 * at once.
 */
import {
  HEADER,
  H_CHUNKS,
  CHUNKS_PAGES,
  CHUNKS_PAGE_COUNT,
  CHUNKS_TAKEN,
  PAGE_BYTES,
  PAGE_NEXT,
  PAGE_ROWS,
} from "../layout/layout";

// @inline
function chunks(): usize {
  return <usize>load<u32>(HEADER, H_CHUNKS);
}

export function emptyHeap(): void {
  atomic.store<i32>(chunks(), 0, CHUNKS_TAKEN);
}

/**
 * Returns whether all requested pages existed. A thread without a page stops asking, so the result depends on the
 * number of pages that all chunks need, not on their order.
 */
export function heapWasEnough(): bool {
  return atomic.load<i32>(chunks(), CHUNKS_TAKEN) <= load<i32>(chunks(), CHUNKS_PAGE_COUNT);
}

/** @returns address of an empty page, 0 if none is left */
export function takePage(): usize {
  const n = atomic.add<i32>(chunks(), 1, CHUNKS_TAKEN);
  if (n >= load<i32>(chunks(), CHUNKS_PAGE_COUNT)) return 0;
  const page = <usize>load<u32>(chunks(), CHUNKS_PAGES) + <usize>n * PAGE_BYTES;
  store<u32>(page, 0, PAGE_NEXT);
  store<i32>(page, 0, PAGE_ROWS);
  return page;
}
