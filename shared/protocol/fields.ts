/**
 * Descriptions of messages, one beside each codec in messages/. PROTOCOL.md's tables, docs/protocol.json and the role
 * checks of rooms are derived from them.
 */
import type { Role } from "../members/roles.ts";

/** One field of a message, of a map or of a row. */
export interface Field {
  name: string;
  type: "integer" | "number" | "string" | "boolean" | "bin" | "map" | "list" | "any";
  optional?: true;
  /** nil stands for "none". */
  nullable?: true;
  /** Fields of a map; absent: any map. */
  fields?: Field[];
  /** Element type of a list. */
  items?: Field;
  /** Elements of a list, in this order. */
  row?: Field[];
  /** Allowed values in words, for PROTOCOL.md. */
  range?: string;
}

export interface MessageDescription {
  /** After the number of the message, in this order. */
  fields: Field[];
  /** Effect of a request, or content of a server message, for PROTOCOL.md. */
  meaning: string;
}

export interface RequestDescription extends MessageDescription {
  /** Least role that may send it. Absent: any. */
  leastRole?: Role;
  /** Only for owners while the room's `ownersOnly` is set. */
  ownersOnly?: true;
  /** Limited by a rate of its own, because it is no input of the simulation. */
  presence?: true;
}

const of =
  (type: Field["type"]) =>
  (names: string, range?: string): Field[] =>
    names.split(" ").map((name) => ({ name, type, ...(range !== undefined && { range }) }));
export const integer = /* @__PURE__ */ of("integer");
export const number = /* @__PURE__ */ of("number");
export const string = /* @__PURE__ */ of("string");
export const boolean = /* @__PURE__ */ of("boolean");
export const any = /* @__PURE__ */ of("any");
export const bin = /* @__PURE__ */ of("bin");
export const optional = (fields: Field[]): Field[] => fields.map((field) => ({ ...field, optional: true }));
export const nullable = (fields: Field[]): Field[] => fields.map((field) => ({ ...field, nullable: true }));
/** A map; without fields any map. */
export const map = (name: string, fields?: Field[]): Field => ({ name, type: "map", ...(fields && { fields }) });
/** A list of lists. */
export const rows = (name: string, row: Field[]): Field => ({
  name,
  type: "list",
  items: { name: "row", type: "list", row },
});
/** A list of these elements, in this order. */
export const tuple = (name: string, row: Field[], range?: string): Field => ({
  name,
  type: "list",
  row,
  ...(range !== undefined && { range }),
});
/** A map of optional fields at the end of a message, which may be absent. */
export const options = (fields: Field[]): Field => ({ ...map("options", optional(fields)), optional: true });

export const grab = (): Field[] => integer("grab", "0 to 65535, chosen by the client, unique among its grabs");
export const body = (): Field[] => integer("body", "index into the topology's `bodies`");
export const surfacePoint = (): Field[] => [
  ...body(),
  ...integer("triangle", "index into that body's `triangles` (points: the point's number)"),
  ...number("u v", "barycentric: the point is (1-u-v) a + u b + v c; u >= 0, v >= 0, u + v <= 1, within 0.001"),
];
export const point = (): Field[] => number("x y z", "m; at most `welcome.limits.reach` from the world's origin");
export const member = (): Field[] => integer("member", "a member's number, from `members`");
export const request = (): Field[] =>
  integer(
    "request",
    "0 to 2147483647, chosen by the client. The server answers with `done`, or with a notice with the same `request` in its `details`. Absent: no answer",
  );
