/**
 * A store that accepts no more writes: the disk is full, or the database is away. The process is not ready within 5 s,
 * members are told within 8 s, the log says it once a minute, and everything recovers automatically. Real disks (a
 * small RAM disk, if the system allows it), real servers.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { StoreUnavailable } from "../../../server/store/store.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { TcpProxy } from "../../chaos/tcpProxy.ts";
import { PostgresServer, findPostgres } from "../../support/postgres.ts";
import { findOnPath, lacks } from "../../support/run/tools.ts";
import { SCENES_DIR, startTestServer } from "../testServer.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";

const ADMIN_TOKEN = "an-admin-token-of-the-tests-own";
const READY_WITHIN_MS = 5000;
const TOLD_WITHIN_MS = 8000;
const folder = testFolder("away");
const disk = join(folder, "disk");
mkdirSync(disk);
// PostgreSQL runs as another user.
chmodSync(folder, 0o711);
const [mount, unmount] = [findOnPath("mount"), findOnPath("umount")];
// Only root may mount, and not in every container.
const mounted =
  mount !== undefined &&
  unmount !== undefined &&
  spawnSync(mount, ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk]).status === 0;
const running: RunningServer[] = [];
afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
afterAll(() => {
  if (mounted) execFileSync(unmount, [disk]);
});

const readiness = async (url: string): Promise<{ code: number; status: string }> => {
  const answer = await fetch(`${url}/readyz`);
  return { code: answer.status, status: ((await answer.json()) as { status: string }).status };
};

/** Time at which each of these became true, ms from now. */
async function timed(...states: (() => boolean | Promise<boolean>)[]): Promise<number[]> {
  const startMs = performance.now();
  return Promise.all(
    states.map(async (state) => {
      await vi.waitUntil(state, { timeout: 300_000, interval: 50 });
      return performance.now() - startMs;
    }),
  );
}

/** A server on the store. */
async function started(env: Record<string, string>): Promise<RunningServer> {
  const server = await startServer({
    env: { PLIANT_PREWARM: "none", PLIANT_WORKERS: "1", PLIANT_SCENES_DIR: SCENES_DIR, LOG_LEVEL: "warn", ...env },
  });
  running.push(server);
  return server;
}

/** Checks a server with one member while its store is away, and after the store is back. */
async function outage(
  { url, output = () => "" }: { url: string; output?: () => string },
  away: () => void | Promise<void>,
  back: () => void | Promise<void>,
): Promise<void> {
  await createRoom(url, "cube", "room");
  const bot = await Bot.join(url, "room", { name: "who stays" });
  await bot.until(() => bot.tick > 120, "two seconds");
  const { session, member, token } = bot.welcome;
  const lines = output().length;
  let code: number | undefined;
  void bot.untilClosed().then((closed) => (code = closed.code));
  await away();
  const [notReadyMs, toldMs, closedMs] = await timed(
    async () => (await readiness(url)).code === 503,
    () => bot.notices.some((notice) => notice.code === "STORE_AWAY") || code !== undefined,
    () => code !== undefined,
  );
  expect(notReadyMs).toBeLessThan(READY_WITHIN_MS);
  expect(toldMs).toBeLessThan(TOLD_WITHIN_MS);
  expect(closedMs).toBeLessThan(TOLD_WITHIN_MS);
  expect(code).toBe(CloseCode.restarting);
  expect((await readiness(url)).status).toBe("the store accepts no writes: see the log");
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(Number(/^pliant_store_away_seconds (.*)$/m.exec(metrics)![1])).toBeGreaterThan(2);
  // A member who joins meanwhile is sent away, too.
  expect((await Bot.connect(url, "room").untilClosed()).code).toBe(CloseCode.restarting);
  const said = output().slice(lines).split("\n").filter(Boolean);
  const same = Map.groupBy(said, (line) => (JSON.parse(line) as { msg: string }).msg);
  for (const [msg, repeated] of same) expect(repeated.length, msg).toBe(1);
  await back();
  await timed(async () => (await readiness(url)).code === 200);
  const again = await rejoined(url, token);
  expect(again.welcome).toMatchObject({ session, member });
  const { tick } = again;
  await again.until(() => again.tick > tick + 30, "the room's next ticks");
  await again.leave();
}

