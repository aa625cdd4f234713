/**
 * Rigid bodies have the mass, center and inertia of their volume, whatever their mesh, and turn as Euler's equations
 * say.
 */
import { describe, expect, test } from "vitest";
import { boxTets } from "../../../server/meshing/generators.ts";
import { rigidMasses } from "../../../server/sim/body/rigidMasses.ts";
import { tetrahedralMasses } from "../../../server/sim/body/masses.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { softBox } from "../../support/bodies.ts";

const DENSITY = 700;

/** Mass, center and sum m q q^T about the center, row by row. */
function moments(x: ArrayLike<number>, mass: ArrayLike<number>): { total: number; center: number[]; second: number[] } {
  const masses = Array.from(mass);
  const total = masses.reduce((sum, m) => sum + m, 0);
  const center = [0, 1, 2].map((r) => masses.reduce((sum, m, i) => sum + m * x[3 * i + r]!, 0) / total);
  const second = Array.from({ length: 9 }, (_, k) => {
    const [a, b] = [Math.floor(k / 3), k % 3];
    return masses.reduce((sum, m, i) => sum + m * (x[3 * i + a]! - center[a]!) * (x[3 * i + b]! - center[b]!), 0);
  });
  return { total, center, second };
}

describe("masses", () => {
  test.each<[Vec3, Vec3]>([
    [
      [0.3, 0.2, 0.1],
      [1, 1, 1],
    ],
    [
      [0.2, 0.2, 0.2],
      [2, 2, 2],
    ],
    [
      [1, 0.05, 0.05],
      [10, 1, 1],
    ],
    [
      [0.4, 0.03, 0.3],
      [4, 1, 3],
    ],
  ])("of a box of %j m in %j cells are those of the box", (size, cells) => {
    const { positions, tets } = boxTets(size, cells);
    const lumped = tetrahedralMasses(positions, tets, DENSITY);
    const { own, mass } = rigidMasses(positions, tets, lumped, DENSITY);
    const { total, center, second } = moments(own, mass);
    const M = DENSITY * size[0] * size[1] * size[2];
    expect(total / M).toBeCloseTo(1, 12);
    expect(mass.every((m) => m > 0)).toBe(true);
    const was = moments(positions, lumped);
    for (let r = 0; r < 3; r++) expect(center[r]).toBeCloseTo(was.center[r]!, 12);
    for (let k = 0; k < 9; k++) {
      const right = k % 4 === 0 ? (M * size[k / 4]! ** 2) / 12 : 0;
      expect(Math.abs(second[k]! - right)).toBeLessThan(1e-12 * M * Math.max(...size) ** 2);
    }
  });

  test("of a sheared L are those of its three cubes", () => {
    const shear = [1, 0.3, -0.2, 0, 0.7, 0.4, 0.1, 0, 1.2];
    const sheared = (p: readonly number[]): number[] =>
      [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, k) => sum + shear[3 * r + k]! * p[k]!, 0));
    const box = boxTets([2, 2, 1], [2, 2, 1]);
    const places = Array.from({ length: box.positions.length / 3 }, (_, i) => [
      ...box.positions.subarray(3 * i, 3 * i + 3),
    ]);
    const all = Array.from({ length: box.tets.length / 4 }, (_, e) => [...box.tets.subarray(4 * e, 4 * e + 4)]);
    // without the cube where x and y are positive
    const kept = all.filter((tet) => [0, 1].some((r) => tet.reduce((sum, p) => sum + places[p]![r]!, 0) < 0));
    const used = [...new Set(kept.flat())];
    const X = Float64Array.from(used.flatMap((p) => sheared(places[p]!)));
    const tets = Uint32Array.from(kept.flat(), (p) => used.indexOf(p));
    const { own, mass } = rigidMasses(X, tets, tetrahedralMasses(X, tets, DENSITY), DENSITY);
    const { total, center, second } = moments(own, mass);
    const volume = 0.7 * 1.2 + 0.1 * (0.3 * 0.4 + 0.2 * 0.7); // det of the shear
    const cubes = [
      [-0.5, -0.5, 0],
      [0.5, -0.5, 0],
      [-0.5, 0.5, 0],
    ].map(sheared);
    const middle = [0, 1, 2].map((r) => cubes.reduce((sum, c) => sum + c[r]! / 3, 0));
    expect(total / (3 * DENSITY * volume)).toBeCloseTo(1, 12);
    center.forEach((c, r) => expect(c).toBeCloseTo(middle[r]!, 12));
    second.forEach((s, k) => {
      const [a, b] = [Math.floor(k / 3), k % 3];
      const own = [0, 1, 2].reduce((sum, j) => sum + (shear[3 * a + j]! * shear[3 * b + j]!) / 12, 0);
      const right = cubes.reduce((sum, c) => sum + own + (c[a]! - middle[a]!) * (c[b]! - middle[b]!), 0);
      expect(s / (DENSITY * volume)).toBeCloseTo(right, 12);
    });
  });
});

