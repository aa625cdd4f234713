/**
 * The kernel's packed list of pairs (contactList.ts), read from a room's memory, and what the twin of contact needs
 * besides.
 */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { vertexTriangle, edgeEdge } from "../../server/sim/ccd.ts";
import type { CreatedWorld } from "../../server/sim/createWorld.ts";
import type { ReferenceContact, ReferenceWorld } from "../../server/sim/reference/step.ts";
import type { PairName, ReferenceSurface, ReferenceContactPair } from "../../server/sim/reference/contacts.ts";
import type { SimWorld } from "../../server/sim/world.ts";

const word = (memory: WebAssembly.Memory, offset: number): number =>
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;

/** A lane that holds a pair: its place, in order of solving. */
export interface PackedPair extends Omit<PairName, "surfaces"> {
  block: number;
  lane: number;
  /** Distance that it keeps, m. */
  thickness: number;
}

export function packedPairs(memory: WebAssembly.Memory): PackedPair[] {
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const at = word(memory, L.H_CONTACT_BLOCKS);
  const x = word(memory, L.H_X);
  const found: PackedPair[] = [];
  const capacity = word(memory, L.H_CONTACT_BLOCK_CAPACITY);
  const vertices = word(memory, L.H_VERTEX_CONTACT_BLOCKS);
  const edges = word(memory, L.H_EDGE_CONTACT_BLOCKS);
  const blocks = [...Array(vertices).keys(), ...Array.from({ length: edges }, (_, n) => capacity - edges + n)];
  for (const block of blocks) {
    const vertex = block < vertices;
    for (let lane = 0; lane < 4; lane++) {
      const row = (at + block * L.CONTACT_BLOCK_BYTES) / 4 + lane;
      if (f32[row + L.CONTACT_BLOCK_KEEP / 4]! < 0) continue;
      const particles = [0, 1, 2, 3].map((k) => (i32[row + 4 * k]! - x) / 16) as PairName["particles"];
      const thickness = f32[row + L.CONTACT_BLOCK_THICKNESS / 4]!;
      found.push({ kind: vertex ? "vertex" : "edges", particles, block, lane, thickness });
    }
  }
  return found;
}

/** A lane of the solved blocks. */
export interface SolvedPair extends Omit<PackedPair, "thickness"> {
  color: number;
}

/** Pairs of the blocks that are solved, with their colors; CONTACT_COLORS: it stands alone. */
export function solvedPairs(memory: WebAssembly.Memory): SolvedPair[] {
  const i32 = new Int32Array(memory.buffer);
  const front = word(memory, L.H_FRONT) / 4;
  const x = word(memory, L.H_X);
  const vertices = i32[front + L.FRONT_SOLVED_VERTEX / 4]!;
  const all = vertices + i32[front + L.FRONT_SOLVED_EDGE / 4]!;
  const found: SolvedPair[] = [];
  for (let block = 0; block < all; block++) {
    const starts = word(memory, L.H_CONTACT_COLORS) / 4 + (block < vertices ? 0 : L.COLOR_ENTRIES);
    let color = 0;
    while (color < L.CONTACT_COLORS && i32[starts + color + 1]! <= block) color++;
    for (let lane = 0; lane < 4; lane++) {
      const row = (i32[front + L.FRONT_SOLVED / 4]! + block * L.CONTACT_BLOCK_BYTES) / 4 + lane;
      if (!i32[row + L.CONTACT_BLOCK_NEAR / 4]) continue;
      const particles = [0, 1, 2, 3].map((k) => (i32[row + 4 * k]! - x) / 16) as PairName["particles"];
      found.push({ kind: block < vertices ? "vertex" : "edges", particles, block, lane, color });
    }
  }
  return found;
}

/** Which surface a particle belongs to. */
function surfaceOf(memory: WebAssembly.Memory): (particle: number) => number {
  const i32 = new Int32Array(memory.buffer);
  const rows = word(memory, L.H_SURFACE) / 4;
  const count = word(memory, L.H_SURFACE_COUNT);
  const x = word(memory, L.H_X);
  const first = Array.from(
    { length: count },
    (_, n) => (i32[rows + (n * L.SURFACE_BYTES + L.SURFACE_FIRST) / 4]! - x) / 16,
  );
  const counts = Array.from({ length: count }, (_, n) => i32[rows + (n * L.SURFACE_BYTES + L.SURFACE_COUNT) / 4]!);
  return (particle) => first.findIndex((f, n) => particle >= f && particle < f + counts[n]!);
}

