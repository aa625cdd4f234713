/**
 * A room whose scene's file is gone when the server starts again: it is counted and logged, nothing of it is lost, and
 * it goes on once the file is back (runbook: PliantRestoreFailed).
 */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { readMetrics, total } from "../../load-tests/metrics.ts";
import { startServer } from "../../load-tests/server.ts";
import type { RunningServer } from "../../load-tests/server.ts";

let folder: string;
let server: RunningServer | undefined;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "pliant-lost-scene-"))));
afterEach(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("waits for its scene and then goes on where it was", async () => {
  const scenes = join(folder, "scenes");
  const own = fileURLToPath(new URL("./scenes/cube.json", import.meta.url));
  mkdirSync(scenes);
  cpSync(own, join(scenes, "cube.json"));
  const env = {
    PLIANT_PREWARM: "none",
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: join(folder, "data"),
    PLIANT_SCENES_DIR: scenes,
    LOG_LEVEL: "info",
  };
  server = await startServer({ env });
  await createRoom(server.url, "cube", "patient");
  const bot = await Bot.join(server.url, "patient");
  await bot.frames(30);
  const { tick } = (await (await fetch(`${server.url}/api/rooms/patient`)).json()) as { tick: number };
  expect(await server.stop()).toBe(0);

  renameSync(join(scenes, "cube.json"), join(folder, "cube.json"));
  server = await startServer({ env });
  const { url } = server;
  const count = async (name: string, labels: Record<string, string>): Promise<number> =>
    total(await readMetrics(url), name, labels);
  await expect
    .poll(() => count("pliant_persistence_failures_total", { what: "restore" }), { timeout: 20_000 })
    .toBeGreaterThan(0);
  expect(server.output()).toContain("a room could not be restored here");
  const { rooms } = (await (await fetch(`${url}/api/rooms`)).json()) as { rooms: { room: string }[] };
  expect(rooms.map(({ room }) => room)).toEqual(["patient"]);

  renameSync(join(folder, "cube.json"), join(scenes, "cube.json"));
  await expect.poll(() => count("pliant_rooms_restored_total", { cause: "handover" }), { timeout: 20_000 }).toBe(1);
  const back = (await (await fetch(`${url}/api/rooms/patient`)).json()) as { tick: number };
  expect(back.tick).toBeGreaterThanOrEqual(tick);
});

test("an operator may end it instead, and it is in the store no more", async () => {
  const scenes = join(folder, "scenes");
  const token = "an-operator-who-has-had-enough";
  mkdirSync(scenes);
  cpSync(fileURLToPath(new URL("./scenes/cube.json", import.meta.url)), join(scenes, "cube.json"));
  const env = {
    PLIANT_PREWARM: "none",
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: join(folder, "data"),
    PLIANT_SCENES_DIR: scenes,
    PLIANT_ADMIN_TOKEN: token,
    LOG_LEVEL: "info",
  };
  server = await startServer({ env });
  for (const room of ["hopeless", "other"]) await createRoom(server.url, "cube", room);
  expect(await server.stop()).toBe(0);
  rmSync(join(scenes, "cube.json"));
  server = await startServer({ env });
  const { url } = server;
  const listed = async (): Promise<string[]> =>
    ((await (await fetch(`${url}/api/rooms`)).json()) as { rooms: { room: string }[] }).rooms
      .map(({ room }) => room)
      .sort();
  expect(await listed()).toEqual(["hopeless", "other"]);
  const end = async (room: string, headers: Record<string, string>): Promise<number> =>
    (await fetch(`${url}/api/admin/rooms/${room}`, { method: "DELETE", headers })).status;
  expect(await end("hopeless", {})).toBe(401);
  expect(await end("hopeless", { authorization: `Bearer ${token}` })).toBe(204);
  expect(await end("hopeless", { authorization: `Bearer ${token}` })).toBe(404);
  expect(await end("never-was", { authorization: `Bearer ${token}` })).toBe(404);
  expect(await listed()).toEqual(["other"]);
  const log = (
    (await (await fetch(`${url}/api/admin/audit`, { headers: { authorization: `Bearer ${token}` } })).json()) as {
      entries: { action: string; room: string }[];
    }
  ).entries;
  expect(log).toContainEqual(expect.objectContaining({ action: "dispose", room: "hopeless" }));
});
