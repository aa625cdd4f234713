/**
 * Rays against triangles: exact hits, edges, misses, scale, and the tolerance for fingers; the fast path against brute
 * force.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pickNearest, pickSurfaces, rayTriangle, type PickSurface } from "../../../../client/view/grabs/picking.ts";
import { surfacePoint } from "../../../../shared/geometry/surfacePoints.ts";

type Vec = [number, number, number];
const A: Vec = [0, 0, 0];
const B: Vec = [1, 0, 0];
const C: Vec = [0, 1, 0];

const unit = (v: Vec): Vec => {
  const size = Math.hypot(...v);
  return [v[0] / size, v[1] / size, v[2] / size];
};

describe("rayTriangle", () => {
  test("finds distance and barycentric weights, from both sides", () => {
    expect(rayTriangle([0.25, 0.5, 2], [0, 0, -1], A, B, C)).toEqual([2, 0.25, 0.5]);
    expect(rayTriangle([0.25, 0.5, -3], [0, 0, 1], A, B, C)).toEqual([3, 0.25, 0.5]);
  });

  test("misses beside, behind and edge-on", () => {
    expect(rayTriangle([0.6, 0.6, 1], [0, 0, -1], A, B, C)).toBeUndefined();
    expect(rayTriangle([0.2, 0.2, 1], [0, 0, 1], A, B, C)).toBeUndefined();
    expect(rayTriangle([-1, 0.2, 0], [1, 0, 0], A, B, C)).toBeUndefined();
  });

  test("the hit is on the triangle and on the ray, at any size and place", () => {
    const coordinate = fc.double({ noNaN: true, min: -1, max: 1 });
    const point = fc.tuple(coordinate, coordinate, coordinate);
    fc.assert(
      fc.property(
        point,
        point,
        point,
        fc.double({ noNaN: true, min: 0.01, max: 0.49 }),
        fc.double({ noNaN: true, min: 0.01, max: 0.49 }),
        fc.constantFrom(1e-3, 1, 100),
        (a, b, c, u, v, scale) => {
          const [p, q, r] = [a, b, c].map((x) => x.map((k) => k * scale) as Vec) as [Vec, Vec, Vec];
          const inside = p.map((x, k) => x * (1 - u - v) + q[k]! * u + r[k]! * v) as Vec;
          const eye: Vec = [5 * scale, 4 * scale, 3 * scale];
          const along = unit(inside.map((x, k) => x - eye[k]!) as Vec);
          const e1 = unit(q.map((x, k) => x - p[k]!) as Vec);
          const e2 = unit(r.map((x, k) => x - p[k]!) as Vec);
          const normal: Vec = [
            e1[1] * e2[2] - e1[2] * e2[1],
            e1[2] * e2[0] - e1[0] * e2[2],
            e1[0] * e2[1] - e1[1] * e2[0],
          ];
          // Slivers and edge-on triangles are excluded from this guarantee.
          fc.pre(
            Math.hypot(...normal) > 0.1 &&
              Math.abs(normal[0] * along[0] + normal[1] * along[1] + normal[2] * along[2]) > 0.05,
          );
          fc.pre(
            Math.hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]) > 0.1 * scale &&
              Math.hypot(r[0] - p[0], r[1] - p[1], r[2] - p[2]) > 0.1 * scale,
          );
          const hit = rayTriangle(eye, along, p, q, r);
          expect(hit).toBeDefined();
          const [distance, hu, hv] = hit!;
          for (let k = 0; k < 3; k++)
            expect(eye[k]! + along[k]! * distance).toBeCloseTo(inside[k]!, 6 - Math.log10(scale));
          expect(hu).toBeCloseTo(u, 6);
          expect(hv).toBeCloseTo(v, 6);
        },
      ),
    );
  });
});

/** Two unit squares facing z, the second one metre behind the first and shifted. */
const square = (z: number, x: number): PickSurface => ({
  positions: Float32Array.of(x, 0, z, x + 1, 0, z, x + 1, 1, z, x, 1, z),
  triangles: Uint32Array.of(0, 1, 2, 0, 2, 3),
});
const scene = [square(0, 0), square(-1, 0.5)];

describe("pickSurfaces", () => {
  test("takes the nearest body, and the right triangle of it", () => {
    expect(pickSurfaces(scene, [0.75, 0.25, 5], [0, 0, -1])).toMatchObject({ body: 0, triangle: 0, distance: 5 });
    expect(pickSurfaces(scene, [0.25, 0.75, 5], [0, 0, -1])).toMatchObject({ body: 0, triangle: 1 });
    expect(pickSurfaces(scene, [1.25, 0.5, 5], [0, 0, -1])).toMatchObject({ body: 1, distance: 6 });
    expect(pickSurfaces(scene, [3, 3, 5], [0, 0, -1])).toBeUndefined();
  });

  test("surfacePoint returns the point that was hit", () => {
    const hit = pickSurfaces(scene, [0.7, 0.2, 5], [0, 0, -1])!;
    const point: Vec = [0, 0, 0];
    surfacePoint(point, scene[hit.body]!, hit.triangle, hit.u, hit.v);
    expect(point[0]).toBeCloseTo(0.7, 6);
    expect(point[1]).toBeCloseTo(0.2, 6);
    expect(point[2]).toBeCloseTo(0, 6);
  });
});

describe("pickNearest", () => {
  test("a ray that just misses takes the nearest particle, as a corner of one of its triangles", () => {
    const hit = pickNearest(scene, [-0.05, 1.04, 5], [0, 0, -1], 0.03)!;
    const point: Vec = [0, 0, 0];
    surfacePoint(point, scene[hit.body]!, hit.triangle, hit.u, hit.v);
    expect(point).toEqual([0, 1, 0]);
  });

  test("nothing beyond the tolerance, or behind the eye, is taken", () => {
    expect(pickNearest(scene, [-0.5, 1.04, 5], [0, 0, -1], 0.03)).toBeUndefined();
    expect(pickNearest(scene, [0, 0, 5], [0, 0, 1], 0.03)).toBeUndefined();
  });
});
