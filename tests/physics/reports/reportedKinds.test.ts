/** Kinds of inputs that broke other software, from public reports, each with the value that physics gives. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { icosphere } from "../../../server/meshing/generators.ts";
import { enclosedVolume } from "../../../server/sim/body/meshes.ts";
import { box, floor, G, heights, open, RIGID, RUBBER, SHEET } from "./play.ts";
import { testFolder } from "../../support/testFolder.ts";
import { ballBody, clothGrid } from "../../support/bodies.ts";

const folder = testFolder("kinds");

const cube = (size: number, translate: Vec3, material: object = RIGID, more: object = {}): object =>
  box("cube", [size, size, size], translate, material, more);

/** Steps a scene. @param look called after every tick. @returns positions of the first body's particles */
async function play(
  scene: { bodies: object[]; colliders?: object[] } & Record<string, unknown>,
  seconds: number,
  look: (y: number, t: number) => void = () => {},
  rests = false,
): Promise<Vec3[]> {
  const room = await open(scene, rests, folder);
  room.run(seconds, (t) => look(room.middle()[1], t));
  return room.places();
}
const middle = (places: readonly Vec3[]): Vec3 =>
  places.reduce((sum, place) => sum.map((s, k) => s + place[k]! / places.length) as Vec3, [0, 0, 0] as Vec3);
const lowest = (places: readonly Vec3[]): number => Math.min(...heights(places));

function writeObj(
  name: string,
  vertices: readonly (readonly number[])[],
  faces: readonly (readonly number[])[],
): string {
  const lines = [...vertices.map((v) => `v ${v.join(" ")}`), ...faces.map((f) => `f ${f.map((v) => v + 1).join(" ")}`)];
  writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  return name;
}
const meshCollider = (path: string): object => ({ type: "mesh", mesh: { type: "file", path } });

test("a balloon whose file is wound inward keeps the same volume as one that is wound outward", async () => {
  const { positions, triangles } = icosphere(0.3, 2);
  const vertices = Array.from({ length: positions.length / 3 }, (_, v) => [...positions.subarray(3 * v, 3 * v + 3)]);
  const faces = Array.from({ length: triangles.length / 3 }, (_, t) => [...triangles.subarray(3 * t, 3 * t + 3)]);
  const volumes: number[] = [];
  for (const inward of [false, true]) {
    const path = writeObj(`balloon-${inward}.obj`, vertices, inward ? faces.map((f) => f.toReversed()) : faces);
    const material = { model: "pbd", density: 300, thickness: 0.001, distance: { compliance: 0 } };
    const volume = { compliance: 0, pressure: 1 };
    const body = { name: "b", kind: "cloth", mesh: { type: "file", path }, material: { ...material, volume } };
    const places = await play({ bodies: [{ ...body, transform: { translate: [0, 0.5, 0] } }], colliders: [floor] }, 2);
    volumes.push(Math.abs(enclosedVolume({ positions: Float64Array.from(places.flat()), triangles })));
  }
  const rest = enclosedVolume({ positions, triangles });
  expect(volumes[0]! / rest).toBeCloseTo(1, 2);
  expect(volumes[1]! / volumes[0]!).toBeCloseTo(1, 2);
});

test("wind pushes a sheet from both sides alike", async () => {
  const body = clothGrid("flag", [0.5, 0.5], [8, 8], {
    transform: { rotate: [90, 0, 0] },
    material: SHEET,
    pins: [{ select: { box: { min: [-1, 0.24, -1], max: [1, 1, 1] } } }],
  });
  const pushed = async (z: number): Promise<number> =>
    middle(await play({ bodies: [body], wind: { velocity: [0, 0, z] } }, 0.5))[2];
  const [front, back] = [await pushed(4), await pushed(-4)];
  expect(front).toBeGreaterThan(0.02);
  expect(back).toBeLessThan(-0.02);
  expect(front / -back).toBeCloseTo(1, 1);
});

