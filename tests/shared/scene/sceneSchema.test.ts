/** The JSON Schema of scenes matches their types, and is a valid schema. */
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { SCENE_DEFAULTS } from "../../../server/sim/scene/defaults.ts";
import { sceneReference } from "../scenePage.ts";
import { sceneSchema } from "./sceneSchema.ts";

test("scenes/schema.json matches shared/scene/scene.ts: `npm run schema` writes it", () =>
  expect(sceneSchema()).toMatchFileSnapshot("../../../scenes/schema.json"));

test("docs/SCENES.md matches shared/scene/scene.ts: `npm run schema` writes it", () =>
  expect(sceneReference()).toMatchFileSnapshot("../../../docs/SCENES.md"));

test("scenes/schema.json is a valid JSON Schema", () => {
  const ajv = new Ajv({ strict: false });
  expect(ajv.validateSchema(JSON.parse(readFileSync("scenes/schema.json", "utf8"))), ajv.errorsText()).toBe(true);
});

test("defaults are valid values, and those of the scene are the simulation's", () => {
  const schema = JSON.parse(readFileSync("scenes/schema.json", "utf8"));
  const found: object[] = [];
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    if ("default" in part) found.push(part);
    for (const below of Object.values(part)) visit(below);
  };
  visit(schema);
  expect(found.length).toBeGreaterThan(60);
  for (const part of found) {
    const ajv = new Ajv({ strict: false });
    const { default: value } = part as { default: unknown };
    expect(ajv.validate({ ...part, definitions: schema.definitions }, value), JSON.stringify(part)).toBe(true);
  }
  const { properties, definitions } = schema;
  const given = { ...properties, ...definitions.Interaction.properties };
  for (const [field, value] of Object.entries(SCENE_DEFAULTS))
    if (field !== "grabSpeed") expect([field, given[field].default]).toEqual([field, value]);
});
