/**
 * Every route, requested by every role in every state of a room: the answers are those of routes/rules.ts, over real
 * HTTP and real sockets.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot } from "../../../load-tests/bot.ts";
import { hashPassword } from "../../../server/auth/password.ts";
import { TokenMint } from "../../../server/auth/tokens.ts";
import { RequestAuth } from "../../../server/routes/guards/requestAuth.ts";
import { RULES } from "../../../server/routes/rules.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { atLeast, isRole, type Role } from "../../../shared/members/roles.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson, request } from "../../support/request.ts";

const MODES = ["open", "tokens"] as const;
const STATES = ["open", "locked", "password", "banned"] as const;
/** `other`: a player of another room. All except `none` have a token. */
const CALLERS = ["none", "other", "spectator", "player", "owner", "admin"] as const;
type Mode = (typeof MODES)[number];
type State = (typeof STATES)[number];
type Caller = (typeof CALLERS)[number];

/**
 * Role of each caller in the room, or the reason for refusal. `banned`: the address and the subjects of spectator and
 * player are banned.
 */
const INSIDE: Record<
  Mode,
  Record<State, Record<Caller, Role | "BANNED" | "ROOM_LOCKED" | "TOKEN_NEEDED" | "PASSWORD" | "NOT_ALLOWED">>
> = {
  open: {
    open: { none: "player", other: "player", spectator: "spectator", player: "player", owner: "owner", admin: "admin" },
    locked: {
      none: "ROOM_LOCKED",
      other: "ROOM_LOCKED",
      spectator: "ROOM_LOCKED",
      player: "ROOM_LOCKED",
      owner: "owner",
      admin: "admin",
    },
    password: {
      none: "PASSWORD",
      other: "PASSWORD",
      spectator: "spectator",
      player: "player",
      owner: "owner",
      admin: "admin",
    },
    banned: { none: "BANNED", other: "BANNED", spectator: "BANNED", player: "BANNED", owner: "owner", admin: "admin" },
  },
  tokens: {
    open: {
      none: "TOKEN_NEEDED",
      other: "NOT_ALLOWED",
      spectator: "spectator",
      player: "player",
      owner: "owner",
      admin: "admin",
    },
    locked: {
      none: "TOKEN_NEEDED",
      other: "NOT_ALLOWED",
      spectator: "ROOM_LOCKED",
      player: "ROOM_LOCKED",
      owner: "owner",
      admin: "admin",
    },
    password: {
      none: "TOKEN_NEEDED",
      other: "NOT_ALLOWED",
      spectator: "spectator",
      player: "player",
      owner: "owner",
      admin: "admin",
    },
    banned: {
      none: "TOKEN_NEEDED",
      other: "NOT_ALLOWED",
      spectator: "BANNED",
      player: "BANNED",
      owner: "owner",
      admin: "admin",
    },
  },
};

