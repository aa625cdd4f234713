/** Placing meshes: scale, fit to a height, rotate, translate. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { placed, placementOf, rotationMatrix, scaled } from "../../../server/sim/body/transform.ts";
import type { Transform, Vec3 } from "../../../shared/scene/scene.ts";

const place = (transform: Transform | undefined, points: readonly number[]): Float64Array => {
  const positions = Float64Array.from(points);
  const placement = placementOf(transform, positions);
  return placed(scaled(positions, placement), placement);
};
const close = (found: ArrayLike<number>, expected: readonly number[]): void =>
  Array.from(found).forEach((x, i) => expect(x).toBeCloseTo(expected[i]!, 10));
const coordinate = fc.double({ min: -100, max: 100, noNaN: true });
const point = fc.tuple(coordinate, coordinate, coordinate);
const box = (points: ArrayLike<number>): { low: number[]; high: number[] } => {
  const axis = (r: number): number[] => Array.from(points).filter((_, i) => i % 3 === r);
  return { low: [0, 1, 2].map((r) => Math.min(...axis(r))), high: [0, 1, 2].map((r) => Math.max(...axis(r))) };
};

test("no transform changes nothing", () =>
  expect([...place(undefined, [1, 2, 3, -4, 5, 6])]).toEqual([1, 2, 3, -4, 5, 6]));

test.each<[Vec3, Vec3]>([
  [
    [90, 0, 0],
    [1, -3, 2],
  ],
  [
    [0, 90, 0],
    [3, 2, -1],
  ],
  [
    [0, 0, 90],
    [-2, 1, 3],
  ],
  [
    [0, 0, -180],
    [-1, -2, 3],
  ],
  [
    [0, 360, 0],
    [1, 2, 3],
  ],
])("rotate %j takes (1, 2, 3) to %j", (rotate, to) => close(place({ rotate }, [1, 2, 3]), to));

test("120 degrees about the diagonal takes x to y to z", () => {
  const third = 120 / Math.sqrt(3);
  close(place({ rotate: [third, third, third] }, [1, 2, 3]), [3, 1, 2]);
});

test("scale first, then rotate, then translate", () =>
  close(place({ scale: 2, rotate: [0, 0, 90], translate: [10, 20, 30] }, [1, 0, 0]), [10, 22, 30]));

test("a rotation is orthogonal, right-handed, keeps its axis and turns by its angle", () => {
  fc.assert(
    fc.property(
      fc.tuple(
        ...Array.from({ length: 3 }, () => fc.double({ min: -400, max: 400, noNaN: true })),
      ) as unknown as fc.Arbitrary<Vec3>,
      (vector) => {
        const R = rotationMatrix(vector);
        const row = (i: number): number[] => R.slice(3 * i, 3 * i + 3);
        const dot = (a: number[], b: number[]): number => a.reduce((s, x, i) => s + x * b[i]!, 0);
        for (let i = 0; i < 3; i++)
          for (let j = 0; j < 3; j++) expect(dot(row(i), row(j))).toBeCloseTo(i === j ? 1 : 0, 12);
        const [a, b, c] = [row(0), row(1), row(2)] as [number[], number[], number[]];
        expect(
          a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) -
            a[1]! * (b[0]! * c[2]! - b[2]! * c[0]!) +
            a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!),
        ).toBeCloseTo(1, 12);
        [0, 1, 2].forEach((i) => expect(dot(row(i), [...vector])).toBeCloseTo(vector[i]!, 9));
        expect(a[0]! + b[1]! + c[2]!).toBeCloseTo(
          1 + 2 * Math.cos((Math.sqrt(dot([...vector], [...vector])) * Math.PI) / 180),
          11,
        );
      },
    ),
  );
});

test("fitHeight: the given height, on the ground, centered, proportions kept", () => {
  fc.assert(
    fc.property(
      fc.array(point, { minLength: 2, maxLength: 12 }),
      fc.double({ min: 0.01, max: 50, noNaN: true }),
      (points, fitHeight) => {
        const before = box(points.flat());
        fc.pre(before.high[1]! - before.low[1]! > 0.1);
        const after = box(place({ fitHeight }, points.flat()));
        const scale = fitHeight / (before.high[1]! - before.low[1]!);
        expect(after.low[1]).toBeCloseTo(0, 7);
        expect(after.high[1]).toBeCloseTo(fitHeight, 7);
        for (const r of [0, 2]) {
          expect((after.low[r]! + after.high[r]!) / (1 + 1e3 * scale)).toBeCloseTo(0, 9);
          expect((after.high[r]! - after.low[r]!) / scale).toBeCloseTo(before.high[r]! - before.low[r]!, 7);
        }
      },
    ),
  );
});

test("fitHeight, then rotate and translate: the fitted body turns about the middle of its foot", () => {
  // A bar from y = 10 to y = 14, fitted to 2 m, laid along -x, moved.
  close(
    place({ fitHeight: 2, rotate: [0, 0, 90], translate: [5, 6, 7] }, [-1, 10, 3, 1, 14, 3]),
    [5, 5.5, 7, 3, 6.5, 7],
  );
});
