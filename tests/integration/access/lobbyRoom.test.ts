/** The lobby's shared room: nobody owns it, so no visitor can take it from the others, nor choose its scene. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { LOBBY_ROOM, LOBBY_SCENE } from "../../../shared/members/lobbyRoom.ts";
import { SCENES_DIR, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

let server: TestServer;
let scenesDir: string;
beforeAll(async () => {
  scenesDir = testFolder("lobby");
  for (const scene of ["cube", LOBBY_SCENE])
    copyFileSync(join(SCENES_DIR, "cube.json"), join(scenesDir, `${scene}.json`));
  server = await startTestServer({ scenesDir });
});
afterAll(() => server?.close());

test("no visitor opens the lobby's room with another scene", async () => {
  const ask = (scene: string): Promise<Response> => postJson(`${server.url}/api/rooms`, { scene, room: LOBBY_ROOM });
  const answers = [await ask("cube"), await ask(LOBBY_SCENE), await ask("cube"), await ask(LOBBY_SCENE)];
  expect(answers.map(({ status }) => status)).toEqual([409, 201, 409, 200]);
  const refusal = { code: "ROOM_EXISTS", field: "room", value: LOBBY_ROOM, limit: `scene ${LOBBY_SCENE}` };
  for (const refused of [answers[0]!, answers[2]!]) expect(await refused.json()).toMatchObject(refusal);
  await server.app.registry.remove(LOBBY_ROOM);
});

test("the first visitor of the lobby is a player like the others and can neither lock nor tune the room", async () => {
  const { token } = await createRoom(server.url, LOBBY_SCENE, LOBBY_ROOM);
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
