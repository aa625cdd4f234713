/** Every preset is a valid material of a scene, and its numbers are those of its sources. */
import { expect, test } from "vitest";
import { MATERIAL_PRESETS, presetsOf } from "../../../shared/scene/materialPresets.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";

const MESH = {
  soft: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] },
  cloth: { type: "grid", size: [1, 1], cells: [2, 2] },
};

test.each(["soft", "cloth"] as const)("presets of %s bodies are materials that the validator accepts", (kind) => {
  const names = presetsOf(kind);
  expect(names.length).toBeGreaterThan(4);
  for (const name of names) {
    const material = MATERIAL_PRESETS[name][kind];
    const body = { name, kind, mesh: MESH[kind], material };
    expect(validateScene({ version: 1, title: name, bodies: [body] }).bodies[0]!.material).toEqual(material);
  }
});

test("every preset is for a solid or a sheet", () => {
  expect(new Set([...presetsOf("soft"), ...presetsOf("cloth")]).size).toBe(Object.keys(MATERIAL_PRESETS).length);
});

test("foam has the stiffness of its cells, woven sheets their stated weight", () => {
  const { density, youngsModulus } = MATERIAL_PRESETS.foam.soft!;
  // E = E_s (rho/rho_s)^2, to the two digits of the table.
  expect(youngsModulus / (45e6 * (density / 1200) ** 2)).toBeCloseTo(1, 1);
  for (const [name, weight] of [
    ["cotton", 0.14],
    ["silk", 0.06],
  ] as const) {
    const { density, thickness } = MATERIAL_PRESETS[name].cloth!;
    expect(density * thickness).toBeCloseTo(weight, 10);
  }
});

test("a sheet of a solid bends as a plate does", () => {
  const { youngsModulus: E, poissonsRatio: nu, thickness: t, bendingStiffness } = MATERIAL_PRESETS.steel.cloth!;
  // The table has 3 digits.
  expect(bendingStiffness! / ((E! * t ** 3) / (12 * (1 - nu! ** 2)))).toBeCloseTo(1, 2);
});

const bodyOf = (kind: "soft" | "cloth" | "ball", material: unknown): unknown => ({
  version: 1,
  title: "named",
  bodies: [{ name: "it", kind, mesh: kind === "ball" ? { type: "ball", radius: 1 } : MESH[kind], material }],
});

test("a scene names a material, and may change its values", () => {
  const material = (kind: "soft" | "cloth", value: unknown): unknown =>
    validateScene(bodyOf(kind, value)).bodies[0]!.material;
  expect(material("soft", "rubber")).toEqual(MATERIAL_PRESETS.rubber.soft);
  expect(material("cloth", { preset: "silk", damping: 2 })).toEqual({ ...MATERIAL_PRESETS.silk.cloth, damping: 2 });
  for (const [kind, value, path] of [
    ["soft", "silk", "/bodies/0/material"],
    ["cloth", { preset: "jelly" }, "/bodies/0/material/preset"],
    ["soft", { preset: "rubber", density: -1 }, "/bodies/0/material/density"],
    ["ball", "steel", "/bodies/0/material"],
    ["soft", { preset: 5 }, "/bodies/0/material/preset"],
  ] as const)
    expect(() => validateScene(bodyOf(kind, value))).toThrow(expect.objectContaining({ path }));
});
