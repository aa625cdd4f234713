/** The HTTP API without a network: answers, coded errors, headers, documents. Real threads build a real scene. */
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { decode } from "@msgpack/msgpack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, buildApp } from "../../server/app.ts";
import { readConfig } from "../../server/config.ts";
import { RULES } from "../../server/routes/rules.ts";
import { HttpErrors } from "../../shared/errorCodes.ts";
import type { Topology } from "../../shared/topology.ts";
import { testFolder } from "../support/testFolder.ts";

let app: App;
let clientDir: string;
let reportDir: string;
beforeAll(async () => {
  clientDir = testFolder("client");
  mkdirSync(join(clientDir, "assets"));
  mkdirSync(join(clientDir, "thumbnails"));
  writeFileSync(join(clientDir, "index.html"), "<!doctype html><title>the page</title>");
  const script = join(clientDir, "assets", "main-a1B2c3D4.js");
  writeFileSync(script, "export {};");
  writeFileSync(`${script}.br`, brotliCompressSync("export {};"));
  writeFileSync(`${script}.gz`, gzipSync("export {};"));
  for (const file of ["cube.png", "cube.dark.png", "sheet.dark.png"])
    writeFileSync(join(clientDir, "thumbnails", file), "picture");
  const scenesDir = fileURLToPath(new URL("../integration/scenes", import.meta.url));
  reportDir = testFolder("report");
  app = await buildApp({
    ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
    store: "none",
    scenesDir,
    clientDir,
    reportDir,
    prewarm: ["cube"],
  });
  await app.warm;
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.fastify.inject({ method: "GET", url, headers });
const post = (payload: unknown) =>
  app.fastify.inject({
    method: "POST",
    url: "/api/rooms",
    headers: { "content-type": "application/json" },
    payload: typeof payload === "string" ? payload : JSON.stringify(payload),
  });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const remove = (room: string, token = "") =>
  app.fastify.inject({ method: "DELETE", url: `/api/rooms/${room}`, headers: token === "" ? {} : bearer(token) });

describe("health", () => {
  test("alive, ready, measured", async () => {
    expect((await get("/healthz")).json()).toEqual({ status: "ok" });
    expect((await get("/readyz")).json()).toEqual({ status: "ready" });
    const metrics = await get("/metrics");
    expect(metrics.headers["content-type"]).toContain("text/plain");
    expect(metrics.body).toContain("pliant_tick_seconds_bucket");
    expect(metrics.body).toContain("process_cpu_user_seconds_total");
  });

  test("not ready during the build of scenes and during shutdown, and then no room is opened", async () => {
    const other = await buildApp({
      ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
      store: "none",
      scenesDir: fileURLToPath(new URL("../integration/scenes", import.meta.url)),
      clientDir,
      prewarm: ["cube"],
    });
    const readyz = () => other.fastify.inject({ method: "GET", url: "/readyz" });
    expect((await readyz()).statusCode).toBe(503);
    expect((await readyz()).json()).toEqual({ status: "building scenes" });
    await other.warm;
    expect((await readyz()).statusCode).toBe(200);
    await other.registry.close();
    expect((await readyz()).json()).toEqual({ status: "shutting down" });
    const refused = await other.fastify.inject({ method: "POST", url: "/api/rooms", payload: { scene: "cube" } });
    expect(refused.statusCode).toBe(503);
    expect(refused.json()).toMatchObject({ code: "SHUTTING_DOWN" });
    await other.close();
  });
});

describe("scenes", () => {
  test("are listed with title and picture", async () => {
    const { scenes } = (await get("/api/scenes")).json<{
      scenes: { id: string; title: string; thumbnail?: string }[];
    }>();
    expect(scenes.map(({ id }) => id)).toEqual([...scenes.map(({ id }) => id)].sort());
    expect(scenes.find(({ id }) => id === "cube")).toEqual({
      id: "cube",
      title: "A cube in weightlessness",
      description: "",
      bodies: 1,
      kinds: ["soft"],
      lesson: false,
      thumbnail: "/thumbnails/cube.png",
      darkThumbnail: "/thumbnails/cube.dark.png",
    });
    for (const name of ["thumbnail", "darkThumbnail"])
      expect(scenes.find(({ id }) => id === "sheet")).not.toHaveProperty(name);
  });

  test("each is returned with its file", async () => {
    expect((await get("/api/scenes/cube")).json()).toMatchObject({
      id: "cube",
      scene: { version: 1, bodies: [{ name: "cube" }] },
    });
  });

  test("an unchanged list is not sent again", async () => {
    const { headers, body } = await get("/api/scenes");
    const { etag } = headers as { etag: string };
    expect(headers).toMatchObject({ "cache-control": "no-cache", "content-type": "application/json; charset=utf-8" });
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`]) {
      const answer = await get("/api/scenes", { "if-none-match": known });
      expect([answer.statusCode, answer.body, answer.headers.etag]).toEqual([304, "", etag]);
    }
    const changed = await get("/api/scenes", { "if-none-match": '"another"' });
    expect([changed.statusCode, changed.body]).toEqual([200, body]);
  });

  test("an invalid scene is not in the list, and its error is reported", async () => {
    const { scenes, broken } = (await get("/api/scenes")).json<{ scenes: { id: string }[]; broken: unknown }>();
    expect(scenes.map(({ id }) => id)).not.toContain("invalid");
    const error = expect.stringContaining("/bodies/0/material/poissonsRatio: 0.7") as string;
    expect(broken).toContainEqual({ id: "invalid", error });
    // Only an operator on the server's machine gets this list. A proxied visitor only seems to be on this machine.
    for (const stranger of [{ remoteAddress: "192.0.2.9" }, { headers: { "x-forwarded-for": "127.0.0.1" } }]) {
      expect((await app.fastify.inject({ url: "/api/scenes", ...stranger })).json()).not.toHaveProperty("broken");
      const told = { code: "SCENE_INVALID", message: HttpErrors.SCENE_INVALID.text, field: "scene", value: "invalid" };
      const opened = { method: "POST", url: "/api/rooms", payload: { scene: "invalid" } } as const;
      for (const asked of [{ url: "/api/scenes/invalid" }, opened])
        expect((await app.fastify.inject({ ...asked, ...stranger })).json()).toEqual(told);
    }
    const answer = await post({ scene: "invalid" });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({
      code: "SCENE_INVALID",
      message: expect.stringContaining("/bodies/0/material/poissonsRatio: 0.7") as string,
    });
  });

  test.each(["nothing", "schema", "..%2F..%2Fpackage", "Cube"])("%s is not a scene", async (scene) => {
    const answer = await get(`/api/scenes/${scene}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ code: "SCENE_NOT_FOUND" });
  });
});

