/** Painted scenes: everything is at the place where the page's camera would see it. */
import { fileURLToPath } from "node:url";
import { PerspectiveCamera, Vector3 } from "three";
import { describe, expect, test } from "vitest";
import { type Moment, ScenePainter } from "../../../server/pictures/scenePainter.ts";
import { moved, solidOf } from "../../../server/pictures/solids.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { TopologyCollider } from "../../../shared/topology.ts";

const SCENES = fileURLToPath(new URL("../../../scenes/", import.meta.url));
const WIDTH = 240;
const HEIGHT = 158;

async function painted(name: string) {
  const { topology } = await createWorld(await readScene(`${SCENES}${name}.json`), { baseDir: SCENES });
  return { topology, painter: new ScenePainter(topology) };
}

describe.each(["jelly-stack", "drape", "melt"])("%s", (name) => {
  test("the pixel of each particle that the page's camera sees is covered", async () => {
    const { topology, painter } = await painted(name);
    const { start } = painter;
    const pixels = painter.paint(start, WIDTH, HEIGHT);
    const camera = new PerspectiveCamera(38, WIDTH / HEIGHT, 0.01, 100);
    camera.position.set(...topology.camera.position);
    camera.lookAt(...topology.camera.target);
    camera.updateMatrixWorld();
    let seen = 0;
    for (let i = 0; i < start.positions.length; i += 3) {
      const { x, y } = new Vector3().fromArray(start.positions, i).project(camera);
      if (Math.abs(x) >= 1 || Math.abs(y) >= 1) continue;
      seen += 1;
      // A corner's pixel may be covered only partly, or the one beside it.
      const column = 0.5 * (1 + x) * WIDTH;
      const row = 0.5 * (1 - y) * HEIGHT;
      const near = [-0.7, 0, 0.7].flatMap((dx) => [-0.7, 0, 0.7].map((dy) => [column + dx, row + dy] as const));
      expect(near.some(([c, r]) => pixels[4 * (Math.floor(r) * WIDTH + Math.floor(c)) + 3]! > 0)).toBe(true);
    }
    expect(seen).toBeGreaterThan(100);
  });
});

test("an absent spawnable body is not painted, and one that has moved is elsewhere", async () => {
  const { topology, painter } = await painted("jelly-stack");
  const { start } = painter;
  const before = painter.paint(start, WIDTH, HEIGHT);
  expect(painter.paint({ ...start, positions: start.positions.slice() }, WIDTH, HEIGHT)).toEqual(before);
  expect(painter.paint({ ...start, absent: [0] }, WIDTH, HEIGHT)).not.toEqual(before);
  const positions = start.positions.map((value, i) => (i % 3 === 0 ? value + 0.1 : value));
  expect(painter.paint({ ...start, positions }, WIDTH, HEIGHT)).not.toEqual(before);
  const nobody = painter.paint({ ...start, absent: topology.bodies.map((_, i) => i) }, WIDTH, HEIGHT);
  expect(nobody.every((value) => value === 0)).toBe(true);
});

const COLLIDERS: TopologyCollider[] = [
  { type: "sphere", center: [1, 2, 3], radius: 0.5 },
  { type: "box", center: [1, 2, 3], halfExtents: [0.1, 0.2, 0.3], rotate: [0, 90, 0] },
  { type: "capsule", a: [0, 0, 0], b: [1, 1, 0], radius: 0.2 },
  { type: "cylinder", a: [0, 0, 0], b: [0, -1, 0], radius: 0.2 },
  { type: "cylinder", a: [0, 0, 0], b: [0, 0, 2], radius: 0.3 },
];
/** Volume of the exact solid, m^3; a polyhedron has less. */
const VOLUMES = [
  (4 / 3) * Math.PI * 0.5 ** 3,
  8 * 0.1 * 0.2 * 0.3,
  Math.PI * 0.2 ** 2 * Math.SQRT2 + (4 / 3) * Math.PI * 0.2 ** 3,
  Math.PI * 0.2 ** 2,
  Math.PI * 0.3 ** 2 * 2,
];

test.each(COLLIDERS.map((collider, i) => [collider.type, collider, VOLUMES[i]!] as const))(
  "a %s is closed, oriented outwards, and has the right size",
  (_, collider, volume) => {
    const { positions, triangles } = solidOf(collider)!;
    const at = (i: number): Vector3 => new Vector3().fromArray(positions, 3 * triangles[i]!);
    let sum = 0;
    for (let t = 0; t < triangles.length; t += 3) sum += at(t).dot(at(t + 1).cross(at(t + 2))) / 6;
    // A polygon of 32 corners has sin(x)/x of the circle's area, x = 2 pi / 32: 0.6 % less. 10 segments along the half
    // circle lose another (pi / 10)^2 / 4.
    expect(sum / volume).toBeGreaterThan(0.968);
    expect(sum / volume).toBeLessThanOrEqual(1 + 1e-6);
  },
);

test("a box rotated by 90 degrees about y has its x along -z", () => {
  const { positions } = solidOf(COLLIDERS[1]!)!;
  const along = (axis: number): number => Math.max(...positions.filter((_, i) => i % 3 === axis));
  expect([along(0), along(1), along(2)].map((most) => Math.round(100 * most))).toEqual([130, 220, 310]);
});

test("a collider on a path is at its place of that time", () => {
  const collider: TopologyCollider = {
    ...(COLLIDERS[0] as Extract<TopologyCollider, { type: "sphere" }>),
    motion: { keys: [{ time: 0 }, { time: 2, translate: [0, 4, 0] }] },
  };
  const { positions } = solidOf(collider)!;
  const half = moved(collider, positions, 1, [0, 0, 0]);
  for (let i = 0; i < positions.length; i++) expect(half[i]! - positions[i]!).toBeCloseTo(i % 3 === 1 ? 2 : 0, 5);
});

test("a mover that bodies keep off its path, and a body in a member's color, are painted so", async () => {
  const { topology, painter } = await painted("jelly-stack");
  const motion = { keys: [{ time: 0 }, { time: 2, translate: [0, 4, 0] as Vec3 }] };
  const mover = { ...(COLLIDERS[1] as Extract<TopologyCollider, { type: "box" }>), center: [0, 0, 0] as Vec3 };
  const moving = new ScenePainter({ ...topology, colliders: [...topology.colliders, mover, { ...mover, motion }] });
  const { start } = painter;
  const paint = (by: ScenePainter, changes: Partial<Moment>) => by.paint({ ...start, ...changes }, WIDTH, HEIGHT);
  // The second collider is the only one on a path: mover 0. Moved back by its path's length, it is where it began.
  expect(paint(moving, { seconds: 1 })).not.toEqual(paint(moving, {}));
  expect(paint(moving, { seconds: 1, movers: [[0, 0, -2, 0]] })).toEqual(paint(moving, {}));
  const [red, blue] = ["#ff0000", "#0000ff"].map((color) => paint(painter, { colors: new Map([[0, color]]) }));
  const sum = (pixels: Uint8Array, channel: number): number =>
    pixels.reduce((total, value, i) => total + (i % 4 === channel ? value : 0), 0);
  expect(sum(red!, 0)).toBeGreaterThan(sum(blue!, 0));
  expect(sum(red!, 2)).toBeLessThan(sum(blue!, 2));
});
