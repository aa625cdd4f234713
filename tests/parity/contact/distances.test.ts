/**
 * kernel/assembly/math/closestPoints.ts, proved pair by pair without a second formula. The closest points lie in the
 * primitives, so their distance is at least the true one. The slab between the primitives along the normal is at most
 * as wide as the true distance. Both agree up to the rounding of the stored float32 normal and weights: 8 units (2^-24)
 * of the pair's size. The float64 twin agrees to float64 rounding.
 */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel } from "../../../server/sim/world/kernelModule.ts";
import { edgesDistance, vertexTriangleDistance } from "../../../server/sim/reference/closestPoints.ts";
import { add, combine, dot, norm, scale, subtract, type Vector } from "../../../server/sim/reference/vector.ts";
import { randomStream, UNIT } from "../kit.ts";

const X = 4096;
const ROW = 1024;
const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
const kernel = instantiateKernel(memory);
const f32 = new Float32Array(memory.buffer);
const i32 = new Int32Array(memory.buffer);

interface Measured {
  squared: number;
  normal: Vector;
  gap: number;
  closest: [Vector, Vector];
}

/** Runs the kernel on float32 points. */
function measure(kind: "vertex" | "edges", points: readonly Vector[]): Measured {
  points.forEach((p, i) => {
    f32.set([...p, NaN], X / 4 + 4 * i);
    i32[(ROW + L.PAIR_ADDRESS) / 4 + i] = X - 160 + 16 * i;
  });
  const squared = kind === "vertex" ? kernel.measureVertexTriangle(ROW, 160) : kernel.measureEdges(ROW, 160);
  const at = (ROW + L.PAIR_NORMAL) / 4;
  const normal: Vector = [f32[at]!, f32[at + 1]!, f32[at + 2]!];
  const [p0, p1, p2, p3] = points as [Vector, Vector, Vector, Vector];
  const s = kernel.edgeS.value as number;
  const t = kernel.edgeT.value as number;
  const closest: [Vector, Vector] =
    kind === "vertex"
      ? [p0, combine([kernel.weightA.value, kernel.weightB.value, kernel.weightC.value] as number[], [p1, p2, p3])]
      : [add(p0, scale(s, subtract(p1, p0))), add(p2, scale(t, subtract(p3, p2)))];
  return { squared, normal, gap: f32[(ROW + L.PAIR_GAP) / 4]!, closest };
}

function check(kind: "vertex" | "edges", points: readonly Vector[], label: string): void {
  const { squared, normal, gap, closest } = measure(kind, points);
  const distance = Math.sqrt(squared);
  // coordinates are differences from one of the points: the pair's place does not matter
  const size = Math.max(...points.map((p) => norm(subtract(p, points[0]!))));
  const far = Math.max(...points.map(norm));
  const first = kind === "vertex" ? points.slice(0, 1) : points.slice(0, 2);
  const second = points.slice(first.length);
  expect(gap, label).toBe(Math.fround(distance));
  for (const w of kind === "vertex" ? [kernel.weightA, kernel.weightB, kernel.weightC] : [kernel.edgeS, kernel.edgeT]) {
    expect(w.value, label).toBeGreaterThanOrEqual(0);
    expect(w.value, label).toBeLessThanOrEqual(1);
  }
  // this test sums weighted corners in float64: three units of the coordinates for the rounding of the weights
  expect(Math.abs(norm(subtract(...closest)) - distance), `${label}: closest points`).toBeLessThanOrEqual(
    8 * UNIT * (kind === "vertex" ? far : size),
  );
  if (gap > 0) {
    expect(Math.abs(norm(normal) - 1), label).toBeLessThan(4 * UNIT);
    const width = Math.min(...first.map((a) => Math.min(...second.map((b) => dot(normal, subtract(a, b))))));
    expect(distance - width, `${label}: slab ${width}, distance ${distance}`).toBeLessThanOrEqual(8 * UNIT * size);
  } else expect(norm(normal), label).toBe(0);
  const twin =
    kind === "vertex"
      ? vertexTriangleDistance(...(points as [Vector, Vector, Vector, Vector]))
      : edgesDistance(...(points as [Vector, Vector, Vector, Vector]));
  expect(Math.abs(distance - twin.distance), `${label}: twin`).toBeLessThanOrEqual(1e-12 * size);
}

