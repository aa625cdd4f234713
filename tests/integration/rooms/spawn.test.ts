/**
 * Spawnable bodies, over real sockets: put in where there is space. A refusal goes only to the member who asked. Later
 * members see the body, and it can be taken out again.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom, type Point } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const THERE = 0;
const SPARE = 1;
const BALL = 2;
/** Height of a body's lowest particle, m. */
const lowest = (bot: Bot, body: number): number =>
  Math.min(...Array.from({ length: bot.topology.bodies[body]!.count }, (_, i) => bot.position(body, i)[1]));

async function two(room: string): Promise<[Bot, Bot]> {
  await createRoom(server.url, "spare", room);
  return [await Bot.join(server.url, room, { name: "Ann" }), await Bot.join(server.url, room, { name: "Ben" })];
}

test("the topology lists spawnable bodies, the room the absent ones; a spawned one appears for all members", async () => {
  const [ann, ben] = await two("put-in");
  expect(ann.topology.bodies.map((body) => body.spawnable)).toEqual([undefined, true, true]);
  expect(ben.spawnable).toMatchObject({ bodies: [SPARE, BALL], member: 0 });
  ann.spawn(SPARE, [1, 0.5, 0.2], { heading: [0, 2] });
  await ben.until(() => !ben.spawnable.bodies.includes(SPARE) && ben.tick >= ben.spawnable.tick, "the spawn");
  expect(ben.spawnable).toMatchObject({ bodies: [BALL], member: ann.welcome.member });
  const [x, , z] = ben.center(SPARE);
  expect(x).toBeCloseTo(1, 2);
  expect(z).toBeCloseTo(0.2, 2);
  // The body falls from the place of its spawn.
  await ben.until(() => lowest(ben, SPARE) < 0.02, "the floor");
  expect(lowest(ben, SPARE)).toBeGreaterThan(-0.01);
  // A later member knows it before the first frame.
  const late = await Bot.join(server.url, "put-in");
  expect(late.spawnable.bodies).toEqual([BALL]);
  expect(late.spawnable.tick).toBeLessThanOrEqual(late.tick);
  expect(late.center(SPARE)[0]).toBeCloseTo(1, 1);
  await Promise.all([ann.leave(), ben.leave(), late.leave()]);
});

test("an occupied place is refused to the member who asked, with field, value and limit; or the body goes on top", async () => {
  const [ann, ben] = await two("taken");
  const before = ben.counts.messages;
  ann.spawn(SPARE, [0.1, 0.1, 0]);
  await ann.until(() => ann.notices.length > 0, "the refusal");
  expect(ann.notices).toMatchObject([
    { code: "PLACE_TAKEN", details: { field: "position", value: 0, by: { body: THERE } } },
  ]);
  expect(String(ann.notices[0]!.details.limit)).toMatch(/^at least 0\.\d+ m from body 0$/);
  await ben.frames(3);
  expect(ben.counts.messages).toBeGreaterThan(before);
  expect(ben.notices).toEqual([]);
  expect(ben.spawnable.bodies).toEqual([SPARE, BALL]);
  await new Promise((resolve) => setTimeout(resolve, 270));
  ann.spawn(SPARE, [0.1, 0.1, 0], { occupied: "lift" });
  await ben.until(() => ben.spawnable.bodies.length === 1 && ben.tick >= ben.spawnable.tick, "the spawn");
  const top = Math.max(
    ...Array.from({ length: ben.topology.bodies[THERE]!.count }, (_, i) => ben.position(THERE, i)[1]),
  );
  // It has rested on the body below for some ticks, and the middle of that body's top sinks first.
  expect(lowest(ben, SPARE)).toBeGreaterThan(top - 0.01);
  expect(lowest(ben, SPARE)).toBeLessThan(top + 0.02);
  expect(await (await fetch(`${server.url}/api/rooms/taken`)).json()).toMatchObject({
    heldBodies: [],
    spawnableBodies: [BALL],
  });
  // The rate of spawn requests is limited.
  ann.spawn(BALL, [2, 1, 0]);
  ann.spawn(BALL, [3, 1, 0]);
  await ann.until(() => ann.notices.length > 1, "the refusal of the next one");
  expect(ann.notices[1]).toMatchObject({ code: "SPAWN_TOO_SOON", details: { limit: "once in 250 ms" } });
  await Promise.all([ann.leave(), ben.leave()]);
});

