/** Measures a room's memory and the part of it that has been in use. Any thread may call it, at any time. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { PAGE_BYTES } from "./memoryMap.ts";

export interface MemoryUse {
  /** Size of the room's memory, bytes. */
  reserved: number;
  /** Size without the units of lists that were never in use, bytes. */
  used: number;
  /** Largest size, bytes. */
  limit: number;
  /** Names of lists that were full and could not grow since the room began. */
  full: string[];
}

/** Names of the lists, in the order of their kinds' numbers. */
const NAMES = [
  "leaf pairs",
  "pair results",
  "new rows",
  "separated pairs",
  "rows",
  "solved rows",
  "near rows",
  "implicit rows",
] as const;

export function memoryUse({ buffer }: WebAssembly.Memory): MemoryUse {
  const i32 = new Int32Array(buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  let idle = 0;
  for (let n = 0; n < header(L.H_LIST_COUNT); n++) {
    const list = (header(L.H_LISTS) + n * L.LIST_BYTES) / 4;
    const kind = (header(L.H_LIST_KINDS) + i32[list + L.LIST_KIND / 4]! * L.GROWTH_BYTES) / 4;
    const capacity = i32[i32[kind + L.GROWTH_CAPACITY / 4]! / 4]!;
    idle += Math.max(0, capacity - i32[kind + L.GROWTH_PEAK / 4]!) * i32[list + L.LIST_UNIT / 4]!;
  }
  return {
    reserved: buffer.byteLength,
    used: buffer.byteLength - idle,
    limit: header(L.H_MEMORY_LIMIT) * PAGE_BYTES,
    full: NAMES.filter((_, kind) => header(L.H_LISTS_FULL) & (1 << kind)),
  };
}
