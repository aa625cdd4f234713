/**
 * Grabs and impulses on bodies. Grabs pull with their compliance and at most with their limit, grabs of several members
 * add up, and impulses arrive whole. An invalid input is refused with field, value and limit and changes nothing. Tests
 * compare momentum, because no other force acts.
 */
import { PINS_PER_ROOM } from "../../../../shared/members/pin.ts";
import * as L from "../../../../server/kernel/assembly/layout/layout.ts";
import { describe, expect, test } from "vitest";
import type { Input } from "../../../../server/sim/types.ts";
import { momentumOf } from "../../../../server/sim/reference/momentum.ts";
import type { Vector } from "../../../../server/sim/reference/vector.ts";
import type { Scene } from "../../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";

const LIMIT = 2;
const cube = (name: string, x: number): Scene["bodies"][number] => ({
  name,
  kind: "soft",
  mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [3, 3, 3] },
  transform: { translate: [x, 0, 0] },
  material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.3 },
});
const room = (extra: Partial<Scene> = {}): Promise<Laboratory> =>
  laboratory({
    bodies: [cube("a", 0), cube("b", 1)],
    interaction: { grabCompliance: 1e-3, grabMaxForce: LIMIT, maxImpulse: 3 },
    ...extra,
  });

function momentum(lab: Laboratory, body = 0): { mass: number; linear: Vector } {
  const { first, count } = lab.created.layout.bodies[body]!;
  const w = Float64Array.from({ length: count }, (_, i) => lab.x[4 * (first + i) + 3]!);
  return momentumOf(w, lab.positions(body), lab.velocities(body), 0, count);
}

/** The triangle of a body's surface whose middle is furthest along a direction. */
function triangleTowards(lab: Laboratory, body: number, direction: Vector): number {
  const { triangles } = lab.created.bodies[body]!;
  const x = lab.positions(body);
  let best = 0;
  let most = -Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const along = [0, 1, 2].reduce(
      (sum, k) => sum + [0, 1, 2].reduce((s, r) => s + x[3 * triangles[t + k]! + r]! * direction[r]!, 0),
      0,
    );
    if (along > most) [best, most] = [t / 3, along];
  }
  return best;
}

const grab = (
  lab: Laboratory,
  member: number,
  side: Vector,
  target: [number, number, number],
  body = 0,
  number = 0,
): Input => ({
  type: "grab",
  member,
  grab: number,
  body,
  triangle: triangleTowards(lab, body, side),
  u: 0.3,
  v: 0.3,
  target,
});
const TICKS = 15;
const SECONDS = TICKS / 60;
/** Rounding of an unchanged momentum, kg m/s: a last place of the room's momentum. */
const ROUNDING = 2 ** -24;

