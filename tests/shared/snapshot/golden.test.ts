/**
 * Literal bytes. A change of these bytes is a change of the format: raise the version (the high half of KIND_KEYFRAME
 * and KIND_DELTA), and update PROTOCOL.md. The bytes are the same in Node and in every browser.
 */
import { expect, test } from "vitest";
import {
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  encodeDelta,
  encodeKeyframe,
} from "../../../shared/snapshot/index.ts";
import { dust, grid, type TestBody } from "./meshes.ts";

const hex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const unhex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const triangle: TestBody = { count: 3, triangles: Uint32Array.of(0, 1, 2) };

/** Positions of a 4 x 4 grid, 40 units apart, bulging, `t` frames into a fall with rotation. */
const falling = (t: number): Int32Array =>
  Int32Array.from({ length: 48 }, (_, i) => {
    const v = Math.floor(i / 3);
    const [x, z] = [40 * (v % 4) - 60, 40 * Math.floor(v / 4) - 60];
    return [x + t * ((z / 20) | 0), 900 - t * (17 + t) - (((x * x + z * z) / 100) | 0), z - t * ((x / 20) | 0)][i % 3];
  });

const cases: { name: string; bodies: TestBody[]; previous: Int32Array | null; current: Int32Array; bytes: string }[] = [
  { name: "keyframe of nothing", bodies: [], previous: null, current: new Int32Array(0), bytes: "2187dd00800000" },
  {
    name: "keyframe of a triangle",
    bodies: [triangle],
    previous: null,
    current: Int32Array.of(0, 0, 0, 100, 0, 0, 0, 0, 100),
    bytes: "21604379bf0000db629c0e37ffeba5",
  },
  {
    name: "keyframe at the origin",
    bodies: [triangle, dust(2)],
    previous: null,
    current: new Int32Array(15),
    bytes: "210d5c00a00000",
  },
  {
    name: "delta of a triangle",
    bodies: [triangle],
    previous: new Int32Array(9),
    current: Int32Array.of(1, -2, 3, 1, -2, 4, -1000, 7, 1 << 20),
    bytes: "221ba0f238010061703555397ffde87cbef4c10c58be7f0300",
  },
  { name: "unchanged delta", bodies: [grid(4)], previous: falling(1), current: falling(1), bytes: "22c9ac00900000" },
  {
    name: "keyframe of a grid",
    bodies: [grid(4)],
    previous: null,
    current: falling(3),
    bytes: "2167aea1ff994e747f09602acd656b3ea252407ec71a2012063e607f0a179f590f650c6165a50c923fcb82a304c7c63a669726aa00",
  },
  {
    name: "delta of a grid",
    bodies: [grid(4)],
    previous: falling(3),
    current: falling(4),
    bytes: "2271cbe83f6401f8cb42a86998f738b7c1",
  },
  {
    name: "one body of two moves",
    bodies: [dust(2), grid(2)],
    previous: new Int32Array(18),
    current: Int32Array.from({ length: 18 }, (_, i) => (i < 6 ? 0 : i - 9)),
    bytes: "22391725d0422453ff3fbf80e6",
  },
];

for (const { name, bodies, previous, current, bytes } of cases) {
  test(name, () => {
    const model = createSnapshotModel(bodies);
    expect(
      hex(previous === null ? encodeKeyframe(model, current) : encodeDelta(model, previous, current.slice())),
    ).toBe(bytes);
    const out = new Int32Array(current.length).fill(5);
    if (previous === null) decodeKeyframe(model, unhex(bytes), out);
    else decodeDelta(model, previous, unhex(bytes), out);
    expect(out).toEqual(current);
  });
}
