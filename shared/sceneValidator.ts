/**
 * The only validator of scenes: JSON Schema (scenes/schema.json), then the rules that a schema cannot express
 * (sceneRules.ts). Throws the first error with its JSON path, value and limit.
 */
import { Ajv, type ErrorObject } from "ajv";
import schema from "../scenes/schema.json" with { type: "json" };
import { withMaterials } from "./namedMaterials.ts";
import type { Scene } from "./scene.ts";
import { SceneError } from "./sceneError.ts";
import { checkImplicit } from "./sceneImplicit.ts";
import { checkPrefactored } from "./scenePrefactored.ts";
import { checkMethods } from "./sceneMethod.ts";
import { checkReference } from "./sceneReference.ts";
import {
  checkBall,
  checkCarrier,
  checkCloth,
  checkCollider,
  checkContact,
  checkIgnored,
  checkLattice,
  checkQuantum,
  checkSoft,
  checkTimeScale,
  checkTogether,
  checkWaiting,
} from "./sceneRules.ts";

// verbose adds the invalid value to the error. strictTypes/strictRequired would refuse the schema's if/then style.
// strictNumbers refuses NaN and infinities: JSON cannot express them, but 1e400 is parsed as infinity. Every thread
// that reads scenes compiles this, in 0.26 s of CPU time instead of 0.5: without optimization, with a function per
// definition, and without checking the schema (a test does). Validating a scene takes less than a millisecond either
// way.
const ajv = new Ajv({
  verbose: true,
  allErrors: true,
  strict: false,
  strictNumbers: true,
  inlineRefs: false,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
});
const validate = ajv.compile<Scene>(schema);

/**
 * @param value anything, usually parsed JSON
 * @returns the same value, typed, with named materials expanded
 * @throws SceneError
 */
export function validateScene(value: unknown): Scene {
  const whole = withMaterials(value);
  if (!validate(whole)) throw faultOf(validate.errors!);
  const scene = whole as Scene;
  checkQuantum(scene);
  checkTimeScale(scene);
  const names = new Map<string, number>();
  scene.bodies.forEach((body, i) => {
    const path = `/bodies/${i}`;
    if (names.has(body.name))
      throw new SceneError(`${path}/name`, body.name, `a name of its own: body ${names.get(body.name)} has it already`);
    names.set(body.name, i);
    if (body.transform?.scale !== undefined && body.transform.fitHeight !== undefined)
      throw new SceneError(`${path}/transform/fitHeight`, body.transform.fitHeight, "absent where scale is given");
    if (body.kind === "soft") checkSoft(body, path);
    else if (body.kind === "cloth") checkCloth(body, path);
    else if (body.kind === "ball") checkBall(body, path);
    checkLattice(body, path);
    checkContact(body, path);
  });
  scene.colliders?.forEach((c, i) => checkCollider(c, `/colliders/${i}`));
  checkIgnored(scene);
  checkImplicit(scene);
  checkPrefactored(scene);
  checkMethods(scene);
  checkReference(scene);
  scene.attachments?.forEach((a, i) => {
    for (const [end, point] of [
      ["from", a.from],
      ["to", a.to],
    ] as const) {
      if ("body" in point && !names.has(point.body))
        throw new SceneError(
          `/attachments/${i}/${end}/body`,
          point.body,
          `the name of a body: ${[...names.keys()].join(", ")}`,
        );
    }
    if ("collider" in a.to) checkCarrier(scene, a.to.collider, `/attachments/${i}/to/collider`);
  });
  checkWaiting(scene);
  checkTogether(scene);
  return scene;
}

/**
 * Selects the deepest of several schema errors. A branch of if/then also reports its parents, and errors within oneOf
 * are skipped.
 */
function faultOf(errors: ErrorObject[]): SceneError {
  const real = errors.filter((e) => e.keyword !== "if" && !/\/oneOf\/\d/.test(e.schemaPath));
  // at the same depth, a wrong type comes before its consequences
  const depth = (e: ErrorObject): number =>
    e.instancePath.split("/").length +
    (e.keyword === "enum" || e.keyword === "const" || e.keyword === "type" ? 0.5 : 0);
  const worst = real.reduce((a, b) => (depth(b) > depth(a) ? b : a));
  const p = worst.params as Record<string, unknown>;
  const child = (name: unknown): string => `${worst.instancePath}/${escapePointer(String(name))}`;
  switch (worst.keyword) {
    case "required":
      return new SceneError(child(p.missingProperty), undefined, "given");
    case "additionalProperties":
      return new SceneError(
        child(p.additionalProperty),
        (worst.data as Record<string, unknown>)[p.additionalProperty as string],
        "absent: no such field here",
      );
    default:
      return new SceneError(worst.instancePath, worst.data, limitOf(worst.keyword, p));
  }
}

const TYPES: Record<string, string> = {
  number: "a finite number",
  integer: "a whole number",
  string: "a string",
  array: "an array",
  object: "an object",
  boolean: "true or false",
};

/** The limit of a schema keyword, phrased to follow "must be". */
function limitOf(keyword: string, p: Record<string, unknown>): string {
  const count = (what: string): string => `${p.limit} ${what}${p.limit === 1 ? "" : "s"}`;
  switch (keyword) {
    case "type":
      return TYPES[p.type as string] ?? String(p.type);
    case "enum":
      return `one of ${(p.allowedValues as unknown[]).join(", ")}`;
    case "const":
      return JSON.stringify(p.allowedValue);
    case "pattern":
      return `of the form ${p.pattern}`;
    case "oneOf":
      return "given in exactly one of its ways: particle or near";
    case "multipleOf":
      return `a multiple of ${p.multipleOf}`;
    case "uniqueItems":
      return "a list without repeated items";
    case "minItems":
      return `a list of at least ${count("item")}`;
    case "maxItems":
      return `a list of at most ${count("item")}`;
    case "minLength":
      return `at least ${count("character")} long`;
    case "maxLength":
      return `at most ${count("character")} long`;
    case "minProperties":
      return `an object with at least ${count("field")}`;
    default:
      return `${p.comparison} ${p.limit}`; // minimum, maximum and their exclusive forms
  }
}

/** Escapes one step of a JSON pointer (RFC 6901, section 3). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
