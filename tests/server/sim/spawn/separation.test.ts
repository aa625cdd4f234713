/**
 * sim/spawn/separation.ts against the float64 twins of the kernel's distances (all candidates, written out), and
 * inside.ts against known shapes.
 */
import { describe, expect, test } from "vitest";
import { icosphere } from "../../../../server/meshing/generators.ts";
import { edgesDistance, vertexTriangleDistance } from "../../../../server/sim/reference/closestPoints.ts";
import type { Vector } from "../../../../server/sim/reference/vector.ts";
import { boxOf, encloses, isClosed, partsOf, wayOut } from "../../../../server/sim/spawn/inside.ts";
import { separation } from "../../../../server/sim/spawn/separation.ts";
import { randomStream } from "../../../parity/kit.ts";

type Triangle = [Vector, Vector, Vector];
const flat = (t: Triangle): Float64Array => Float64Array.from(t.flat());
const SIDES = [
  [0, 1],
  [1, 2],
  [2, 0],
] as const;

/** Least of six corners against the other and nine pairs of sides. */
function longWay(a: Triangle, b: Triangle): number {
  const corners = [...a.map((p) => vertexTriangleDistance(p, ...b)), ...b.map((p) => vertexTriangleDistance(p, ...a))];
  const sides = SIDES.flatMap(([i, j]) => SIDES.map(([k, l]) => edgesDistance(a[i], a[j], b[k], b[l])));
  return Math.min(...[...corners, ...sides].map(({ distance }) => distance));
}

/** Tests whether a side of a passes through b, by signs of volumes. */
function pierces(a: Triangle, b: Triangle): boolean {
  const volume = (p: Vector, q: Vector, r: Vector, s: Vector): number => {
    const [u, v, w] = [q, r, s].map((x) => x.map((c, k) => c - p[k]!)) as [number[], number[], number[]];
    return (
      u[0]! * (v[1]! * w[2]! - v[2]! * w[1]!) +
      u[1]! * (v[2]! * w[0]! - v[0]! * w[2]!) +
      u[2]! * (v[0]! * w[1]! - v[1]! * w[0]!)
    );
  };
  return SIDES.some(([i, j]) => {
    if (volume(...b, a[i]) > 0 === volume(...b, a[j]) > 0) return false;
    const around = SIDES.map(([k, l]) => volume(a[i], a[j], b[k], b[l]) > 0);
    return around.every((s) => s === around[0]);
  });
}

describe("separation", () => {
  test("of random triangles: the least of all distances, 0 if they intersect", () => {
    const random = randomStream(7);
    const point = (): Vector => [random(), random(), random()];
    let through = 0;
    let apart = 0;
    for (let n = 0; n < 3000; n++) {
      const size = n % 3 === 0 ? 3 : 0.2;
      const near = (c: Vector): Vector => point().map((x, r) => c[r]! + size * x) as unknown as Vector;
      const [c, d] = [point(), point()];
      const a: Triangle = [near(c), near(c), near(c)];
      const b: Triangle = [near(d), near(d), near(d)];
      const expected = pierces(a, b) || pierces(b, a) ? 0 : longWay(a, b);
      if (expected === 0) through++;
      else apart++;
      // Coordinates of size 4: sums of some ten products, each off by 2^-53 of 16.
      expect(Math.abs(separation(flat(a), flat(b)) - expected)).toBeLessThan(1e-12);
      expect(separation(flat(b), flat(a))).toBeCloseTo(expected, 12);
    }
    expect(through).toBeGreaterThan(200);
    expect(apart).toBeGreaterThan(200);
  });

  test("points, parallel sides, one in the other's plane", () => {
    const unit: Triangle = [
      [0, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
    ];
    const point = (p: Vector): Triangle => [p, p, p];
    expect(separation(flat(point([0.2, 0.2, 0.5])), flat(unit))).toBe(0.5);
    expect(separation(flat(point([0.25, 0.25, 0])), flat(unit))).toBe(0);
    expect(separation(flat(point([3, 4, 0])), flat(point([0, 0, 0])))).toBe(5);
    expect(
      separation(
        flat([
          [0, 0, 0.25],
          [1, 0, 0.25],
          [0, 1, 0.25],
        ]),
        flat(unit),
      ),
    ).toBe(0.25);
    expect(
      separation(
        flat([
          [0, -0.5, 0],
          [1, -0.5, 0],
          [0, -1, 0],
        ]),
        flat(unit),
      ),
    ).toBe(0.5);
    expect(
      separation(
        flat([
          [0.2, 0.2, -1],
          [0.2, 0.2, 1],
          [9, 9, 0],
        ]),
        flat(unit),
      ),
    ).toBe(0);
  });
});

describe("inside", () => {
  const { positions, triangles } = icosphere(1, 2);
  const ball = { x: positions, triangles: Int32Array.from(triangles) };

  test("of a ball with either orientation, and of no other point", () => {
    const turned = {
      x: positions,
      triangles: ball.triangles.map((_, i, all) => all[i - (i % 3) + [0, 2, 1][i % 3]!]!),
    };
    for (const shell of [ball, turned]) {
      expect(
        [
          [0, 0, 0],
          [0.5, 0.5, 0.5],
          [0, 0.9, 0],
        ].every(([x, y, z]) => encloses(shell, x!, y!, z!)),
      ).toBe(true);
      expect(
        [
          [2, 0, 0],
          [0, -1.01, 0],
          [0.8, 0.8, 0.8],
        ].some(([x, y, z]) => encloses(shell, x!, y!, z!)),
      ).toBe(false);
    }
  });

  test("the way out, up and down", () => {
    // Facets of this ball are up to 4 % of the radius below its surface.
    expect(wayOut(ball, 0.1, 0.2, 0.1, 1)).toBeCloseTo(0.98 - 0.2, 1);
    expect(wayOut(ball, 0.1, 0.2, 0.1, -1)).toBeCloseTo(0.98 + 0.2, 1);
    expect(wayOut(ball, 0.1, 3, 0.1, 1)).toBe(Infinity);
  });

  test("parts, and whether a surface is closed", () => {
    const two = Int32Array.from([...ball.triangles, ...ball.triangles.map((p) => p + positions.length / 3)]);
    expect(partsOf(two, (2 * positions.length) / 3)).toHaveLength(2);
    expect(isClosed(two)).toBe(true);
    expect(isClosed(two.subarray(3))).toBe(false);
    expect(isClosed(new Int32Array(0))).toBe(false);
    expect([...boxOf(Float64Array.of(1, 5, 2, -1, 4, 3))]).toEqual([-1, 4, 2, 1, 5, 3]);
  });
});
