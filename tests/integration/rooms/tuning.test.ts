/**
 * An owner's changes of a running room, over real sockets. They take effect for all members, are refused to other
 * members, and live with the room's state: through an undo, a kill and a replay.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { startServer } from "../../../load-tests/measuredServer.ts";
import { decodeRecording } from "../../../server/persistence/recording.ts";
import { tunedScene } from "../../../server/rooms/scenes/tunedScene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { NO_WIND } from "../../../server/sim/tuning/windRow.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { SCENES_DIR, startTestServer, storedIn, type TestServer } from "../testServer.ts";
import { postJson } from "../../support/request.ts";
import { testFolder } from "../../support/testFolder.ts";

const UP: [number, number, number] = [0, 4, 0];
const folder = testFolder("tuning");
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function owned(url: string, scene: string, room: string): Promise<{ owner: Bot; token: string }> {
  const token = (await createRoom(url, scene, room)).token!;
  return { owner: await Bot.join(url, room, { joinToken: token }), token };
}

/** Replays a recording, and compares it with its hashes. */
async function stepsAgain(url: string, room: string): Promise<ReturnType<typeof decodeRecording>> {
  const bytes = new Uint8Array(await (await fetch(`${url}/api/rooms/${room}/recording`)).arrayBuffer());
  const file = join(folder, `${room}.pliant`);
  writeFileSync(file, bytes);
  const { stdout, stderr } = spawnSync(process.execPath, ["server/tools/replay.ts", file, "--scenes", SCENES_DIR], {
    encoding: "utf8",
    timeout: 300_000,
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/hashes compared, all match/);
  return decodeRecording(bytes);
}

test("the owner reverses gravity and every member's body rises; a reset keeps it, asScene restores it", async () => {
  const { owner } = await owned(server.url, "cube", "up");
  const guest = await Bot.join(server.url, "up");
  const { tuning: scene } = guest.tuned!;
  expect(guest.tuned).toMatchObject({ member: 0, tuning: { gravity: [0, 0, 0] } });
  owner.tune({ gravity: UP });
  await guest.until(() => guest.tuned!.member === owner.welcome.member, "the news");
  expect(guest.tuned!.tuning).toEqual({ ...scene, gravity: UP });
  await guest.until(() => guest.center(0)[1] > 1, "the cube's rise");
  owner.tune({ body: 0, damping: 30, friction: 2 });
  await guest.until(() => guest.tuned!.tuning.bodies[0]!.friction === 2, "the second change");
  owner.reset();
  await guest.until(() => guest.resets === 1, "the reset");
  const late = await Bot.join(server.url, "up");
  const all = { gravity: UP, bodies: [{ ...scene.bodies[0]!, damping: 30, friction: 2 }] };
  expect(late.tuned).toMatchObject({ member: 0, tuning: all });
  owner.tune({ asScene: true });
  await late.until(() => late.tuned!.member > 0, "the scene's own values");
  expect(late.tuned!.tuning).toEqual(scene);
  const { records } = await stepsAgain(server.url, "up");
  expect(records.flatMap(({ inputs }) => inputs).filter(({ type }) => type === "tune")).toHaveLength(3);
  await Promise.all([owner.leave(), guest.leave(), late.leave()]);
});

test("the first motion after rest is sent with its own tick, not with the next one that is due", async () => {
  const token = (await createRoom(server.url, "cube", "stirred")).token!;
  const owner = await Bot.join(server.url, "stirred", { joinToken: token, keepFrames: 30 });
  const every = owner.welcome.tickHz / owner.welcome.sendHz;
  expect(every).toBe(2);
  // Repeat until the reset is in a tick without a regular frame. Each attempt has a probability of one half.
  for (let between = false, turn = 1; !between; turn++) {
    owner.tune({ gravity: [0, 0, 0] });
    owner.reset();
    await owner.until(() => owner.resets === turn, "the reset");
    const { emptyDeltas } = owner.counts;
    await owner.until(() => owner.counts.emptyDeltas > emptyDeltas + 1, "rest");
    const rest = owner.frame.slice();
    const restTick = owner.tick;
    // 3 mm in one tick, six steps of the grid.
    owner.tune({ gravity: [0, 20, 0] });
    await owner.until(() => owner.tuned!.tick > restTick && owner.tick >= owner.tuned!.tick + every, "motion");
    const [first] = [...owner.recent].find(([tick, frame]) => tick > restTick && frame.some((x, i) => x !== rest[i]))!;
    expect(first).toBe(owner.tuned!.tick);
    between = first % every !== 0;
  }
  await owner.leave();
});

test("the scene with the changes is valid", async () => {
  const { owner } = await owned(server.url, "spare", "saved");
  const saved = async (): Promise<Response> => fetch(`${server.url}/api/rooms/saved/scene`);
  const file = JSON.parse(readFileSync(join(SCENES_DIR, "spare.json"), "utf8")) as Scene;
  expect(await (await saved()).json()).toEqual(file);
  owner.tune({ gravity: UP });
  owner.tune({ body: 2, damping: 0.5, friction: 1.25 });
  await owner.until(() => owner.tuned!.tuning.bodies[2]!.damping === 0.5, "the changes");
  const answer = await saved();
  expect(answer.headers.get("content-disposition")).toBe('attachment; filename="saved.json"');
  const scene = validateScene(await answer.json());
  const [there, spare, ball] = file.bodies;
  const material = { ...ball!.material, damping: 0.5, friction: 1.25 };
  expect(scene).toEqual({ ...file, gravity: UP, bodies: [there, spare, { ...ball, material }] });
  // A room of it has this room's values.
  const { layout } = await createWorld(scene, { baseDir: SCENES_DIR });
  expect(layout.tuned).toEqual(owner.tuned!.tuning);
  await owner.leave();
});

const AS_SCENE = { gravity: UP, wind: NO_WIND, timeScale: 1, pausedTicks: 0 };

test("static friction of the scene is never less than sliding friction", () => {
  const text = JSON.stringify({ bodies: [{ material: {}, contact: { staticFriction: 0.7 } }] });
  const was = { ...AS_SCENE, bodies: [{ body: 0, damping: 0, friction: 0.5 }] };
  const saved = (friction: number): unknown =>
    tunedScene(text, was, { ...AS_SCENE, bodies: [{ body: 0, damping: 0, friction }] }).bodies[0];
  expect(saved(0.9)).toEqual({ material: { friction: 0.9 }, contact: { staticFriction: 0.9 } });
  expect(saved(0.1)).toEqual({ material: { friction: 0.1 }, contact: { staticFriction: 0.7 } });
});

test("every change is in the saved scene, also materials by name and moduli in proportion", async () => {
  const sheet = { type: "grid", size: [1, 1], cells: [2, 2] };
  const file = {
    version: 1,
    title: "all",
    bodies: [
      { name: "rubber", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] }, material: "rubber" },
      {
        name: "weave",
        kind: "cloth",
        mesh: sheet,
        material: {
          model: "orthotropic",
          density: 300,
          thickness: 0.001,
          kWeft: 1e5,
          kWarp: 2e5,
          kShear: 1e4,
          nuWeft: 0.15,
          nuWarp: 0.3,
          bendingStiffness: 1e-4,
        },
        pins: [{ select: { particles: [0] } }],
        contact: { self: false },
      },
      {
        name: "clay",
        kind: "soft",
        mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] },
        material: { preset: "clay", friction: 1 },
      },
    ],
  };
  const { layout } = await createWorld(validateScene(file), { baseDir: SCENES_DIR });
  const now = structuredClone(layout.tuned);
  now.wind = { velocity: [3, 0, 0], density: 1.2, drag: 1, lift: 0.5, intensity: 0.25, scale: 2, seed: 4 };
  now.timeScale = 0.5;
  Object.assign(now.bodies[0]!, { density: 500, youngsModulus: 1e6, poissonsRatio: 0.4 });
  Object.assign(now.bodies[1]!, { youngsModulus: 2e5, bendingStiffness: 2e-4, pins: false });
  Object.assign(now.bodies[2]!, { yield: 0.1 });
  const saved = tunedScene(JSON.stringify(file), layout.tuned, now);
  expect(saved.bodies[0]!.material).toEqual({ preset: "rubber", density: 500, youngsModulus: 1e6, poissonsRatio: 0.4 });
  const again = await createWorld(validateScene(JSON.parse(JSON.stringify(saved))), { baseDir: SCENES_DIR });
  // The pins are gone, and so is their setting.
  const { pins: _, ...weave } = now.bodies[1]!;
  expect(again.layout.tuned).toEqual({ ...now, bodies: [now.bodies[0], weave, now.bodies[2]] });
});

