/**
 * Looks of spawnable bodies, over real sockets: every member sees a change, also a later one and after a restart; undo,
 * a removal and a reset end it; texts follow the rules of the chat.
 */
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { decode } from "@msgpack/msgpack";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type BodyLook, LONGEST_TEXT } from "../../../shared/scene/bodyLook.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { parseServerMessage } from "../../../shared/protocol/fromServer.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const SPARE = 1;
const BALL = 2;

/** Waits until the body looks like this for the bot. */
const sees = (bot: Bot, body: number, look: BodyLook): Promise<void> =>
  bot.until(() => isDeepStrictEqual(bot.looks.get(body)?.look ?? {}, look), JSON.stringify(look), 60_000);

async function refusal(bot: Bot): Promise<unknown> {
  await bot.until(() => bot.notices.length > 0, "a refusal");
  return bot.notices.splice(0)[0];
}

/** Looks in the messages of a room's replay, in order. */
async function replayedLooks(url: string, room: string): Promise<BodyLook[]> {
  const replay = new Uint8Array(await (await fetch(`${url}/api/rooms/${room}/replay?seconds=20`)).arrayBuffer());
  const view = new DataView(replay.buffer);
  const replayed: BodyLook[] = [];
  for (let at = 0; at < replay.length; at += 4 + view.getUint32(at)) {
    const message = replay.slice(at + 4, at + 4 + view.getUint32(at));
    const event = Array.isArray(decode(message)) ? parseServerMessage(message.buffer) : undefined;
    if (event?.type === "looks") replayed.push(...event.looks.map(([, look]) => look));
  }
  return replayed;
}

test("a look reaches all members, later ones, and replays; a restart keeps it", async () => {
  const dataDir = testFolder("looks");
  const start = (): ReturnType<typeof startTestServer> =>
    startTestServer({ store: "sqlite", dataDir, emptyRoomSeconds: 600 });
  let server = await start();
  const { token } = await createRoom(server.url, "spare", "dressed");
  const ann = await Bot.join(server.url, "dressed", { name: "Ann" });
  const ben = await Bot.join(server.url, "dressed", { name: "Ben" });
  const { member } = ann.welcome;
  ann.dress(SPARE, { color: "#2e86ab", finish: "metal", text: "  Zoë’s\u202e \t box " });
  const dressed = { color: "#2e86ab", finish: "metal", text: "Zoë’s box", by: member } as const;
  await Promise.all([sees(ann, SPARE, dressed), sees(ben, SPARE, dressed)]);
  expect(ben.looks.get(SPARE)).toMatchObject({ member });
  ann.spawn(SPARE, [1, 0.5, 0.2]);
  await ben.until(() => !ben.spawnable.bodies.includes(SPARE), "the body in its new look");
  // Another member changes one field; the author of the text stays.
  ben.dress(SPARE, { color: null });
  const { color: _, ...colorless } = dressed;
  await sees(ann, SPARE, colorless);
  ben.undo();
  await sees(ann, SPARE, dressed);
  await sees(await Bot.join(server.url, "dressed"), SPARE, dressed);

  const replayed = await replayedLooks(server.url, "dressed");
  expect(replayed).toContainEqual(colorless);
  expect(replayed.at(-1)).toEqual(dressed);

  await server.close();
  server = await start();
  const owner = await Bot.join(server.url, "dressed", { joinToken: token! });
  await sees(owner, SPARE, dressed);
  await server.close();
});

test("undo, removal, a return to an earlier tick and a reset end a look; undoing a removal brings it back", async () => {
  const server = await startTestServer();
  const { token } = await createRoom(server.url, "spare", "ended");
  const owner = await Bot.join(server.url, "ended", { joinToken: token! });
  const ann = await Bot.join(server.url, "ended", { name: "Ann" });
  const clay = { color: "#2e86ab", finish: "clay" } as const;
  owner.dress(SPARE, clay);
  owner.spawn(SPARE, [1, 0.5, 0.2]);
  await ann.until(() => !ann.spawnable.bodies.includes(SPARE), "the body");
  owner.remove(SPARE);
  await sees(ann, SPARE, {});
  owner.undo();
  await sees(ann, SPARE, clay);
  await ann.until(() => !ann.spawnable.bodies.includes(SPARE), "the body again");
  ann.dress(BALL, { finish: "silk" });
  await sees(owner, BALL, { finish: "silk" });
  ann.undo();
  await sees(owner, BALL, {});
  ann.dress(BALL, { finish: "foam" });
  await sees(owner, BALL, { finish: "foam" });
  await server.app.registry.get("ended").undo(600);
  for (const body of [SPARE, BALL]) for (const bot of [owner, ann]) await sees(bot, body, {});
  owner.dress(BALL, { color: "#ffffff" });
  await sees(ann, BALL, { color: "#ffffff" });
  owner.reset();
  await sees(ann, BALL, {});
  await server.close();
});

test("values out of range are refused with field, value and limit; changes come at a limited rate", async () => {
  const server = await startTestServer();
  await createRoom(server.url, "spare", "refused");
  const ann = await Bot.join(server.url, "refused", { name: "Ann" });
  const tried: [body: number, change: Record<string, unknown>, details: Record<string, unknown>][] = [
    [0, { color: "#ffffff" }, { field: "body", value: 0 }],
    [SPARE, { color: "red" }, { field: "color", value: "red", limit: "#rrggbb" }],
    [SPARE, { finish: "gold" }, { field: "finish", value: "gold" }],
    [SPARE, { text: "😀".repeat(LONGEST_TEXT + 1) }, { field: "text", value: LONGEST_TEXT + 1 }],
  ];
  for (const [body, change, details] of tried) {
    ann.send([ClientMessage.dress, body, change]);
    expect(await refusal(ann)).toMatchObject({ code: "OUT_OF_RANGE", details });
  }
  const longest = "😀".repeat(LONGEST_TEXT);
  ann.dress(SPARE, { text: longest });
  await sees(ann, SPARE, { text: longest, by: ann.welcome.member });
  for (let n = 0; n <= Limits.lookBurst; n++) ann.dress(SPARE, { color: "#00000f" });
  expect(await refusal(ann)).toMatchObject({ code: "RATE_LIMITED", details: { field: "dress" } });
  await server.close();
});

test("texts follow the chat: closed, only owners write; a kicked member's texts go; an owner removes any", async () => {
  const server = await startTestServer();
  const { token } = await createRoom(server.url, "spare", "texts");
  const owner = await Bot.join(server.url, "texts", { joinToken: token! });
  const ann = await Bot.join(server.url, "texts", { name: "Ann" });
  ann.dress(SPARE, { text: "rude", finish: "clay" });
  await sees(owner, SPARE, { finish: "clay", text: "rude", by: ann.welcome.member });
  owner.dress(SPARE, { text: null });
  await sees(ann, SPARE, { finish: "clay" });
  ann.dress(BALL, { text: "again" });
  await sees(owner, BALL, { text: "again", by: ann.welcome.member });
  owner.setAccess({ chat: false });
  await ann.until(() => ann.access?.chat === false, "the closed chat");
  ann.dress(SPARE, { text: "more" });
  expect(await refusal(ann)).toMatchObject({
    code: "NOT_ALLOWED",
    details: { field: "dress", limit: "owner or above" },
  });
  ann.dress(SPARE, { color: "#123456" });
  await sees(owner, SPARE, { color: "#123456", finish: "clay" });
  owner.kick(ann.welcome.member);
  await sees(owner, BALL, {});
  expect(owner.looks.get(SPARE)!.look).toEqual({ color: "#123456", finish: "clay" });
  await server.close();
});
