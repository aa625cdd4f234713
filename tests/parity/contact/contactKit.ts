/** Pairs of contact without a list and without a world, as blocks for the kernel and as pairs for the float64 twin. */
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { Kernel } from "../../../server/sim/world/kernelModule.ts";
import { openMemory } from "../kernelMemory.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import { makeParticles, vectorAt, type Particles } from "../../../server/sim/reference/particles.ts";
import type { ReferenceContactPair } from "../../../server/sim/reference/contacts.ts";
import { scale, subtract, type Vector } from "../../../server/sim/reference/vector.ts";

/** A pair of four particles that no other pair uses. */
export interface PairCase {
  /** Positions at the start of the substep, at its end, and xPrev (default: the start). */
  safe: readonly Vector[];
  x: readonly Vector[];
  w: readonly number[];
  touch: Pick<
    ReferenceContactPair,
    "thickness" | "keep" | "staticFriction" | "dynamicFriction" | "restitution" | "normal" | "gap" | "near" | "weights"
  >;
}

export interface ContactKit {
  kernel: Kernel;
  /** Address of the first block, and number of blocks. */
  blocks: number;
  count: number;
  /** Particles rounded to float32, as in the kernel. */
  particles: Particles;
  safe: Float64Array;
  touches: ReferenceContactPair[];
  /** Positions in the kernel, float64[3N]. */
  positions: () => Float64Array;
  previous: () => Float64Array;
  /** Reads a word of a pair's lane. */
  row: (pair: number, offset: number) => number;
  bits: (pair: number, offset: number) => number;
}

type Kind = ReferenceContactPair["kind"];

/** Substeps of a tick: the release of older gaps is bound in some pairs, and free in others. */
export const SUBSTEPS = 1;
/** Duration of a substep, s. */
export const SECONDS = 1;
/** Shares of the displacement in a substep that particles had as velocities before it, pair by pair. */
const CAME = [1, 0.5, 1.5];

/** Memory with the particles of `pairs` pairs and empty blocks for them. */
function openRoom(kind: Kind, pairs: number) {
  const count = Math.ceil(pairs / 4);
  const dummies = 4 * pairs;
  const rows = dummies + L.DUMMIES;
  const allocator = new Allocator();
  const x = allocator.take(16 * rows);
  const prev = allocator.take(16 * rows);
  const safe = allocator.take(16 * rows);
  const v = allocator.take(16 * rows);
  const acc = allocator.take(16 * rows);
  const low = allocator.take(16 * rows);
  const lowPrev = allocator.take(16 * rows);
  const blocks = allocator.take(count * L.CONTACT_BLOCK_BYTES);
  const heads = allocator.take(count * L.STATUS_BYTES);
  const bad = allocator.take(count * L.STATUS_BYTES);
  const quiet = allocator.take(count * L.STATUS_BYTES);
  const { kernel, f32, i32 } = openMemory(allocator, {
    [L.H_X]: x,
    [L.H_XPREV]: prev,
    [L.H_SAFE]: safe,
    [L.H_START]: safe,
    [L.H_VERIFY_EVERY]: 1,
    [L.H_V]: v,
    [L.H_ACC]: acc,
    [L.H_LOW]: low,
    [L.H_LOW_PREV]: lowPrev,
    [L.H_PARTICLES]: rows,
    [L.H_SUBSTEPS]: SUBSTEPS,
    [L.H_CONTACT_BLOCKS]: blocks,
    [L.H_BLOCK_NEAR]: heads,
    [L.H_BLOCK_BAD]: bad,
    [L.H_BLOCK_QUIET]: quiet,
    [L.H_CONTACT_BLOCK_CAPACITY]: count,
    [L.H_VERTEX_CONTACT_BLOCKS]: kind === "vertex" ? count : 0,
  });
  f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4] = SECONDS;
  const laneOf = (pair: number): number => (blocks + Math.floor(pair / 4) * L.CONTACT_BLOCK_BYTES) / 4 + (pair % 4);
  return { kernel, f32, i32, x, prev, v, safe, dummies, blocks, heads, count, laneOf };
}

type Room = ReturnType<typeof openRoom>;

