/**
 * `scenes/schema.json` from the types of shared/scene/scene.ts; `npm run schema` writes it. The unions of
 * ts-json-schema-generator only report that no member matches. Here `if` and `then` select the intended member, for
 * better errors.
 */
import { createGenerator } from "ts-json-schema-generator";
import { presetsOf } from "../../../shared/scene/materialPresets.ts";

/** A JSON Schema, or a part of one. */
export interface Part {
  [keyword: string]: unknown;
  $ref?: string;
  anyOf?: Part[];
  properties: Record<string, Part>;
  required: string[];
}
export type Definitions = Record<string, Part>;

/** @returns the types of a scene file as a JSON Schema: unions as `anyOf`, fields with their defaults and limits */
export function sceneTypes(): Part & { definitions: Definitions } {
  return createGenerator({
    path: "shared/scene/scene.ts",
    tsconfig: "tests/shared/scene/sceneSchema.tsconfig.json", // without TypeScript's library, which takes 4 s to read
    type: "Scene",
    expose: "all",
    topRef: false,
    sortProps: false,
    skipTypeCheck: true,
    schemaId: "pliant-scene-1",
    extraTags: ["oneOf"],
  }).createSchema("Scene") as unknown as Part & { definitions: Definitions };
}

/** @returns the text of scenes/schema.json */
export function sceneSchema(): string {
  const schema = JSON.parse(JSON.stringify(sceneTypes(), plain)) as { definitions: Definitions };
  choose(schema, schema.definitions);
  nameMaterial(schema.definitions.SoftBody!.properties, presetsOf("soft"));
  nameMaterial(schema.definitions.ClothBody!.properties, presetsOf("cloth"));
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** A replacer of JSON.stringify: messages name a wrong value instead of its type, and the first missing field. */
function plain(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("const" in value || "enum" in value) return { ...value, type: undefined };
  const { properties, required } = value as Partial<Part>;
  return properties && required
    ? { ...value, required: Object.keys(properties).filter((field) => required.includes(field)) }
    : value;
}

const choice = (condition: object, then: object, otherwise?: object) => ({ if: condition, then, else: otherwise });

/** Turns unions in a part and below into choices. @param part inout */
function choose(part: object, definitions: Definitions): void {
  for (const below of Object.values(part)) if (typeof below === "object" && below) choose(below, definitions);
  const { anyOf } = part as Part;
  if (!anyOf) return;
  delete (part as Part).anyOf;
  const members = anyOf.map((member) => (member.$ref ? definitions[member.$ref.split("/").at(-1)!]! : member));
  Object.assign(part, byTag(anyOf, members) ?? byOwnField(anyOf, members));
}

/**
 * Choice among members that one field distinguishes. Common properties appear once, and are checked for every member.
 * @param parts the members, or references to them
 * @param members inout
 */
function byTag(parts: readonly Part[], members: readonly Part[]): object | undefined {
  const same = (field: string): boolean => new Set(members.map((m) => JSON.stringify(m.properties[field]))).size === 1;
  const fields = Object.keys(members[0]!.properties).filter((field) => members.every((m) => field in m.properties));
  const valuesOf = ({ properties }: Part, field: string): unknown[] => {
    const { const: one, enum: some = [one] } = properties[field]!;
    return some as unknown[];
  };
  const tag = fields.find((field) => !same(field) && !members.some((m) => valuesOf(m, field)[0] === undefined));
  if (tag === undefined) return undefined;
  const properties: Record<string, unknown> = { [tag]: { enum: members.flatMap((m) => valuesOf(m, tag)) } };
  const required = members[0]!.required.filter((field) => members.every((m) => m.required.includes(field)));
  const allOf = members.map((member, i) =>
    // A member whose tag may be absent is the choice if it is absent.
    choice(
      { required: member.required.filter((field) => field === tag), properties: { [tag]: member.properties[tag] } },
      parts[i]!,
    ),
  );
  const common = fields.filter(same);
  for (const field of common) properties[field] = members[0]!.properties[field]!;
  for (const member of members) {
    member.required = member.required.filter((field) => !required.includes(field));
    delete member.type;
    for (const field of [tag, ...common]) member.properties[field] = {} as Part;
  }
  return { type: "object", required, properties, allOf };
}

/** Choice among members all of which except the last have a field of their own. */
function byOwnField([part, ...parts]: readonly Part[], [member, ...members]: readonly Part[]): object {
  if (members.length === 0) return part!;
  const own = member!.required.find((field) => !members.some(({ properties }) => field in properties));
  return { type: "object", ...choice({ required: [own] }, part!, byOwnField(parts, members)) };
}

/**
 * A material may be a preset's name, or a preset with changed fields: shared/scene/namedMaterials.ts. @param body inout
 */
function nameMaterial(body: Part["properties"], presets: readonly string[]): void {
  const names = { enum: presets };
  const named = choice({ type: "object", required: ["preset"] }, { properties: { preset: names } }, body.material);
  body.material = choice({ type: "string" }, names, named) as unknown as Part;
}
