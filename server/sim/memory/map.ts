/** Where everything lies in a room's memory: one allocator pass, 16-byte aligned, arrays in the order in which a substep reads them. */
import * as L from "../../kernel/assembly/layout.ts";

/** Hands out addresses from the end of the header on. */
export class Allocator {
  private next = L.HEADER + L.HEADER_END;

  /** @returns the address of `bytes` bytes, aligned to a cache line */
  take(bytes: number): number {
    const address = (this.next + 63) & ~63;
    this.next = address + bytes;
    if (this.next > 0x7fff0000) throw new Error(`room memory: ${this.next} bytes is over the limit of 2 GiB`);
    return address;
  }

  /** 64 KiB pages that hold everything taken so far. */
  get pages(): number {
    return Math.ceil(this.next / 65536);
  }
}
