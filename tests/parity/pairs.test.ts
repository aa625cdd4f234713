/**
 * kernel/assembly/broadPhase/pairs.ts where nothing moves, against everything with everything in float64
 * (sim/reference/pairs.ts): pairKit.ts says how near both must be. Normals are proved in distances.test.ts; here, that
 * rows hold the right ones. What moves: pairsMoving.test.ts.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { add, scale, type Vector } from "../../server/sim/reference/vector.ts";
import { inLong } from "../support/long.ts";
import { randomStream } from "./kit.ts";
import { check, folded, soup } from "./pairKit.ts";
import { box, grid, surfaceRoom, type Row, type Sheet } from "./surfaces.ts";

for (const [at, unit] of [
  [[0, 0, 0], 1],
  [[1000, -700, 300], 0.001],
  [[0, 0, 0], 1e-6],
  [[3, 5, 1], 1e4],
] as [Vector, number][]) {
  const placed = (s: { x: Vector[]; triangles: number[][] }): { x: Vector[]; triangles: number[][] } => ({
    ...s,
    x: s.x.map((p) => add(at, scale(unit, p))),
  });
  for (const margin of [0, 0.01, 0.1]) {
    test(`soups of triangles, unit ${unit} m at ${at.join(" ")} m, margin ${margin} units`, () => {
      const random = randomStream(21);
      const sheet = (points: number, triangles: number): Sheet => ({
        ...placed(soup(random, points, triangles, 0.1)),
        radius: 0.02 * unit,
        margin: margin * unit,
      });
      const rows = check(surfaceRoom([sheet(40, 61), sheet(25, 30), sheet(9, 6)]));
      expect(rows.length).toBeGreaterThan(100);
    });
  }
}

for (const margin of [0, 0.0005, 0.003]) {
  test(`a cloth folded onto itself at 1 mm, margin ${margin} m`, () => {
    const sheet = folded(inLong(16, margin === 0 ? 16 : 12), 0.01, 0.001);
    const rows = check(surfaceRoom([{ ...sheet, margin }]));
    expect(rows.filter((r) => r.kind === "vertex").length).toBeGreaterThan(200);
    expect(rows.filter((r) => r.kind === "edges").length).toBeGreaterThan(200);
  });
}

test("two solids side by side, a filter between one of them and a third", () => {
  const move = (s: { x: Vector[]; triangles: number[][] }, by: Vector): { x: Vector[]; triangles: number[][] } => ({
    ...s,
    x: s.x.map((p) => add(p, by)),
  });
  const solids: Sheet[] = [
    [0, 0, 0],
    [0.3047, 0.02, -0.03],
    [-0.05, 0.304, 0.01],
  ].map((by) => ({ ...move(box(4, 0.075), by as unknown as Vector), radius: 0.002, margin: 0.001 }));
  const rows = check(surfaceRoom(solids, (a, b) => !(a === 0 && b === 2)));
  const between = (a: number, b: number): number =>
    rows.filter((r) => r.surfaces.includes(a) && r.surfaces.includes(b) && a !== b).length;
  expect(between(0, 1)).toBeGreaterThan(20);
  expect(between(0, 2)).toBe(0);
  expect(rows.some((r) => r.kind === "vertex" && r.surfaces[0] === 1 && r.surfaces[1] === 0)).toBe(true);
});

test("degenerate triangles: points, segments, doubled ones; needles; parallel and crossing edges", () => {
  const x: Vector[] = [
    [0, 0, 0],
    [1, 0, 0],
    [0.5, 0, 0],
    [0, 0, 0],
    [0, 0.01, 0],
    [1, 0.01, 0],
    [0.3, 0.005, 0.004],
    [0.7, 0.005, -0.003],
    [0.5, 1e-7, 0],
    [0.5, 0.01, 1e-9],
    [2, 0, 0],
    [2, 0, 1],
  ];
  const triangles = [
    [0, 1, 2],
    [0, 3, 1],
    [3, 0, 4],
    [4, 5, 6],
    [0, 1, 8],
    [4, 5, 9],
    [6, 7, 10],
    [10, 11, 1],
    [0, 1, 8],
  ];
  for (const radius of [0, 0.001, 0.005, 0.05])
    expect(
      check(
        surfaceRoom([
          { x, triangles, radius },
          { x: x.map(([a, b, c]) => [b, a, c]), triangles, radius },
        ]),
      ).length,
    ).toBeGreaterThan(5);
});

test("surfaces without triangles: a point and a segment", () => {
  const sheet = grid(6, 6, 0.1);
  const room = surfaceRoom([
    { ...sheet, radius: 0.01 },
    { x: [[0.31, 0.04, 0.33]], triangles: [], radius: 0.03 },
    {
      x: [
        [-0.1, 0.03, 0.22],
        [0.9, 0.035, 0.4],
      ],
      triangles: [],
      edges: [[0, 1]],
      radius: 0.03,
      solid: 3,
      touchesItself: false,
      w: () => 0,
    },
  ]);
  const rows = check(room);
  expect(rows.filter((r) => r.surfaces.join() === "1,0").length).toBe(1);
  expect(rows.filter((r) => r.surfaces.join() === "0,2" && r.kind === "edges").length).toBeGreaterThan(4);
});

test("nothing between what is fixed", () => {
  const sheet = folded(8, 0.01, 0.001);
  const room = surfaceRoom([
    { ...sheet, w: (i) => (i % 9 < 6 ? 0 : 1) },
    { ...grid(8, 8, 0.01), radius: 0.001, solid: 3, touchesItself: false, w: () => 0 },
  ]);
  for (const row of check(room)) expect(row.particles.some((p) => room.w[p]! > 0)).toBe(true);
});

test("neighbors that are closer than the thickness at rest keep 0.9 of that, touching folds the whole", () => {
  const rows = check(surfaceRoom([{ ...folded(inLong(12, 9), 0.01, 0.001), radius: 0.004 }]));
  // across a square: the other diagonal's ends are 7.07 mm from it, opposite sides 10 mm apart
  const limited = new Set(rows.filter((r) => r.thickness < Math.fround(0.008)).map((r) => r.thickness.toPrecision(5)));
  expect(limited).toEqual(new Set([(0.9 * 0.01 * Math.SQRT1_2).toPrecision(5)]));
  expect(rows.filter((r) => r.thickness === Math.fround(0.008)).length).toBeGreaterThan(100);
});

test("in another array: the same list from a copy, another from what was moved there", () => {
  const room = surfaceRoom([{ ...folded(8, 0.01, 0.001), margin: 0.0005 }]);
  const f32 = new Float32Array(room.memory.buffer);
  const n = room.positions.length;
  const rows = check(room);
  for (let i = 0; i < n; i++) f32.set([...room.positions[i]!, NaN], room.other / 4 + 4 * i);
  room.kernel.listPairs(room.other, room.trajectories);
  expect(room.rows()).toEqual(rows);
  for (let i = 0; i < n; i++) f32.set(room.rest[i]!, room.other / 4 + 4 * i);
  expect(room.kernel.listPairs(room.other, room.trajectories)).toBe(0);
});

test("scaled by a power of two: the same list, lengths scaled", () => {
  const list = (factor: number): Row[] => {
    const s = folded(12, 0.01, 0.001);
    const by = (x: readonly Vector[]): Vector[] => x.map((p) => scale(factor, p));
    const room = surfaceRoom([
      { triangles: s.triangles, x: by(s.x), rest: by(s.rest!), radius: factor * s.radius, margin: factor * 0.0007 },
      {
        x: by([
          [0.02, 0.003, 0],
          [0.05, 0.002, 0],
          [0.03, 0.002, 0.05],
        ]),
        triangles: [[0, 1, 2]],
        radius: factor * 0.001,
      },
    ]);
    expect(room.kernel.listPairs(room.x, room.trajectories)).toBeGreaterThan(500);
    return room.rows();
  };
  const one = list(1);
  for (const power of [-10, 7])
    expect(list(2 ** power)).toEqual(
      one.map((row) => ({ ...row, gap: row.gap * 2 ** power, thickness: row.thickness * 2 ** power })),
    );
});

test("a list that does not fit is empty and says so; one that just fits does not", () => {
  const room = surfaceRoom([folded(10, 0.01, 0.001)]);
  const i32 = new Int32Array(room.memory.buffer);
  const needed = room.kernel.listPairs(room.x, room.trajectories);
  for (const capacity of [needed - 1, 1, 0]) {
    i32[(L.HEADER + L.H_PAIR_CAPACITY) / 4] = capacity;
    expect(room.kernel.listPairs(room.x, room.trajectories)).toBe(-1);
    expect(room.rows()).toEqual([]);
  }
  i32[(L.HEADER + L.H_PAIR_CAPACITY) / 4] = needed;
  expect(check(room).length).toBe(needed);
});

test("blown up: what is no number or infinite touches nothing, the rest goes on", () => {
  const sheet = folded(8, 0.01, 0.001);
  const whole = surfaceRoom([sheet]);
  const broken = 40;
  const rows = check(whole);
  const f32 = new Float32Array(whole.memory.buffer);
  f32[whole.x / 4 + 4 * broken + 1] = NaN;
  whole.kernel.listPairs(whole.x, whole.trajectories);
  expect(whole.rows()).toEqual(rows.filter((r) => !r.particles.includes(broken)));
  f32[whole.x / 4 + 4 * broken + 1] = Infinity;
  expect(whole.kernel.listPairs(whole.x, whole.trajectories)).toBe(0);
});

test("in parts: regions one behind the other are the list of one", () => {
  const room = surfaceRoom([
    { ...folded(10, 0.01, 0.001), margin: 0.001 },
    { ...box(3, 0.02), radius: 0.001, margin: 0.001 },
  ]);
  const { kernel } = room;
  const whole = check(room);
  const i32 = new Int32Array(room.memory.buffer);
  const begin = i32[(L.HEADER + L.H_PAIRS) / 4]!;
  const end = begin + i32[(L.HEADER + L.H_PAIR_CAPACITY) / 4]! * L.PAIR_BYTES;
  new Uint8Array(room.memory.buffer).fill(0, begin, end);
  kernel.refitTrees(room.x, room.trajectories);
  const particles = (at: number): string =>
    Array.from(i32.subarray(at / 4, at / 4 + 4), (address) => (address - room.x) / 16).join();
  const vertex: string[] = [];
  const edges: string[] = [];
  const part = (a: number, b: number, list: () => void, turned = false): void => {
    kernel.openRegion(begin, end, room.x, room.trajectories);
    expect(kernel.openPair(Math.min(a, b), Math.max(a, b), room.x, room.trajectories)).toBe(1);
    if (turned) kernel.turnSurfaces(a, b);
    list();
    for (let at = begin; at < kernel.vertexRowsEnd(); at += L.PAIR_BYTES) vertex.push(particles(at));
    for (let at = end - L.PAIR_BYTES; at >= kernel.edgeRowsBegin(); at -= L.PAIR_BYTES) edges.push(particles(at));
  };
  for (const [a, b] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ] as const) {
    for (let from = 0; from < kernel.vertexBlocks(a); from += 5)
      part(a, b, () => kernel.listVertices(a, b, from, Math.min(from + 5, kernel.vertexBlocks(a))), a > b);
    if (a <= b)
      for (let from = 0; from < kernel.edgeBlocks(a); from += 7)
        part(a, b, () => kernel.listEdges(a, b, from, Math.min(from + 7, kernel.edgeBlocks(a))));
  }
  expect(vertex).toEqual(whole.filter((r) => r.kind === "vertex").map((r) => r.particles.join()));
  expect(edges).toEqual(whole.filter((r) => r.kind === "edges").map((r) => r.particles.join()));
});
