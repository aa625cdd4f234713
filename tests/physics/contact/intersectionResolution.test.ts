/**
 * Surfaces that intersect at the start of contact. The room reports the pairs and moves them apart within 5 simulated
 * seconds, never fast, or holds them. Afterwards contacts hold, by the checker's exact test. Starts: a new room, a
 * reset, a body rolled back, a collider that jumps.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import type { SimEvent } from "../../../server/sim/types.ts";
import { crossings } from "./crossings.ts";
import { drawOut } from "./drawOut.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";

type V = [number, number, number];
const SECONDS = 5;
/**
 * Limit for the fastest particle, m/s: a brisk walk. Surfaces part at up to 0.36 m/s here; the edge of a limp cloth
 * swings faster.
 */
const FAST = 1.25;

const jelly = (name: string, translate: V, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [0.3, 0.3, 0.3], cells: [5, 5, 5] },
    transform: { translate },
    material: { density: 500, youngsModulus: 30_000, poissonsRatio: 0.3 },
    ...more,
  }) as Body;
const cloth = (name: string, transform: Body["transform"] = {}): Body => ({
  name,
  kind: "cloth",
  mesh: { type: "grid", size: [1, 1], cells: [16, 16] },
  transform,
  material: { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
});
const block: Collider = { type: "box", name: "block", center: [0, 0, 0], halfExtents: [0.2, 0.2, 0.2] };

const tangled = (events: readonly SimEvent[]): Extract<SimEvent, { type: "tangled" }>[] =>
  events.filter((e) => e.type === "tangled");

const starts: Record<string, { bodies: Body[]; colliders?: Collider[] }> = {
  "two jellies, a corner in a corner": { bodies: [jelly("a", [0, 0, 0]), jelly("b", [0.2, 0.11, 0.07])] },
  "two jellies, nearly one": { bodies: [jelly("a", [0, 0, 0]), jelly("b", [0.05, 0.03, 0.02])] },
  "two cloths crossing in the middle": {
    bodies: [cloth("a"), cloth("b", { rotate: [0, 0, 90], translate: [0.03, 0.02, 0.01] })],
  },
  "two cloths, neither through the whole of the other": {
    bodies: [cloth("a"), cloth("b", { rotate: [20, 0, 90], translate: [0.33, 0.3, 0.61] })],
  },
  "a cloth all around a box": { bodies: [cloth("a", { translate: [0.11, 0.05, 0.07] })], colliders: [block] },
  "a cloth in a corner of a box": { bodies: [cloth("a", { translate: [0.5, 0.05, 0.4] })], colliders: [block] },
  "a cloth through a jelly": { bodies: [cloth("a", { translate: [0.31, 0.02, 0.23] }), jelly("b", [0, 0, 0])] },
};

test.each(Object.entries(starts))("%s: reported and moved apart", async (_, scene) => {
  const lab = await laboratory({ ...scene, substeps: 10 });
  expect(crossings(lab)).toBeGreaterThan(0);
  const { events, fastest, seconds } = drawOut(lab, SECONDS);
  expect(events.map((e) => e.type)).toEqual(["tangled", "untangled"]);
  expect(seconds).toBeLessThan(SECONDS);
  expect(fastest).toBeLessThan(FAST);
});

const onFloor: Record<string, Body[]> = {
  "two jellies side by side": [jelly("a", [0, 0.16, 0]), jelly("b", [0.2, 0.17, 0.03])],
  "two jellies side by side, 5 mm further": [jelly("a", [0, 0.16, 0]), jelly("b", [0.2, 0.17, 0.035])],
  "two jellies side by side, 2 cm further": [jelly("a", [0, 0.16, 0]), jelly("b", [0.2, 0.17, 0.05])],
  "two jellies, one on the other": [jelly("a", [0, 0.16, 0]), jelly("b", [0.05, 0.4, 0.03])],
  "three jellies": [jelly("a", [0, 0.16, 0]), jelly("b", [0.21, 0.17, 0.03]), jelly("c", [0.1, 0.19, 0.17])],
};

/** Bodies with weight on a floor. */
const heavy = (bodies: Body[]): Promise<Laboratory> =>
  laboratory({
    bodies,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    gravity: [0, -9.81, 0],
    damping: 1,
    substeps: 10,
  });

test.each(Object.entries(onFloor))("with weight, on a floor, moved apart: %s", async (_, bodies) => {
  const { events, seconds } = drawOut(await heavy(bodies), SECONDS);
  expect(events.map((e) => e.type)).toEqual(["tangled", "untangled"]);
  expect(seconds).toBeLessThan(SECONDS);
});

// one start in five stays tangled for longer
test("with weight, on a floor, a jelly in a cloth is moved apart from most starts", async () => {
  let apart = 0;
  for (const y of [0.23, 0.234, 0.238, 0.242, 0.246, 0.25, 0.254, 0.258]) {
    const lab = await heavy([jelly("a", [0, 0.16, 0]), cloth("b", { translate: [0.02, y, 0.01] })]);
    const { events } = drawOut(lab, SECONDS);
    expect(events[0]!.type).toBe("tangled");
    if (events.at(-1)!.type === "untangled") apart++;
  }
  expect(apart).toBeGreaterThanOrEqual(5);
});

/** A cloth 1 m long that runs straight, then in a loop, with its end up through where it began. */
function loop(lab: Laboratory, beyond: number): void {
  const R = 0.09;
  const straight = 0.9 - 1.5 * Math.PI * R - beyond;
  lab.put(0, ([x, , z]) => {
    const s = x + 0.5;
    const a = (s - straight) / R;
    const rest = a - 1.5 * Math.PI;
    return a <= 0
      ? [s, 0, z]
      : rest <= 0
        ? [straight + R * Math.sin(a), R * Math.cos(a) - R, z]
        : [straight - R, -R + R * rest, z];
  });
}

test("a cloth through itself is moved apart", async () => {
  const lab = await laboratory({ bodies: [cloth("a")], substeps: 10 });
  loop(lab, 0.1);
  expect(crossings(lab)).toBeGreaterThan(0);
  // speed of the bent cloth without an intersection: the same loop, with its end just short of the rest
  const alone = await laboratory({ bodies: [cloth("a")], substeps: 10 });
  loop(alone, -0.01);
  let own = 0;
  for (let tick = 0; tick < 60 * SECONDS; tick++) {
    alone.run(1);
    for (let i = 0; i < alone.v.length; i += 4)
      own = Math.max(own, Math.hypot(alone.v[i]!, alone.v[i + 1]!, alone.v[i + 2]!));
  }
  const { events, fastest, seconds } = drawOut(lab, SECONDS);
  expect(events.map((e) => e.type)).toEqual(["tangled", "untangled"]);
  expect(seconds).toBeLessThan(SECONDS);
  expect(fastest).toBeLessThan(FAST + own);
});

test("the report names surfaces, counts and particles; a reset reports again", async () => {
  const lab = await laboratory({
    bodies: [jelly("far", [3, 0, 0]), cloth("sheet", { translate: [0.11, 0.05, 0.07] })],
    colliders: [block],
    substeps: 10,
  });
  const [first, ...more] = tangled(lab.run(3));
  expect(more).toEqual([]);
  expect(first).toMatchObject({ tick: 1, held: [], pairs: [{ between: [{ body: 1 }, { collider: 0 }] }] });
  const {
    count,
    pairs: [pair],
    first: list,
  } = first!;
  expect(pair!.edges).toBeGreaterThan(8);
  expect(pair!.triangles).toBeGreaterThan(8);
  expect(count).toBeGreaterThanOrEqual(Math.max(pair!.edges, pair!.triangles));
  expect(list.length).toBeGreaterThan(0);
  for (const { edgeOf, edge, triangleOf, triangle } of list) {
    expect([edge.length, triangle.length]).toEqual([2, 3]);
    // a sheet of 17 x 17 particles
    for (const [of, particles] of [
      [edgeOf, edge],
      [triangleOf, triangle],
    ] as const)
      if ("body" in of) particles.forEach((p) => expect(p).toBeLessThan(17 * 17));
  }
  expect(tangled(lab.run(1, [{ type: "reset", member: 1 }]))).toHaveLength(1);
});

describe('intersections "hold"', () => {
  test("intersecting bodies stay, others move on, and a reset keeps holding bodies that still intersect", async () => {
    const lab = await laboratory({
      bodies: [jelly("a", [0, 0, 0]), jelly("free", [2, 0, 0], { velocity: [1, 0, 0] }), jelly("b", [0.2, 0.11, 0.07])],
      intersections: "hold",
      substeps: 4,
    });
    const before = [lab.positions(0), lab.positions(2)];
    const start = lab.positions(1)[0]!;
    expect(tangled(lab.run(30))).toMatchObject([{ held: [0, 2] }]);
    expect([...lab.world.held()]).toEqual([1, 0, 1]);
    expect([lab.positions(0), lab.positions(2)]).toEqual(before);
    expect(lab.positions(1)[0]! - start).toBeCloseTo(0.5, 2);
    expect(tangled(lab.run(1, [{ type: "reset", member: 1 }]))).toMatchObject([{ held: [0, 2] }]);
  });
});

test("a new world object in the middle continues with the same bits", async () => {
  const { openWorld } = await import("../../../server/sim/world.ts");
  const scene = starts["two cloths crossing in the middle"]!;
  const [one, two] = [await laboratory({ ...scene, substeps: 4 }), await laboratory({ ...scene, substeps: 4 })];
  one.run(40);
  two.run(20);
  const again = openWorld(two.created.memory, two.created.layout);
  again.mayRest = false;
  for (let t = 0; t < 20; t++) again.step([]);
  expect(again.stateHash()).toBe(one.world.stateHash());
});

test("a body is moved out of a collider that jumps into it", async () => {
  // 1 m to the right within a second, then back in one jump into the jelly, which has been pushed to the left a little
  const jumper: Collider = {
    type: "sphere",
    name: "ball",
    center: [0, 0, 0],
    radius: 0.1,
    motion: {
      keys: [
        { time: 0, translate: [0.15, 0.02, 0.03] },
        { time: 1, translate: [1.15, 0, 0] },
      ],
      loop: true,
    },
  };
  const lab = await laboratory({ bodies: [jelly("a", [0, 0, 0])], colliders: [jumper], damping: 3, substeps: 4 });
  const events: SimEvent[] = [];
  let clear = 0;
  let fastest = 0;
  for (let tick = 0; tick < 160; tick++) {
    events.push(...lab.run(1));
    for (let i = 0; i < lab.v.length; i += 4)
      fastest = Math.max(fastest, Math.hypot(lab.v[i]!, lab.v[i + 1]!, lab.v[i + 2]!));
    if (tick % 5 || lab.world.tangled) continue;
    clear++;
    expect(crossings(lab), `tick ${tick}`).toBe(0);
  }
  expect(clear).toBeGreaterThan(10);
  expect(fastest).toBeLessThan(FAST);
  expect(events.map(({ type, tick }) => (type === "tangled" ? tick : type))).toEqual([
    1,
    "untangled",
    61,
    "untangled",
    ...(events.length > 4 ? [121, "untangled"] : []),
  ]);
});

test("a body rolled back into a neighbor that has moved on is moved out of it", async () => {
  const lab = await laboratory({
    bodies: [jelly("a", [0, 0, 0]), jelly("b", [0.32, 0.03, 0.02])],
    substeps: 4,
    worldRadius: 10,
  });
  // a is thrown out of the world; meanwhile b moves to its former place
  lab.run(1);
  const here = lab.positions(0);
  lab.put(1, (x) => [x[0] - 0.07, x[1], x[2]]);
  lab.put(0, (x) => [x[0], x[1] + 20, x[2]]);
  const events = lab.run(1);
  expect(events).toMatchObject([{ type: "bodyHeld", body: 0 }]);
  expect(Math.max(...lab.positions(0).map((v, k) => Math.abs(v - here[k]!)))).toBeLessThan(1e-6);
  expect(crossings(lab)).toBeGreaterThan(0);
  const later = lab.run(60 * SECONDS);
  expect(later.map((e) => e.type)).toEqual(["tangled", "untangled"]);
  expect(crossings(lab)).toBe(0);
});
