/**
 * The gallery, against the real app: an owner saves a room's scene, visitors open and remix it, and only the holder of
 * its token or an operator changes or deletes it.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { Metrics } from "../../../server/metrics/metrics.ts";
import { Gallery } from "../../../server/objects/gallery.ts";
import { MemoryObjects } from "../../../server/store/objects/memoryObjects.ts";
import type { Collider, Scene } from "../../../shared/scene/scene.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { request } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function call({ url }: TestServer, route: string, sent: { token?: string; body?: object } = {}): Promise<Answer> {
  const [method, path] = route.split(" ") as [string, string];
  const answer = await request(url + path, method, sent);
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** Opens a room and returns its owner's token. */
async function open(server: TestServer, room: string, scene = "cube", as?: string): Promise<string> {
  const made = await call(server, "POST /api/rooms", { body: { scene, room }, token: as });
  expect(made.status).toBe(201);
  return String(made.body.token);
}

const listed = async (server: TestServer, token?: string): Promise<Record<string, unknown>[]> =>
  (await call(server, "GET /api/saved-scenes", { token })).body.scenes as Record<string, unknown>[];

describe("a saved scene", () => {
  let server: TestServer;
  let folder: string;
  const start = (): Promise<TestServer> =>
    startTestServer({ store: "sqlite", dataDir: join(folder, "data"), adminToken: ADMIN, emptyRoomSeconds: 600 });
  beforeAll(async () => {
    folder = testFolder("gallery");
    server = await start();
  });
  afterAll(() => server.close());

  test("has its owner's changes, survives a restart, opens as a room, and is remixed, renamed and deleted", async () => {
    const owner = await open(server, "lab");
    const bot = await Bot.join(server.url, "lab", { joinToken: owner });
    bot.tune({ gravity: [0, -1.5, 0] });
    await bot.until(() => bot.tuned?.tuning.gravity[1] === -1.5, "the owner's gravity");
    const saved = await call(server, "POST /api/rooms/lab/scene", {
      token: owner,
      body: { title: " Moon\u200b  cube " },
    });
    expect(saved).toMatchObject({ status: 201, body: { title: "Moon cube", origin: "cube" } });
    const { saved: id, scene, token, picture } = saved.body as Record<string, string>;
    expect(scene).toMatch(/^o-[0-9a-f]{32}$/);
    expect(saved.body).not.toHaveProperty("address");

    await server.close();
    server = await start();
    expect(await listed(server)).toEqual([expect.objectContaining({ saved: id, title: "Moon cube", scene })]);
    const drawn = await fetch(server.url + picture);
    expect(drawn.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await drawn.arrayBuffer()).toString("latin1", 1, 4)).toBe("PNG");
    const again = await open(server, "moon", scene);
    const read = await call(server, "GET /api/rooms/moon/scene");
    expect(read.body).toMatchObject({ title: "Moon cube", gravity: [0, -1.5, 0] });

    const remix = await call(server, "POST /api/rooms/moon/scene", { token: again, body: { title: "Mine" } });
    expect(remix).toMatchObject({ status: 201, body: { title: "Mine", origin: id } });
    expect((await listed(server)).map(({ title }) => title)).toEqual(["Mine", "Moon cube"]);

    // Neither strangers nor holders of other tokens change it.
    for (const [other, code] of [
      [undefined, "TOKEN_NEEDED"],
      [owner, "NOT_ALLOWED"],
      [String(remix.body.token), "NOT_ALLOWED"],
    ] as const)
      for (const way of ["PATCH", "DELETE"])
        expect([
          way,
          other,
          (await call(server, `${way} /api/saved-scenes/${id}`, { token: other, body: { title: "No" } })).body.code,
        ]).toEqual([way, other, code]);
    const renamed = await call(server, `PATCH /api/saved-scenes/${id}`, { token, body: { title: "Luna" } });
    expect(renamed).toMatchObject({ status: 200, body: { saved: id, title: "Luna" } });
    const now = String(renamed.body.scene);
    expect((await call(server, `GET /api/scenes/${now}`)).body).toMatchObject({ title: "Luna" });
    expect((await call(server, "GET /api/rooms/moon/scene")).body).toMatchObject({ title: "Moon cube" });

    expect((await call(server, `DELETE /api/saved-scenes/${id}`, { token })).status).toBe(204);
    expect((await call(server, `DELETE /api/saved-scenes/${id}`, { token })).body.code).toBe("SAVED_NOT_FOUND");
    expect((await call(server, "POST /api/rooms", { body: { scene: now } })).body.code).toBe("SCENE_NOT_FOUND");
    expect((await fetch(server.url + picture)).status).toBe(404);
    // The room with its former text continues, and so does its remix.
    expect((await Bot.join(server.url, "moon")).welcome.scene).toBe(scene);
    expect((await listed(server)).map(({ title }) => title)).toEqual(["Mine"]);
  });

  test("is listed for operators with its address, and deleted by them; the audit log has every step", async () => {
    const owner = await open(server, "moderated");
    const saved = await call(server, "POST /api/rooms/moderated/scene", { token: owner, body: { title: "Rude" } });
    const id = String(saved.body.saved);
    const { scenes } = (await call(server, "GET /api/admin/saved-scenes", { token: ADMIN })).body;
    expect(scenes).toContainEqual(expect.objectContaining({ saved: id, title: "Rude", address: "127.0.0.1" }));
    expect((await call(server, "GET /api/admin/saved-scenes", { token: owner })).body.code).toBe("NOT_ALLOWED");
    const gone = await call(server, `DELETE /api/admin/saved-scenes/${id}`, { token: ADMIN });
    expect(gone.status).toBe(204);
    expect((await listed(server)).map(({ saved: other }) => other)).not.toContain(id);
    const { entries } = (await call(server, "GET /api/admin/audit?limit=50", { token: ADMIN })).body;
    const steps = (entries as { action: string; room: string | null; details: { saved?: string } }[])
      .filter(({ details }) => details.saved === id)
      .map(({ action, room }) => [action, room]);
    expect(steps).toEqual([
      ["scene-delete", null],
      ["scene-save", "moderated"],
    ]);
    expect(await server.metric("pliant_scenes_saved_total", { result: "stored" })).toBeGreaterThan(0);
  });
});

