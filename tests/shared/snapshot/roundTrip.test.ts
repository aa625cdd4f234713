/** For any frames the decoded integers equal the encoded ones. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  COORDINATE_LIMIT,
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  encodeDelta,
  encodeKeyframe,
} from "../../../shared/snapshot/index.ts";
import { dust, fan, grid, move, random, sheet, soup } from "./meshes.ts";

const body = fc.oneof(
  fc.integer({ min: 2, max: 9 }).map(grid),
  fc.integer({ min: 0, max: 12 }).map(dust),
  fc.integer({ min: 3, max: 24 }).map(fan),
  fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 60 }), fc.integer())
    .map(([count, triangles, seed]) => soup(count, triangles, seed)),
);

/** Mostly small numbers, sometimes the largest possible ones. */
const coordinate = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -50, max: 50 }) },
  { weight: 2, arbitrary: fc.integer({ min: -1e6, max: 1e6 }) },
  { weight: 1, arbitrary: fc.integer({ min: -COORDINATE_LIMIT, max: COORDINATE_LIMIT }) },
  { weight: 1, arbitrary: fc.constantFrom(-COORDINATE_LIMIT, COORDINATE_LIMIT) },
);

test("any frame after any frame", () => {
  const room = fc.array(body, { maxLength: 4 }).chain((bodies) => {
    const size = 3 * bodies.reduce((sum, { count }) => sum + count, 0);
    const frame = fc.array(coordinate, { minLength: size, maxLength: size }).map((xs) => Int32Array.from(xs));
    return fc.record({ bodies: fc.constant(bodies), first: frame, second: frame });
  });
  fc.assert(
    fc.property(room, ({ bodies, first, second }) => {
      const model = createSnapshotModel(bodies);
      const out = new Int32Array(3 * model.total).fill(-77);
      decodeKeyframe(model, encodeKeyframe(model, first), out);
      expect(out).toEqual(first);
      decodeDelta(model, first, encodeDelta(model, first, second), out);
      expect(out).toEqual(second);
    }),
    { numRuns: 300 },
  );
});

test("a long chain in place: the decoder's one array is previous and current", () => {
  const bodies = [grid(12), soup(50, 80, 9), dust(5)];
  const model = createSnapshotModel(bodies);
  const next = random(5);
  let current: Int32Array = Int32Array.from({ length: 3 * model.total }, () => Math.floor(next() * 400));
  const chain = new Int32Array(3 * model.total);
  decodeKeyframe(model, encodeKeyframe(model, current), chain);
  for (let frame = 0; frame < 200; frame++) {
    const following = move(current, [1, -frame % 30, 0], frame % 7, next);
    decodeDelta(model, chain, encodeDelta(model, current, following), chain);
    expect(chain).toEqual(following);
    current = following;
  }
});

test("frames may be in shared memory", () => {
  const model = createSnapshotModel([grid(8)]);
  const shared = (): Int32Array => new Int32Array(new SharedArrayBuffer(12 * model.total));
  const [previous, current, out] = [shared(), shared(), shared()];
  previous.set(sheet(8, 40, 1));
  current.set(sheet(8, 41, 2));
  decodeDelta(model, previous, encodeDelta(model, previous, current), out);
  expect(Array.from(out)).toEqual(Array.from(current));
});

test("encoding one room does not affect another's bytes", () => {
  const model = createSnapshotModel([grid(10)]);
  const [a, b] = [sheet(10, 40, 1), sheet(10, 40, 2)];
  const fresh = encodeDelta(model, a, b);
  encodeKeyframe(createSnapshotModel([soup(40, 60, 1)]), new Int32Array(120).fill(9000));
  encodeKeyframe(model, b);
  expect(encodeDelta(model, a, b)).toEqual(fresh);
});

test("a sleeping body costs almost nothing, and both sides keep its last positions", () => {
  const model = createSnapshotModel(Array.from({ length: 8 }, () => grid(10)));
  const still = Int32Array.from(Array.from({ length: 8 }, () => [...sheet(10, 40, 3)]).flat());
  expect(encodeDelta(model, still, still.slice())).toHaveLength(7);

  const trembling = move(still, [0, 0, 0], 1, random(1));
  const awake = encodeDelta(model, still, trembling.slice());
  expect(awake.length).toBeGreaterThan(200);
  const asleep = new Uint8Array(8).fill(1);
  const current = trembling.slice();
  expect(encodeDelta(model, still, current, asleep)).toHaveLength(7);
  expect(current).toEqual(still);

  asleep[5] = 0;
  current.set(trembling);
  const one = encodeDelta(model, still, current, asleep);
  expect(one.length).toBeLessThan(awake.length / 8 + 12);
  const out = new Int32Array(3 * model.total);
  decodeDelta(model, still, one, out);
  expect(out).toEqual(current);
  expect(out.subarray(1500, 1800)).toEqual(trembling.subarray(1500, 1800));
  expect(out.subarray(0, 1500)).toEqual(still.subarray(0, 1500));
});

test("invalid arguments are named", () => {
  const model = createSnapshotModel([grid(3)]);
  const frame = new Int32Array(27);
  const bytes = encodeKeyframe(model, frame);
  expect(() => encodeKeyframe(model, new Int32Array(26))).toThrow("current has 26 integers, must be 27");
  expect(() => encodeDelta(model, new Int32Array(30), frame)).toThrow("previous has 30 integers, must be 27");
  expect(() => encodeDelta(model, frame, frame, new Uint8Array(2))).toThrow(
    "asleep has 2 entries, the model has 1 bodies",
  );
  expect(() => decodeKeyframe(model, bytes, new Int32Array(3))).toThrow("out has 3 integers, must be 27");
  expect(() => decodeDelta(model, new Int32Array(3), bytes, frame)).toThrow("previous has 3 integers, must be 27");
  const far = frame.slice();
  far[4] = 2 ** 28;
  expect(() => encodeKeyframe(model, far)).toThrow("current[4] is 268435456, must be within +-268435455");
});
