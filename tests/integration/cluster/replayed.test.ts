/**
 * Tickets, tokens, invitations and idempotency keys that were heard once and are sent again: to another process, after
 * a restart, and after the room of that name has ended.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Bot, createRoom, deleteRoom } from "../../../load-tests/bot.ts";
import { clusterSecretsFrom, TICKET_HEADER, Tickets } from "../../../server/cluster/ticket.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const OLD = "the first secret of both processes, long enough";
const NEW = "the second secret of both processes, long enough";
const folder = testFolder("replayed");
let near: TestServer;
let far: TestServer;
const start = (secrets: string[], port = 0): Promise<TestServer> =>
  startTestServer(
    { store: "sqlite", dataDir: folder, tokenSecrets: secrets, adminToken: ADMIN, emptyRoomSeconds: 3600, workers: 1 },
    port,
  );
const portOf = ({ url }: TestServer): number => Number(new URL(url).port);
async function restart(server: TestServer, secrets = [OLD]): Promise<TestServer> {
  await server.close();
  return start(secrets, portOf(server));
}

beforeAll(async () => {
  near = await start([OLD]);
  far = await start([OLD]);
});
afterAll(async () => {
  await far?.close();
  await near?.close();
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
async function invite(server: TestServer, room: string, role: string, token: string): Promise<Response> {
  return postJson(`${server.url}/api/tokens`, { room, role }, token);
}
const roleWith = async (server: TestServer, room: string, joinToken: string): Promise<string> => {
  const bot = await Bot.join(server.url, room, { joinToken });
  await bot.leave();
  return bot.welcome.role;
};
/** Asks until the room is not on its way to another process. */
async function settled(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("a ticket for a process is none for the one that starts at its address", async () => {
  const path = "/api/admin/rooms?of=this-process";
  const nearName = async (): Promise<string | undefined> => {
    const answer = await fetch(`${far.url}/api/admin/processes`, { headers: bearer(ADMIN) });
    const { processes } = (await answer.json()) as { processes: { process: string; url: string }[] };
    return processes.find(({ url }) => url === near.url)?.process;
  };
  // A process is listed once it has written its first report.
  const audience = (await vi.waitUntil(nearName, { timeout: 60_000 }))!;
  const tickets = new Tickets(clusterSecretsFrom([OLD]), { process: "an eavesdropper's" });
  const said = { identity: { room: "*", role: "admin", subject: "admin", expiresAtMs: null } };
  const seal = (): string => tickets.seal({ audience, method: "GET", url: path, address: "192.0.2.1", said });
  const status = async (ticket: string): Promise<number> =>
    (await fetch(`${near.url}${path}`, { headers: { [TICKET_HEADER]: ticket } })).status;
  const [used, unused] = [seal(), seal()];
  expect([await status(used), await status(used)]).toEqual([200, 401]);
  near = await restart(near);
  // Such a request was forwarded to the former process: its client has to ask again.
  expect([await status(used), await status(unused)]).toEqual([503, 503]);
});

test("tokens and invitations give the same role everywhere, and none in a later room of that name", async () => {
  const { token } = await createRoom(near.url, "cube", "kept");
  const guest = ((await (await invite(far, "kept", "spectator", token!)).json()) as { token: string }).token;
  for (const server of [near, far]) {
    expect(await roleWith(server, "kept", guest)).toBe("spectator");
    expect((await invite(server, "kept", "player", guest)).status).toBe(403);
    expect(await deleteRoom(server.url, "kept", guest)).toBe(403);
  }
  near = await restart(near);
  for (const server of [near, far]) {
    await settled(() => fetch(`${server.url}/api/rooms/kept`));
    expect([await roleWith(server, "kept", guest), await roleWith(server, "kept", token!)]).toEqual([
      "spectator",
      "owner",
    ]);
  }
  expect(
    (await settled(() => fetch(`${near.url}/api/rooms/kept`, { method: "DELETE", headers: bearer(token!) }))).status,
  ).toBe(204);
  // A stranger opens a room of that name, at the other process.
  await expect.poll(async () => (await createRoom(far.url, "cube", "kept")).token, { timeout: 30_000 }).toBeDefined();
  far = await restart(far);
  for (const server of [near, far]) {
    await settled(() => fetch(`${server.url}/api/rooms/kept`));
    for (const old of [token!, guest]) {
      expect(await roleWith(server, "kept", old)).toBe("player");
      expect((await settled(() => invite(server, "kept", "player", old))).status).toBe(403);
      expect(await deleteRoom(server.url, "kept", old)).toBe(403);
    }
  }
});

test("an idempotency key finds its room at every process and after restarts, and ends with it", async () => {
  const open = async (server: TestServer, body: object, key?: string): Promise<{ room: string; token?: string }> => {
    const answer = await settled(() =>
      postJson(`${server.url}/api/rooms`, { scene: "cube", ...body }, undefined, {
        ...(key !== undefined && { "idempotency-key": key }),
      }),
    );
    return (await answer.json()) as { room: string; token?: string };
  };
  const key = "5f0c3f1e-6a55-4ad1-9c85-5be3f1f6a0aa";
  const { room, token } = await open(near, {}, key);
  const same = async (server: TestServer): Promise<void> => {
    const again = await open(server, {}, key);
    expect(again.room).toBe(room);
    expect(await roleWith(server, room, again.token!)).toBe("owner");
    // Neither the name nor another key is enough, and a key with a name gives no token either.
    for (const [body, other] of [
      [{ room }, undefined],
      [{ room }, `${key}x`],
      [{ room }, key],
    ] as const)
      expect(await open(server, body, other)).not.toHaveProperty("token");
  };
  await same(near);
  await same(far);
  near = await restart(near);
  await same(far);
  far = await restart(far);
  await same(near);
  await same(far);
  const ended = (): Promise<Response> =>
    fetch(`${far.url}/api/rooms/${room}`, { method: "DELETE", headers: bearer(token!) });
  expect((await settled(ended)).status).toBe(204);
  const later = await open(near, {}, key);
  expect(later.room).not.toBe(room);
  expect(await deleteRoom(near.url, later.room, token)).toBe(403);
});

test("tokens of a removed secret end with the restart that removes it", async () => {
  const { token } = await createRoom(near.url, "cube", "rotated");
  far = await restart(far, [NEW, OLD]);
  near = await restart(near, [NEW, OLD]);
  for (const server of [near, far]) {
    await settled(() => fetch(`${server.url}/api/rooms/rotated`));
    expect(await roleWith(server, "rotated", token!)).toBe("owner");
  }
  far = await restart(far, [NEW]);
  near = await restart(near, [NEW]);
  for (const server of [near, far]) {
    await settled(() => fetch(`${server.url}/api/rooms/rotated`));
    expect(await roleWith(server, "rotated", token!)).toBe("player");
    expect(await deleteRoom(server.url, "rotated", token)).toBe(401);
  }
});
