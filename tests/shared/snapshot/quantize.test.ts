/** Metres to integers and back, each body on its own grid. */
import { expect, test } from "vitest";
import {
  COORDINATE_LIMIT,
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  dequantizeInto,
  encodeDelta,
  encodeKeyframe,
  quantizeInto,
} from "../../../shared/snapshot/index.ts";
import { clothTrajectory } from "../../../load-tests/codec/clothTrajectory.ts";
import { dust, random } from "./meshes.ts";

test("rounds to the nearest step, halves upwards, by body", () => {
  const model = createSnapshotModel([dust(1), dust(2)]);
  const out = new Int32Array(9);
  const positions = Float32Array.from([0.25, -0.25, 0.2499, 1, -1, 0.0625, 0.03, -0.03, 0]);
  expect(quantizeInto(model, positions, [0.5, 0.0625], out)).toBe(0);
  expect([...out]).toEqual([1, 0, 0, 16, -16, 1, 0, 0, 0]);
  const back = new Float32Array(9);
  dequantizeInto(model, out, [0.5, 0.0625], back);
  expect([...back]).toEqual([0.5, 0, 0, 1, -1, 0.0625, 0, 0, 0]);
});

test("saturates, turns NaN to 0, and counts both", () => {
  const model = createSnapshotModel([dust(2)]);
  const out = new Int32Array(6);
  const bad = quantizeInto(model, Float32Array.from([Infinity, -Infinity, NaN, 1e30, -1e9, 12]), [0.001], out);
  expect(bad).toBe(5);
  expect([...out]).toEqual([COORDINATE_LIMIT, -COORDINATE_LIMIT, 0, COORDINATE_LIMIT, -COORDINATE_LIMIT, 12000]);
  const decoded = new Int32Array(6);
  decodeKeyframe(model, encodeKeyframe(model, out), decoded);
  expect(decoded).toEqual(out);
});

test("the error is at most half a step, anywhere within 100 m", () => {
  const model = createSnapshotModel([dust(20000)]);
  const next = random(4);
  const positions = Float32Array.from({ length: 60000 }, () => (next() - 0.5) * 200);
  for (const quantum of [0.0005, 0.001, 0.0000305, 0.25]) {
    const out = new Int32Array(60000);
    quantizeInto(model, positions, [quantum], out);
    let worst = 0;
    out.forEach((n, i) => {
      worst = Math.max(worst, Math.abs(n * quantum - positions[i]));
    });
    expect(worst).toBeLessThanOrEqual((quantum / 2) * (1 + 1e-9));
    expect(worst).toBeGreaterThan(quantum * 0.499);
  }
});

test("a closed loop: after 300 frames the error is still at most half a step, and the bytes are few", () => {
  const { bodies, frames } = clothTrajectory({ side: 25, seconds: 10 });
  const model = createSnapshotModel(bodies);
  const quanta = [bodies[0].quantum];
  const size = 3 * model.total;
  let previous = new Int32Array(size);
  let current = new Int32Array(size);
  const client = new Int32Array(size);
  const seen = new Float32Array(size);
  let bytes = 0;
  frames.forEach((positions, f) => {
    expect(quantizeInto(model, positions, quanta, current)).toBe(0);
    if (f === 0) decodeKeyframe(model, encodeKeyframe(model, current), client);
    else {
      const delta = encodeDelta(model, previous, current);
      bytes += delta.length;
      decodeDelta(model, client, delta, client);
    }
    [previous, current] = [current, previous];
    dequantizeInto(model, client, quanta, seen);
    let worst = 0;
    for (let i = 0; i < size; i++) worst = Math.max(worst, Math.abs(seen[i] - positions[i]));
    // float32 of a position below 2 m is rounded by up to 2^-24 m.
    expect(worst).toBeLessThanOrEqual(quanta[0] / 2 + 2 ** -24);
  });
  expect(frames.length).toBe(301);
  const perParticle = bytes / (frames.length - 1) / model.total;
  expect(perParticle).toBeGreaterThan(0.2);
  expect(perParticle).toBeLessThan(0.75);
});

test("invalid arguments are named", () => {
  const model = createSnapshotModel([dust(2)]);
  const [positions, frame] = [new Float32Array(6), new Int32Array(6)];
  expect(() => quantizeInto(model, positions, [], frame)).toThrow("quanta has 0 entries, the model has 1 bodies");
  expect(() => quantizeInto(model, positions, [0], frame)).toThrow("quanta[0] is 0, must be a positive length in m");
  expect(() => quantizeInto(model, positions, [NaN], frame)).toThrow("quanta[0] is NaN");
  expect(() => quantizeInto(model, new Float32Array(5), [1], frame)).toThrow("positions has 5 numbers, must be 6");
  expect(() => dequantizeInto(model, new Int32Array(7), [1], positions)).toThrow("frame has 7 integers, must be 6");
});
