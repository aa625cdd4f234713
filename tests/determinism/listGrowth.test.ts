/**
 * Lists of contacts begin small and grow (kernel/assembly/contact/prepare/listMemory.ts). A room has the same bits for
 * any initial sizes, on any number of threads, after a checkpoint and in a replay. If the memory may not grow, the room
 * continues and reports it.
 */
import { describe, expect, it } from "vitest";
import type { Body } from "../../shared/scene/scene.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { CheckpointError, forgetList, loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { openWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { memoryUse } from "../../server/sim/memory/usage.ts";
import { hashOf } from "./run.ts";

const TICKS = 12;
const KINDS = [
  "LIST_LEAF_PAIRS",
  "LIST_PAIR_RESULTS",
  "LIST_ROWS",
  "LIST_SEPARATED",
  "LIST_BLOCKS",
  "LIST_SOLVED",
  "LIST_PICKED",
] as const;

/** Sheets thrown against each other: they use all lists of contacts. */
function sheets(): Promise<CreatedWorld> {
  const sheet = (n: number): Body => ({
    name: `sheet ${n}`,
    kind: "cloth",
    mesh: { type: "grid", size: [0.5, 0.5], cells: [20, 20] },
    transform: { translate: [0.01 * n, 0.01 + 0.012 * n, 0.006 * n], rotate: [0, 5 * n, 0] },
    velocity: [0.4 * (n - 2), -0.5 * n, 0],
    material: { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
  });
  const scene = validateScene({
    version: 1,
    title: "lists",
    tickHz: 60,
    substeps: 10,
    bodies: [0, 1, 2, 3].map(sheet),
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });
  return createWorld(scene, { baseDir: "." });
}

const header = (memory: WebAssembly.Memory, offset: number): number =>
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4]!;

function setHeader(memory: WebAssembly.Memory, offset: number, value: number): void {
  new Int32Array(memory.buffer)[(L.HEADER + offset) / 4] = value;
}

const kindAt = (memory: WebAssembly.Memory, kind: number): number =>
  (header(memory, L.H_LIST_KINDS) + kind * L.GROWTH_BYTES) / 4;

function capacitiesOf(memory: WebAssembly.Memory): number[] {
  const i32 = new Int32Array(memory.buffer);
  return KINDS.map((kind) => i32[i32[kindAt(memory, L[kind])]! / 4]!);
}

/** A room whose lists each hold one unit and have to grow. */
async function tiny(): Promise<CreatedWorld> {
  const created = await sheets();
  const i32 = new Int32Array(created.memory.buffer);
  for (const kind of KINDS) i32[i32[kindAt(created.memory, L[kind])]! / 4] = 1;
  return created;
}

/** A room whose lists are large enough from the start. */
async function wide(): Promise<CreatedWorld> {
  const created = await sheets();
  const { memory } = created;
  const { capacities } = await grown();
  // the results of one thread may have to hold all rows
  capacities[L.LIST_PAIR_RESULTS]! *= 4 * L.SHARED_PARTS;
  const units = capacities.reduce((sum, n) => sum + n, 0);
  const lists = header(memory, L.H_LISTS);
  // after everything else, one list after another
  let at = header(memory, L.H_LISTS_END);
  memory.grow(Math.ceil((units * L.CONTACT_BLOCK_BYTES * 2) / 65536));
  const i32 = new Int32Array(memory.buffer);
  for (let n = 0; n < header(memory, L.H_LIST_COUNT); n++) {
    const list = (lists + n * L.LIST_BYTES) / 4;
    i32[i32[list]! / 4] = at;
    at += 64 * Math.ceil((i32[list + L.LIST_UNIT / 4]! * (capacities[i32[list + L.LIST_KIND / 4]!]! + 64)) / 64);
  }
  KINDS.forEach((kind) => (i32[i32[kindAt(memory, L[kind])]! / 4] = capacities[L[kind]]!));
  setHeader(memory, L.H_LISTS_END, at);
  return created;
}

/** The tiny room after its ticks, with the final sizes of its lists. */
async function grown(): Promise<{ memory: WebAssembly.Memory; capacities: number[]; hash: string }> {
  const created = await tiny();
  const hash = await hashOf(created, { until: TICKS });
  return { memory: created.memory, capacities: capacitiesOf(created.memory), hash };
}

