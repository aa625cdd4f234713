/** Restrictions of solver "prefactored": each error names the field and the limit. */
import { expect, test } from "vitest";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";

const sheet = {
  name: "sheet",
  kind: "cloth",
  solver: "prefactored",
  mesh: { type: "grid", size: [1, 1], cells: [2, 2] },
  material: { density: 200, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3 },
};
const cube = {
  name: "cube",
  kind: "soft",
  mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
  material: { density: 200, youngsModulus: 1e4, poissonsRatio: 0.3 },
};
const scene = (...bodies: object[]): unknown =>
  JSON.parse(JSON.stringify({ version: 1, title: "prefactored", bodies }));

const pbd = { model: "pbd", density: 200, thickness: 1e-3, distance: { compliance: 1e-3 } };

test.each([
  [
    "/bodies/0/solver",
    [{ ...cube, solver: "prefactored", material: { ...cube.material, model: "neo-hookean" } }],
    "compliant for model neo-hookean",
  ],
  [
    "/bodies/0/material/plasticity",
    [
      {
        ...cube,
        solver: "prefactored",
        material: { ...cube.material, plasticity: { yield: 0.1, creep: 1, max: 0.2 } },
      },
    ],
    "absent",
  ],
  ["/bodies/0/solver", [{ ...sheet, material: pbd }], "compliant for model pbd"],
  ["/bodies/0/sweep", [{ ...sheet, sweep: { order: "symmetric" } }], "absent"],
  [
    "/bodies/0/material/retardationTime",
    [{ ...sheet, material: { ...sheet.material, retardationTime: 0.01 } }],
    "0 or absent",
  ],
])("%s is refused", (path, bodies, limit) => {
  let error: unknown;
  try {
    validateScene(scene(...bodies));
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(SceneError);
  expect(error).toMatchObject({ path });
  expect((error as SceneError).limit).toContain(limit);
});

test("a sheet alone, and one that meets other bodies, are accepted", () => {
  expect(() => validateScene(scene(sheet))).not.toThrow();
  expect(() => validateScene(scene(sheet, cube))).not.toThrow();
});

test.each([{ spawnable: true }, { start: "mirrored" }, { contact: { restitution: 0.5 } }])("%o is accepted", (more) => {
  expect(() => validateScene(scene({ ...sheet, ...more }, cube))).not.toThrow();
});
