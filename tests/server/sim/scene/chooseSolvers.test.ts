/** Default solver of bodies: implicit if compliant would be wrong in motion, and if the whole scene supports it. */
import { expect, test } from "vitest";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import type { Body, Scene } from "../../../../shared/scene/scene.ts";
import { validateScene } from "../../../../shared/scene/sceneValidator.ts";

type Part = Record<string, unknown>;

const beam = (more: Part = {}, material: Part = {}): Part => ({
  name: "beam",
  kind: "soft",
  mesh: { type: "box", size: [1, 0.1, 0.1], cells: [10, 1, 1] },
  transform: { translate: [0, 1, 0] },
  material: { density: 1000, youngsModulus: 1e7, poissonsRatio: 0.3, ...material },
  ...more,
});
const sheet = (cells: number, more: Part = {}, material: Part = {}): Part => ({
  name: "sheet",
  kind: "cloth",
  mesh: { type: "grid", size: [1, 1], cells: [cells, cells] },
  transform: { translate: [0, 3, 0] },
  material: { density: 200, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, ...material },
  ...more,
});
const cube = (cells: number, y = 0.1): Part =>
  beam({
    name: `cube at ${y}`,
    mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [cells, cells, cells] },
    transform: { translate: [0, y, 0] },
  });
const scene = (bodies: Part[], more: Part = {}): Scene => validateScene({ version: 1, title: "test", bodies, ...more });
const make = (bodies: Part[], more: Part = {}) => createWorld(scene(bodies, more), { baseDir: "." });
const table = { type: "mesh", name: "table", mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] } };
const floor = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0 };

test.each<[string, Part[], Part?]>([
  ["a stiff solid", [beam()]],
  ["a soft solid whose dashpots would lack a tenth", [beam({}, { youngsModulus: 1e5, retardationTime: 0.05 })]],
  ["a sheet too stiff for the prefactored solve", [sheet(10, { contact: { self: false } }, { youngsModulus: 1e7 })]],
  [
    "a sheet with few substeps that may touch itself and another",
    [sheet(10), sheet(10, { name: "other", transform: { translate: [0, 4, 0] } })],
    { substeps: 4 },
  ],
  ["a viscous sheet above a floor", [sheet(10, {}, { retardationTime: 0.01 })], { colliders: [floor] }],
  [
    "all bodies of a scene of which one is stiff",
    [
      beam({ contact: { ignore: ["jelly"] } }),
      beam({ name: "jelly", transform: { translate: [0, 1.2, 0] } }, { youngsModulus: 1e4 }),
    ],
  ],
])("%s is implicit, as if the scene said so", async (_what, bodies, more) => {
  const states = await Promise.all(
    [
      bodies,
      bodies.map((body) => ({ ...body, solver: "auto" })),
      bodies.map((body) => ({ ...body, solver: "implicit" })),
    ].map(async (each) => {
      const { memory, layout, inexact } = await make(each, more);
      expect(layout.bodies.every((body) => body.implicit)).toBe(true);
      expect(inexact).toBeUndefined();
      const world = openWorld(memory, layout);
      for (let tick = 0; tick < 5; tick++) world.step([]);
      return world.stateHash();
    }),
  );
  expect(states[1]).toBe(states[0]);
  expect(states[2]).toBe(states[0]);
});

test.each([
  ["soft enough for its substeps", [beam({}, { youngsModulus: 1e5 })], {}],
  ["as viscous as its substeps can be", [beam({}, { youngsModulus: 1e5, retardationTime: 0.005 })], {}],
  ["of a scene with refine: false", [beam()], { refine: false }],
  ["with solver compliant", [beam({ solver: "compliant" })], {}],
  ["stiff, in a scene with enough substeps", [beam()], { substeps: 200 }],
])("a body %s is compliant, without a finding", async (_what, bodies, more) => {
  const { layout, inexact } = await make(bodies, more);
  expect(layout.bodies[0]!.implicit).toBe(false);
  expect(inexact).toBeUndefined();
});

test.each([
  [
    "meets a ball",
    [
      beam(),
      { name: "ball", kind: "ball", mesh: { type: "ball", radius: 0.1, subdivisions: 2 }, material: { density: 1000 } },
    ],
    {},
    /touch or holds ball/,
  ],
  ["has a restitution", [beam({ contact: { restitution: 0.5 } })], {}, /restitution/],
  ["flows", [beam({}, { plasticity: { yield: 0.1, creep: 1, max: 0.5 } })], {}, /plasticity/],
  [
    "may intersect another",
    [
      sheet(10, { transform: { translate: [0, 3, 0], rotate: [0, 0, 45] } }),
      sheet(10, { name: "other", transform: { translate: [0, 3, 0], rotate: [0, 0, -45] } }),
    ],
    { iterations: 2 },
    /sheet and other/,
  ],
  ["is too large", [sheet(100, { contact: { self: false } })], { iterations: 2 }, /1.5 times/],
  ["is too large to lie on something", [cube(9)], { colliders: [floor] }, /1.4 times/],
  ["may touch another", [cube(2), cube(2, 0.4)], {}, /triangles of cube at 0.4/],
  ["is too large for a sheet that may touch itself", [sheet(30)], { iterations: 2 }, /1.4 times/],
  ["is too large for a sheet that may touch a shape", [sheet(16)], { substeps: 4, colliders: [floor] }, /1.2 times/],
  ["may touch a mesh", [beam()], { colliders: [table] }, /triangles of table: friction/],
  [
    "is a sheet that may touch a mesh",
    [sheet(10)],
    {
      substeps: 4,
      colliders: [table],
    },
    /triangles of table: with grabs/,
  ],
  ["is in a scene with a sheet that may touch it", [beam(), sheet(10)], {}, /triangles of sheet: friction/],
  [
    "is a grain",
    [beam({ mesh: { type: "box", size: [2e-5, 1e-5, 1e-5], cells: [20, 10, 10] } })],
    {},
    /limit: 0.00001/,
  ],
])("a very stiff body that %s stays compliant, with the reason as a finding", async (_what, bodies, more, why) => {
  const stiffer = bodies.map((body) => {
    const { youngsModulus: k, ...material } = body["material"] as { youngsModulus?: number };
    return k === undefined ? body : { ...body, material: { ...material, youngsModulus: 30 * k } };
  });
  const { layout, inexact } = await make(stiffer, more);
  expect(layout.bodies[0]!.implicit).toBe(false);
  expect(inexact!.body).toBe((bodies[0] as unknown as Body).name);
  expect(inexact!.missing).toBeGreaterThan(0.01);
  expect(inexact!.of).toBe("stiffness");
  expect(inexact!.why).toMatch(why);
});

