/**
 * Rooms that must be quarantined: one that kills every process which takes it, one that another version has stepped,
 * one whose journal does not reproduce its recorded hashes, one whose steps are lost repeatedly. Each is quarantined
 * with all its data until an operator decides. Real processes, real kills. A server in this process serves rooms that
 * are only inspected afterwards.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type RunningServer, serveCommand, startServer } from "../../../load-tests/measuredServer.ts";
import type { Config } from "../../../server/config.ts";
import { RecoveryExhausted } from "../../../server/persistence/checkpointPolicy.ts";
import { decodeCheckpoint, decodeSegment, encodeSegment } from "../../../server/persistence/format.ts";
import { RoomSimulation } from "../../../server/rooms/ticks/simulation.ts";
import { STORE_FILE } from "../../../server/store/openStore.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { endlessSteps, withBody } from "../hostile/endless.ts";
import { SCENES_DIR, startTestServer, storedIn, type TestServer } from "../testServer.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";
import { request } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const ATTEMPTS = 2;
const POISON = fileURLToPath(new URL("./poison.ts", import.meta.url));
const folder = testFolder("quarantined");
const running: RunningServer[] = [];
const served: TestServer[] = [];
afterEach(async () => {
  await Promise.all([
    ...running.splice(0).map((server) => server.stop()),
    ...served.splice(0).map((server) => server.close()),
  ]);
});

interface Listed {
  room: string;
  quarantined?: { reason: string; since: string; details: string };
}

const call = (url: string, method: string, path: string, body?: object): Promise<Response> =>
  request(url + path, method, { body, token: ADMIN });
const list = async (url: string): Promise<Listed[]> =>
  ((await (await fetch(`${url}/api/rooms`)).json()) as { rooms: Listed[] }).rooms;
const quarantineOf = async (url: string, room: string): Promise<Listed["quarantined"]> =>
  (await list(url)).find((listed) => listed.room === room)?.quarantined;
const envFor = (data: string): Record<string, string> => ({
  ...storedIn(join(folder, data)),
  PLIANT_ADMIN_TOKEN: ADMIN,
  PLIANT_TAKEOVER_ATTEMPTS: String(ATTEMPTS),
});

async function start(data: string, poison?: Record<string, string>): Promise<RunningServer> {
  const server = await startServer({
    env: { ...envFor(data), ...poison },
    ...(poison && { command: serveCommand("--import", POISON) }),
  });
  running.push(server);
  return server;
}

async function startHere(data: string, changes: Partial<Config> = {}): Promise<TestServer> {
  const dataDir = join(folder, data);
  const server = await startTestServer({ store: "sqlite", dataDir, workers: 1, adminToken: ADMIN, ...changes });
  served.push(server);
  return server;
}

async function kill(server: RunningServer): Promise<void> {
  running.splice(running.indexOf(server), 1);
  const gone = once(server.process, "exit");
  server.process.kill("SIGKILL");
  await gone;
}

/** Content of the store's file for a room, byte for byte. */
function contents(data: string, room: string): unknown {
  const database = new DatabaseSync(join(folder, data, STORE_FILE), { readOnly: true });
  try {
    const all = (sql: string): unknown => database.prepare(sql).all(room);
    return [
      all("SELECT tick, identity, hex(state) FROM checkpoints WHERE room = ? ORDER BY tick"),
      all("SELECT after_tick, until_tick, hex(bytes) FROM journal WHERE room = ? ORDER BY until_tick"),
    ];
  } finally {
    database.close();
  }
}

/** Tests whether the store has a state of the room, and ticks after it. */
function hasGoneOn(data: string, room: string): boolean {
  const database = new DatabaseSync(join(folder, data, STORE_FILE), { readOnly: true });
  try {
    const last = (sql: string): unknown => database.prepare(sql).get(room)!.last;
    const state = last("SELECT max(tick) AS last FROM checkpoints WHERE room = ?");
    const journal = last("SELECT max(until_tick) AS last FROM journal WHERE room = ?");
    return state !== null && journal !== null && Number(journal) > Number(state);
  } finally {
    database.close();
  }
}

