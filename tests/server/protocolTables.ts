/**
 * Tables of PROTOCOL.md: messages from their descriptions in shared/protocol/messages, errors and notices from
 * shared/errorCodes.ts, limits and close codes from shared/protocol/protocol.ts. Table of client/sdk/README.md: error
 * codes of the package.
 */
import { fileURLToPath } from "node:url";
import { ClientErrors } from "../../client/sdk/errors.ts";
import { HttpErrors, Notices } from "../../shared/errorCodes.ts";
import type { Field, RequestDescription } from "../../shared/protocol/fields.ts";
import { ClientMessage, REQUEST_DESCRIPTIONS } from "../../shared/protocol/fromClient.ts";
import { MESSAGE_DESCRIPTIONS, ServerMessage } from "../../shared/protocol/fromServer.ts";
import { CloseCode, Limits } from "../../shared/protocol/protocol.ts";

export const PROTOCOL_PAGE = fileURLToPath(new URL("../../PROTOCOL.md", import.meta.url));
export const SDK_PAGE = fileURLToPath(new URL("../../client/sdk/README.md", import.meta.url));

/** Generated parts of PROTOCOL.md by name. */
const PARTS: Readonly<Record<string, () => string>> = {
  "messages of the client": () => `${requestTable()}\n${fieldTable()}`,
  "messages of the server": messageTable,
  errors: () =>
    table(["code", "status", "when"], HttpErrors, (code, { status, text }) => [`\`${code}\``, status, text]),
  notices: () => table(["notice", "when"], Notices, (code, { text }) => [`\`${code}\``, text]),
  limits: () =>
    table(["limit", "value", "unit and meaning"], LIMITS, (name, meaning) => [
      `\`${name}\``,
      Limits[name as keyof typeof Limits],
      meaning,
    ]),
  "close codes": () =>
    table(["code", "name", "meaning"], CLOSES, (name, meaning) => [
      CloseCode[name as keyof typeof CloseCode],
      `\`${name}\``,
      meaning,
    ]),
};

const LIMITS: Readonly<Record<keyof typeof Limits, string>> = {
  maxPayload: "bytes of a client message",
  helloTimeoutMs: "ms until `hello`",
  inputsPerSecond:
    "sustained; one count for inputs (`grab` `move` `release` `impulse` `reset` `spawn` `remove` `message` `react` `say` `tune` `dress` `pin` `unpin`, unknown types), one for presence (`cursor` `ping` `needKeyframe`, WebSocket pings and pongs)",
  inputBurst: "at once, for each of the two",
  floodBudget: "messages over these limits (recovering at 60 a second) until 4429",
  heartbeatMs: "ms between the server's pings",
  deadAfterMs: "ms of silence until the socket is closed",
  backpressureBytes: "queued bytes above which a client skips frames",
  tooSlowBytes: "queued bytes above which it is closed",
  grabsPerMember: "grabs of one member at once",
  impulsesPerSecond: "impulses of one member, in impulses of `maxImpulse`: a small one counts as a part",
  nameLength: "characters of a name",
  looksPerSecond: "changes of looks by one member, sustained; each also counts as an input",
  lookBurst: "at once, for one member",
  messageBytes: "bytes of a `message`'s data as msgpack",
  messageDepth: "levels of lists and maps in it",
  messagesPerSecond: "sustained, for one member; each also counts as an input",
  messageBurst: "at once, for one member",
  lineLength: "characters of a line of chat",
  simpleHz: "frames per second in simple mode",
  contactsPerSecond: "pairs of `contacts` of a room",
  simpleBytes: "bytes of frames per second to a member in simple mode",
  messageRoomBytes:
    "bytes of messages per second that a room sends to all members together (four times as many at once)",
};

const CLOSES: Readonly<Record<keyof typeof CloseCode, string>> = {
  normal: "left, or resumed on another socket",
  tooLarge: "a message was larger than `maxPayload`",
  restarting: "the server stops, or is cut off from its store: reconnect",
  badMessage: "a malformed message; the reason names the fault",
  tokenNeeded: "no token, an invalid one, or it has ended",
  kicked: "kicked by an owner, or banned",
  roomGone: "no such room, or it was closed",
  passwordNeeded: "no password, or a wrong one",
  helloTimeout: "no `hello` in time",
  unsupportedVersion: "the version in `hello` is unsupported; the reason names the supported one",
  heartbeatLost: "silent too long",
  locked: "the room is locked: only owners and resumed sessions enter",
  quarantined: "the room is quarantined until an operator decides; the reason says why",
  tooManyAttempts: "too many wrong passwords from this address or for this room, or too many checks under way",
  flood: "far too many messages",
  roomFull: "the room has all its members",
  tooSlow: "too many bytes are queued for this client",
};

/** Generated parts of the SDK's README. */
export const SDK_PARTS: typeof PARTS = {
  "codes of the package": () => table(["code", "when"], ClientErrors, (code, text) => [`\`${code}\``, text]),
};

/** @returns the page with its generated parts renewed. @throws Error if a part is missing */
export function withTables(page: string, parts = PARTS): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const start = `<!-- ${name}: node tests/server/protocolFile.ts writes them -->`;
    const from = text.indexOf(start);
    const to = text.indexOf(`<!-- end of ${name} -->`, from);
    if (from < 0 || to < 0) throw new Error(`no part "${name}" in the page`);
    return `${text.slice(0, from + start.length)}\n\n${part()}\n${text.slice(to)}`;
  }, page);
}

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |\n`.replaceAll(" |  |", " | |");

/** A Markdown table with a row for each entry. */
function table<T>(
  heads: readonly string[],
  entries: Readonly<Record<string, T>>,
  cells: (name: string, entry: T) => readonly (string | number)[],
): string {
  const rows = Object.entries(entries).map(([name, entry]) => row(cells(name, entry)));
  return `${row(heads)}${row(heads.map(() => "---"))}${rows.join("")}`;
}

function requestTable(): string {
  const least = ({ leastRole = "spectator", ownersOnly }: RequestDescription): string =>
    ownersOnly ? `${leastRole}*` : leastRole;
  return table(["type", "name", "fields", "least role", "meaning"], REQUEST_DESCRIPTIONS, (name, of) => [
    ClientMessage[name as keyof typeof ClientMessage],
    `\`${name}\``,
    cellOf(of.fields),
    least(of),
    of.meaning,
  ]);
}

function messageTable(): string {
  return table(["type", "name", "fields", "meaning"], MESSAGE_DESCRIPTIONS, (name, { fields, meaning }) => [
    ServerMessage[name as keyof typeof ServerMessage],
    `\`${name}\``,
    cellOf(fields),
    meaning,
  ]);
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
  return table(["field", "type", "range"], Object.fromEntries(rows.entries()), (_, { names, type, range }) => [
    names.join(", "),
    type,
    range,
  ]);
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
