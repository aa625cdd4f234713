/**
 * docs/protocol.json, PROTOCOL.md and the codecs agree: the code generates the file, its fields are those of the page,
 * and both ends and the decoder written from the page read its vectors.
 */
import { readFileSync } from "node:fs";
import { decode } from "@msgpack/msgpack";
import { describe, expect, test } from "vitest";
import { parseServerMessage } from "../../shared/protocol/fromServer.ts";
import { MalformedMessage, parseClientMessage } from "../../shared/protocol/fromClient.ts";
import { createSnapshotModel, decodeDelta, decodeKeyframe } from "../../shared/snapshot/index.ts";
import { referenceDecode } from "../shared/snapshot/referenceDecoder.ts";
import type { Field } from "../../shared/protocol/fields.ts";
import { asJson, PROTOCOL_FILE, protocolFile, type Vector } from "./protocolFile.ts";
import { PROTOCOL_PAGE, SDK_PAGE, SDK_PARTS, withTables } from "./protocolTables.ts";

const page = readFileSync(PROTOCOL_PAGE, "utf8");
const file = JSON.parse(readFileSync(PROTOCOL_FILE, "utf8")) as {
  messages: Record<"client" | "server", { type: number; name: string; fields: Field[] }[]>;
  vectors: {
    messages: Record<"client" | "server", Vector[]>;
    malformed: { why: string; hex: string }[];
    frames: { bodies: { count: number; triangles: number[] }[]; frames: { hex: string; positions: number[] }[] }[];
  };
};
const bytesOf = (hex: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(hex, "hex"));

test("the file is up to date (node tests/server/protocolFile.ts writes it)", () => {
  expect(file).toEqual(JSON.parse(JSON.stringify(protocolFile())));
});

test("the tables of the pages are up to date (node tests/server/protocolFile.ts writes them)", () => {
  expect(page).toBe(withTables(page));
  const sdk = readFileSync(SDK_PAGE, "utf8");
  expect(sdk).toBe(withTables(sdk, SDK_PARTS));
});

describe.each(["client", "server"] as const)("messages of the %s", (side) => {
  test("have a vector each, which has the stated content and matches the fields", () => {
    const named = new Set(file.vectors.messages[side].map(({ name }) => name));
    expect(named).toEqual(new Set(file.messages[side].map(({ name }) => name)));
    for (const { name, hex, message } of file.vectors.messages[side]) {
      const [type, ...values] = decode(bytesOf(hex)) as unknown[];
      expect(asJson([type, ...values])).toEqual(message);
      const known = file.messages[side].find((one) => one.name === name)!;
      expect(type).toBe(known.type);
      expect([name, misfits(known.fields, values)]).toEqual([name, []]);
    }
  });
});

test("the server reads the client's vectors, and the client the server's", () => {
  for (const { name, hex } of file.vectors.messages.client) expect(parseClientMessage(bytesOf(hex))?.type).toBe(name);
  for (const { name, hex } of file.vectors.messages.server)
    expect(parseServerMessage(bytesOf(hex).buffer)?.type).toBe(name);
});

test("messages that are malformed according to the file are malformed to the server", () => {
  expect(file.vectors.malformed.length).toBeGreaterThan(5);
  for (const { why, hex } of file.vectors.malformed)
    expect(() => parseClientMessage(bytesOf(hex)), why).toThrow(MalformedMessage);
});

test("frames decode to the positions of the file, by the codec and by the decoder made from the page", () => {
  for (const { bodies: listed, frames } of file.vectors.frames) {
    const bodies = listed.map(({ count, triangles }) => ({ count, triangles: Uint32Array.from(triangles) }));
    const model = createSnapshotModel(bodies);
    let previous: Int32Array | null = null;
    for (const { hex, positions } of frames) {
      const bytes = bytesOf(hex);
      const decoded = new Int32Array(positions.length);
      if (previous === null) decodeKeyframe(model, bytes, decoded);
      else decodeDelta(model, previous, bytes, decoded);
      expect([...decoded]).toEqual(positions);
      expect([...referenceDecode(bodies, previous, bytes).frame]).toEqual(positions);
      previous = Int32Array.from(positions);
    }
  }
});

/** Names of fields whose values do not match. */
function misfits(fields: readonly Field[], values: readonly unknown[]): string[] {
  return [
    ...fields.flatMap((field, i) => (fits(field, values[i]) ? [] : [field.name])),
    ...(values.length > fields.length ? ["more values than fields"] : []),
  ];
}

function fits(field: Field, value: unknown): boolean {
  if (value === undefined) return field.optional === true;
  if (field.type === "any") return true;
  if (value === null) return field.nullable === true;
  const { type, fields, items, row } = field;
  if (type === "integer") return Number.isInteger(value);
  if (type === "bin") return value instanceof Uint8Array;
  if (type === "list") {
    if (!Array.isArray(value)) return false;
    return row ? misfits(row, value).length === 0 : value.every((one) => fits(items!, one));
  }
  if (type !== "map") return typeof value === type;
  if (typeof value !== "object" || Array.isArray(value)) return false;
  const map = value as Record<string, unknown>;
  const known = fields?.map(({ name }) => name) ?? Object.keys(map);
  return (
    Object.keys(map).every((key) => known.includes(key)) && (fields ?? []).every((one) => fits(one, map[one.name]))
  );
}
