/**
 * Exact touching is a legal start: nothing intersects in any tick by the checker's exact test, and no body is reported.
 */
import { expect, test } from "vitest";
import { rotationMatrix } from "../../../server/sim/body/transform.ts";
import type { Body, Collider, Vec3 } from "../../../shared/scene/scene.ts";
import { crossings } from "./crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";

const SIZE = 0.25;
const JELLY = { model: "stable-neo-hookean", density: 800, youngsModulus: 5e4, poissonsRatio: 0.4, friction: 0.4 };
const RIGID = { model: "shape-matching", mode: "rigid", density: 1000 };
const cube = (name: string, translate: Vec3, material: object = JELLY, more: object = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [3, 3, 3] },
    transform: { translate },
    material,
    ...more,
  }) as Body;
const sheet = (name: string, y: number, more: object = {}): Body =>
  ({
    name,
    kind: "cloth",
    mesh: { type: "grid", size: [SIZE, SIZE], cells: [6, 6] },
    transform: { translate: [0, y, 0] },
    material: { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
    contact: { thickness: 0.004 },
    ...more,
  }) as Body;
const floor: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.6 };
const GRAVITY: Vec3 = [0, -9.81, 0];
const half = SIZE / 2;

/** Runs a second. @returns the largest number of intersections after a tick */
function watch(lab: Laboratory): number {
  let most = 0;
  for (let tick = 0; tick < 60; tick++) {
    expect(lab.run(1)).toEqual([]);
    most = Math.max(most, crossings(lab, true));
  }
  return most;
}

test.each<[string, Body[]]>([
  [
    "a pile of cubes, a sheet and a rigid box",
    [
      cube("a", [0, half, 0]),
      cube("b", [0, 3 * half, 0]),
      cube("c", [SIZE, half, 0]),
      sheet("top", 4 * half),
      cube("r", [SIZE, 3 * half, 0], RIGID),
    ],
  ],
  ["a sheet between two cubes", [cube("a", [0, half, 0]), sheet("s", SIZE), cube("b", [0, 3 * half, 0])]],
  [
    "two implicit cubes",
    [0, 1].map((n) =>
      cube(
        `${n}`,
        [0, half + n * SIZE, 0],
        { density: 800, youngsModulus: 1e6, poissonsRatio: 0.3 },
        { solver: "implicit" },
      ),
    ),
  ],
])("%s do not intersect", async (_, bodies) => {
  const lab = await laboratory({ gravity: GRAVITY, substeps: 20, damping: 0.5, bodies, colliders: [floor] });
  expect(watch(lab)).toBe(0);
});

test.each(["compliant", "implicit", "prefactored"])("two %s sheets at one place part", async (solver) => {
  const bodies = [sheet("a", 0.2, { solver }), sheet("b", 0.2, { solver })];
  const lab = await laboratory({ gravity: GRAVITY, substeps: 20, damping: 0.5, bodies, colliders: [floor] });
  expect(watch(lab)).toBe(0);
  const [a, b] = [lab.positions(0), lab.positions(1)];
  for (let k = 1; k < a.length; k += 3) expect(b[k]! - a[k]!).toBeGreaterThan(0.002);
});

test.each<[string, object, Vec3]>([
  ["soft", JELLY, [0, 0, 0]],
  ["soft, in another frame", JELLY, [20, 30, 40]],
  ["rigid", RIGID, [0, 0, 0]],
])("two %s cubes side by side are neither reported nor intersect", async (_, material, rotate) => {
  const R = rotationMatrix(rotate);
  const bodies = [-half, half].map((x, n) => {
    const translate = [0, 3, 6].map((row) => x * R[row]!) as Vec3;
    return cube(`${n}`, translate, material, { transform: { rotate, translate } });
  });
  expect(watch(await laboratory({ substeps: 20, bodies }))).toBe(0);
});

test("a rigid cube of 1000 times the mass stands exactly on another", async () => {
  const heavy = { ...RIGID, density: 5e5 };
  const bodies = [cube("a", [0, half, 0], { ...RIGID, density: 500 }), cube("b", [0, 3 * half, 0], heavy)];
  const lab = await laboratory({ gravity: GRAVITY, substeps: 20, bodies, colliders: [floor] });
  expect(watch(lab)).toBe(0);
  lab.run(60);
  const before = lab.positions(1);
  lab.run(120);
  lab.positions(1).forEach((x, k) => expect(Math.abs(x - before[k]!)).toBeLessThan(1e-5));
});

/** Mean of a body's velocities along x, m/s. */
const speedOf = (lab: Laboratory, body: number): number => middle(lab.velocities(body))[0];

test.each([
  ["two soft cubes", JELLY],
  ["a soft and a rigid cube", RIGID],
] as const)("%s that touch side by side leave each other slowly", async (_, material) => {
  const lab = await laboratory({ refine: true, bodies: [cube("a", [0, 0, 0]), cube("b", [SIZE, 0, 0], material)] });
  let fastest = 0;
  for (let tick = 0; tick < 60; tick++) {
    lab.run(1);
    fastest = Math.max(fastest, ...[0, 1].map((body) => Math.abs(speedOf(lab, body))));
  }
  expect(fastest).toBeLessThan(0.025);
});
