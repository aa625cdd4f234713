/**
 * Undo of single acts, over real sockets: members undo their own acts that can be separated from the acts of others;
 * owners undo any.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom, type Point } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const SPARE = 1;
const BALL = 2;
const AT = { body: 0, triangle: 0, u: 0.3, v: 0.3 };

/** Two guests, and the owner. */
async function three(scene: string, room: string): Promise<{ ann: Bot; ben: Bot; owner: Bot }> {
  const { token } = await createRoom(server.url, scene, room);
  const [ann, ben, owner] = await Promise.all([
    Bot.join(server.url, room, { name: "Ann" }),
    Bot.join(server.url, room, { name: "Ben" }),
    Bot.join(server.url, room, { joinToken: token! }),
  ]);
  return { ann, ben, owner };
}

/** Height of the lowest particle of the spare body, m. */
const lowest = (bot: Bot): number =>
  Math.min(...Array.from({ length: bot.topology.bodies[SPARE]!.count }, (_, i) => bot.position(SPARE, i)[1]));

/** Asks for an undo that must be refused. @returns code and details of the notice */
async function refused(bot: Bot): Promise<{ code: string; details: Record<string, unknown> }> {
  const before = bot.notices.length;
  bot.undo();
  await bot.until(() => bot.notices.length > before, "the refusal");
  return bot.notices[before]!;
}

const wentBack = (bot: Bot): number => bot.notices.filter(({ code }) => code === "WENT_BACK").length;

test("a member's undo takes out its own body, and puts back at its place the one that it took out", async () => {
  const { ann, ben, owner } = await three("spare", "own-acts");
  ann.spawn(SPARE, [1, 0.1, 0.2], { heading: [0, 2] });
  await ann.until(() => ann.spawnable.bodies.length === 1, "Ann's body");
  ben.spawn(BALL, [-1, 0.3, 0]);
  await ann.until(() => ann.spawnable.bodies.length === 0 && ann.tick > ann.spawnable.tick, "Ben's body");
  ann.undo();
  await ben.until(() => ben.spawnable.bodies.includes(SPARE), "Ann's undo");
  expect(ben.spawnable).toMatchObject({ bodies: [SPARE], member: ann.welcome.member });
  expect(await refused(ann)).toMatchObject({ code: "NOTHING_TO_UNDO", details: { field: "undo" } });

  await ann.until(() => ann.tick > ben.spawnable.tick + 16, "the pause between two spawns");
  ann.spawn(SPARE, [1, 0.1, 0.2], { heading: [0, 2] });
  await ben.until(() => ben.spawnable.bodies.length === 0 && ben.tick > ben.spawnable.tick, "the body again");
  await ben.until(() => lowest(ben) < 0.02, "the floor");
  const stood = ben.center(SPARE);
  ben.remove(SPARE);
  await ben.until(() => ben.spawnable.bodies.includes(SPARE), "its removal");
  // Ann's own spawn is not undone: her body is out already.
  expect(await refused(ann)).toMatchObject({ code: "NOTHING_TO_UNDO" });
  ben.undo();
  await ben.until(() => ben.spawnable.bodies.length === 0 && ben.tick > ben.spawnable.tick, "Ben's undo");
  for (const axis of [0, 1, 2]) expect(ben.center(SPARE)[axis]).toBeCloseTo(stood[axis]!, 1);

  // The owner undoes the newest act of any member, which now is Ann's spawn.
  owner.undo();
  await ben.until(() => ben.spawnable.bodies.includes(SPARE), "the owner's undo");
  expect(wentBack(ben)).toBe(0);
  await Promise.all([ann.leave(), ben.leave(), owner.leave()]);
});