describe("a box without forces turns as Euler's equations say", () => {
  const SIZE: Vec3 = [0.4, 0.2, 0.1];
  const I = [SIZE[1] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[1] ** 2].map((s) => s / 12);
  /** Spin in the body's axes, 1/s: about each; that about the middle one is unstable. */
  test.each<[string, Vec3]>([
    ["about its longest axis", [6, 0.5, 0]],
    ["about its middle axis", [0.05, 6, 0]],
    ["about its shortest axis", [0.5, 0, 6]],
  ])("%s", async (_, spin) => {
    const lab = await laboratory({
      bodies: [
        softBox("box", SIZE, [2, 1, 1], { material: { model: "shape-matching", mode: "rigid", density: DENSITY } }),
      ],
    });
    const start = lab.positions();
    const { mass } = lab.created.bodies[0]!;
    const { center } = moments(start, mass);
    lab.put(
      0,
      (x) => x,
      (x) => {
        const [a, b, c] = [0, 1, 2].map((r) => x[r]! - center[r]!) as Vec3;
        return [spin[1] * c - spin[2] * b, spin[2] * a - spin[0] * c, spin[0] * b - spin[1] * a];
      },
    );
    const exact = top(I, spin);
    let worst = 0;
    for (let second = 1; second <= 4; second++) {
      lab.run(60);
      const axes = exact(second);
      const x = lab.positions();
      // corners of the surface, turned by the exact motion
      for (let i = 0; i < 8; i++) {
        const q = [0, 1, 2].map((r) => start[3 * i + r]! - center[r]!);
        const goes = [0, 1, 2].map((r) => center[r]! + [0, 1, 2].reduce((sum, k) => sum + axes[3 * r + k]! * q[k]!, 0));
        worst = Math.max(worst, Math.hypot(...goes.map((g, r) => x[3 * i + r]! - g)));
      }
    }
    expect(worst).toBeLessThan(1e-3 * SIZE[0]);
  });
});

/** Euler's equations by Runge and Kutta. @returns rotation at a time, row by row */
function top(I: readonly number[], spin: Vec3): (seconds: number) => number[] {
  const rate = (y: readonly number[]): number[] => {
    const [a, b, c] = y as [number, number, number];
    const turned = [0, 1, 2].flatMap((r) => {
      const [p, q, s] = y.slice(3 + 3 * r, 6 + 3 * r) as Vec3;
      return [q * c - s * b, s * a - p * c, p * b - q * a]; // R [w]
    });
    return [
      ((I[1]! - I[2]!) / I[0]!) * b * c,
      ((I[2]! - I[0]!) / I[1]!) * c * a,
      ((I[0]! - I[1]!) / I[2]!) * a * b,
      ...turned,
    ];
  };
  const plus = (y: readonly number[], d: readonly number[], s: number): number[] => y.map((v, k) => v + s * d[k]!);
  return (seconds) => {
    let y = [...spin, 1, 0, 0, 0, 1, 0, 0, 0, 1];
    const h = 1e-4;
    for (let n = Math.round(seconds / h); n > 0; n--) {
      const k1 = rate(y);
      const k2 = rate(plus(y, k1, h / 2));
      const k3 = rate(plus(y, k2, h / 2));
      const k4 = rate(plus(y, k3, h));
      y = y.map((v, k) => v + (h / 6) * (k1[k]! + 2 * k2[k]! + 2 * k3[k]! + k4[k]!));
    }
    return y.slice(3);
  };
}
