/** Looks in a room's memory: changes with their bounds and ends, the state hash, and a saved state. */
import { expect, test } from "vitest";
import { loadState, saveState } from "../../../../server/sim/world/checkpoint.ts";
import type { Input } from "../../../../server/sim/types.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import type { LookChange } from "../../../../shared/scene/bodyLook.ts";
import type { Body } from "../../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";

const ball = (name: string, x: number, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "ball",
    mesh: { type: "ball", radius: 0.1, subdivisions: 1 },
    transform: { translate: [x, 0, 0] },
    material: { density: 500 },
    ...more,
  }) as Body;
const spawnable = { spawnable: true } as const;
const room = (): Promise<Laboratory> =>
  laboratory({ substeps: 2, bodies: [ball("own", 0), ball("a", 1, spawnable), ball("b", 2, spawnable)] });
const dress = (body: number, change: LookChange, member = 7): Input => ({ type: "dress", member, body, ...change });

test("a change keeps the other fields; null ends one; the author is that of the text", async () => {
  const { world } = await room();
  expect(world.looks()).toEqual([]);
  const text = "Zoë’s 🎈";
  const { events } = world.step([dress(2, { color: "#0000ff", text }), dress(2, { finish: "paper" }, 8)]);
  const first = { color: "#0000ff", text, by: 7 };
  expect(events).toEqual([
    { type: "dressed", tick: 1, member: 7, body: 2, look: first, before: {}, input: 0 },
    { type: "dressed", tick: 1, member: 8, body: 2, look: { ...first, finish: "paper" }, before: first, input: 1 },
  ]);
  world.step([dress(2, { color: null, text: null }), dress(1, { color: "#000000" })]);
  expect(world.looks()).toEqual([
    [1, { color: "#000000" }],
    [2, { finish: "paper" }],
  ]);
});

test.each<[string, number, LookChange]>([
  ["body", 0, { color: "#000000" }],
  ["body", 3, { color: "#000000" }],
  ["body", -1, { color: "#000000" }],
  ["color", 1, { color: "#00000" }],
  ["color", 1, { color: "#00000g" }],
  ["finish", 1, { finish: "gold" as "clay" }],
  ["text", 1, { text: "😀".repeat(41) }],
])("a journal's wrong %s changes nothing (body %i, %j)", async (field, body, change) => {
  const { world } = await room();
  const hash = world.stateHash();
  expect(world.step([dress(body, change)]).events).toMatchObject([{ type: "inputRejected", field, input: 0 }]);
  expect(world.looks()).toEqual([]);
  const untouched = (await room()).world;
  untouched.step([]);
  expect(world.stateHash()).toBe(untouched.stateHash());
  expect(world.stateHash()).not.toBe(hash);
});

test("a removal ends the body's look, a reset all; only a look that differs changes the state hash", async () => {
  const { world } = await room();
  const plain = (await room()).world;
  world.step([{ type: "spawn", member: 1, body: 1, position: [5, 0, 0], heading: [1, 0], occupied: "refuse" }]);
  plain.step([{ type: "spawn", member: 1, body: 1, position: [5, 0, 0], heading: [1, 0], occupied: "refuse" }]);
  world.step([dress(1, { finish: "clay" }), dress(2, { finish: "foam" })]);
  plain.step([]);
  expect(world.stateHash()).not.toBe(plain.stateHash());
  const removed = world.step([{ type: "remove", member: 1, body: 1 }]);
  plain.step([{ type: "remove", member: 1, body: 1 }]);
  expect(removed.events).toMatchObject([
    { type: "removed", body: 1 },
    { type: "dressed", body: 1, look: {}, before: { finish: "clay" }, member: 0 },
  ]);
  expect(world.looks()).toEqual([[2, { finish: "foam" }]]);
  expect(world.step([{ type: "reset", member: 1 }]).events.map(({ type }) => type)).toEqual(["reset", "dressed"]);
  plain.step([{ type: "reset", member: 1 }]);
  expect(world.looks()).toEqual([]);
  expect(world.stateHash()).toBe(plain.stateHash());
});

test("a saved state has the looks", async () => {
  const { created, world } = await room();
  const { memory, layout } = (await room()).created;
  world.step([dress(1, { color: "#123456", finish: "silk", text: "here" })]);
  loadState(memory, layout, saveState(created.memory, memory, layout));
  const restored = openWorld(memory, layout);
  expect(restored.looks()).toEqual([[1, { color: "#123456", finish: "silk", text: "here", by: 7 }]]);
  expect(restored.stateHash()).toBe(world.stateHash());
});
