/** Attaching: at rest the surface reproduces the detail mesh. */
import { expect, test } from "vitest";
import { attachDetail, createSkin, evaluateSkinInto } from "../../../shared/skinning/index.ts";
import { random } from "../snapshot/meshes.ts";
import { ball, bunny, sheet, worstDistance, type Mesh } from "./shapes.ts";

/** Rest positions as the surface reproduces them from the float32 coordinates. */
function reproduced(
  surface: Mesh,
  points: Float64Array,
): { out: Float64Array; attachment: ReturnType<typeof attachDetail> } {
  const attachment = attachDetail(surface, points);
  const skin = createSkin({
    rest: surface.positions,
    triangles: surface.triangles,
    detailTriangles: [],
    attachTriangle: attachment.triangle,
    attachCoords: attachment.coords,
  });
  const out = new Float64Array(points.length);
  evaluateSkinInto(skin, surface.positions, out, new Float64Array(points.length));
  return { out, attachment };
}

test("the bunny on the surface of its own tetrahedra: every vertex, to float32 rounding", async () => {
  const { detail, surface, height } = await bunny(0.08);
  expect(surface.triangles.length).toBeLessThan(detail.triangles.length);
  const began = process.cpuUsage();
  const { out, attachment } = reproduced(surface, detail.positions);
  expect(process.cpuUsage(began).user).toBeLessThan(3e6); // us; every vertex against every triangle takes minutes
  expect(attachment.exact).toBe(detail.positions.length / 3);
  expect(attachment.worst).toBeLessThan(1e-12 * height);
  expect(worstDistance(out, detail.positions)).toBeLessThan(1e-7 * height);
});

test("points around a coarse ball: the sign says inside or outside, the point is reproduced, and it is the nearest solution", () => {
  const surface = ball(4);
  const next = random(1);
  const points = Float64Array.from({ length: 3 * 2000 }, () => 2 * next() - 1);
  for (let i = 0; i < points.length; i += 3) {
    // Radius 0.55 to 1.6: well outside the focal region at the middle.
    const r = Math.hypot(points[i], points[i + 1], points[i + 2]);
    const wanted = 0.55 + 1.05 * next();
    for (let k = 0; k < 3; k++) points[i + k] *= wanted / r;
  }
  const { out, attachment } = reproduced(surface, points);
  expect(attachment.exact).toBe(2000);
  expect(worstDistance(out, points)).toBeLessThan(3e-7);
  for (let i = 0; i < 2000; i++) {
    const [u, v, distance] = attachment.coords.subarray(3 * i, 3 * i + 3);
    expect(Math.min(u, v, 1 - u - v)).toBeGreaterThan(-1e-6);
    const r = Math.hypot(points[3 * i], points[3 * i + 1], points[3 * i + 2]);
    // The facets are between 0.9 and 1.
    if (r > 1) expect(distance).toBeGreaterThan(0);
    if (r < 0.9) expect(distance).toBeLessThan(0);
    expect(Math.abs(distance)).toBeLessThan(Math.abs(r - 1) + 0.12);
  }
});

test("points far from many small triangles are reproduced, although not every triangle is tested", () => {
  const surface = ball(24);
  const next = random(2);
  const points = Float64Array.from({ length: 3 * 100 }, () => 2 * next() - 1);
  for (let i = 0; i < points.length; i += 3) {
    const r = Math.hypot(points[i], points[i + 1], points[i + 2]);
    for (let k = 0; k < 3; k++) points[i + k] *= 10 / r;
  }
  const { out, attachment } = reproduced(surface, points);
  expect(attachment.exact).toBe(100);
  // Ten radii away, where float32 coordinates and normals are that much coarser.
  expect(worstDistance(out, points)).toBeLessThan(5e-6);
});

test("particles of the surface itself are attached to themselves at distance 0", () => {
  const surface = ball(3);
  const { out, attachment } = reproduced(surface, surface.positions);
  expect(attachment.exact).toBe(surface.positions.length / 3);
  expect(worstDistance(out, surface.positions)).toBeLessThan(1e-7);
  for (let i = 2; i < attachment.coords.length; i += 3) expect(Math.abs(attachment.coords[i])).toBeLessThan(1e-9);
});

test("beyond the border of an open surface: the border point, and the remaining error is reported", () => {
  const surface = sheet(4);
  const { out, attachment } = reproduced(surface, Float64Array.of(1.3, 0.2, 0.1, -1.5, -0.1, -1.4, 0.3, 0.25, 0.4));
  expect(attachment.exact).toBe(1);
  expect(attachment.worst).toBeCloseTo(Math.hypot(0.5, 0.4), 9);
  const expected = [1, 0.2, 0.1, -1, -0.1, -1, 0.3, 0.25, 0.4];
  out.forEach((x, i) => expect(x).toBeCloseTo(expected[i], 6));
});

test("in folds with crossing normals all values are finite and the error is small", () => {
  const surface = sheet(12, (x) => 0.8 * Math.abs(x));
  const next = random(2);
  const points = Float64Array.from(
    { length: 900 },
    (_, i) => [0.9, 1.2, 0.9][i % 3] * (2 * next() - 1) + [0, 0.4, 0][i % 3],
  );
  const { out, attachment } = reproduced(surface, points);
  expect(out.every(Number.isFinite)).toBe(true);
  expect(attachment.exact).toBeGreaterThan(200);
  expect(worstDistance(out, points)).toBeCloseTo(attachment.worst, 5);
  const bounds = attachment.coords.filter((_, i) => i % 3 < 2);
  expect(Math.min(...bounds)).toBeGreaterThan(-1e-6);
  expect(Math.max(...bounds)).toBeLessThan(1 + 1e-6);
});

test("degenerate triangles cause no errors", () => {
  const { positions, triangles } = ball(3);
  const surface = { positions, triangles: Uint32Array.from([0, 0, 1, 2, 2, 2, ...triangles]) };
  const points = ball(5).positions.map((x) => 1.05 * x);
  const { out, attachment } = reproduced(surface, points);
  expect(attachment.exact).toBe(points.length / 3);
  expect(worstDistance(out, points)).toBeLessThan(1e-6);
});

test("invalid arguments are named", () => {
  const { positions, triangles } = ball(1);
  expect(() => attachDetail({ positions, triangles: [] }, positions)).toThrow(
    "surface.triangles has 0 indices, must be a positive multiple of 3",
  );
  expect(() => attachDetail({ positions, triangles: [0, 1, 6] }, positions)).toThrow(
    "surface.triangles[2] is 6, must be below the 6 positions",
  );
  expect(() => attachDetail({ positions, triangles }, [0, NaN, 0])).toThrow("points[0..2] is 0 NaN 0, must be finite");
});
