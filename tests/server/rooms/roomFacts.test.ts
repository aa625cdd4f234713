/** Facts of a room: a client's state is the same after a change, a replaced state, or the messages for a newcomer. */
import { expect, test } from "vitest";
import { RoomFacts } from "../../../server/rooms/roomFacts.ts";
import { NO_WIND } from "../../../server/sim/tuning/windRow.ts";
import type { SimEvent } from "../../../server/sim/types.ts";
import type { Pin } from "../../../shared/members/pin.ts";
import type { Tuning } from "../../../shared/members/tuningLimits.ts";
import { parseServerMessage, type ServerEvent } from "../../../shared/protocol/fromServer.ts";
import { RoomMirror } from "../../../client/sdk/mirror/roomMirror.ts";
import { SimulatedTime } from "../../../client/state/simulatedTime.ts";

const TUNING: Tuning = { gravity: [0, -9.81, 0], wind: NO_WIND, timeScale: 1, pausedTicks: 0, bodies: [] };
const SPAWNABLE = [2, 3];
const PIN: Pin = { body: 0, triangle: 4, u: 0.25, v: 0.5, target: [0, 1, 0], by: 7 };
const RED = { color: "#ff0000" };

const EVENTS: readonly SimEvent[] = [
  { type: "spawned", tick: 5, member: 7, body: 2 },
  { type: "dressed", tick: 5, member: 7, body: 2, look: RED, before: {} },
  { type: "dressed", tick: 5, member: 8, body: 2, look: { ...RED, text: "mine", by: 8 }, before: RED },
  { type: "dressed", tick: 5, member: 7, body: 0, look: { text: "yours", by: 7 }, before: {} },
  { type: "pinned", tick: 5, member: 7, pin: 1, after: { ...PIN, by: 8 } },
  { type: "pinned", tick: 5, member: 7, pin: 3, after: PIN },
  { type: "tuned", tick: 5, member: 7, tuning: { ...TUNING, timeScale: 0 } },
];
const MOVED: SimEvent = { type: "yielded", tick: 6, movers: [[1, 0, 0.5, 0]] };

const eventsOf = (messages: readonly Uint8Array[]): ServerEvent[] =>
  messages.map((bytes) => parseServerMessage(new Uint8Array(bytes).buffer)!);

/** The facts that a client knows after these messages. */
function knownTo(client: RoomMirror, messages: readonly Uint8Array[]): unknown {
  for (const event of eventsOf(messages)) client.receive(event, 0);
  const looks = Object.entries(client.looks).filter(([, look]) => Object.keys(look).length > 0);
  return [client.tuning?.timeScale, client.spawnable, looks, client.pins];
}

const newClient = (): RoomMirror =>
  new RoomMirror({ fetchTopology: () => Promise.reject(new Error("not needed")), needKeyframe: () => {} });

/** A room's facts after some events, and a client that has followed them. */
function followed(events: readonly SimEvent[]): { facts: RoomFacts; client: RoomMirror; known: unknown } {
  const facts = new RoomFacts(SPAWNABLE, TUNING);
  const client = newClient();
  knownTo(client, facts.all(0));
  return { facts, client, known: knownTo(client, facts.take(events, 5)) };
}

const rowsOf = ({ tuning, absent, looks, pins }: RoomFacts) => ({
  tuning,
  absent: [...absent],
  looks: [...looks],
  pins: [...pins],
});

test("a member that follows every tick and a newcomer know the same", () => {
  const { facts, known } = followed(EVENTS);
  expect(known).toEqual([
    0,
    [3],
    [
      ["0", { text: "yours", by: 7 }],
      ["2", { ...RED, text: "mine", by: 8 }],
    ],
    { 1: { ...PIN, by: 8 }, 3: PIN },
  ]);
  expect(knownTo(newClient(), facts.all(6))).toEqual(known);
});

test("all looks of a tick are one message, and all pins one", () => {
  const { facts } = followed([]);
  expect(eventsOf(facts.take(EVENTS, 5)).map(({ type }) => type)).toEqual(["spawnable", "tuned", "looks", "pins"]);
});

test("a replaced state takes back looks and pins that it does not have", () => {
  const { facts, client } = followed(EVENTS);
  const earlier = new RoomFacts(SPAWNABLE, TUNING);
  expect(knownTo(client, facts.replace(rowsOf(earlier), 9))).toEqual([1, SPAWNABLE, [], {}]);
  expect(rowsOf(facts)).toEqual(rowsOf(earlier));
});

test("a replaced state brings its own looks and pins", () => {
  const { facts, known } = followed(EVENTS);
  const other = new RoomFacts(SPAWNABLE, TUNING);
  expect(knownTo(newClient(), other.replace(rowsOf(facts), 9))).toEqual(known);
});

test("newcomers learn which moving colliders are off their paths, as long as there are any", () => {
  const { facts } = followed([]);
  const isTold = (messages: readonly Uint8Array[]): boolean => eventsOf(messages).some(({ type }) => type === "movers");
  expect(isTold(facts.all(5))).toBe(false);
  expect(eventsOf(facts.take([MOVED], 6))).toEqual([{ ...MOVED, type: "movers" }]);
  expect(eventsOf(facts.all(7))).toContainEqual({ ...MOVED, type: "movers", tick: 7 });
  facts.take([{ ...MOVED, movers: [] }], 8);
  expect(isTold(facts.all(8))).toBe(false);
  expect(isTold(facts.take([{ ...MOVED, movers: [] }], 9))).toBe(false);
  facts.take([MOVED], 10);
  expect(eventsOf(facts.replace(rowsOf(facts), 4))).toContainEqual({ type: "movers", tick: 4, movers: [] });
});

test("a reset makes all spawnable bodies absent", () => {
  const { facts, client } = followed(EVENTS);
  expect(eventsOf(facts.take([{ type: "reset", tick: 8, member: 7 }], 8)).map(({ type }) => type)).toEqual([
    "reset",
    "spawnable",
  ]);
  expect(knownTo(client, facts.all(8))).toEqual(expect.arrayContaining([0, SPAWNABLE]));
});

test("a newcomer of a paused room learns how many ticks passed since", () => {
  const { facts } = followed(EVENTS);
  expect(eventsOf(facts.all(25))[0]).toMatchObject({ type: "tuned", tuning: { pausedTicks: 20 } });
  facts.replace({ ...rowsOf(facts), tuning: { ...TUNING, timeScale: 0, pausedTicks: 4 } }, 30);
  expect(eventsOf(facts.all(30))[0]).toMatchObject({ tuning: { pausedTicks: 4 } });
  expect(eventsOf(facts.all(32))[0]).toMatchObject({ tuning: { pausedTicks: 5 } });
});

test("simulated time stands in a paused room, as on a page", () => {
  const { facts } = followed(EVENTS);
  const page = new SimulatedTime();
  page.note(5, { timeScale: 0, pausedTicks: 0 });
  expect([3, 4, 5, 25].map((tick) => facts.simulatedTicks(tick))).toEqual([3, 4, 4, 4]);
  expect([3, 4, 5, 25].map((tick) => page.at(tick))).toEqual([3, 4, 4, 4]);
});

test("the texts and pins of a kicked member go, those of other members stay", () => {
  const { facts } = followed(EVENTS);
  expect(facts.removalsOf(8)).toEqual([
    { type: "dress", member: 0, body: 2, text: null },
    { type: "unpin", member: 0, pin: 1 },
  ]);
  expect(facts.removalsOf(undefined)).toEqual([]);
});
