/** The format's text is complete: a decoder written from it alone reads every frame that the encoder writes. */
import { expect, test } from "vitest";
import { frameChecksum } from "../../../shared/snapshot/format.ts";
import { createSnapshotModel, encodeDelta, encodeKeyframe } from "../../../shared/snapshot/index.ts";
import { dust, fan, grid, move, random, sheet, soup, type TestBody } from "./meshes.ts";
import { referenceChecksum, referenceDecode } from "./referenceDecoder.ts";

const cases: { name: string; bodies: TestBody[]; start: (total: number) => Int32Array }[] = [
  { name: "a sheet", bodies: [grid(13)], start: () => sheet(13, 40, 1) },
  { name: "a fan of 20", bodies: [fan(20)], start: (total) => random100(total, 2) },
  { name: "triangle soup", bodies: [soup(60, 90, 3)], start: (total) => random100(total, 3) },
  {
    name: "dust, a sheet and one particle",
    bodies: [dust(7), grid(5), dust(1)],
    start: (total) => random100(total, 4),
  },
  { name: "coincident particles", bodies: [grid(6)], start: (total) => new Int32Array(3 * total) },
];

function random100(total: number, seed: number): Int32Array {
  const next = random(seed);
  return Int32Array.from({ length: 3 * total }, () => Math.floor(next() * 100));
}

for (const { name, bodies, start } of cases) {
  test(`the decoder made from the text agrees: ${name}`, () => {
    const model = createSnapshotModel(bodies);
    const next = random(name.length);
    let previous = start(model.total);
    const key = encodeKeyframe(model, previous);
    expect(referenceDecode(bodies, null, key)).toEqual({
      frame: previous,
      checksum: referenceChecksum(previous),
      ended: true,
    });
    for (const noise of [0, 0.6, 1, 3, 0.6, 40, 1, 3000, 2e6, 0.6]) {
      const current = move(previous, [0, -Math.round(noise * 4), 1], noise, next);
      const delta = encodeDelta(model, previous, current);
      expect(referenceDecode(bodies, previous, delta), `noise ${noise}`).toEqual({
        frame: current,
        checksum: frameChecksum(current),
        ended: true,
      });
      previous = current;
    }
  });
}

test("the checksum is that of the text, also for negative numbers", () => {
  const frame = Int32Array.from([0, -1, 2 ** 28 - 1, -(2 ** 28) + 1, 17, 4, -9, 0, 0]);
  expect(frameChecksum(frame)).toBe(referenceChecksum(frame));
});
