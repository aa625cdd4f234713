/**
 * Where everything lies in a room's memory: one allocator pass, 16-byte aligned, arrays in the order in which a substep
 * reads them.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** Bytes of WebAssembly's pages. */
export const PAGE_BYTES = 65536;
export const PAGES_PER_MIB = 16;
/** What the addresses of a room reach, pages: below 2 GiB. */
export const MOST_PAGES = 0x7fff;

/** A part of memory. */
export interface Range {
  address: number;
  bytes: number;
}

/**
 * Memory that grows up to what addresses reach. That costs nothing: V8 reserves 8 GiB of addresses for any memory,
 * whatever its maximum (2,000 of them: 16 TB of 128, and 2 MB of memory).
 */
export function newMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: MOST_PAGES, shared: true });
}

/** Hands out addresses from the end of the header on. */
export class Allocator {
  /**
   * What belongs to the list of pairs, in ascending order: whenever that is made anew, nothing of what was there
   * matters (checkpoint.ts).
   */
  readonly lists: Range[] = [];
  private next = L.HEADER + L.HEADER_END;

  /** @returns the address of `bytes` bytes, aligned to a cache line */
  take(bytes: number): number {
    const address = (this.next + 63) & ~63;
    this.next = address + bytes;
    if (this.next > MOST_PAGES * PAGE_BYTES)
      throw new Error(`room memory: ${this.next} bytes is over the limit of 2 GiB`);
    return address;
  }

  /** The same, for what belongs to the list of pairs. */
  takeForList(bytes: number): number {
    const address = this.take(bytes);
    const last = this.lists.at(-1);
    const end = (address + bytes + 63) & ~63;
    if (last && last.address + last.bytes === address) last.bytes = end - last.address;
    else this.lists.push({ address, bytes: end - address });
    return address;
  }

  /** Behind everything taken so far. */
  get end(): number {
    return this.next;
  }

  /** 64 KiB pages that hold everything taken so far. */
  get pages(): number {
    return Math.ceil(this.next / PAGE_BYTES);
  }
}