/** A request of each route, and its status on success; PASSES: any status that is not a refusal. */
const PASSES = 0;
const SAMPLES: Record<string, { path: string; body?: object; passes: number; room?: string }> = {
  "GET /healthz": { path: "/healthz", passes: 200 },
  "GET /readyz": { path: "/readyz", passes: 200 },
  "GET /metrics": { path: "/metrics", passes: 200 },
  "GET /api/scenes": { path: "/api/scenes", passes: 200 },
  "GET /api/scenes/:scene": { path: "/api/scenes/cube", passes: 200 },
  "GET /api/scenes/:scene/picture": { path: "/api/scenes/cube/picture", passes: 200 },
  "GET /api/scenes/:scene/progress": { path: "/api/scenes/cube/progress", passes: 200 },
  "POST /api/scenes": {
    path: "/api/scenes",
    body: { object: "0".repeat(64), role: "soft", material: "rubber", size: 1 },
    passes: 404,
  },
  "GET /api/objects/:object": { path: `/api/objects/${"0".repeat(64)}`, passes: 404 },
  "GET /api/objects/:object/picture": { path: `/api/objects/${"0".repeat(64)}/picture`, passes: 404 },
  "POST /api/objects": { path: "/api/objects?name=none.xyz", body: {}, passes: 422 },
  "GET /api/saved-scenes": { path: "/api/saved-scenes", passes: 200 },
  "GET /api/saved-scenes/:saved/picture": { path: "/api/saved-scenes/222222222222/picture", passes: 404 },
  "PATCH /api/saved-scenes/:saved": { path: "/api/saved-scenes/222222222222", body: { title: "A" }, passes: 404 },
  "DELETE /api/saved-scenes/:saved": { path: "/api/saved-scenes/222222222222", passes: 404 },
  "GET /api/topologies/:hash": { path: `/api/topologies/${"0".repeat(32)}`, passes: 404 },
  "GET /api/address": { path: "/api/address", passes: 200 },
  "GET /api/rooms": { path: "/api/rooms", passes: 200 },
  "POST /api/rooms": { path: "/api/rooms", body: { scene: "cube", room: "room" }, passes: 200 },
  "GET /api/rooms/:room": { path: "/api/rooms/room", passes: 200 },
  "DELETE /api/rooms/:room": { path: "/api/rooms/gone", room: "gone", passes: 204 },
  "GET /api/rooms/:room/positions": { path: "/api/rooms/room/positions", passes: 200 },
  "GET /api/rooms/:room/picture": { path: "/api/rooms/room/picture", passes: 200 },
  "GET /api/rooms/:room/recording": { path: "/api/rooms/room/recording", passes: 200 },
  "GET /api/rooms/:room/scene": { path: "/api/rooms/room/scene", passes: 200 },
  "POST /api/rooms/:room/palette": { path: "/api/rooms/palette/palette", room: "palette", passes: 200 },
  "POST /api/rooms/:room/scene": { path: "/api/rooms/room/scene", body: { title: "A" }, passes: 201 },
  "GET /api/rooms/:room/replay": { path: "/api/rooms/room/replay", passes: 200 },
  "POST /api/rooms/:room/undo": { path: "/api/rooms/room/undo", body: { seconds: 1 }, passes: 200 },
  "POST /api/tokens": { path: "/api/tokens", body: { room: "room", role: "spectator" }, passes: 201 },
  "GET /api/admin/rooms": { path: "/api/admin/rooms", passes: 200 },
  "GET /api/admin/objects": { path: "/api/admin/objects", passes: 200 },
  "DELETE /api/admin/objects/:object": { path: `/api/admin/objects/${"0".repeat(64)}`, passes: 404 },
  "GET /api/admin/saved-scenes": { path: "/api/admin/saved-scenes", passes: 200 },
  "DELETE /api/admin/saved-scenes/:saved": { path: "/api/admin/saved-scenes/222222222222", passes: 404 },
  "GET /api/admin/processes": { path: "/api/admin/processes", passes: 200 },
  "DELETE /api/admin/rooms/:room": { path: "/api/admin/rooms/gone", room: "gone", passes: 204 },
  "POST /api/admin/rooms/:room/kick": { path: "/api/admin/rooms/room/kick", body: { member: 99_999 }, passes: 404 },
  "POST /api/admin/rooms/:room/announce": { path: "/api/admin/rooms/room/announce", body: { text: "Hi" }, passes: 204 },
  "POST /api/admin/rooms/:room/hand-over": { path: "/api/admin/rooms/room/hand-over", passes: 409 },
  "POST /api/admin/rooms/:room/end-quarantine": {
    path: "/api/admin/rooms/room/end-quarantine",
    body: { from: "end" },
    passes: 409,
  },
  "GET /api/admin/rooms/:room/recording": { path: "/api/admin/rooms/room/recording", passes: 200 },
  "GET /api/admin/rooms/:room/quarantined-pieces": { path: "/api/admin/rooms/room/quarantined-pieces", passes: 409 },
  "GET /api/admin/rooms/:room/quarantined-pieces/:id": {
    path: "/api/admin/rooms/room/quarantined-pieces/1",
    passes: 409,
  },
  "DELETE /api/admin/rooms/:room/quarantined-pieces/:id": {
    path: "/api/admin/rooms/room/quarantined-pieces/1",
    passes: 409,
  },
  "POST /api/admin/rebalance": { path: "/api/admin/rebalance", body: { rooms: 1 }, passes: 409 },
  "GET /api/admin/audit": { path: "/api/admin/audit", passes: 200 },
  "GET /docs": { path: "/docs", passes: PASSES },
  "GET /docs/*": { path: "/docs/json", passes: 200 },
  "GET /report": { path: "/report", passes: 200 },
  "GET /report/report.json": { path: "/report/report.json", passes: 404 },
  "GET /r/:room": { path: "/r/room", passes: 200 },
  "GET /r/:room/replay": { path: "/r/room/replay", passes: 200 },
  "GET /admin": { path: "/admin", passes: 200 },
  "GET /gallery": { path: "/gallery", passes: 200 },
  "GET /materials": { path: "/materials", passes: 200 },
  "GET /*": { path: "/index.html", passes: 200 },
};
const SOCKET = "GET /api/rooms/:room/socket";

