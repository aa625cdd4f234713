/**
 * Further scenes rebuilt from public reports against other physics engines, with the value that physics gives. The
 * comment of each test names the report.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MATERIAL_PRESETS } from "../../../shared/scene/materialPresets.ts";
import type { Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { laboratory, volumeOf } from "../laboratory.ts";
import { add, ball, balloon, box, distance, farthest, floor, G, heights, inclined, open, peaks } from "./play.ts";
import { RIGID, RUBBER, sheet } from "./play.ts";
import { testFolder } from "../../support/testFolder.ts";

const folder = testFolder("more");

/** Writes triangles or quads as a file. */
function meshFile(name: string, vertices: readonly Vec3[], faces: readonly number[][]): object {
  const lines = [...vertices.map((v) => `v ${v.join(" ")}`), ...faces.map((f) => `f ${f.map((v) => v + 1).join(" ")}`)];
  writeFileSync(join(folder, name), lines.join("\n"));
  return { type: "mesh", mesh: { type: "file", path: name } };
}
/** Angle of a box's top about the vertical, from its first and last particle. */
const heading = (places: readonly Vec3[]): number => {
  const [x, , z] = add(places.at(-1)!, places[0]!, -1);
  return Math.atan2(z, x);
};

describe("a ball", () => {
  // Jolt #1686
  test("stays where it lies, also without sleep", async () => {
    const play = await open({ bodies: [ball("ball", 0.03, [0, 0.03, 0])], colliders: [floor] }, false);
    play.run(8);
    expect(distance(play.middle(), [0, 0.03, 0])).toBeLessThan(4e-6);
  });

  // Jolt #717
  test("rolls over the seam of two boxes without a bump", async () => {
    const half = (x: number): object => ({ type: "box", center: [x, -0.5, 0], halfExtents: [1, 0.5, 1] });
    const bodies = [ball("ball", 0.1, [-0.5, 0.1, 0], { velocity: [5, 0, 0] })];
    const play = await open({ damping: 0, bodies, colliders: [half(-1), half(1)] });
    const ys: number[] = [];
    play.run(0.25, () => ys.push(play.middle()[1]));
    expect(play.middle()[0]).toBeGreaterThan(0.3);
    expect(Math.max(...ys) - Math.min(...ys)).toBeLessThan(1e-4);
  });

  // Rapier #404, #95
  test("rolls straight down a ramp of two triangles, across their common edge", async () => {
    const corners: Vec3[] = [[-2, 0, -1], [-2, 0, 1], [2, 0, 1], [2, 0, -1]]; // biome-ignore format: one line
    const ramp = meshFile("ramp.obj", corners, [
      [0, 1, 2],
      [0, 2, 3],
    ]);
    const bodies = [ball("ball", 0.1, [-1, 0.1, 0])];
    const play = await open({ damping: 0, gravity: inclined(20), bodies, colliders: [ramp] }, true, folder);
    play.run(1);
    const [x, , z] = play.middle();
    expect((x + 1) / ((5 / 14) * inclined(20)[0])).toBeCloseTo(1, 2);
    expect(Math.abs(z)).toBeLessThan(1e-3);
  });

  // cannon.js #304
  test("that falls on an edge of a mesh bounces straight up", async () => {
    const corners: Vec3[] = [[-1, 0, -1], [-1, 0, 1], [1, 0, 1], [1, 0, -1]]; // biome-ignore format: one line
    const ground = meshFile("ground.obj", corners, [
      [0, 1, 2],
      [0, 2, 3],
    ]);
    const bodies = [ball("ball", 0.1, [0, 1.1, 0], { contact: { restitution: 0.8 } })];
    const play = await open({ damping: 0, bodies, colliders: [{ ...ground, restitution: 0.8 }] }, true, folder);
    const ys: number[] = [];
    play.run(1.2, () => ys.push(play.middle()[1] - 0.1));
    expect(Math.abs(peaks(ys)[0]! - 0.64)).toBeLessThan(0.01);
    expect(Math.hypot(play.middle()[0], play.middle()[2])).toBeLessThan(1e-3);
  });

  // avian #1023
  test("of 8 mm that rolls at 1 m/s does not sink", async () => {
    const bodies = [ball("marble", 0.008, [0, 0.008, 0], { velocity: [1, 0, 0] })];
    const play = await open({ damping: 0, bodies, colliders: [floor] });
    const ys: number[] = [];
    play.run(2, () => ys.push(play.middle()[1]));
    for (const y of ys) expect(Math.abs(y / 0.008 - 1)).toBeLessThan(0.01);
    // It slides until it rolls, with 5/7 of the speed.
    const last = play.middle();
    play.run(0.5);
    expect(distance(play.middle(), last) / (0.5 * (5 / 7))).toBeCloseTo(1, 2);
  });

  // Gazebo #480
  test("rolls along a diagonal as along an axis", async () => {
    const ways: number[] = [];
    for (const angle of [0, Math.PI / 4]) {
      const velocity = [Math.cos(angle), 0, Math.sin(angle)];
      const bodies = [ball("ball", 0.1, [0, 0.1, 0], { velocity })];
      const play = await open({ damping: 0, bodies, colliders: [floor] });
      play.run(2);
      const [x, , z] = play.middle();
      ways.push(Math.hypot(x, z));
      expect(Math.atan2(z, x)).toBeCloseTo(angle, 3);
    }
    expect(ways[1]! / ways[0]!).toBeCloseTo(1, 3);
  });

  // Godot Jolt #374
  test.each([0.1, 0.5, 1])("of 1.4 cm that falls %f m keeps its height with restitution 1", async (fall) => {
    const contact = { contact: { restitution: 1 } };
    const bodies = [ball("pinball", 0.014, [0, 0.014 + fall, 0], contact)];
    const play = await open({ damping: 0, bodies, colliders: [{ ...floor, restitution: 1 }] });
    const ys: number[] = [];
    play.run(3, () => ys.push(play.middle()[1] - 0.014));
    for (const peak of peaks(ys)) expect(Math.abs(peak / fall - 1)).toBeLessThan(0.02);
  });
});

