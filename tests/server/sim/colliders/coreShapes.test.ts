/**
 * Core meshes against their exact shapes, by the float64 twin of the signed distance: closed, outward, no duplicate
 * vertex, inside, and nowhere deeper than the stated sag. Tolerance of "inside": float64 rounding of coordinates up to
 * 100 m that cancel, 2^-45 of the scene's size.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { enclosedVolume } from "../../meshing/meshShapes.ts";
import type { AnalyticCollider, Vec3 } from "../../../../shared/scene/scene.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import { rotationMatrix } from "../../../../server/sim/body/transform.ts";
import {
  boxCore,
  capsuleCore,
  cylinderCore,
  funnelCore,
  SAG,
  sphereCore,
} from "../../../../server/sim/colliders/coreShapes.ts";
import { distanceTo, type Shape } from "../../../../server/sim/reference/collide.ts";
import type { Matrix, Vector } from "../../../../server/sim/reference/vector.ts";

type Solid = Exclude<AnalyticCollider, { type: "plane" }>;

const ROUNDING = 100 * 2 ** -45;
const between = (min: number, max: number): fc.Arbitrary<number> => fc.double({ min, max, noNaN: true });
const point: fc.Arbitrary<Vec3> = fc.tuple(between(-100, 100), between(-100, 100), between(-100, 100));
const size = between(0.01, 10);
const turn: fc.Arbitrary<Vec3> = fc.tuple(between(-180, 180), between(-180, 180), between(-180, 180));
/** Distance of the ends: 1/1000 to 1000 times a radius of 0.01 to 10 m. */
const ends = fc
  .tuple(point, point, between(0.01, 10))
  // Below that distance their direction is undefined or only rounding.
  .filter(([a, b]) => Math.hypot(...a.map((c, r) => c - b[r]!)) > 1e-6)
  .map(([a, b, length]) => {
    const d = b.map((c, r) => c - a[r]!);
    const k = length / Math.hypot(...d);
    return { a, b: a.map((c, r) => c + k * d[r]!) as Vec3 };
  })
  .filter(({ a, b }) => Math.hypot(...a.map((c, r) => c - b[r]!)) > 0.005);

const SHAPES: Record<string, fc.Arbitrary<Solid>> = {
  box: fc.record({
    type: fc.constant("box" as const),
    center: point,
    halfExtents: fc.tuple(size, size, size),
    rotate: turn,
  }),
  sphere: fc.record({ type: fc.constant("sphere" as const), center: point, radius: size }),
  capsule: fc.tuple(ends, size).map(([e, radius]) => ({ type: "capsule" as const, ...e, radius })),
  cylinder: fc.tuple(ends, size).map(([e, radius]) => ({ type: "cylinder" as const, ...e, radius })),
  // Walls of 1/1000 of the radius up to walls that fill the inside.
  funnel: fc.tuple(ends, size, size, between(0.001, 2)).map(([e, radiusA, radiusB, wall]) => ({
    type: "funnel" as const,
    ...e,
    radiusA,
    radiusB,
    thickness: wall * Math.max(radiusA, radiusB),
  })),
};

function coreOf(c: Solid): SurfaceMesh {
  switch (c.type) {
    case "box":
      return boxCore(c);
    case "sphere":
      return sphereCore(c);
    case "capsule":
      return capsuleCore(c);
    case "cylinder":
      return cylinderCore(c);
    case "funnel":
      return funnelCore(c);
  }
}

function shapeOf(c: Solid): Shape {
  if (c.type !== "box") return c;
  const R = rotationMatrix(c.rotate);
  return {
    type: "box",
    center: c.center,
    halfExtents: c.halfExtents,
    toLocal: [
      [R[0]!, R[3]!, R[6]!],
      [R[1]!, R[4]!, R[7]!],
      [R[2]!, R[5]!, R[8]!],
    ] as Matrix,
  };
}

const largest = (c: Solid): number =>
  c.type === "box" ? 0 : c.type === "funnel" ? Math.max(c.radiusA, c.radiusB) + 0.5 * c.thickness : c.radius;
const lengthOf = (c: { a: Vec3; b: Vec3 }): number => Math.hypot(...c.a.map((x, r) => x - c.b[r]!));

/** Volume and area of the true shape; undefined if a wall extends beyond its axis. */
function measuresOf(c: Solid): { volume: number; area: number } | undefined {
  switch (c.type) {
    case "box": {
      const [x, y, z] = c.halfExtents;
      return { volume: 8 * x * y * z, area: 8 * (x * y + y * z + z * x) };
    }
    case "sphere":
      return { volume: (4 / 3) * Math.PI * c.radius ** 3, area: 4 * Math.PI * c.radius ** 2 };
    case "capsule":
      return {
        volume: Math.PI * c.radius ** 2 * (lengthOf(c) + (4 / 3) * c.radius),
        area: 2 * Math.PI * c.radius * (lengthOf(c) + 2 * c.radius),
      };
    case "cylinder":
      return { volume: Math.PI * c.radius ** 2 * lengthOf(c), area: 2 * Math.PI * c.radius * (lengthOf(c) + c.radius) };
    case "funnel": {
      // Pappus: the stadium around the wall's middle, turned about the axis.
      const half = 0.5 * c.thickness;
      const slant = Math.hypot(lengthOf(c), c.radiusB - c.radiusA);
      const way = Math.PI * (c.radiusA + c.radiusB);
      return half < Math.min(c.radiusA, c.radiusB)
        ? { volume: way * (2 * half * slant + Math.PI * half ** 2), area: way * (2 * slant + 2 * Math.PI * half) }
        : undefined;
    }
  }
}

/**
 * Corners, middles of edges and middle of every facet: on a surface with one curvature, the extremes of the distance.
 */