describe("lists that grow", () => {
  it("lists that grow give the same bits as lists that are large enough, on one, two and three threads", async () => {
    const { hash, capacities } = await grown();
    const most = await wide();
    const before = capacitiesOf(most.memory);
    expect(await hashOf(most, { until: TICKS })).toBe(hash);
    expect(capacitiesOf(most.memory), "the wide room must not grow").toEqual(before);
    expect(Math.min(...capacities), "every list must have grown").toBeGreaterThan(100);
    for (const threads of [2, 3]) {
      const room = await tiny();
      expect(await hashOf(room, { until: TICKS, threads }), `${threads} threads`).toBe(hash);
      expect(capacitiesOf(room.memory), `${threads} threads`).toEqual(capacities);
    }
  });

  it("a checkpoint and a replay restore the sizes of the lists", async () => {
    const template = await tiny();
    const { layout } = template;
    const [memory, restored, replayed] = [0, 1, 2].map(() => copyMemory(template.memory)) as [
      WebAssembly.Memory,
      WebAssembly.Memory,
      WebAssembly.Memory,
    ];
    const run = (of: WebAssembly.Memory, ticks: number): string => {
      const world = openWorld(of, layout);
      for (let n = 0; n < ticks; n++) world.step([]);
      return world.stateHash();
    };
    run(memory, TICKS / 2);
    const state = saveState(memory, template.memory, layout);
    loadState(restored, layout, state);
    expect(restored.buffer.byteLength).toBe(memory.buffer.byteLength);
    expect(capacitiesOf(restored)).toEqual(capacitiesOf(memory));
    run(replayed, TICKS / 2);
    forgetList(replayed);
    const hash = run(memory, TICKS / 2);
    expect(run(restored, TICKS / 2)).toBe(hash);
    expect(run(replayed, TICKS / 2)).toBe(hash);
    const [one, two, three] = [memory, restored, replayed].map((of) => saveState(of, template.memory, layout));
    expect(Buffer.compare(one!, two!)).toBe(0);
    expect(Buffer.compare(one!, three!)).toBe(0);
    expect(memory.buffer.byteLength).toBeGreaterThan(template.memory.buffer.byteLength);
  });

  it("a state whose lists end beyond the memory limit is refused", async () => {
    const template = await tiny();
    const memory = copyMemory(template.memory);
    setHeader(memory, L.H_LISTS_END, 65536 * header(memory, L.H_MEMORY_LIMIT) + 64);
    const state = saveState(memory, template.memory, template.layout);
    expect(() => loadState(copyMemory(template.memory), template.layout, state)).toThrow(CheckpointError);
    expect(() => loadState(copyMemory(template.memory), template.layout, state)).toThrow(/lists end at byte \d+/);
  });
});

describe("a room whose memory may not grow", () => {
  /** Room for the bvtt front and for some of the rows. */
  async function narrow(): Promise<CreatedWorld> {
    const created = await sheets();
    const i32 = new Int32Array(created.memory.buffer);
    i32[i32[kindAt(created.memory, L.LIST_BLOCKS)]! / 4] = 300;
    setHeader(created.memory, L.H_MEMORY_LIMIT, created.memory.buffer.byteLength / 65536);
    return created;
  }

  it("continues and reports it, with the same bits on two threads and after a checkpoint", async () => {
    const template = await narrow();
    const { layout } = template;
    const room = { memory: copyMemory(template.memory), layout };
    const before = await hashOf(room, { until: TICKS / 2 });
    expect(memoryUse(room.memory)).toMatchObject({
      full: expect.arrayContaining(["rows"]),
      reserved: template.memory.buffer.byteLength,
      limit: template.memory.buffer.byteLength,
    });
    expect(openWorld(room.memory, layout).contactCounts().full).toBeGreaterThan(0);
    const other = { memory: copyMemory(template.memory), layout };
    expect(await hashOf(other, { until: TICKS / 2, threads: 2 })).toBe(before);
    const restored = { memory: copyMemory(template.memory), layout };
    loadState(restored.memory, layout, saveState(room.memory, template.memory, layout));
    const after = await hashOf(room, { from: TICKS / 2 + 1, until: TICKS });
    expect(await hashOf(restored, { from: TICKS / 2 + 1, until: TICKS })).toBe(after);
    expect(after).not.toBe(before);
  });
});
