/**
 * Uploads, against the real app: a file becomes a room that members grab in, that is recorded, and that survives a
 * restart. An invalid or too large file is refused with its reason, leaves nothing, and does not affect other rooms.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { objOf } from "../../server/meshing/objects/files.ts";
import { sheet, without } from "../../server/meshing/objects/wildShapes.ts";
import { objBall, texturedGlb } from "../../support/modelFiles.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const PATIENT = { objectsDeadlineMs: 300_000, workers: 1 };

interface Answer {
  status: number;
  body: Record<string, unknown>;
}
const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: (await response.json()) as Record<string, unknown>,
});
const bring = async ({ url }: TestServer, name: string, body: BodyInit, headers = {}): Promise<Answer> =>
  answerOf(await fetch(`${url}/api/objects?name=${encodeURIComponent(name)}`, { method: "POST", body, headers }));
const post = async ({ url }: TestServer, path: string, body: object): Promise<Answer> =>
  answerOf(await postJson(url + path, body));

describe("an uploaded object", () => {
  let server: TestServer;
  let folder: string;
  const start = (): Promise<TestServer> =>
    startTestServer({ ...PATIENT, store: "sqlite", dataDir: join(folder, "data"), emptyRoomSeconds: 600 });
  beforeAll(async () => {
    folder = testFolder("objects");
    server = await start();
  });
  afterAll(() => server.close());

  test("is stored once, becomes a room, is recorded with it, and survives a restart", async () => {
    const file = await texturedGlb(3);
    const brought = await bring(server, "C:\\models\\<b>pear.glb", file);
    expect(brought).toMatchObject({
      status: 201,
      body: { name: "<b>pear.glb", triangles: 1280, materials: 3, textures: 3 },
    });
    const { object, picture } = brought.body as { object: string; picture: string };
    expect(await bring(server, "another name.glb", file)).toMatchObject({ status: 200, body: { object } });
    // A chunked upload, without a Content-Length header, gives the same object.
    const parts = new Blob([file.slice(0, 70_000), file.slice(70_000)]).stream();
    const sent = { method: "POST", body: parts, duplex: "half" } as RequestInit;
    const unsaid = await fetch(`${server.url}/api/objects?name=parts.glb`, sent);
    expect(await answerOf(unsaid)).toMatchObject({ status: 200, body: { object } });
    const seen = await fetch(server.url + picture);
    expect(seen.headers.get("content-type")).toBe("model/gltf-binary");
    expect(seen.headers.get("cache-control")).toContain("immutable");
    expect(seen.headers.get("x-content-type-options")).toBe("nosniff");
    expect(seen.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(await seen.arrayBuffer()).toString("latin1", 0, 4)).toBe("glTF");

    const choice = { object, role: "soft", material: "rubber", size: 0.5 };
    const made = await post(server, "/api/scenes", choice);
    expect(made.status).toBe(201);
    expect(await post(server, "/api/scenes", choice)).toEqual(made);
    const { scene } = made.body as { scene: string };
    expect(await post(server, "/api/rooms", { scene, room: "pears" })).toMatchObject({ status: 201, body: { scene } });
    expect(await answerOf(await fetch(`${server.url}/api/scenes/${scene}/progress`))).toMatchObject({
      body: { building: false },
    });
    const bot = await Bot.join(server.url, "pears");
    const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
    await bot.frames(3);
    const [x, y, z] = bot.surfacePosition(point);
    bot.grab(1, point, [x, y, z]);
    bot.move(1, [x, y + 0.3, z]);
    await bot.until(() => bot.surfacePosition(point)[1] > y + 0.1, "the body follows the grab");
    bot.release(1);
    await bot.until(() => bot.tick > 60, "a second of ticks");

    const bytes = new Uint8Array(await (await fetch(`${server.url}/api/rooms/pears/recording`)).arrayBuffer());
    const recording = decodeRecording(bytes);
    expect(recording.objects?.map(({ id }) => id)).toEqual([object]);
    const path = join(folder, "pears.pliant");
    writeFileSync(path, bytes);
    const again = spawnSync(process.execPath, ["server/tools/replay.ts", path], { encoding: "utf8", timeout: 200_000 });
    expect(again.stderr).toBe("");
    expect(again.stdout).toMatch(/hashes compared, all match/);

    const { tick } = bot;
    await server.close();
    server = await start();
    const back = await Bot.join(server.url, "pears");
    await back.frames(2);
    expect(back.tick).toBeGreaterThanOrEqual(tick);
    expect(await answerOf(await fetch(`${server.url}/api/objects/${object}`))).toMatchObject({ status: 200 });
    const saved = await answerOf(await fetch(`${server.url}/api/rooms/pears/scene`));
    expect(saved.body.bodies).toMatchObject([{ mesh: { type: "object", id: object, size: 0.5 } }]);
    // Into another scene, beside its bodies.
    const beside = await post(server, "/api/scenes", {
      object,
      role: "rigid",
      material: "steel",
      size: 0.3,
      scene: "cube",
    });
    expect(beside.status).toBe(201);
    const both = await answerOf(await fetch(`${server.url}/api/scenes/${beside.body.scene as string}`));
    expect((both.body.scene as { bodies: unknown[] }).bodies).toHaveLength(2);
  });

  test("has for each visitor the name that this visitor gave it", async () => {
    const file = objBall(2);
    const { object } = (await bring(server, "secret plan.obj", file)).body;
    const second = await bring(server, "another name.obj", file);
    expect(second).toMatchObject({ status: 200, body: { object, name: "another name.obj" } });
    const described = await answerOf(await fetch(`${server.url}/api/objects/${object as string}`));
    expect(described).toMatchObject({ status: 200, body: { object, triangles: 320 } });
    expect(described.body).not.toHaveProperty("name");
    const unnamed = { object, role: "soft", material: "rubber", size: 0.4 };
    expect((await post(server, "/api/scenes", unnamed)).body.title).toBe("object");
    expect((await post(server, "/api/scenes", { ...unnamed, name: "my\u200b file.obj" })).body.title).toBe("my file");
  });

  test("tells the members of its room which problems its surface has, and where", async () => {
    const lines = objBall(2).trimEnd().split("\n");
    const places = lines.map((line) => line.split(" ").slice(1).map(Number));
    const { body } = await bring(server, "holed.obj", lines.slice(0, -1).join("\n"));
    const choice = { object: body.object, role: "collider", material: "steel", size: 0.5 };
    const { scene } = (await post(server, "/api/scenes", choice)).body as { scene: string };
    const { notes } = (await post(server, "/api/rooms", { scene, room: "holed" })).body;
    const text = expect.stringMatching(/^3 edges have only one triangle/);
    expect(notes).toEqual([{ object: body.object, code: "HOLES", text, at: expect.any(Array) }]);
    // A corner of the missing face: the ball has diameter one and rests on the floor; percents are whole.
    const [{ at }] = notes as [{ at: number[] }];
    const corners = places.at(-1)!.map((vertex) => places[vertex - 1]!);
    const off = corners.map(([x, y, z]) => Math.max(...[x!, y! + 0.5, z!].map((c, k) => Math.abs(c - at[k]!))));
    expect(Math.min(...off)).toBeLessThanOrEqual(0.0051);
    expect((await post(server, "/api/rooms", { scene, room: "holed" })).body.notes).toEqual(notes);
    expect((await post(server, "/api/rooms", { scene: "cube", room: "sound" })).body).not.toHaveProperty("notes");
  });
});

describe("an unusable file", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ ...PATIENT, objectsFileMb: 1, objectsPerAddress: 2 });
  });
  afterAll(() => server.close());

  const gltf = (more: object): string => JSON.stringify({ asset: { version: "2.0" }, ...more });

  test("is refused with its reason, nothing of it is stored, and another room continues", async () => {
    await post(server, "/api/rooms", { scene: "cube", room: "next-door" });
    const neighbor = await Bot.join(server.url, "next-door", {});
    const glb = await texturedGlb(2);
    const bad: [string, BodyInit, number, string, string?][] = [
      ["empty.obj", "", 400, "BODY_INVALID"],
      ["large.obj", new Uint8Array(2 ** 20 + 1), 413, "OBJECT_TOO_LARGE"],
      ["what.exe", "MZ and more", 422, "OBJECT_REFUSED", "FORMAT_UNKNOWN"],
      ["cut.glb", glb.slice(0, glb.length / 2), 422, "OBJECT_REFUSED"],
      ["points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", 422, "OBJECT_REFUSED", "NO_TRIANGLES"],
      ["nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 422, "OBJECT_REFUSED"],
      ["flat.obj", "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", 422, "OBJECT_REFUSED"],
      ["outside.gltf", gltf({ buffers: [{ byteLength: 12, uri: "http://10.0.0.1/x.bin" }] }), 422, "OBJECT_REFUSED"],
    ];
    for (const [name, body, status, code, reason] of bad) {
      const answer = await bring(server, name, body);
      expect(answer, name).toMatchObject({ status, body: { code, ...(reason && { reason }) } });
      if (status === 422) expect(String(answer.body.field).length, name).toBeGreaterThan(0);
    }
    expect(await answerOf(await fetch(`${server.url}/api/objects/${"0".repeat(64)}`))).toMatchObject({
      status: 404,
      body: { code: "OBJECT_NOT_FOUND" },
    });
    expect((await fetch(`${server.url}/api/objects/..%2f..%2fetc/picture`)).status).toBe(404);
    await server.app.objects.expire();
    expect(await server.metric("pliant_objects")).toBe(0);
    expect(await server.metric("pliant_objects_uploaded_total", { result: "refused" })).toBe(6);
    const { tick } = neighbor;
    await neighbor.until(() => neighbor.tick > tick + 30, "the other room continues");
    expect(neighbor.notices).toEqual([]);
  });

  test("uploads beyond an address's limit are refused, and an invalid choice is refused with the reason", async () => {
    const { body } = await bring(server, "one.obj", objBall(1, 1));
    // Triangles that no other one shares an edge with.
    const holed = await bring(server, "holed.obj", new Uint8Array(objOf(without(sheet(112), (t) => t % 2 === 0))));
    expect(holed).toMatchObject({ status: 201 });
    expect(await bring(server, "three.obj", objBall(1, 3))).toMatchObject({
      status: 429,
      body: { code: "ADDRESS_OBJECT_LIMIT", limit: 2 },
    });
    const choice = { object: body.object, role: "soft", material: "silk", size: 0.5 };
    expect(await post(server, "/api/scenes", choice)).toMatchObject({
      status: 422,
      body: { code: "CHOICE_INVALID", field: "material", value: "silk" },
    });
    expect(await post(server, "/api/scenes", { ...choice, size: 1e9 })).toMatchObject({ status: 400 });
    expect(await post(server, "/api/scenes", { ...choice, object: "f".repeat(64) })).toMatchObject({ status: 404 });
    // The build of its scene finds that the choice is impossible: the object cannot become a sheet.
    const sheetOfIt = { ...choice, object: holed.body.object, role: "cloth", material: "silk" };
    const { body: made } = await post(server, "/api/scenes", sheetOfIt);
    expect(await post(server, "/api/rooms", { scene: made.scene })).toMatchObject({
      status: 500,
      body: { code: "BUILD_FAILED", field: "scene", value: made.scene, reason: "ROLE_IMPOSSIBLE" },
    });
    // An object that no room has used for the retention time is gone.
    await server.app.objects.expire(Date.now() + 2 * 3600_000);
    expect(await server.metric("pliant_objects")).toBe(0);
    expect(await post(server, "/api/scenes", { ...choice, material: "rubber" })).toMatchObject({
      status: 404,
      body: { code: "OBJECT_NOT_FOUND" },
    });
  });
});

describe("a client that takes more than its share", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ ...PATIENT, objectsPerMinute: 4, adminToken: ADMIN });
  });
  afterAll(() => server.close());

  test("the rate of scenes made from an object is limited", async () => {
    const { body } = await bring(server, "ball.obj", objBall(1, 4));
    let made = 0;
    let answer: Answer;
    do {
      const choice = { object: body.object, role: "soft", material: "rubber", size: 0.5 + 0.01 * made };
      answer = await post(server, "/api/scenes", choice);
    } while (answer.status === 201 && ++made < 100);
    expect(answer).toMatchObject({ status: 429, body: { code: "TOO_MANY_REQUESTS", field: "scenes" } });
    // Four uploads a minute give twelve scenes, and one more for every five seconds that this took.
    expect(made).toBeGreaterThanOrEqual(12);
  });

  test("slow uploads block no other client, from any number of addresses: an operator enters at once, a visitor after a timeout", async () => {
    const port = Number(new URL(server.url).port);
    const head = "POST /api/objects?name=slow.obj HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nv";
    const lines: Socket[] = [];
    const said: string[] = [];
    const refused = (why: string): number => said.filter((text) => text.includes(why)).length;
    // The third upload takes half of the places, so the fourth is refused in any order. The last one is one too many.
    for (const from of [1, 1, 2, 2, 3, 4, 5, 6]) {
      const line = connect({ port, host: "127.0.0.1", localAddress: `127.0.5.${from}` });
      line.on("error", () => {});
      line.on("data", (bytes: Buffer) => said.push(bytes.toString("latin1")));
      await once(line, "connect");
      line.write(head);
      lines.push(line);
    }
    await vi.waitUntil(() => refused(" 429 ") === 2, { timeout: 300_000, interval: 5 });
    expect(await bring(server, "ball.obj", objBall(1, 4))).toMatchObject({
      status: 429,
      body: { code: "TOO_MANY_REQUESTS" },
    });
    const asOperator = { authorization: `Bearer ${ADMIN}` };
    expect(await bring(server, "ball.obj", objBall(1, 5), asOperator)).toMatchObject({ status: 201 });
    // Attempts are counted, too: each comes from a different address.
    let from = 0;
    const attempt = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const localAddress = `127.0.6.${++from}`;
        const asked = request({
          port,
          host: "127.0.0.1",
          localAddress,
          method: "POST",
          path: "/api/objects?name=ball.obj",
        });
        asked.on("response", (answer) => resolve(answer.resume().statusCode!)).on("error", reject);
        asked.end(objBall(1, 6));
      });
    await vi.waitUntil(async () => (await attempt()) === 201, { timeout: 300_000, interval: 300 });
    expect(refused("bytes/s while other uploads wait")).toBe(1);
    for (const line of lines) line.destroy();
  });
});

describe("places for objects", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      ...PATIENT,
      objectsMax: 10,
      objectsPerAddress: 3,
      objectsPerMinute: 1000,
      adminToken: ADMIN,
    });
  });
  afterAll(() => server.close());
  const asOperator = { authorization: `Bearer ${ADMIN}` };
  const admin = (method: string, path: string): Promise<Response> =>
    fetch(`${server.url}/api/admin/${path}`, { method, headers: asOperator });

  /** Uploads from a given address. */
  const from = (localAddress: string, file: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request({
        port: new URL(server.url).port,
        host: "127.0.0.1",
        localAddress,
        method: "POST",
        path: "/api/objects?name=ball.obj",
      });
      asked.on("error", reject).on("response", (answer) => {
        let text = "";
        answer.on("data", (bytes: Buffer) => (text += bytes.toString()));
        answer.on("end", () =>
          resolve({ status: answer.statusCode!, body: JSON.parse(text) as Record<string, unknown> }),
        );
      });
      asked.end(file);
    });

  test("visitors cannot use up the operators' places; operators see who uploaded each object, delete it, and the audit log has it", async () => {
    const answers: Answer[] = [];
    for (let i = 0; i < 12; i++) answers.push(await from(`127.0.7.${1 + (i % 4)}`, objBall(1, 4 + i)));
    expect(answers.map(({ status }) => status)).toEqual([...Array<number>(9).fill(201), ...Array<number>(3).fill(503)]);
    expect(answers[9]!.body).toMatchObject({
      code: "OBJECT_LIMIT",
      limit: expect.stringMatching(/^9 objects, /) as string,
    });
    expect(await bring(server, "operators.obj", objBall(1, 30), asOperator)).toMatchObject({ status: 201 });
    const list = (await (await admin("GET", "objects")).json()) as {
      objects: { object: string; name: string; address: string | null; rooms: number }[];
      mostObjects: number;
    };
    expect(list.mostObjects).toBe(10);
    expect(list.objects).toHaveLength(10);
    expect(list.objects[0]).toMatchObject({ name: "operators.obj", address: null, rooms: 0 });
    const { object } = answers[0]!.body as { object: string };
    expect(list.objects).toContainEqual(expect.objectContaining({ object, address: "127.0.7.1" }));
    // An object that a room uses stays until the room has ended.
    const choice = { object, role: "soft", material: "rubber", size: 0.5 };
    const { scene } = (await post(server, "/api/scenes", choice)).body as { scene: string };
    expect(await post(server, "/api/rooms", { scene, room: "uses-it" })).toMatchObject({ status: 201 });
    const refused = await admin("DELETE", `objects/${object}`);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: "OBJECT_IN_USE", value: object }]);
    expect((await admin("DELETE", "rooms/uses-it")).status).toBe(204);
    expect((await admin("DELETE", `objects/${object}`)).status).toBe(204);
    expect((await admin("DELETE", `objects/${object}`)).status).toBe(404);
    for (const path of [`objects/${object}`, `objects/${object}/picture`])
      expect((await fetch(`${server.url}/api/${path}`)).status).toBe(404);
    const { entries } = (await (await admin("GET", "audit")).json()) as { entries: { action: string }[] };
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: "object-delete",
        details: expect.objectContaining({ object, address: "127.0.7.1" }) as object,
      }),
    );
    expect(await from("127.0.7.9", objBall(1, 40))).toMatchObject({ status: 201 });
  });
});
