/**
 * kernel/assembly/intersections/intersections.ts against all edges and triangles in exact integer arithmetic: the same
 * list, and the same decision between crossing and touching. The kernel trusts signs of determinants above 2^-50 of
 * their permanent, and no pair here is closer to touching than that.
 */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { signOf, toIntegers } from "../../../server/tools/check/exact/integers.ts";
import { add, scale, type Vector } from "../../../server/sim/reference/vector.ts";
import { randomStream } from "../kit.ts";
import { box, grid, surfaceRoom, type Sheet, type SurfaceRoom } from "./memorySurfaces.ts";

type Point = [bigint, bigint, bigint];
const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const orient = (a: Point, b: Point, c: Point, d: Point): number => {
  const [u, v, w] = [minus(b, a), minus(c, a), minus(d, a)];
  return signOf(
    u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]),
  );
};
const orient2 = (a: Point, b: Point, c: Point, i: number, j: number): number =>
  signOf((b[i]! - a[i]!) * (c[j]! - a[j]!) - (b[j]! - a[j]!) * (c[i]! - a[i]!));

/** Segment p q and a non-degenerate triangle abc in exact arithmetic. */
function exactly(p: Point, q: Point, a: Point, b: Point, c: Point): "apart" | "touching" | "crossing" {
  const first = orient(a, b, c, p);
  const second = orient(a, b, c, q);
  if (first * second > 0) return "apart";
  if (first !== 0 || second !== 0) {
    const s = [orient(p, q, a, b), orient(p, q, b, c), orient(p, q, c, a)];
    if (s.some((x) => x > 0) && s.some((x) => x < 0)) return "apart";
    return first && second && s.every((x) => x !== 0) ? "crossing" : "touching";
  }
  // in one plane: use the projection that does not flatten the triangle
  const [i, j] = (
    [
      [0, 1],
      [1, 2],
      [2, 0],
    ] as const
  ).find(([i, j]) => orient2(a, b, c, i, j) !== 0)!;
  const turn = orient2(a, b, c, i, j);
  const inside = (z: Point): boolean =>
    [
      [a, b],
      [b, c],
      [c, a],
    ].every(([from, to]) => turn * orient2(from!, to!, z, i, j) >= 0);
  const within = (z: bigint, x: bigint, y: bigint): boolean => (x <= z && z <= y) || (y <= z && z <= x);
  const sides = (
    [
      [a, b],
      [b, c],
      [c, a],
    ] as const
  ).some(([from, to]) => {
    const s = [
      orient2(p, q, from, i, j),
      orient2(p, q, to, i, j),
      orient2(from, to, p, i, j),
      orient2(from, to, q, i, j),
    ] as const;
    if (s[0] * s[1] < 0 && s[2] * s[3] < 0) return true;
    return (
      [
        [s[0], from, p, q],
        [s[1], to, p, q],
        [s[2], p, from, to],
        [s[3], q, from, to],
      ] as const
    ).some(([sign, z, x, y]) => sign === 0 && within(z[i], x[i], y[i]) && within(z[j], x[j], y[j]));
  });
  return inside(p) || inside(q) || sides ? "touching" : "apart";
}

interface Intersection {
  particles: number[];
  surfaces: [number, number];
  crosses: boolean;
}

function intersections(room: SurfaceRoom): { found: number; list: Intersection[] } {
  const found = room.kernel.findIntersections(room.x);
  const i32 = new Int32Array(room.memory.buffer);
  const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  const list = Array.from({ length: header(L.H_INTERSECTION_COUNT) }, (_, n): Intersection => {
    const at = (header(L.H_INTERSECTIONS) + n * L.INTERSECTION_BYTES) / 4;
    const numbers = i32[at + L.INTERSECTION_SURFACES / 4]!;
    return {
      particles: Array.from(i32.subarray(at, at + 5), (address) => (address - room.x) / 16),
      surfaces: [numbers >> 16, numbers & 0xffff],
      crosses: i32[at + L.INTERSECTION_CROSSES / 4] === 1,
    };
  });
  return { found, list };
}

const key = (t: { particles: readonly number[]; surfaces: readonly number[] }): string =>
  `${t.surfaces.join("/")} ${t.particles.join(" ")}`;