test("a room stopped by its owner is paused for all members, who still see actions; then it continues", async () => {
  const { owner } = await owned(server.url, "cube", "paused");
  const guest = await Bot.join(server.url, "paused");
  owner.tune({ timeScale: 0 });
  await guest.until(() => guest.tuned!.tuning.timeScale === 0, "the pause");
  const { tick } = guest.tuned!;
  owner.tune({ gravity: UP, body: 0, youngsModulus: 4e4 });
  await guest.until(() => guest.tuned!.tuning.gravity[1] === UP[1] && guest.tick > tick + 30, "half a second");
  const [before] = [guest.center(0)];
  const late = await Bot.join(server.url, "paused");
  expect(late.tuned!.tuning.pausedTicks).toBeGreaterThanOrEqual(30);
  await guest.until(() => guest.tick > tick + 60, "half a second more");
  expect(guest.center(0)).toEqual(before);
  owner.tune({ timeScale: 2 });
  await guest.until(() => guest.center(0)[1] > before![1]! + 1, "the cube's rise");
  await stepsAgain(server.url, "paused");
  await Promise.all([owner.leave(), guest.leave(), late.leave()]);
});

test("other members' changes are refused, and so are values out of range, with field, value and limit; only the sender is told", async () => {
  const { owner } = await owned(server.url, "spare", "refused");
  const guest = await Bot.join(server.url, "refused");
  guest.tune({ gravity: UP });
  await guest.until(() => guest.notices.length === 1, "the refusal");
  expect(guest.notices[0]).toMatchObject({
    code: "NOT_ALLOWED",
    details: { field: "tune", value: "player", limit: "owner or above" },
  });
  const wrong: [Parameters<Bot["tune"]>[0], object][] = [
    [{ gravity: [0, 2e6, 0] }, { field: "gravity", value: 2e6, limit: "a vector of at most 20 m/s^2" }],
    [
      { body: 3, damping: 1 },
      { field: "body", value: 3, limit: "0 to 2" },
    ],
    [
      { body: 0, damping: -1 },
      { field: "damping", value: -1, limit: "0 to 10000" },
    ],
    [
      { body: 1, friction: 11 },
      { field: "friction", value: 11, limit: "0 to 10" },
    ],
  ];
  for (const [change] of wrong) owner.tune(change);
  await owner.until(() => owner.notices.length === wrong.length, "all refusals");
  expect(owner.notices.map(({ code, details }) => ({ code, details }))).toEqual(
    wrong.map(([, details]) => ({ code: "OUT_OF_RANGE", details })),
  );
  await guest.frames(2);
  expect([owner.tuned, guest.tuned].map((tuned) => tuned!.member)).toEqual([0, 0]);
  expect(guest.notices).toHaveLength(1);
  await Promise.all([owner.leave(), guest.leave()]);
});

