/**
 * Literal bytes. Whatever changes them changes the format: raise FORMAT_VERSION, and PROTOCOL.md with it. They hold in Node and in every browser.
 */
import { expect, test } from "vitest";
import { createSnapshotModel, decodeDelta, decodeKeyframe, encodeDelta, encodeKeyframe } from "../../../shared/snapshot/index.ts";
import { dust, grid, type TestBody } from "./meshes.ts";

const hex = (bytes: Uint8Array): string => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
const unhex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

const triangle: TestBody = { count: 3, triangles: Uint32Array.of(0, 1, 2) };

/** Positions of a 4 x 4 grid, 40 units apart, bulging, `t` frames into a fall that turns it. */
const falling = (t: number): Int32Array =>
  Int32Array.from({ length: 48 }, (_, i) => {
    const v = Math.floor(i / 3);
    const [x, z] = [40 * (v % 4) - 60, 40 * Math.floor(v / 4) - 60];
    return [x + t * ((z / 20) | 0), 900 - t * (17 + t) - (((x * x + z * z) / 100) | 0), z - t * ((x / 20) | 0)][i % 3];
  });

const cases: { name: string; bodies: TestBody[]; previous: Int32Array | null; current: Int32Array; bytes: string }[] = [
  { name: "keyframe of nothing", bodies: [], previous: null, current: new Int32Array(0), bytes: "11d91c" },
  { name: "keyframe of a triangle", bodies: [triangle], previous: null, current: Int32Array.of(0, 0, 0, 100, 0, 0, 0, 0, 100), bytes: "11a0a88359e29b3d85ce5f73" },
  { name: "keyframe at the origin", bodies: [triangle, dust(2)], previous: null, current: new Int32Array(15), bytes: "11c610" },
  { name: "delta of a triangle", bodies: [triangle], previous: new Int32Array(9), current: Int32Array.of(1, -2, 3, 1, -2, 4, -1000, 7, 1 << 20), bytes: "12dff7af77d1cc7d356bbe2ba6ee9fa7e0520751c357" },
  { name: "unchanged delta", bodies: [grid(4)], previous: falling(1), current: falling(1), bytes: "124b87" },
  { name: "keyframe of a grid", bodies: [grid(4)], previous: null, current: falling(3), bytes: "11dd1bfffa3b5401d6710adfd27aa6e7ee2eb6f8da9ba511ff6a88ad7bcc907c1dc3ba" },
  { name: "delta of a grid", bodies: [grid(4)], previous: falling(3), current: falling(4), bytes: "1270aaf35595ef1f5dc50d9cf773" },
  { name: "one body of two moves", bodies: [dust(2), grid(2)], previous: new Int32Array(18), current: Int32Array.from({ length: 18 }, (_, i) => (i < 6 ? 0 : i - 9)), bytes: "12dbe379821d982d06b8" },
];

for (const { name, bodies, previous, current, bytes } of cases) {
  test(name, () => {
    const model = createSnapshotModel(bodies);
    expect(hex(previous === null ? encodeKeyframe(model, current) : encodeDelta(model, previous, current.slice()))).toBe(bytes);
    const out = new Int32Array(current.length).fill(5);
    if (previous === null) decodeKeyframe(model, unhex(bytes), out);
    else decodeDelta(model, previous, unhex(bytes), out);
    expect(out).toEqual(current);
  });
}
