/**
 * Data of a client over a forwarded socket: messages may be rewritten, however they are split, and the rest is
 * unchanged.
 */
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ClientStream, type Rewrite } from "../../../server/cluster/clientStream.ts";

function frame(opcode: number, payload: Uint8Array, final = true): Buffer {
  const mask = Buffer.from([0x12, 0x34, 0x56, 0x78]);
  const length = payload.length;
  const head = [(final ? 0x80 : 0) | opcode, 0x80 | (length < 126 ? length : 126)];
  if (length >= 126) head.push(length >> 8, length & 255);
  return Buffer.concat([Buffer.from(head), mask, payload.map((byte, i) => byte ^ mask[i & 3]!)]);
}

/** Output for these pieces of input, and the messages that were offered for rewriting. */
async function through(pieces: Buffer[], rewrite: Rewrite): Promise<{ out: Buffer; seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const inner = new ClientStream((message, first) => {
    expect(first).toBe(seen.length === 0);
    seen.push(Buffer.from(message));
    return rewrite(message, first);
  });
  const out = buffer(inner.pipe(new PassThrough()));
  for (const piece of pieces) inner.write(piece);
  inner.end();
  return { out: await out, seen };
}

/** Frames of a client as its peer decodes them. */
function read(bytes: Buffer): { opcode: number; payload: Buffer }[] {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 1]! & 0x7f;
    const mask = at + (short === 126 ? 4 : 2);
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    const payload = Buffer.from(bytes.subarray(mask + 4, mask + 4 + length)).map(
      (byte, i) => byte ^ bytes[mask + (i & 3)]!,
    );
    frames.push({ opcode: bytes[at]!, payload: Buffer.from(payload) });
    at = mask + 4 + length;
  }
  return frames;
}

const cut = (bytes: Buffer, places: number[]): Buffer[] => {
  const ends = [...new Set(places.map((place) => place % bytes.length)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)).filter((piece) => piece.length > 0);
};

test("messages in up to eight fragments with pongs in between are offered whole, and are rewritten or unchanged", async () => {
  const fragments = fc.array(fc.uint8Array({ maxLength: 500 }), { minLength: 1, maxLength: 8 });
  const messages = fc.array(fc.tuple(fragments, fc.option(fc.uint8Array({ maxLength: 4000 }))), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.nat(), { maxLength: 9 }), async (said, places) => {
      const pong = frame(0xa, Buffer.from("still here"));
      const framed = said.map(([parts]) => parts.map((part, i) => frame(i ? 0 : 2, part, i === parts.length - 1)));
      const sent = Buffer.concat(framed.flat().flatMap((bytes) => [pong, bytes]));
      const instead = said.map(([, other]) => other);
      let asked = 0;
      const { out, seen } = await through(cut(sent, places), () => {
        const other = instead[asked++]!;
        return other && Promise.resolve(other);
      });
      expect(seen).toEqual(said.map(([parts]) => Buffer.concat(parts)));
      const [pongs, others] = [true, false].map((isPong) =>
        read(out).filter(({ opcode }) => (opcode === 0x8a) === isPong),
      );
      expect(pongs).toHaveLength(framed.flat().length);
      expect(others).toEqual(
        said.flatMap(([, other], i) =>
          other ? [{ opcode: 0x82, payload: Buffer.from(other) }] : read(Buffer.concat(framed[i]!)),
        ),
      );
    }),
    { numRuns: 300 },
  );
});

test("without rewriting all bytes are unchanged", async () => {
  const sent = Buffer.concat([frame(2, Buffer.from("hello")), frame(2, Buffer.from("more"))]);
  const { out, seen } = await through([sent], () => null);
  expect([out.equals(sent), seen.length]).toEqual([true, 2]);
});

test.each<[string, Buffer]>([
  ["text", frame(1, Buffer.from("hello"))],
  ["a continuation without a start", frame(0, Buffer.from("hello"))],
  ["no mask", Buffer.from([0x82, 1, 65, 0x82, 1, 65])],
  ["reserved bits", Buffer.from([0xc2, 0x81, 0, 0, 0, 0, 65])],
  ["a length of 64 bits", Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])],
  ["more than 4,096 bytes", frame(2, Buffer.alloc(4097))],
  [
    "more than eight fragments",
    Buffer.concat(Array.from({ length: 9 }, (_, i) => frame(i ? 0 : 2, Buffer.alloc(1), false))),
  ],
  ["pongs alone", Buffer.concat(Array.from({ length: 200 }, () => frame(0xa, Buffer.alloc(120))))],
  ["an end before the message is complete", frame(2, Buffer.from("hello")).subarray(0, 9)],
])("%s passes unchanged, without being offered", async (_what, sent) => {
  const { out, seen } = await through(cut(sent, [3, 7]), async () => Buffer.alloc(0));
  expect(out.equals(sent)).toBe(true);
  expect(seen).toEqual([]);
});