describe("a rigid box", () => {
  // Jolt #983
  test("does not turn while it slides", async () => {
    const bodies = [box("box", [0.3, 0.1, 0.2], [0, 0.05, 0], { ...RIGID, friction: 0.3 }, { velocity: [3, 0, 0] })];
    const play = await open({ damping: 0, bodies, colliders: [{ ...floor, friction: 0.3 }] });
    const start = heading(play.places());
    play.run(2);
    expect(Math.abs(heading(play.places()) - start)).toBeLessThan(0.005);
    expect(Math.abs(play.middle()[2])).toBeLessThan(0.002);
  });

  // Bullet #4202
  test("stands still with others on a mover that stands", async () => {
    const keys = [{ time: 0 }, { time: 60 }, { time: 61, translate: [0, 1, 0] }];
    const table = { type: "box", center: [0, -0.1, 0], halfExtents: [1, 0.1, 1], motion: { keys } };
    const rows = [0, 1, 2].map((i) => box(`box ${i}`, [0.2, 0.2, 0.2], [0, 0.102 + 0.202 * i, 0]));
    const play = await open({ bodies: rows, colliders: [table] }, false);
    play.run(3);
    const before = rows.map((_, b) => play.middle(b));
    play.run(4);
    rows.forEach((_, b) => expect(distance(play.middle(b), before[b]!)).toBeLessThan(2.5e-4));
  });

  // Rapier.js #215
  test("of 7 x 20 x 7 mm stands where it is put", async () => {
    const bodies = [box("pin", [0.007, 0.02, 0.007], [-0.8, 0.0101, 0])];
    const table = { type: "box", center: [0, -0.02, 0], halfExtents: [1, 0.02, 1] };
    const play = await open({ bodies, colliders: [table] }, false);
    play.run(0.5);
    const before = play.places();
    play.run(4);
    expect(farthest(play.places(), before)).toBeLessThan(1e-4);
    expect(Math.min(...heights(play.places()))).toBeGreaterThan(-1e-4);
  });

  // Newton #1137
  test("without restitution does not bounce off another one", async () => {
    const bodies = [box("low", [0.3, 0.3, 0.3], [0, 0.15, 0]), box("high", [0.2, 0.2, 0.2], [0, 1, 0])];
    const play = await open({ bodies, colliders: [floor] });
    const ys: number[] = [];
    play.run(2, () => ys.push(play.middle(1)[1]));
    // It comes to rest where contact keeps it.
    const rest = ys.at(-1)!;
    expect(rest).toBeLessThan(0.415);
    expect(Math.max(...ys.slice(ys.findIndex((y) => y < rest + 0.001))) - rest).toBeLessThan(0.005);
  });

  // bdx #135, avian #654: a sleeping body stays in the air
  test("asleep on a platform that drops away falls freely, and lands on it", async () => {
    const keys = [{ time: 0 }, { time: 4 }, { time: 4.2, translate: [0, -1, 0] }];
    const table = { type: "box", center: [0, -0.1, 0], halfExtents: [1, 0.1, 1], motion: { keys } };
    const play = await open({ bodies: [box("box", [0.2, 0.2, 0.2], [0, 0.101, 0])], colliders: [table] });
    play.run(4);
    const [, y] = play.middle();
    play.run(0.4);
    expect(Math.abs(y - play.middle()[1] - 0.5 * G * 0.4 ** 2)).toBeLessThan(0.01);
    play.run(1);
    expect(Math.abs(y - play.middle()[1] - 1)).toBeLessThan(0.005);
  });
});