test("grabs of a removed body end; a reset removes all spawned bodies", async () => {
  const [ann, ben] = await two("taken-out");
  ann.spawn(SPARE, [1, 0.1, 0]);
  ben.spawn(BALL, [-1, 0.1, 0]);
  await ann.until(() => ann.spawnable.bodies.length === 0, "both");
  ben.grab(3, { body: SPARE, triangle: 0, u: 0.3, v: 0.3 }, [1, 0.5, 0]);
  await ann.until(() => ann.memberGrabs.get(ben.welcome.member)?.grabs.length === 1, "Ben's hand");
  ann.remove(SPARE);
  await ben.until(() => ben.spawnable.bodies.includes(SPARE), "the removal");
  expect(ben.spawnable).toMatchObject({ bodies: [SPARE], member: ann.welcome.member });
  await ann.until(() => ann.memberGrabs.get(ben.welcome.member)?.grabs.length === 0, "the end of Ben's grab");
  // An absent body cannot be grabbed.
  ben.grab(4, { body: SPARE, triangle: 0, u: 0.3, v: 0.3 }, [1, 0.5, 0]);
  await ben.until(() => ben.notices.length > 0, "the refusal");
  expect(ben.notices).toMatchObject([{ code: "INPUT_REJECTED", details: { field: "body", value: SPARE } }]);
  await ann.until(() => ann.memberGrabs.get(ben.welcome.member)?.grabs.length === 0, "the refused grab");
  ann.reset();
  await ben.until(() => ben.spawnable.bodies.length === 2, "the reset");
  expect(ben.spawnable).toMatchObject({ bodies: [SPARE, BALL], member: 0 });
  await Promise.all([ann.leave(), ben.leave()]);
});

test.each<[string, (bot: Bot) => void, string, object]>([
  [
    "a body that is not spawnable",
    (bot) => bot.spawn(THERE, [1, 1, 1]),
    "OUT_OF_RANGE",
    { field: "body", value: THERE, limit: "a spawnable body: 1, 2" },
  ],
  [
    "a place beyond the world",
    (bot) => bot.spawn(SPARE, [0, 1000, 0]),
    "OUT_OF_RANGE",
    { field: "position", value: 1000 },
  ],
  [
    "a heading of length 0",
    (bot) => bot.spawn(SPARE, [1, 1, 1], { heading: [0, 0] }),
    "OUT_OF_RANGE",
    { field: "heading", value: 0 },
  ],
  [
    "removing an absent body",
    (bot) => bot.remove(BALL),
    "INPUT_REJECTED",
    { field: "body", value: BALL, limit: "a body in the scene: this one is absent" },
  ],
])("refused: %s", async (what, act, code, details) => {
  const room = `refused-${what.replaceAll(" ", "-").slice(0, 30)}`;
  await createRoom(server.url, "spare", room);
  const bot = await Bot.join(server.url, room);
  act(bot);
  await bot.until(() => bot.notices.length > 0, "the notice");
  expect(bot.notices).toMatchObject([{ code, details }]);
  await bot.leave();
});

test.each([
  ["a heading with one number", [10, 1, 0, 0, 0, { heading: [1] }], "spawn: heading is not two finite numbers"],
  ["an unknown word", [10, 1, 0, 0, 0, { occupied: "push" }], "spawn: occupied is neither refuse nor lift"],
  ["a missing coordinate", [10, 1, 0, 0], "spawn: z is not a finite number"],
])("malformed: %s", async (what, message, reason) => {
  await createRoom(server.url, "spare", "malformed");
  const bot = await Bot.join(server.url, "malformed");
  bot.send(message);
  expect(await bot.untilClosed()).toEqual({ code: 4400, reason });
  expect(what).not.toBe("");
});

test("a room with only resting and absent bodies sends almost nothing", async () => {
  await createRoom(server.url, "spare", "quiet");
  const bot = await Bot.join(server.url, "quiet");
  await bot.until(() => bot.counts.emptyDeltas >= 3, "rest");
  const position: Point = [1, 0.3, 0];
  bot.spawn(SPARE, position);
  await bot.until(() => bot.spawnable.bodies.length === 1 && bot.tick >= bot.spawnable.tick, "the spawn wakes it");
  expect(bot.counts.keyframes).toBe(1);
  await bot.leave();
});