/** Expected answer of the row: the status of success, or the code of the refusal. */
function expected(route: string, mode: Mode, state: State, caller: Caller): string | number {
  const { who } = RULES[route]!;
  const { passes } = SAMPLES[route]!;
  const refused = caller === "none" ? "TOKEN_NEEDED" : "NOT_ALLOWED";
  switch (who) {
    case "everyone":
      return passes;
    case "listed":
      // Without a room in the address any token will do.
      if (mode === "open" || atLeastSomething(caller) || (caller === "other" && !route.includes(":room")))
        return passes;
      return refused;
    case "opener": {
      // The room is open already: a caller with a token for it finds it.
      const may = route === "POST /api/rooms" ? atLeastSomething(caller) : caller === "owner" || caller === "admin";
      return mode === "open" || may ? passes : refused;
    }
    case "bearer":
      return caller === "owner" || caller === "admin" ? passes : refused;
    case "admin":
      return caller === "admin" ? passes : refused;
    case "socket":
      throw new Error("sockets have tests of their own");
    default: {
      const inside = INSIDE[mode][state][caller];
      if (isRole(inside)) return atLeast(inside, who) ? passes : refused;
      return inside === "PASSWORD" ? refused : inside;
    }
  }
}

const atLeastSomething = (caller: Caller): boolean => caller !== "none" && caller !== "other";

const SECRET = "the key that signs here, 32 bytes.";
let clientDir: string;
const tokens: Partial<Record<Caller, string>> = {};
beforeAll(async () => {
  clientDir = testFolder("rules");
  writeFileSync(join(clientDir, "index.html"), "<!doctype html>");
  const mint = new TokenMint([SECRET]);
  for (const caller of CALLERS) {
    if (caller === "none") continue;
    const room = caller === "other" ? "elsewhere" : "*";
    const role = caller === "other" ? "player" : caller;
    tokens[caller] = (await mint.sign({ room, role, subject: caller, seconds: 600 })).token;
  }
});

/** Hashed once, because it takes 0.1 s. */
const hash = hashPassword("open sesame", "");

/** Puts the room into the state, and creates it again if the last request has ended it. */
async function prepare(server: TestServer, room: string, state: State): Promise<void> {
  if (!server.app.registry.has(room)) await server.app.registry.create({ scene: "cube", name: room });
  const { access, members } = server.app.registry.get(room);
  // A member who left may return for a while, so kick it.
  for (const session of members.sessions.values()) members.kick(session, CloseCode.kicked, "the next one asks");
  const password = state === "password" ? await hash : null;
  await access.change({ locked: state === "locked", password, liftBans: access.bans(Date.now()) });
  if (state !== "banned") return;
  const untilMs = Date.now() + 600_000;
  for (const mark of [{ address: "127.0.0.1" }, { subject: "spectator" }, { subject: "player" }])
    await access.ban({ ...mark, untilMs, name: "mallory" }, Date.now());
}

