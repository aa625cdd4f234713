/** Camera position that shows everything in the free part of the picture, for random points and pictures. */
import fc from "fast-check";
import { PerspectiveCamera, Vector3 } from "three";
import { expect, test } from "vitest";
import { clearOfTools, frame, inside, SHOWN_PART } from "../../../shared/geometry/framing.ts";

const coordinate = fc.double({ min: -3, max: 3, noNaN: true });
const points = fc.array(fc.tuple(coordinate, coordinate, coordinate), { minLength: 2, maxLength: 30 });
const edge = fc.double({ min: 0.3, max: 1, noNaN: true });

test("all points are in the free area, and touch two opposite edges of it, unless they are too near", () => {
  fc.assert(
    fc.property(
      points,
      fc.tuple(coordinate, fc.double({ min: -1, max: 1, noNaN: true })),
      fc.double({ min: 0.4, max: 3, noNaN: true }),
      fc.tuple(edge, edge, edge, edge),
      (list, [turn, rise], aspect, [left, right, bottom, top]) => {
        const flat = Float32Array.from(list.flat());
        const free = { left: -left, right, bottom: -bottom, top };
        const camera = new PerspectiveCamera(38, aspect, 0.001, 1000);
        const tanY = Math.tan((38 * Math.PI) / 360);
        const back = new Vector3(Math.sin(turn), rise, Math.cos(turn));
        const framed = frame(flat, back.toArray(), { tanX: tanY * aspect, tanY }, free);
        const position = new Vector3(...framed.position);
        camera.position.copy(position);
        camera.lookAt(...framed.target);
        camera.updateMatrixWorld();
        // float32 coordinates up to 3 m, seen from at least a quarter of a millimetre.
        const near = list.some((_, i) => position.distanceTo(new Vector3().fromArray(flat, 3 * i)) < 1e-2);
        if (near) return;
        const seen = list.map((_, i) => new Vector3().fromArray(flat, 3 * i).project(camera));
        const x = seen.map((p) => p.x);
        const y = seen.map((p) => p.y);
        const slack = [
          Math.min(...x) - free.left,
          free.right - Math.max(...x),
          Math.min(...y) - free.bottom,
          free.top - Math.max(...y),
        ];
        for (const room of slack) expect(room).toBeGreaterThan(-1e-6);
        // The remaining space is equal on both sides.
        const depths = list.map((_, i) =>
          new Vector3()
            .fromArray(flat, 3 * i)
            .sub(position)
            .dot(back.clone().normalize()),
        );
        const size = Math.max(...depths) - Math.min(...depths);
        const asNearAsAllowed = Math.abs(Math.max(...depths) + 0.25 * Math.max(1e-3, size)) < 1e-6;
        if (!asNearAsAllowed)
          expect(Math.min(Math.max(slack[0]!, slack[1]!), Math.max(slack[2]!, slack[3]!))).toBeLessThan(1e-6);
      },
    ),
    { numRuns: 300 },
  );
});

test("a point is inside if the picture shows it between the edges, in front of the eye", () => {
  const lens = { tanX: 0.5, tanY: 0.25 };
  const free = { left: -0.8, right: 0.9, bottom: -0.4, top: 0.6 };
  const seen = (x: number, y: number, z: number): boolean =>
    inside(Float32Array.from([0, 0, 0, x, y, z]), [0, 0, 4], [0, 0, 1], lens, free);
  // At depth 4 the edges are at x = 4 0.5 (-0.8, 0.9), y = 4 0.25 (-0.4, 0.6).
  for (const [x, y] of [
    [-1.6, 0],
    [1.8, 0],
    [0, -0.4],
    [0, 0.6],
  ] as const) {
    expect(seen(0.999 * x, 0.999 * y, 0)).toBe(true);
    expect(seen(1.001 * x, 1.001 * y, 0)).toBe(false);
    // A point at half the depth.
    expect(seen(0.5 * 0.999 * x, 0.5 * 0.999 * y, 2)).toBe(true);
    expect(seen(0.5 * 1.001 * x, 0.5 * 1.001 * y, 2)).toBe(false);
  }
  expect(seen(0, 0, 5), "behind the eye").toBe(false);
  expect(inside(new Float32Array(0), [0, 0, 4], [0, 0, 1], lens, free)).toBe(true);
});

test("the eye keeps the given distance, and moves back only as far as necessary", () => {
  const flat = Float32Array.from([-1, 0, 0, 1, 0, 0, 0, 1, 0]);
  const free = { left: -0.9, right: 0.9, bottom: -0.5, top: 0.6 };
  const lens = { tanX: 0.7, tanY: 0.35 };
  const eye = (nearest?: number): number => frame(flat, [0, 0, 1], lens, free, nearest).position[2];
  expect(eye(10)).toBeCloseTo(10, 6);
  expect(eye(1)).toBe(eye());
  // The points are still in the middle of the free area: y at eye +- (0.6, -0.5) tanY.
  const { position } = frame(flat, [0, 0, 1], lens, free, 10);
  expect((0 - position[1]) / 10 / lens.tanY + (1 - position[1]) / 10 / lens.tanY).toBeCloseTo(0.6 - 0.5, 6);
});

test("the free part shows a scene's own view without its margin, and never from nearer than the scene's camera", () => {
  fc.assert(
    fc.property(
      fc.tuple(coordinate, coordinate, coordinate),
      fc.tuple(coordinate, fc.double({ min: 0.5, max: 3, noNaN: true })),
      fc.tuple(edge, edge),
      (target, [turn, rise], [bottom, top]) => {
        const free = { left: -1, right: 1, bottom: -bottom, top };
        const towards: [number, number, number] = [3 * Math.sin(turn), rise, 3 * Math.cos(turn)];
        const tanY = Math.tan((38 * Math.PI) / 360);
        const moved = clearOfTools(target, towards, tanY, free);
        const camera = new PerspectiveCamera(38, 1.5, 0.001, 1000);
        camera.position.set(...moved.position);
        camera.lookAt(...moved.target);
        camera.updateMatrixWorld();
        const up = new Vector3(0, 1, 0).applyQuaternion(camera.quaternion);
        const half = SHOWN_PART * tanY * Math.hypot(...towards);
        const heightAt = (share: number): number =>
          new Vector3(...target).addScaledVector(up, share * half).project(camera).y;
        expect(heightAt(1)).toBeLessThan(free.top + 1e-6);
        expect(heightAt(-1)).toBeGreaterThan(free.bottom - 1e-6);
        expect(heightAt(0)).toBeCloseTo(0.5 * (free.top + free.bottom), 6);
        const distance = new Vector3(...moved.position).distanceTo(new Vector3(...moved.target));
        expect(distance).toBeGreaterThan(Math.hypot(...towards) - 1e-6);
      },
    ),
  );
});
