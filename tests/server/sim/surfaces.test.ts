/**
 * SURFACE rows as the kernel reads them: unique edges in order, possible pairs, square roots of coefficients,
 * undeformed positions.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import {
  planSurfaces,
  SOLID,
  uniqueEdges,
  type SurfaceSource,
} from "../../../server/sim/memory/contact/surfaceRows.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { ballBody, clothGrid, softBox } from "../../support/bodies.ts";

test("edges: each once, lower particle first, sorted, for any order of triangles and corners", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uniqueArray(fc.nat(40), { minLength: 3, maxLength: 3 }), { maxLength: 60 }),
      (triangles) => {
        const edges = uniqueEdges(Uint32Array.from(triangles.flat()));
        const wanted = new Set(
          triangles.flatMap(([a, b, c]) =>
            [
              [a!, b!],
              [b!, c!],
              [c!, a!],
            ].map((e) => e.sort((x, y) => x - y).join()),
          ),
        );
        const found = Array.from({ length: edges.length / 2 }, (_, e) => [edges[2 * e]!, edges[2 * e + 1]!]);
        expect(new Set(found.map((e) => e.join()))).toEqual(wanted);
        expect(found.length).toBe(wanted.size);
        for (let e = 1; e < found.length; e++)
          expect(
            found[e - 1]![0]! < found[e]![0]! ||
              (found[e - 1]![0] === found[e]![0] && found[e - 1]![1]! < found[e]![1]!),
          ).toBe(true);
        const turned = Uint32Array.from([...triangles].reverse().flatMap(([a, b, c]) => [c!, a!, b!]));
        expect(uniqueEdges(turned)).toEqual(edges);
      },
    ),
  );
});

test("edges of particle numbers in the millions", () => {
  expect([...uniqueEdges(Uint32Array.from([20_000_001, 7, 19_999_999]))]).toEqual([
    7, 19_999_999, 7, 20_000_001, 19_999_999, 20_000_001,
  ]);
});

/** A body of every kind, the soft one flattened at the start. */
function everyKind(): Scene {
  const material = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0.49 };
  return validateScene({
    version: 1,
    title: "surfaces",
    bodies: [
      softBox("cube", [1, 1, 1], [2, 2, 2], { material, start: "flattened" }),
      clothGrid("sheet", [2, 2], [3, 4], {
        transform: { translate: [0, 2, 0] },
        material: { ...material, thickness: 0.002 },
      }),
      softBox("die", [1, 1, 1], [1, 1, 1], {
        transform: { translate: [0, 4, 0] },
        material: { density: 500, model: "shape-matching", mode: "rigid" },
      }),
      ballBody("ball", 0.5, { transform: { translate: [0, 6, 0] }, material: { density: 500 } }),
    ],
  });
}

test("a world's rows: bodies in order, with the undeformed positions of a flattened start", async () => {
  const { memory, layout, bodies } = await createWorld(everyKind(), { baseDir: "." });
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const bytes = new Uint8Array(memory.buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  expect(header(L.H_SURFACE_COUNT)).toBe(4);
  const meets = bodies.map((body, b) => {
    const row = layout.bodies[b]!.surface;
    const field = (offset: number): number => i32[(row + offset) / 4]!;
    const first = layout.x + 16 * layout.bodies[b]!.first;
    expect(row).toBe(header(L.H_SURFACE) + b * L.SURFACE_BYTES);
    expect([
      field(L.SURFACE_FIRST),
      field(L.SURFACE_COUNT),
      field(L.SURFACE_TRIANGLE_COUNT),
      field(L.SURFACE_SOLID),
    ]).toEqual([first, body.streamedCount, body.triangles.length / 3, [1, 0, 1, 2][b]]);
    const triangles = i32.subarray(
      field(L.SURFACE_TRIANGLES) / 4,
      field(L.SURFACE_TRIANGLES) / 4 + body.triangles.length,
    );
    expect([...triangles]).toEqual([...body.triangles].map((p) => first + 16 * p));
    const edges = i32.subarray(
      field(L.SURFACE_EDGES) / 4,
      field(L.SURFACE_EDGES) / 4 + 2 * field(L.SURFACE_EDGE_COUNT),
    );
    expect([...edges]).toEqual([...uniqueEdges(body.triangles)].map((p) => first + 16 * p));
    expect(f32[(row + L.SURFACE_RADIUS) / 4]).toBe(Math.fround(body.contactRadius));
    for (const offset of [L.SURFACE_STATIC, L.SURFACE_DYNAMIC])
      expect(f32[(row + offset) / 4]).toBe(Math.fround(Math.sqrt(body.friction)));
    expect(f32[(row + L.SURFACE_RESTITUTION) / 4]).toBe(0);
    const rest = header(L.H_REST) / 4 + 4 * layout.bodies[b]!.first;
    for (let k = 0; k < body.positions.length; k++)
      expect(f32[rest + 4 * Math.floor(k / 3) + (k % 3)]).toBe(Math.fround(body.positions[k]!));
    return [...bytes.subarray(field(L.SURFACE_MEETS), field(L.SURFACE_MEETS) + 4)];
  });
  // Cloth and soft bodies can touch themselves; rigid bodies cannot.
  expect(meets).toEqual([
    [1, 1, 1, 1],
    [1, 1, 1, 1],
    [1, 1, 0, 1],
    [1, 1, 1, 0],
  ]);
});

test("a filter separates two surfaces in both rows, and edges may be given", () => {
  const source = (first: number): SurfaceSource => ({
    first,
    count: 4,
    triangles: Uint32Array.of(first, first + 1, first + 2),
    radius: 0.01,
    solid: SOLID.cloth,
    staticFriction: 0.25,
    friction: 0.16,
    restitution: 0.04,
    rest: new Float64Array(12),
    touchesItself: true,
  });
  const allocator = new Allocator();
  const planned = planSurfaces(
    [source(0), source(4), { ...source(8), edges: Uint32Array.of(8, 11), touchesItself: false }],
    12,
    allocator,
    (a, b) => !(a === 0 && b === 2),
  );
  const buffer = new ArrayBuffer(65536 * allocator.pages);
  const i32 = new Int32Array(buffer);
  const f32 = new Float32Array(buffer);
  const bytes = new Uint8Array(buffer);
  const x = 1600;
  planned.write(buffer, x);
  const rows = [0, 1, 2].map((n) => (planned.rows + n * L.SURFACE_BYTES) / 4);
  expect(
    rows.map((at) => [...bytes.subarray(i32[at + L.SURFACE_MEETS / 4]!, i32[at + L.SURFACE_MEETS / 4]! + 3)]),
  ).toEqual([
    [1, 1, 0],
    [1, 1, 1],
    [0, 1, 0],
  ]);
  expect([L.SURFACE_STATIC, L.SURFACE_DYNAMIC, L.SURFACE_RESTITUTION].map((o) => f32[rows[1]! + o / 4])).toEqual(
    [0.5, 0.4, 0.2].map(Math.fround),
  );
  expect(i32[rows[2]! + L.SURFACE_EDGE_COUNT / 4]).toBe(1);
  expect([
    ...i32.subarray(i32[rows[2]! + L.SURFACE_EDGES / 4]! / 4, i32[rows[2]! + L.SURFACE_EDGES / 4]! / 4 + 2),
  ]).toEqual([x + 16 * 8, x + 16 * 11]);
});