// Godot Jolt #827, PhysX 3.4 #43
test.each([30, 60, 240])(
  "damping of 2 1/s leaves e^-2 of the speed after a second, at %i ticks a second",
  async (tickHz) => {
    const bodies = [
      ball("ball", 0.1, [0, 0, 0], { velocity: [1, 0, 0] }),
      box("soft", [0.2, 0.2, 0.2], [0, 2, 0], RUBBER, { velocity: [1, 0, 0] }),
    ];
    const play = await open({ tickHz, damping: 2, gravity: [0, 0, 0], bodies });
    play.run(1);
    for (const b of [0, 1]) expect(play.middle(b)[0] / (0.5 * (1 - Math.exp(-2)))).toBeCloseTo(1, 2);
  },
);

describe("a soft body", () => {
  // Bullet #3882
  test.each([
    ["in order", "1 2 3 4"],
    ["turned over", "2 1 3 4"],
  ])("of one tetrahedron, corners %s, keeps its volume", async (name, corners) => {
    const path = `one-${name.replace(" ", "-")}.ele`;
    writeFileSync(join(folder, path.replace(".ele", ".node")), "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 0 1\n4 0 1 0\n");
    writeFileSync(join(folder, path), `1 4 0\n1 ${corners}\n`);
    const mesh = { type: "file", path };
    const body = { name: "one", kind: "soft", mesh, transform: { translate: [0, 0.1, 0] }, material: RUBBER };
    const gravity: Vec3 = [0, -G, 0];
    const lab = await laboratory({ gravity, bodies: [body], colliders: [floor] } as unknown as Scene, folder);
    lab.run(180);
    expect(6 * Math.abs(volumeOf(lab.positions(), Uint32Array.of(0, 1, 2, 3)).volume)).toBeCloseTo(1, 1);
  });

  // Bullet #4687
  test("that hangs from a collider does not explode", async () => {
    const beam = { type: "box", name: "beam", center: [0, 0.25, 0], halfExtents: [0.2, 0.05, 0.2] };
    const soft = box("soft", [0.2, 0.2, 0.2], [0, 0.095, 0], RUBBER, { contact: { ignore: ["beam"] } });
    const attachments = [-0.1, 0.1].flatMap((x) =>
      [-0.1, 0.1].map((z) => ({ from: { body: "soft", near: [x, 0.195, z] }, to: { collider: "beam" } })),
    );
    const play = await open({ bodies: [soft], colliders: [beam], attachments });
    const first = play.places();
    let most = 0;
    play.run(4, () => (most = Math.max(most, farthest(play.places(), first))));
    expect(most).toBeLessThan(0.02);
  });

  // Bullet #2959, #3203
  test("of 1 cm is lifted by grippers", async () => {
    const jaw = (side: 1 | -1): object => {
      const closed = [side * -0.0101, 0, 0];
      const keys = [
        { time: 0 },
        { time: 0.2, translate: closed },
        { time: 0.7, translate: closed },
        { time: 1.7, translate: [closed[0], 0.05, 0] },
        { time: 9, translate: [closed[0], 0.05, 0] },
      ];
      return { type: "box", center: [side * 0.02, 0.006, 0], halfExtents: [0.005, 0.005, 0.005], friction: 1, motion: { keys } }; // biome-ignore format: one line
    };
    const material = { ...RUBBER, youngsModulus: 1e6, friction: 1 };
    const cube = box("cube", [0.01, 0.01, 0.01], [0, 0.005, 0], material);
    const play = await open({ bodies: [cube], colliders: [jaw(1), jaw(-1), floor] });
    play.run(3);
    expect(Math.abs(play.middle()[1] - 0.055)).toBeLessThan(0.003);
  });
});