describe("grabs", () => {
  test("pull with at most their limit towards a target out of reach; the other body feels nothing", async () => {
    const lab = await room();
    lab.run(TICKS, [grab(lab, 1, [1, 0, 0], [50, 0, 0])]);
    const { linear } = momentum(lab);
    expect(linear[0] / (LIMIT * SECONDS)).toBeCloseTo(1, 2);
    expect(Math.abs(linear[1]) + Math.abs(linear[2])).toBeLessThan(0.05 * linear[0]);
    for (const p of momentum(lab, 1).linear) expect(Math.abs(p)).toBeLessThan(ROUNDING);
  });

  test("two members on one body: forces add up, and opposite ones cancel and stretch it", async () => {
    const lab = await room();
    lab.run(TICKS, [grab(lab, 1, [1, 0, 0], [50, 0, 0]), grab(lab, 2, [1, 1, 0], [50, 0, 0])]);
    expect(momentum(lab).linear[0] / (2 * LIMIT * SECONDS)).toBeCloseTo(1, 2);

    const other = await room();
    const before = other.positions();
    other.run(TICKS, [grab(other, 1, [1, 0, 0], [50, 0, 0]), grab(other, 2, [-1, 0, 0], [-50, 0, 0])]);
    expect(Math.abs(momentum(other).linear[0])).toBeLessThan(0.01 * LIMIT * SECONDS);
    const wide = (x: Float64Array): number =>
      Math.max(...x.filter((_, k) => k % 3 === 0)) - Math.min(...x.filter((_, k) => k % 3 === 0));
    expect(wide(other.positions())).toBeGreaterThan(1.001 * wide(before));
  });

  /**
   * A triangle in the middle of the upper face: the grab's handle, an average around the pick, is then at the pick, for
   * any rotation of the body.
   */
  const topMiddle = (lab: Laboratory): number => {
    const { triangles } = lab.created.bodies[0]!;
    const x = lab.positions();
    let best = 0;
    let least = Infinity;
    for (let t = 0; t < triangles.length; t += 3) {
      const c = [0, 1, 2].map((r) => [0, 1, 2].reduce((sum, k) => sum + x[3 * triangles[t + k]! + r]! / 3, 0));
      const off = c[0]! ** 2 + (c[1]! - 0.1) ** 2 + c[2]! ** 2;
      if (off < least) [best, least] = [t / 3, off];
    }
    return best;
  };
  /** Position of the picked point of a triangle. */
  const pick = (lab: Laboratory, triangle: number): [number, number, number] => {
    const corners = lab.created.bodies[0]!.triangles.subarray(3 * triangle, 3 * triangle + 3);
    const x = lab.positions();
    return [0, 1, 2].map((r) => [0.4, 0.3, 0.3].reduce((sum, b, k) => sum + b * x[3 * corners[k]! + r]!, 0)) as [
      number,
      number,
      number,
    ];
  };

  test("a body hangs from a grab, compliance times weight below it", async () => {
    const lab = await room({
      gravity: [0, -0.25, 0],
      damping: 4,
      interaction: { grabCompliance: 0.02, grabMaxForce: LIMIT },
    });
    const weight = 0.25 * momentum(lab).mass;
    const triangle = topMiddle(lab);
    const target = pick(lab, triangle);
    lab.run(600, [{ type: "grab", member: 1, grab: 0, body: 0, triangle, u: 0.3, v: 0.3, target }]);
    expect(Math.max(...lab.velocities(0).map(Math.abs))).toBeLessThan(1e-2);
    // 20 mm, with a tolerance of about a millimeter for the picked point within the grabbed neighborhood.
    expect((target[1] - pick(lab, triangle)[1]) / (0.02 * weight)).toBeGreaterThan(0.9);
    expect((target[1] - pick(lab, triangle)[1]) / (0.02 * weight)).toBeLessThan(1.1);
  });

  test("follow the target, and let go", async () => {
    const lab = await room({ damping: 3, interaction: { grabCompliance: 1e-3, grabMaxForce: 100 } });
    const triangle = topMiddle(lab);
    lab.run(1, [{ type: "grab", member: 1, grab: 0, body: 0, triangle, u: 0.3, v: 0.3, target: [0, 0.1, 0] }]);
    lab.run(240, [{ type: "move", member: 1, grab: 0, target: [0.3, 0.4, -0.2] }]);
    // The grab holds the neighborhood's average: the picked point may have turned about it.
    const offset = new Float32Array(lab.created.memory.buffer, lab.created.layout.grabOffsets, 3);
    expect(Math.hypot(...pick(lab, triangle).map((c, r) => c - [0.3, 0.4, -0.2][r]!))).toBeLessThan(
      0.001 + 2 * Math.hypot(...offset),
    );
    lab.run(1, [{ type: "move", member: 1, grab: 0, target: [5, 5, 5] }]);
    lab.run(1, [{ type: "release", member: 1, grab: 0 }]);
    const { linear } = momentum(lab);
    lab.run(10);
    // After the release only damping acts: momentum decreases and keeps its direction.
    momentum(lab).linear.forEach((p, r) => expect(p / linear[r]!).toBeCloseTo((1 + 3 / 1200) ** -200, 2));
  });

  test("move at most at the scene's grabSpeed in simulated time, for any target and any tick duration", async () => {
    const grabSpeed = 0.5;
    const lab = await room({ interaction: { grabCompliance: 1e-5, grabMaxForce: 1e4, grabSpeed } });
    const triangle = topMiddle(lab);
    const start = pick(lab, triangle);
    lab.run(1, [
      {
        type: "grab",
        member: 1,
        grab: 0,
        body: 0,
        triangle,
        u: 0.3,
        v: 0.3,
        target: [start[0], start[1] + 50, start[2]],
      },
    ]);
    const speeds = Array.from({ length: 60 }, () => {
      lab.run(1);
      return momentum(lab).linear[1] / momentum(lab).mass;
    });
    // A body on a rigid grab swings about its speed; the mean over a second is the speed itself.
    expect(speeds.reduce((sum, v) => sum + v, 0) / 60 / grabSpeed).toBeCloseTo(1, 1);
    expect((pick(lab, triangle)[1] - start[1]) / (grabSpeed * (61 / 60))).toBeGreaterThan(0.95);
    expect((pick(lab, triangle)[1] - start[1]) / (grabSpeed * (61 / 60))).toBeLessThan(1.05);
    // A target that stops stops the body. After a release the body keeps its momentum.
    lab.run(1, [{ type: "release", member: 1, grab: 0 }]);
    const thrown = momentum(lab).linear[1];
    lab.run(30);
    expect(momentum(lab).linear[1] / thrown).toBeCloseTo(1, 4);
  });

  test("store at most their limit while an obstacle holds the body back", async () => {
    const lab = await room({
      bodies: [{ ...cube("a", 0), pins: [{ select: { box: { min: [-1, -1, -1], max: [1, -0.09, 1] } } }] }],
    });
    const triangle = topMiddle(lab);
    const start = pick(lab, triangle);
    lab.run(60, [
      {
        type: "grab",
        member: 1,
        grab: 0,
        body: 0,
        triangle,
        u: 0.3,
        v: 0.3,
        target: [start[0], start[1] + 20, start[2]],
      },
    ]);
    const { layout, memory } = lab.created;
    const f32 = new Float32Array(memory.buffer);
    const at = (layout.grabFirst + L.POINT_TARGET) / 4;
    const offset = f32.subarray(layout.grabOffsets / 4, layout.grabOffsets / 4 + 3);
    const target = f32[at + 1]! - offset[1]!;
    // 2 N stretch the spring of 1 mm/N; the particles' own share of it in a substep is smaller than that.
    expect(target - pick(lab, triangle)[1]).toBeGreaterThan(0.9 * 1e-3 * LIMIT);
    expect(target - pick(lab, triangle)[1]).toBeLessThan(2 * 1e-3 * LIMIT);
  });

  test("a member's grabs end with the member; another member's stay", async () => {
    const lab = await room();
    lab.run(1, [
      grab(lab, 1, [1, 0, 0], [50, 0, 0]),
      grab(lab, 1, [1, 1, 0], [50, 0, 0], 0, 5),
      grab(lab, 2, [1, 0, 0], [50, 0, 0], 1),
    ]);
    lab.run(1, [{ type: "releaseAll", member: 1 }]);
    const [a, b] = [momentum(lab, 0).linear[0], momentum(lab, 1).linear[0]];
    lab.run(10);
    expect(momentum(lab, 0).linear[0] / a).toBeCloseTo(1, 4);
    expect(momentum(lab, 1).linear[0]).toBeGreaterThan(3 * b);
  });

  test("as many as a room has slots; one more is refused, and a free slot is used again", async () => {
    const lab = await room();
    const slots = lab.created.layout.grabCount - PINS_PER_ROOM;
    const all = Array.from({ length: slots }, (_, n) => grab(lab, 1 + n, [0, 1, 0], [0, 1, 0]));
    expect(lab.run(1, all)).toEqual([]);
    expect(lab.run(1, [grab(lab, 99, [0, 1, 0], [0, 1, 0])])).toMatchObject([
      { type: "inputRejected", member: 99, field: "grab", limit: `${slots} grabs in a room` },
    ]);
    // A new grab with the same number needs no second slot.
    expect(lab.run(1, [grab(lab, 1, [0, 1, 0], [0, 2, 0])])).toEqual([]);
    expect(lab.run(1, [{ type: "release", member: 7, grab: 0 }, grab(lab, 99, [0, 1, 0], [0, 1, 0])])).toEqual([]);
  });
});

