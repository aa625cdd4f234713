/**
 * Pins over real sockets: every member sees them, also a later one, in replays and after a restart; they stay when
 * their member leaves; undo, removals, resets, kicks and owners end them.
 */
import { decode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { PINS_PER_MEMBER, PINS_PER_ROOM } from "../../../shared/members/pin.ts";
import { Bot, createRoom, type Point } from "../../../load-tests/bot.ts";
import { parseServerMessage } from "../../../shared/protocol/fromServer.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const UP: Point = [0, 1, 0];
const at = (triangle: number): { body: number; triangle: number; u: number; v: number } => ({
  ...{ body: 0, triangle },
  ...{ u: 0.25, v: 0.5 },
});

/** Waits until the bot knows of this many pins. */
const sees = (bot: Bot, count: number): Promise<void> =>
  bot.until(() => bot.pins.pins.size === count, `${count} pins`, 60_000);

async function refusal(bot: Bot): Promise<unknown> {
  const found = (): unknown => bot.notices.find(({ code }) => code !== "WENT_BACK");
  await bot.until(() => found() !== undefined, "a refusal");
  return [found(), bot.notices.splice(0)][0];
}

function grabAndPin(bot: Bot, grab: number): void {
  bot.grab(grab, at(grab), UP);
  bot.pin(grab);
}

/** Numbers of pins in the messages of a room's replay, in order. */
async function replayedPins(url: string, room: string): Promise<number[][]> {
  const replay = new Uint8Array(await (await fetch(`${url}/api/rooms/${room}/replay?seconds=20`)).arrayBuffer());
  const view = new DataView(replay.buffer);
  const replayed: number[][] = [];
  for (let from = 0; from < replay.length; from += 4 + view.getUint32(from)) {
    const message = replay.slice(from + 4, from + 4 + view.getUint32(from));
    const event = Array.isArray(decode(message)) ? parseServerMessage(message.buffer) : undefined;
    if (event?.type === "pins") replayed.push(event.pins.map(([pin]) => pin));
  }
  return replayed;
}

test("a pin stays when its member leaves; late members, replays and a restarted server have it", async () => {
  const dataDir = testFolder("pins");
  const start = (): ReturnType<typeof startTestServer> =>
    startTestServer({ store: "sqlite", dataDir, emptyRoomSeconds: 600 });
  let server = await start();
  const { token } = await createRoom(server.url, "cube", "pinned");
  const ann = await Bot.join(server.url, "pinned", { name: "Ann" });
  const ben = await Bot.join(server.url, "pinned", { name: "Ben" });
  const { member } = ann.welcome;
  ann.grab(1, at(0), UP);
  await ben.until(() => ben.memberGrabs.get(member)?.grabs.length === 1, "the grab");
  ann.pin(1);
  await Promise.all([sees(ann, 1), sees(ben, 1)]);
  const pin = { ...at(0), target: UP, by: member };
  expect(ben.pins).toEqual({ member, pins: new Map([[0, pin]]) });
  // The grab is the room's now.
  await ben.until(() => ben.memberGrabs.get(member)?.grabs.length === 0, "an empty hand");
  await ann.leave();
  await ben.until(() => ben.center(0)[1] > 0.5, "the lifted cube", 60_000);
  await sees(await Bot.join(server.url, "pinned"), 1);

  ben.unpin(0);
  await sees(ben, 0);
  ben.undo();
  await sees(ben, 1);
  expect([...ben.pins.pins.values()]).toEqual([pin]);
  await ben.frames(8);
  const replayed = await replayedPins(server.url, "pinned");
  expect(replayed.slice(-3)).toEqual([[0], [], [0]]);

  await server.close();
  server = await start();
  const owner = await Bot.join(server.url, "pinned", { joinToken: token! });
  await sees(owner, 1);
  owner.tune({ gravity: [0, -1.5, 0] });
  const later = owner.tick + 120;
  await owner.until(() => owner.tick > later, "two seconds of gravity", 60_000);
  expect(owner.center(0)[1]).toBeGreaterThan(0.5);
  owner.unpin(0);
  await owner.until(() => owner.center(0)[1] < 0, "the fallen cube", 60_000);
  await server.close();
});

test("undo, a return to an earlier tick, a reset, a kick and an owner's removal of all end pins", async () => {
  const server = await startTestServer();
  const { token } = await createRoom(server.url, "cube", "ended");
  const owner = await Bot.join(server.url, "ended", { joinToken: token! });
  const ann = await Bot.join(server.url, "ended", { name: "Ann" });
  grabAndPin(ann, 1);
  await sees(owner, 1);
  ann.undo();
  await sees(owner, 0);
  grabAndPin(ann, 2);
  await sees(owner, 1);
  await server.app.registry.get("ended").undo(600);
  await Promise.all([sees(owner, 0), sees(ann, 0)]);
  grabAndPin(ann, 3);
  await sees(owner, 1);
  owner.reset();
  await sees(ann, 0);
  grabAndPin(ann, 4);
  grabAndPin(owner, 4);
  await sees(ann, 2);
  ann.unpin(null);
  expect(await refusal(ann)).toMatchObject({
    code: "NOT_ALLOWED",
    details: { field: "unpin", limit: "owner or above" },
  });
  owner.unpin(null);
  await sees(ann, 0);
  grabAndPin(ann, 5);
  grabAndPin(owner, 5);
  await sees(owner, 2);
  owner.kick(ann.welcome.member);
  await sees(owner, 1);
  expect([...owner.pins.pins.values()][0]).toMatchObject({ by: owner.welcome.member });
  await server.close();
});

test("pins beyond the share, of a point that is not held, or while only owners act are refused", async () => {
  const server = await startTestServer();
  const { token } = await createRoom(server.url, "cube", "refused");
  const owner = await Bot.join(server.url, "refused", { joinToken: token! });
  const ann = await Bot.join(server.url, "refused", { name: "Ann" });
  ann.pin(7);
  expect(await refusal(ann)).toMatchObject({ code: "OUT_OF_RANGE", details: { field: "grab", value: 7 } });
  ann.unpin(PINS_PER_ROOM);
  expect(await refusal(ann)).toMatchObject({
    code: "OUT_OF_RANGE",
    details: { field: "pin", value: PINS_PER_ROOM, limit: `0 to ${PINS_PER_ROOM - 1}` },
  });
  for (let grab = 0; grab < PINS_PER_MEMBER; grab++) {
    grabAndPin(ann, grab);
    await sees(ann, grab + 1);
  }
  grabAndPin(ann, 50);
  expect(await refusal(ann)).toMatchObject({
    code: "INPUT_REJECTED",
    details: { field: "pin", limit: `${PINS_PER_MEMBER} pins of a member` },
  });
  // The refused grab is still held.
  await owner.until(() => owner.memberGrabs.get(ann.welcome.member)?.grabs[0]?.grab === 50, "the grab");
  owner.setAccess({ ownersOnly: true });
  await ann.until(() => ann.access?.ownersOnly === true, "the new access");
  for (const [field, act] of [["pin", () => ann.pin(50)] as const, ["unpin", () => ann.unpin(0)] as const]) {
    act();
    expect(await refusal(ann)).toMatchObject({ code: "NOT_ALLOWED", details: { field } });
  }
  expect(ann.pins.pins.size).toBe(PINS_PER_MEMBER);
  await server.close();
});
