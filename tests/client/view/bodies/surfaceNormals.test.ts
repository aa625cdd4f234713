/** Normals of a deforming surface: smooth, at sharp edges, softened, and equal to those of shared/skinning. */
import { describe, expect, test } from "vitest";
import { vertexNormalsInto } from "../../../../shared/skinning/index.ts";
import {
  smoothingGroups,
  softenNormalsInto,
  surfaceNormalsInto,
} from "../../../../client/view/bodies/surfaceNormals.ts";

/** A unit cube of twelve triangles, outward. */
const cube = {
  rest: Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1),
  triangles: Uint32Array.of(
    0,
    2,
    1,
    0,
    3,
    2,
    4,
    5,
    6,
    4,
    6,
    7,
    0,
    1,
    5,
    0,
    5,
    4,
    3,
    7,
    6,
    3,
    6,
    2,
    0,
    4,
    7,
    0,
    7,
    3,
    1,
    2,
    6,
    1,
    6,
    5,
  ),
};

const dot = (a: ArrayLike<number>, i: number, b: readonly number[]): number =>
  a[i]! * b[0]! + a[i + 1]! * b[1]! + a[i + 2]! * b[2]!;

describe("surfaceNormalsInto", () => {
  test("corner normals of a cube point outward and have length 1", () => {
    const normals = new Float32Array(24);
    surfaceNormalsInto(normals, cube.rest, cube.triangles, cube.triangles);
    for (let i = 0; i < 24; i += 3) {
      expect(Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!)).toBeCloseTo(1, 6);
      expect(dot(normals, i, [cube.rest[i]! - 0.5, cube.rest[i + 1]! - 0.5, cube.rest[i + 2]! - 0.5])).toBeGreaterThan(
        0.5,
      );
    }
  });

  test("a collapsed surface gives unit normals, not NaN", () => {
    const normals = new Float32Array(24);
    surfaceNormalsInto(normals, new Float32Array(24), cube.triangles, cube.triangles);
    for (let i = 0; i < 24; i += 3) expect(Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!)).toBe(1);
  });
});

describe("smoothingGroups", () => {
  test("a cube's corners are split into three flat sides", () => {
    const { slots, count } = smoothingGroups(cube.rest, cube.triangles, 0.64);
    expect(count).toBe(24);
    const normals = new Float32Array(3 * count);
    surfaceNormalsInto(normals, cube.rest, cube.triangles, slots);
    for (let i = 0; i < normals.length; i += 3) {
      expect(Math.max(Math.abs(normals[i]!), Math.abs(normals[i + 1]!), Math.abs(normals[i + 2]!))).toBeCloseTo(1, 6);
    }
  });

  test("without a crease every particle keeps one normal", () => {
    expect(smoothingGroups(cube.rest, cube.triangles, -1).count).toBe(8);
  });
});

test("with the triangles themselves as slots it equals vertexNormalsInto of shared/skinning", () => {
  const own = new Float32Array(24);
  const shared = new Float32Array(24);
  surfaceNormalsInto(own, cube.rest, cube.triangles, cube.triangles);
  vertexNormalsInto(cube.rest, cube.triangles, shared);
  expect(own).toEqual(shared);
});

test("softening keeps a flat surface's normals and turns a lone outlier towards its ring", () => {
  const flat = Float32Array.of(0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1);
  const quad = Uint32Array.of(0, 1, 2, 0, 2, 3);
  const out = new Float32Array(12);
  softenNormalsInto(out, flat, quad);
  expect(out).toEqual(flat);
  softenNormalsInto(out, Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1), quad);
  expect(out[2]).toBeGreaterThan(0.8);
});
