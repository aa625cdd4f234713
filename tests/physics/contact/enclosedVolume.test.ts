/**
 * Bodies that begin wholly inside a solid, so that no surfaces intersect. The room reports the pair and moves the
 * bodies apart whole and slowly, or holds them. Inside a sheet, closed or not, and inside a collider of triangles a
 * body is allowed.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Scene } from "../../../shared/scene/scene.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { crossings } from "./crossings.ts";
import { drawOut } from "./drawOut.ts";
import { laboratory } from "../laboratory.ts";

type V = [number, number, number];
type Parts = Partial<Scene> & Pick<Scene, "bodies">;
const HERE: V = [0.05, 0.03, 0.02];
/** Fastest particle, m/s, as in untangle.test.ts: a brisk walk. Limit for the separation, s. */
const FAST = 1.25;
const SECONDS = 5;

const jelly = (name: string, size: number, translate: V = [0, 0, 0], more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [5, 5, 5] },
    transform: { translate },
    material: { density: 500, youngsModulus: 30_000, poissonsRatio: 0.3 },
    ...more,
  }) as Body;
const rigid = (name: string, size: number, translate: V): Body =>
  jelly(name, size, translate, { material: { model: "shape-matching", mode: "rigid", density: 500 } } as Partial<Body>);
const ball = (name: string, radius: number, translate: V = [0, 0, 0]): Body => ({
  name,
  kind: "ball",
  mesh: { type: "ball", radius, subdivisions: 2 },
  transform: { translate },
  material: { density: 500 },
});
const sheet = (name: string, mesh: Body["mesh"], translate: V): Body => ({
  name,
  kind: "cloth",
  mesh,
  transform: { translate },
  material: { density: 300, thickness: 0.004, youngsModulus: 1e5, poissonsRatio: 0.3 },
});
const block: Collider = { type: "box", name: "block", center: [0, 0, 0], halfExtents: [0.3, 0.3, 0.3] };

const starts: Record<string, [Parts, object[]]> = {
  "a jelly in a jelly": [
    { bodies: [jelly("big", 0.5), jelly("small", 0.15, HERE)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 1 } }],
  ],
  "a rigid body in a jelly, listed first": [
    { bodies: [rigid("small", 0.15, HERE), jelly("big", 0.5)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 0 } }],
  ],
  "a ball in a jelly": [
    { bodies: [jelly("big", 0.5), ball("small", 0.08, HERE)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 1 } }],
  ],
  "a jelly in a ball": [
    { bodies: [ball("big", 0.3), jelly("small", 0.15, HERE)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 1 } }],
  ],
  "a ball in a ball": [
    { bodies: [ball("big", 0.3), ball("small", 0.1, HERE)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 1 } }],
  ],
  "a napkin in a jelly": [
    { bodies: [jelly("big", 0.5), sheet("small", { type: "grid", size: [0.2, 0.2], cells: [8, 8] }, HERE)] },
    [{ between: [{ body: 0 }, { body: 1 }], inside: { body: 1 } }],
  ],
  "a jelly in a block": [
    { bodies: [jelly("small", 0.15, HERE)], colliders: [block] },
    [{ between: [{ body: 0 }, { collider: 0 }], inside: { body: 0 } }],
  ],
  "a ball in a block": [
    { bodies: [ball("small", 0.08, HERE)], colliders: [block] },
    [{ between: [{ body: 0 }, { collider: 0 }], inside: { body: 0 } }],
  ],
  "a rigid body in a block": [
    { bodies: [rigid("small", 0.15, HERE)], colliders: [block] },
    [{ between: [{ body: 0 }, { collider: 0 }], inside: { body: 0 } }],
  ],
  "a knob in a jelly": [
    { bodies: [jelly("big", 0.5)], colliders: [{ type: "sphere", center: HERE, radius: 0.08 }] },
    [{ between: [{ body: 0 }, { collider: 0 }], inside: { collider: 0 } }],
  ],
  "one in the other in the third": [
    { bodies: [jelly("big", 0.6), jelly("middle", 0.3, [0.02, 0, 0]), jelly("small", 0.1, [0.03, 0.03, 0.02])] },
    [
      [0, 1],
      [0, 2],
      [1, 2],
    ].map(([a, b]) => ({ between: [{ body: a }, { body: b }], inside: { body: b } })),
  ],
};

describe.each(Object.entries(starts))("%s", (_, [scene, pairs]) => {
  test("the pair is reported and moved apart", async () => {
    const lab = await laboratory({ ...scene, substeps: 10 });
    expect(crossings(lab)).toBe(0);
    const { events, fastest, seconds } = drawOut(lab, SECONDS);
    expect(events.map((e) => e.type)).toEqual(["tangled", "untangled"]);
    expect(events[0]).toMatchObject({
      tick: 1,
      count: 0,
      held: [],
      first: [],
      pairs: pairs.map((pair) => ({ ...pair, edges: 0, triangles: 0 })),
    });
    expect(seconds).toBeLessThan(SECONDS);
    expect(fastest).toBeLessThan(FAST);
  });

  test("with weight, on a floor, the pair is moved apart", async () => {
    const lab = await laboratory({
      ...scene,
      colliders: [...(scene.colliders ?? []), { type: "plane", normal: [0, 1, 0], offset: -0.302 }],
      gravity: [0, -9.81, 0],
      damping: 1,
      substeps: 10,
    });
    const { events, fastest } = drawOut(lab, SECONDS);
    expect(events.map((e) => e.type)).toEqual(["tangled", "untangled"]);
    // a body that emerges at the side falls from there: sqrt(2 g h) from 0.6 m
    expect(fastest).toBeLessThan(3.5);
  });
});