/** Compares with all pairs; @returns numbers of crossings and touches. */
function check(room: SurfaceRoom): { crossing: number; touching: number } {
  const { found, list } = intersections(room);
  const byKey = new Map(list.map((t) => [key(t), t]));
  const counts = { crossing: 0, touching: 0 };
  expect(found).toBe(list.length);
  expect(byKey.size).toBe(list.length);
  const flat = toIntegers(room.positions.flat());
  const at = (i: number): Point => [flat[3 * i]!, flat[3 * i + 1]!, flat[3 * i + 2]!];
  const boxesMeet = (p: number[], q: number[]): boolean =>
    [0, 1, 2].every(
      (r) =>
        Math.max(...p.map((i) => room.positions[i]![r]!)) >= Math.min(...q.map((i) => room.positions[i]![r]!)) &&
        Math.max(...q.map((i) => room.positions[i]![r]!)) >= Math.min(...p.map((i) => room.positions[i]![r]!)),
    );
  room.twins.forEach((A, a) =>
    room.twins.forEach((B, b) => {
      if (!A.meets[b]) return;
      for (const edge of A.edges) {
        for (const triangle of B.triangles) {
          const particles = [...edge, ...triangle];
          if (
            !boxesMeet(edge, triangle) ||
            edge.some((p) => triangle.includes(p)) ||
            particles.every((p) => room.w[p] === 0)
          )
            continue;
          const [p, q, c, d, e] = particles.map(at) as [Point, Point, Point, Point, Point];
          const truth = exactly(p, q, c, d, e);
          const name = key({ particles, surfaces: [a, b] });
          const row = byKey.get(name);
          byKey.delete(name);
          if (truth === "apart") {
            expect(row, `${name} is in the list, but apart`).toBeUndefined();
            continue;
          }
          counts[truth]++;
          expect(row, `${name}, ${truth}, is not in the list`).toBeDefined();
          expect(row!.crosses, name).toBe(truth === "crossing");
        }
      }
    }),
  );
  expect([...byKey.keys()]).toEqual([]);
  return counts;
}

function soup(random: () => number, triangles: number, size: number): { x: Vector[]; triangles: number[][] } {
  const x: Vector[] = [];
  const list: number[][] = [];
  for (let t = 0; t < triangles; t++) {
    const center: Vector = [random(), random(), random()];
    for (let c = 0; c < 3; c++) x.push(add(center, scale(size, [random(), random(), random()])));
    // some share a corner with the previous one
    list.push(t % 3 ? [3 * t, 3 * t + 1, 3 * t + 2] : [Math.max(0, 3 * t - 1), 3 * t + 1, 3 * t + 2]);
  }
  return { x, triangles: list };
}

for (const [at, unit] of [
  [[0, 0, 0], 1],
  [[1000, -700, 300], 0.001],
  [[0, 0, 0], 1e-6],
] as [Vector, number][]) {
  test(`random triangles give the exact list, unit ${unit} m at ${at.join(" ")} m`, () => {
    const random = randomStream(31);
    const sheet = (n: number): Sheet => {
      const s = soup(random, n, 0.6);
      return { ...s, x: s.x.map((p) => add(at, scale(unit, p))), radius: 0.01 * unit };
    };
    expect(check(surfaceRoom([sheet(60), sheet(41), sheet(7)])).crossing).toBeGreaterThan(200);
  });
}

const moved = (s: { x: Vector[]; triangles: number[][] }, f: (p: Vector) => Vector): Sheet => ({
  triangles: s.triangles,
  x: s.x.map(f),
  radius: 0.001,
});

test("flat, curved and rotated surfaces near each other are not tangled", () => {
  const turned = ([x, y, z]: Vector): Vector => [0.8 * x - 0.6 * y + 3.7, 0.6 * x + 0.8 * y, z + 0.1];
  for (const f of [
    (p: Vector): Vector => p,
    turned,
    ([x, , z]: Vector): Vector => turned([x, 0.05 * Math.sin(9 * x) * Math.cos(7 * z), z]),
  ]) {
    const sheet = moved(grid(20, 20, 0.05), f);
    const above = moved({ x: [...sheet.x], triangles: [...sheet.triangles] }, ([x, y, z]) => [
      x - 0.6e-3,
      y + 0.8e-3,
      z,
    ]);
    expect(intersections(surfaceRoom([sheet, above]))).toEqual({ found: 0, list: [] });
  }
});

