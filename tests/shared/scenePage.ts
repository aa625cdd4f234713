/** docs/SCENES.md: every field of a scene file, from the types of shared/scene/scene.ts. `npm run schema` writes it. */
import { type Definitions, type Part, sceneTypes } from "./scene/sceneSchema.ts";

const HEAD = `# Fields of a scene file

[The tutorial](../scenes/README.md) explains scenes. This page lists every field with its default, limits and meaning. \`npm run schema\` writes it from \`shared/scene/scene.ts\`; a test compares them.

SI units (m, kg, s, N, Pa), y up, right-handed, angles in degrees. Fields without "required" are optional, unknown fields are errors.
`;

/** A section of the page: fields of a type. `tag`: the field that tells the members of a union apart. */
interface Section {
  of: string;
  tag?: string;
}

const SECTIONS: Readonly<Record<string, Section>> = {
  Scene: { of: "Scene" },
  "Texts in other languages": { of: "SceneTexts" },
  Wind: { of: "SceneWind" },
  Bodies: { of: "Body", tag: "kind" },
  Selections: { of: "Selection" },
  Meshes: { of: "MeshSource", tag: "type" },
  Transforms: { of: "Transform" },
  "Materials of soft bodies": { of: "SoftMaterial", tag: "model" },
  "Materials of cloth": { of: "ClothMaterial" },
  "Materials of balls": { of: "MaterialCommon" },
  Plasticity: { of: "Plasticity" },
  Contact: { of: "BodyContact" },
  "Contact of balls": { of: "TouchCommon" },
  Looks: { of: "Look" },
  Sweeps: { of: "Sweep" },
  Methods: { of: "Method", tag: "type" },
  Colliders: { of: "Collider", tag: "type" },
  "Motion of colliders": { of: "MotionKey" },
  Attachments: { of: "Attachment" },
  "Points of attachments": { of: "AttachmentPoint" },
  "Limits of grabs": { of: "Interaction" },
  "Live reference": { of: "Reference" },
};
const TITLES = new Map(Object.entries(SECTIONS).map(([title, { of }]) => [of, title]));

/** Limits of a value by the keywords of JSON Schema. */
type Limits = Readonly<Record<string, unknown>>;

/** A row of a table: the field, the members of a union that have it, its default, its limits and its meaning. */
interface Row {
  field: string;
  of: string;
  cells: string;
}

/** @returns the text of docs/SCENES.md */
export function sceneReference(): string {
  const { definitions, ...scene } = sceneTypes();
  const types: Definitions = { ...definitions, Scene: scene as Part };
  return (
    HEAD +
    Object.entries(SECTIONS)
      .map(([title, section]) => sectionOf(title, section, types))
      .join("")
  );
}

function sectionOf(title: string, { of, tag }: Section, types: Definitions): string {
  const type = types[of]!;
  const members = (type.anyOf ?? [type]).map((member) => resolve(member, types));
  const names = members.map((member) => (tag === undefined ? "" : tagsOf(member.properties[tag]!)));
  const rows = mergeRows(members.map((member, i) => rowsOf(member, types).map((row) => ({ ...row, of: names[i]! }))));
  const texts = members.map(({ description }, i) => (description ? lead(names[i]!) + oneLine(description) : ""));
  const whole = type.anyOf && type.description ? [oneLine(type.description)] : [];
  const head =
    tag === undefined ? "| field | default | values | meaning |\n| --- | --- | --- | --- |\n" : HEAD_OF_UNION;
  const body = rows.map(({ field, of: names, cells }) =>
    tag === undefined ? `| \`${field}\` | ${cells} |\n` : `| \`${field}\` | ${names} | ${cells} |\n`,
  );
  return `\n## ${title}\n\n${[...whole, ...texts]
    .filter(Boolean)
    .map((text) => `${text}\n\n`)
    .join("")}${head}${body.join("")}`;
}
const HEAD_OF_UNION = "| field | of | default | values | meaning |\n| --- | --- | --- | --- | --- |\n";
const lead = (name: string): string => (name === "" ? "" : `${name}: `);

/** Joins equal rows of a union's members; a row that all members have is of "all". */
function mergeRows(members: readonly Row[][]): Row[] {
  const merged = new Map<string, { row: Row; of: string[] }>();
  for (const rows of members)
    for (const row of rows) {
      const key = `${row.field}|${row.cells}`;
      const found = merged.get(key);
      if (found) found.of.push(row.of);
      else merged.set(key, { row, of: [row.of] });
    }
  const rows = [...merged.values()].map(({ row, of }) => ({
    ...row,
    of: of.length === members.length ? "all" : of.join(", "),
  }));
  const order = new Map(rows.map(({ field }) => [field, rows.findIndex((row) => row.field === field)]));
  return rows.sort((a, b) => order.get(a.field)! - order.get(b.field)!);
}

