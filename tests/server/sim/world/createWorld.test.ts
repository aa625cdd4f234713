/**
 * Errors in a scene that only building finds: each is refused with its path. Also checks that the scene's numbers are
 * at their places in memory.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as L from "../../../../server/kernel/assembly/layout/layout.ts";
import { MeshError } from "../../../../server/meshing/mesh.ts";
import { createWorld, type CreatedWorld } from "../../../../server/sim/world/createWorld.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { validateScene } from "../../../../shared/scene/sceneValidator.ts";
import { testFolder } from "../../../support/testFolder.ts";
import { clothGrid, softBox } from "../../../support/bodies.ts";

const dir = testFolder("world");
writeFileSync(join(dir, "one.node"), "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
writeFileSync(join(dir, "one.ele"), "1 4 0\n1 1 2 3 4\n");

const softMaterial = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const clothMaterial = { ...softMaterial, thickness: 0.001 };
const cube = softBox("cube", [1, 1, 1], [2, 2, 2], { material: softMaterial });
const sheet = clothGrid("sheet", [1, 1], [2, 2], { material: clothMaterial });
const everything = { box: { min: [-9, -9, -9], max: [9, 9, 9] } };

/** Validates first: these scenes are valid for the validator. */
const build = (parts: object): Promise<CreatedWorld> =>
  createWorld(validateScene({ version: 1, title: "test", ...parts }), { baseDir: dir });

