/** The JSON Schema of scenes (scenes/schema.json), compiled. */
import { Ajv, type Options, type ValidateFunction } from "ajv";
import schema from "../../scenes/schema.json" with { type: "json" };
import type { Scene } from "./scene.ts";

// verbose adds the invalid value to the error. strictTypes/strictRequired would refuse the schema's if/then style.
// strictNumbers refuses NaN and infinities: JSON cannot express them, but 1e400 is parsed as infinity. Every thread
// that reads scenes compiles this for its first one, in 0.26 s of CPU time instead of 0.5: without optimization, with a
// function per definition, and without checking the schema (a test does). Validating a scene takes less than a
// millisecond either way.
export const SCHEMA_OPTIONS = {
  verbose: true,
  allErrors: true,
  strict: false,
  strictNumbers: true,
  inlineRefs: false,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
} satisfies Options;

let compiled: ValidateFunction<Scene> | undefined;
export const compiledSchema = (): ValidateFunction<Scene> =>
  (compiled ??= new Ajv(SCHEMA_OPTIONS).compile<Scene>(schema));
