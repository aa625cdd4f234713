/** Strings in messages are strict UTF-8, wherever they stand in the msgpack. */
import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MalformedMessage, parseClientMessage } from "../../../shared/protocol/fromClient.ts";
import { findInvalidText } from "../../../shared/protocol/utf8.ts";

const INVALID: [string, string][] = [
  ["ff fe", "fffe"],
  ["an overlong NUL", "c080"],
  ["an overlong slash of three bytes", "e080af"],
  ["an overlong slash of four bytes", "f08080af"],
  ["a lone surrogate", "eda080"],
  ["a surrogate pair as two characters", "eda080edb080"],
  ["a character beyond U+10FFFF", "f4908080"],
  ["a lone continuation byte", "41bf"],
  ["a truncated character", "41e282"],
  ["Latin-1", "e9e8"],
];

/** The string with each head that msgpack has for its length. */
function texts(hex: string): Buffer[] {
  const bytes = Buffer.from(hex, "hex");
  const long = Buffer.alloc(4);
  long.writeUInt32BE(bytes.length);
  return [
    Buffer.from([0xa0 + bytes.length]),
    Buffer.from([0xd9, bytes.length]),
    Buffer.from([0xda, 0, bytes.length]),
    Buffer.concat([Buffer.from([0xdb]), long]),
  ].map((head) => Buffer.concat([head, bytes]));
}

describe.each(INVALID)("%s", (_name, hex) => {
  test("is found behind every other kind of value, and nested", () => {
    // nil, integers and floats of all widths, bin, extensions of all widths
    const before = Buffer.from(
      "c0c2c3007fe0ff" +
        "cc01cd0001ce00000001cf0000000000000001d0ffd1ffffd2ffffffffd3ffffffffffffffff" +
        "ca3f800000cb3ff0000000000000" +
        "c402fffec50002fffec600000002fffe" +
        "d401ffd501ffffd601ffffffffd701ffffffffffffffffd801ffffffffffffffffffffffffffffffff" +
        "c70201ffffc8000201ffffc90000000201ffff",
      "hex",
    );
    for (const text of texts(hex)) {
      expect(findInvalidText(Buffer.concat([before, text]))).toBe(before.length);
      expect(findInvalidText(Buffer.concat([Buffer.from([0x91, 0x81, 0xa1, 0x61]), text]))).toBe(4);
      expect(findInvalidText(Buffer.concat([Buffer.from([0xdc, 0, 1, 0xde, 0, 1]), text, Buffer.from([1])]))).toBe(6);
      expect(findInvalidText(Buffer.concat([Buffer.from([0xdd, 0, 0, 0, 1, 0xdf, 0, 0, 0, 1]), text]))).toBe(10);
    }
  });

  test("makes every message malformed: as a name, a password, a kind, in data, as a key, in an unknown message", () => {
    const map = (key: string, text: Buffer): Buffer =>
      Buffer.concat([Buffer.from([0x81, 0xa0 + key.length]), Buffer.from(key), text]);
    for (const text of texts(hex)) {
      const messages = [
        [0x93, 1, 2, ...map("name", text)],
        [0x93, 1, 2, ...map("password", text)],
        [0x93, 1, 2, 0x81, ...text, 0xc0],
        [0x92, 13, ...map("password", text)],
        [0x93, 14, ...text, 0xc0],
        [0x93, 14, 0xa1, 0x6b, 0x91, ...text],
        [0x92, 63, ...text],
      ];
      for (const message of messages)
        expect(() => parseClientMessage(Uint8Array.from(message))).toThrow(MalformedMessage);
    }
  });
});

test("UTF-8 passes in every place and width, and so do bytes that are no text", () => {
  const leaf = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }),
    fc.double(),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree")),
      fc.dictionary(fc.string({ unit: "binary" }), tie("tree")),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      expect(findInvalidText(encode(value))).toBe(-1);
    }),
    { seed: 43, numRuns: 500 },
  );
});

test("truncated heads and contents end the search", () => {
  for (const hex of ["d9", "da00", "db000000", "c4", "c60000", "dc", "c70102", "a5", "cb00"])
    expect([hex, findInvalidText(Buffer.from(hex, "hex"))]).toEqual([hex, -1]);
  expect(findInvalidText(Buffer.from("dbffffffff41c3", "hex"))).toBe(0);
});