describe("refused", () => {
  const cases: [string, object, { path: string; value: unknown; limit: RegExp }][] = [
    [
      "a soft body of a surface without tetrahedralize",
      { bodies: [{ ...cube, mesh: { type: "ball", radius: 1 } }] },
      { path: "/bodies/0/tetrahedralize", value: undefined, limit: /^given: the mesh is a surface/ },
    ],
    [
      "tetrahedralize where there are tetrahedra",
      { bodies: [sheet, { ...cube, tetrahedralize: { spacing: 0.1 } }] },
      { path: "/bodies/1/tetrahedralize", value: { spacing: 0.1 }, limit: /^absent: the mesh has tetrahedra already/ },
    ],
    [
      "a soft body of a grid",
      { bodies: [{ ...cube, mesh: sheet.mesh, tetrahedralize: { spacing: 0.1 } }] },
      { path: "/bodies/0/mesh/type", value: "grid", limit: /^a closed surface or tetrahedra/ },
    ],
    [
      "a cloth of a box",
      { bodies: [{ ...sheet, mesh: cube.mesh }] },
      { path: "/bodies/0/mesh/type", value: "box", limit: /^a surface for a cloth/ },
    ],
    [
      "a cloth of a file of tetrahedra",
      { bodies: [{ ...sheet, mesh: { type: "file", path: "one.node" } }] },
      {
        path: "/bodies/0/mesh",
        value: { type: "file", path: "one.node" },
        limit: /^a surface: a cloth has no tetrahedra/,
      },
    ],
    [
      "a pin without a particle",
      {
        bodies: [
          cube,
          { ...sheet, pins: [{ select: everything }, { select: { sphere: { center: [5, 5, 5], radius: 1 } } }] },
        ],
      },
      {
        path: "/bodies/1/pins/1/select",
        value: { sphere: { center: [5, 5, 5], radius: 1 } },
        limit: /at least one particle/,
      },
    ],
    [
      "a load on a missing particle",
      { bodies: [{ ...sheet, loads: [{ select: { particles: [8, 9] }, force: [0, 1, 0] }] }] },
      { path: "/bodies/0/loads/0/select/particles", value: 9, limit: /^a particle of the body's 9$/ },
    ],
    [
      "an attachment from a missing particle",
      { bodies: [sheet], attachments: [{ from: { body: "sheet", particle: 9 }, to: { world: [0, 0, 0] } }] },
      { path: "/attachments/0/from/particle", value: 9, limit: /^a particle of body sheet, which has 9$/ },
    ],
    [
      "an attachment to a missing particle",
      {
        bodies: [sheet, cube],
        attachments: [{ from: { body: "sheet", particle: 0 }, to: { body: "cube", particle: 27 } }],
      },
      { path: "/attachments/0/to/particle", value: 27, limit: /^a particle of body cube, which has 27$/ },
    ],
    [
      "an attachment of a particle to itself",
      { bodies: [sheet], attachments: [{ from: { body: "sheet", particle: 0 }, to: { body: "sheet", particle: 0 } }] },
      { path: "/attachments/0/to", value: { body: "sheet", particle: 0 }, limit: /^another particle than from/ },
    ],
    // The corners of the lifted unit cube are at height 2.5, 0.5 and 0.5 beside the axis.
    [
      "a body outside the world",
      { worldRadius: 2, bodies: [sheet, { ...cube, transform: { translate: [0, 2, 0] } }] },
      {
        path: "/bodies/1",
        value: `cube, ${Math.sqrt(2.5 ** 2 + 0.5)} m from the origin`,
        limit: /worldRadius of 2 m$/,
      },
    ],
  ];
  test.each(cases)("%s", async (_, parts, expected) => {
    const error: unknown = await build(parts).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(SceneError);
    const { path, value, limit } = error as SceneError;
    expect({ path, value }).toEqual({ path: expected.path, value: expected.value });
    expect(limit).toMatch(expected.limit);
  });

  test("a missing mesh file", async () => {
    await expect(build({ bodies: [{ ...cube, mesh: { type: "file", path: "none.node" } }] })).rejects.toThrow(
      MeshError,
    );
    await expect(build({ bodies: [{ ...cube, mesh: { type: "file", path: "none.node" } }] })).rejects.toThrow(
      "scene /bodies/0/mesh: none.node",
    );
  });
});

test("masses, inverse masses, velocities and accelerations of the particles", async () => {
  const { layout, bodies, memory } = await build({
    gravity: [0, -10, 0],
    damping: 0.5,
    bodies: [
      {
        ...cube,
        velocity: [1, 2, 3],
        pins: [{ select: { particles: [0] } }],
        loads: [{ select: everything, force: [27, 0, 0], distribute: "mass" }],
      },
      { ...sheet, material: { ...clothMaterial, damping: 2, friction: 0.25 } },
    ],
  });
  const f32 = new Float32Array(memory.buffer);
  const row = (array: number, i: number): number[] => [...f32.subarray(array / 4 + 4 * i, array / 4 + 4 * i + 4)];
  const acc = new Int32Array(memory.buffer)[(L.HEADER + L.H_ACC) / 4]!;
  const [soft, cloth] = bodies as [CreatedWorld["bodies"][0], CreatedWorld["bodies"][0]];
  expect(soft.mass.reduce((a, b) => a + b, 0)).toBeCloseTo(1000, 9);
  expect(cloth.mass.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 12);
  for (let i = 0; i < soft.particleCount; i++) {
    const pinned = soft.origin[i] === 0;
    expect(row(layout.x, i)).toEqual(
      [...soft.positions.subarray(3 * i, 3 * i + 3), pinned ? 0 : 1 / soft.mass[i]!].map(Math.fround),
    );
    expect(row(layout.v, i)).toEqual([...(pinned ? [0, 0, 0] : [1, 2, 3]), 0.5]);
    // 27 N on 1,000 kg by mass: 0.027 m/s^2 everywhere.
    row(acc, i)
      .slice(0, 3)
      .forEach((a, r) => expect(a).toBeCloseTo(pinned ? 0 : [0.027, -10, 0][r]!, 6));
  }
  expect(row(layout.v, soft.particleCount)).toEqual([0, 0, 0, 2]);
  expect(row(acc, soft.particleCount)).toEqual([0, -10, 0, 0.5]);
  expect(layout.bodies.map((b) => [b.first, b.count])).toEqual([
    [0, 27],
    [27, 9],
  ]);
});

test("attachments: between bodies at their initial distance, or to the nearest surface particle", async () => {
  const { topology, layout } = await build({
    bodies: [sheet, { ...cube, transform: { translate: [0, 3, 0] } }],
    attachments: [
      { from: { body: "sheet", near: [0.6, 0, 0.4] }, to: { body: "cube", near: [0.6, 2, 0.4] } },
      { from: { body: "sheet", particle: 0 }, to: { world: [0, 1, 0] } },
    ],
  });
  expect(layout.attachmentCount).toBe(2);
  expect(topology.particles).toBe(9 + 26); // the cube's middle is not streamed
});

test("the same scene gives the same bytes", async () => {
  const parts = {
    bodies: [cube, { ...sheet, transform: { rotate: [10, 20, 30] } }],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: -2 }],
  };
  const [a, b] = await Promise.all([build(parts), build(parts)]);
  expect(Buffer.from(a.memory.buffer).equals(Buffer.from(b.memory.buffer))).toBe(true);
  expect(a.layout).toEqual(b.layout);
});

test("progress increases to the end, and names the bodies", async () => {
  const seen: [number, string][] = [];
  const ball = {
    ...cube,
    name: "ball",
    mesh: { type: "ball", radius: 0.5, subdivisions: 1 },
    tetrahedralize: { spacing: 0.4 },
  };
  await createWorld(validateScene({ version: 1, title: "test", bodies: [cube, ball] }), {
    baseDir: dir,
    onProgress: (done, stage) => seen.push([done, stage]),
  });
  expect(seen.map(([done]) => done)).toEqual(seen.map(([done]) => done).sort((a, b) => a - b));
  for (const [done, stage] of seen) {
    expect(done).toBeGreaterThanOrEqual(0.5);
    expect(done).toBeLessThanOrEqual(1);
    expect(stage).toMatch(/^ball: /);
  }
});
