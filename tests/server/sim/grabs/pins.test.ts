/** Pins in a room's memory: a held point stays after its member has left; bounds, ends of a pin, and a saved state. */
import { expect, test } from "vitest";
import { loadState, saveState } from "../../../../server/sim/world/checkpoint.ts";
import type { Input, SimEvent } from "../../../../server/sim/types.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import { PINS_PER_MEMBER, PINS_PER_ROOM, type Pin } from "../../../../shared/members/pin.ts";
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
const room = (): Promise<Laboratory> =>
  laboratory({ substeps: 2, gravity: [0, -9.81, 0], bodies: [ball("own", 0), ball("a", 1, { spawnable: true })] });

const AT = { body: 0, triangle: 3, u: 0.25, v: 0.5, target: [0, 0.25, 0] as [number, number, number] };
const grab = (member: number, id: number): Input => ({ type: "grab", member, grab: id, ...AT });
const pin = (member: number, id: number, more: Partial<Pin> = {}): Input => ({
  ...{ type: "pin", member, grab: id, by: member, ...AT },
  ...more,
});
const unpin = (number: number, member = 7): Input => ({ type: "unpin", member, pin: number });
const heightOf = ({ world }: Laboratory): number => world.position(0, 0)[1];
const rejected = (events: readonly SimEvent[]): unknown[] =>
  events.flatMap((event) => (event.type === "inputRejected" ? [event.limit] : []));

test("a pinned body stays up when its member has left, and falls when the pin is removed", async () => {
  const lab = await room();
  const { world } = lab;
  const { events } = world.step([grab(7, 1), pin(7, 1)]);
  expect(events).toEqual([{ type: "pinned", tick: 1, member: 7, pin: 0, after: { ...AT, by: 7 }, input: 1 }]);
  world.step([
    { type: "release", member: 7, grab: 1 },
    { type: "releaseAll", member: 7 },
  ]);
  let held = 0;
  for (let tick = 0; tick < 180; tick++) {
    world.step([]);
    held = heightOf(lab);
    // it swings: within its diameter, and the stretch of the grab
    expect(Math.abs(held - AT.target[1])).toBeLessThan(0.25);
  }
  expect(world.pins()).toEqual([[0, { ...AT, by: 7 }]]);
  expect(world.step([unpin(0, 8)]).events).toMatchObject([
    { type: "pinned", member: 8, pin: 0, before: { by: 7 }, input: 0 },
  ]);
  for (let tick = 0; tick < 30; tick++) world.step([]);
  expect(heightOf(lab)).toBeLessThan(held - 0.5);
});

test("without a grab a pin begins one at its point, for its author", async () => {
  const { world } = await room();
  const { grab: _, ...alone } = pin(7, 1) as Extract<Input, { type: "pin" }>;
  world.step([{ ...alone, member: 9 }]);
  const grabbed = (await room()).world;
  grabbed.step([grab(7, 1), pin(7, 1)]);
  expect(world.pins()).toEqual(grabbed.pins());
  expect(world.stateHash()).toBe(grabbed.stateHash());
});

test("a member has a share of the room's pins; a refused one keeps its grab; removing none is no error", async () => {
  const { world } = await room();
  const many = (member: number, count: number): Input[] =>
    Array.from({ length: count }, (_, id) => [grab(member, id), pin(member, id)]).flat();
  expect(rejected(world.step(many(1, PINS_PER_MEMBER + 1)).events)).toEqual([`${PINS_PER_MEMBER} pins of a member`]);
  const left = PINS_PER_ROOM - PINS_PER_MEMBER;
  world.step(many(2, left));
  expect(rejected(world.step(many(3, 1)).events)).toEqual([`${PINS_PER_ROOM} pins in a room`]);
  expect(world.pins()).toHaveLength(PINS_PER_ROOM);
  // The refused grab is still the member's: it can be pinned when a pin has gone.
  expect(world.step([unpin(5), pin(3, 0)]).events).toMatchObject([{ before: {} }, { pin: 5, after: { by: 3 } }]);
  expect(world.step([unpin(5), unpin(5), unpin(99), unpin(-1)]).events).toHaveLength(1);
});

test("pins leave members all of their grabs", async () => {
  const { world } = await room();
  const pinned = Array.from({ length: PINS_PER_ROOM }, (_, n) => [grab(1 + (n % 2), n), pin(1 + (n % 2), n)]);
  world.step(pinned.flat());
  const held = Array.from({ length: 33 }, (_, n) => grab(20 + n, 1));
  expect(rejected(world.step(held).events)).toEqual(["32 grabs in a room"]);
});

test.each<[string, Input]>([
  ["grab", pin(7, 2)],
  ["grab", pin(8, 1)],
  ["body", pin(7, 1, { body: 9 })],
  ["body", pin(7, 1, { body: 1 })],
  ["triangle", pin(7, 1, { triangle: 1e6 })],
  ["u", pin(7, 1, { u: Number.NaN })],
  ["target", pin(7, 1, { target: [1e9, 0, 0] })],
])("a journal's wrong %s changes nothing", async (field, input) => {
  const { world } = await room();
  expect(world.step([grab(7, 1), input]).events).toMatchObject([{ type: "inputRejected", field, input: 1 }]);
  const untouched = (await room()).world;
  untouched.step([grab(7, 1)]);
  expect(world.stateHash()).toBe(untouched.stateHash());
});

test("a removal of the body ends its pins, a reset all; only a pin changes the state hash", async () => {
  const { world } = await room();
  const spawn: Input = { type: "spawn", member: 1, body: 1, position: [5, 0, 0], heading: [1, 0], occupied: "refuse" };
  const onSpare = { ...AT, body: 1 };
  world.step([spawn, { type: "grab", member: 1, grab: 1, ...onSpare }, pin(1, 1, onSpare), grab(1, 2), pin(1, 2)]);
  expect(world.pins().map(([number]) => number)).toEqual([0, 1]);
  expect(world.step([{ type: "remove", member: 1, body: 1 }]).events).toMatchObject([
    { type: "removed" },
    { type: "pinned", pin: 0, before: { body: 1 }, member: 0 },
  ]);
  const pinned = world.stateHash();
  expect(world.step([{ type: "reset", member: 1 }]).events.map(({ type }) => type)).toEqual(["reset", "pinned"]);
  expect(world.pins()).toEqual([]);
  const plain = (await room()).world;
  for (const inputs of [[], [], [{ type: "reset", member: 1 } as Input]]) plain.step(inputs);
  expect(world.stateHash()).toBe(plain.stateHash());
  expect(world.stateHash()).not.toBe(pinned);
});

test("a saved state has the pins and holds their bodies", async () => {
  const { created, world } = await room();
  const { memory, layout } = (await room()).created;
  world.step([grab(7, 1), pin(7, 1)]);
  loadState(memory, layout, saveState(created.memory, memory, layout));
  const restored = openWorld(memory, layout);
  expect(restored.pins()).toEqual(world.pins());
  for (let tick = 0; tick < 20; tick++) for (const one of [world, restored]) one.step([]);
  expect(restored.stateHash()).toBe(world.stateHash());
});