async function ask(server: TestServer, route: string, caller: Caller): Promise<string | number> {
  const { path, body, passes } = SAMPLES[route]!;
  const [method] = route.split(" ") as [string];
  const headers = {
    ...(caller !== "none" && { authorization: `Bearer ${tokens[caller]!}` }),
    ...(body && { "content-type": "application/json" }),
  };
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers,
    redirect: "manual",
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (answer.status === passes) return passes;
  const code = text.startsWith("{") ? (JSON.parse(text) as { code?: string }).code : undefined;
  return code ?? (passes === PASSES && answer.status < 400 ? PASSES : answer.status);
}

async function enter(server: TestServer, caller: Caller): Promise<string | number> {
  const bot = Bot.connect(server.url, "room", tokens[caller] === undefined ? {} : { joinToken: tokens[caller] });
  const closed = bot.untilClosed().then(({ code }) => code);
  const role = await Promise.race([
    closed,
    bot
      .until(() => bot.welcome !== undefined, "welcome")
      .then(
        () => bot.welcome.role,
        () => closed,
      ),
  ]);
  if (isRole(role)) await bot.leave();
  return role;
}

const CLOSED: Record<string, number> = {
  BANNED: CloseCode.kicked,
  ROOM_LOCKED: CloseCode.locked,
  TOKEN_NEEDED: CloseCode.tokenNeeded,
  NOT_ALLOWED: CloseCode.tokenNeeded,
  PASSWORD: CloseCode.passwordNeeded,
};

test("every row has a sample here, and is a route", async () => {
  expect([...Object.keys(SAMPLES), SOCKET].sort()).toEqual(Object.keys(RULES).sort());
  const server = await startTestServer({ clientDir });
  for (const row of Object.keys(RULES)) {
    const [method, url] = row.split(" ") as ["GET", string];
    expect([row, server.app.fastify.hasRoute({ method, url }) || url === "/docs/*"]).toEqual([row, true]);
  }
  await server.close();
});

test("a route without a row fails at start", () => {
  const app = Fastify();
  new RequestAuth({ auth: null!, audit: null!, metrics: null!, find: () => undefined }).watchRoutes(app);
  expect(() => app.get("/api/rooms/:room/secrets", async () => "told")).toThrow(
    "no access rule for GET /api/rooms/:room/secrets",
  );
  expect(() => app.put("/api/scenes", async () => "taken")).toThrow("no access rule");
});

test("no route that changes state accepts a request from a page of another site", async () => {
  const embedder = "https://school.example";
  const server = await startTestServer({ clientDir, embedOrigins: [embedder] });
  const changing = Object.keys(SAMPLES).filter((route) => !route.startsWith("GET "));
  expect(changing.length).toBeGreaterThan(10);
  const codeOf = async (route: string, headers: Record<string, string>): Promise<unknown> => {
    // An HTML form can send this request. Browsers make no preflight request for it.
    const text = { method: route.split(" ")[0]!, headers: { "content-type": "text/plain", ...headers }, body: "{}" };
    return ((await (await fetch(server.url + SAMPLES[route]!.path, text)).json()) as { code?: string }).code;
  };
  for (const route of changing) {
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `${server.url}0` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      // A page of the same host at http://, when this server is at https://.
      { origin: server.url, "sec-fetch-site": "cross-site" },
    ] as Record<string, string>[])
      expect([route, headers, await codeOf(route, headers)]).toEqual([route, headers, "ORIGIN_REFUSED"]);
    for (const headers of [
      {},
      { origin: server.url },
      { origin: server.url, "sec-fetch-site": "same-origin" },
      { origin: embedder },
      { origin: embedder, "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" },
    ] as Record<string, string>[])
      expect([route, await codeOf(route, headers)]).not.toEqual([route, "ORIGIN_REFUSED"]);
  }
  // A preflight request of a listed page allows the method of every route.
  for (const route of changing) {
    const headers = { origin: embedder, "access-control-request-method": route.split(" ")[0]! };
    const preflight = await fetch(server.url + SAMPLES[route]!.path, { method: "OPTIONS", headers });
    const allowed = preflight.headers.get("access-control-allow-methods")?.split(", ") ?? [];
    expect([route, allowed]).toEqual([route, expect.arrayContaining([route.split(" ")[0]])]);
  }
  await server.close();
});