describe("a moving platform", () => {
  const platform = (start: number): object => ({
    type: "box",
    center: [0, 0, 0],
    halfExtents: [2, 0.1, 1],
    motion: { keys: [{ time: 0 }, { time: start }, { time: start + 2, translate: [0.6, 0, 0] }] },
  });
  test.each([
    ["rigid", RIGID],
    ["soft", RUBBER],
  ])("carries a %s body, also one that has fallen asleep on it", async (_, material) => {
    const bodies = [cube(0.2, [0, 0.205, 0], material)];
    const [x] = middle(await play({ bodies, colliders: [platform(6)] }, 8.5, undefined, true));
    expect(x).toBeGreaterThan(0.57);
    expect(x).toBeLessThan(0.63);
  });
});

describe("a mesh collider", () => {
  test("has no bumps at its inner edges", async () => {
    const [n, vertices, faces] = [20, [] as number[][], [] as number[][]];
    for (let j = 0; j <= n; j++) for (let i = 0; i <= n; i++) vertices.push([(4 * i) / n - 1, 0, (2 * j) / n - 1]);
    for (let j = 0; j < n; j++)
      for (let i = 0; i < n; i++) {
        const a = j * (n + 1) + i;
        faces.push([a, a + n + 1, a + n + 2, a + 1]);
      }
    const heights: number[] = [];
    const bodies = [cube(0.2, [-0.5, 0.101, 0], RIGID, { velocity: [2, 0, 0] })];
    const collider = { ...meshCollider(writeObj("flat.obj", vertices, faces)), friction: 0 };
    const [x] = middle(await play({ bodies, colliders: [collider] }, 1, (y) => heights.push(y)));
    expect(x).toBeGreaterThan(1.4);
    const settled = heights.slice(10);
    expect(Math.max(...settled) - Math.min(...settled)).toBeLessThan(0.001);
  });

  test.each([
    ["inward", false],
    ["outward", true],
  ])("of a closed room whose faces are wound %s keeps a soft body inside", async (_, outward) => {
    const corners = Array.from({ length: 8 }, (_, c) => [c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1]);
    const out = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]; // biome-ignore format: one line
    const faces = outward ? out : out.map((face) => face.toReversed());
    const bodies = [cube(0.3, [0.1, -0.6, 0.2], RUBBER, { velocity: [1, 0, 0] })];
    const places = await play(
      { bodies, colliders: [meshCollider(writeObj(`room-${outward}.obj`, corners, faces))] },
      3,
    );
    expect(lowest(places)).toBeGreaterThan(-1.001);
    expect(lowest(places)).toBeLessThan(-0.98);
    for (const [x, , z] of places) expect(Math.max(Math.abs(x), Math.abs(z))).toBeLessThan(1.001);
  });

  test("of slivers carries like a flat one", async () => {
    const strips = 400;
    const vertices = Array.from({ length: 2 * (strips + 1) }, (_, v) => [
      (v >> 1) / strips - 0.5,
      0,
      v % 2 ? 100 : -100,
    ]);
    const faces = Array.from({ length: strips }, (_, s) => [2 * s, 2 * s + 1, 2 * s + 3, 2 * s + 2]);
    const bodies = [cube(0.2, [0, 0.3, 0], RUBBER)];
    const places = await play({ bodies, colliders: [meshCollider(writeObj("slivers.obj", vertices, faces))] }, 2);
    expect(lowest(places)).toBeGreaterThan(-1e-3);
    expect(lowest(places)).toBeLessThan(0.01);
  });

  test("of triangles with sides of 2 km carries like a small one", async () => {
    const far = 1000;
    const corners = [[-far, 0, -far], [-far, 0, far], [far, 0, far], [far, 0, -far]]; // biome-ignore format: one line
    const path = writeObj("land.obj", corners, [[0, 1, 2, 3]]);
    const places = await play({ bodies: [cube(0.2, [3, 0.3, 4], RUBBER)], colliders: [meshCollider(path)] }, 2);
    expect(lowest(places)).toBeGreaterThan(-1e-3);
    expect(lowest(places)).toBeLessThan(0.01);
    expect(middle(places)[0]).toBeCloseTo(3, 2);
  });
});

