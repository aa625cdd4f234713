/** Converts the errors of ajv to errors of a scene, the deepest first, with "did you mean" for misspelled fields. */
import type { ErrorObject } from "ajv";
import type { SceneFault } from "./sceneError.ts";

type Fields = Record<string, unknown>;

/**
 * Selects one error for each place, because a wrong type also breaks other rules. The `if` of a choice only repeats its
 * branch, and errors within oneOf are those of the ways that were not taken.
 * @param errors of a validation with `allErrors` and `verbose`; at least one
 */
export function schemaFaults(errors: readonly ErrorObject[]): SceneFault[] {
  const real = errors.filter((e) => e.keyword !== "if" && !/\/oneOf\/\d/.test(e.schemaPath));
  // At the same depth, a wrong type comes before its consequences.
  const rank = (e: ErrorObject): number =>
    e.instancePath.split("/").length + (["enum", "const", "type"].includes(e.keyword) ? 0.5 : 0);
  const faults = new Map<string, SceneFault>();
  const renamed = new Set<string>();
  for (const error of real.sort((a, b) => rank(b) - rank(a))) {
    const { fault, meant } = faultOf(error);
    if (meant !== undefined) renamed.add(`${error.instancePath}/${escapePointer(meant)}`);
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  }
  // A misspelled field is not missing, too.
  const all = [...faults.values()];
  return all.filter(({ path, value }) => !(value === undefined && renamed.has(path)));
}

/** @returns the error, and the field that a misspelled one means */
function faultOf({ keyword, instancePath, data, params, parentSchema }: ErrorObject): {
  fault: SceneFault;
  meant?: string | undefined;
} {
  const p = params as Fields;
  const child = (name: unknown): string => `${instancePath}/${escapePointer(String(name))}`;
  if (keyword === "required") return { fault: { path: child(p.missingProperty), value: undefined, limit: "given" } };
  if (keyword !== "additionalProperties")
    return { fault: { path: instancePath, value: data, limit: limitOf(keyword, p) } };
  const name = p.additionalProperty as string;
  const meant = nearest(name, Object.keys((parentSchema?.properties ?? {}) as Fields), data as Fields);
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return {
    fault: { path: child(name), value: (data as Fields)[name], limit: `absent: no such field here${hint}` },
    meant,
  };
}

/** Longest name that is compared; the longest field has 22 characters. */
const LONGEST = 40;

/** The absent field with the nearest name: at most a third of its letters differ. */
function nearest(name: string, fields: readonly string[], given: Fields): string | undefined {
  if (name.length > LONGEST) return undefined;
  let best: string | undefined;
  let least = Infinity;
  for (const field of fields) {
    if (Object.hasOwn(given, field)) continue;
    const distance = editDistance(name.toLowerCase(), field.toLowerCase());
    if (distance < least && distance <= field.length / 3) [best, least] = [field, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbors between two words (F. Damerau 1964). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
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
