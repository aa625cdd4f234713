/** Balls that stand for moving bodies in the shade of the floor. */
import { Color } from "three";
import { expect, test } from "vitest";
import { type BlobBody, ContactBlobs } from "../../../../client/view/colliders/contactBlobs.ts";

const bodyOf = (own: Partial<BlobBody>): BlobBody =>
  ({
    rest: Float32Array.of(0, 0, 0, 1, 0, 0),
    positions: Float32Array.of(0, 2, 0, 2, 2, 0),
    color: new Color(1, 0.5, 0),
    jelly: false,
    hidden: false,
    ...own,
  }) as BlobBody;

test("each ball is at the mean of its particles", () => {
  const blobs = new ContactBlobs([bodyOf({})]);
  blobs.update();
  const centers = blobs.spheres.filter(({ y }) => y === 2).map(({ x }) => x);
  expect(centers.sort()).toEqual([0, 2]);
});

test("jelly passes more of its color to the floor than other bodies reflect, and a new color shows", () => {
  const color = new Color(1, 0.5, 0);
  const [opaque, clear] = [bodyOf({}), bodyOf({ jelly: true, color })].map((body) => {
    const blobs = new ContactBlobs([body]);
    blobs.update();
    expect(blobs.tints[0]!.y).toBeCloseTo(0.5 * blobs.tints[0]!.x, 6);
    return blobs.tints[0]!.x;
  }) as [number, number];
  expect(clear).toBeGreaterThan(2 * opaque);
  const blobs = new ContactBlobs([bodyOf({ color })]);
  color.setRGB(0, 0, 1);
  blobs.update();
  expect(blobs.tints[0]!.x).toBe(0);
  expect(blobs.tints[0]!.z).toBeGreaterThan(0);
});

test("hidden bodies have neither balls nor color on the floor", () => {
  const hidden = bodyOf({});
  const blobs = new ContactBlobs([hidden]);
  blobs.update();
  Object.assign(hidden, { hidden: true });
  blobs.update();
  expect(blobs.spheres.every(({ w }) => w === 0)).toBe(true);
});
