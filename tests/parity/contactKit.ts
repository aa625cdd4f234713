/**
 * Pairs of contact in a memory of their own, without a list and without a world: as blocks for the kernel and as
 * touches for the float64 twin.
 */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel, type Kernel } from "../../server/sim/kernelModule.ts";
import { Allocator } from "../../server/sim/memory/map.ts";
import { makeParticles, vectorAt, type Particles } from "../../server/sim/reference/particles.ts";
import type { ReferenceContactPair } from "../../server/sim/reference/contacts.ts";
import type { Vector } from "../../server/sim/reference/vector.ts";

/** One pair of four particles that it shares with no other. */
export interface PairCase {
  /** Where the substep began, where it ends; and what xPrev is, default: where it began. */
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
  /** Address of the first block, and how many. */
  blocks: number;
  count: number;
  /** Rounded to float32, as the kernel has them. */
  particles: Particles;
  safe: Float64Array;
  touches: ReferenceContactPair[];
  /** The kernel's, float64[3N]. */
  positions: () => Float64Array;
  previous: () => Float64Array;
  /** Of a pair's lane. */
  row: (pair: number, offset: number) => number;
  bits: (pair: number, offset: number) => number;
}

export function contactKit(kind: ReferenceContactPair["kind"], cases: readonly PairCase[]): ContactKit {
  const n = 4 * cases.length;
  const count = Math.ceil(cases.length / 4);
  const rows = n + L.DUMMIES;
  const allocator = new Allocator();
  const [X, prev, safe, v, acc] = [0, 1, 2, 3, 4].map(() => allocator.take(16 * rows)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const blocks = allocator.take(count * L.CONTACT_BLOCK_BYTES);
  const heads = allocator.take(count * L.STATUS_BYTES);
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  for (const [offset, value] of [
    [L.H_X, X],
    [L.H_XPREV, prev],
    [L.H_SAFE, safe],
    [L.H_V, v],
    [L.H_ACC, acc],
    [L.H_PARTICLES, rows],
    [L.H_CONTACT_BLOCKS, blocks],
    [L.H_BLOCK_STATUS, heads],
    [L.H_CONTACT_BLOCK_CAPACITY, count],
    [L.H_VERTEX_CONTACT_BLOCKS, kind === "vertex" ? count : 0],
  ] as const)
    i32[(L.HEADER + offset) / 4] = value;
  const particles = makeParticles(n);
  const safeTwin = new Float64Array(3 * n);
  cases.forEach((c, p) =>
    c.x.forEach((x, k) => {
      const i = 4 * p + k;
      f32.set([...x, c.w[k]!], X / 4 + 4 * i);
      f32.set([...c.safe[k]!, 0], prev / 4 + 4 * i);
      f32.set([...c.safe[k]!, c.w[k]!], safe / 4 + 4 * i);
      particles.w[i] = f32[X / 4 + 4 * i + 3]!;
      for (let r = 0; r < 3; r++) {
        particles.x[3 * i + r] = f32[X / 4 + 4 * i + r]!;
        particles.xPrev[3 * i + r] = safeTwin[3 * i + r] = f32[prev / 4 + 4 * i + r]!;
      }
    }),
  );
  const laneOf = (pair: number): number => (blocks + Math.floor(pair / 4) * L.CONTACT_BLOCK_BYTES) / 4 + (pair % 4);
  for (let pair = 0; pair < 4 * count; pair++) {
    const at = laneOf(pair);
    const c = cases[pair];
    for (let k = 0; k < 4; k++) i32[at + 4 * k] = X + 16 * (c ? 4 * pair + k : n + k);
    f32[at + L.CONTACT_BLOCK_KEEP / 4] = f32[at + L.CONTACT_BLOCK_THICKNESS / 4] = -1e30;
    if (!c) continue;
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
    if (touch.near) i32[heads / 4 + L.STATUS_NEAR * count + Math.floor(pair / 4)] = 1;
  }
  const row = (pair: number, offset: number): number => f32[laneOf(pair) + offset / 4]!;
  const three = (pair: number, offset: number): Vector =>
    [0, 16, 32].map((r) => row(pair, offset + r)) as unknown as Vector;
  const read = (address: number) => (): Float64Array =>
    Float64Array.from({ length: 3 * n }, (_, k) => f32[address / 4 + 4 * Math.floor(k / 3) + (k % 3)]!);
  return {
    kernel: instantiateKernel(memory),
    blocks,
    count,
    particles,
    safe: safeTwin,
    positions: read(X),
    previous: read(prev),
    row,
    bits: (pair, offset) => i32[laneOf(pair) + offset / 4]!,
    touches: cases.map(
      ({ touch }, pair): ReferenceContactPair => ({
        kind,
        particles: [4 * pair, 4 * pair + 1, 4 * pair + 2, 4 * pair + 3],
        surfaces: [0, 1],
        near: touch.near,
        normal: three(pair, L.CONTACT_BLOCK_NORMAL),
        weights: [0, 16, 32, 48].map((k) => row(pair, L.CONTACT_BLOCK_WEIGHT + k)) as ReferenceContactPair["weights"],
        keep: row(pair, L.CONTACT_BLOCK_KEEP),
        thickness: row(pair, L.CONTACT_BLOCK_THICKNESS),
        gap: row(pair, L.CONTACT_BLOCK_GAP),
        staticFriction: row(pair, L.CONTACT_BLOCK_STATIC),
        dynamicFriction: row(pair, L.CONTACT_BLOCK_DYNAMIC),
        restitution: row(pair, L.CONTACT_BLOCK_BOUNCE),
      }),
    ),
  };
}

/** Of a pair: its four positions in an array of float64[3N]. */
export const cornersOf = (x: Float64Array, pair: number): Vector[] =>
  [0, 1, 2, 3].map((k) => vectorAt(x, 4 * pair + k));
