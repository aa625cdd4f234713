/**
 * The only validator of scenes: JSON Schema (scenes/schema.json), then the rules that a schema cannot express
 * (sceneRules.ts). Throws all errors with their JSON path, value and limit.
 */
import { repeatedKeys } from "../repeatedKeys.ts";
import { compiledSchema } from "./compiledSchema.ts";
import { withMaterials } from "./namedMaterials.ts";
import type { Attachment, Body, Scene } from "./scene.ts";
import { SceneError, type SceneFault } from "./sceneError.ts";
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
  checkSpawnable,
} from "./sceneRules.ts";
import { corrected, schemaFaults } from "./sceneSchemaFaults.ts";

/** Rounds of corrections: a misspelled field may have a misspelled choice, whose branch may have more of both. */
const ROUNDS = 6;
/** Words corrected in a round: each copies its object, and a hostile file has many. */
const CORRECTED = 100;

/** Reads the text of a scene file. @throws SceneError */
export function sceneOf(text: string): Scene {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SceneError("", `text with the error "${(error as Error).message}"`, "JSON");
  }
  const repeated = repeatedKeys(text).map(({ path, line, firstLine }) => ({
    path,
    value: `a second one on line ${line}`,
    limit: `there once: the first is on line ${firstLine}`,
  }));
  return validateScene(value, repeated);
}

/**
 * @param value anything, usually parsed JSON
 * @param known faults of its text
 * @returns the same value, typed, with named materials expanded
 * @throws SceneError with all errors of the schema; if all of them are misspelled words, also with those of the rules
 */
export function validateScene(value: unknown, known: readonly SceneFault[] = []): Scene {
  const validate = compiledSchema();
  const faults = new Map(known.map((fault) => [fault.path, fault]));
  // A misspelled choice hides the errors of its branch, a misspelled field those of its value: correct both, and go on.
  const renamed: [meant: string, written: string][] = [];
  const written = (path: string): string =>
    renamed.reduce((at, [meant, is]) => (at.startsWith(`${meant}/`) ? is + at.slice(meant.length) : at), path);
  const add = (fault: SceneFault): void => {
    const path = written(fault.path);
    if (!faults.has(path)) faults.set(path, { ...fault, path });
  };
  const expand = (scene: unknown): unknown => {
    const expanded = withMaterials(scene);
    for (const fault of expanded.faults) add(fault);
    return expanded.scene;
  };
  let read = expand(value);
  let valid = validate(read);
  for (let round = 0; !valid && round < ROUNDS; round++) {
    const { faults: found, misspelled } = schemaFaults(validate.errors!);
    for (const fault of found) add(fault);
    if (misspelled.length === 0) break;
    const now = misspelled.slice(0, CORRECTED);
    // An earlier round may have missed the field.
    const fields = now.filter(({ is }) => is === "field");
    for (const { parent, meant } of fields) {
      const path = written(`${parent}/${meant}`);
      if (faults.get(path)?.value === undefined) faults.delete(path);
    }
    for (const { parent, field, meant } of fields) renamed.unshift([`${parent}/${meant}`, `${parent}/${field}`]);
    read = expand(now.reduce(corrected, read));
    valid = validate(read);
  }
  if (valid) for (const fault of brokenRules(read as Scene)) add(fault);
  if (faults.size > 0) refuse([...faults.values()]);
  return read as Scene;
}

function brokenRules(scene: Scene): SceneFault[] {
  const faults: SceneFault[] = [];
  for (const check of checksOf(scene)) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof SceneError)) throw error;
      faults.push(...error.faults);
    }
  }
  return faults;
}

function refuse([first, ...more]: readonly SceneFault[]): never {
  throw new SceneError(first!.path, first!.value, first!.limit, more);
}

/** The rules, each of which throws its first SceneError. */
function* checksOf(scene: Scene): Generator<() => void, void, undefined> {
  yield () => checkQuantum(scene);
  yield () => checkTimeScale(scene);
  const names = new Map<string, number>();
  for (const [i, body] of scene.bodies.entries()) {
    const path = `/bodies/${i}`;
    const same = names.get(body.name);
    yield () => checkName(body, path, same);
    if (same === undefined) names.set(body.name, i);
    yield () => checkTransform(body, path);
    if (body.kind === "soft") yield () => checkSoft(body, path);
    else if (body.kind === "cloth") yield () => checkCloth(body, path);
    else if (body.kind === "ball") yield () => checkBall(body, path);
    yield () => checkLattice(body, path);
    yield () => checkContact(body, path);
  }
  for (const [i, collider] of (scene.colliders ?? []).entries()) yield () => checkCollider(collider, `/colliders/${i}`);
  yield () => checkIgnored(scene);
  yield () => checkImplicit(scene);
  yield () => checkPrefactored(scene);
  yield () => checkMethods(scene);
  yield () => checkReference(scene);
  for (const [i, { from, to }] of (scene.attachments ?? []).entries()) {
    yield () => checkAttached(from, names, `/attachments/${i}/from`);
    if ("collider" in to) yield () => checkCarrier(scene, to.collider, `/attachments/${i}/to/collider`);
    else yield () => checkAttached(to, names, `/attachments/${i}/to`);
  }
  yield () => checkSpawnable(scene);
  yield () => checkTogether(scene);
}

function checkName({ name }: Body, path: string, same: number | undefined): void {
  if (same !== undefined) throw new SceneError(`${path}/name`, name, `a name of its own: body ${same} has it already`);
}

function checkTransform({ transform }: Body, path: string): void {
  if (transform?.scale !== undefined && transform.fitHeight !== undefined)
    throw new SceneError(`${path}/transform/fitHeight`, transform.fitHeight, "absent where scale is given");
}

function checkAttached(point: Attachment["to"], names: ReadonlyMap<string, number>, path: string): void {
  if ("body" in point && !names.has(point.body))
    throw new SceneError(`${path}/body`, point.body, `the name of a body: ${[...names.keys()].join(", ")}`);
}
