/** Owners create invitations through any process: the process that owns the room issues the token. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const folder = testFolder("invitations");
let near: TestServer;
let far: TestServer;
beforeAll(async () => {
  const shared = { store: "sqlite", dataDir: folder, workers: 1 };
  [near, far] = [await startTestServer(shared), await startTestServer(shared)];
});
afterAll(async () => {
  await far?.close();
  await near?.close();
});

test("an owner's token, which is bound to one room, is valid at every process", async () => {
  const { token } = await createRoom(near.url, "cube", "mine");
  expect(far.app.registry.find("mine")).toBeUndefined();
  const answers = await Promise.all(
    [near, far].map(({ url }) =>
      postJson(`${url}/api/tokens`, { room: "mine", role: "spectator", name: "a guest" }, token),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  for (const answer of answers) {
    const { token: invitation } = (await answer.json()) as { token: string };
    const guest = await Bot.join(far.url, "mine", { joinToken: invitation });
    expect(guest.welcome.role).toBe("spectator");
    await guest.leave();
  }
  // A token for an earlier room of that name gives no right to issue tokens for a missing room.
  const elsewhere = await postJson(`${far.url}/api/tokens`, { room: "nowhere", role: "spectator" }, token);
  expect(elsewhere.status).toBe(403);
});
