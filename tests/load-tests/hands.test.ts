/**
 * Measurements of the benchmark part `hands`: paths of the grabs, places where they take hold, deformation of a body,
 * and intersections in a frame.
 */
import { describe, expect, test } from "vitest";
import { offsetOf, positionOf, spread } from "../../load-tests/hands/circles.ts";
import { STONES } from "../../load-tests/hands/stones.ts";
import { strainGauge } from "../../load-tests/hands/strain.ts";
import { selfIntersections } from "../../load-tests/peers/selfIntersections.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { laboratory } from "../physics/laboratory.ts";
import { testFolder } from "../support/testFolder.ts";

describe("circles", () => {
  test("begin at the grabbed point and stay on a circle of 0.3 m", () => {
    for (const hand of [0, 1, 7]) {
      const phase = (2 * Math.PI * hand) / 8;
      expect(offsetOf(hand, 8, 0)).toEqual([0, 0, 0]);
      for (const seconds of [0.1, 0.35, 2.2]) {
        const [x, y, z] = offsetOf(hand, 8, seconds);
        expect(Math.hypot(x + 0.3 * Math.cos(phase), z + 0.3 * Math.sin(phase))).toBeCloseTo(0.3, 12);
        expect(y).toBeCloseTo(((0.6 * hand) / 7) * Math.min(1, seconds), 12);
      }
    }
  });

  test("a single grab keeps its height and returns after a second", () => {
    offsetOf(0, 1, 1).forEach((c) => expect(c).toBeCloseTo(0, 12));
    expect(offsetOf(0, 1, 0.4)[1]).toBe(0);
  });
});

describe("grab places", () => {
  /** A strip of unit squares along x, two triangles each. */
  const strip = (body: number, squares: number) => {
    const triangles = Uint32Array.from(
      { length: 6 * squares },
      (_, i) => 2 * Math.floor(i / 6) + [0, 1, 2, 1, 3, 2][i % 6]!,
    );
    return { body, triangles, at: (p: number): Vec3 => [Math.floor(p / 2), 0, p % 2] };
  };

  test("are spread over all bodies by area, no two at the same place", () => {
    const surfaces = [strip(4, 30), strip(7, 10)];
    const places = spread(surfaces, 8);
    expect(places.filter(({ body }) => body === 4)).toHaveLength(6);
    expect(places.filter(({ body }) => body === 7)).toHaveLength(2);
    const xs = places
      .filter(({ body }) => body === 4)
      .map((place) => positionOf(surfaces[0]!, place)[0])
      .sort((a, b) => a - b);
    // Six points on 30 m: multiples of the golden ratio are at least a third of the mean distance apart.
    xs.slice(1).forEach((x, i) => expect(x - xs[i]!).toBeGreaterThan(30 / 6 / 3));
  });

  test("on bodies of points are distinct points", () => {
    const points = { body: 2, points: 40, triangles: new Uint32Array(0), at: (p: number): Vec3 => [p, 0, 0] };
    const places = spread([{ ...points, body: 1, points: 10 }, points], 8);
    expect(places.filter(({ body }) => body === 1)).toHaveLength(2);
    expect(new Set(places.map(({ body, triangle }) => `${body} ${triangle}`)).size).toBe(8);
    expect(positionOf(points, { body: 2, triangle: 7, u: 0, v: 0 })).toEqual([7, 0, 0]);
  });

  test("a surface without area is rejected", () => {
    expect(() => spread([], 1)).toThrow("surface: 0 m^2, limit: > 0");
  });
});

test("stretch and inverted elements of a stretched box, and of one turned inside out", async () => {
  const body = {
    name: "box",
    kind: "soft" as const,
    mesh: { type: "box" as const, size: [1, 1, 1] as Vec3, cells: [1, 1, 1] as Vec3 },
    material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
  };
  const lab = await laboratory({ bodies: [body] });
  const gauge = strainGauge(lab.created, lab.world);
  expect(gauge().stretch).toBeCloseTo(1, 6);
  lab.put(0, ([x, y, z]) => [2 * x, y, z]);
  expect(gauge()).toEqual({ stretch: expect.closeTo(2, 6), inverted: 0 });
  lab.put(0, ([x, y, z]) => [-x, y, z]);
  expect(gauge()).toEqual({ stretch: expect.closeTo(2, 6), inverted: 1 });
});

test("a sheet that intersects itself is counted, a flat sheet is not", () => {
  const triangles = Uint32Array.of(0, 1, 2, 3, 4, 5);
  const flat = [0, 0, 0, 1, 0, 0, 0, 0, 1];
  expect(selfIntersections(Float32Array.from([...flat, 0.2, -0.5, 0.2, 0.2, 0.5, 0.2, 0.3, 0.5, 5]), triangles)).toBe(
    1,
  );
  expect(selfIntersections(Float32Array.from([...flat, 0.2, 0.1, 0.2, 0.2, 0.5, 0.2, 0.3, 0.5, 5]), triangles)).toBe(0);
});

test.each(STONES.map((stone) => [stone.name, stone] as const))(
  "%s is a scene that begins without intersections",
  async (_, stone) => {
    const folder = testFolder("stone");
    const lab = await laboratory(validateScene(stone.build(folder)), folder);
    expect(lab.run(1)).toEqual([]);
  },
);