async function rejoined(url: string, resume: string): Promise<Bot> {
  for (;;) {
    const bot = await Bot.join(url, "room", { resume }).catch(() => null);
    if (bot) return bot;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const filler = join(disk, "filler");
const emptyDisk = (): void => rmSync(filler);

function fillDisk(): void {
  const file = openSync(filler, "w");
  const noise = Buffer.alloc(4096, 1);
  try {
    for (;;) writeSync(file, noise);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  } finally {
    closeSync(file);
  }
}

describe.skipIf(!mounted)("a full disk", () => {
  test("is reported in time to load balancer and members, logged once, and recovers when there is space again", async () => {
    await outage(await started({ PLIANT_STORE: "sqlite", PLIANT_DATA_DIR: join(disk, "data") }), fillDisk, emptyDisk);
  });
});

test("a disk that hangs: the same, although no call fails", async () => {
  const server = await startTestServer({ store: "sqlite", dataDir: join(folder, "hung"), workers: 1 });
  let goOn = (): void => {};
  const hung = new Promise<void>((resolve) => (goOn = resolve));
  const hang = (): void => {
    for (const method of [
      "ping",
      "renew",
      "rooms",
      "room",
      "writeMembers",
      "appendJournal",
      "writeCheckpoint",
    ] as const) {
      const real = SqliteStore.prototype[method] as (...args: unknown[]) => Promise<never>;
      vi.spyOn(SqliteStore.prototype, method).mockImplementation(async function (
        this: SqliteStore,
        ...args: unknown[]
      ) {
        await hung;
        return real.apply(this, args);
      });
    }
  };
  await outage({ url: server.url }, hang, () => goOn());
  vi.restoreAllMocks();
  await server.close();
});

test("a room is not handed over while the store cannot write it: it continues here, whole", async () => {
  const dataDir = join(folder, "unwilling");
  const server = await startTestServer({ store: "sqlite", dataDir, workers: 1, adminToken: ADMIN_TOKEN });
  await createRoom(server.url, "cube", "room");
  const bot = await Bot.join(server.url, "room", { name: "who stays" });
  const handOver = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await fetch(`${server.url}/api/admin/rooms/room/hand-over`, { method: "POST", headers })).json();
  };
  const failing = vi
    .spyOn(SqliteStore.prototype, "appendJournal")
    .mockRejectedValue(new StoreUnavailable("the disk", new Error("disk I/O error")));
  const { tick } = bot;
  await bot.until(() => bot.tick > tick + 10, "ticks that are not stored");
  expect(await handOver()).toEqual({ handedOver: [] });
  const later = bot.tick;
  await bot.until(() => bot.tick > later + 10, "the room's next ticks");
  expect(bot.closed).toBeNull();
  failing.mockRestore();
  await vi.waitUntil(async () => ((await handOver()) as { handedOver: string[] }).handedOver.length === 1);
  expect((await bot.untilClosed()).code).toBe(CloseCode.restarting);
  await server.close();
});

/** Fills the journal's last pages: a write that still finds a place in one of them does not fail. */
async function fillPages(url: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (let size = 2048, tick = 0; size >= 1; size /= 2)
    for (let code: unknown; code !== "53100"; tick++)
      await client
        .query("INSERT INTO pliant_journal (room, until_tick, after_tick, bytes) VALUES ('', $1, $1, $2)", [
          tick,
          randomBytes(size),
        ])
        .catch((error: unknown) => (code = (error as pg.DatabaseError).code));
  await client.end();
}

const bin = findPostgres();
describe.skipIf(lacks("PostgreSQL", bin))("a database that is away", () => {
  let database: PostgresServer;
  beforeAll(async () => {
    database = await PostgresServer.start(bin as string);
  });
  afterAll(() => database.stop());

  test.each(inLong(["halted", "broken", "silent"], ["broken", "silent"]))(
    "its rooms' members are sent away, and come back to the same room when the database is back (%s)",
    async (how) => {
      const line = await TcpProxy.open(database.port);
      const url = new URL(await database.database());
      url.port = String(line.port);
      const away = { halted: () => database.halt(), broken: () => line.break(), silent: () => line.silence() };
      try {
        await outage(
          await started({ PLIANT_STORE: url.href, PLIANT_TOKEN_SECRET: "a-secret-of-the-tests-own-long-enough" }),
          away[how as keyof typeof away],
          () => (how === "halted" ? database.resume() : line.heal()),
        );
      } finally {
        await Promise.all(running.splice(0).map((server) => server.stop()));
        line.close();
      }
    },
  );

  test.skipIf(!mounted)("a full disk of its tables: the same, although reads and small updates succeed", async () => {
    const url = await database.databaseOn(disk);
    await outage(
      await started({ PLIANT_STORE: url, PLIANT_TOKEN_SECRET: "a-secret-of-the-tests-own-long-enough" }),
      async () => {
        fillDisk();
        await fillPages(url);
      },
      emptyDisk,
    );
  });
});