describe("below a plane", () => {
  const floor: Collider = { type: "plane", normal: [0, 2, 0], offset: 0 };
  const place: V = [0.4, -1, 0];
  test.each<[string, Body]>([
    ["a jelly", jelly("a", 0.3, place)],
    ["a rigid body", rigid("a", 0.3, place)],
    ["a jelly, half of it", jelly("a", 0.3, [0, 0.05, 0])],
    ["a sheet", sheet("a", { type: "grid", size: [0.5, 0.5], cells: [8, 8] }, place)],
  ])("%s is reported, and put above the plane undeformed", async (_, body) => {
    const lab = await laboratory({
      bodies: [body, jelly("other", 0.2, [3, 0.11, 0])],
      colliders: [{ ...block, center: [9, 0, 0] }, floor],
      gravity: [0, -9.81, 0],
      damping: 1,
      substeps: 10,
    });
    const { events, fastest } = drawOut(lab, SECONDS);
    expect(events).toMatchObject([
      {
        type: "tangled",
        tick: 1,
        count: 0,
        held: [],
        pairs: [{ between: [{ body: 0 }, { collider: 1 }], inside: { body: 0 } }],
      },
      { type: "untangled" },
    ]);
    expect(fastest).toBeLessThan(FAST);
    expect(Math.min(...lab.positions(0).filter((_, i) => i % 3 === 1))).toBeGreaterThan(0);
    expect(Math.abs(lab.positions(0)[0]! - lab.created.bodies[0]!.positions[0]!)).toBeLessThan(0.05);
  });

  test('with intersections "hold" a body below a plane stays; near the plane it is pushed out', async () => {
    const held = await laboratory({
      bodies: [jelly("a", 0.3, place)],
      colliders: [floor],
      intersections: "hold",
      substeps: 4,
    });
    const before = held.positions(0);
    expect(held.run(5).filter((e) => e.type === "tangled")).toMatchObject([{ held: [0] }]);
    expect(held.positions(0)).toEqual(before);
    const near = await laboratory({ bodies: [jelly("a", 0.3, [0, 0.149, 0])], colliders: [floor], substeps: 4 });
    expect(near.run(5)).toEqual([]);
  });
});

test('with intersections "hold" enclosed bodies stay where they are', async () => {
  const lab = await laboratory({
    ...starts["a jelly in a jelly"]![0],
    intersections: "hold",
    gravity: [0, -9.81, 0],
    substeps: 4,
  });
  const before = [lab.positions(0), lab.positions(1)];
  const events = lab.run(20);
  expect(events.filter((e) => e.type === "tangled")).toMatchObject([{ tick: 1, held: [0, 1] }]);
  expect([lab.positions(0), lab.positions(1)]).toEqual(before);
  const alone = await laboratory({
    ...starts["a jelly in a block"]![0],
    intersections: "hold",
    gravity: [0, -9.81, 0],
    substeps: 4,
  });
  expect(alone.run(5).filter((e) => e.type === "tangled")).toMatchObject([{ held: [0] }]);
});

test.each<[string, Parts]>([
  [
    "a jelly in a closed bag",
    { bodies: [sheet("bag", { type: "ball", radius: 0.3, subdivisions: 3 }, [0, 0, 0]), jelly("small", 0.15, HERE)] },
  ],
  [
    "a jelly in a glass of triangles",
    {
      bodies: [jelly("small", 0.15, HERE)],
      colliders: [{ type: "mesh", mesh: { type: "ball", radius: 0.3, subdivisions: 2 } }],
    },
  ],
  [
    "a jelly in the hole of a funnel",
    {
      bodies: [jelly("small", 0.15, HERE)],
      colliders: [{ type: "funnel", a: [0, -0.3, 0], b: [0, 0.3, 0], radiusA: 0.3, radiusB: 0.4, thickness: 0.02 }],
    },
  ],
  [
    "a jelly in one that it passes through",
    { bodies: [jelly("big", 0.5), jelly("small", 0.15, HERE, { contact: { ignore: ["big"] } })] },
  ],
  [
    "jellies beside and above each other",
    { bodies: [jelly("big", 0.5), jelly("small", 0.15, [0.4, 0, 0]), jelly("upper", 0.15, [0, 0.4, 0])] },
  ],
])("no intersection is reported for %s", async (_, scene) => {
  const lab = await laboratory({ ...scene, substeps: 4 });
  expect(lab.run(10)).toEqual([]);
});

test("a reset reports the pair again, and a new world object continues with the same bits", async () => {
  const scene = { ...starts["a ball in a jelly"]![0], substeps: 4 };
  const [one, two] = [await laboratory(scene), await laboratory(scene)];
  one.run(50);
  two.run(20);
  const again = openWorld(two.created.memory, two.created.layout);
  again.mayRest = false;
  for (let t = 0; t < 30; t++) again.step([]);
  expect(again.stateHash()).toBe(one.world.stateHash());
  expect(one.run(1, [{ type: "reset", member: 1 }]).map((e) => e.type)).toEqual(["reset", "tangled"]);
});