// Bullet #143
test("a balloon that a box of ten times its mass falls on keeps it out, and does not explode", async () => {
  const bodies = [balloon([0, 0.32, 0]), box("box", [0.2, 0.2, 0.2], [0, 0.9, 0], { ...RIGID, density: 400 })];
  const play = await open({ bodies, colliders: [floor], damping: 1 });
  const radii = (): number[] => play.places().map((place) => distance(place, play.middle()));
  let most = 0;
  play.run(3, () => (most = Math.max(most, ...radii())));
  expect(most).toBeLessThan(0.6);
  const mean = radii().reduce((sum, r, _i, all) => sum + r / all.length, 0);
  expect((mean / 0.3) ** 3).toBeCloseTo(1.5, 1);
});

// ContourCraft #9
test("a sheet that lies on a pinned one does not shake its pins' surroundings", async () => {
  const pins = [-1, 1].flatMap((x) =>
    [-1, 1].map((z) => ({
      select: { box: { min: [x * 0.25 - 0.01, -9, z * 0.25 - 0.01], max: [x * 0.25 + 0.01, 9, z * 0.25 + 0.01] } },
    })),
  );
  const bodies = [
    { ...sheet(0.5, 10, [0, 0, 0], { pins }), name: "low" },
    { ...sheet(0.4, 8, [0, 0.01, 0]), name: "high" },
  ];
  const play = await open({ bodies, damping: 1 }, false);
  play.run(8);
  const before = play.places();
  let most = 0;
  play.run(1, () => (most = Math.max(most, farthest(play.places(), before))));
  expect(most).toBeLessThan(0.002);
});

/** Stretch of an incompressible Neo-Hookean bar under a pressure of p E: (lambda^-2 - lambda) / 3 = p. */
function stretchUnder(p: number): number {
  let stretch = 1;
  for (let i = 0; i < 30; i++)
    stretch -= (stretch ** 3 + 3 * p * stretch ** 2 - 1) / (3 * stretch ** 2 + 6 * p * stretch);
  return stretch;
}
// Newton 2545: Saint Venant-Kirchhoff solids stay crushed. Every layer carries the weight above it.
test("the README's first scene, jelly that falls by its height, stands with the height that its weight leaves", async () => {
  const [, text] = /```json\n([^]*?)```/.exec(readFileSync(new URL("../../../README.md", import.meta.url), "utf8"))!;
  const play = await open(JSON.parse(text!));
  play.run(8);
  const ys: number[] = [];
  play.run(2, () => ys.push(play.middle()[1]));
  const { density, youngsModulus } = MATERIAL_PRESETS.jelly.soft!;
  let middle = 0;
  for (let depth = 0.0005; depth < 0.5; depth += 0.001)
    middle += stretchUnder((density * G * depth) / youngsModulus!) * (depth / 0.5) * 0.001;
  expect(ys.reduce((sum, y) => sum + y) / ys.length / middle).toBeCloseTo(1, 1);
});

const HARD = { ...RUBBER, youngsModulus: 1e6 };

describe("with a mover", () => {
  // Rapier 287: a kinematic body does not wake the bodies of its joints
  test.each([
    ["rigid box", box("body", [0.2, 0.2, 0.2], [0, 0.1015, 0])],
    ["soft box", box("body", [0.2, 0.2, 0.2], [0, 0.1015, 0], HARD)],
    ["ball", ball("body", 0.1, [0, 0.1005, 0])],
  ])("a %s that sleeps is lifted by an attachment", async (_, body) => {
    const keys = [{ time: 0 }, { time: 12 }, { time: 13, translate: [0, 0.5, 0] }];
    const lift = { type: "box", name: "lift", center: [0, 1, 0], halfExtents: [0.1, 0.1, 0.1], motion: { keys } };
    const attachments = [{ from: { body: "body", near: [0, 0.2, 0] }, to: { collider: "lift" } }];
    const play = await open({ bodies: [body], attachments, colliders: [floor, lift] });
    play.run(12);
    const [, before] = play.middle();
    play.run(4);
    expect(play.middle()[1] - before).toBeCloseTo(0.5, 2);
  });
});
