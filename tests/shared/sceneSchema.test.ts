/** The JSON Schema of scenes is that of their types, and a schema. */
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { sceneSchema } from "./sceneSchema.ts";

test("scenes/schema.json is what shared/scene.ts says: `npm run schema` writes it", () =>
  expect(sceneSchema()).toMatchFileSnapshot("../../scenes/schema.json"));

test("it is a JSON Schema", () => {
  const ajv = new Ajv({ strict: false });
  expect(ajv.validateSchema(JSON.parse(readFileSync("scenes/schema.json", "utf8"))), ajv.errorsText()).toBe(true);
});
