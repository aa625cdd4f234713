/** The JSON Schema of scenes matches their types, and is a valid schema. */
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { sceneSchema } from "./sceneSchema.ts";

test("scenes/schema.json matches shared/scene.ts: `npm run schema` writes it", () =>
  expect(sceneSchema()).toMatchFileSnapshot("../../scenes/schema.json"));

test("it is a valid JSON Schema", () => {
  const ajv = new Ajv({ strict: false });
  expect(ajv.validateSchema(JSON.parse(readFileSync("scenes/schema.json", "utf8"))), ajv.errorsText()).toBe(true);
});
