/** A room's memory is a copy of its template's. Only filled chunks are read. */
import { expect, test } from "vitest";
import { copyMemory, filledOf } from "../../../../server/workers/stepping/memoryCopy.ts";

const memoryOf = (pages: number): WebAssembly.Memory =>
  new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });

test("filled parts are found to the chunk, neighbors together, and copied", () => {
  const template = memoryOf(3);
  const bytes = new Uint8Array(template.buffer);
  for (const at of [0, 8191, 8192, 20_480, bytes.length - 1]) bytes[at] = 1 + (at % 255);
  const filled = filledOf(template);
  expect([...filled]).toEqual([0, 12_288, 20_480, 24_576, bytes.length - 4096, bytes.length]);
  const copy = copyMemory(template, filled);
  expect(Buffer.compare(new Uint8Array(copy.buffer), bytes)).toBe(0);
  expect(Buffer.compare(new Uint8Array(copyMemory(template).buffer), bytes)).toBe(0);
});

test("a thread that opens a room reads only filled chunks", () => {
  const template = memoryOf(2);
  const bytes = new Uint8Array(template.buffer);
  const filled = filledOf(template);
  // A scan of the whole memory would find it.
  bytes[70_000] = 7;
  expect(new Uint8Array(copyMemory(template, filled).buffer)[70_000]).toBe(0);
});