describe("the physics report", () => {
  const page = async (): Promise<string> => {
    const answer = await get("/report");
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["content-type"]).toContain("text/html");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(answer.headers["content-security-policy"]).not.toContain("script");
    return answer.body;
  };

  test("scenes name their section if there is a report; without one the page explains how to make it", async () => {
    const section = async (id: string): Promise<string | undefined> =>
      (await get(`/api/scenes/${id}`)).json<{ report?: string }>().report;
    expect(await section("sheet")).toBeUndefined();
    expect(await page()).toContain("npm run report");
    const missing = await get("/report/report.json");
    expect(missing.statusCode).toBe(404);
    expect(missing.json()).toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("npm run report") as string,
    });
    writeFileSync(join(reportDir, "index.html"), "<!doctype html><style>p{}</style>");
    writeFileSync(join(reportDir, "report.json"), "{}");
    expect(await page()).toBe("<!doctype html><style>p{}</style>");
    expect((await get("/report/report.json")).json()).toEqual({});
    expect(await section("sheet")).toBe("/report#fig7");
    expect(await section("cube")).toBeUndefined();
  });
});

describe("rooms", () => {
  test("open, read, list, delete", async () => {
    const made = await post({ scene: "cube", room: "a-room" });
    expect(made.statusCode).toBe(201);
    expect(made.headers.location).toBe("/api/rooms/a-room");
    expect(made.json()).toMatchObject({
      room: "a-room",
      scene: "cube",
      members: 0,
      pool: "shared",
      tick: 0,
      timeDilation: 1,
      heldBodies: [],
    });
    expect((await post({ scene: "cube", room: "a-room" })).statusCode).toBe(200);
    const { token, ...room } = made.json<{ token: string }>();
    expect((await get("/api/rooms/a-room")).json()).toEqual(room);
    expect((await get("/api/rooms")).json()).toEqual({ rooms: [room] });
    expect((await remove("a-room")).json()).toMatchObject({ code: "TOKEN_NEEDED", limit: "owner or above" });
    expect((await remove("a-room", token)).statusCode).toBe(204);
    expect((await get("/api/rooms/a-room")).json()).toMatchObject({
      code: "ROOM_NOT_FOUND",
      field: "room",
      value: "a-room",
    });
  });

  test("a room without a name gets one", async () => {
    const made = (await post({ scene: "cube" })).json<{ room: string; pool: string }>();
    expect(made.room).toMatch(/^[a-z0-9]{5}$/);
    expect(made.pool).toBe("shared");
    await app.registry.remove(made.room);
  });

  test("the state between two ticks", async () => {
    await post({ scene: "cube", room: "state" });
    const state = (await get("/api/rooms/state/positions")).json<{
      positions: number[];
      stateHash: string;
      frameTick: number;
      quantized: unknown;
    }>();
    expect(state).toMatchObject({ tick: 0, frameTick: -1, quantized: null });
    expect(state.stateHash).toMatch(/^[0-9a-f]{16}$/);
    const { topology } = (await get("/api/rooms/state")).json<{ topology: string }>();
    const { particles } = decode((await get(`/api/topologies/${topology}`)).rawPayload) as Topology;
    expect(state.positions).toHaveLength(3 * particles);
    await app.registry.remove("state");
  });

  test.each([
    ["no scene", {}, 400, "BODY_INVALID", "scene", { limit: "must have required property 'scene'" }],
    [
      "an unknown field",
      { scene: "cube", size: 3 },
      400,
      "BODY_INVALID",
      "size",
      { limit: "must NOT have additional properties" },
    ],
    ["a field of another type", { scene: 7 }, 400, "BODY_INVALID", "scene", { value: 7, limit: "must be string" }],
    [
      "an unknown pool",
      { scene: "cube", pool: "both" },
      400,
      "BODY_INVALID",
      "pool",
      { value: "both", limit: "one of shared, dedicated" },
    ],
    ["broken JSON", '{"scene":', 400, "BODY_INVALID", "body"],
    ["a name with a space", { scene: "cube", room: "a room" }, 400, "ROOM_NAME_INVALID", "room"],
    ["a name that is a path", { scene: "cube", room: "../x" }, 400, "ROOM_NAME_INVALID", "room"],
    ["too long a name", { scene: "cube", room: "x".repeat(41) }, 400, "ROOM_NAME_INVALID", "room"],
    ["a missing scene", { scene: "nothing" }, 404, "SCENE_NOT_FOUND", "scene"],
    [
      "a body beyond the limit",
      { scene: "cube", room: "x".repeat(70_000) },
      400,
      "BODY_INVALID",
      "body",
      { limit: "65536 bytes" },
    ],
  ])("%s", async (_, payload, status, code, field, more: Record<string, unknown> = {}) => {
    const answer = await post(payload);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ code, field, ...more });
    expect(HttpErrors[code as keyof typeof HttpErrors].status).toBe(status);
    expect(app.registry.size).toBe(0);
  });
});

