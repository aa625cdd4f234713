/** Metrics of a real server: requests by route, sockets, joins, inputs and frames with their times, and refusals. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom, deleteRoom } from "../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "./testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ origins: ["https://ours.example"] });
});
afterAll(() => server?.close());

test("requests are counted by route and status class, never by their path", async () => {
  const requests = (route: string, status: string): Promise<number> =>
    server.metric("pliant_http_request_seconds_count", { route, status });
  await createRoom(server.url, "cube", "counted");
  for (const room of ["counted", "nobody-1", "nobody-2"]) await fetch(`${server.url}/api/rooms/${room}`);
  await fetch(`${server.url}/no/such/address`);
  expect(await requests("/api/rooms", "2xx")).toBe(1);
  expect(await requests("/api/rooms/:room", "2xx")).toBe(1);
  expect(await requests("/api/rooms/:room", "4xx")).toBe(2);
  expect((await requests("none", "4xx")) + (await requests("/*", "4xx"))).toBe(1);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).not.toMatch(/nobody-1|counted|no\/such/);
});

test("a socket is no HTTP request, however long it lives; its join, its inputs and the frames are timed", async () => {
  const { token } = await createRoom(server.url, "cube", "timed");
  const before = await server.metric("pliant_sockets_opened_total");
  const bot = await Bot.join(server.url, "timed");
  await bot.frames(3);
  const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
  const at = bot.surfacePosition(point);
  const startMs = performance.now();
  bot.grab(1, point, at);
  for (let i = 0; i < 10; i++) {
    bot.move(1, [at[0], at[1] + 0.01 * i, at[2]]);
    await bot.frames(1);
  }
  bot.release(1);
  await bot.frames(2);
  const elapsed = (performance.now() - startMs) / 1000;
  expect(await server.metric("pliant_sockets_opened_total")).toBe(before + 1);
  expect(await server.metric("pliant_socket_join_seconds_count")).toBe(1);
  const inputs = await server.metric("pliant_input_seconds_count");
  const inputSeconds = await server.metric("pliant_input_seconds_sum");
  // The oldest input of each tick: at most one observation for each of the twelve inputs. The grab and one move are in
  // different ticks.
  expect(inputs).toBeGreaterThan(1);
  expect(inputs).toBeLessThanOrEqual(12);
  // The inputs came one after another, so their total waiting time is at most the elapsed time.
  expect(inputSeconds).toBeGreaterThan(0);
  expect(inputSeconds).toBeLessThan(elapsed);
  const frames = await server.metric("pliant_frame_seconds_count");
  expect(frames).toBeGreaterThanOrEqual(15);
  // A frame's time includes its tick's time.
  expect(await server.metric("pliant_frame_seconds_sum")).toBeGreaterThan(
    await server.metric("pliant_encode_seconds_sum"),
  );
  await bot.leave();
  await expect.poll(() => server.metric("pliant_sockets_closed_total", { code: "1000" }), { timeout: 300_000 }).toBe(1);
  expect(await server.metric("pliant_http_request_seconds_count", { route: "/api/rooms/:room/socket" })).toBe(0);
  expect(await deleteRoom(server.url, "timed", token)).toBe(204);
  expect(await server.metric("pliant_audit_actions_total", { action: "dispose" })).toBe(1);
});

test("refusals are counted by reason", async () => {
  await createRoom(server.url, "cube", "closed");
  const refused = (reason: string): Promise<number> => server.metric("pliant_connections_refused_total", { reason });
  const upgrade = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const { status } = await server.app.fastify
    .inject({ url: "/api/rooms/closed/socket", headers: { ...upgrade, origin: "https://theirs.example" } })
    .then(({ statusCode }) => ({ status: statusCode }));
  expect(status).toBe(403);
  expect(await refused("origin")).toBe(1);
  await fetch(`${server.url}/api/admin/rooms`);
  expect(await refused("admin")).toBe(1);
  await expect(Bot.join(server.url, "there-is-none")).rejects.toThrow();
  expect(await refused("no_room")).toBe(1);
});

test("no counter falls, whatever ends", async () => {
  /** Values of all counters, and of all parts of histograms, by series. */
  const counters = async (): Promise<Map<string, number>> => {
    const lines = (await (await fetch(`${server.url}/metrics`)).text()).split("\n");
    const counted = new Set(lines.flatMap((line) => /^# TYPE (\S+) (?:counter|histogram)$/.exec(line)?.[1] ?? []));
    const nameOf = (series: string): string => series.replace(/\{.*/, "");
    return new Map(
      lines
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line): [string, number] => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))])
        .filter(
          ([series]) => counted.has(nameOf(series)) || counted.has(nameOf(series).replace(/_(bucket|sum|count)$/, "")),
        ),
    );
  };
  const before = await counters();
  expect(before.size).toBeGreaterThan(100);
  const { token } = await createRoom(server.url, "cube", "ending");
  const bot = await Bot.join(server.url, "ending");
  await bot.frames(3);
  const during = await counters();
  expect(await deleteRoom(server.url, "ending", token)).toBe(204);
  await bot.untilClosed();
  for (const worker of [...server.workers]) await worker.terminate();
  await createRoom(server.url, "cube", "later");
  const later = await Bot.join(server.url, "later");
  await later.frames(3);
  await later.leave();
  const after = await counters();
  for (const [earlier, next] of [[before, during], [during, after]] as const) // biome-ignore format: one line
    expect([...earlier].filter(([series, value]) => !(next.get(series)! >= value))).toEqual([]);
});
