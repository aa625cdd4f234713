/** A server that starts on a store which has lost its log says so where operators look, until it is started again. */
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { startServer } from "../../load-tests/server.ts";
import { STORE_FILE } from "../../server/store/openStore.ts";
import { faults, linesOf } from "../ops/logLines.ts";
import { SCENES_DIR, startTestServer } from "./server.ts";

const folder = mkdtempSync(join(tmpdir(), "pliant-lost-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a deleted log: an error with its code, a metric, not ready; rooms that the file has are there; ready with the next start", async () => {
  const env = {
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: folder,
    PLIANT_PREWARM: "none",
    PLIANT_WORKERS: "1",
    PLIANT_SCENES_DIR: SCENES_DIR,
  };
  // One room that an orderly end has brought into the file, and one that is in the log only.
  const first = await startTestServer({ store: "sqlite", dataDir: folder, workers: 1 });
  await createRoom(first.url, "cube", "older");
  const visitor = await Bot.join(first.url, "older");
  await visitor.frames(10);
  await first.close();
  const second = await startServer({ env });
  await createRoom(second.url, "cube", "newer");
  const beat = join(folder, `${STORE_FILE}-beat`);
  const bot = await Bot.join(second.url, "newer");
  await bot.until(() => bot.tick > 150, "some seconds");
  await expect.poll(() => existsSync(beat), { timeout: 300_000 }).toBe(true);
  second.process.kill("SIGKILL");
  await once(second.process, "exit");
  rmSync(join(folder, `${STORE_FILE}-wal`));

  const third = await startTestServer({ store: "sqlite", dataDir: folder, scenesDir: "scenes", workers: 1 });
  const readiness = await fetch(`${third.url}/readyz`);
  expect([readiness.status, await readiness.json()]).toEqual([
    503,
    { status: expect.stringContaining("STORE_LOG_DELETED") as string },
  ]);
  expect(await third.metric("pliant_store_losses_total", { code: "STORE_LOG_DELETED" })).toBe(1);
  const { rooms } = (await (await fetch(`${third.url}/api/rooms`)).json()) as { rooms: { room: string }[] };
  expect(rooms.map(({ room }) => room)).toContain("older");
  await third.close();

  const fourth = await startServer({ env, port: second.port });
  expect((await fetch(`${fourth.url}/readyz`)).status).toBe(200);
  expect(await fourth.stop()).toBe(0);
  expect(faults(linesOf(fourth))).toEqual([]);
});