/** Writes a lane of the blocks: the case, or without one a pair that never touches. */
function writeLane({ f32, i32, x, dummies, heads, laneOf }: Room, pair: number, c?: PairCase): void {
  const at = laneOf(pair);
  const first = c ? 4 * pair : dummies;
  for (let k = 0; k < 4; k++) i32[at + 4 * k] = x + 16 * (first + k);
  f32[at + L.CONTACT_BLOCK_KEEP / 4] = f32[at + L.CONTACT_BLOCK_THICKNESS / 4] = -1e30;
  if (!c) return;
  const { touch } = c;
  touch.normal.forEach((value, r) => (f32[at + L.CONTACT_BLOCK_NORMAL / 4 + 4 * r] = value));
  touch.weights.forEach((value, k) => (f32[at + L.CONTACT_BLOCK_WEIGHT / 4 + 4 * k] = value));
  for (const [offset, value] of [
    [L.CONTACT_BLOCK_KEEP, touch.keep],
    [L.CONTACT_BLOCK_THICKNESS, touch.thickness],
    [L.CONTACT_BLOCK_GAP, touch.gap],
    [L.CONTACT_BLOCK_STATIC, touch.staticFriction],
    [L.CONTACT_BLOCK_DYNAMIC, touch.dynamicFriction],
    [L.CONTACT_BLOCK_BOUNCE, touch.restitution],
  ] as const)
    f32[at + offset / 4] = value;
  i32[at + L.CONTACT_BLOCK_NEAR / 4] = touch.near ? -1 : 0;
  if (touch.near) i32[heads / 4 + Math.floor(pair / 4)] = 1;
}

/** The twin's pair of a lane, from the kernel's float32 numbers. */
function readLane({ f32, laneOf }: Room, kind: Kind, pair: number, near: boolean): ReferenceContactPair {
  const row = (offset: number): number => f32[laneOf(pair) + offset / 4]!;
  return {
    kind,
    particles: [4 * pair, 4 * pair + 1, 4 * pair + 2, 4 * pair + 3],
    near,
    normal: [0, 16, 32].map((r) => row(L.CONTACT_BLOCK_NORMAL + r)) as unknown as Vector,
    weights: [0, 16, 32, 48].map((k) => row(L.CONTACT_BLOCK_WEIGHT + k)) as ReferenceContactPair["weights"],
    keep: row(L.CONTACT_BLOCK_KEEP),
    thickness: row(L.CONTACT_BLOCK_THICKNESS),
    gap: row(L.CONTACT_BLOCK_GAP),
    staticFriction: row(L.CONTACT_BLOCK_STATIC),
    dynamicFriction: row(L.CONTACT_BLOCK_DYNAMIC),
    restitution: row(L.CONTACT_BLOCK_BOUNCE),
  };
}

export function contactKit(kind: Kind, cases: readonly PairCase[]): ContactKit {
  const n = 4 * cases.length;
  const room = openRoom(kind, cases.length);
  const { kernel, f32, i32, blocks, count, laneOf } = room;
  const particles = makeParticles(n);
  const safe = new Float64Array(3 * n);
  cases.forEach((c, p) =>
    c.x.forEach((x, k) => {
      const i = 4 * p + k;
      f32.set([...x, c.w[k]!], room.x / 4 + 4 * i);
      f32.set([...c.safe[k]!, 0], room.prev / 4 + 4 * i);
      const came = CAME[p % CAME.length]! / SECONDS;
      f32.set([...scale(came, subtract(x, c.safe[k]!)), 0], room.v / 4 + 4 * i);
      f32.set([...c.safe[k]!, c.w[k]!], room.safe / 4 + 4 * i);
      particles.w[i] = f32[room.x / 4 + 4 * i + 3]!;
      for (let r = 0; r < 3; r++) {
        particles.x[3 * i + r] = f32[room.x / 4 + 4 * i + r]!;
        particles.v[3 * i + r] = f32[room.v / 4 + 4 * i + r]!;
        particles.xPrev[3 * i + r] = safe[3 * i + r] = f32[room.prev / 4 + 4 * i + r]!;
      }
    }),
  );
  for (let pair = 0; pair < 4 * count; pair++) writeLane(room, pair, cases[pair]);
  const read = (address: number) => (): Float64Array =>
    Float64Array.from({ length: 3 * n }, (_, k) => f32[address / 4 + 4 * Math.floor(k / 3) + (k % 3)]!);
  return {
    kernel,
    blocks,
    count,
    particles,
    safe,
    positions: read(room.x),
    previous: read(room.prev),
    row: (pair, offset) => f32[laneOf(pair) + offset / 4]!,
    bits: (pair, offset) => i32[laneOf(pair) + offset / 4]!,
    touches: cases.map(({ touch }, pair) => readLane(room, kind, pair, touch.near)),
  };
}

/** The four positions of a pair in an array float64[3N]. */
export const cornersOf = (x: Float64Array, pair: number): Vector[] =>
  [0, 1, 2, 3].map((k) => vectorAt(x, 4 * pair + k));
