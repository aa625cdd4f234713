/** A server that requires a token: issuers of tokens, rights of admins, and the audit log. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import type { Config } from "../../../server/config.ts";
import { TokenMint } from "../../../server/auth/tokens.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { stopClockOfLimits } from "./stoppedClock.ts";
import { postJson, request } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const SECRETS = ["the key that signs now, 32 bytes..", "the key from before, also 32 bytes"];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ auth: "tokens", tokenSecrets: SECRETS, adminToken: ADMIN });
});
afterAll(() => server.close());

const call = async (
  method: string,
  path: string,
  token?: string,
  body?: unknown,
): Promise<{ status: number; json: Record<string, unknown> }> => {
  const answer = await request(server.url + path, method, { body, token });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
};
const issue = async (by: string, grant: Record<string, unknown>): Promise<string> =>
  (await call("POST", "/api/tokens", by, grant)).json.token as string;
const open = (room: string, token = ADMIN): Promise<{ status: number; json: Record<string, unknown> }> =>
  call("POST", "/api/rooms", token, { scene: "cube", room });

describe("a server for invited guests", () => {
  test("without a token nothing can be opened, listed, read or entered", async () => {
    await open("private");
    for (const [method, path, body] of [
      ["GET", "/api/rooms"],
      ["GET", "/api/rooms/private"],
      ["GET", "/api/rooms/private/positions"],
      ["DELETE", "/api/rooms/private"],
      ["POST", "/api/rooms", { scene: "cube" }],
      ["POST", "/api/rooms", { scene: "cube", room: "private" }],
      ["POST", "/api/tokens", { room: "private", role: "player" }],
    ] as const) {
      expect([method, path, await call(method, path, undefined, body)]).toMatchObject([
        method,
        path,
        { status: 401, json: { code: "TOKEN_NEEDED" } },
      ]);
    }
    expect(await Bot.connect(server.url, "private").untilClosed()).toEqual({
      code: CloseCode.tokenNeeded,
      reason: "a token is needed to enter",
    });
  });

  test("a token admits with its role, and lists its own room only", async () => {
    await open("one");
    await open("two");
    const player = await issue(ADMIN, { room: "one", role: "player", name: "Ada" });
    const bot = await Bot.join(server.url, "one", { joinToken: player });
    expect(bot.welcome.role).toBe("player");
    expect(bot.members[0]![1]).toBe("Ada");
    expect(await Bot.connect(server.url, "two", { joinToken: player }).untilClosed()).toEqual({
      code: CloseCode.tokenNeeded,
      reason: "token refused: it is for another room",
    });
    expect(
      ((await call("GET", "/api/rooms", player)).json.rooms as { room: string }[]).map(({ room }) => room),
    ).toEqual(["one"]);
    // Its session is resumed with the join token and the session token.
    bot.drop();
    const again = await Bot.join(server.url, "one", { joinToken: player, resume: bot.welcome.token });
    expect(again.welcome.session).toBe(bot.welcome.session);
    await again.leave();
  });

  test.each([
    [
      "altered",
      async () => `${(await issue(ADMIN, { room: "*", role: "player" })).slice(0, -3)}AAA`,
      "its signature is wrong",
    ],
    ["ended", () => sign({ seconds: -60 }), "it has expired"],
    [
      "signed with a key that is not known",
      () => sign({}, ["somebody else's key of thirty-two bytes"]),
      "signed with a key that this server does not have",
    ],
    [
      "unsigned",
      async () =>
        `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from('{"room":"*","role":"admin","sub":"x","exp":9999999999,"iss":"pliant","aud":"pliant"}').toString("base64url")}.`,
      "its algorithm is not HS256",
    ],
    ["for an admin of one room", () => sign({ room: "one", role: "admin" }), "an admin's token is for every room: *"],
    ["no token at all", async () => "x".repeat(3000), "longer than 2048 characters"],
  ] as const)("a token that is %s does not admit", async (_, make, reason) => {
    await open("one");
    const joinToken = await make();
    expect(await Bot.connect(server.url, "one", { joinToken }).untilClosed()).toEqual({
      code: CloseCode.tokenNeeded,
      reason: `token refused: ${reason}`,
    });
    expect(await call("GET", "/api/rooms/one", joinToken)).toMatchObject({
      status: 401,
      json: { code: "TOKEN_INVALID", limit: reason },
    });
  });

  test("a token of the previous key is still valid", async () => {
    await open("one");
    const bot = await Bot.join(server.url, "one", { joinToken: await sign({}, [SECRETS[1]!]) });
    expect(bot.welcome.role).toBe("player");
    await bot.leave();
  });

  test("opening a room takes an owner's token for its name, or for every room", async () => {
    expect((await open("mine", await issue(ADMIN, { room: "mine", role: "player" }))).json).toMatchObject({
      code: "NOT_ALLOWED",
    });
    const owner = await issue(ADMIN, { room: "mine", role: "owner" });
    expect((await open("yours", owner)).json).toMatchObject({ code: "NOT_ALLOWED", value: "yours" });
    expect((await call("POST", "/api/rooms", owner, { scene: "cube" })).json).toMatchObject({ code: "NOT_ALLOWED" });
    expect((await open("mine", owner)).status).toBe(201);
    expect((await open("anybody's", await issue(ADMIN, { room: "*", role: "owner" }))).json).toMatchObject({
      code: "ROOM_NAME_INVALID",
    });
    expect(
      (await call("DELETE", "/api/rooms/mine", await issue(owner, { room: "mine", role: "player" }))).json,
    ).toMatchObject({ code: "NOT_ALLOWED" });
    expect((await call("DELETE", "/api/rooms/mine", owner)).status).toBe(204);
  });
});

const sign = async (changes: Partial<Parameters<TokenMint["sign"]>[0]>, secrets = SECRETS): Promise<string> =>
  (await new TokenMint(secrets).sign({ room: "one", role: "player", seconds: 60, ...changes })).token;

describe("issuing", () => {
  test("owners give roles up to their own, for their own room, and no token that outlives their own", async () => {
    await open("own");
    const owner = await issue(ADMIN, { room: "own", role: "owner", hours: 1 });
    const given = await call("POST", "/api/tokens", owner, {
      room: "own",
      role: "spectator",
      hours: 100,
      subject: "ada",
    });
    expect(given).toMatchObject({ status: 201, json: { room: "own", role: "spectator", subject: "ada" } });
    expect(given.json.path).toBe(`/r/own#token=${given.json.token as string}`);
    expect(Date.parse(given.json.expiresAt as string)).toBeLessThanOrEqual(Date.now() + 3_600_000 + 1000);
    for (const grant of [
      { room: "other", role: "player" },
      { room: "*", role: "player" },
      { room: "own", role: "admin" },
      { room: "*", role: "admin" },
    ]) {
      expect([grant, await call("POST", "/api/tokens", owner, grant)]).toMatchObject([
        grant,
        { status: 403, json: { code: "NOT_ALLOWED" } },
      ]);
    }
    const player = await issue(owner, { room: "own", role: "player" });
    expect((await call("POST", "/api/tokens", player, { room: "own", role: "player" })).status).toBe(403);
  });

  test.each([
    ...["admin", "ADMIN", "\u0430dmin", "system", "visitor at 127.0.0.1", "member 1 (Ann)"],
    // Invisible, blank and reversed characters.
    ...["admin\u200b", "\u3164admin", "admin\u2800", "ad\ufe0fmin", "\u202enimda", "\u200b"],
  ])("an owner issues no token under a name of the audit log: %j", async (subject) => {
    const owner = await issue(ADMIN, { room: "own", role: "owner", hours: 1 });
    expect(await call("POST", "/api/tokens", owner, { room: "own", role: "player", subject })).toMatchObject({
      status: 403,
      json: { code: "NOT_ALLOWED", field: "subject", value: subject },
    });
    expect((await call("POST", "/api/tokens", ADMIN, { room: "own", role: "player", subject })).status).toBe(201);
  });

  test("an owner's token that came with the room issues tokens for that room only, not for a later one of its name", async () => {
    const { json } = await open("once");
    const invited = await issue(json.token as string, { room: "once", role: "player" });
    await server.app.registry.remove("once");
    await open("once");
    expect((await Bot.connect(server.url, "once", { joinToken: invited }).untilClosed()).code).toBe(
      CloseCode.tokenNeeded,
    );
    expect((await call("POST", "/api/tokens", json.token as string, { room: "once", role: "player" })).status).toBe(
      403,
    );
  });

  test.each([
    [{ room: "own" }],
    [{ room: "own", role: "king" }],
    [{ room: "../x", role: "player" }],
    [{ room: "own", role: "player", hours: 0 }],
    [{ room: "own", role: "player", hours: 1e6 }],
    [{ room: "own", role: "player", more: 1 }],
  ])("%j is not a valid grant", async (grant) => {
    expect(await call("POST", "/api/tokens", ADMIN, grant)).toMatchObject({
      status: 400,
      json: { code: "BODY_INVALID" },
    });
  });
});

describe("admins", () => {
  test("only admins see and do any of it", async () => {
    await open("watched");
    const owner = await issue(ADMIN, { room: "*", role: "owner" });
    for (const [method, path, body] of [
      ["GET", "/api/admin/rooms"],
      ["GET", "/api/admin/audit"],
      ["DELETE", "/api/admin/rooms/watched"],
      ["POST", "/api/admin/rooms/watched/kick", { member: 1 }],
    ] as const) {
      expect((await call(method, path, undefined, body)).json).toMatchObject({ code: "TOKEN_NEEDED" });
      expect((await call(method, path, `${ADMIN}x`, body)).json).toMatchObject({ code: "TOKEN_INVALID" });
      expect((await call(method, path, owner, body)).json).toMatchObject({ code: "NOT_ALLOWED", limit: "admin" });
    }
  });

  test("they see members, kick, end rooms, and all of it is in the log", async () => {
    await open("watched");
    const bot = await Bot.join(server.url, "watched", {
      joinToken: await issue(ADMIN, { room: "watched", role: "player", subject: "mallory" }),
      name: "Mallory",
    });
    const { rooms } = (await call("GET", "/api/admin/rooms", ADMIN)).json as {
      rooms: { room: string; people: object[]; access: object }[];
    };
    expect(rooms.find(({ room }) => room === "watched")).toMatchObject({
      access: { locked: false, password: false, ownersOnly: false, bans: 0 },
      people: [
        {
          member: bot.welcome.member,
          name: "Mallory",
          role: "player",
          connected: true,
          session: bot.welcome.session,
          address: "127.0.0.1",
          subject: "mallory",
        },
      ],
    });
    expect(
      (await call("POST", "/api/admin/rooms/watched/kick", ADMIN, { member: bot.welcome.member, banSeconds: 60 }))
        .status,
    ).toBe(204);
    expect((await bot.untilClosed()).code).toBe(CloseCode.kicked);
    expect(
      (await call("POST", "/api/admin/rooms/watched/kick", ADMIN, { member: bot.welcome.member })).json,
    ).toMatchObject({ code: "MEMBER_NOT_FOUND" });
    const signed = await issue(ADMIN, { room: "*", role: "admin", subject: "second operator" });
    expect((await call("DELETE", "/api/admin/rooms/watched", signed)).status).toBe(204);
    const { entries } = (await call("GET", "/api/admin/audit?room=watched&limit=3", signed)).json as {
      entries: { actor: string; action: string; details: Record<string, unknown> }[];
    };
    expect(entries).toMatchObject([
      { actor: "second operator", action: "dispose", room: "watched" },
      {
        actor: "admin",
        action: "ban",
        details: { member: bot.welcome.member, name: "Mallory", subject: "mallory", address: "127.0.0.1", seconds: 60 },
      },
      { actor: "admin", action: "token", details: { role: "player", subject: "mallory" } },
    ]);
    expect((await call("GET", "/api/admin/audit?limit=0", ADMIN)).json).toMatchObject({ code: "BODY_INVALID" });
  });

  test("without an admin token in the configuration there is no admin", async () => {
    const plain = await startTestServer();
    for (const token of ["", "admin", ADMIN]) {
      expect(
        (
          await fetch(`${plain.url}/api/admin/rooms`, {
            headers: token === "" ? {} : { authorization: `Bearer ${token}` },
          })
        ).status,
      ).toBe(401);
    }
    await plain.close();
  });
});

describe("limits of one address", () => {
  test("number and rate of rooms that it creates; finding a room costs nothing, and operators are not counted", async () => {
    const small = await startTestServer({ roomsPerAddress: 2, roomsPerMinute: 4, adminToken: ADMIN });
    const make = (room: string, headers: Record<string, string> = {}): Promise<Response> =>
      postJson(`${small.url}/api/rooms`, { scene: "cube", room }, undefined, headers);
    expect([(await make("a")).status, (await make("b")).status]).toEqual([201, 201]);
    const third = await make("c");
    expect([third.status, await third.json()]).toMatchObject([429, { code: "ADDRESS_ROOM_LIMIT", limit: 2 }]);
    for (let i = 0; i < 10; i++) expect((await make("a")).status).toBe(200);
    await small.app.registry.remove("a");
    // On a slow machine some rooms more are granted meanwhile.
    let refused: Response | undefined;
    for (let i = 0; i < 100 && refused === undefined; i++) {
      const answer = await make(`c${i}`);
      if (answer.status === 201) await small.app.registry.remove(`c${i}`);
      else refused = answer;
    }
    expect([refused?.status, await refused?.json()]).toMatchObject([
      429,
      { code: "TOO_MANY_REQUESTS", field: "rooms", value: 4 },
    ]);
    expect(refused?.headers.get("retry-after")).toBe("15");
    for (const room of ["x", "y", "z"])
      expect((await make(room, { authorization: `Bearer ${ADMIN}` })).status).toBe(201);
    await small.close();
  });

  test("the rate of new rooms also counts for an IPv6 network, whose /64 are all within theirs", async () => {
    const small = await startTestServer({ roomsPerMinute: 1, trustProxy: 1, maxRooms: 200 });
    const codes: unknown[] = [];
    for (let n = 0; n < 100 && codes.at(-1) !== "TOO_MANY_REQUESTS"; n++) {
      const answer = await postJson(`${small.url}/api/rooms`, { scene: "cube" }, undefined, {
        "x-forwarded-for": `2001:db8:1:${n.toString(16)}::1`,
      });
      codes.push(answer.status === 201 ? 201 : ((await answer.json()) as { code: string }).code);
    }
    expect(codes.slice(0, 4)).toEqual([201, 201, 201, 201]);
    expect(codes.at(-1)).toBe("TOO_MANY_REQUESTS");
    await small.close();
  });

  test("no two addresses fill a server: each may have as many rooms as it leaves free", async () => {
    const small = await startTestServer({ maxRooms: 8, roomsPerAddress: 4, trustProxy: 1 });
    const make = async (address: string): Promise<unknown> => {
      const answer = await postJson(`${small.url}/api/rooms`, { scene: "cube" }, undefined, {
        "x-forwarded-for": address,
      });
      return answer.status === 201 ? 201 : ((await answer.json()) as { code: string }).code;
    };
    const made: Record<string, unknown[]> = {};
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"]) {
      made[address] = [];
      while (made[address].at(-1) === 201 || made[address].length === 0) made[address].push(await make(address));
    }
    const limit = "ADDRESS_ROOM_LIMIT";
    expect(made).toEqual({
      "192.0.2.1": [201, 201, 201, 201, limit],
      "192.0.2.2": [201, 201, limit],
      "192.0.2.3": [201, limit],
      "192.0.2.4": [201, "ROOM_LIMIT"],
      "192.0.2.5": ["ROOM_LIMIT"],
    });
    await small.close();
  });

  test("an address is that of the connection, or of the trusted proxies (by number or by address); earlier entries of a visitor count for nothing", async () => {
    const cases: [Config["trustProxy"], string, string, boolean][] = [
      [false, "192.0.2.1", "192.0.2.2", false],
      [1, "192.0.2.1", "192.0.2.2", true],
      // The visitor wrote the first, the proxy the last.
      [1, "198.51.100.1, 192.0.2.1", "198.51.100.2, 192.0.2.1", false],
      [1, "198.51.100.1, 192.0.2.1", "198.51.100.1, 192.0.2.2", true],
      [2, "198.51.100.1, 192.0.2.1, 10.0.0.1", "198.51.100.2, 192.0.2.1, 10.0.0.2", false],
      [2, "192.0.2.1, 10.0.0.1", "192.0.2.2, 10.0.0.1", true],
      [["127.0.0.0/8", "10.0.0.0/8"], "198.51.100.1, 192.0.2.1, 10.0.0.1", "198.51.100.2, 192.0.2.1, 10.9.9.9", false],
      [["127.0.0.0/8", "10.0.0.0/8"], "192.0.2.1, 10.0.0.1", "192.0.2.2, 10.0.0.1", true],
      [["10.0.0.0/8"], "192.0.2.1", "192.0.2.2", false],
    ];
    let behind: TestServer | undefined;
    let trusted: Config["trustProxy"] | undefined;
    for (const [trustProxy, one, other, apart] of cases) {
      // Cases with the same trusted proxies are grouped.
      if (!behind || JSON.stringify(trustProxy) !== JSON.stringify(trusted)) {
        await behind?.close();
        behind = await startTestServer({ trustProxy, roomsPerAddress: 1 });
        trusted = trustProxy;
      }
      const { url, app } = behind;
      const make = async (room: string, from: string): Promise<number> =>
        (await postJson(`${url}/api/rooms`, { scene: "cube", room }, undefined, { "x-forwarded-for": from })).status;
      const found = [await make("a", one), await make("b", other)];
      expect([trustProxy, one, other, found]).toEqual([trustProxy, one, other, [201, apart ? 201 : 429]]);
      for (const { name } of app.registry.list()) await app.registry.remove(name);
    }
    await behind?.close();
  });

  test("after 60 invalid tokens even a valid one has to wait", async () => {
    const clock = stopClockOfLimits();
    const guessed = await startTestServer({ adminToken: ADMIN });
    await createRoom(guessed.url, "cube", "room");
    const ask = async (token: string): Promise<number> =>
      (await fetch(`${guessed.url}/api/admin/rooms`, { headers: { authorization: `Bearer ${token}` } })).status;
    for (let i = 0; i < 60; i++) expect(await ask(`guess-${i}`)).toBe(401);
    expect(await ask(ADMIN)).toBe(429);
    // Requests and sockets share one budget.
    const late = await Bot.join(guessed.url, "room", { joinToken: ADMIN });
    expect([late.welcome.role, late.notices[0]?.code]).toEqual(["player", "TOKEN_INVALID"]);
    // Thirty a minute: after two seconds one guess, or any number of valid tokens.
    clock.advance(2001);
    expect([await ask(ADMIN), await ask(ADMIN), await ask("guess"), await ask(ADMIN)]).toEqual([200, 200, 401, 429]);
    await late.leave();
    await guessed.close();
    clock.restore();
  });

  test("a generated name that is in use is not given out, with or without a key", async () => {
    const names = ["taken", "taken", "free"];
    const wanted = { scene: "cube", key: "a-key-of-its-own", makeName: () => names.shift()! };
    const { registry } = server.app;
    await registry.create({ scene: "cube", name: "taken" });
    const made = await registry.create(wanted);
    expect([made.room.name, made.created, names]).toEqual(["free", true, []]);
  });
});
