/**
 * Acknowledged changes are durable: the server is killed at the moment of an acknowledgement, and after a restart the
 * change is in effect.
 */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { freePort, type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { RoomAccess } from "../../../server/auth/roomAccess.ts";
import { STORE_FILE } from "../../../server/store/openStore.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { StoreUnavailable } from "../../../server/store/store.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { objBall } from "../../support/modelFiles.ts";
import { startTestServer, storedIn } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { request } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const folder = testFolder("acknowledged");

const call = (url: string, method: string, path: string, token: string, body?: object): Promise<Response> =>
  request(url + path, method, { body, token });

async function kill({ process: child }: RunningServer): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Polls until the room is served. */
async function settled(url: string, path: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(`${url}${path}`);
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("a server killed at its answer has made the change after a restart", () => {
  const env = { ...storedIn(join(folder, "data")), PLIANT_ADMIN_TOKEN: ADMIN };
  let port: number;
  let server: RunningServer;
  let url: string;
  beforeAll(async () => {
    port = await freePort();
    server = await startServer({ port, env });
    ({ url } = server);
  });
  afterAll(() => server.stop());

  const again = async (): Promise<void> => {
    await kill(server);
    server = await startServer({ port, env });
  };
  const tokens = new Map<string, string>();
  const owned = async (room: string): Promise<Bot> => {
    tokens.set(room, (await createRoom(url, "cube", room)).token!);
    return Bot.join(url, room, { joinToken: tokens.get(room)! });
  };
  const code = async (room: string, options = {}): Promise<number> => {
    await settled(url, `/api/rooms/${room}`);
    return (await Bot.connect(url, room, { ...options }).untilClosed()).code;
  };

  test("an undo", async () => {
    const undone = await owned("undone");
    await undone.until(() => undone.tick > 150, "two and a half seconds");
    const startMs = performance.now();
    const answer = await call(url, "POST", "/api/rooms/undone/undo", tokens.get("undone")!, { seconds: 2 });
    await kill(server);
    const ranTicks = ((performance.now() - startMs) / 1000) * 60;
    const { tick } = (await answer.json()) as { tick: number };
    server = await startServer({ port, env });
    const back = (await (await settled(url, "/api/rooms/undone")).json()) as { tick: number };
    // Undone ticks do not come back; ticks after the undo may.
    expect(back.tick).toBeLessThanOrEqual(tick + ranTicks);
  });

  test("a lock", async () => {
    const locked = await owned("locked");
    locked.setAccess({ locked: true });
    await locked.until(() => locked.access?.locked === true, "the lock");
    await again();
    expect(await code("locked")).toBe(CloseCode.locked);
  });

  test("a password", async () => {
    const secret = await owned("secret");
    secret.setAccess({ password: "open sesame" });
    await secret.until(() => secret.access?.password === true, "the password");
    await again();
    expect(await code("secret", { password: "open barley" })).toBe(CloseCode.passwordNeeded);
  });

  test("a ban", async () => {
    await owned("banned");
    const mallory = await Bot.join(url, "banned");
    const { member } = mallory.welcome;
    const kicked = await call(url, "POST", "/api/admin/rooms/banned/kick", ADMIN, { member, banSeconds: 600 });
    await again();
    expect(kicked.status).toBe(204);
    expect(await code("banned")).toBe(CloseCode.kicked);
  });

  test("a room's deletion", async () => {
    await owned("deleted");
    const deleted = await call(url, "DELETE", "/api/rooms/deleted", tokens.get("deleted")!);
    await again();
    expect(deleted.status).toBe(204);
    expect((await settled(url, "/api/rooms/deleted")).status).toBe(404);
  });

  test("an upload, and a scene with it", async () => {
    const brought = await fetch(`${url}/api/objects?name=ball.obj`, { method: "POST", body: objBall(2) });
    await again();
    expect(brought.status).toBe(201);
    const { object, picture } = (await brought.json()) as { object: string; picture: string };
    expect((await fetch(url + picture)).status).toBe(200);
    const choice = { object, role: "soft", material: "rubber", size: 0.5 };
    const composed = await call(url, "POST", "/api/scenes", ADMIN, choice);
    await again();
    expect(composed.status).toBe(201);
    await createRoom(url, ((await composed.json()) as { scene: string }).scene, "of-it");
    await again();
    await settled(url, "/api/rooms/of-it");
    const inside = await Bot.join(url, "of-it");
    await inside.frames(2);
    expect(inside.topology.bodies[0]!.detail?.picture?.object).toBe(object);
  });
});

test("the answer to one change does not contain another change that is not stored yet", async () => {
  const server = await startTestServer({ store: "sqlite", dataDir: join(folder, "two"), adminToken: ADMIN });
  const { token } = await createRoom(server.url, "cube", "room");
  const owner = await Bot.join(server.url, "room", { joinToken: token! });
  await owner.until(() => owner.access !== null, "the room's access");
  const real = SqliteStore.prototype.writeSettings;
  const gates: (() => void)[] = [];
  const spy = vi.spyOn(SqliteStore.prototype, "writeSettings").mockImplementation(async function (
    this: SqliteStore,
    ...args
  ) {
    await new Promise<void>((resolve) => gates.push(resolve));
    return real.apply(this, args);
  });
  owner.setAccess({ locked: true });
  await vi.waitUntil(() => gates.length === 1, { timeout: 300_000 });
  owner.setAccess({ ownersOnly: true });
  owner.ping();
  await owner.until(() => owner.counts.pongs === 1, "both members");
  gates[0]!();
  await vi.waitUntil(() => gates.length === 2, { timeout: 300_000 });
  owner.ping();
  await owner.until(() => owner.counts.pongs === 2, "the messages until then");
  expect(owner.access).toMatchObject({ locked: false, ownersOnly: false });
  gates[1]!();
  await owner.until(() => owner.access!.ownersOnly, "the second change");
  expect(owner.access).toMatchObject({ locked: true, ownersOnly: true });
  spy.mockRestore();
  await server.close();
});

test("a change that the store rejects is not acknowledged: it takes effect, and the caller is told that it may be lost", async () => {
  const server = await startTestServer({ store: "sqlite", dataDir: join(folder, "away"), adminToken: ADMIN });
  const { token } = await createRoom(server.url, "cube", "room");
  const owner = await Bot.join(server.url, "room", { joinToken: token! });
  let away = true;
  for (const method of ["writeSettings", "truncate", "removeRoom"] as const) {
    const real = SqliteStore.prototype[method] as (...args: unknown[]) => Promise<void>;
    vi.spyOn(SqliteStore.prototype, method).mockImplementation(function (this: SqliteStore, ...args: unknown[]) {
      return away ? Promise.reject(new StoreUnavailable("the store", "is away")) : real.apply(this, args);
    });
  }
  owner.setAccess({ locked: true });
  await owner.until(() => owner.notices.some(({ code }) => code === "STORE_AWAY"), "the notice");
  await owner.until(() => owner.access?.locked === true, "the lock, which is in effect nevertheless");
  expect((await Bot.connect(server.url, "room").untilClosed()).code).toBe(CloseCode.locked);
  await owner.frames(30);
  const undo = await call(server.url, "POST", "/api/rooms/room/undo", token!, { seconds: 0.5 });
  expect([undo.status, ((await undo.json()) as { code: string }).code]).toEqual([503, "STORE_AWAY"]);
  away = false;
  owner.setAccess({ locked: false });
  await owner.until(() => owner.access?.locked === false, "the open room");
  const store = new SqliteStore({ path: join(folder, "away", STORE_FILE) });
  expect((await store.room("room"))?.settings).toMatchObject({ door: { locked: false } });
  await store.close();
  away = true;
  expect((await call(server.url, "DELETE", "/api/rooms/room", token!)).status).toBe(503);
  away = false;
  vi.restoreAllMocks();
  await server.close();
});

test("a room that is taken over has the last owner's writes, even those after it was listed", async () => {
  const dataDir = join(folder, "listed");
  const owner = { process: "gone", url: "http://gone" };
  const store = new SqliteStore({ path: join(dataDir, STORE_FILE) });
  mkdirSync(dataDir);
  await store.open();
  const record = { name: "room", scene: "cube", pool: "shared" as const, createdAt: new Date(0).toISOString() };
  const access = new RoomAccess();
  const made = await store.createRoom({ ...record, settings: access.toSettings() }, owner);
  if (!made.created) throw new Error("the store was not empty");
  const listed = await store.rooms();
  await access.change({ locked: true });
  await store.writeSettings(made.lease, access.toSettings());
  await store.release(made.lease);
  await store.close();
  // The result of a list query just before that write.
  const looks = vi
    .spyOn(SqliteStore.prototype, "rooms")
    .mockResolvedValue(listed.map((listing) => ({ ...listing, owner: null })));
  const { app, close } = await startTestServer({ store: "sqlite", dataDir });
  await expect.poll(() => app.registry.find("room")?.access.locked, { timeout: 300_000 }).toBe(true);
  expect(looks).toHaveBeenCalled();
  looks.mockRestore();
  await close();
});