test("an undo reverts it", async () => {
  const { owner, token } = await owned(server.url, "cube", "undone");
  await owner.until(() => owner.tick > 90, "a second and a half");
  const { tuning: scene } = owner.tuned!;
  const at = owner.tick;
  owner.tune({ gravity: UP, body: 0, friction: 1.5 });
  await owner.until(() => owner.tuned!.member > 0 && owner.tick > at + 20, "the change");
  // Further back than the room's age, however late this is.
  const answer = await postJson(`${server.url}/api/rooms/undone/undo`, { seconds: 60 }, token);
  expect(answer.status).toBe(200);
  await owner.until(() => owner.tuned!.member === 0, "the news");
  expect(owner.tuned!.tuning).toEqual(scene);
  await stepsAgain(server.url, "undone");
  await owner.leave();
});

test("a killed server continues with it", async () => {
  const dataDir = join(folder, "data");
  const first = await startServer({ env: storedIn(dataDir) });
  const { owner, token } = await owned(first.url, "cube", "killed");
  const wind = {
    ...owner.tuned!.tuning.wind,
    velocity: [2, 0, 1] as [number, number, number],
    density: 1.2,
    intensity: 0.5,
  };
  const made = { youngsModulus: 4e4, poissonsRatio: 0.2, density: 800 };
  owner.tune({ gravity: UP, wind, body: 0, damping: 1.5, friction: 0.25, ...made });
  await owner.until(() => owner.tuned!.member > 0 && owner.tick > owner.tuned!.tick + 120, "what is surely stored");
  first.process.kill("SIGKILL");
  await once(first.process, "exit");
  const second = await startTestServer({ store: "sqlite", dataDir, workers: 1 });
  while ((await fetch(`${second.url}/api/rooms/killed`)).status === 503)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const back = await Bot.join(second.url, "killed", { joinToken: token });
  const tuning = {
    gravity: UP,
    wind,
    bodies: [{ ...owner.tuned!.tuning.bodies[0]!, damping: 1.5, friction: 0.25, ...made }],
  };
  expect(back.tuned!.tuning).toMatchObject(tuning);
  const from = back.tick;
  await back.until(() => back.tick > from + 70, "a second more");
  await stepsAgain(second.url, "killed");
  await second.close();
});
