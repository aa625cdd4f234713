/**
 * One grab on several bodies holds the same place of each, pulls each by the same displacement with the same force, and
 * releases all of them.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { slotsByGrab, slotAddress } from "../../../server/sim/grabs/grabSlots.ts";
import type { Input } from "../../../server/sim/types.ts";
import type { Body, SoftBody } from "../../../shared/scene/scene.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { largest } from "../methods/kit.ts";

const NAMES = ["a", "b", "far", "points"];

const cube = (name: string, x: number, more: Partial<SoftBody> = {}): Body => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.4, 0.4, 0.4], cells: [3, 3, 3] },
  transform: { translate: [x, 0.2, 0] },
  material: { density: 300, damping: 2, youngsModulus: 8000, poissonsRatio: 0.3 },
  pins: [{ select: { box: { min: [-100, -1, -1], max: [100, 0.001, 1] } } }],
  solver: "compliant",
  contact: { self: false, ignore: [...NAMES, "alone"].filter((other) => other !== name) },
  ...more,
});

const points: Body = {
  ...{ name: "points", kind: "points", transform: { translate: [2, 0.2, 0] } },
  mesh: { type: "lattice", arrangement: "cubic", cells: [5, 5, 5], spacing: 0.08 },
  material: { density: 300, damping: 2, youngsModulus: 8000, poissonsRatio: 0.3 },
  method: { type: "point-based", integrator: "symplectic" },
  pins: [{ select: { box: { min: [-100, -1, -1], max: [100, 0.05, 1] } } }],
  contact: { ignore: ["a", "b", "far", "alone"] },
};

const room = (bodies: Body[] = [cube("a", 0), cube("alone", 1), cube("b", -1), cube("far", 30), points]) =>
  laboratory({ bodies, interaction: { grabMaxForce: 200, grabSpeed: 1, together: NAMES } });

const A = 0;
const B = 2;
const FAR = 3;
const POINTS = 4;

/** A grab in the middle of a triangle of a cube's top, relative to the cube's own box. */
function grab(lab: Laboratory, body: number, target: [number, number, number], more: object = {}): Input {
  const { triangles, positions } = lab.created.bodies[body]!;
  const at = (t: number): number[] =>
    [0, 1, 2].map((r) => [0, 1, 2].reduce((s, k) => s + positions[3 * triangles[3 * t + k]! + r]! / 3, 0));
  const triangle = Array.from({ length: triangles.length / 3 }, (_, t) => t).find((t) => at(t)[1]! > 0.399)!;
  const [x, y, z] = at(triangle) as [number, number, number];
  const goal: [number, number, number] = [x + target[0], y + target[1], z + target[2]];
  return {
    ...{ type: "grab", member: 1, grab: 7, body, triangle, u: 1 / 3, v: 1 / 3, target: goal },
    ...{ together: true, ...more },
  } as Input;
}

const moved = (lab: Laboratory, body: number): Float64Array =>
  lab.positions(body).map((x, k) => x - lab.created.bodies[body]!.positions[k]!);

const slots = ({ created: { memory, layout } }: Laboratory): number[][] => [
  ...slotsByGrab({ i32: new Int32Array(memory.buffer) }, layout).values(),
];

/** Reads a word of each grab's slot, by body. */
function ofPoints(lab: Laboratory, word: number): Map<number, number> {
  const { memory, layout } = lab.created;
  const [f32, i32] = [new Float32Array(memory.buffer), new Int32Array(memory.buffer)];
  return new Map(
    slots(lab)
      .flat()
      .map((slot) => slotAddress(layout, slot) / 4)
      .map((at) => [i32[at + L.POINT_BODY / 4]!, f32[at + word / 4]!]),
  );
}

test("bodies of one mesh move alike, near and far, and a body outside of the group does not move", async () => {
  const lab = await room();
  expect(lab.run(30, [grab(lab, B, [0.1, 0.15, 0.05])])).toEqual([]);
  const [a, alone, b, far] = [A, 1, B, FAR].map((body) => moved(lab, body));
  expect(largest(b!)).toBeGreaterThan(0.05);
  expect(largest(alone!)).toBeLessThan(1e-6);
  // float32 at 1 m and at 30 m, over 30 ticks
  expect(largest(a!.map((x, k) => x - b![k]!))).toBeLessThan(1e-4);
  expect(largest(far!.map((x, k) => x - b![k]!))).toBeLessThan(1e-3);
});