describe.each(MODES)("in %s mode", (auth) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ auth, clientDir, tokenSecrets: [SECRET] });
  });
  afterAll(() => server.close());

  test.each(STATES)("a room that is %s", async (state) => {
    const found: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const route of Object.keys(SAMPLES)) {
      for (const caller of CALLERS) {
        const { room = "room" } = SAMPLES[route]!;
        await prepare(server, room, state);
        found[`${route} ${caller}`] = await ask(server, route, caller);
        wanted[`${route} ${caller}`] = expected(route, auth, state, caller);
      }
    }
    for (const caller of CALLERS) {
      await prepare(server, "room", state);
      const inside = INSIDE[auth][state][caller];
      found[`${SOCKET} ${caller}`] = await enter(server, caller);
      wanted[`${SOCKET} ${caller}`] = isRole(inside) ? inside : CLOSED[inside];
    }
    expect(found).toEqual(wanted);
  });

  test("a member of a locked room with a token keeps its role's HTTP rights until it leaves", async () => {
    await prepare(server, "room", "open");
    const bot = await Bot.join(server.url, "room", { joinToken: tokens.player! });
    await server.app.registry.get("room").access.change({ locked: true });
    expect(await ask(server, "GET /api/rooms/:room/positions", "player")).toBe(200);
    expect(await ask(server, "GET /api/rooms/:room/positions", "spectator")).toBe("ROOM_LOCKED");
    const { members } = server.app.registry.get("room");
    members.kick(members.sessions.get(bot.welcome.member)!, CloseCode.kicked, "out");
    expect(await ask(server, "GET /api/rooms/:room/positions", "player")).toBe("ROOM_LOCKED");
  });

  if (auth === "tokens")
    test("in tokens mode a caller without a token for a room cannot find out whether it exists", () =>
      tellsNothing(server));
});

async function tellsNothing(server: TestServer): Promise<void> {
  await server.app.registry.create({ scene: "cube", name: "made" });
  for (const caller of ["none", "other"] as const) {
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/positions"],
      ["GET", "/recording"],
      ["GET", "/replay"],
      ["POST", "/undo"],
    ] as const) {
      const answers = await Promise.all(
        ["made", "never-made"].map(async (room) => {
          const body = method === "POST" ? { seconds: 1 } : undefined;
          const answer = await request(`${server.url}/api/rooms/${room}${path}`, method, {
            body,
            token: tokens[caller],
          });
          return [answer.status, (await answer.text()).replaceAll(`"${room}"`, "<room>")];
        }),
      );
      expect([method, path, answers[0]]).toEqual([method, path, answers[1]]);
    }
    const opened = await Promise.all(
      [
        { room: "made", scene: "cube" },
        { room: "made", scene: "sheet" },
        { room: "never-made", scene: "cube" },
      ].map(async (body) => {
        const answer = await postJson(`${server.url}/api/rooms`, body, tokens[caller]);
        return [answer.status, (await answer.text()).replaceAll(`"${body.room}"`, "<room>")];
      }),
    );
    expect(opened).toEqual([opened[0], opened[0], opened[0]]);
    const closes = await Promise.all(
      ["made", "never-made"].map((room) =>
        Bot.connect(server.url, room, tokens[caller] === undefined ? {} : { joinToken: tokens[caller] }).untilClosed(),
      ),
    );
    expect(closes[0]).toEqual(closes[1]);
  }
}