describe("topologies", () => {
  test("match the room, are compressed on request, and may be cached forever", async () => {
    await post({ scene: "cube", room: "topology" });
    const { topology: hash } = (await get("/api/rooms/topology")).json<{ topology: string }>();
    const url = `/api/topologies/${hash}`;
    const raw = await get(url);
    expect(raw.headers).toMatchObject({
      "content-type": "application/msgpack",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    const topology = decode(raw.rawPayload) as Topology;
    expect(topology).toMatchObject({ version: 1, title: "A cube in weightlessness", tickHz: 60 });
    expect(topology.bodies[0]!.rest.byteLength).toBe(12 * topology.particles);
    await expect
      .poll(async () => (await get(url, { "accept-encoding": "br" })).headers["content-encoding"], { timeout: 50_000 })
      .toBe("br");
    expect(brotliDecompressSync((await get(url, { "accept-encoding": "gzip, br;q=0.9" })).rawPayload)).toEqual(
      raw.rawPayload,
    );
    expect(gunzipSync((await get(url, { "accept-encoding": "gzip, br;q=0" })).rawPayload)).toEqual(raw.rawPayload);
    expect((await get(url, { "accept-encoding": "identity" })).rawPayload).toEqual(raw.rawPayload);
    await app.registry.remove("topology");
  });

  test("an unknown one", async () => {
    expect((await get("/api/topologies/00")).json()).toMatchObject({ code: "TOPOLOGY_NOT_FOUND", value: "00" });
  });
});

describe("pages", () => {
  test.each(["/", "/r/some-room", "/r/some-room?quality=low"])(
    "%s returns the single page, which is always revalidated",
    async (url) => {
      const answer = await get(url);
      expect(answer.body).toContain("the page");
      expect(answer.headers["cache-control"]).toBe("no-cache");
    },
  );

  test.each([
    "/api/rooms",
    "/api/rooms/none",
    "/nothing.js",
    "/assets/main-zzzzzzzz.js",
    "/healthz",
    "//evil.example/",
  ])("an answer that does not say otherwise is stored by no cache: %s", async (url) => {
    expect((await get(url)).headers["cache-control"]).toBe("no-store");
  });

  test.each(["//evil.example/", "/api//rooms", "/..%2f..%2fpackage.json"])("%s leads to nothing", async (url) => {
    const answer = await get(url);
    expect([answer.statusCode, (answer.json() as { code: string }).code]).toEqual([404, "NOT_FOUND"]);
  });

  test("a file is sent as a whole, whichever range is asked for", async () => {
    for (const range of ["bytes=0-3", "bytes=-0", "bytes=9-1"]) {
      const answer = await get("/assets/main-a1B2c3D4.js", { range });
      expect([range, answer.statusCode, answer.body]).toEqual([range, 200, "export {};"]);
    }
  });

  test("assets with a content hash in their name may be cached", async () => {
    expect((await get("/assets/main-a1B2c3D4.js")).headers["cache-control"]).toContain("immutable");
  });

  test("files are sent as the build has compressed them, under their own type", async () => {
    const url = "/assets/main-a1B2c3D4.js";
    const plain = await get(url, { "accept-encoding": "identity" });
    expect(plain.headers).not.toHaveProperty("content-encoding");
    for (const [accepted, encoding, unpack] of [
      ["gzip, deflate, br", "br", brotliDecompressSync],
      ["gzip", "gzip", gunzipSync],
    ] as const) {
      const answer = await get(url, { "accept-encoding": accepted });
      expect(answer.headers).toMatchObject({
        "content-encoding": encoding,
        "content-type": plain.headers["content-type"],
        vary: expect.stringContaining("accept-encoding") as string,
        "cache-control": "public, max-age=31536000, immutable",
      });
      expect(unpack(answer.rawPayload)).toEqual(plain.rawPayload);
    }
  });

  test.each(["/nothing", "/assets/../../package.json", "/assets/%2e%2e%2f%2e%2e%2fpackage.json"])(
    "%s does not exist",
    async (url) => {
      const answer = await get(url);
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: "NOT_FOUND" });
    },
  );

  test("every response has the security headers, and scripts may not be inline", async () => {
    for (const url of ["/", "/api/rooms", "/nothing", "/metrics"]) {
      const { headers } = await get(url);
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "same-origin" });
      expect(headers["content-security-policy"]).toContain("script-src 'self' 'wasm-unsafe-eval';");
      expect(headers["content-security-policy"]).not.toContain("'unsafe-");
    }
  });
});

