/**
 * Compacts rows of the bvtt front (rows.ts). Free lanes lie among the used ones, and every pass over all blocks pays
 * for them: after a hundred bodies had fallen, 3,400 rows lay in 11,259 blocks. Serial, at the start of a tick, when
 * only the chains of LEAF_PAIR rows refer to lane numbers.
 */
import * as L from "../../layout/layout";
import { nearBits, putNearBits, quietOf } from "./blockStatus";
import { laneOf } from "../verify/contactPair";
import { leafPairRow } from "../detect/separatedPairs";
import { endChains, forgetPacked, giveBack, NEXT_MASK, nextOf } from "./rows";

/** Fewer blocks are not compacted. */
const LEAST = 64;
/** Rows are compacted when less than this part of the lanes is used. */
const FILLED: f32 = 0.625;

// @inline
function front(): usize {
  return <usize>load<u32>(L.HEADER, L.H_FRONT);
}
/** Address of a lane's new number plus one, 0: it has not moved. Uses the memory of the response's chains. */
// @inline
function movedTo(pair: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_INCIDENCES) + ((<usize>pair) << 2);
}
// @inline
function isFree(pair: i32): bool {
  return load<i32>(laneOf(pair)) === load<i32>(L.HEADER, L.H_DUMMIES);
}

function countRows(begin: i32, end: i32): i32 {
  let count = 0;
  for (let pair = begin << 2; pair < end << 2; pair++) if (!isFree(pair)) count++;
  return count;
}

/** Moves a row into a free lane. */
function move(from: i32, to: i32): void {
  const a = laneOf(from);
  const b = laneOf(to);
  for (let row: usize = 0; row < <usize>L.CONTACT_BLOCK_BYTES; row += 16) store<i32>(b + row, load<i32>(a + row));
  putNearBits(to, nearBits(from));
  store<i32>(quietOf(to >> 2), 0);
  store<i32>(nextOf(to), load<i32>(nextOf(from)));
  store<i32>(movedTo(from), to + 1);
  giveBack(from);
}

/** Moves rows from the far end of the lanes into free lanes at the near end. */
function closeUp(near: i32, far: i32): void {
  const step = near < far ? 1 : -1;
  let to = near;
  let from = far;
  for (;;) {
    while (to !== from && !isFree(to)) to += step;
    while (to !== from && isFree(from)) from -= step;
    if (to === from) return;
    move(from, to);
  }
}

/** Lists the free lanes of the one block that is not full. */
function listFree(free: usize, block: i32, rows: i32): void {
  store<i32>(free, 0);
  if (!(rows & 3)) return;
  for (let pair = (block << 2) + 3; pair >= block << 2; pair--) {
    if (!isFree(pair)) continue;
    store<i32>(nextOf(pair), load<i32>(free));
    store<i32>(free, pair + 1);
  }
}

/** Returns the new entry of a lane. Entries are lane numbers plus one. */
// @inline
function moved(entry: u32): u32 {
  const to = entry ? load<u32>(movedTo(entry - 1)) : 0;
  return to ? to : entry;
}

/** Updates lane numbers in the chains of LEAF_PAIR rows. */
function renumber(): void {
  for (let n = load<i32>(front(), L.FRONT_LEAF_PAIR_COUNT) - 1; n >= 0; n--) {
    const first = leafPairRow(n) + L.LEAF_PAIR_LANES;
    store<u32>(first, moved(load<u32>(first)));
    for (let entry = load<u32>(first); entry; ) {
      const at = nextOf(entry - 1);
      const word = load<u32>(at);
      entry = moved(word & NEXT_MASK);
      store<u32>(at, (word & ~NEXT_MASK) | entry);
    }
  }
}

/** Compacts rows if many lanes are free. */
export function compactRows(): void {
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  const vertices = load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS);
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const blocks = vertices + edges;
  if (blocks < LEAST || !load<i32>(front(), L.FRONT_FREED)) return;
  store<i32>(front(), 0, L.FRONT_FREED);
  const ofVertices = countRows(0, vertices);
  const ofEdges = countRows(capacity - edges, capacity);
  if (<f32>(ofVertices + ofEdges) > FILLED * <f32>(blocks << 2)) return;
  endChains();
  forgetPacked();
  memory.fill(movedTo(0), 0, (<usize>vertices) << 4);
  memory.fill(movedTo((capacity - edges) << 2), 0, (<usize>edges) << 4);
  if (vertices) closeUp(0, (vertices << 2) - 1);
  if (edges) closeUp((capacity << 2) - 1, (capacity - edges) << 2);
  renumber();
  const vertexBlocks = (ofVertices + 3) >> 2;
  const edgeBlocks = (ofEdges + 3) >> 2;
  store<i32>(L.HEADER, vertexBlocks, L.H_VERTEX_CONTACT_BLOCKS);
  store<i32>(L.HEADER, edgeBlocks, L.H_EDGE_CONTACT_BLOCKS);
  store<i32>(L.HEADER, vertexBlocks + edgeBlocks, L.H_CONTACT_BLOCK_COUNT);
  listFree(front() + L.FRONT_FREE_VERTEX, vertexBlocks - 1, ofVertices);
  listFree(front() + L.FRONT_FREE_EDGE, capacity - edgeBlocks, ofEdges);
}
