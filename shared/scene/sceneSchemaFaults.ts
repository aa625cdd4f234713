/**
 * Converts the errors of ajv to errors of a scene, the deepest first, with "did you mean" for misspelled fields and
 * choices.
 */
import type { ErrorObject } from "ajv";
import { hinted, nearest } from "../didYouMean.ts";
import type { SceneFault } from "./sceneError.ts";

type Fields = Record<string, unknown>;

/** A misspelled field, or a misspelled choice as the value of its field. */
export interface Misspelled {
  /** JSON pointer of the object that has the field. */
  parent: string;
  field: string;
  is: "field" | "choice";
  meant: string;
}

/**
 * Selects one error for each place, because a wrong type also breaks other rules. Errors of `if` only repeat those of
 * its branch. Errors within oneOf are left out, too: they belong to alternatives that the author did not choose.
 * @param errors of a validation with `allErrors` and `verbose`; at least one
 */
export function schemaFaults(errors: readonly ErrorObject[]): { faults: SceneFault[]; misspelled: Misspelled[] } {
  const real = errors.filter((e) => e.keyword !== "if" && !/\/oneOf\/\d/.test(e.schemaPath));
  // At the same depth, a wrong type comes before its consequences.
  const rank = (e: ErrorObject): number =>
    e.instancePath.split("/").length + (["enum", "const", "type"].includes(e.keyword) ? 0.5 : 0);
  const faults = new Map<string, SceneFault>();
  const misspelled: Misspelled[] = [];
  for (const error of real.sort((a, b) => rank(b) - rank(a))) {
    const { fault, meant } = faultOf(error);
    if (faults.has(fault.path)) continue;
    faults.set(fault.path, fault);
    if (meant === undefined) continue;
    const end = fault.path.lastIndexOf("/");
    const field = unescapePointer(fault.path.slice(end + 1));
    misspelled.push({
      parent: fault.path.slice(0, end),
      field,
      is: error.keyword === "enum" ? "choice" : "field",
      meant,
    });
  }
  // Report a misspelled field once: not also as missing.
  const renamed = new Set(
    misspelled.flatMap(({ parent, is, meant }) => (is === "field" ? `${parent}/${escapePointer(meant)}` : [])),
  );
  const all = [...faults.values()];
  return { faults: all.filter(({ path, value }) => !(value === undefined && renamed.has(path))), misspelled };
}

/** Returns the value with the meant field or choice. Copies only the objects on the way. */
export function corrected(value: unknown, { parent, field, is, meant }: Misspelled): unknown {
  const change = (at: unknown, [step, ...rest]: readonly string[]): unknown => {
    if (step === undefined) {
      const { [field]: written, ...others } = at as Fields;
      return is === "field" ? { ...others, [meant]: written } : { ...others, [field]: meant };
    }
    const inner = change((at as Fields)[step], rest);
    return Array.isArray(at) ? at.with(Number(step), inner) : { ...(at as Fields), [step]: inner };
  };
  return change(value, parent.split("/").slice(1).map(unescapePointer));
}

/** @returns the error, and the field or choice that a misspelled one means */
function faultOf({ keyword, instancePath, data, params, parentSchema }: ErrorObject): {
  fault: SceneFault;
  meant?: string | undefined;
} {
  const p = params as Fields;
  const child = (name: unknown): string => `${instancePath}/${escapePointer(String(name))}`;
  if (keyword === "required") return { fault: { path: child(p.missingProperty), value: undefined, limit: "given" } };
  if (keyword === "enum" && typeof data === "string") {
    // A value must be one of the choices, so more letters may differ than in a field.
    const meant = nearest(data, p.allowedValues as string[], 1 / 2);
    return { fault: { path: instancePath, value: data, limit: hinted(limitOf(keyword, p), meant) }, meant };
  }
  if (keyword !== "additionalProperties")
    return { fault: { path: instancePath, value: data, limit: limitOf(keyword, p) } };
  const name = p.additionalProperty as string;
  const fields = Object.keys((parentSchema?.properties ?? {}) as Fields);
  const absent = fields.filter((field) => !Object.hasOwn(data as Fields, field));
  const meant = nearest(name, absent, 1 / 3);
  const limit = hinted("absent: no such field here", meant);
  return { fault: { path: child(name), value: (data as Fields)[name], limit }, meant };
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

const unescapePointer = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");
