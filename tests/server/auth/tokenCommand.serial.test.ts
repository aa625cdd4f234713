/**
 * `npm run token` as an operator runs it, against a server that shares its data folder or its secret. None of these
 * secrets is in the server's log.
 */
import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson, request } from "../../support/request.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const scenes = { PLIANT_SCENES_DIR: join(root, "tests/integration/scenes"), PLIANT_PREWARM: "cube" };
let dir: string;
beforeAll(() => {
  dir = testFolder("token");
});
let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const run = (args: string[], env: Record<string, string>) =>
  spawnSync(process.execPath, [resolve(root, "server/tools/token.ts"), ...args], {
    cwd: dir,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
    timeout: 60_000,
  });

test("a server and the command with the same data folder share its secret, also after a restart; no other user can read it", async () => {
  const env = { PLIANT_STORE: "sqlite", PLIANT_DATA_DIR: join(dir, "data"), PLIANT_AUTH: "tokens" };
  const made = run(["--room", "*", "--role", "admin", "--hours", "0.5", "--subject", "operator"], env);
  expect([made.status, made.stderr]).toEqual([
    0,
    expect.stringMatching(/^admin of every room, subject operator, until /) as string,
  ]);
  expect(statSync(join(dir, "data", "token-secret")).mode & 0o777).toBe(0o600);
  for (let start = 0; start < 2; start++) {
    server = await startServer({ env: { ...scenes, ...env } });
    const answer = await fetch(`${server.url}/api/admin/rooms`, {
      headers: { authorization: `Bearer ${made.stdout.trim()}` },
    });
    expect(answer.status).toBe(200);
    await server.stop();
  }
});

test.each([
  [[], "--room: missing"],
  [["--room", "x"], "--role: missing"],
  [["--room", "X!", "--role", "player"], "--room: X!"],
  [["--room", "x", "--role", "admin"], "limit: * for an admin"],
  [["--room", "x", "--role", "player", "--hours", "0"], "--hours: 0"],
  [["--room", "x", "--role", "player", "--hours", "99999"], "up to 8784"],
  [["--rum", "x"], "Unknown option '--rum'"],
])("%j is refused with its reason", (args, reason) => {
  const refused = run(args, { PLIANT_TOKEN_SECRET: "a secret that is long enough to be one" });
  expect([refused.status, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain(reason);
});

test("both refuse a secret that is too short, without showing it", () => {
  const env = { PLIANT_TOKEN_SECRET: "hunter2" };
  for (const refused of [
    run(["--room", "x", "--role", "player"], env),
    spawnSync(process.execPath, ["server/main.ts"], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, ...env },
      timeout: 60_000,
    }),
  ]) {
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("PLIANT_TOKEN_SECRET");
    expect(refused.stderr + refused.stdout).not.toContain("hunter2");
  }
});

test("without a shared secret no token is issued", () => {
  const refused = run(["--room", "x", "--role", "player"], { PLIANT_STORE: "none" });
  expect([refused.status, refused.stderr.split("\n")[0]]).toEqual([
    2,
    expect.stringContaining("PLIANT_TOKEN_SECRET: missing") as string,
  ]);
});

test("no secret is in the log, even at the most detailed level", async () => {
  const secret = "signing-secret-0123456789abcdefghij";
  const admin = "operators-own-token-5e5e5e";
  const password = "sesame-9f8e7d6c";
  const wrong = "barley-1a2b3c4d";
  server = await startServer({
    env: { ...scenes, LOG_LEVEL: "trace", PLIANT_TOKEN_SECRET: secret, PLIANT_ADMIN_TOKEN: admin },
  });
  const { url } = server;
  const { token: owned } = await createRoom(url, "cube", "room");
  const answer = await postJson(`${url}/api/tokens`, { room: "room", role: "spectator" }, admin);
  const { token: issued } = (await answer.json()) as { token: string };
  // Secrets in wrong places: in a query, in a name, in a broken header.
  await fetch(`${url}/api/rooms/room?token=${issued}&password=${password}`, {
    headers: { authorization: `Basic ${owned}`, cookie: `token=${owned}` },
  });
  await fetch(`${url}/api/admin/rooms`, { headers: { authorization: `Bearer ${owned}` } });
  await request(`${url}/api/admin/rooms`, "GET", { token: admin });
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/room/socket?token=${issued}`);
  await new Promise((done) => socket.once("open", done));
  socket.close();
  const owner = await Bot.join(url, "room", { joinToken: owned });
  owner.setAccess({ password });
  await owner.until(() => owner.access?.password === true, "the password");
  expect((await Bot.connect(url, "room", { password: wrong }).untilClosed()).code).toBe(CloseCode.passwordNeeded);
  const guest = await Bot.join(url, "room", { password });
  const spectator = await Bot.join(url, "room", { joinToken: issued });
  await (await Bot.join(url, "room", { joinToken: `${issued.slice(0, -4)}AAAA`, password })).leave();
  guest.drop();
  const resumed = await Bot.join(url, "room", { resume: guest.welcome.token });
  owner.kick(resumed.welcome.member, 60);
  await resumed.untilClosed();
  await Promise.all([owner.leave(), spectator.leave()]);
  await server.stop();
  const log = server.output();
  // The log exists and contains these events.
  for (const told of [
    "member connected",
    '"audit":true',
    '"action":"password"',
    '"action":"ban"',
    '"action":"token"',
    "the password is wrong",
    "[redacted]",
  ])
    expect(log).toContain(told);
  const secrets = {
    secret,
    admin,
    password,
    wrong,
    owned: owned!,
    issued,
    signature: issued.split(".")[2]!,
    session: guest.welcome.token,
    ownersSession: owner.welcome.token,
  };
  for (const [what, text] of Object.entries(secrets)) expect([what, log.includes(text)]).toEqual([what, false]);
  server = undefined;
});

test("the secret's file is created only once, also by two processes at once", async () => {
  const env = { PLIANT_DATA_DIR: join(dir, "shared") };
  const args = [resolve(root, "server/tools/token.ts"), "--room", "x", "--role", "player"];
  await Promise.all(
    [1, 2, 3].map(() =>
      promisify(execFile)(process.execPath, args, { cwd: dir, env: { PATH: process.env.PATH, ...env } }),
    ),
  );
  expect(readdirSync(join(dir, "shared"))).toEqual(["token-secret"]);
  expect(readFileSync(join(dir, "shared", "token-secret"), "utf8")).toMatch(/^[\w-]{43}$/);
});
