/** Rest coordinates for the light inside of jelly: along a box's own axes, however it lies. */
import { Euler, Vector3 } from "three";
import { expect, test } from "vitest";
import { interiorOf } from "../../../../client/view/bodies/interior.ts";

/** Triangles of a box, outward; corners are numbered by the bits x, y, z. */
const BOX = Uint32Array.of(
  ...[0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6],
);

/** @param place moves a corner */
function corners(size: [number, number, number], place: (corner: Vector3) => Vector3): Float32Array {
  const rest = new Float32Array(24);
  for (let i = 0; i < 8; i++) {
    const corner = new Vector3(i & 1, (i >> 1) & 1, i >> 2).addScalar(-0.5).multiply(new Vector3(...size));
    place(corner).toArray(rest, 3 * i);
  }
  return rest;
}

test.each([
  ["upright", new Euler()],
  ["turned", new Euler(0.4, 1.1, -0.3)],
])("a box, %s, has its own axes and extents", (_, turn) => {
  const { at, half, box } = interiorOf(
    corners([2, 0.4, 1], (corner) => corner.applyEuler(turn).add(new Vector3(5, 6, 7))),
    BOX,
  );
  expect(box).toBe(true);
  expect(half.toSorted((a, b) => a - b)).toEqual([0.2, 0.5, 1].map((x) => expect.closeTo(x, 5) as number));
  // Each corner is a corner of the extents.
  for (const [i, x] of at.entries()) expect(Math.abs(x)).toBeCloseTo(half[i % 3]!, 5);
});

test("the coordinates keep their handedness, because the shader takes normals from them", () => {
  const turn = new Euler(0.4, 1.1, -0.3);
  const rest = corners([2, 0.4, 1], (corner) => corner.applyEuler(turn));
  const { at } = interiorOf(rest, BOX);
  const volume = (points: Float32Array): number => {
    const [o, x, y, z] = [0, 1, 2, 4].map((i) => new Vector3().fromArray(points, 3 * i)) as [
      Vector3,
      Vector3,
      Vector3,
      Vector3,
    ];
    return x.sub(o).cross(y.sub(o)).dot(z.sub(o));
  };
  expect(volume(at)).toBeCloseTo(volume(rest), 5);
});

test("another shape is taken as the ellipsoid in its bounding box", () => {
  const sheared = corners([2, 0.4, 1], (corner) => corner.setX(corner.x + corner.y));
  const { half, box } = interiorOf(sheared, BOX);
  expect(box).toBe(false);
  expect(half).toEqual([1.2, 0.2, 0.5].map((x) => expect.closeTo(x, 5) as number));
});
