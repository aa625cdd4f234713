/**
 * A room whose scene file is missing when the server starts again. It is counted and logged, it loses nothing, and it
 * resumes once the file is back (runbook: PliantRestoreFailed).
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { readMetrics, total } from "../../../load-tests/metrics.ts";
import { startServer } from "../../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../../load-tests/measuredServer.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { startTestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const TOKEN = "an-operator-who-has-had-enough";
let folder: string;
let server: RunningServer | undefined;
beforeEach(() => void (folder = testFolder("lost-scene")));
afterEach(() => server?.stop());

test("can be downloaded without its scene, waits for it and then resumes where it was", async () => {
  const scenes = join(folder, "scenes");
  const own = fileURLToPath(new URL("../scenes/cube.json", import.meta.url));
  mkdirSync(scenes);
  cpSync(own, join(scenes, "cube.json"));
  const env = {
    PLIANT_PREWARM: "none",
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: join(folder, "data"),
    PLIANT_SCENES_DIR: scenes,
    PLIANT_ADMIN_TOKEN: TOKEN,
    LOG_LEVEL: "info",
  };
  const before = await startTestServer({
    store: "sqlite",
    dataDir: join(folder, "data"),
    scenesDir: scenes,
    workers: 1,
  });
  await createRoom(before.url, "cube", "patient");
  const bot = await Bot.join(before.url, "patient");
  await bot.frames(30);
  const { tick } = (await (await fetch(`${before.url}/api/rooms/patient`)).json()) as { tick: number };
  await before.close();

  renameSync(join(scenes, "cube.json"), join(folder, "cube.json"));
  server = await startServer({ env });
  const { url } = server;
  const count = async (name: string, labels: Record<string, string>): Promise<number> =>
    total(await readMetrics(url), name, labels);
  await expect
    .poll(() => count("pliant_persistence_failures_total", { what: "restore" }), { timeout: 300_000, interval: 500 })
    .toBeGreaterThan(0);
  expect(server.output()).toContain("a room could not be restored here");
  const { rooms } = (await (await fetch(`${url}/api/rooms`)).json()) as { rooms: { room: string }[] };
  expect(rooms.map(({ room }) => room)).toEqual(["patient"]);

  // Its recording can be downloaded meanwhile, and replayed with the scene.
  const answer = await fetch(`${url}/api/admin/rooms/patient/recording`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(answer.status).toBe(200);
  expect(decodeURI(answer.headers.get("x-pliant-missing")!)).toMatch(/^scene: /);
  const file = join(folder, "patient.pliant");
  writeFileSync(file, new Uint8Array(await answer.arrayBuffer()));
  const recording = decodeRecording(readFileSync(file));
  expect(recording).toMatchObject({ scene: "cube", sceneText: "", missing: [expect.stringMatching(/^scene: /)] });
  expect(recording.until).toBeGreaterThanOrEqual(tick);
  const replay = (...more: string[]): { status: number | null; stderr: string; stdout: string } =>
    spawnSync(process.execPath, ["server/tools/replay.ts", file, ...more], { encoding: "utf8" });
  expect(replay()).toMatchObject({ status: 2, stderr: expect.stringContaining("--scene") });
  expect(replay("--scene", join(folder, "cube.json"))).toMatchObject({ status: 0, stderr: "" });

  renameSync(join(folder, "cube.json"), join(scenes, "cube.json"));
  await expect
    .poll(() => count("pliant_rooms_restored_total", { cause: "handover" }), { timeout: 300_000, interval: 500 })
    .toBe(1);
  const back = (await (await fetch(`${url}/api/rooms/patient`)).json()) as { tick: number };
  expect(back.tick).toBeGreaterThanOrEqual(tick);
});

test("an operator may end it instead, which removes it from the store", async () => {
  const scenes = join(folder, "scenes");
  const token = TOKEN;
  mkdirSync(scenes);
  cpSync(fileURLToPath(new URL("../scenes/cube.json", import.meta.url)), join(scenes, "cube.json"));
  const settings = { store: "sqlite", dataDir: join(folder, "data"), scenesDir: scenes, adminToken: token, workers: 1 };
  const before = await startTestServer(settings);
  for (const room of ["hopeless", "other"]) await createRoom(before.url, "cube", room);
  await before.close();
  rmSync(join(scenes, "cube.json"));
  const { url, close } = await startTestServer(settings);
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
  await close();
});
