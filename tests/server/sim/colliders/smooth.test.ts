/**
 * server/sim/colliders/smooth.ts: which colliders are large and round compared with the bodies' edges, and the depth of
 * their cores.
 */
import { expect, test } from "vitest";
import type { Collider } from "../../../../shared/scene/scene.ts";
import { coreMesh } from "../../../../server/sim/colliders/coreMesh.ts";
import { insetOf, isSmooth, layingEdge } from "../../../../server/sim/colliders/smooth.ts";

const sphere = (radius: number): Collider => ({ type: "sphere", center: [0, 0, 0], radius });
const box: Collider = { type: "box", center: [0, 0, 0], halfExtents: [1, 1, 1] };

test("the longest edge is 1.5 times the coarsest mean edge; balls and empty rooms have none", () => {
  expect(
    layingEdge([
      { kind: "cloth", meanEdge: 0.02 },
      { kind: "soft", meanEdge: 0.04 },
      { kind: "ball", meanEdge: 1 },
    ]),
  ).toBeCloseTo(0.06, 3);
  expect(layingEdge([{ kind: "ball", meanEdge: 1 }])).toBe(0);
  // Two sums that differ only by rounding of coordinates.
  expect(layingEdge([{ kind: "cloth", meanEdge: 0.025000001 }])).toBe(layingEdge([{ kind: "cloth", meanEdge: 0.025 }]));
});

test("spheres and capsules of at least two such edges are smooth; boxes never, and nothing in a room without bodies", () => {
  expect([0.119, 0.12, 10].map((radius) => isSmooth(sphere(radius), 0.06))).toEqual([false, true, true]);
  expect(isSmooth({ type: "capsule", a: [0, 0, 0], b: [1, 0, 0], radius: 0.2 }, 0.06)).toBe(true);
  expect(isSmooth(box, 0.001)).toBe(false);
  expect(isSmooth(sphere(10), 0)).toBe(false);
});

test.each([sphere(0.5), { type: "capsule", a: [0, -0.3, 0], b: [0, 0.3, 0], radius: 0.5 } as Collider])(
  "the core of a smooth $type is as deep as a chord cuts plus the sag of its facets",
  async (collider) => {
    const edge = 0.1;
    const R = 0.5;
    const sag = R - Math.sqrt(R ** 2 - (edge / 2) ** 2);
    const core = (await coreMesh(collider, { baseDir: "." }, edge))!;
    const half = collider.type === "capsule" ? 0.3 : 0;
    expect(insetOf(collider, edge)).toBeGreaterThan(0.99 * sag);
    expect(insetOf(collider, edge)).toBeLessThan(1.01 * sag);
    for (let p = 0; p < core.positions.length; p += 3) {
      const [x, y, z] = core.positions.slice(p, p + 3) as unknown as [number, number, number];
      const depth = R - Math.hypot(x, Math.max(0, Math.abs(y) - half), z);
      expect(depth).toBeGreaterThan(0.99 * sag);
      expect(depth).toBeLessThan(1.01 * sag + 0.01 * R);
    }
    // Beside a coarse sheet there is space: the core has its normal size.
    const plain = (await coreMesh(collider, { baseDir: "." }, 1))!;
    expect(Math.max(...plain.positions)).toBeGreaterThan(Math.max(...core.positions));
  },
);
