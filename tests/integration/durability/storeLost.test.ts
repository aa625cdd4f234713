/** A server that starts on a store which has lost its log reports it to operators until it is started again. */
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startServer } from "../../../load-tests/measuredServer.ts";
import { STORE_FILE } from "../../../server/store/openStore.ts";
import { faults, linesOf } from "../../ops/logLines.ts";
import { startTestServer, storedIn } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const folder = testFolder("lost");

test("a deleted log: an error with its code, a metric, not ready; rooms in the file exist; ready after the next start", async () => {
  const env = storedIn(folder);
  // One room that an orderly end has written into the file, and one that is only in the log.
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

test("files deleted under a running server: not ready, logged with a code, counted; the next start has every room", async () => {
  const data = testFolder("gone");
  const env = storedIn(data);
  const first = await startServer({ env });
  try {
    await createRoom(first.url, "cube", "kept");
    const bot = await Bot.join(first.url, "kept");
    await bot.frames(10);
    const ready = async (): Promise<{ code: number; status: string }> => {
      const answer = await fetch(`${first.url}/readyz`);
      return { code: answer.status, ...((await answer.json()) as { status: string }) };
    };
    await expect.poll(ready, { timeout: 60_000 }).toMatchObject({ code: 200 });
    for (const file of readdirSync(data).filter((name) => name.startsWith(STORE_FILE))) rmSync(join(data, file));
    await expect
      .poll(ready, { timeout: 60_000 })
      .toEqual({ code: 503, status: "the store's files were deleted or replaced: see the log" });
    const counted = (await (await fetch(`${first.url}/metrics`)).text()).match(/^pliant_store_files_changed_.*$/gm);
    expect(counted).toContain('pliant_store_files_changed_total{code="STORE_FILES_REWRITTEN"} 1');
    expect(linesOf(first)).toContainEqual(
      expect.objectContaining({ level: 50, code: "STORE_FILES_REWRITTEN", keptAs: join(data, STORE_FILE) }),
    );
    // All is stored again, so it recovers automatically.
    await expect.poll(ready, { timeout: 60_000 }).toMatchObject({ code: 200 });
    await createRoom(first.url, "cube", "newer");
  } finally {
    first.process.kill("SIGKILL");
    await once(first.process, "exit");
  }
  const second = await startTestServer({ store: "sqlite", dataDir: data, workers: 1 });
  const { rooms } = (await (await fetch(`${second.url}/api/rooms`)).json()) as { rooms: { room: string }[] };
  expect(rooms.map(({ room }) => room)).toEqual(expect.arrayContaining(["kept", "newer"]));
  await second.close();
});