test("two overlapping solids, one that just touches, and a sheet through both give the exact list", () => {
  const solid = box(4, 0.25);
  const room = surfaceRoom([
    moved(solid, (p) => p),
    moved(solid, (p) => add(p, [0.8, 0.13, 0.07])),
    moved(solid, (p) => add(p, [-1, 0, 0])),
    moved(grid(8, 8, 0.3), (p) => add(p, [-0.31, 0.4, -0.21])),
  ]);
  const counts = check(room);
  expect(counts.crossing).toBeGreaterThan(50);
  expect(counts.touching).toBeGreaterThan(50);
});

test("exact for ends on a triangle, its side, its corner; through a side or corner; along a side; in plane", () => {
  const triangle: Vector[] = [
    [0, 0, 0],
    [4, 0, 0],
    [0, 4, 0],
  ];
  const segments: [Vector, Vector, "apart" | "touching" | "crossing"][] = [
    [[1, 1, -1], [1, 1, 1], "crossing"],
    [[1, 1, 0], [1, 1, 1], "touching"],
    [[2, 0, 0], [2, 0, 1], "touching"],
    [[4, 0, 0], [4, 0, 1], "touching"],
    [[2, 2, -1], [2, 2, 1], "touching"],
    [[0, 0, -1], [0, 0, 1], "touching"],
    [[1, 0, 0], [3, 0, 0], "touching"],
    [[5, 0, 0], [6, 0, 0], "apart"],
    [[-1, 1, 0], [5, 1, 0], "touching"],
    [[1, 1, 0], [1.5, 1, 0], "touching"],
    [[4, 4, 0], [4, 1, 0], "apart"],
    [[3, 3, -1], [3, 3, 1], "apart"],
    [[2, 2.5, 0], [2, 2.5, 1], "apart"],
    [[1, 1, 0.5], [1, 1, 1], "apart"],
  ];
  for (const [p, q, expected] of segments) {
    const room = surfaceRoom([
      { x: triangle, triangles: [[0, 1, 2]], radius: 0 },
      { x: [p, q], triangles: [], edges: [[0, 1]], radius: 0 },
    ]);
    const { list } = intersections(room);
    const rows = list.filter((t) => t.surfaces[0] === 1);
    expect(
      rows.map((t) => (t.crosses ? "crossing" : "touching")),
      JSON.stringify([p, q]),
    ).toEqual(expected === "apart" ? [] : [expected]);
  }
});

test("fixed, filtered and own primitives that cannot touch are left out", () => {
  const solid = box(2, 0.5);
  const sheets: Sheet[] = [moved(solid, (p) => p), moved(solid, (p) => add(p, [0.3, 0.2, 0.1]))];
  expect(intersections(surfaceRoom(sheets)).found).toBeGreaterThan(5);
  expect(intersections(surfaceRoom(sheets, () => false)).found).toBe(0);
  expect(intersections(surfaceRoom(sheets.map((s) => ({ ...s, w: () => 0 })))).found).toBe(0);
  expect(intersections(surfaceRoom(sheets.map((s) => ({ ...s, solid: 3 as const })))).found).toBe(0);
  const joined: Sheet = {
    x: sheets.flatMap((s) => s.x),
    triangles: [...solid.triangles, ...solid.triangles.map((t) => t.map((p) => p + solid.x.length))],
    radius: 0.001,
  };
  expect(check(surfaceRoom([joined])).crossing).toBeGreaterThan(5);
  expect(intersections(surfaceRoom([{ ...joined, touchesItself: false }])).found).toBe(0);
});

test("a full list holds the first intersections, and the count includes all", () => {
  const room = surfaceRoom([moved(box(3, 0.3), (p) => p), moved(box(3, 0.3), (p) => add(p, [0.2, 0.11, 0.3]))]);
  const { found, list } = intersections(room);
  new Int32Array(room.memory.buffer)[(L.HEADER + L.H_INTERSECTION_CAPACITY) / 4] = 5;
  expect(intersections(room)).toEqual({ found, list: list.slice(0, 5) });
});

test("a body with NaN is not tangled", () => {
  const room = surfaceRoom([moved(box(2, 0.5), (p) => p), moved(box(2, 0.5), (p) => add(p, [0.3, 0.2, 0.1]))]);
  const f32 = new Float32Array(room.memory.buffer);
  const { list } = intersections(room);
  const broken = list[0]!.particles[0]!;
  for (const value of [NaN, Infinity]) {
    f32[room.x / 4 + 4 * broken] = value;
    expect(intersections(room).list).toEqual(list.filter((t) => !t.particles.includes(broken)));
  }
});
