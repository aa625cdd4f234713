/** Reactions and chat over real sockets: roles, the owner's switch, and newcomers. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { postJson } from "../../support/request.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const say = (bot: Bot, text: string): void => bot.send([ClientMessage.say, text]);
const react = (bot: Bot, reaction: number): void => bot.send([ClientMessage.react, reaction]);
const hears = (bot: Bot, line: string): Promise<void> =>
  bot.until(() => bot.lines?.includes(line) ?? false, `the line ${line}`);
const refused = async (bot: Bot): Promise<unknown> => {
  await bot.until(() => bot.notices.length > 0, "a refusal");
  return bot.notices.splice(0)[0];
};

test("all members get lines and reactions, also their author; spectators only react", async () => {
  const { room, token } = await createRoom(server.url, "cube", "talk");
  const owner = await Bot.join(server.url, room, { name: "Ann", joinToken: token! });
  const issued = await postJson(`${server.url}/api/tokens`, { room, role: "spectator" }, token);
  const { token: watching } = (await issued.json()) as { token: string };
  const spectator = await Bot.join(server.url, room, { name: "Ben", joinToken: watching });
  say(owner, "<b>hello</b> https://example.com");
  await Promise.all([owner, spectator].map((bot) => hears(bot, "Ann: <b>hello</b> https://example.com")));
  react(spectator, 2);
  const reaction = { member: spectator.welcome.member, reaction: 2 };
  for (const bot of [owner, spectator]) {
    await bot.until(() => bot.reactions.length > 0, "the reaction");
    expect(bot.reactions).toEqual([reaction]);
  }
  say(spectator, "me too");
  expect(await refused(spectator)).toMatchObject({
    code: "NOT_ALLOWED",
    details: { field: "say", value: "spectator" },
  });
  const late = await Bot.join(server.url, room, { name: "Cem" });
  await hears(late, "Ann: <b>hello</b> https://example.com");
  await Promise.all([owner, spectator, late].map((bot) => bot.leave()));
});

test("in a closed chat only owners write, and newcomers get nothing from before", async () => {
  const { room, token } = await createRoom(server.url, "cube", "closed");
  const owner = await Bot.join(server.url, room, { name: "Ann", joinToken: token! });
  const player = await Bot.join(server.url, room, { name: "Ben" });
  expect(player.access).toMatchObject({ chat: true });
  say(player, "before");
  await hears(owner, "Ben: before");
  owner.setAccess({ chat: false });
  await player.until(() => player.access?.chat === false, "the closed chat");
  say(player, "after");
  expect(await refused(player)).toMatchObject({
    code: "NOT_ALLOWED",
    details: { field: "say", value: "player", limit: "owner or above" },
  });
  const late = await Bot.join(server.url, room, { name: "Cem" });
  say(owner, "listen");
  await hears(late, "Ann: listen");
  expect(late.lines).toEqual(["Ann: listen"]);
  owner.kick(player.welcome.member);
  await player.untilClosed();
  owner.setAccess({ chat: true });
  await late.until(() => late.access?.chat === true, "the open chat");
  say(late, "thanks");
  await hears(owner, "Cem: thanks");
  await Promise.all([owner, late].map((bot) => bot.leave()));
});