function samplesOf({ positions: x, triangles }: SurfaceMesh): Vector[] {
  const samples: Vector[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (const [p, q, s] of [
      [1, 0, 0],
      [0.5, 0.5, 0],
      [0, 0.5, 0.5],
      [0.5, 0, 0.5],
      [1 / 3, 1 / 3, 1 / 3],
    ] as const) {
      samples.push(
        [0, 1, 2].map(
          (r) => p * x[3 * triangles[t]! + r]! + q * x[3 * triangles[t + 1]! + r]! + s * x[3 * triangles[t + 2]! + r]!,
        ) as unknown as Vector,
      );
    }
  }
  return samples;
}

test.each(Object.keys(SHAPES))(
  "%s: closed, outward, no duplicate vertex, inside, nowhere deeper than 1 % of the radius",
  (name) => {
    let measured = 0;
    fc.assert(
      fc.property(SHAPES[name]!, (c) => {
        const core = coreOf(c);
        const shape = shapeOf(c);
        const { positions, triangles } = core;
        const edges = new Set<string>();
        for (let t = 0; t < triangles.length; t += 3)
          for (let k = 0; k < 3; k++) edges.add(`${triangles[t + k]},${triangles[t + ((k + 1) % 3)]}`);
        expect(edges.size).toBe(triangles.length); // Every directed edge once,
        // and once in reverse.
        expect([...edges].filter((edge) => !edges.has(edge.split(",").reverse().join()))).toEqual([]);
        const vertices = new Set(
          Array.from({ length: positions.length / 3 }, (_, i) => positions.subarray(3 * i, 3 * i + 3).join()),
        );
        expect(vertices.size).toBe(positions.length / 3);
        expect(new Set(triangles).size).toBe(vertices.size);
        let high = -Infinity;
        let low = Infinity;
        for (const p of samplesOf(core)) {
          const { d } = distanceTo(shape, p);
          high = Math.max(high, d);
          low = Math.min(low, d);
        }
        expect(high).toBeLessThanOrEqual(ROUNDING);
        const sag = SAG * largest(c) + ROUNDING;
        expect(low).toBeGreaterThanOrEqual(-sag);
        const true_ = measuresOf(c);
        const volume = enclosedVolume(core);
        expect(volume).toBeGreaterThan(0);
        if (!true_) return;
        measured++;
        // Rounding of vertices changes the volume by at most ROUNDING times the area; the core contains everything
        // deeper than the sag.
        expect(volume).toBeLessThanOrEqual(true_.volume + ROUNDING * true_.area);
        expect(volume).toBeGreaterThanOrEqual(true_.volume - sag * true_.area);
      }),
      { numRuns: 30 },
    );
    expect(measured).toBeGreaterThan(10);
  },
);

test("a needle among coarse bodies has few facets, no deeper than a quarter of their contact radius", () => {
  const [edge, gap] = [0.03, 0.0006];
  for (const radius of [0.0002, 0.002, 0.005]) {
    const needle = { a: [0, 0, 0] as Vec3, b: [0, 0.15, 0.02] as Vec3, radius };
    for (const [type, core] of [
      ["capsule", capsuleCore({ type: "capsule", ...needle }, 0, { edge, gap })],
      ["cylinder", cylinderCore({ type: "cylinder", ...needle }, { edge, gap })],
    ] as const) {
      expect(core.triangles.length / 3).toBeLessThan(
        (0.5 * capsuleCore({ type: "capsule", ...needle }).triangles.length) / 3,
      );
      expect(enclosedVolume(core)).toBeGreaterThan(0);
      const depths = samplesOf(core).map((p) => -distanceTo({ type, ...needle }, p).d);
      expect(Math.min(...depths)).toBeGreaterThan(-ROUNDING);
      expect(Math.max(...depths)).toBeLessThan(Math.max(SAG * radius, Math.min(gap / 4, radius / 4)) + ROUNDING);
    }
  }
  const thick = { type: "capsule" as const, a: [0, 0, 0] as Vec3, b: [0, 1, 0] as Vec3, radius: edge };
  expect(capsuleCore(thick, 0, { edge, gap })).toEqual(capsuleCore(thick));
});

test("a box is exact: 8 vertices, 12 triangles", () => {
  const { positions, triangles } = boxCore({ type: "box", center: [1, 2, 3], halfExtents: [1, 2, 4] });
  expect([positions.length, triangles.length]).toEqual([24, 36]);
  expect(
    [
      ...new Set(positions.filter((_, k) => k % 3 === 0)),
      ...new Set(positions.filter((_, k) => k % 3 === 1)),
      ...new Set(positions.filter((_, k) => k % 3 === 2)),
    ].sort((a, b) => a - b),
  ).toEqual([-1, 0, 0, 2, 4, 7]);
});

test("scaled by a power of two, a core is scaled to the bit", () => {
  fc.assert(
    fc.property(SHAPES.funnel!, fc.integer({ min: -10, max: 10 }), (c, k) => {
      if (c.type !== "funnel") return;
      // Squares of smaller values underflow.
      fc.pre([...c.a, ...c.b].every((x) => x === 0 || Math.abs(x) > 1e-100));
      const s = 2 ** k;
      const times = (v: Vec3): Vec3 => v.map((x) => s * x) as Vec3;
      const big = funnelCore({
        ...c,
        a: times(c.a),
        b: times(c.b),
        radiusA: s * c.radiusA,
        radiusB: s * c.radiusB,
        thickness: s * c.thickness,
      });
      const own = funnelCore(c);
      expect(big.triangles).toEqual(own.triangles);
      expect(big.positions).toEqual(own.positions.map((x) => s * x));
    }),
    { numRuns: 30 },
  );
});
