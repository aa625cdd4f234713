/**
 * Memory of contact between surfaces (kernel/assembly/contact/contacts.ts): blocks of pairs, safe positions, and what
 * the response to a missed contact keeps books in.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "./map.ts";
import { rough } from "./rough.ts";
import type { PlannedSurfaces } from "./surfaces.ts";

/**
 * Colors' last blocks are not full, and pairs beyond the last color stand alone: half as many lanes again as pairs, and
 * a block for every color of both classes.
 */
const LANES_PER_PAIR = 1.5;
/**
 * A surface may stray by this part of its mean edge while a list of pairs lives: further, and every edge's neighbors'
 * neighbors would be in it.
 */
const STRAY = 0.12;

export interface PlannedContactBlocks {
  /**
   * @param rows address of the first SURFACE row; edges mean edge of each surface, m; triangles of each, in particle
   *   numbers
   */
  /** Blocks of the list. */
  blocks: number;
  write: (
    buffer: ArrayBufferLike,
    rows: number,
    edges: readonly number[],
    triangles: readonly Uint32Array[],
    dummies: number,
  ) => void;
}

/**
 * @param particles how many the room has, padding included; pairs rows of the list of pairs; anyMeet may any two
 *   surfaces ever meet? If not, no list is ever made
 */
export function planContactBlocks(
  particles: number,
  { pairs, anyMeet }: Pick<PlannedSurfaces, "pairs" | "anyMeet">,
  allocator: Allocator,
): PlannedContactBlocks {
  const blocks = 4 * Math.ceil((LANES_PER_PAIR * pairs) / 16) + 4 * L.CONTACT_COLORS;
  const take = (bytes: number): number => allocator.takeForList(bytes);
  // what outlives a list, or was written before the first one
  const owners = allocator.take(4 * particles);
  const marks = allocator.take(L.MARK_BYTES * particles);
  const fields: [number, number][] = [
    [L.H_SAFE, anyMeet ? take(16 * particles) : 0],
    [L.H_CONTACT_BLOCKS, take(blocks * L.CONTACT_BLOCK_BYTES)],
    [L.H_BLOCK_STATUS, take(blocks * L.STATUS_BYTES)],
    [L.H_CONTACT_BLOCK_CAPACITY, blocks],
    [L.H_CONTACT_COLORS, take(20 * L.COLOR_ENTRIES)],
    [L.H_COLOR_MASKS, take(32 * particles)],
    [L.H_REFERENCE, take(16 * particles)],
    [L.H_TRAJECTORIES, take(16 * particles)],
    [L.H_CHANGED, take(8 * particles)],
    [L.H_CHANGED_FROM, take(16 * particles)],
    [L.H_MARKS, marks],
    [L.H_INCIDENT, take(4 * particles)],
    [L.H_INCIDENCES, take(64 * blocks)],
    [L.H_QUEUE, take(32 * blocks)],
    [L.H_QUEUED, take(4 * blocks)],
    [L.H_OWNERS, owners],
    [L.H_ZONES, take(8 * particles)],
    [L.H_ZONE_SUMS, take(L.ZONE_BYTES * Math.max(L.IMPULSE_ROWS, particles))],
    [L.H_PAIR_SCRATCH, take(8 * 48)],
  ];
  return {
    blocks,
    write(buffer, rows, edges, triangles, dummies) {
      const i32 = new Int32Array(buffer);
      const f32 = new Float32Array(buffer);
      for (const [offset, value] of [...fields, [L.H_DUMMIES, dummies] as const]) i32[(L.HEADER + offset) / 4] = value;
      const u32 = new Uint32Array(buffer);
      const x = u32[(L.HEADER + L.H_X) / 4]!;
      for (const list of triangles) {
        // the first triangle of a corner owns it
        for (let k = 0; k < list.length; k++)
          u32[owners / 4 + list[k]!] ||= x + 16 * list[k % 3 === 2 ? k - 2 : k + 1]!;
      }
      edges.forEach((edge, n) => (f32[(rows + n * L.SURFACE_BYTES + L.SURFACE_LIMIT) / 4] = STRAY * rough(edge)));
    },
  };
}
