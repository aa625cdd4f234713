/** Normals of a deforming surface, sharp edges, and normals carried through a deformation. */
import { describe, expect, test } from "vitest";
import { skinAttributes } from "../../../client/view/skinAttributes.ts";
import { smoothingGroups, surfaceNormalsInto } from "../../../client/view/surfaceNormals.ts";

/** A unit cube of twelve triangles, outward. */
const cube = {
  rest: Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1),
  triangles: Uint32Array.of(0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 3, 7, 6, 3, 6, 2, 0, 4, 7, 0, 7, 3, 1, 2, 6, 1, 6, 5),
};

const dot = (a: ArrayLike<number>, i: number, b: readonly number[]): number => a[i]! * b[0]! + a[i + 1]! * b[1]! + a[i + 2]! * b[2]!;

describe("surfaceNormalsInto", () => {
  test("corner normals of a cube point outward and have length 1", () => {
    const normals = new Float32Array(24);
    surfaceNormalsInto(normals, cube.rest, cube.triangles, cube.triangles);
    for (let i = 0; i < 24; i += 3) {
      expect(Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!)).toBeCloseTo(1, 6);
      expect(dot(normals, i, [cube.rest[i]! - 0.5, cube.rest[i + 1]! - 0.5, cube.rest[i + 2]! - 0.5])).toBeGreaterThan(0.5);
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

describe("skinAttributes", () => {
  /** A flat quad as simulation surface, a tilted roof above it as detail. */
  const rest = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0);
  const triangles = Uint32Array.of(0, 1, 2, 0, 2, 3);
  const attachTriangle = Uint32Array.of(0, 0, 0);
  const attachCoords = Float32Array.of(0.2, 0.1, 0.1, 0.6, 0.1, 0.3, 0.3, 0.6, 0.2);
  const { corners, covectors } = skinAttributes({ rest, triangles, detailTriangles: Uint32Array.of(0, 1, 2), attachTriangle, attachCoords });

  /** Rest positions of the roof: on a flat surface with normal z. */
  const roof = Array.from({ length: 3 }, (_, i) => {
    const [u, v, d] = attachCoords.slice(3 * i, 3 * i + 3) as unknown as [number, number, number];
    return [u + v, v, d] as const;
  });

  test("names the three particles of the triangle that carries a vertex", () => {
    expect([...corners]).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  });

  test("an affine stretch carries the roof's normal by the inverse transpose", () => {
    // Stretch x by 3: on a flat surface the skinned map is that stretch exactly, so the true normal follows from the stretched roof.
    const stretched = roof.map(([x, y, z]) => [3 * x, y, z] as const);
    const e1 = stretched[1]!.map((x, k) => x - stretched[0]![k]!), e2 = stretched[2]!.map((x, k) => x - stretched[0]![k]!);
    const truth = [e1[1]! * e2[2]! - e1[2]! * e2[1]!, e1[2]! * e2[0]! - e1[0]! * e2[2]!, e1[0]! * e2[1]! - e1[1]! * e2[0]!];
    const size = Math.hypot(...truth);
    // The shader's cof(J) m with J = [ju jv N] of the stretched surface: ju = (3, 0, 0), jv = (3, 1, 0), N = (0, 0, 1).
    const [m0, m1, m2] = covectors.slice(0, 3) as unknown as [number, number, number];
    const n = [m0 * 1 + m1 * 0, m0 * -3 + m1 * 3, m2 * 3];
    const length = Math.hypot(...n);
    for (let k = 0; k < 3; k++) expect(n[k]! / length).toBeCloseTo(truth[k]! / size, 5);
  });
});