/** Programs that stepped the room's data in the store. */
function programs(data: string, room: string): unknown[] {
  const database = new DatabaseSync(join(folder, data, STORE_FILE), { readOnly: true });
  try {
    const rows = database.prepare("SELECT DISTINCT identity FROM checkpoints WHERE room = ?").all(room);
    return rows.map((row) => row.identity);
  } finally {
    database.close();
  }
}

/** Replays the downloaded recording, which must give the same bits. */
async function replays(url: string, room: string): Promise<string> {
  const answer = await call(url, "GET", `/api/admin/rooms/${room}/recording`);
  expect(answer.status).toBe(200);
  const file = join(folder, `${room}.pliant`);
  writeFileSync(file, new Uint8Array(await answer.arrayBuffer()));
  const command = ["server/tools/replay.ts", file, "--scenes", SCENES_DIR];
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  return `${stdout}${stderr}`;
}

async function joined(url: string, room: string, resume?: string): Promise<Bot> {
  for (const untilMs = performance.now() + 300_000; ; ) {
    const answer = await fetch(`${url}/api/rooms/${room}`);
    if (answer.ok) return Bot.join(url, room, { ...(resume !== undefined && { resume }) });
    if (performance.now() > untilMs) throw new Error(`${room}: ${answer.status} ${await answer.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Two rooms, one of which the tests modify, and their ticks when their server was killed. */
const [ROOM, OTHER] = ["marked", "bystander"];
let playedTicks: number[];
beforeAll(async () => {
  const server = await start("played");
  const bots: Bot[] = [];
  for (const room of [ROOM, OTHER]) {
    await createRoom(server.url, "cube", room);
    bots.push(await Bot.join(server.url, room));
  }
  for (const bot of bots) await bot.until(() => bot.tick > 200, "some seconds");
  await vi.waitUntil(() => [ROOM, OTHER].every((room) => hasGoneOn("played", room)), { timeout: 300_000 });
  await kill(server);
  playedTicks = bots.map(({ tick }) => tick);
});

/** Copies the data folder of that server for one test. */
const played = (data: string): void => cpSync(join(folder, "played"), join(folder, data), { recursive: true });

describe("a room that kills the process which takes it", () => {
  test.each(inLong(["restore", "ticks"], ["ticks"]))(
    "in its %s: after the allowed number of attempts it is quarantined, and no other room is",
    async (at) => {
      const data = `killer-${at}`;
      played(data);
      const [before] = playedTicks;
      const poison = { POISON_ROOM: ROOM, POISON_AT: at };
      let deaths = 0;
      let server: RunningServer | undefined;
      for (;;) {
        server = await start(data, poison).catch(() => undefined);
        const child = server?.process;
        const died = (): boolean => !child || child.exitCode !== null || child.signalCode !== null;
        const bots: Bot[] = [];
        // Its members reconnect as pages do, until it is quarantined or kills the process.
        while (server && !died() && (await quarantineOf(server.url, ROOM).catch(() => undefined)) === undefined) {
          const { url } = server;
          if (at === "ticks" && (await fetch(`${url}/api/rooms/${ROOM}`).catch(() => null))?.ok)
            bots.push(Bot.connect(url, ROOM));
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        for (const bot of bots) bot.socket.terminate();
        if (server && !died()) break;
        deaths += 1;
        if (server) running.splice(running.indexOf(server), 1);
        expect(deaths).toBeLessThanOrEqual(ATTEMPTS);
      }
      expect(deaths).toBe(ATTEMPTS);
      const { url } = server;
      expect(await quarantineOf(url, ROOM)).toMatchObject({ reason: "attempts" });
      const bystander = await joined(url, OTHER);
      await bystander.frames(5);
      expect(await quarantineOf(url, OTHER)).toBeUndefined();
      const refused = await fetch(`${url}/api/rooms/${ROOM}`);
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "ROOM_QUARANTINED"]);
      expect((await Bot.connect(url, ROOM).untilClosed()).code).toBe(CloseCode.quarantined);
      expect(
        (await (await fetch(`${url}/metrics`)).text()).match(/pliant_rooms_quarantined_total\{reason="attempts"\} 1/),
      ).not.toBeNull();

      // With a healthy program and an operator's decision it resumes where it was.
      await kill(server);
      const healthy = await startHere(data, { takeoverAttempts: ATTEMPTS });
      expect(await quarantineOf(healthy.url, ROOM)).toMatchObject({ reason: "attempts" });
      expect(await replays(healthy.url, ROOM)).toContain("all match");
      expect((await call(healthy.url, "POST", `/api/admin/rooms/${ROOM}/end-quarantine`, {})).status).toBe(204);
      const back = await joined(healthy.url, ROOM);
      expect(back.tick).toBeGreaterThan(before! - 60);
      await back.frames(10);
      expect((await call(healthy.url, "POST", `/api/admin/rooms/${ROOM}/end-quarantine`, {})).status).toBe(409);
    },
  );
});

describe("a room of another version", () => {
  const foreign = (data: string, room: string, identity: string): void => {
    const database = new DatabaseSync(join(folder, data, STORE_FILE));
    database.prepare("UPDATE checkpoints SET identity = ? WHERE room = ?").run(identity, room);
    database.close();
  };

  test("is kept unchanged, resumes automatically where its version runs, or restarts if the operator decides so", async () => {
    played("version");
    const [[{ identity }]] = contents("version", ROOM) as [[{ identity: string }]];
    for (const room of [ROOM, OTHER]) foreign("version", room, "another-program");
    const before = [contents("version", ROOM), contents("version", OTHER)];
    const server = await startHere("version");
    await expect.poll(() => quarantineOf(server.url, ROOM), { timeout: 300_000 }).toMatchObject({ reason: "version" });
    await expect.poll(() => quarantineOf(server.url, OTHER), { timeout: 300_000 }).toMatchObject({ reason: "version" });
    expect([contents("version", ROOM), contents("version", OTHER)]).toEqual(before);
    expect(await replays(server.url, ROOM)).toContain("recorded by another version of the program or the scene");
    // This program cannot read its states. It is tried at the next poll, not at the next check of quarantined rooms of
    // other versions, which is after 30 s.
    expect((await call(server.url, "POST", `/api/admin/rooms/${OTHER}/end-quarantine`, { from: "end" })).status).toBe(
      204,
    );
    await expect.poll(() => quarantineOf(server.url, OTHER), { timeout: 20_000 }).toMatchObject({ reason: "version" });
    expect((await call(server.url, "POST", `/api/admin/rooms/${OTHER}/end-quarantine`, { from: "start" })).status).toBe(
      204,
    );
    const again = await joined(server.url, OTHER);
    // The room starts from its scene: no data of the other program are left.
    expect(programs("version", OTHER)).not.toContain("another-program");
    await again.leave();
    await served.pop()!.close();

    // The same store, and a process that can read the states: no operator has to act.
    const database = new DatabaseSync(join(folder, "version", STORE_FILE));
    database.prepare("UPDATE checkpoints SET identity = ? WHERE room = ?").run(identity, ROOM);
    database
      .prepare("UPDATE rooms SET parked = replace(parked, 'another-program', ?) WHERE name = ?")
      .run(identity, ROOM);
    database.close();
    const own = await startHere("version");
    await expect.poll(() => quarantineOf(own.url, ROOM), { timeout: 300_000 }).toBeUndefined();
    expect((await joined(own.url, ROOM)).tick).toBeGreaterThan(140);
  });

  test("restarts automatically if the configuration says so", async () => {
    played("restarting");
    foreign("restarting", ROOM, "another-program");
    const server = await startHere("restarting", { otherVersions: "restart" });
    await joined(server.url, ROOM);
    expect(programs("restarting", ROOM)).not.toContain("another-program");
  });
});

test("a room whose journal does not reproduce its recorded hashes is quarantined, and resumes from its newest state if the operator decides so", async () => {
  played("differs");
  // Removes the newest state, so that many ticks have to be replayed, and changes one hash of them.
  const database = new DatabaseSync(join(folder, "differs", STORE_FILE));
  const states = database.prepare("SELECT tick, state FROM checkpoints WHERE room = ? ORDER BY tick").all(ROOM);
  const { checkpoint } = decodeCheckpoint(states.at(-1)!.state as Uint8Array);
  const rows = database.prepare("SELECT until_tick, bytes FROM journal WHERE room = ?").all(ROOM);
  const last = rows
    .map(({ bytes }) => decodeSegment(bytes as Uint8Array))
    .findLast(({ until }) => until > checkpoint.tick)!;
  const tick = last.until;
  const forged = encodeSegment({ ...last, hashes: [{ tick, stateHash: "0123456789abcdef" }] });
  database.prepare("UPDATE journal SET bytes = ? WHERE room = ? AND until_tick = ?").run(forged, ROOM, tick);
  database.close();
  const before = contents("differs", ROOM);
  const server = await startHere("differs");
  await expect
    .poll(() => quarantineOf(server.url, ROOM), { timeout: 300_000 })
    .toMatchObject({ reason: "differs", details: expect.stringContaining(`tick ${tick} `) as string });
  expect(contents("differs", ROOM)).toEqual(before);
  expect((await call(server.url, "POST", `/api/admin/rooms/${ROOM}/end-quarantine`, { from: "state" })).status).toBe(
    204,
  );
  expect((await joined(server.url, ROOM)).tick).toBeGreaterThanOrEqual(checkpoint.tick);
});

test("a room with a long past that cannot be stepped any more keeps its states and its journal", async () => {
  const server = await startHere("far");
  await createRoom(server.url, "cube", "far");
  const bot = await Bot.join(server.url, "far");
  await bot.until(() => bot.tick > 200, "some seconds");
  const before = server.app.registry.get("far").tick;
  const step = vi
    .spyOn(RoomSimulation.prototype, "step")
    .mockRejectedValue(new RecoveryExhausted("step failed 4 times in 10 s"));
  expect((await bot.untilClosed()).code).toBe(CloseCode.quarantined);
  step.mockRestore();
  expect(await quarantineOf(server.url, "far")).toMatchObject({
    reason: "steps",
    details: "step failed 4 times in 10 s",
  });
  expect(await replays(server.url, "far")).toContain("all match");
  expect((await call(server.url, "POST", "/api/admin/rooms/far/end-quarantine", { from: "end" })).status).toBe(204);
  const back = await joined(server.url, "far", bot.welcome.token);
  expect(back.welcome.member).toBe(bot.welcome.member);
  expect(back.tick).toBeGreaterThanOrEqual(before);
  await back.frames(5);
});

test("a room whose steps are lost repeatedly is quarantined with its data, and may be ended or tried again", async () => {
  const restore = endlessSteps(withBody("stuck"));
  const server = await startHere("steps", { stepDeadlineMs: 300 });
  await createRoom(server.url, "stuck", "stuck");
  const closed = await Bot.connect(server.url, "stuck").untilClosed();
  expect(closed.code).toBe(CloseCode.quarantined);
  const first = await quarantineOf(server.url, "stuck");
  expect(first).toMatchObject({ reason: "steps" });
  // A visitor who came just before leaves the quarantine in this process's memory.
  expect((await Bot.connect(server.url, "stuck").untilClosed()).code).toBe(CloseCode.quarantined);
  const answer = await call(server.url, "POST", "/api/admin/rooms/stuck/end-quarantine", { from: "end" });
  expect([answer.status, await answer.text()]).toEqual([204, ""]);
  const again = Bot.connect(server.url, "stuck");
  expect((await again.untilClosed()).code).toBe(CloseCode.quarantined);
  // The room was tried again and failed: a new quarantine.
  expect((await quarantineOf(server.url, "stuck"))!.since).not.toBe(first!.since);
  // 503 ROOM_MOVING while the process has not released its lease yet
  const ended = async (): Promise<boolean> =>
    (await call(server.url, "DELETE", "/api/admin/rooms/stuck")).status === 204;
  await vi.waitUntil(ended, { timeout: 20_000, interval: 50 });
  expect(await list(server.url)).toEqual([]);
  restore();
});
