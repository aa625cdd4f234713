/**
 * Plans per-particle memory of contact between surfaces (kernel/assembly/contact/pipeline.ts): safe positions, and
 * arrays for resolving missed contacts. For blocks of pairs, see contactLists.ts.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "../memoryMap.ts";
import { roundMantissa } from "../roundMantissa.ts";

/**
 * SURFACE_LIMIT in mean edges of the surface. With more, the second neighbors of every edge would become rows.
 */
const STRAY = 0.12;

export interface PlannedContact {
  /**
   * @param rows address of the first SURFACE row
   * @param edges mean edge of each surface, m
   * @param triangles of each surface, in particle numbers
   */
  write: (
    buffer: ArrayBufferLike,
    rows: number,
    edges: readonly number[],
    triangles: readonly Uint32Array[],
    dummies: number,
  ) => void;
}

/**
 * @param particles number in the room, padding included
 * @param anyMeet whether any two surfaces may ever meet; if not, there is no search for pairs
 * @param verifyEvery substeps from one verification to the next
 */
export function planContactArrays(
  particles: number,
  anyMeet: boolean,
  verifyEvery: number,
  allocator: Allocator,
): PlannedContact {
  const take = (bytes: number): number => (anyMeet ? allocator.takeForList(bytes) : 0);
  // these outlive a list, or are written before the first one
  const owners = anyMeet ? allocator.take(4 * particles) : 0;
  const safe = take(16 * particles);
  const fields: [number, number][] = [
    [L.H_MARKS, allocator.take(L.MARK_BYTES * particles)],
    [L.H_OWNERS, owners],
    [L.H_PUSHES, anyMeet ? allocator.take(L.PUSHES_A_PARTICLE * L.PUSH_BYTES * particles) : 0],
    [L.H_PAIR_SCRATCH, allocator.takeForList(8 * 48)],
    [L.H_SAFE, safe],
    [L.H_START, anyMeet && verifyEvery > 1 ? allocator.take(16 * particles) : safe],
    [L.H_VERIFY_EVERY, anyMeet ? verifyEvery : 1],
    [L.H_CONTACT_COLORS, take(20 * L.COLOR_ENTRIES)],
    [L.H_COLOR_MASKS, take(32 * particles)],
    [L.H_REFERENCE, take(16 * particles)],
    [L.H_CHANGED, take(8 * particles)],
    [L.H_CHANGED_FROM, take(16 * particles)],
    [L.H_INCIDENT, take(4 * particles)],
    [L.H_ZONES, take(8 * particles)],
    [L.H_ZONE_SUMS, take(L.ZONE_BYTES * Math.max(L.IMPULSE_ROWS, particles))],
  ];
  return {
    write(buffer, rows, edges, triangles, dummies) {
      const i32 = new Int32Array(buffer);
      const f32 = new Float32Array(buffer);
      for (const [offset, value] of [...fields, [L.H_DUMMIES, dummies] as const]) i32[(L.HEADER + offset) / 4] = value;
      const u32 = new Uint32Array(buffer);
      const x = u32[(L.HEADER + L.H_X) / 4]!;
      for (const list of anyMeet ? triangles : []) {
        // the first triangle of a corner owns it
        for (let k = 0; k < list.length; k++)
          u32[owners / 4 + list[k]!] ||= x + 16 * list[k % 3 === 2 ? k - 2 : k + 1]!;
      }
      edges.forEach(
        (edge, n) => (f32[(rows + n * L.SURFACE_BYTES + L.SURFACE_LIMIT) / 4] = STRAY * roundMantissa(edge)),
      );
    },
  };
}
