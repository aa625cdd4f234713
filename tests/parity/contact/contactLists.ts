/** The kernel's packed list of pairs (contactList.ts) and its surfaces, read from a room's memory. */
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { PairName } from "../../../server/sim/reference/contacts.ts";

const word = (memory: WebAssembly.Memory, offset: number): number =>
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;

/** A lane that holds a pair: its place, in order of solving. */
export interface PackedPair extends PairName {
  block: number;
  lane: number;
  /** Contact distance, m. */
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

/** Pairs of the solved blocks with their colors; CONTACT_COLORS: the pair is solved alone. */
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

/** Returns the surface of a particle. */
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

/** A pair with the numbers of its surfaces. */
interface NamedPair extends PairName {
  surfaces: [number, number];
}

export function namedPairs(memory: WebAssembly.Memory): NamedPair[] {
  const owner = surfaceOf(memory);
  return packedPairs(memory).map(({ kind, particles }) => ({
    kind,
    particles,
    surfaces: [owner(particles[0]), owner(particles[kind === "vertex" ? 1 : 2])],
  }));
}

/** Contact thickness of each surface, m. */
export function surfaceRows(memory: WebAssembly.Memory): { radius: number }[] {
  const f32 = new Float32Array(memory.buffer);
  const rows = word(memory, L.H_SURFACE);
  return Array.from({ length: word(memory, L.H_SURFACE_COUNT) }, (_, n) => ({
    radius: f32[(rows + n * L.SURFACE_BYTES + L.SURFACE_RADIUS) / 4]!,
  }));
}
