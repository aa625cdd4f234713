/**
 * Grows the memory of contact's lists in place. Lists behind a grown list move on, and its contents stay, so a room has
 * the same bits for any initial sizes. The lists lie at the end of the room's memory, at addresses in the header and
 * the FRONT row. Rows refer to each other by number, or by fixed addresses. Only the numbers of edge-edge lanes change
 * with a capacity (growRows.ts).
 * A pointer into a list is valid while only lists behind it grow. Their order: LEAF_PAIR rows and recorded rows (read
 * while the front is scanned), new rows, SEPARATED rows, blocks of rows, packed blocks, near lanes.
 */
import * as L from "../../layout/layout";

/** log2 of the bytes of a memory page. */
const PAGE = 16;

// @inline
function kindAt(kind: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_LIST_KINDS) + <usize>kind * L.GROWTH_BYTES;
}
// @inline
function listAt(n: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_LISTS) + <usize>n * L.LIST_BYTES;
}

/** Records that a list of this kind did not fit, and memory may not grow. */
export function listFull(kind: i32): void {
  store<i32>(L.HEADER, load<i32>(L.HEADER, L.H_LISTS_FULL) | (1 << kind), L.H_LISTS_FULL);
}

/** Records how many units of the kind's capacity are in use. */
export function noteUsed(kind: i32, units: i32): void {
  const row = kindAt(kind);
  if (units > load<i32>(row, L.GROWTH_PEAK)) store<i32>(row, units, L.GROWTH_PEAK);
}

/**
 * Grows all lists of a kind to at least `need` units, or to 1.5 times their size if memory allows it.
 * @param back units in use at their end, which stay at the end; all others are in use at the beginning, or 0
 * @returns false if the room's memory may not be so large: then nothing has changed
 */
export function growLists(kind: i32, need: i32, back: i32): bool {
  const row = kindAt(kind);
  const before = load<i32>(<usize>load<u32>(row, L.GROWTH_CAPACITY));
  const most = load<i32>(row, L.GROWTH_MOST);
  if (need <= before) return true;
  if (need > most) return false;
  const wanted = max<i32>(need, min<i32>(most, before + (before >> 1)));
  return grow(kind, before, wanted, back) || (need < wanted && grow(kind, before, need, back));
}

/** Returns the bytes that a list gains when its kind grows by `more` units. */
// @inline
function gainOf(list: usize, kind: i32, more: i32): u64 {
  return load<i32>(list, L.LIST_KIND) === kind ? (<u64>load<i32>(list, L.LIST_UNIT) * <u64>more + 63) & ~63 : 0;
}

function grow(kind: i32, before: i32, after: i32, back: i32): bool {
  const more = after - before;
  const count = load<i32>(L.HEADER, L.H_LIST_COUNT);
  let shift: u64 = 0;
  for (let n = 0; n < count; n++) shift += gainOf(listAt(n), kind, more);
  let end = <usize>load<u32>(L.HEADER, L.H_LISTS_END);
  const whole = <u64>end + shift;
  const pages = <i32>((whole + 0xffff) >> PAGE);
  if (pages > load<i32>(L.HEADER, L.H_MEMORY_LIMIT)) return false;
  // if the machine lacks memory below the room's limit, the room must stop: its bits would differ from other machines'
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) unreachable();
  store<u32>(L.HEADER, <u32>whole, L.H_LISTS_END);
  for (let n = count - 1; n >= 0 && shift; n--) {
    const list = listAt(n);
    const pointer = <usize>load<u32>(list, L.LIST_POINTER);
    const from = <usize>load<u32>(pointer);
    const gain = gainOf(list, kind, more);
    const next = end + <usize>shift;
    shift -= gain;
    const to = from + <usize>shift;
    if (shift) memory.copy(to, from, end - from);
    store<u32>(pointer, <u32>to);
    if (gain) widen(to, next, <usize>load<i32>(list, L.LIST_UNIT), before, after, back);
    end = from;
  }
  store<i32>(<usize>load<u32>(kindAt(kind), L.GROWTH_CAPACITY), after);
  return true;
}

/** Moves the units at the end of a list to its new end, before the list at `next`, and zeroes unused ones. */
function widen(at: usize, next: usize, unit: usize, before: i32, after: i32, back: i32): void {
  const middle = at + <usize>(before - back) * unit;
  const ends = at + <usize>(after - back) * unit;
  const behind = at + <usize>after * unit;
  if (back) memory.copy(ends, middle, <usize>back * unit);
  memory.fill(middle, 0, ends - middle);
  memory.fill(behind, 0, next - behind);
}
