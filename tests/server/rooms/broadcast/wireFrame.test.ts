/** WebSocket frames made once for many clients equal those of the WebSocket library, and its receiver reads them. */
import { Duplex, type Writable } from "node:stream";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as ws from "ws";
import { wireFrames } from "../../../../server/rooms/broadcast/wireFrame.ts";

/** Parts of `ws` that its types leave out. */
const { Receiver, Sender } = ws as unknown as {
  Receiver: new (options: { isServer: boolean; binaryType: string }) => Writable;
  Sender: new (line: Duplex) => { send(payload: Uint8Array, options: Record<string, boolean>): void };
};

/** Bytes that `ws` writes for one binary message of a server. */
function sentByLibrary(payload: Uint8Array): Buffer {
  const written: Buffer[] = [];
  const line = new Duplex({
    write: (chunk: Buffer, _, done) => {
      written.push(chunk);
      done();
    },
    read: () => {},
  });
  new Sender(line).send(payload, { fin: true, binary: true, mask: false, compress: false });
  return Buffer.concat(written);
}

/** Lengths on both sides of each change of the header's form. */
const LENGTHS = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];
const message = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (31 * i + length) & 255);

test.each(LENGTHS)("a message of %i bytes", (length) => {
  expect(wireFrames([message(length)]).equals(sentByLibrary(message(length)))).toBe(true);
});

test("several messages in one write arrive as several, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(...LENGTHS).map(message)), {
        minLength: 1,
        maxLength: 4,
      }),
      async (messages) => {
        const receiver = new Receiver({ isServer: false, binaryType: "nodebuffer" });
        const received: Buffer[] = [];
        receiver.on("message", (data: Buffer, isBinary: boolean) => {
          expect(isBinary).toBe(true);
          received.push(Buffer.from(data));
        });
        await new Promise<void>((resolve, reject) =>
          receiver.write(wireFrames(messages), (error) => (error ? reject(error) : resolve())),
        );
        await new Promise((resolve) => setImmediate(resolve));
        while (received.length < messages.length) await new Promise((resolve) => setImmediate(resolve));
        expect(received.map((data) => [...data])).toEqual(messages.map((data) => [...data]));
      },
    ),
    { numRuns: 40 },
  );
});
