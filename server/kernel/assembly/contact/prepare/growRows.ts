/**
 * Grows the memory of contact blocks for new rows before they get lanes. Lanes of edges are numbered from the end of
 * that memory, so all their numbers change.
 */
import * as L from "../../layout/layout";
import { edgeRowsBegin, vertexRowsEnd } from "./newRows";
import { leafPairRow } from "../detect/separatedPairs";
import { forgetPacked, NEXT_MASK, nextOf } from "./rows";
import { growLists, noteUsed } from "./listMemory";

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}

/** Makes room for the rows found since the front's scan began. */
export function growForRows(): void {
  const pairs = <usize>load<u32>(L.HEADER, L.H_PAIRS);
  const end = pairs + <usize>load<i32>(L.HEADER, L.H_PAIR_CAPACITY) * L.PAIR_BYTES;
  const vertices = <i32>((vertexRowsEnd() - pairs) / L.PAIR_BYTES);
  const edges = <i32>((end - edgeRowsBegin()) / L.PAIR_BYTES);
  noteUsed(L.LIST_ROWS, vertices + edges);
  const edgeBlocks = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const blocks = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) + edgeBlocks;
  const before = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  // free lanes are not counted
  const need = blocks + ((vertices + 3) >> 2) + ((edges + 3) >> 2);
  if (need <= before || !growLists(L.LIST_BLOCKS, need, edgeBlocks)) return;
  const after = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  forgetPacked();
  if (edgeBlocks) renumber((before - edgeBlocks) << 2, (after - before) << 2);
}

/** Adds `more` to the numbers of edge lanes from `first` on. */
function renumber(first: i32, more: i32): void {
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  const begin = capacity - load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS);
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) - 1; n >= 0; n--)
    moveEntry(leafPairRow(n) + L.LEAF_PAIR_LANES, first, more);
  moveEntry(front() + L.FRONT_FREE_EDGE, first, more);
  moveEntry(front() + L.FRONT_FREE_EDGE + L.FRONT_WAITING, first, more);
  for (let pair = 0; pair < vertices << 2; pair++) moveEntry(nextOf(pair), first, more);
  for (let pair = begin << 2; pair < capacity << 2; pair++) moveEntry(nextOf(pair), first, more);
  if (!load<i32>(front(), L.FRONT_CHAINED)) return;
  // entries of the response's chains: four times the lane's number, plus the corner, plus one
  moveEntries(<usize>load<u32>(L.HEADER, L.H_INCIDENT), load<i32>(L.HEADER, L.H_PARTICLES), first << 2, more << 2);
  const incidences = <usize>load<u32>(L.HEADER, L.H_INCIDENCES);
  moveEntries(incidences, vertices << 4, first << 2, more << 2);
  moveEntries(incidences + ((<usize>begin) << 6), (capacity - begin) << 4, first << 2, more << 2);
}

/** Shifts a word whose low part is a lane's number plus one, or 0. */
// @inline
function moveEntry(at: usize, first: i32, more: i32): void {
  const word = load<u32>(at);
  if (<i32>(word & NEXT_MASK) > first) store<u32>(at, word + <u32>more);
}

function moveEntries(at: usize, count: i32, first: i32, more: i32): void {
  for (let n = count; n > 0; n--, at += 4) {
    const entry = load<i32>(at);
    if (entry > first) store<i32>(at, entry + more);
  }
}
