/** Layout of a room's memory: one allocator pass, with arrays in the order in which a substep reads them. */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** Size of a WebAssembly page, bytes. */
export const PAGE_BYTES = 65536;
export const PAGES_PER_MIB = 16;
/** Largest memory of a room, pages: addresses stay below 2 GiB. */
export const MOST_PAGES = 0x7fff;

/** A range of memory. */
export interface Range {
  address: number;
  bytes: number;
}

/**
 * Creates memory that may grow up to the address limit. The limit costs nothing: V8 reserves 8 GiB of addresses for any
 * memory (2,000 of them: 16 TB of 128, and 2 MB of memory).
 */
export function newMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: MOST_PAGES, shared: true });
}

/** Allocates addresses after the header. */
export class Allocator {
  /**
   * Ranges of the pair list, in ascending order: their contents do not matter when the list is made again
   * (checkpoint.ts).
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

  /** Allocates memory of the pair list; like `take`. */
  takeForList(bytes: number): number {
    const address = this.take(bytes);
    const last = this.lists.at(-1);
    const end = (address + bytes + 63) & ~63;
    if (last && last.address + last.bytes === address) last.bytes = end - last.address;
    else this.lists.push({ address, bytes: end - address });
    return address;
  }

  /** End of the allocated memory. */
  get end(): number {
    return this.next;
  }

  /** Number of 64 KiB pages for the allocated memory. */
  get pages(): number {
    return Math.ceil(this.next / PAGE_BYTES);
  }
}
