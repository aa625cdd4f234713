/** The surface of a cloud of points: closed, wound outward, around all points, and of bounded size. */
import { expect, test } from "vitest";
import { CloudSurface } from "../../../shared/geometry/cloudSurface.ts";

const SPACING = 0.1;
const SIDE = 4;

function cube(x = 0): number[] {
  const points: number[] = [];
  for (let n = 0; n < SIDE ** 3; n++)
    points.push(x + SPACING * (n % SIDE), SPACING * (Math.floor(n / SIDE) % SIDE), SPACING * Math.floor(n / SIDE ** 2));
  return points;
}

const surfaceOf = (points: number[]): CloudSurface => new CloudSurface(SPACING).update(Float32Array.from(points));

type Vec = [number, number, number];
const vertexOf = ({ positions }: CloudSurface, n: number): Vec => [...positions.subarray(3 * n, 3 * n + 3)] as Vec;

/** Volume inside, m^3; every directed edge must have its opposite. */
function volumeOf(surface: CloudSurface): number {
  const edges = new Map<string, number>();
  let volume = 0;
  for (let t = 0; t < surface.corners; t += 3) {
    const numbers = [...surface.triangles.subarray(t, t + 3)];
    const [a, b, c] = numbers.map((n) => vertexOf(surface, n)) as [Vec, Vec, Vec];
    volume +=
      (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) /
      6;
    numbers.forEach((from, k) => {
      const to = numbers[(k + 1) % 3]!;
      edges.set(`${from} ${to}`, (edges.get(`${from} ${to}`) ?? 0) + 1);
      edges.set(`${to} ${from}`, (edges.get(`${to} ${from}`) ?? 0) - 1);
    });
  }
  expect([...edges.values()].every((sum) => sum === 0)).toBe(true);
  return volume;
}

/** Vertices, minus edges, plus faces: 2 for each closed piece without a handle. */
const eulerOf = ({ vertices, corners }: CloudSurface): number => vertices - corners / 2 + corners / 3;

test("a lone point is a ball, with normals along its radii", () => {
  const surface = surfaceOf([0.3, 0.2, -0.1]);
  // (1 - r^2 / reach^2)^3 = level.
  const radius = 1.12 * SPACING * Math.sqrt(1 - Math.cbrt(0.37));
  for (let n = 0; n < surface.vertices; n++) {
    const away = vertexOf(surface, n).map((at, r) => at - [0.3, 0.2, -0.1][r]!) as Vec;
    // A cell's diagonal is 1.16 radii: the mean of points of the sphere in it is less than 1/5 below the sphere.
    expect(Math.abs(Math.hypot(...away) / radius - 1)).toBeLessThan(1 / 5);
    const normal = surface.normals.subarray(3 * n, 3 * n + 3);
    expect(away.reduce((sum, part, r) => sum + part * normal[r]!, 0) / Math.hypot(...away)).toBeGreaterThan(0.98);
  }
  expect(volumeOf(surface) / ((4 / 3) * Math.PI * radius ** 3)).toBeGreaterThan((4 / 5) ** 3);
  expect(eulerOf(surface)).toBe(2);
});

test("points at their spacing are one body without holes, about half a spacing larger than its points", () => {
  const surface = surfaceOf(cube());
  expect(eulerOf(surface)).toBe(2);
  const side = Math.cbrt(volumeOf(surface)) / SPACING;
  expect(side).toBeGreaterThan(SIDE - 0.5);
  expect(side).toBeLessThan(SIDE + 0.5);
});

test("a part that has come off is a body of its own, and joins again", () => {
  const surface = new CloudSurface(SPACING);
  expect(eulerOf(surface.update(Float32Array.from([...cube(), ...cube(2 * SIDE * SPACING)])))).toBe(4);
  volumeOf(surface);
  expect(eulerOf(surface.update(Float32Array.from([...cube(), ...cube(SIDE * SPACING)])))).toBe(2);
});

test("points that have flown apart are all shown, on a grid of bounded size; points without a place are not", () => {
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((c) => [c & 1, (c >> 1) & 1, c >> 2].map((on) => 50 * on));
  const surface = surfaceOf(corners);
  expect(eulerOf(surface)).toBe(16);
  expect(surface.vertices).toBeLessThan(2000);
  expect(surfaceOf([Number.NaN, 0, 0]).corners).toBe(0);
  expect(surfaceOf([]).corners).toBe(0);
  expect(eulerOf(surfaceOf([0, 0, 0, Number.NaN, 0, 0]))).toBe(2);
});