/** @returns the rows of an object's fields, with those of unnamed objects inside. @param prefix of the names */
function rowsOf({ properties, required = [] }: Part, types: Definitions, prefix = ""): Row[] {
  return Object.entries(properties).flatMap(([name, part]): Row[] => {
    const whole = resolve(part, types);
    const { default: value, description = "" } = titleOf(part) === undefined ? whole : part;
    const own = required.includes(name) ? "required" : value === undefined ? "none" : `\`${JSON.stringify(value)}\``;
    const field = prefix + name;
    const cells = [own.replaceAll(",", ", "), valuesOf(part, types), oneLine(description)].join(" | ");
    return [{ field, of: "", cells }, ...insideOf(part, field, types)];
  });
}

/** @returns rows of the fields of an object, or of objects in a list, that have no section of their own */
function insideOf(part: Part, field: string, types: Definitions): Row[] {
  const inner = (resolve(part, types).items as Part | undefined) ?? part;
  if (titleOf(inner) !== undefined) return [];
  const { properties } = resolve(inner, types);
  return properties ? rowsOf(resolve(inner, types), types, `${field}${inner === part ? "" : "[]"}.`) : [];
}

const titleOf = ({ $ref = "" }: Part): string | undefined => TITLES.get($ref.split("/").at(-1)!);

/** @returns the part with the definition that it refers to; its own description and default come first */
function resolve(part: Part, types: Definitions): Part {
  return part.$ref === undefined ? part : { ...resolve(types[part.$ref.split("/").at(-1)!]!, types), ...part };
}

/** @returns the allowed values in words */
function valuesOf(part: Part, types: Definitions): string {
  const title = titleOf(part);
  if (title !== undefined) return `[${title}](#${title.toLowerCase().replaceAll(" ", "-")})`;
  const {
    type,
    items,
    anyOf,
    const: one,
    enum: some,
    properties = {},
    ...rest
  } = resolve(part, types) as Partial<Part>;
  if (anyOf) return anyOf.map((member) => valuesOf(member, types)).join(" or ");
  if (one !== undefined || some !== undefined) return tagsOf({ const: one, enum: some } as unknown as Part);
  if (type === "array") return listOf(items as Part, rest, types);
  if (type === "boolean") return "`true` or `false`";
  if (type === "object")
    return `{${Object.keys(properties)
      .map((field) => ` \`${field}\``)
      .join(",")} }`;
  if (type === "string") return between("Length", rest, "characters") || "text";
  return `${type === "integer" ? "whole, " : ""}${rangeOf(rest)}`;
}

function listOf(items: Part, rest: Limits, types: Definitions): string {
  const { minItems, maxItems } = rest;
  const each = valuesOf(items, types);
  if (minItems !== undefined && minItems === maxItems) return `${String(minItems)} numbers, each ${each}`;
  const count = between("Items", rest, "");
  return `${count === "" ? "a list" : `a list of ${count}`}: ${each}`;
}

function between(what: "Length" | "Items", rest: Limits, unit: string): string {
  const { [`min${what}`]: least, [`max${what}`]: most } = rest;
  const range =
    least === undefined
      ? most === undefined
        ? ""
        : `at most ${String(most)}`
      : most === undefined
        ? `at least ${String(least)}`
        : `${String(least)} to ${String(most)}`;
  return range && `${range} ${unit}`.trim();
}

const tagsOf = ({ const: one, enum: some = [one] }: Part): string =>
  (some as unknown[]).map((value) => `\`${String(value)}\``).join(", ");

function rangeOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Limits): string {
  const low =
    minimum === undefined
      ? exclusiveMinimum === undefined
        ? ""
        : `> ${power(exclusiveMinimum)}`
      : `${power(minimum)}`;
  const high =
    maximum === undefined
      ? exclusiveMaximum === undefined
        ? ""
        : `< ${power(exclusiveMaximum)}`
      : `${power(maximum)}`;
  const range = low === "" ? high : high === "" ? (low.startsWith(">") ? low : `≥ ${low}`) : `${low} to ${high}`;
  return range + (multipleOf === undefined ? "" : `, a multiple of ${String(multipleOf)}`);
}

/** 1e6 as 10⁶: powers of ten beyond 10,000 and below 0.001. */
function power(value: unknown): string {
  const [digits, exponent] = Number(value).toExponential().split("e") as [string, string];
  if (Math.abs(digits === "1" || digits === "-1" ? Number(exponent) : 0) < 4) return String(value);
  return `${digits.replace("1", "")}10${[...exponent.replace("+", "")].map((digit) => SUPERSCRIPT[digit]).join("")}`;
}
const SUPERSCRIPT: Readonly<Record<string, string>> = Object.fromEntries(
  [..."-0123456789"].map((digit, i) => [digit, [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"][i]!]),
);

const oneLine = (text: unknown): string => String(text).replaceAll("\n", " ").replaceAll("|", "\\|");
