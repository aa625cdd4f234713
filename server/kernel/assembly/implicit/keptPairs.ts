/**
 * State that pairs of implicit bodies keep from step to step (gap, friction, whether they slid). Pairs are found again
 * by their particles: a list of KEPT rows and two open-addressed hash tables, by all four particles and by the first
 * vertex or edge.
 */
import * as L from "../layout/layout";

// @inline
export function together(): usize {
  return <usize>load<u32>(L.HEADER, L.H_TOGETHER);
}

/** Returns whether the pair is of two edges: then the first primitive has two weights. */
// @inline
export function isOfEdges(row: usize): bool {
  return load<f64>(row, L.ROW_WEIGHT + 8) > 0;
}

// @inline
function hashOf(at: usize): u32 {
  let hash: u32 = 0;
  for (let k: usize = 0; k < 16; k += 4) hash = (hash ^ load<u32>(at + k)) * 0x9e3779b1;
  return hash ^ (hash >> 15);
}

/** Hash of the first vertex, or the first edge, of particles in memory. */
// @inline
function hashOfFirst(at: usize, edge: bool): u32 {
  let hash = load<u32>(at) * 0x9e3779b1;
  if (edge) hash = (hash ^ load<u32>(at, 4)) * 0x9e3779b1;
  return hash ^ (hash >> 15);
}

// @inline
function tableAt(first: bool): usize {
  const table = <usize>load<u32>(together(), L.TOGETHER_TABLE);
  return first ? table + ((<usize>load<u32>(together(), L.TOGETHER_TABLE_SIZE)) << 2) : table;
}

/** Builds the tables of the KEPT rows. */
export function indexKept(): void {
  const kept = <usize>load<u32>(together(), L.TOGETHER_KEPT);
  memory.fill(tableAt(false), 0, (<usize>load<u32>(together(), L.TOGETHER_TABLE_SIZE)) << 3);
  for (let n: u32 = 0; n < load<u32>(kept); n++) {
    const at = kept + 16 + <usize>n * L.KEPT_BYTES;
    enter(tableAt(false), hashOf(at), n + 1);
    enter(tableAt(true), hashOfFirst(at, load<i32>(at, L.KEPT_EDGE) !== 0), n + 1);
  }
}

function enter(table: usize, hash: u32, entry: u32): void {
  const mask = load<u32>(together(), L.TOGETHER_TABLE_SIZE) - 1;
  let place = hash & mask;
  while (load<u32>(table + ((<usize>place) << 2))) place = (place + 1) & mask;
  store<u32>(table + ((<usize>place) << 2), entry);
}

/**
 * KEPT row of a row's pair; else of its first vertex or edge, if that has moved to another triangle or edge; 0: none.
 */
export function keptOf(row: usize): usize {
  const edge = isOfEdges(row);
  const whole = lookUp(row, edge, false);
  return whole ? whole : lookUp(row, edge, true);
}

function lookUp(row: usize, edge: bool, first: bool): usize {
  const mask = load<u32>(together(), L.TOGETHER_TABLE_SIZE) - 1;
  const table = tableAt(first);
  const kept = <usize>load<u32>(together(), L.TOGETHER_KEPT);
  const particles = row + L.ROW_PARTICLES;
  let place = (first ? hashOfFirst(particles, edge) : hashOf(particles)) & mask;
  for (let n: u32 = 0; (n = load<u32>(table + ((<usize>place) << 2))); place = (place + 1) & mask) {
    const at = kept + 16 + <usize>(n - 1) * L.KEPT_BYTES;
    if (load<i32>(at, L.KEPT_EDGE) !== (edge ? 1 : 0) || load<u32>(at) !== load<u32>(particles)) continue;
    if (first && !edge) return at;
    if (load<u32>(at, 4) !== load<u32>(particles, 4)) continue;
    if (first || load<u64>(at, 8) === load<u64>(particles, 8)) return at;
  }
  return 0;
}