test("a viscous body that stays compliant lacks damping, and a finding says how much", async () => {
  const { inexact } = await make([
    beam({ contact: { restitution: 0.5 } }, { youngsModulus: 1e5, retardationTime: 0.05 }),
  ]);
  expect(inexact).toMatchObject({ body: "beam", of: "damping" });
  expect(inexact!.missing).toBeGreaterThan(0.1);
});

const ball = (more: Part = {}): Part => ({
  name: "ball",
  kind: "ball",
  mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
  transform: { translate: [0, 4, 0] },
  material: { density: 1000 },
  ...more,
});

/** The body with two particles of an edge pinned. */
const held = (body: Part): Part => ({ ...body, pins: [{ select: { particles: [0, 1] } }] });

test.each<[string, Part[], Part, number, RegExp | undefined]>([
  ["alone: it needs half of the substeps", [sheet(10, {}, { youngsModulus: 2e5 })], {}, 10, undefined],
  ["with the scene's substeps", [sheet(10, {}, { youngsModulus: 4e5 })], { substeps: 16 }, 16, undefined],
  [
    "with more substeps than the scene names, as few as suffice if it touches nothing",
    [sheet(10, { contact: { self: false } }, { youngsModulus: 1e5 })],
    { substeps: 4 },
    6,
    undefined,
  ],
  ["above a floor", [sheet(16)], { colliders: [floor] }, 10, /floor|limit/],
  ["too large to be implicit", [sheet(30)], {}, 10, /limit/],
  ["that meets a ball of many times its mass", [sheet(10), ball()], {}, 20, undefined],
  ["slower than its material, but only a little", [sheet(10, {}, { youngsModulus: 1e7 }), ball()], {}, 20, /ball/],
])("a stiff sheet is prefactored %s", async (_what, [stiff, ...others], more, substeps, why) => {
  const { layout, bodies: made, inexact } = await make([held(stiff!), ...others], more);
  expect(made[0]!.form).toBe("prefactored");
  expect(layout.substeps).toBe(substeps);
  if (!why) return expect(inexact).toBeUndefined();
  expect(inexact).toMatchObject({ body: "sheet", of: "pace", why: expect.stringMatching(why) });
  expect(inexact!.missing).toBeGreaterThan(0.015);
});

test.each<[string, Part, Part]>([
  ["several iterations", {}, { iterations: 2 }],
  ["few substeps", {}, { substeps: 6 }],
  ["a sweep of its own", { sweep: { order: "symmetric" } }, {}],
  ["without pins", { pins: [] }, {}],
])("a sheet that meets a ball, with %s, stays compliant", async (_what, of, more) => {
  const { bodies } = await make([{ ...held(sheet(10)), ...of }, ball()], more);
  expect(bodies[0]!.form).toBe("compliant");
});

const apart = { transform: { translate: [0, 1.2, 0] } };
const hung = {
  attachments: [{ from: { body: "beam", near: [0.5, 1, 0] }, to: { body: "other", near: [0.5, 1.2, 0] } }],
};
test.each<[string, Part[], Part, string[]]>([
  ["may touch a ball", [beam({ solver: "implicit" }), ball()], {}, ["compliant", "compliant"]],
  [
    "may touch a body that may touch a compliant one",
    [
      beam({ solver: "implicit", contact: { ignore: ["ball"] } }),
      beam({ name: "other", solver: "implicit", ...apart }),
      ball(),
    ],
    {},
    ["compliant", "compliant", "compliant"],
  ],
  [
    "is attached to a body",
    [beam({ solver: "implicit" }), beam({ name: "other", solver: "implicit", ...apart })],
    hung,
    ["compliant", "compliant"],
  ],
  ["is held and may touch a ball", [held(sheet(10, { solver: "implicit" })), ball()], {}, ["prefactored", "compliant"]],
  [
    "may touch a body that leaves its solver open",
    [beam({ solver: "implicit" }), beam({ name: "other", ...apart })],
    {},
    ["compliant", "compliant"],
  ],
])(
  "a body that should be implicit and %s has the solver of one that names none",
  async (_what, bodies, more, forms) => {
    const { bodies: made, standIns } = await make(bodies, more);
    expect(made.map(({ form }) => form)).toEqual(forms);
    const wished = bodies.filter((body, b) => body.solver === "implicit" && forms[b] !== "implicit");
    expect(standIns.map(({ body }) => body).sort()).toEqual(wished.map(({ name }) => name));
  },
);
