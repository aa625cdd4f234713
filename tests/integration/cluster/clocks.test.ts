/** Processes whose clocks differ by an hour: requests that they forward keep the caller's identity. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { findPostgres, PostgresServer } from "../../support/postgres.ts";
import { lacks } from "../../support/run/tools.ts";
import { SCENES_DIR } from "../testServer.ts";
import { postJson } from "../../support/request.ts";

const ADMIN_TOKEN = "an-admin-token-of-the-tests-own";
const AHEAD = "data:text/javascript,const%20now=Date.now;Date.now=()=>now()+3600000";
const bin = findPostgres();

describe.skipIf(lacks("PostgreSQL", bin))("a clock that is an hour ahead", () => {
  let database: PostgresServer;
  let right: RunningServer;
  let ahead: RunningServer;
  beforeAll(async () => {
    database = await PostgresServer.start(bin as string);
    const env = {
      PLIANT_STORE: await database.database(),
      PLIANT_TOKEN_SECRET: "a-secret-of-the-tests-own-long-enough",
      PLIANT_ADMIN_TOKEN: ADMIN_TOKEN,
      PLIANT_BALANCE: "off",
      PLIANT_PREWARM: "none",
      PLIANT_WORKERS: "1",
      PLIANT_SCENES_DIR: SCENES_DIR,
      LOG_LEVEL: "warn",
    };
    right = await startServer({ env });
    ahead = await startServer({ env: { ...env, NODE_OPTIONS: `--import=${AHEAD}` } });
  });
  afterAll(async () => {
    await Promise.all([right?.stop(), ahead?.stop()]);
    await database?.stop();
  });

  test.each(["right", "ahead"])("costs no caller its identity, in rooms of the process that is %s", async (which) => {
    const [owner, other] = which === "right" ? [right, ahead] : [ahead, right];
    await createRoom(owner.url, "cube", which);
    const roleThrough = async ({ url }: RunningServer): Promise<string> => {
      const bot = await Bot.join(url, which, { joinToken: ADMIN_TOKEN });
      await bot.leave();
      return bot.welcome.role;
    };
    expect(await roleThrough(owner)).toBe("admin");
    // The difference is known when the other process has read the first report.
    await vi.waitUntil(async () => (await roleThrough(other)) === "admin", { timeout: 60_000, interval: 500 });
    const announced = await postJson(`${other.url}/api/admin/rooms/${which}/announce`, { text: "hello" }, ADMIN_TOKEN);
    expect(announced.status).toBeLessThan(300);
  });
});