describe("the gallery's limits", () => {
  test("only owners save, at a limited rate, and never more than an address or the gallery may hold", async () => {
    const limits = { savedScenesPerAddress: 2, savedScenesMax: 4, objectsPerMinute: 4, adminToken: ADMIN };
    const server = await startTestServer(limits);
    const owner = await open(server, "lab");
    const save = (token: string | undefined, title = "A"): Promise<Answer> =>
      call(server, "POST /api/rooms/lab/scene", { token, body: { title } });
    expect((await save(undefined)).body.code).toBe("TOKEN_NEEDED");
    expect((await save(owner, "x".repeat(81))).body.code).toBe("BODY_INVALID");
    expect((await save(owner, "\u200b\u2800")).body).toMatchObject({ code: "BODY_INVALID", field: "title" });
    expect([(await save(owner)).status, (await save(owner)).status]).toEqual([201, 201]);
    expect((await save(owner)).body).toMatchObject({ code: "ADDRESS_SAVED_LIMIT", limit: 2 });
    expect((await save(owner)).body).toMatchObject({ code: "TOO_MANY_REQUESTS", limit: "4 a minute" });
    // Operators have no share and no rate, but the gallery has its limit.
    expect([(await save(ADMIN)).status, (await save(ADMIN)).status]).toEqual([201, 201]);
    expect((await save(ADMIN)).body).toMatchObject({ code: "SAVED_LIMIT", limit: 4 });
    expect(await listed(server)).toHaveLength(4);
    await server.close();
  });

  test("in tokens mode the list needs a token, and a saved scene's token gives no other right", async () => {
    const server = await startTestServer({ auth: "tokens", adminToken: ADMIN });
    const owner = await open(server, "lab", "cube", ADMIN);
    const saved = await call(server, "POST /api/rooms/lab/scene", { token: owner, body: { title: "A" } });
    expect(saved.status).toBe(201);
    const token = String(saved.body.token);
    expect((await call(server, "GET /api/saved-scenes")).body.code).toBe("TOKEN_NEEDED");
    expect(await listed(server, token)).toHaveLength(1);
    const refused = [
      ["POST /api/rooms", { scene: "cube", room: "other" }],
      ["POST /api/scenes", { object: "0".repeat(64), role: "soft", material: "rubber", size: 1 }],
      ["POST /api/objects?name=a.obj", {}],
      ["GET /api/rooms/lab", undefined],
      ["POST /api/tokens", { room: "lab", role: "spectator" }],
      ["GET /api/admin/saved-scenes", undefined],
    ] as const;
    for (const [request, body] of refused)
      expect([request, (await call(server, request, { token, ...(body && { body }) })).body.code]).toEqual([
        request,
        "NOT_ALLOWED",
      ]);
    expect((await call(server, `DELETE /api/saved-scenes/${String(saved.body.saved)}`, { token })).status).toBe(204);
    await server.close();
  });

  test("nothing is acknowledged that is not stored, and a scene that is too large is refused", async () => {
    const log = { info: () => {}, warn: () => {}, error: () => {} } as never;
    const { objects: metrics } = new Metrics({} as never);
    const store = new MemoryObjects(() => []);
    const limits = { count: 9, countPerAddress: 9 };
    const gallery = new Gallery({ store, limits, metrics, onRemoved: () => {}, log });
    const server = await startTestServer();
    const { scene } = (await call(server, "GET /api/scenes/cube")).body as { scene: Scene };
    await server.close();
    const wanted = { title: "A", from: "cube", picture: null, address: null };
    const fail = (): Promise<never> => Promise.reject(new Error("the disk is full"));
    Object.assign(store, { putSaved: fail });
    await expect(gallery.save({ ...wanted, scene })).rejects.toMatchObject({ code: "STORE_AWAY" });
    delete (store as Partial<MemoryObjects>).putSaved;
    const { id } = await gallery.save({ ...wanted, scene });
    Object.assign(store, { renameSaved: fail, removeSaved: fail });
    await expect(gallery.rename(id, "B")).rejects.toMatchObject({ code: "STORE_AWAY" });
    await expect(gallery.remove(id)).rejects.toMatchObject({ code: "STORE_AWAY" });
    expect(await gallery.find(id)).toMatchObject({ title: "A" });
    const count = { length: 256 };
    const name = (n: number): string => `${n}${"😀".repeat(50)}`;
    const bodies = Array.from(count, (_, n) => ({ ...scene.bodies[0]!, name: name(n) }));
    const plane = { type: "plane", normal: [0, 1, 0], offset: -9 } satisfies Collider;
    const colliders = Array.from(count, (_, n) => ({ ...plane, name: name(300 + n) }));
    await expect(gallery.save({ ...wanted, scene: { ...scene, bodies, colliders } })).rejects.toMatchObject({
      code: "SCENE_TOO_LARGE",
      details: { limit: `${128 * 1024} bytes` },
    });
  });
});
