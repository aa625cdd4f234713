/**
 * The one validator of scenes: JSON Schema (scenes/schema.json), then the rules that a schema cannot say. The first fault found is
 * thrown with its JSON path, the value and the limit.
 */
import { Ajv, type ErrorObject } from "ajv";
import schema from "../scenes/schema.json" with { type: "json" };
import type { ClothMaterial, Scene } from "./scene.ts";
import { SceneError } from "./sceneError.ts";

// verbose puts the offending value into the error; strictTypes/strictRequired would refuse the schema's if/then style
const ajv = new Ajv({ verbose: true, allErrors: true, strict: false });
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
    for (const field of ["youngsModulus", "poissonsRatio"] as const) if (m[field] === undefined) throw new SceneError(`${path}/${field}`, null, "given: youngsModulus and poissonsRatio, or all of kWeft kWarp kShear nuWeft nuWarp");
    if (m.model === "orthotropic") throw new SceneError(`${path}/model`, m.model, "stvk where youngsModulus and poissonsRatio are given");
    return;
  }
  for (const field of ["kWeft", "kWarp", "kShear", "nuWeft", "nuWarp"] as const) if (m[field] === undefined) throw new SceneError(`${path}/${field}`, null, "given: an orthotropic sheet has all of kWeft kWarp kShear nuWeft nuWarp");
  const [kWeft, kWarp, nuWeft, nuWarp] = [m.kWeft!, m.kWarp!, m.nuWeft!, m.nuWarp!];
  const a = kWeft * nuWarp, b = kWarp * nuWeft;
  if (Math.abs(a - b) > SYMMETRY_TOLERANCE * Math.max(Math.abs(a), Math.abs(b))) throw new SceneError(`${path}/nuWarp`, nuWarp, `${b / kWeft} within ${100 * SYMMETRY_TOLERANCE} %: k_weft nuWarp = k_warp nuWeft makes the tensor symmetric`);
  if (!(nuWeft * nuWarp < 1)) throw new SceneError(`${path}/nuWeft`, nuWeft, `less than ${1 / nuWarp} in size: nuWeft nuWarp < 1 makes the tensor positive definite`);
}

/** Of many schema errors the one that lies deepest: the branches of if/then also complain about their parents. */
function faultOf(errors: ErrorObject[]): SceneError {
  const real = errors.filter((e) => e.keyword !== "if");
  const depth = (e: ErrorObject): number => e.instancePath.split("/").length + (e.keyword === "enum" || e.keyword === "const" ? 0.5 : 0);
  const worst = real.reduce((a, b) => (depth(b) > depth(a) ? b : a));
  const p = worst.params as Record<string, unknown>;
  switch (worst.keyword) {
    case "required": return new SceneError(`${worst.instancePath}/${p.missingProperty}`, null, "given: it is missing");
    case "additionalProperties": return new SceneError(`${worst.instancePath}/${p.additionalProperty}`, (worst.data as Record<string, unknown>)[p.additionalProperty as string], "absent: no such field here");
    case "enum": return new SceneError(worst.instancePath, worst.data, `one of ${(p.allowedValues as unknown[]).join(", ")}`);
    case "const": return new SceneError(worst.instancePath, worst.data, JSON.stringify(p.allowedValue));
    case "oneOf": return new SceneError(worst.instancePath, worst.data, "given in exactly one of its ways: particle or near");
    case "pattern": return new SceneError(worst.instancePath, worst.data, `of the form ${p.pattern}`);
    default: return new SceneError(worst.instancePath, worst.data, (worst.message ?? worst.keyword).replace(/^must (be |NOT |match |have )?/, (_, verb: string) => (verb === "NOT " ? "not to " : verb === "have " ? "with " : "")));
  }
}