describe("impulses", () => {
  test("arrive whole, wherever they hit", async () => {
    for (const [side, J] of [
      [
        [1, 0, 0],
        [-2, 0, 0],
      ],
      [
        [0, 1, 0],
        [0.5, -1, 0.25],
      ],
      [
        [1, 1, 1],
        [0, 0, 3],
      ],
    ] as [Vector, [number, number, number]][]) {
      const lab = await room();
      lab.run(1, [
        { type: "impulse", member: 1, body: 0, triangle: triangleTowards(lab, 0, side), u: 0.2, v: 0.6, impulse: J },
      ]);
      momentum(lab).linear.forEach((p, r) => expect(Math.abs(p - J[r]!)).toBeLessThan(1e-5 * 3));
      lab.run(60);
      momentum(lab).linear.forEach((p, r) => expect(Math.abs(p - J[r]!)).toBeLessThan(1e-4 * 3));
      for (const p of momentum(lab, 1).linear) expect(Math.abs(p)).toBeLessThan(ROUNDING);
    }
  });

  test("in opposite directions on the same point cancel", async () => {
    const lab = await room();
    const triangle = triangleTowards(lab, 0, [1, 0, 0]);
    const hit = (member: number, x: number): Input => ({
      type: "impulse",
      member,
      body: 0,
      triangle,
      u: 0.25,
      v: 0.25,
      impulse: [x, 0, 0],
    });
    lab.run(1, [hit(1, 2), hit(2, -2)]);
    expect(Math.abs(momentum(lab).linear[0])).toBeLessThan(1e-6);
  });
});

