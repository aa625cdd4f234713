/** The lobby's shared room: nobody owns it, so no visitor can take it from the others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { LOBBY_ROOM } from "../../../shared/members/lobbyRoom.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test("the first visitor of the lobby is a player like the others and can neither lock nor tune the room", async () => {
  const { token } = await createRoom(server.url, "cube", LOBBY_ROOM);
  expect(token).toBeUndefined();
  expect((await createRoom(server.url, "cube", "another")).token).toEqual(expect.any(String));
  const bot = await Bot.join(server.url, LOBBY_ROOM, { name: "Ann" });
  expect(bot.welcome.role).toBe("player");
  bot.send([ClientMessage.access, { locked: true }]);
  bot.send([ClientMessage.tune, { gravity: [0, 0, 0] }]);
  await bot.until(() => bot.notices.length === 2, "two refusals");
  expect(bot.notices.map(({ code }) => code)).toEqual(["NOT_ALLOWED", "NOT_ALLOWED"]);
  await bot.leave();
});