const round = (p: Vector): Vector => p.map(Math.fround) as unknown as Vector;
const places: Record<string, { at: Vector; size: number }> = {
  "around zero": { at: [0, 0, 0], size: 1 },
  "1 mm at 1 km": { at: [1000, -700, 300], size: 0.001 },
  "1e-12 m": { at: [0, 0, 0], size: 1e-12 },
  "1e12 m": { at: [0, 0, 0], size: 1e12 },
};

for (const [name, { at, size }] of Object.entries(places)) {
  test(`${name}: any pair, flattened along one and two axes, on grids where points and lines coincide`, () => {
    const random = randomStream(11);
    for (let n = 0; n < 4000; n++) {
      const flat = [1, 10 ** (4 * random() - 4), n % 3 === 0 ? 0 : 1];
      const grid = n % 5 === 0 ? 2 : 0;
      const points = Array.from({ length: 4 }, () =>
        round(
          add(
            at,
            scale(
              size,
              [0, 1, 2].map((r) => (grid ? Math.round(grid * random()) : random()) * flat[r]!) as unknown as Vector,
            ),
          ),
        ),
      );
      for (const kind of ["vertex", "edges"] as const) check(kind, points, `${name}, pair ${n}, ${kind}`);
    }
  });
}

test("nearly parallel edges, at gaps down to a millionth of their length", () => {
  const random = randomStream(12);
  for (let n = 0; n < 4000; n++) {
    const angle = 10 ** (3.5 * random() - 3.5);
    const gap = 10 ** (3 * random() - 3);
    const slide = random();
    const points = (
      [
        [0, 0, 0],
        [1, 0, 0],
        [slide, gap, -angle * (0.5 + random())],
        [slide + 1, gap, angle],
      ] as Vector[]
    ).map(round);
    check("edges", points, `edges at an angle of ${angle}, gap ${gap}, ${n}`);
    check(
      "vertex",
      [points[2]!, points[0]!, points[1]!, round([slide, 0, angle])],
      `needle of ${angle}, gap ${gap}, ${n}`,
    );
  }
});

test("triangles that are a segment or a point, edges without length", () => {
  const a: Vector = [0.5, 0.25, -1];
  const b: Vector = [2, 1, 3];
  const p: Vector = [1, 3, 0.5];
  const middle = round(scale(0.5, add(a, b)));
  for (const [kind, points] of [
    ["vertex", [p, a, b, middle]],
    ["vertex", [p, a, a, b]],
    ["vertex", [p, a, b, b]],
    ["vertex", [p, b, a, b]],
    ["vertex", [p, a, a, a]],
    ["vertex", [a, a, a, a]],
    ["edges", [a, a, b, p]],
    ["edges", [b, p, a, a]],
    ["edges", [a, a, p, p]],
    ["edges", [a, b, a, b]],
    ["edges", [a, b, b, a]],
  ] as const) {
    check(kind, points, JSON.stringify(points));
  }
});

test("scaling by a power of two keeps the bits", () => {
  const random = randomStream(13);
  for (let n = 0; n < 500; n++) {
    const points = Array.from({ length: 4 }, () => round([random(), random(), random()]));
    for (const kind of ["vertex", "edges"] as const) {
      const one = measure(kind, points);
      const other = measure(
        kind,
        points.map((p) => scale(2 ** -20, p)),
      );
      expect(other.normal).toEqual(one.normal);
      expect(other.gap).toBe(one.gap * 2 ** -20);
    }
  }
});

test("a pair with NaN is near nothing", () => {
  const points: Vector[] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  for (let i = 0; i < 4; i++) {
    const broken = points.map((p, k) => (k === i ? ([NaN, p[1], p[2]] as Vector) : p));
    expect(measure("vertex", broken).squared).toBe(Infinity);
    expect(measure("edges", broken).squared).toBe(Infinity);
  }
});