test("for an unknown path a browser gets an error page with 404; programs and API clients get the error as JSON", async () => {
  const lost = await get("/nope", { accept: "text/html,*/*;q=0.8" });
  expect(lost.statusCode).toBe(404);
  expect(lost.headers["content-type"]).toContain("text/html");
  expect(lost.body).toContain("the page");
  expect((await get("/nope", { accept: "*/*" })).json()).toMatchObject({ code: "NOT_FOUND", value: "/nope" });
  expect((await get("/api/nope", { accept: "text/html" })).json()).toMatchObject({ code: "NOT_FOUND" });
});

describe("OpenAPI", () => {
  test("describes every route with its errors", async () => {
    const { paths } = (await get("/docs/json")).json<{
      paths: Record<string, Record<string, { responses: object }>>;
    }>();
    // Pages, files and the socket are no calls.
    const called = Object.keys(RULES)
      .map((rule) => rule.split(" ")[1]!.replaceAll(/:(\w+)/g, "{$1}"))
      .filter((path) => /^\/(api\/|healthz|readyz|metrics)/.test(path) && !path.endsWith("/socket"));
    expect(Object.keys(paths).sort()).toEqual([...new Set(called)].sort());
    expect(Object.keys(paths["/api/rooms"]!.post!.responses)).toEqual(
      expect.arrayContaining(["200", "201", "400", "404", "409", "503"]),
    );
  });

  test("follows OpenAPI 3.1, and every call has an id of its own, a body where it needs one, and errors as JSON", async () => {
    const source = (await get("/docs/json")).body;
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source, config });
    // Health checks and metrics are never refused.
    const isOperation = /^#\/paths\/~1(healthz|readyz|metrics)\/get\/responses$/;
    expect(
      problems
        .filter(({ ruleId, location: [at] }) => ruleId !== "operation-4xx-response" || !isOperation.test(at!.pointer!))
        .map(({ ruleId, message, location: [at] }) => [ruleId, message, at?.pointer]),
    ).toEqual([]);
    expect(source).not.toContain('"nullable"');
    type Answers = Record<string, { content?: object; headers?: object }>;
    const { openapi, paths } = JSON.parse(source) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; requestBody?: object; responses: Answers }>>;
    };
    expect(openapi).toBe("3.1.0");
    const calls = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, call]) => ({ name: `${method} ${path}`, ...call })),
    );
    expect(new Set(calls.map(({ operationId }) => operationId)).size).toBe(calls.length);
    for (const { name, responses } of calls)
      for (const [status, { content, headers }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        expect([name, status, Object.keys(content ?? {})]).toEqual([name, status, ["application/json"]]);
        if (status === "429") expect([name, Object.keys(headers ?? {})]).toEqual([name, ["retry-after"]]);
      }
    expect(paths["/api/objects"]!.post!.requestBody).toEqual({
      required: true,
      content: { "application/octet-stream": { schema: {} } },
    });
  });

  test("is shown at /docs without inline script", async () => {
    const page = await get("/docs");
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-security-policy"]).toContain("script-src 'self' 'wasm-unsafe-eval';");
    expect(page.headers["content-security-policy"]).not.toContain("upgrade-insecure-requests");
  });

  test("an HTTP request to the socket's address gets an error that names the protocol", async () => {
    expect((await get("/api/rooms/a/socket")).json()).toMatchObject({ code: "UPGRADE_REQUIRED" });
  });
});
