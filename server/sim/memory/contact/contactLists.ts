/**
 * Plans the growing lists of contact (kernel/assembly/contact/prepare/listMemory.ts), which come last in a room's
 * memory. Their initial size is enough for most scenes, and their contents do not depend on it.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Allocator } from "../memoryMap.ts";

/**
 * Leaf pairs and separated pairs per leaf: a flat sheet has 6 and 6, a crumpled one 20 and 60. Most leaves of a
 * collider meet nothing.
 */
const CLOSE_PER_LEAF = 8;
const CLOSE_PER_CORE_LEAF = 2;
const PARTED_PER_LEAF = 16;
const PARTED_PER_CORE_LEAF = 4;
/** Units per particle: a sheet at rest on another has 1 or 2 blocks, and new rows come by the hundred. */
const BLOCKS_PER_PARTICLE = 2;
const ROWS_PER_PARTICLE = 4;
const NOTES_PER_PARTICLE = 8 * 5;
const SOLVED_PER_PARTICLE = 0.25;
const PICKED_PER_PARTICLE = 2;
/** Units added in every room, for small ones. */
const LEAST = 256;
/** Limits: numbers of leaf pairs (in rows) and of lanes (in chains) have 24 bits. */
const MOST_CLOSE = 2 ** 24 - 1;
const MOST_BLOCKS = 2 ** 22 - 1;
const MOST = 2 ** 27;

/**
 * From an average of 12 blocks per particle on, only primitives that come near in the substep get a row. Two layers
 * vertex on vertex give a particle 20 rows; a crumpled layer between two others, 64.
 */
const MANY_ROWS = 64;
const MANY_ROWS_OF_CORE = 4;
const MANY_ROWS_AT_LEAST = 4096;

/** Sizes of a scene: leaves of bodies and of core meshes, and the particles of their surfaces. */
export interface ListCounts {
  leaves: number;
  coreLeaves: number;
  particles: number;
  coreParticles: number;
}

interface Kind {
  kind: number;
  /** Address of the word with the capacity. */
  at: number;
  capacity: number;
  most: number;
  /** Of each list: `at`, the word that holds its address; `unit`, bytes of an entry; `more`, bytes in addition. */
  lists: [at: number, unit: number, more?: number][];
}