test("two compliant sheets at the same place fall and lie still on the floor", async () => {
  const layer = (name: string): object =>
    clothGrid(name, [0.5, 0.5], [8, 8], {
      solver: "compliant",
      transform: { translate: [0, 0.1, 0] },
      material: SHEET,
    });
  const places = await play({ bodies: [layer("a"), layer("b")], colliders: [floor], damping: 1 }, 3);
  expect(places.every((place) => place.every(Number.isFinite))).toBe(true);
  expect(Math.max(...places.map(([, y]) => y))).toBeLessThan(0.03);
  expect(lowest(places)).toBeGreaterThan(-1e-3);
});

test.each([
  ["a soft cube", cube(0.2, [0, 0.1, 0], RUBBER), 0.09],
  [
    "a cloth",
    clothGrid("cloth", [0.3, 0.3], [6, 6], {
      transform: { rotate: [0, 0, 90], translate: [0, 0.16, 0] },
      material: { ...SHEET, friction: 1 },
      contact: { thickness: 0.004 },
    }),
    0.0018,
  ],
])("grippers lift %s", async (_, body, gap) => {
  const jaw = (side: 1 | -1): object => ({
    type: "box",
    center: [side * 0.25, 0.15, 0],
    halfExtents: [0.1, 0.1, 0.1],
    friction: 1,
    motion: {
      keys: [
        { time: 0 },
        { time: 0.1, translate: [side * (gap + 0.1 - 0.25), 0, 0] },
        { time: 0.7, translate: [side * (gap + 0.1 - 0.25), 0, 0] },
        { time: 1.7, translate: [side * (gap + 0.1 - 0.25), 0.4, 0] },
      ],
    },
  });
  const heights: number[] = [];
  await play({ bodies: [body], colliders: [jaw(1), jaw(-1), floor], damping: 1 }, 2.2, (y) => heights.push(y));
  const lifted = heights.at(-1)! - heights[35]!;
  expect(lifted).toBeGreaterThan(0.3);
  expect(lifted).toBeLessThan(0.45);
});

test("a ball with restitution 0.9 loses 19 % of its height at each of 22 bounces", async () => {
  const ball = ballBody("ball", 0.1, {
    transform: { translate: [0, 2.6, 0] },
    material: { density: 1000 },
    contact: { restitution: 0.9 },
  });
  const heights: number[] = [];
  const colliders = [{ ...floor, restitution: 0.9 }];
  // Time of the fall and of 22 flights: sqrt(2 h / g) (1 + 2 e + 2 e^2 + ...).
  const seconds = Math.sqrt(5 / G) * (1 + (2 * 0.9 * (1 - 0.9 ** 22)) / 0.1) + 0.2;
  await play({ bodies: [ball], colliders }, seconds, (y) => heights.push(y - 0.1));
  const peaks = heights.filter((y, i) => i > 0 && y > heights[i - 1]! && y >= (heights[i + 1] ?? Infinity));
  expect(peaks.length).toBeGreaterThanOrEqual(21);
  peaks.slice(0, 21).forEach((peak, n) => expect(peak / (2.5 * 0.81 ** (n + 1))).toBeGreaterThan(0.9));
  peaks.slice(0, 21).forEach((peak, n) => expect(peak / (2.5 * 0.81 ** (n + 1))).toBeLessThan(1.1));
});

test("a cloth of 3 cm drapes over a ball of 1 cm", async () => {
  const body = clothGrid("cloth", [0.03, 0.03], [12, 12], {
    transform: { translate: [0, 0.022, 0] },
    material: { ...SHEET, thickness: 0.0002, density: 1000 },
  });
  const colliders = [{ type: "sphere", center: [0, 0.01, 0], radius: 0.01 }, floor];
  const places = await play({ bodies: [body], colliders, damping: 2 }, 2);
  const heights = places.map(([, y]) => y);
  expect(Math.max(...heights)).toBeGreaterThan(0.0195);
  expect(Math.max(...heights)).toBeLessThan(0.0225);
  expect(lowest(places)).toBeLessThan(0.014);
  for (const [x, y, z] of places) expect(Math.hypot(x, y - 0.01, z)).toBeGreaterThan(0.0099);
});