describe("refused, with field, value and limit, and without a change", () => {
  const base = { member: 3, body: 0, triangle: 0, u: 0.2, v: 0.2 };
  test.each<[string, Input, Record<string, unknown>]>([
    [
      "a missing body",
      { ...base, type: "grab", grab: 0, body: 2, target: [0, 0, 0] },
      { field: "body", value: 2, limit: "0 to 1" },
    ],
    [
      "a missing triangle",
      { ...base, type: "impulse", triangle: 108, impulse: [0, 0, 0] },
      { field: "triangle", value: 108, limit: "0 to 107" },
    ],
    [
      "half a triangle",
      { ...base, type: "grab", grab: 0, triangle: 0.5, target: [0, 0, 0] },
      { field: "triangle", value: 0.5 },
    ],
    [
      "a point beside the triangle",
      { ...base, type: "grab", grab: 0, u: 1.5, target: [0, 0, 0] },
      { field: "u", value: 1.5, limit: "0 to 1" },
    ],
    [
      "a point beyond its edge",
      { ...base, type: "grab", grab: 0, u: 0.7, v: 0.6, target: [0, 0, 0] },
      { field: "v", value: 0.6, limit: "0 to 1 - u" },
    ],
    ["half a body", { ...base, type: "impulse", body: 0.5, impulse: [0, 0, 0] }, { field: "body", value: 0.5 }],
    ["u that is not a number", { ...base, type: "impulse", u: NaN, impulse: [0, 0, 0] }, { field: "u" }],
    ["v that is not a number", { ...base, type: "impulse", v: NaN, impulse: [0, 0, 0] }, { field: "v" }],
    [
      "a body that no grab pulls together with others",
      { ...base, type: "grab", grab: 0, together: true, target: [0, 0, 0] },
      {
        ...{ field: "together", value: 0 },
        limit: "a body that one grab pulls together with others: this scene has none",
      },
    ],
    [
      "a target outside the world",
      { ...base, type: "grab", grab: 0, target: [0, 101, 0] },
      { field: "target", value: 101, limit: "up to 100 m from the origin" },
    ],
    ["a target that is not a number", { ...base, type: "grab", grab: 0, target: [NaN, 0, 0] }, { field: "target" }],
    [
      "a move beyond the world",
      { type: "move", member: 3, grab: 0, target: [0, 0, 1e9] },
      { field: "target", value: 1e9 },
    ],
    [
      "too strong an impulse",
      { ...base, type: "impulse", impulse: [0, 3.1, 0] },
      { field: "impulse", value: 3.1, limit: "at most 3 N s" },
    ],
    ["an impulse that is not a number", { ...base, type: "impulse", impulse: [0, NaN, 0] }, { field: "impulse" }],
  ])("%s", async (_, input, expected) => {
    const [lab, other] = [await room(), await room()];
    expect(lab.run(3, [input])).toMatchObject([{ type: "inputRejected", tick: 1, member: 3, ...expected }]);
    other.run(3);
    expect(lab.positions()).toEqual(other.positions());
  });

  test("moving or releasing an ended grab is no error", async () => {
    const lab = await room();
    expect(
      lab.run(1, [
        { type: "move", member: 1, grab: 9, target: [0, 0, 0] },
        { type: "release", member: 1, grab: 9 },
        { type: "releaseAll", member: 4 },
      ]),
    ).toEqual([]);
  });
});
