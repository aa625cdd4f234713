/**
 * The one validator of scenes: JSON Schema (scenes/schema.json), then the rules that a schema cannot say. The first fault found is
 * thrown with its JSON path, the value and the limit.
 */
import { Ajv, type ErrorObject } from "ajv";
import schema from "../scenes/schema.json" with { type: "json" };
import type { ClothMaterial, Scene } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

// verbose puts the offending value into the error; strictTypes/strictRequired would refuse the schema's if/then style.
// strictNumbers refuses NaN and infinities: JSON has no word for them, but 1e400 reads as one.
const ajv = new Ajv({ verbose: true, allErrors: true, strict: false, strictNumbers: true });
const validate = ajv.compile<Scene>(schema);

/** Relative slack of the orthotropic symmetry: a scene file's decimal numbers, not rounding. */
const SYMMETRY_TOLERANCE = 1e-3;

/**
 * @param value anything, usually parsed JSON
 * @returns the same value, typed
 * @throws SceneError
 */
export function validateScene(value: unknown): Scene {
  if (!validate(value)) throw faultOf(validate.errors!);
  const scene = value as Scene;
  const names = new Map<string, number>();
  scene.bodies.forEach((body, i) => {
    const path = `/bodies/${i}`;
    if (names.has(body.name)) throw new SceneError(`${path}/name`, body.name, `a name of its own: body ${names.get(body.name)} has it already`);
    names.set(body.name, i);
    if (body.transform?.scale !== undefined && body.transform.fitHeight !== undefined) throw new SceneError(`${path}/transform/fitHeight`, body.transform.fitHeight, "absent where scale is given");
    if (body.kind === "cloth") checkSheet(body.material, `${path}/material`);
  });
  scene.colliders?.forEach((c, i) => {
    if (c.type === "plane" && c.normal.every((n) => n === 0)) throw new SceneError(`/colliders/${i}/normal`, c.normal, "a vector that is not zero");
    if (c.type === "capsule" && c.a.every((n, r) => n === c.b[r])) throw new SceneError(`/colliders/${i}/b`, c.b, "another point than a; use a sphere for a capsule without length");
  });
  scene.attachments?.forEach((a, i) => {
    for (const [end, point] of [["from", a.from], ["to", a.to]] as const) {
      if ("body" in point && !names.has(point.body)) throw new SceneError(`/attachments/${i}/${end}/body`, point.body, `the name of a body: ${[...names.keys()].join(", ")}`);
    }
  });
  return scene;
}

/** The sheet's tensor must be given one way, be symmetric, and be positive definite. */
function checkSheet(m: ClothMaterial, path: string): void {
  const orthotropic = (["kWeft", "kWarp", "kShear", "nuWeft", "nuWarp"] as const).filter((f) => m[f] !== undefined);
  const isotropic = (["youngsModulus", "poissonsRatio"] as const).filter((f) => m[f] !== undefined);
  if (orthotropic.length > 0 && isotropic.length > 0) throw new SceneError(`${path}/${isotropic[0]}`, m[isotropic[0]!], "absent where kWeft ... nuWarp are given");
  if (orthotropic.length === 0) {
    for (const field of ["youngsModulus", "poissonsRatio"] as const) if (m[field] === undefined) throw new SceneError(`${path}/${field}`, undefined, "given: youngsModulus and poissonsRatio, or all of kWeft kWarp kShear nuWeft nuWarp");
    if (m.model === "orthotropic") throw new SceneError(`${path}/model`, m.model, "stvk where youngsModulus and poissonsRatio are given");
    return;
  }
  for (const field of ["kWeft", "kWarp", "kShear", "nuWeft", "nuWarp"] as const) if (m[field] === undefined) throw new SceneError(`${path}/${field}`, undefined, "given: an orthotropic sheet has all of kWeft kWarp kShear nuWeft nuWarp");
  const [kWeft, kWarp, nuWeft, nuWarp] = [m.kWeft!, m.kWarp!, m.nuWeft!, m.nuWarp!];
  const a = kWeft * nuWarp, b = kWarp * nuWeft;
  if (Math.abs(a - b) > SYMMETRY_TOLERANCE * Math.max(Math.abs(a), Math.abs(b))) throw new SceneError(`${path}/nuWarp`, nuWarp, `${b / kWeft} within ${100 * SYMMETRY_TOLERANCE} %: k_weft nuWarp = k_warp nuWeft makes the tensor symmetric`);
  if (!(nuWeft * nuWarp < 1)) throw new SceneError(`${path}/nuWeft`, nuWeft, `less than ${1 / nuWarp} in size: nuWeft nuWarp < 1 makes the tensor positive definite`);
}

/** Of many schema errors the one that lies deepest: a branch of if/then also complains about its parents, one of oneOf is not meant. */
function faultOf(errors: ErrorObject[]): SceneError {
  const real = errors.filter((e) => e.keyword !== "if" && !/\/oneOf\/\d/.test(e.schemaPath));
  // at one place the wrong type comes before what it entails
  const depth = (e: ErrorObject): number => e.instancePath.split("/").length + (e.keyword === "enum" || e.keyword === "const" || e.keyword === "type" ? 0.5 : 0);
  const worst = real.reduce((a, b) => (depth(b) > depth(a) ? b : a));
  const p = worst.params as Record<string, unknown>, child = (name: unknown): string => `${worst.instancePath}/${escapePointer(String(name))}`;
  switch (worst.keyword) {
    case "required": return new SceneError(child(p.missingProperty), undefined, "given");
    case "additionalProperties": return new SceneError(child(p.additionalProperty), (worst.data as Record<string, unknown>)[p.additionalProperty as string], "absent: no such field here");
    default: return new SceneError(worst.instancePath, worst.data, limitOf(worst.keyword, p));
  }
}

const TYPES: Record<string, string> = { number: "a finite number", integer: "a whole number", string: "a string", array: "an array", object: "an object" };

/** What a keyword of the schema allows, in words that follow "must be". */
function limitOf(keyword: string, p: Record<string, unknown>): string {
  const count = (what: string): string => `${p.limit} ${what}${p.limit === 1 ? "" : "s"}`;
  switch (keyword) {
    case "type": return TYPES[p.type as string] ?? String(p.type);
    case "enum": return `one of ${(p.allowedValues as unknown[]).join(", ")}`;
    case "const": return JSON.stringify(p.allowedValue);
    case "pattern": return `of the form ${p.pattern}`;
    case "oneOf": return "given in exactly one of its ways: particle or near";
    case "minItems": return `a list of at least ${count("item")}`;
    case "maxItems": return `a list of at most ${count("item")}`;
    case "minLength": return `at least ${count("character")} long`;
    case "maxLength": return `at most ${count("character")} long`;
    case "minProperties": return `an object with at least ${count("field")}`;
    default: return `${p.comparison} ${p.limit}`; // minimum, maximum and their exclusive forms
  }
}

/** One step of a JSON pointer (RFC 6901, section 3). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
