/**
 * The memory map: regions in order, disjoint and inside the memory, and the program's chunks cover every block and
 * particle.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../../server/sim/world/createWorld.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import { ROOM_MEMORY_MB } from "../../../server/sim/scene/defaults.ts";
import { memoryUse } from "../../../server/sim/memory/usage.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { build } from "../../determinism/run.ts";
import { inLong } from "../../support/run/long.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

test("the allocator: aligned to cache lines, ascending, disjoint, after the header, within the pages", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200_000), { minLength: 1, maxLength: 30 }), (sizes) => {
      const allocator = new Allocator();
      let end = L.HEADER + L.HEADER_END;
      for (const size of sizes) {
        const address = allocator.take(size);
        expect(address % 64).toBe(0);
        expect(address).toBeGreaterThanOrEqual(end);
        expect(address - end).toBeLessThan(64);
        end = address + size;
      }
      expect(allocator.pages * 65536).toBeGreaterThanOrEqual(end);
      expect((allocator.pages - 1) * 65536).toBeLessThan(end);
    }),
  );
});

test("the allocator refuses sizes beyond WebAssembly's addresses", () => {
  const allocator = new Allocator();
  allocator.take(2 ** 30);
  expect(() => allocator.take(2 ** 30)).toThrow(/limit of 2 GiB/);
});

const material = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const world = (): Promise<CreatedWorld> =>
  createWorld(
    validateScene({
      version: 1,
      title: "map",
      iterations: 2,
      refine: false,
      bodies: [
        { name: "cube", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [6, 6, 6] }, material },
        clothGrid("sheet", [2, 2], [20, 20], {
          transform: { translate: [0, 2, 0] },
          material: { ...material, thickness: 0.001, bendingStiffness: 1e-3 },
        }),
        softBox("small", [1, 1, 1], [1, 1, 1], { transform: { translate: [0, 3, 0] }, material }),
      ],
      colliders: [
        { type: "plane", normal: [0, 1, 0], offset: -2 },
        {
          type: "sphere",
          center: [0, -1, 0],
          radius: 0.2,
          ignore: ["small"],
          motion: { keys: [{ time: 0 }, { time: 1, translate: [1, 0, 0] }] },
        },
      ],
      attachments: [{ from: { body: "sheet", particle: 0 }, to: { world: [0, 3, 0] } }],
    }),
    { baseDir: "." },
  );

interface Region {
  name: string;
  at: number;
  bytes: number;
}

/** Every region that the header and the layout name, with the size that the kernel reads or writes there. */
function regionsOf({ memory, layout, bodies }: CreatedWorld): Region[] {
  const i32 = new Int32Array(memory.buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  const particles = header(L.H_PARTICLES);
  const regions: Region[] = [
    { name: "header", at: L.HEADER, bytes: L.HEADER_END },
    ...(
      [
        ["x", L.H_X],
        ["xPrev", L.H_XPREV],
        ["v", L.H_V],
        ["acc", L.H_ACC],
      ] as const
    ).map(([name, offset]) => ({ name, at: header(offset), bytes: 16 * particles })),
    { name: "program", at: header(L.H_PROGRAM), bytes: L.PHASE_BYTES * header(L.H_PHASES) },
    { name: "points", at: header(L.H_POINTS), bytes: L.POINT_BYTES * header(L.H_POINT_COUNT) },
    { name: "colliders", at: header(L.H_COLLIDERS), bytes: L.COLLIDER_BYTES * header(L.H_COLLIDER_COUNT) },
    { name: "surfaces", at: header(L.H_SURFACE), bytes: L.SURFACE_BYTES * header(L.H_SURFACE_COUNT) },
    { name: "bodies", at: header(L.H_BODIES), bytes: L.BODY_BYTES * bodies.length },
    ...(
      [
        ["safe", L.H_SAFE],
        ["reference", L.H_REFERENCE],
        ["changed from", L.H_CHANGED_FROM],
      ] as const
    ).map(([name, offset]) => ({ name, at: header(offset), bytes: 16 * particles })),
    {
      name: "touches",
      at: header(L.H_CONTACT_BLOCKS),
      bytes: L.CONTACT_BLOCK_BYTES * header(L.H_CONTACT_BLOCK_CAPACITY),
    },
    { name: "touch colors", at: header(L.H_CONTACT_COLORS), bytes: 20 * L.COLOR_ENTRIES },
    { name: "color masks", at: header(L.H_COLOR_MASKS), bytes: 32 * particles },
    { name: "near blocks", at: header(L.H_BLOCK_NEAR), bytes: L.STATUS_BYTES * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "bad blocks", at: header(L.H_BLOCK_BAD), bytes: L.STATUS_BYTES * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "quiet blocks", at: header(L.H_BLOCK_QUIET), bytes: L.STATUS_BYTES * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "packed blocks", at: header(L.H_BLOCK_PACKED), bytes: L.STATUS_BYTES * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "changed", at: header(L.H_CHANGED), bytes: 8 * particles },
    { name: "marks", at: header(L.H_MARKS), bytes: L.MARK_BYTES * particles },
    { name: "owners of corners", at: header(L.H_OWNERS), bytes: 4 * particles },
    { name: "incident", at: header(L.H_INCIDENT), bytes: 4 * particles },
    { name: "incidences", at: header(L.H_INCIDENCES), bytes: 64 * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "queues", at: header(L.H_QUEUE), bytes: 32 * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "queued", at: header(L.H_QUEUED), bytes: 4 * header(L.H_CONTACT_BLOCK_CAPACITY) },
    { name: "zones", at: header(L.H_ZONES), bytes: 8 * particles },
    { name: "zone sums", at: header(L.H_ZONE_SUMS), bytes: L.ZONE_BYTES * particles },
    { name: "initial", at: layout.initial, bytes: 32 * particles },
    { name: "good", at: layout.good, bytes: 32 * particles },
    { name: "owners", at: layout.grabOwners, bytes: 8 * layout.grabCount },
    { name: "offsets", at: layout.grabOffsets, bytes: 12 * layout.grabCount },
    { name: "anchor", at: layout.anchor, bytes: 12 * layout.streamedParticles },
    { name: "still", at: layout.still, bytes: 4 * (3 * layout.bodyCount + 1) },
    { name: "scratch", at: layout.scratch, bytes: L.MAX_THREADS * L.SCRATCH_BYTES },
  ];
  regions.push(
    { name: "rest", at: header(L.H_REST), bytes: 16 * particles },
    { name: "pairs", at: header(L.H_PAIRS), bytes: L.PAIR_BYTES * header(L.H_PAIR_CAPACITY) },
    { name: "tangles", at: header(L.H_INTERSECTIONS), bytes: L.INTERSECTION_BYTES * header(L.H_INTERSECTION_CAPACITY) },
    { name: "ways", at: header(L.H_SEPARATIONS), bytes: L.SEPARATION_BYTES * L.SEPARATION_COUNT },
  );
  bodies.forEach((body, b) => {
    const row = layout.bodies[b]!.surface / 4;
    regions.push({ name: `triangles ${b}`, at: i32[row + L.SURFACE_TRIANGLES / 4]!, bytes: 4 * body.triangles.length });
    regions.push({
      name: `edges ${b}`,
      at: i32[row + L.SURFACE_EDGES / 4]!,
      bytes: 8 * i32[row + L.SURFACE_EDGE_COUNT / 4]!,
    });
    regions.push({ name: `meets ${b}`, at: i32[row + L.SURFACE_MEETS / 4]!, bytes: header(L.H_SURFACE_COUNT) });
  });
  const [core] = layout.cores;
  const table = header(L.H_SURFACE) + bodies.length * L.SURFACE_BYTES;
  regions.push(
    { name: "core's triangles", at: i32[(table + L.SURFACE_TRIANGLES) / 4]!, bytes: 4 * core!.triangles.length },
    {
      name: "core's points",
      at: i32[(header(L.H_MOTIONS) + L.MOTION_CORE_POINTS) / 4]!,
      bytes: L.CORE_POINT_BYTES * core!.count,
    },
  );
  regions.push(
    { name: "motions", at: header(L.H_MOTIONS), bytes: L.MOTION_BYTES },
    { name: "whom `small` touches", at: i32[(header(L.H_BODIES) + 2 * L.BODY_BYTES + L.BODY_MEETS) / 4]!, bytes: 2 },
  );
  const blockBytes = new Map([
    [L.KIND_TET, L.TET_BYTES],
    [L.KIND_TRIANGLE, L.TRI_BYTES],
    [L.KIND_BEND, L.BEND_BYTES],
  ]);
  const phases = phasesOf(i32).filter((phase) => blockBytes.has(phase.kind) && phase.pass & L.PASS_FIRST);
  phases.forEach((phase, n) =>
    regions.push({ name: `blocks ${n}`, at: phase.data, bytes: phase.count * blockBytes.get(phase.kind)! }),
  );
  return regions;
}

interface PhaseRow {
  kind: number;
  data: number;
  count: number;
  chunk: number;
  chunks: number;
  pass: number;
}

function phasesOf(i32: Int32Array): PhaseRow[] {
  const at = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  return Array.from({ length: at(L.H_PHASES) }, (_, n) => {
    const field = (offset: number): number => i32[(at(L.H_PROGRAM) + n * L.PHASE_BYTES + offset) / 4]!;
    return {
      kind: field(L.PHASE_KIND),
      data: field(L.PHASE_DATA),
      count: field(L.PHASE_COUNT),
      chunk: field(L.PHASE_CHUNK),
      chunks: field(L.PHASE_CHUNKS),
      pass: field(L.PHASE_PASS),
    };
  });
}

test("a world's regions do not overlap, and end inside the memory", async () => {
  const created = await world();
  const regions = regionsOf(created)
    .filter((r) => r.bytes > 0)
    .sort((a, b) => a.at - b.at);
  expect(regions.length).toBeGreaterThan(40);
  regions.forEach((region, i) => {
    const end = region.at + region.bytes;
    const next = regions[i + 1];
    expect(region.at, region.name).toBeGreaterThanOrEqual(L.HEADER);
    if (next) expect(end, `${region.name}, then ${next.name}`).toBeLessThanOrEqual(next.at);
    else expect(end, region.name).toBeLessThanOrEqual(created.memory.buffer.byteLength);
  });
});

test("the program: enough chunks to cover each phase, every block in both iterations", async () => {
  const { memory, layout } = await world();
  const phases = phasesOf(new Int32Array(memory.buffer));
  for (const phase of phases) {
    expect(phase.chunks * phase.chunk).toBeGreaterThanOrEqual(phase.count);
    expect((phase.chunks - 1) * phase.chunk).toBeLessThan(phase.count);
  }
  const blocks = (kind: number, pass: number): number =>
    phases.filter((p) => p.kind === kind && p.pass === pass).reduce((n, p) => n + p.count, 0);
  for (const [kind, count] of [
    [L.KIND_TET, layout.blocks.tet],
    [L.KIND_TRIANGLE, layout.blocks.triangle],
    [L.KIND_BEND, layout.blocks.bend],
  ] as const) {
    expect(count).toBeGreaterThan(0);
    expect([blocks(kind, L.PASS_FIRST), blocks(kind, L.PASS_LAST)]).toEqual([count, count]);
  }
});

test("the blocks contain every constraint once; unused lanes refer to the dummies", async () => {
  const { memory, layout, bodies } = await world();
  const u32 = new Uint32Array(memory.buffer);
  const phases = phasesOf(new Int32Array(memory.buffer)).filter((p) => p.pass & L.PASS_FIRST);
  const found: string[] = [];
  const [core] = layout.cores;
  let padding = 0;
  for (const { data, count } of phases.filter((p) => p.kind === L.KIND_TET)) {
    for (let lane = 0; lane < 4 * count; lane++) {
      const at = (data + Math.floor(lane / 4) * L.TET_BYTES) / 4 + (lane % 4);
      const corners = [0, 1, 2, 3].map((c) => (u32[at + 4 * c]! - layout.x) / 16);
      if (corners.some((p) => p >= layout.particleCount)) {
        expect(corners).toEqual([0, 1, 2, 3].map((c) => core!.first + core!.count + c));
        padding++;
      } else found.push(corners.join());
    }
  }
  const expected = bodies.flatMap((body, b) =>
    Array.from({ length: body.tets.length / 4 }, (_, e) =>
      [...body.tets.subarray(4 * e, 4 * e + 4)].map((p) => p + layout.bodies[b]!.first).join(),
    ),
  );
  expect(found.sort()).toEqual(expected.sort());
  expect(padding).toBe(4 * layout.blocks.tet - expected.length);
});

test("no two fields of the header share a place", () => {
  const fields = Object.entries(L).filter(([name]) => /^H_/.test(name)) as [string, number][];
  const places = new Map<number, string>();
  for (const [name, offset] of fields) {
    expect(places.get(offset), `${name} at ${offset}`).toBeUndefined();
    expect(offset, name).toBeLessThan(L.HEADER_END);
    places.set(offset, name);
  }
});

/** A sheet of 60 x 60 cells over a floor, as in `drape`. @returns KB for each particle */
async function sheetMemory(self: boolean): Promise<number> {
  const { memory, layout } = await createWorld(
    validateScene({
      version: 1,
      title: "sheet",
      bodies: [
        clothGrid("sheet", [1.5, 1.5], [60, 60], {
          transform: { translate: [0, 1, 0] },
          material: { ...material, thickness: 0.001, bendingStiffness: 5e-4 },
          contact: { self },
        }),
      ],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    }),
    { baseDir: "." },
  );
  return memory.buffer.byteLength / layout.particleCount / 1000;
}

test("a room begins with at most 1.7 KB a particle if no bodies can meet, and 7 KB with self-contact", async () => {
  expect(await sheetMemory(false)).toBeLessThan(1.7);
  expect(await sheetMemory(true)).toBeLessThan(7);
});

test("drape has at most 9 KB a particle while three grabs pull it", async () => {
  const { memory, layout } = await build("drape");
  const reserved = (): number => memory.buffer.byteLength / layout.particleCount / 1000;
  expect(reserved()).toBeLessThan(7);
  const world = openWorld(memory, layout);
  for (let tick = 1; tick <= 60; tick++) world.step(hands(tick));
  const { used, limit } = memoryUse(memory);
  expect(reserved()).toBeLessThan(9);
  expect(used).toBeLessThan(memory.buffer.byteLength);
  expect(used).toBeGreaterThan(memory.buffer.byteLength / 3);
  expect(limit).toBe(ROOM_MEMORY_MB * 2 ** 20);
});

/** Three members who pull the sheet around, from tick 10 on. */
function hands(tick: number): Input[] {
  return [5, 3000, 6500].flatMap((triangle, n): Input[] => {
    const target: [number, number, number] = [
      0.5 * Math.sin(tick / 15 + 2 * n),
      0.8,
      0.5 * Math.cos(tick / 13 + 2 * n),
    ];
    if (tick < 10) return [];
    return tick === 10
      ? [{ type: "grab", member: n + 1, grab: 0, body: 0, triangle, u: 0.3, v: 0.3, target }]
      : [{ type: "move", member: n + 1, grab: 0, target }];
  });
}

test("a room's limit is the operator's, or its initial size", async () => {
  const scene = validateScene({
    version: 1,
    title: "limit",
    bodies: [{ name: "cube", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] }, material }],
  });
  const limitOf = async (memoryMb: number): Promise<number> =>
    memoryUse((await createWorld(scene, { baseDir: ".", memoryMb })).memory).limit;
  expect(await limitOf(64)).toBe(64 * 2 ** 20);
  const { memory } = await createWorld(scene, { baseDir: ".", memoryMb: 0 });
  expect(memoryUse(memory).limit).toBe(memory.buffer.byteLength);
});

test("a sheet of 500,000 triangles with self-contact fits into a room", async () => {
  const cells = inLong(500, 50);
  const { memory, layout } = await createWorld(
    validateScene({
      version: 1,
      title: "large",
      bodies: [
        clothGrid("sheet", [5, 5], [cells, cells], {
          material: { ...material, thickness: 0.001, bendingStiffness: 5e-4 },
        }),
      ],
    }),
    { baseDir: "." },
  );
  expect(layout.particleCount).toBe((cells + 1) ** 2);
  openWorld(memory, layout).step([]);
});
