/** A room's access survives a restart: password, lock, bans and owner are unchanged. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

let dataDir: string;
let server: TestServer;
beforeAll(() => {
  dataDir = testFolder("auth");
});
afterAll(() => server.close());

test("bans, ownership and the password survive a restart; the password is nowhere on the disk", async () => {
  const start = (): Promise<TestServer> =>
    startTestServer({ store: "sqlite", dataDir, adminToken: "an-operators-own-token" });
  const code = async (options: object): Promise<number> =>
    (await Bot.connect(server.url, "kept", options).untilClosed()).code;
  server = await start();
  const { token } = await createRoom(server.url, "cube", "kept");
  const owner = await Bot.join(server.url, "kept", { joinToken: token });
  const mallory = await Bot.join(server.url, "kept");
  owner.kick(mallory.welcome.member, 3600);
  await mallory.untilClosed();
  owner.setAccess({ password: "open sesame", ownersOnly: true });
  await owner.until(() => owner.access?.password === true && owner.access.bans === 1, "the access");
  await server.close();
  server = await start();
  expect(await code({ password: "open sesame" })).toBe(CloseCode.kicked);
  const again = await Bot.join(server.url, "kept", { joinToken: token });
  expect([again.welcome.role, again.access]).toEqual([
    "owner",
    { locked: false, password: true, ownersOnly: true, chat: true, bans: 1 },
  ]);
  again.setAccess({ liftBans: true });
  await again.until(() => again.access?.bans === 0, "no bans");
  expect(await code({ password: "open barley" })).toBe(CloseCode.passwordNeeded);
  await (await Bot.join(server.url, "kept", { password: "open sesame" })).leave();
  const { entries } = (await (
    await fetch(`${server.url}/api/admin/audit?room=kept`, {
      headers: { authorization: "Bearer an-operators-own-token" },
    })
  ).json()) as { entries: { action: string }[] };
  expect(entries.map(({ action }) => action)).toEqual(["unban", "password", "settings", "ban", "create"]);
  await again.leave();
  for (const file of readdirSync(dataDir))
    for (const secret of ["open sesame", token!])
      expect([file, readFileSync(join(dataDir, file)).includes(secret)]).toEqual([file, false]);
});
