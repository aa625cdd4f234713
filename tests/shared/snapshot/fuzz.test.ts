/**
 * The decoder accepts any bytes safely: they give a frame with a matching checksum, or a SnapshotError, in bounded
 * time, and only `out` is written.
 */
import { expect, test } from "vitest";
import {
  SnapshotError,
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  encodeDelta,
  encodeKeyframe,
} from "../../../shared/snapshot/index.ts";
import { dust, grid, move, random, sheet } from "./meshes.ts";

const model = createSnapshotModel([grid(9), dust(3)]);
const size = 3 * model.total;
const start = new Int32Array(size);
start.set(sheet(9, 40, 1));

/** The decoded frame, or null; any error except a SnapshotError fails the test. */
function attempt(bytes: Uint8Array, previous: Int32Array | null): Int32Array | null {
  const guarded = new Int32Array(size + 20).fill(0x5a5a5a5a);
  const before = [bytes.slice(), previous?.slice()];
  let decoded = true;
  try {
    if (previous === null) decodeKeyframe(model, bytes, guarded.subarray(10, 10 + size));
    else decodeDelta(model, previous, bytes, guarded.subarray(10, 10 + size));
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    decoded = false;
  }
  expect([bytes, previous ?? undefined]).toEqual(before);
  expect([...guarded.subarray(0, 10), ...guarded.subarray(10 + size)].every((x) => x === 0x5a5a5a5a)).toBe(true);
  return decoded ? guarded.slice(10, 10 + size) : null;
}

test("random bytes", () => {
  const next = random(11);
  let accepted = 0;
  for (let run = 0; run < 3000; run++) {
    const bytes = Uint8Array.from({ length: Math.floor(next() * 300) }, () => Math.floor(next() * 256));
    if (run % 3 !== 0) bytes[0] = run % 3 === 1 ? 0x21 : 0x22;
    if (attempt(bytes, run % 2 === 0 ? null : start) !== null) accepted++;
  }
  // A 16 bit checksum lets one in 65,536 through.
  expect(accepted).toBeLessThan(3);
});

test("good frames with bytes changed, cut, added or exchanged", () => {
  const next = random(12);
  let wrong = 0;
  let longer = 0;
  for (let run = 0; run < 3000; run++) {
    const current = move(start, [2, -3, 0], 3, next);
    const good = run % 2 === 0 ? encodeKeyframe(model, current) : encodeDelta(model, start, current);
    const at = Math.floor(next() * good.length);
    const bad = [
      () => good.map((b, i) => (i === at ? b ^ (1 << Math.floor(next() * 8)) : b)),
      () => good.slice(0, at),
      () => Uint8Array.from([...good, 1 + Math.floor(next() * 255)]),
      () => Uint8Array.from([...good.subarray(0, at), ...good.subarray(at + 1)]),
    ][run % 4]();
    const frame = attempt(bad, run % 2 === 0 ? null : start);
    // The last byte has several values that mean the same frame.
    if (frame?.some((x, i) => x !== current[i])) wrong++;
    // So has the byte before omitted zeros.
    if (frame !== null && bad.length > good.length) longer++;
  }
  expect(wrong).toBeLessThan(3);
  expect(longer).toBeLessThan(20);
});

test("the decoding time of any bytes is bounded by the model, not by their length", () => {
  const big = createSnapshotModel([grid(61)]);
  const out = new Int32Array(3 * big.total);
  for (const fill of [0x00, 0xff, 0xaa, 0x01]) {
    for (const length of [2_000_001, 100_001]) {
      const bytes = new Uint8Array(length).fill(fill);
      bytes[0] = 0x22;
      const began = process.cpuUsage();
      expect(() => decodeDelta(big, new Int32Array(out.length), bytes, out)).toThrow(SnapshotError);
      expect(process.cpuUsage(began).user).toBeLessThan(1e6); // us
    }
  }
});

test("errors name the reason", () => {
  const out = new Int32Array(size);
  const key = encodeKeyframe(model, start);
  const delta = encodeDelta(model, start, move(start, [1, 1, 1], 2, random(1)));
  expect(() => decodeKeyframe(model, new Uint8Array(2), out)).toThrow("frame has 2 bytes, must have at least 7");
  expect(() => decodeKeyframe(model, delta, out)).toThrow("frame is of kind 34, must be 33");
  expect(() => decodeKeyframe(model, Uint8Array.from([...key, 0]), out)).toThrow(
    `frame has ${key.length + 1} bytes, must have an odd number of them`,
  );
  expect(() => decodeKeyframe(model, Uint8Array.from([...key, 9, 9, 9, 9]), out)).toThrow(
    "frame cannot be decoded: the bytes do not end with the last particle",
  );
  expect(() => decodeKeyframe(model, Uint8Array.from([...key, ...new Uint8Array(99_998)]), out)).toThrow(
    /^frame has \d+ bytes, must have at most \d+$/,
  );
});

test("a delta against another frame than its own is noticed", () => {
  const next = random(3);
  const second = move(start, [1, 0, 0], 1, next);
  const third = move(second, [1, 0, 0], 1, next);
  const delta = encodeDelta(model, second, third);
  expect(() => decodeDelta(model, start, delta, new Int32Array(size))).toThrow(SnapshotError);
});
