/**
 * The compiled coder and its readable twin write the same bytes and read the same integers, for any topology and any
 * frame. The twin follows the format's text; the compiled coder is used at run time.
 */
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { COORDINATE_LIMIT, HEADER_BYTES, SnapshotError, frameChecksum } from "../../../shared/snapshot/format.ts";
import { createSnapshotModel, encodeKeyframe } from "../../../shared/snapshot/index.ts";
import { kernelOf } from "../../../shared/snapshot/kernel.ts";
import type { SnapshotModel } from "../../../shared/snapshot/model.ts";
import { decodeFrame, encodeFrame } from "../../../shared/snapshot/twin.ts";
import { dust, fan, grid, move, random, sheet, soup } from "./meshes.ts";

/** Result of decoding bytes that may be invalid. */
function outcome(decode: (out: Int32Array) => void, model: SnapshotModel): number[] | "refused" {
  const out = new Int32Array(3 * model.total);
  try {
    decode(out);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    return "refused";
  }
  return [...out];
}

function compare(model: SnapshotModel, previous: Int32Array | null, current: Int32Array): Uint8Array {
  const kernel = kernelOf(model)!;
  const bytes = kernel.encode(previous, current, HEADER_BYTES);
  expect(kernel.checksum()).toBe(frameChecksum(current));
  expect(bytes).toEqual(encodeFrame(model, previous, current));
  const out = new Int32Array(current.length);
  kernel.decode(previous, bytes.subarray(HEADER_BYTES), out);
  expect(out).toEqual(current);
  expect(kernel.checksum()).toBe(frameChecksum(current));
  out.fill(7);
  decodeFrame(model, previous, bytes, out);
  expect(out).toEqual(current);
  return bytes;
}

test("the compiled coder is available", () => {
  expect(kernelOf(createSnapshotModel([grid(3)]))).toBeDefined();
});

test("a page whose policy forbids WebAssembly loads the twin, and decodes the same frames", async () => {
  const frame = sheet(5, 28, 3);
  const keyframe = encodeKeyframe(createSnapshotModel([grid(5)]), frame);
  const compile = vi.spyOn(WebAssembly, "compile").mockRejectedValue(new Error("forbidden"));
  vi.resetModules();
  const { decodeKeyframe, decoderReady } = await import("../../../shared/snapshot/decode.ts");
  await decoderReady;
  compile.mockRestore();
  // the files after this one must not get these modules
  vi.resetModules();
  const out = new Int32Array(frame.length);
  decodeKeyframe(createSnapshotModel([grid(5)]), keyframe, out);
  expect(out).toEqual(frame);
  keyframe[1]! ^= 1;
  expect(() => decodeKeyframe(createSnapshotModel([grid(5)]), keyframe, out)).toThrow(/checksum/);
});

test("a cloth in wild, slight and no motion", () => {
  const model = createSnapshotModel([grid(23), soup(80, 120, 4), dust(6), fan(30)]);
  const next = random(8);
  let previous: Int32Array = Int32Array.from({ length: 3 * model.total }, (_, i) =>
    i < 3 * 529 ? sheet(23, 28, 3)[i]! : Math.floor(next() * 4000),
  );
  compare(model, null, previous);
  for (const noise of [0, 0.4, 0.6, 1, 2, 5, 30, 3, 0, 500, 1e5, 2e7, 3, 0.5]) {
    const current = move(previous, [Math.round(noise), -40, 2], noise, next);
    compare(model, previous, current);
    previous = current;
  }
});

const body = fc.oneof(
  fc.integer({ min: 2, max: 7 }).map(grid),
  fc.integer({ min: 0, max: 5 }).map(dust),
  fc.integer({ min: 3, max: 20 }).map(fan),
  fc
    .tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 50 }), fc.integer())
    .map(([count, triangles, seed]) => soup(count, triangles, seed)),
);
const coordinate = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -30, max: 30 }) },
  { weight: 2, arbitrary: fc.integer({ min: -1e5, max: 1e5 }) },
  { weight: 1, arbitrary: fc.integer({ min: -COORDINATE_LIMIT, max: COORDINATE_LIMIT }) },
  { weight: 1, arbitrary: fc.constantFrom(-COORDINATE_LIMIT, COORDINATE_LIMIT) },
);

test("any frame after any frame, and any damage to its bytes", () => {
  const room = fc.array(body, { minLength: 1, maxLength: 3 }).chain((bodies) => {
    const size = 3 * bodies.reduce((sum, { count }) => sum + count, 0);
    const frame = fc.array(coordinate, { minLength: size, maxLength: size }).map((xs) => Int32Array.from(xs));
    return fc.record({
      bodies: fc.constant(bodies),
      first: frame,
      second: frame,
      damage: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 }),
    });
  });
  fc.assert(
    fc.property(room, ({ bodies, first, second, damage }) => {
      const model = createSnapshotModel(bodies);
      const kernel = kernelOf(model)!;
      for (const previous of [null, first]) {
        const bytes = compare(model, previous, second);
        for (const [at, change] of damage) {
          const place = HEADER_BYTES + (at % (bytes.length - HEADER_BYTES));
          bytes[place] = bytes[place]! ^ change;
        }
        const twin = outcome((out) => decodeFrame(model, previous, bytes, out), model);
        expect(outcome((out) => kernel.decode(previous, bytes.subarray(HEADER_BYTES), out), model)).toEqual(twin);
      }
    }),
    { numRuns: 200 },
  );
});