export function namedPairs(memory: WebAssembly.Memory): PairName[] {
  const owner = surfaceOf(memory);
  return packedPairs(memory).map(({ kind, particles }) => ({
    kind,
    particles,
    surfaces: [owner(particles[0]), owner(particles[kind === "vertex" ? 1 : 2])],
  }));
}

export function surfaceRows(memory: WebAssembly.Memory): ReferenceSurface[] {
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const rows = word(memory, L.H_SURFACE);
  return Array.from({ length: word(memory, L.H_SURFACE_COUNT) }, (_, n) => {
    const at = (rows + n * L.SURFACE_BYTES) / 4;
    const number = (offset: number): number => f32[at + offset / 4]!;
    return {
      radius: number(L.SURFACE_RADIUS),
      rootStatic: number(L.SURFACE_STATIC),
      rootDynamic: number(L.SURFACE_DYNAMIC),
      rootBounce: number(L.SURFACE_RESTITUTION),
      shaped: i32[at + L.SURFACE_SHAPED / 4] !== 0,
      smooth: i32[at + L.SURFACE_SHAPED / 4] === L.SHAPED_SMOOTH,
    };
  });
}

/** Pairs as the kernel has them now, in its order. */
export function packedContacts(memory: WebAssembly.Memory): ReferenceContactPair[] {
  return contactsOf(memory, word(memory, L.H_CONTACT_BLOCKS), packedPairs(memory));
}

/** Pairs that the kernel has solved in its last substep, in its order. */
function solvedContacts(memory: WebAssembly.Memory): ReferenceContactPair[] {
  const front = word(memory, L.H_FRONT);
  if (!front) return [];
  return contactsOf(memory, new Int32Array(memory.buffer)[(front + L.FRONT_SOLVED) / 4]!, solvedPairs(memory));
}

/** @param at of the blocks that the pairs are in */
function contactsOf(
  memory: WebAssembly.Memory,
  at: number,
  pairs: readonly Omit<PackedPair, "thickness">[],
): ReferenceContactPair[] {
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const owner = surfaceOf(memory);
  return pairs.map(({ kind, particles, block, lane }): ReferenceContactPair => {
    const row = (at + block * L.CONTACT_BLOCK_BYTES) / 4 + lane;
    const number = (offset: number): number => f32[row + offset / 4]!;
    return {
      kind,
      particles,
      surfaces: [owner(particles[0]), owner(particles[kind === "vertex" ? 1 : 2])],
      thickness: number(L.CONTACT_BLOCK_THICKNESS),
      keep: number(L.CONTACT_BLOCK_KEEP),
      gap: number(L.CONTACT_BLOCK_GAP),
      near: i32[row + L.CONTACT_BLOCK_NEAR / 4] !== 0,
      normal: [
        number(L.CONTACT_BLOCK_NORMAL),
        number(L.CONTACT_BLOCK_NORMAL + 16),
        number(L.CONTACT_BLOCK_NORMAL + 32),
      ],
      weights: [0, 16, 32, 48].map((k) => number(L.CONTACT_BLOCK_WEIGHT + k)) as ReferenceContactPair["weights"],
      staticFriction: number(L.CONTACT_BLOCK_STATIC),
      dynamicFriction: number(L.CONTACT_BLOCK_DYNAMIC),
      restitution: number(L.CONTACT_BLOCK_BOUNCE),
    };
  });
}

/** Follows the lists of one tick. */
export class ListWatcher {
  private solved: ReferenceContactPair[][] = [];
  private verified: ReferenceContactPair[][] = [];
  private free: ReferenceWorld["free"][] = [];

  constructor({ memory, layout }: CreatedWorld, world: SimWorld) {
    const i32 = new Int32Array(memory.buffer);
    const kindOf = (phase: number): number =>
      i32[(word(memory, L.H_PROGRAM) + phase * L.PHASE_BYTES + L.PHASE_KIND) / 4]!;
    world.watchPhases((phase) => {
      if (phase < 0 || kindOf(phase) !== L.KIND_BALANCE) return;
      const isFree = (_: unknown, b: number): boolean =>
        i32[(layout.bodyRows + b * L.BODY_BYTES + L.BODY_FREE) / 4] === 1;
      this.free.push(layout.bodies.filter(isFree).map(({ first, count }) => ({ first, count })));
    });
    world.watchSubsteps(() => {
      this.solved.push(solvedContacts(memory));
      this.verified.push(packedContacts(memory));
    });
  }

  /** Before a tick. */
  begin(): void {
    this.solved = [];
    this.verified = [];
    this.free = [];
  }

  /** After the tick, for the twin. */
  contact(): ReferenceContact {
    return { solved: this.solved, verified: this.verified, free: this.free, detect: { vertexTriangle, edgeEdge } };
  }
}