test("one undo takes back a slider's moves, and leaves later changes of other values", async () => {
  const { ann, owner } = await three("cube", "own-tuning");
  for (const y of [1, 2, 3]) owner.tune({ gravity: [0, -y, 0] });
  await ann.until(() => ann.tuned!.tuning.gravity[1] === -3, "gravity");
  await ann.until(() => ann.tick > ann.tuned!.tick + 40, "the next act");
  owner.tune({ body: 0, friction: 1.5 });
  await ann.until(() => ann.tuned!.tuning.bodies[0]!.friction === 1.5, "friction");
  const before = ann.tuned!.tuning;
  owner.undo();
  await ann.until(() => ann.tuned!.tuning.bodies[0]!.friction !== 1.5, "the first undo");
  expect(ann.tuned!.tuning.gravity).toEqual(before.gravity);
  owner.undo();
  await ann.until(() => ann.tuned!.tuning.gravity[1] === 0, "the second undo");
  expect(await refused(owner)).toMatchObject({ code: "NOTHING_TO_UNDO" });
  expect(wentBack(ann)).toBe(0);
  await Promise.all([ann.leave(), owner.leave()]);
});

test("a pull is undone alone; not by a member if another one has acted since, but by the owner", async () => {
  const { ann, ben, owner } = await three("cube", "own-pulls");
  const start = ann.center(0);
  const pull = async (bot: Bot, to: Point, far: (center: Point) => boolean): Promise<void> => {
    bot.grab(1, AT, to);
    await ann.until(() => far(ann.center(0)), "the pull");
    bot.release(1);
  };
  await pull(ann, [3, 1, 0], ([x]) => x > start[0] + 0.1);
  ann.undo();
  await ann.until(() => wentBack(ann) === 1 && ann.center(0)[0] < start[0] + 0.001, "Ann's undo");
  // Nothing moves in this room but by pulls: the cube is exactly where it was.
  expect(ann.center(0)).toEqual(start);
  expect(ben.notices.at(-1)).toMatchObject({ code: "WENT_BACK", details: { member: ann.welcome.member } });

  await pull(ann, [3, 1, 0], ([x]) => x > start[0] + 0.1);
  await pull(ben, [-3, 1, 0], ([x]) => x < start[0] + 0.05);
  expect(await refused(ann)).toMatchObject({ code: "NOT_SEPARABLE", details: { field: "undo" } });
  owner.undo();
  await ann.until(() => wentBack(ann) === 2, "Ben's pull undone");
  owner.undo();
  await ann.until(() => wentBack(ann) === 3 && ann.center(0)[0] < start[0] + 0.001, "Ann's pull undone");
  expect(ann.center(0)).toEqual(start);
  await Promise.all([ann.leave(), ben.leave(), owner.leave()]);
});

test("an undo needs the right to the inverse act: of a reset, and of a text in a closed chat", async () => {
  const { ann, ben, owner } = await three("spare", "own-rights");
  ben.dress(SPARE, { text: "hello" });
  await ben.until(() => ben.looks.get(SPARE)?.look.text === "hello", "the text");
  await ben.until(() => ben.tick > ben.welcome.tickHz * 2, "the next act");
  ben.dress(SPARE, { text: null });
  await ben.until(() => ben.looks.get(SPARE)?.look.text === undefined, "no text");
  owner.setAccess({ chat: false });
  await ben.until(() => !ben.access!.chat, "a closed chat");
  expect(await refused(ben)).toMatchObject({ code: "NOT_SEPARABLE" });
  ann.reset();
  await ann.until(() => ann.resets === 1, "the reset");
  owner.setAccess({ ownersOnly: true });
  await ann.until(() => ann.access!.ownersOnly, "the news");
  expect(await refused(ann)).toMatchObject({ code: "NOT_SEPARABLE" });
  await Promise.all([ann.leave(), ben.leave(), owner.leave()]);
});

test("a reset is undone; with `ownersOnly` members undo no spawns", async () => {
  const { ann, ben, owner } = await three("spare", "own-reset");
  ann.spawn(SPARE, [1, 0.1, 0.2]);
  await ben.until(() => !ben.spawnable.bodies.includes(SPARE), "the body");
  ben.reset();
  await ben.until(() => ben.resets === 1, "the reset");
  ben.undo();
  await ann.until(() => wentBack(ann) === 1 && !ann.spawnable.bodies.includes(SPARE), "the body back");
  owner.setAccess({ ownersOnly: true });
  await ann.until(() => ann.access!.ownersOnly, "the news");
  expect(await refused(ann)).toMatchObject({ code: "NOT_SEPARABLE" });
  owner.undo();
  await ann.until(() => ann.spawnable.bodies.includes(SPARE), "the owner's undo");
  await Promise.all([ann.leave(), ben.leave(), owner.leave()]);
});
