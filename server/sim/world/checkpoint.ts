/**
 * Converts a room's state between two ticks to bytes and back. A fresh copy of the scene's template that loads the
 * bytes continues bit for bit like the original room, on any machine.
 *
 *     state = all memory that differs from the template's, except
 *             the pair list            most of a room's writes (12 of 13 MB in a heap of a hundred bodies): both sides
 *                                      make it again, in memory of the same grown size
 *             the scheduler's words, times  belong to the threads and clocks of this process
 *
 * Making the list again changes bits, since pairs are solved in its order. So taking a checkpoint is an event in a
 * room's life, like an input: the journal records it, and a replay forgets the list at the same tick (`forgetList`).
 *
 *     record  u32 address, u32 bytes, then that many bytes; little-endian, records ascending, addresses and lengths
 *             multiples of LINE
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { MOST_PAGES, PAGE_BYTES, type Range } from "../memory/memoryMap.ts";
import { forgetPairList } from "../rest/keptPushes.ts";
import type { SimLayout } from "./worldLayout.ts";

/** Granularity of saved memory, bytes; allocations are aligned to it. */
const LINE = 64;
const LINE_INTS = LINE / 4;
/** Bytes compared at once by the runtime's memcmp; most of a room's memory is constant. */
const PAGE = 4096;
const RECORD_HEAD = 8;

/** Ranges of the header, by offset, that belong to the process and not to the room. */
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

/** Invalidates the pair list: the next tick makes it again, as after `load`. */
export function forgetList(memory: WebAssembly.Memory): void {
  forgetPairList(memory);
}

/**
 * Saves a room's state and invalidates its pair list.
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
 * Loads a state into a fresh copy of the template that it was taken against.
 * @throws CheckpointError if the bytes are not such a state; the memory is then unusable
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

/** Grows memory to the size that the lists had when the state was taken. */
function growTo(memory: WebAssembly.Memory): void {
  const header = new Int32Array(memory.buffer, L.HEADER, L.HEADER_END / 4);
  const end = header[L.H_LISTS_END / 4]! >>> 0;
  const limit = header[L.H_MEMORY_LIMIT / 4]!;
  if (limit > MOST_PAGES || end > limit * PAGE_BYTES)
    throw new CheckpointError(`lists end at byte ${end} of ${limit} pages; a room has ${MOST_PAGES} at most`);
  const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE_BYTES);
  if (missing > 0) memory.grow(missing);
}

/** Ranges of all memory after the header except the lists, ascending; whole lines. */
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
