/**
 * The heap of pages that chunks of the list of pairs write to (pairChunks.ts): taken one by one, by any thread, and all
 * given back at once.
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
 * Was there a page for everyone who asked? Who is refused stops asking, so this depends on the pages that all chunks
 * together need, not on their order.
 */
export function heapWasEnough(): bool {
  return atomic.load<i32>(chunks(), CHUNKS_TAKEN) <= load<i32>(chunks(), CHUNKS_PAGE_COUNT);
}

/** @returns an empty page's address, 0: there is none left */
export function takePage(): usize {
  const n = atomic.add<i32>(chunks(), 1, CHUNKS_TAKEN);
  if (n >= load<i32>(chunks(), CHUNKS_PAGE_COUNT)) return 0;
  const page = <usize>load<u32>(chunks(), CHUNKS_PAGES) + <usize>n * PAGE_BYTES;
  store<u32>(page, 0, PAGE_NEXT);
  store<i32>(page, 0, PAGE_ROWS);
  return page;
}
