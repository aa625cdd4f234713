/**
 * Number of contact rows of the bvtt front (kernel/assembly/contact/detect/bvttFront.ts): rows are compacted when most
 * of them are gone. If pairs that move past each other exceed the memory, only predicted contacts get rows.
 */
import { expect, test } from "vitest";
import type { Body } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";
import type { ContactCounts } from "../../../server/sim/types.ts";
import { EDGE_SHARE } from "../../../server/sim/reference/contacts.ts";
import { edgesDistance, vertexTriangleDistance } from "../../../server/sim/reference/closestPoints.ts";
import type { Vector } from "../../../server/sim/reference/vector.ts";
import { namedPairs, packedPairs, surfaceRows } from "./contactLists.ts";
import { clothGrid } from "../../support/bodies.ts";

/** Two sheets, the upper one thrown beside and along the lower one; both come to rest on the floor. */
async function sheets(capacity?: number): Promise<{ blocks: number[]; rows: number[]; counts: ContactCounts }> {
  const sheet = (n: number): Body =>
    clothGrid(`sheet ${n}`, [0.5, 0.5], [20, 20], {
      transform: { translate: [-0.3 * n, 0.005 + 0.045 * n, 0.006 * n], rotate: [0, 3 * n, 0] },
      velocity: [5 * n, -1.5 * n, 0],
      material: { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
    });
  const scene = validateScene({
    version: 1,
    title: "rows",
    tickHz: 60,
    substeps: 10,
    bodies: [sheet(0), sheet(1)],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });
  const { memory, layout } = await createWorld(scene, { baseDir: "." });
  const i32 = new Int32Array(memory.buffer);
  const header = (offset: number): number => (L.HEADER + offset) / 4;
  if (capacity) {
    i32[header(L.H_CONTACT_BLOCK_CAPACITY)] = capacity;
    i32[header(L.H_BLOCKS_MANY)] = capacity / 2;
    i32[(i32[header(L.H_LIST_KINDS)]! + L.LIST_BLOCKS * L.GROWTH_BYTES + L.GROWTH_MOST) / 4] = capacity;
  }
  const world = openWorld(memory, layout);
  const blocks: number[] = [];
  const rows: number[] = [];
  for (let tick = 0; tick < 40; tick++) {
    world.step([]);
    blocks.push(i32[header(L.H_CONTACT_BLOCK_COUNT)]!);
    rows.push(namedPairs(memory).length);
  }
  return { blocks, rows, counts: world.contactCounts() };
}

test("rows are compacted when most of them are gone", async () => {
  const { blocks, rows, counts } = await sheets();
  const [most, last] = [Math.max(...blocks), blocks.at(-1)!];
  expect(counts.lists).toBe(1);
  expect(last).toBeLessThan(most / 2);
  expect(rows.at(-1)!).toBeGreaterThan(0.5 * 4 * last);
});

test("if not all rows fit, the front is rebuilt with predicted contacts only, and nothing is held", async () => {
  const capacity = Math.ceil(0.75 * Math.max(...(await sheets()).blocks));
  const { blocks, counts } = await sheets(capacity);
  expect(Math.max(...blocks)).toBeLessThanOrEqual(capacity);
  // another rebuild may follow for half a substep's displacement, in which many pairs come near
  expect(counts.lists).toBeGreaterThan(1);
  expect(counts.lists).toBeLessThan(6);
  expect(counts).toMatchObject({ zones: 0, stops: 0 });
});

test("a row keeps at most 0.9 of its primitives' distance at rest, and one of its particles is free", async () => {
  // a contact thickness of 16 mm on a mesh of 10 mm squares: neighbors are nearer than that at rest
  const scene = validateScene({
    version: 1,
    title: "neighbors",
    bodies: [
      clothGrid("sheet", [0.08, 0.08], [8, 8], {
        pins: [{ select: { box: { min: [-0.05, -1, -0.05], max: [-0.005, 1, 0.05] } } }],
        material: { density: 300, thickness: 0.016, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-6 },
      }),
    ],
    colliders: [],
  });
  const { memory, layout } = await createWorld(scene, { baseDir: "." });
  const f32 = new Float32Array(memory.buffer);
  const place = (array: number, p: number): Vector =>
    [...f32.subarray(array / 4 + 4 * p, array / 4 + 4 * p + 3)] as unknown as Vector;
  const rest = new Int32Array(memory.buffer)[(L.HEADER + L.H_REST) / 4]!;
  openWorld(memory, layout).step([]);
  const rows = packedPairs(memory);
  expect(rows.length).toBeGreaterThan(100);
  const r = 2 * surfaceRows(memory)[0]!.radius;
  let limited = 0;
  for (const { kind, particles, thickness } of rows) {
    const corners = particles.map((p) => place(rest, p)) as [Vector, Vector, Vector, Vector];
    const { distance } = kind === "vertex" ? vertexTriangleDistance(...corners) : edgesDistance(...corners);
    const keeps = (kind === "vertex" ? 1 : EDGE_SHARE) * (distance < r ? 0.9 * distance : r);
    expect(Math.abs(thickness - keeps)).toBeLessThan(2 ** -22 * r);
    if (distance < r) limited++;
    expect(particles.some((p) => f32[layout.x / 4 + 4 * p + 3]! > 0)).toBe(true);
  }
  expect(limited).toBeGreaterThan(100);
});
