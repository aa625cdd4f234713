/** Tables of messages in PROTOCOL.md, from the descriptions in shared/protocol/messages. */
import { fileURLToPath } from "node:url";
import type { Field, MessageDescription, RequestDescription } from "../../shared/protocol/fields.ts";
import { ClientMessage, REQUEST_DESCRIPTIONS } from "../../shared/protocol/fromClient.ts";
import { MESSAGE_DESCRIPTIONS, ServerMessage } from "../../shared/protocol/fromServer.ts";

export const PROTOCOL_PAGE = fileURLToPath(new URL("../../PROTOCOL.md", import.meta.url));

const END = "<!-- end of messages -->";
/** Generated parts of the page by the comment before each. */
const PARTS: Readonly<Record<string, () => string>> = {
  "<!-- messages of the client: node tests/server/protocolFile.ts writes them -->": () =>
    `${requestTable()}\n${fieldTable()}`,
  "<!-- messages of the server: node tests/server/protocolFile.ts writes them -->": () => messageTable(),
};

/** @returns PROTOCOL.md with its generated parts renewed. @throws Error if a part is missing */
export function withTables(page: string): string {
  return Object.entries(PARTS).reduce((text, [start, part]) => {
    const from = text.indexOf(start);
    const to = text.indexOf(END, from);
    if (from < 0 || to < 0) throw new Error(`PROTOCOL.md: no part from ${start} to ${END}`);
    return `${text.slice(0, from + start.length)}\n\n${part()}\n${text.slice(to)}`;
  }, page);
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |\n`.replaceAll(" |  |", " | |");

const each = <T extends MessageDescription>(numbers: object, of: Record<string, T>): [number, string, T][] =>
  Object.entries(numbers).map(([name, type]) => [type as number, name, of[name]!]);

function requestTable(): string {
  const least = ({ leastRole = "spectator", ownersOnly }: RequestDescription): string =>
    ownersOnly ? `${leastRole}*` : leastRole;
  const messages = each<RequestDescription>(ClientMessage, REQUEST_DESCRIPTIONS).map(([type, name, of]) =>
    row([type, `\`${name}\``, cellOf(of.fields), least(of), of.meaning]),
  );
  return `${row(["type", "name", "fields", "least role", "meaning"])}${row(["---", "---", "---", "---", "---"])}${messages.join("")}`;
}

function messageTable(): string {
  const messages = each(ServerMessage, MESSAGE_DESCRIPTIONS).map(([type, name, { fields, meaning }]) =>
    row([type, `\`${name}\``, cellOf(fields), meaning]),
  );
  return `${row(["type", "name", "fields", "meaning"])}${row(["---", "---", "---", "---"])}${messages.join("")}`;
}

/** Types and ranges of the client's fields. Neighbors with the same range share a row. */
function fieldTable(): string {
  const rows: { names: string[]; type: string; range: string }[] = [];
  const known = new Map<string, string>();
  for (const [message, { fields }] of Object.entries(REQUEST_DESCRIPTIONS))
    for (const { name, type, nullable, row: inner, range } of fields.flatMap(inside)) {
      if (range === undefined || known.get(name) === range) continue;
      const shown = known.has(name) ? `${name} in \`${message}\`` : name;
      if (!known.has(name)) known.set(name, range);
      const kind = inner
        ? `[${inner.map((one) => one.name).join(", ")}]`
        : nullable && name !== "x"
          ? `${type} or nil`
          : type;
      const last = rows.at(-1);
      if (last?.range === range && last.type === kind) last.names.push(shown);
      else rows.push({ names: [shown], type: kind, range });
    }
  const body = rows.map(({ names, type, range }) => row([names.join(", "), type, range]));
  return `${row(["field", "type", "range"])}${row(["---", "---", "---"])}${body.join("")}`;
}

const inside = (field: Field): Field[] => field.fields ?? [field];

/** Fields of a message, as a cell of a table. */
function cellOf(fields: readonly Field[]): string {
  if (fields.some(({ name, nullable: none }) => name === "x" && none)) return "x, y, z or nil";
  const cells = fields.map(inCell).join(", ");
  const last = fields.at(-1);
  return last?.type === "map" && last.optional ? `${cells} (the map may be absent)` : cells;
}

function inCell({ name, type, fields, items, row: inner }: Field): string {
  if (type === "map" && fields)
    return `{${fields.map((field) => field.name + (field.optional ? "?" : "")).join(", ")}}`;
  if (items?.row)
    return `[[${items.row.map((field) => (field.items ? inCell(field) : field.name + (field.optional ? "?" : ""))).join(", ")}], ...]`;
  return type === "list" && items && !inner ? `[${items.name}, ...]` : name;
}