/** @param front address of the FRONT row */
function kindsOf({ leaves, coreLeaves, particles, coreParticles }: ListCounts, front: number): Kind[] {
  const header = (offset: number): number => L.HEADER + offset;
  const of = (offset: number): number => front + offset;
  const kind = (kind: number, at: number, capacity: number, lists: Kind["lists"], most = MOST): Kind => ({
    kind,
    at,
    capacity: Math.min(Math.ceil(capacity), most),
    most,
    lists,
  });
  const all = particles + coreParticles / 16;
  const close = CLOSE_PER_LEAF * leaves + CLOSE_PER_CORE_LEAF * coreLeaves + LEAST;
  const parted = PARTED_PER_LEAF * leaves + PARTED_PER_CORE_LEAF * coreLeaves + LEAST;
  const blocks: Kind["lists"] = [
    [header(L.H_CONTACT_BLOCKS), L.CONTACT_BLOCK_BYTES],
    [header(L.H_BLOCK_NEAR), L.STATUS_BYTES],
    [header(L.H_BLOCK_BAD), L.STATUS_BYTES],
    [header(L.H_BLOCK_QUIET), L.STATUS_BYTES],
    [header(L.H_BLOCK_PACKED), L.STATUS_BYTES],
    [header(L.H_INCIDENCES), 64],
    [header(L.H_QUEUE), 32],
    [header(L.H_QUEUED), 4],
    [header(L.H_SPARE), 16],
    [of(L.FRONT_NEXT), 16],
  ];
  return [
    kind(
      L.LIST_LEAF_PAIRS,
      of(L.FRONT_LEAF_PAIR_CAPACITY),
      close,
      [
        // they are read four at a time
        [of(L.FRONT_LEAF_PAIRS), L.LEAF_PAIR_BYTES, 3 * L.LEAF_PAIR_BYTES],
        [of(L.FRONT_PAIR_LEAVES), L.PAIR_LEAVES_BYTES, 3 * L.PAIR_LEAVES_BYTES],
        [of(L.FRONT_PAIR_MOTIONS), L.PAIR_MOTION_BYTES, 3 * L.PAIR_MOTION_BYTES],
        [of(L.FRONT_VERDICTS), L.VERDICT_BYTES, L.SHARED_PARTS * L.VERDICT_BYTES],
      ],
      MOST_CLOSE,
    ),
    kind(L.LIST_PAIR_RESULTS, of(L.FRONT_RESULT_CAPACITY), NOTES_PER_PARTICLE * all + 8 * LEAST, [
      [of(L.FRONT_RESULTS), 4],
    ]),
    kind(L.LIST_ROWS, header(L.H_PAIR_CAPACITY), ROWS_PER_PARTICLE * all + LEAST, [[header(L.H_PAIRS), L.PAIR_BYTES]]),
    kind(L.LIST_SEPARATED, of(L.FRONT_SEPARATED_CAPACITY), parted, [[of(L.FRONT_SEPARATED), L.SEPARATED_BYTES]]),
    kind(L.LIST_BLOCKS, header(L.H_CONTACT_BLOCK_CAPACITY), BLOCKS_PER_PARTICLE * all + LEAST / 4, blocks, MOST_BLOCKS),
    kind(L.LIST_SOLVED, of(L.FRONT_SOLVED_CAPACITY), SOLVED_PER_PARTICLE * all + LEAST / 4, [
      [of(L.FRONT_SOLVED), L.CONTACT_BLOCK_BYTES],
      [of(L.FRONT_SOLVED_HEADS), 4],
    ]),
    kind(L.LIST_PICKED, of(L.FRONT_PICKED_CAPACITY), PICKED_PER_PARTICLE * all + LEAST, [[of(L.FRONT_PICKED), 16]]),
  ];
}

/** Number of blocks from which on fewer rows are listed. */
function manyBlocks({ particles, coreParticles }: ListCounts): number {
  const rows = MANY_ROWS * particles + MANY_ROWS_OF_CORE * coreParticles + MANY_ROWS_AT_LEAST;
  return 2 * Math.ceil((1.5 * rows) / 16) + 2 * L.CONTACT_COLORS;
}

/**
 * Allocates the tables.
 * @returns a function that allocates the lists, after everything else
 */
export function planLists(
  counts: ListCounts,
  front: number,
  allocator: Allocator,
): () => { write: (buffer: ArrayBufferLike) => void } {
  const kinds = kindsOf(counts, front);
  const all = kinds.flatMap(({ kind, capacity, lists }) => lists.map((list) => ({ kind, capacity, list })));
  const kindRows = allocator.take(L.LIST_KINDS * L.GROWTH_BYTES);
  const listRows = allocator.take(all.length * L.LIST_BYTES);
  return () => {
    const places = all.map(({ capacity, list: [, unit, more = 0] }) => allocator.takeForList(unit * capacity + more));
    const end = (allocator.end + 63) & ~63;
    return {
      write(buffer) {
        const i32 = new Int32Array(buffer);
        for (const { kind, at, capacity, most } of kinds) {
          i32[at / 4] = capacity;
          i32.set([at, most], (kindRows + kind * L.GROWTH_BYTES) / 4);
        }
        all.forEach(({ kind, list: [at, unit] }, n) => {
          i32[at / 4] = places[n]!;
          i32.set([at, kind, unit], (listRows + n * L.LIST_BYTES) / 4);
        });
        for (const [offset, value] of [
          [L.H_LISTS, listRows],
          [L.H_LIST_COUNT, all.length],
          [L.H_LIST_KINDS, kindRows],
          [L.H_LISTS_END, end],
          [L.H_BLOCKS_MANY, manyBlocks(counts)],
        ] as const)
          i32[(L.HEADER + offset) / 4] = value;
      },
    };
  };
}