test("a body of points is grabbed at the nearest point, and pulled by the same displacement", async () => {
  const lab = await room();
  const held = grab(lab, A, [0, 0, 0]);
  const up = (by: number): Input => {
    const [x, y, z] = (held as { target: [number, number, number] }).target;
    return { type: "move", member: 1, grab: 7, target: [x, y + by, z] };
  };
  lab.run(1, [held]);
  const before = ofPoints(lab, L.POINT_TARGET + 4);
  lab.run(1, [up(0.01)]);
  const after = ofPoints(lab, L.POINT_TARGET + 4);
  expect([...after.keys()].sort()).toEqual([A, B, FAR, POINTS]);
  // the grid of points is 4 cm away, and its target has moved up as far as the other targets
  for (const body of after.keys()) expect(after.get(body)! - before.get(body)!).toBeCloseTo(0.01, 3);
  lab.run(30, [up(0.1)]);
  const top = moved(lab, POINTS).filter((_, k) => k % 3 === 1);
  expect(largest(top)).toBeGreaterThan(0.03);
});

test("a body that stretches further than the other bodies reduces the grab's force on all of them", async () => {
  const soft = { density: 300, damping: 2, youngsModulus: 800, poissonsRatio: 0.3 };
  const lab = await room([cube("a", 0), cube("alone", 1), cube("b", -1, { material: soft }), cube("far", 30), points]);
  lab.run(60, [grab(lab, A, [0, 1, 0])]);
  const shares = [...ofPoints(lab, L.POINT_SHARE).values()];
  expect(shares[0]).toBeLessThan(0.9);
  expect(new Set(shares).size).toBe(1);
});

describe("a grab on several bodies", () => {
  test("releases all bodies, ends with all bodies, and grabs another place under the same number", async () => {
    const lab = await room();
    lab.run(1, [grab(lab, A, [0, 0.1, 0])]);
    expect(slots(lab).map(({ length }) => length)).toEqual([4]);
    lab.run(1, [grab(lab, 1, [0, 0.1, 0], { together: undefined })]);
    expect([...ofPoints(lab, L.POINT_SHARE).keys()]).toEqual([1]);
    lab.run(1, [grab(lab, FAR, [0, 0.1, 0]), grab(lab, A, [0, 0.1, 0], { member: 2 })]);
    expect(slots(lab).map(({ length }) => length)).toEqual([4, 4]);
    lab.run(1, [{ type: "release", member: 1, grab: 7 }]);
    expect(slots(lab).map(({ length }) => length)).toEqual([4]);
    lab.run(1, [{ type: "releaseAll", member: 2 }]);
    expect(slots(lab)).toEqual([]);
    lab.run(1, [grab(lab, A, [0, 0.1, 0])]);
    lab.run(1, [{ type: "reset", member: 1 }]);
    expect(slots(lab)).toEqual([]);
  });

  test("takes no slot from other grabs; one grab beyond the room's limit is refused and holds nothing", async () => {
    const lab = await room();
    const many = Array.from({ length: 32 }, (_, n) => grab(lab, A, [0, 0, 0], { member: 1 + n }));
    expect(lab.run(1, many)).toEqual([]);
    const [refused] = lab.run(1, [grab(lab, A, [0, 0, 0], { member: 33 })]);
    expect(refused).toMatchObject({ type: "inputRejected", member: 33, field: "grab", limit: "128 grabs in a room" });
    expect(slots(lab)).toHaveLength(32);
  });

  test("is refused on a body outside of the scene's group", async () => {
    const lab = await room();
    expect(lab.run(1, [grab(lab, 1, [0, 0, 0])])).toMatchObject([
      {
        ...{ type: "inputRejected", field: "together", value: 1, grab: 7 },
        limit: "a body that one grab pulls together with others: 0, 2, 3, 4",
      },
    ]);
    expect(slots(lab)).toEqual([]);
  });
});
