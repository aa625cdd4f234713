/**
 * Wind: the kernel's accelerations against the twin's (reference/wind.ts), on crumpled sheets and closed surfaces that
 * move at random in turbulent air. Tolerance: a triangle's normal consists of differences of float32 positions, with an
 * error of 2^-24 of a coordinate over an edge. Forces are quadratic in it and in w, so 64 of these errors cover both
 * and their sums.
 */
import { expect, test } from "vitest";
import type { Body } from "../../shared/scene/scene.ts";
import type { SceneWind } from "../../shared/scene/sceneSettings.ts";
import { isClosed } from "../../server/sim/memory/bodies/windRows.ts";
import { airAt, middle, windForce, type WindyTriangle } from "../../server/sim/reference/wind.ts";
import { add, norm, scale, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import { modesOf, windOf } from "../../server/sim/tuning/windRow.ts";
import { laboratory } from "../physics/laboratory.ts";
import { randomStream, UNIT } from "./kit.ts";
import { clothGrid, softBox } from "../support/bodies.ts";

const WIND: SceneWind = {
  velocity: [6, -1, 2],
  density: 1.3,
  drag: 1.1,
  lift: 0.7,
  turbulence: { intensity: 0.6, scale: 0.8, seed: 5 },
};
const SUBSTEPS = 4;

const sheet = (name: string, density: number, at: number): Body =>
  clothGrid(name, [0.6, 0.6], [6, 6], {
    transform: { translate: [at, 0, 0] },
    material: { density, thickness: 0.001, youngsModulus: 1e4, poissonsRatio: 0.3 },
    pins: [{ select: { particles: [0, 5] } }],
    contact: { self: false },
  });
const block: Body = softBox("block", [0.5, 0.4, 0.3], [3, 3, 2], {
  material: { density: 50, youngsModulus: 1e4, poissonsRatio: 0.3 },
  contact: { self: false },
});

// the second is so light that the force is limited
test.each([
  ["a sheet", sheet("sheet", 300, 3), false],
  ["a film", sheet("film", 1, 2), true],
  ["a closed body, far from the origin", { ...block, transform: { translate: [40, 3, 1] } } as Body, false],
])("%s has the twin's accelerations", async (_, body, held) => {
  const lab = await laboratory({ tickHz: 60, substeps: SUBSTEPS, wind: WIND, bodies: [body] });
  const { created, world } = lab;
  const { origin } = created.layout;
  const template = created.bodies[0]!;
  const random = randomStream(7);
  const there = (x: Vector): Vector => [x[0] + 0.03 * random(), x[1] + 0.03 * random(), x[2] + 0.03 * random()];
  lab.put(0, there, () => [3 * random(), 3 * random(), 3 * random()]);
  const rows = (array: Float32Array, p: number): Vector => [array[4 * p]!, array[4 * p + 1]!, array[4 * p + 2]!];
  const [x, v] = [Float32Array.from(lab.x), Float32Array.from(lab.v)];
  const { triangles, mass, pinned } = template;
  const inverse = Array.from(mass, (m, p) => (pinned[p] ? 0 : Math.fround(1 / m)));
  const areas = Array.from({ length: triangles.length / 3 }, (_, t) => areaOf(template.positions, triangles, t));
  const around = new Float64Array(mass.length);
  triangles.forEach((p, k) => (around[p]! += areas[Math.floor(k / 3)]!));
  const wind = windOf(WIND);
  const modes = modesOf(wind);
  const forces: Vector[] = Array.from(mass, () => [0, 0, 0]);
  let limited = 0;
  for (let t = 0; t < areas.length; t++) {
    const corners = [0, 1, 2].map((k) => triangles[3 * t + k]!) as [number, number, number];
    const share = Math.min(...corners.map((p) => areas[t]! / around[p]!));
    const triangle: WindyTriangle = {
      x: corners.map((p) => rows(x, p)) as unknown as WindyTriangle["x"],
      v: corners.map((p) => rows(v, p)) as unknown as WindyTriangle["v"],
      closed: isClosed(triangles),
      reach: Math.max(...corners.map((p) => inverse[p]!)) / (60 * SUBSTEPS * 3 * share),
    };
    const u = airAt(wind, modes, add(middle(triangle.x), origin));
    const F = windForce(wind, u, triangle);
    const whole = windForce(wind, u, { ...triangle, reach: 0 });
    if (norm(F) < norm(whole)) limited++;
    for (const p of corners) forces[p] = add(forces[p]!, scale(1 / 3, F));
  }
  expect(limited > 0).toBe(held);
  // in the first substep nothing has moved yet
  let felt: Float32Array | undefined;
  let substeps = 0;
  world.watchSubsteps(() => {
    if (substeps++ === 0) felt = Float32Array.from(lab.acceleration);
  });
  world.step([]);
  const wanted = forces.map((F, p) => scale(inverse[p]!, F));
  const most = Math.max(...wanted.map(norm));
  expect(most).toBeGreaterThan(10);
  const reach = Math.max(...Array.from(x, Math.abs).filter((_, k) => k % 4 < 3));
  const shortest = 0.04;
  wanted.forEach((a, p) => {
    expect(norm(subtract(a, rows(felt!, p)))).toBeLessThan(64 * UNIT * (reach / shortest) * most);
  });
});

function areaOf(X: Float64Array, triangles: Uint32Array, t: number): number {
  const at = (k: number): Vector => [0, 1, 2].map((r) => X[3 * triangles[3 * t + k]! + r]!) as unknown as Vector;
  const [u, v] = [subtract(at(1), at(0)), subtract(at(2), at(0))];
  return norm([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]) / 2;
}
