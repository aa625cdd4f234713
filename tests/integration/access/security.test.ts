/** Sentences of SECURITY.md that no other test shows. */
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

test("without an operator's or a signed token there is no admin", async () => {
  const server = await startTestServer();
  for (const authorization of [undefined, "Bearer admin", "Bearer null", "Bearer undefined", "Bearer "]) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    expect([authorization, (await fetch(`${server.url}/api/admin/rooms`, { headers })).status]).toEqual([
      authorization,
      401,
    ]);
  }
  await server.close();
});

test("/metrics names no members or addresses, and in open mode /api/rooms names every room", async () => {
  const server = await startTestServer();
  const { token } = await createRoom(server.url, "cube", "a-private-name");
  const bot = await Bot.join(server.url, "a-private-name", { name: "Mallory", joinToken: token });
  await bot.until(() => bot.tick > 10, "some ticks");
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  for (const secret of ["Mallory", "127.0.0.1", token!]) expect(metrics).not.toContain(secret);
  const { rooms } = (await (await fetch(`${server.url}/api/rooms`)).json()) as { rooms: { room: string }[] };
  expect(rooms.map(({ room }) => room)).toEqual(["a-private-name"]);
  await bot.leave();
  await server.close();
});

test.each(["sqlite", "none"])(
  "who repeats the idempotency key of a room's creation gets the owner's token, and no other key does (store: %s)",
  async (store) => {
    const dataDir = testFolder("security");
    const server = await startTestServer({ store, dataDir });
    const open = async (
      key: string,
      scene = "cube",
      name?: string,
    ): Promise<{ room: string; token?: string; code?: string }> => {
      const headers = { "idempotency-key": key };
      const answer = await postJson(`${server.url}/api/rooms`, { scene, room: name }, undefined, headers);
      return (await answer.json()) as { room: string; token?: string; code?: string };
    };
    const key = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed";
    const together = await Promise.all(Array.from({ length: 8 }, () => open(`${key}-at-once`)));
    expect(new Set(together.map(({ room }) => room)).size).toBe(1);
    const [first, again, other] = [await open(key), await open(key), await open(key.replace("1b", "2b"))];
    expect(again.room).toBe(first.room);
    expect(other.room).not.toBe(first.room);
    const owner = await Bot.join(server.url, first.room, { joinToken: again.token });
    expect(owner.welcome.role).toBe("owner");
    // With another scene no name fits: it is refused at once, and not asked for again and again.
    expect(await open(key, "sheet")).toMatchObject({ code: "ROOM_EXISTS", field: "room", value: first.room });
    // Nor does it stand for a room of another name.
    expect(await open(key, "cube", "another")).toMatchObject({ code: "ROOM_EXISTS", field: "idempotency-key" });
    await owner.leave();
    // The key ends with its room.
    await server.app.registry.remove(first.room);
    const later = await open(key);
    expect([later.room === first.room, later.code, typeof later.token]).toEqual([false, undefined, "string"]);
    await server.close();
  },
);
