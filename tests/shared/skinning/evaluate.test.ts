/** Evaluating: a skin moves with its surface, and its normals are those of the resulting surface. */
import { expect, test } from "vitest";
import {
  attachDetail,
  createSkin,
  evaluateSkinInto,
  vertexNormalsInto,
  type Skin,
} from "../../../shared/skinning/index.ts";
import { ball, bunny, moved, sheet, worstDistance, type Mesh } from "./shapes.ts";

function skinOf(surface: Mesh, detail: Mesh): Skin {
  const { triangle, coords } = attachDetail(surface, detail.positions);
  return createSkin({
    rest: surface.positions,
    triangles: surface.triangles,
    detailTriangles: detail.triangles,
    attachTriangle: triangle,
    attachCoords: coords,
  });
}

function evaluated(skin: Skin, positions: Float64Array): { positions: Float64Array; normals: Float64Array } {
  const out = { positions: new Float64Array(skin.covectors.length), normals: new Float64Array(skin.covectors.length) };
  evaluateSkinInto(skin, positions, out.positions, out.normals);
  return out;
}

function normalsOf({ positions, triangles }: Mesh): Float64Array {
  const normals = new Float64Array(positions.length);
  vertexNormalsInto(positions, triangles, normals);
  return normals;
}

/** A bumpy ball: detail for the smooth one. */
const bumpy = (): Mesh => {
  const { positions, triangles } = ball(12);
  const out = positions.slice();
  for (let i = 0; i < out.length; i += 3) {
    const r =
      1 + 0.05 * Math.sin(9 * positions[i]) * Math.sin(8 * positions[i + 1]) + 0.03 * Math.sin(7 * positions[i + 2]);
    for (let k = 0; k < 3; k++) out[i + k] *= r;
  }
  return { positions: out, triangles };
};

test("vertex normals weigh faces by area", () => {
  // A floor face of area 2 and a wall face of area 1/2 meet in the edge 0-1.
  const positions = [0, 0, 0, 1, 0, 0, 0, 0, -4, 0, 1, 0, 5, 5, 5];
  const normals = new Float64Array(15);
  vertexNormalsInto(positions, [0, 1, 2, 0, 1, 3], normals);
  expect([...normals.subarray(0, 3)].map((x) => x * Math.sqrt(17))).toEqual([
    0,
    expect.closeTo(4, 12),
    expect.closeTo(1, 12),
  ]);
  expect([...normals.subarray(6, 9)]).toEqual([0, 1, 0]);
  expect([...normals.subarray(9, 12)]).toEqual([0, 0, 1]);
  // Without a face.
  expect([...normals.subarray(12)]).toEqual([0, 1, 0]);
});

test("at rest: the detail mesh and its own normals", async () => {
  const { detail, surface, height } = await bunny(0.1);
  const { positions, normals } = evaluated(skinOf(surface, detail), surface.positions);
  expect(worstDistance(positions, detail.positions)).toBeLessThan(1e-7 * height);
  expect(worstDistance(normals, normalsOf(detail))).toBeLessThan(1e-4);
});

test("a rigid motion of the surface moves the skin rigidly, with its normals", async () => {
  const { detail, surface, height } = await bunny(0.1);
  const skin = skinOf(surface, detail);
  for (const angle of [0.3, 2, 3.1]) {
    const { positions, normals } = evaluated(skin, moved(surface.positions, angle, [3, -20, 7]));
    expect(worstDistance(positions, moved(detail.positions, angle, [3, -20, 7]))).toBeLessThan(1e-6 * height);
    expect(worstDistance(normals, moved(normalsOf(detail), angle, [0, 0, 0]))).toBeLessThan(1e-4);
  }
});

test("a stretched sheet: the normals are those of the stretched detail, not rotated rest normals", () => {
  const detail = sheet(8, (x) => 0.3 + 0.5 * x);
  const inner = { ...detail, positions: detail.positions.map((c, i) => (i % 3 === 1 ? c : 0.9 * c)) };
  const surface = sheet(3);
  const skin = skinOf(surface, inner);
  const stretched = surface.positions.map((c, i) => (i % 3 === 0 ? 3 * c : c));
  const { positions, normals } = evaluated(skin, stretched);
  const expected = inner.positions.map((c, i) => (i % 3 === 0 ? 3 * c : c));
  expect(worstDistance(positions, expected)).toBeLessThan(1e-6);
  // y = 0.3 + (0.5 / 0.9) x / 3
  const slope = 0.5 / 0.9 / 3;
  const length = Math.hypot(slope, 1);
  for (let i = 0; i < normals.length; i += 3)
    expect(Math.hypot(normals[i] + slope / length, normals[i + 1] - 1 / length, normals[i + 2])).toBeLessThan(1e-5);
});

test("a bent surface: normals agree with those of the resulting mesh", () => {
  const surface = ball(6);
  const detail = bumpy();
  const skin = skinOf(surface, detail);
  const bent = surface.positions.slice();
  for (let i = 0; i < bent.length; i += 3) {
    bent[i] = 1.3 * surface.positions[i] + 0.3 * surface.positions[i + 1] ** 2;
    bent[i + 2] = 0.8 * surface.positions[i + 2] - 0.2 * surface.positions[i];
  }
  const { positions, normals } = evaluated(skin, bent);
  const own = normalsOf({ positions, triangles: detail.triangles });
  const angles = Array.from({ length: normals.length / 3 }, (_, i) => {
    const dot = normals[3 * i] * own[3 * i] + normals[3 * i + 1] * own[3 * i + 1] + normals[3 * i + 2] * own[3 * i + 2];
    return Math.acos(Math.min(1, dot));
  }).sort((a, b) => a - b);
  // Not zero: the surface's normal field is only continuous across its edges, and vertices sum over finite faces.
  expect(angles[Math.floor(angles.length / 2)]).toBeLessThan(0.06);
  expect(angles[Math.floor(0.99 * angles.length)]).toBeLessThan(0.25);
});

test("a collapsed surface gives no NaN", () => {
  const surface = ball(3);
  const skin = skinOf(surface, bumpy());
  const { positions, normals } = evaluated(skin, new Float64Array(surface.positions.length));
  expect(positions.every(Number.isFinite)).toBe(true);
  for (let i = 0; i < normals.length; i += 3)
    expect(Math.hypot(normals[i], normals[i + 1], normals[i + 2])).toBeCloseTo(1, 6);
});

test("the error for an attachment to a missing triangle names it", () => {
  const { positions, triangles } = ball(1);
  const source = {
    rest: positions,
    triangles,
    detailTriangles: [],
    attachTriangle: [0, 8],
    attachCoords: [0, 0, 0, 0, 0, 0],
  };
  expect(() => createSkin(source)).toThrow("attachTriangle[1] is 8, must be below the 8 triangles");
});
