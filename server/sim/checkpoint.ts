/**
 * A room's state between two ticks as bytes, and back: whoever loads them into a fresh copy of the scene's template
 * goes on with the very bits of the room that they were taken from, on any machine.
 *
 *     state = all memory that differs from the template's, but for
 *             the list of pairs        most of what a room writes (12 of 13 MB in a heap of a hundred bodies): both
 *                                      sides make it anew, in memory as large as it has grown to
 *             the scheduler's words, times  belong to the threads and clocks of this process
 *
 * That the list is made anew moves bits (pairs are solved in its order), so taking a checkpoint is an event in a room's
 * life, as an input is: it has its place in the journal, and a replay forgets the list at the same tick (`forgetList`).
 *
 *     record  u32 address, u32 bytes, then so many bytes; little-endian, records ascending, addresses and lengths
 *             multiples of LINE
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import { MOST_PAGES, PAGE_BYTES, type Range } from "./memory/map.ts";
import { forgetPairList } from "./keptPushes.ts";
import type { SimLayout } from "./layout.ts";

/** Granularity of what is saved; allocations are aligned to it. */
const LINE = 64;
const LINE_INTS = LINE / 4;
/** Compared at once by the runtime's memcmp; most of a room's memory is constant. */
const PAGE = 4096;
const RECORD_HEAD = 8;

/** Of the header, by offset: what belongs to the process and not to the room. */
const NOT_STATE: readonly [from: number, to: number][] = [
  [L.H_WATCH, L.H_WATCH + 4],
  [L.H_STAGE, L.H_STAGE + 8 * L.STAGES],
  [L.H_TICKET, L.H_WARM_START_SUMS],
  [L.H_HELPERS, L.HEADER_END],
];

export class CheckpointError extends Error {
  constructor(message: string) {
    super(`checkpoint: ${message}`);
    this.name = "CheckpointError";
  }
}

/** The list of pairs is made anew in the next tick, as after `load`. */
export function forgetList(memory: WebAssembly.Memory): void {
  forgetPairList(memory);
}

/**
 * Takes a room's state and makes it forget its list.
 * @param memory of the room, between two ticks
 * @param template of its scene, never stepped
 */
export function saveState(
  memory: WebAssembly.Memory,
  template: WebAssembly.Memory,
  layout: SimLayout,
): Uint8Array<ArrayBuffer> {
  forgetList(memory);
  const live = Buffer.from(memory.buffer);
  const rest = Buffer.from(template.buffer);
  const liveInts = new Int32Array(memory.buffer);
  const restInts = new Int32Array(template.buffer);
  const runs: Range[] = [{ address: L.HEADER, bytes: L.HEADER_END }];
  for (const range of keptRanges(layout)) findChanges(range, runs);
  const state = new Uint8Array(runs.reduce((sum, run) => sum + RECORD_HEAD + run.bytes, 0));
  const view = new DataView(state.buffer);
  let at = 0;
  for (const { address, bytes } of runs) {
    view.setUint32(at, address, true);
    view.setUint32(at + 4, bytes, true);
    state.set(live.subarray(address, address + bytes), at + RECORD_HEAD);
    at += RECORD_HEAD + bytes;
  }
  for (const [from, to] of NOT_STATE) state.fill(0, RECORD_HEAD + from, RECORD_HEAD + to);
  return state;

  function findChanges({ address, bytes }: Range, found: Range[]): void {
    for (let page = address; page < address + bytes; page += PAGE) {
      const end = Math.min(page + PAGE, address + bytes);
      if (live.compare(rest, page, end, page, end) === 0) continue;
      for (let line = page; line < end; line += LINE) {
        if (sameLine(line / 4)) continue;
        const last = found.at(-1)!;
        // a gap of one line costs no more than the head of another record
        if (line - (last.address + last.bytes) <= LINE && last.address >= address)
          last.bytes = line + LINE - last.address;
        else found.push({ address: line, bytes: LINE });
      }
    }
  }

  function sameLine(from: number): boolean {
    for (let i = from; i < from + LINE_INTS; i++) if (liveInts[i] !== restInts[i]) return false;
    return true;
  }
}

/**
 * Puts a state into a fresh copy of the template that it was taken against.
 * @throws CheckpointError when the bytes are no such state; memory is not fit for use then
 */
export function loadState(memory: WebAssembly.Memory, layout: SimLayout, state: Uint8Array): void {
  const bytes = new Uint8Array(memory.buffer);
  const view = new DataView(state.buffer, state.byteOffset, state.byteLength);
  const kept = keptRanges(layout);
  const own = NOT_STATE.map(([from, to]) => ({ from, bytes: bytes.slice(L.HEADER + from, L.HEADER + to) }));
  for (let at = 0; at < state.byteLength; ) {
    if (at + RECORD_HEAD > state.byteLength)
      throw new CheckpointError(`record at byte ${at} is cut off: ${state.byteLength} bytes in all`);
    const address = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    const from = at + RECORD_HEAD;
    if (from + length > state.byteLength)
      throw new CheckpointError(`record at byte ${at} has ${length} bytes, but ${state.byteLength - from} are left`);
    const fits =
      address === L.HEADER
        ? length === L.HEADER_END
        : kept.some((range) => address >= range.address && address + length <= range.address + range.bytes);
    if (!fits)
      throw new CheckpointError(
        `record at byte ${at}: ${length} bytes at address ${address} are no part of this scene's state`,
      );
    bytes.set(state.subarray(from, from + length), address);
    at = from + length;
  }
  for (const { from, bytes: words } of own) bytes.set(words, L.HEADER + from);
  growTo(memory);
}

/** Memory gets the size that lists have grown to where the state was taken. */
function growTo(memory: WebAssembly.Memory): void {
  const header = new Int32Array(memory.buffer, L.HEADER, L.HEADER_END / 4);
  const end = header[L.H_LISTS_END / 4]! >>> 0;
  const limit = header[L.H_MEMORY_LIMIT / 4]!;
  if (limit > MOST_PAGES || end > limit * PAGE_BYTES)
    throw new CheckpointError(`lists end at byte ${end} of ${limit} pages; a room has ${MOST_PAGES} at most`);
  const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE_BYTES);
  if (missing > 0) memory.grow(missing);
}

/** All memory behind the header but the lists, ascending; whole lines. */
function keptRanges({ lists, end }: SimLayout): Range[] {
  const ranges: Range[] = [];
  let from = (L.HEADER + L.HEADER_END + LINE - 1) & ~(LINE - 1);
  for (const list of lists) {
    if (list.address > from) ranges.push({ address: from, bytes: list.address - from });
    from = list.address + list.bytes;
  }
  const last = (end + LINE - 1) & ~(LINE - 1);
  if (last > from) ranges.push({ address: from, bytes: last - from });
  return ranges;
}
