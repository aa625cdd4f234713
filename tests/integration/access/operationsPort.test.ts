/**
 * Operators' routes answer on a port of their own, over real sockets: on the visitors' port they do not exist, however
 * the address is written.
 */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { RULES } from "../../../server/routes/rules.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

const ADMIN = "the-operators-own-token";
let server: TestServer;
let visitors = "";
let operators = "";

beforeAll(async () => {
  server = await startTestServer({ operationsPort: 0, host: "127.0.0.1", adminToken: ADMIN });
  await server.app.operations!.listen();
  visitors = server.url;
  operators = `http://127.0.0.1:${server.app.operations!.port}`;
});
afterAll(() => server.close());

/** Sends the path as it is, without the normalization of `fetch`. */
const ask = (
  origin: string,
  path: string,
  method = "GET",
  more: Record<string, string> = {},
): Promise<{ status: number; body: string; location?: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const headers = { authorization: `Bearer ${ADMIN}`, ...more };
    request({ hostname, port, path, method, headers }, (response) => {
      let body = "";
      response.on("data", (piece) => (body += String(piece)));
      response.on("end", () => resolve({ status: response.statusCode!, body, location: response.headers.location }));
    })
      .on("error", reject)
      .end();
  });

const isOperators = (url: string): boolean => /^\/(metrics|admin|docs|api\/admin)(\/|$)/.test(url);
const rows = Object.keys(RULES).map((row) => row.split(" ") as [string, string]);
const addressOf = (pattern: string): string =>
  pattern
    .replace(/:room/, "room")
    .replace(/:id/, "1")
    .replace(/:object/, "0".repeat(64))
    .replace("*", "json");

test.each(rows.filter(([, url]) => isOperators(url)))(
  "%s %s exists on the operators' port only",
  async (method, url) => {
    const path = addressOf(url);
    const { status, body } = await ask(visitors, path, method);
    expect([status, JSON.parse(body)]).toEqual([404, expect.objectContaining({ code: "NOT_FOUND" })]);
    const there = await ask(operators, path, method);
    expect(there.body.startsWith('{"code":"NOT_FOUND"')).toBe(false);
  },
);

test.each([
  "/%6detrics",
  "/metric%73",
  "/metrics?x=1",
  "/metrics/",
  "//metrics",
  "/./metrics",
  "/x/../metrics",
  "/METRICS",
  "/%2561dmin",
  "/%61pi/admin/rooms",
  "/api/%61dmin/rooms",
  "/api/admin/rooms?room=x",
  "/api//admin/rooms",
  "/doc%73/json",
  "/docs/%6ason",
  "/%61dmin",
  "http://127.0.0.1/metrics",
])("%s shows no operators' data to visitors", async (path) => {
  for (const method of ["GET", "HEAD"]) {
    const { status, body } = await ask(visitors, path, method);
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/pliant_|openapi|"rooms"/);
  }
});

test("visitors' routes answer on both, so that the operations page and the documentation work", async () => {
  for (const path of ["/healthz", "/readyz", "/api/scenes", "/api/rooms"])
    for (const origin of [visitors, operators]) expect([path, (await ask(origin, path)).status]).toEqual([path, 200]);
  expect((await ask(operators, "/metrics")).body).toContain("pliant_rooms ");
});

describe("pages find the other port", () => {
  const address = async (origin: string): Promise<unknown> => JSON.parse((await ask(origin, "/api/address")).body);

  test("the lobby on the server's own machine is told where operators go", async () => {
    expect(await address(visitors)).toEqual({ url: null, visitors: null, operations: operators });
  });

  test("other visitors are not", async () => {
    const { hostname, port } = new URL(visitors);
    const answer = await fetch(`http://${hostname}:${port}/api/address`, {
      headers: { "x-forwarded-for": "192.0.2.7" },
    });
    expect(await answer.json()).toMatchObject({ operations: null });
  });

  test("the operations page is told where the rooms are, and is what the port shows first", async () => {
    expect(await address(operators)).toEqual({ url: null, visitors, operations: null });
    expect(await ask(operators, "/")).toMatchObject({ status: 302, location: "/admin" });
  });
});

test("no room's socket opens on the operators' port", async () => {
  const socket = new WebSocket(`${operators.replace("http", "ws")}/api/rooms/room/socket`);
  const refused = new Promise<number>((resolve) =>
    socket.once("unexpected-response", (_r, { statusCode }) => resolve(statusCode!)),
  );
  socket.once("error", () => {});
  expect(await refused).toBe(404);
});

test("a request that offers h2c, as Java's client does, is answered", async () => {
  const headers = { connection: "upgrade, http2-settings", upgrade: "h2c", "http2-settings": "AAMAAABkAAQAAP__" };
  for (const origin of [visitors, operators])
    expect((await ask(origin, "/api/rooms", "GET", headers)).status).toBe(200);
});

test("the port ends with the server", async () => {
  const other = await startTestServer({ operationsPort: 0 });
  await other.app.operations!.listen();
  const origin = `http://127.0.0.1:${other.app.operations!.port}`;
  expect((await ask(origin, "/healthz")).status).toBe(200);
  await other.close();
  await expect(ask(origin, "/healthz")).rejects.toThrow(/ECONNREFUSED/);
});
