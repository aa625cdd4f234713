/**
 * A room's past: the recording replays to the same bits, with a lost thread and an undo in it. Undone inputs are not in
 * it.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { decodeRecording, encodeRecording } from "../../../server/persistence/recording.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startTestServer({ adminToken: ADMIN, workers: 1 });
  folder = testFolder("past");
});
afterAll(() => server.close());

const recordingOf = async (room: string, seconds?: number): Promise<Uint8Array> => {
  const answer = await fetch(
    `${server.url}/api/rooms/${room}/recording${seconds === undefined ? "" : `?seconds=${seconds}`}`,
  );
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
};

function replay(bytes: Uint8Array, ...options: string[]): { status: number | null; stdout: string; stderr: string } {
  const file = join(folder, "room.pliant");
  writeFileSync(file, bytes);
  return spawnSync(
    process.execPath,
    ["server/tools/replay.ts", file, "--scenes", "tests/integration/scenes", ...options],
    { encoding: "utf8", timeout: 300_000 },
  );
}

test("a recording replays to every recorded hash, with a thread lost on the way", async () => {
  const made = await createRoom(server.url, "victim", "recorded", "dedicated", ADMIN);
  expect(made.token).toEqual(expect.any(String));
  // The sheet has a fine mesh, so building its memory on a new thread takes time.
  const bot = await Bot.join(server.url, "recorded");
  const point = { body: 0, triangle: 7199, u: 0.3, v: 0.3 };
  await bot.frames(5);
  const [x, y, z] = bot.surfacePosition(point);
  bot.grab(1, point, [x, y, z]);
  bot.spawn(1, [5, 0, 0]);
  for (let kill = 0; kill < 60 && bot.notices.length === 0; kill++) {
    bot.move(1, [x, y + 0.05 * (kill % 2), z + 0.01 * kill]);
    await sleep((kill * 5) % 17);
    await server.workers.at(-1)!.terminate();
    await bot.frames(3);
  }
  expect(bot.notices.map(({ code }) => code)).toEqual(["ROOM_RESTORED"]);
  bot.release(1);
  await bot.until(() => bot.tick > 130, "two seconds of ticks");
  const bytes = await recordingOf("recorded");
  const recording = decodeRecording(bytes);
  expect(recording).toMatchObject({ room: "recorded", scene: "victim", from: 0, tickHz: 60 });
  expect(recording.hashes.length).toBeGreaterThanOrEqual(2);
  expect(recording.states.length).toBeGreaterThan(1);
  const again = replay(bytes);
  expect(again.stderr).toBe("");
  expect(again.stdout).toMatch(/hashes compared, all match/);
  expect(again.stdout).not.toMatch(/another version/);
  expect(again.status).toBe(0);

  // Replay reports the tick at which a changed recording first differs: here an added input.
  const { records } = recording;
  const grab = records.find(({ inputs }) => inputs.some(({ type }) => type === "grab"))!;
  const forged = encodeRecording({
    ...recording,
    records: records.map((record) => (record === grab ? { ...record, inputs: [] } : record)),
  });
  const parted = replay(forged);
  expect(parted.status).toBe(1);
  const after = recording.hashes.find(({ tick }) => tick >= grab.tick)!.tick;
  const state = recording.states.find(({ tick }) => tick >= grab.tick)!.tick;
  expect(parted.stdout).toContain(`tick ${Math.min(after, state)}: state hash`);

  // A damaged file is rejected.
  const damaged = bytes.slice();
  damaged[damaged.length >> 1]! ^= 1;
  expect(replay(damaged)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/checksum is \d+, but \d+ was written/) as string,
  });
  await bot.leave();
});

test("an undo sets the room back for all members, and removes the later inputs", async () => {
  const { token } = await createRoom(server.url, "cube", "undone");
  const [one, two] = await Promise.all([Bot.join(server.url, "undone"), Bot.join(server.url, "undone")]);
  await one.frames(20);
  const undo = (seconds: number, headers: Record<string, string> = {}): Promise<Response> =>
    postJson(`${server.url}/api/rooms/undone/undo`, { seconds }, undefined, headers);
  const owner = { authorization: `Bearer ${String(token)}` };
  expect((await undo(2)).status).toBe(401);
  expect(await (await undo(0, owner)).json()).toMatchObject({ code: "BODY_INVALID", field: "seconds" });
  // Keep a hash from before, then a push that changes everything after it.
  await one.until(() => one.tick > 130, "two seconds");
  const calm = decodeRecording(await recordingOf("undone"));
  one.impulse({ body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 0.4, 0.2]);
  one.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0, 1, 0]);
  await two.until(() => two.tick > 190, "another second");
  // A keyframe of an earlier tick than the last one: it exists only for a moment.
  const wentBack = [one, two].map(async (bot) => {
    let last = bot.tick;
    const goesBack = (): boolean => {
      if (bot.tick < last) return true;
      last = bot.tick;
      return false;
    };
    await bot.until(goesBack, "an earlier tick");
    return { from: last, to: bot.tick };
  });
  const before = (await (await fetch(`${server.url}/api/rooms/undone`)).json()) as { tick: number };
  const answer = (await (await undo(1.5, owner)).json()) as { tick: number };
  expect(answer.tick).toBeGreaterThanOrEqual(before.tick - 90);
  for (const { from, to } of await Promise.all(wentBack)) {
    // 1.5 s before the room's last tick: no member had a later one, except one that was under way when the undo was
    // asked for, and all had some of the undone ticks.
    expect(from).toBeLessThanOrEqual(answer.tick + 91);
    expect(from).toBeGreaterThan(answer.tick);
    expect(to).toBeGreaterThanOrEqual(answer.tick);
  }
  for (const bot of [one, two]) {
    await bot.until(() => bot.resets === 1 && bot.notices.some(({ code }) => code === "WENT_BACK"), "the news");
    expect(bot.notices.find(({ code }) => code === "WENT_BACK")).toMatchObject({
      details: { tick: answer.tick, seconds: 1.5 },
    });
    await bot.frames(5);
  }
  await one.until(() => one.tick > answer.tick + 70, "a second after");
  const bytes = await recordingOf("undone");
  const recording = decodeRecording(bytes);
  // The only input is the release of the grab, because it was not active at the tick to which the room went back.
  expect(
    recording.records
      .flatMap(({ inputs }) => inputs)
      .map(({ type }) => type)
      .filter((type) => type !== "releaseAll"),
  ).toEqual([]);
  expect(recording.hashes.filter(({ tick }) => tick <= answer.tick)).toEqual(
    calm.hashes.filter(({ tick }) => tick <= answer.tick),
  );
  expect(replay(bytes)).toMatchObject({ status: 0 });
  await Promise.all([one.leave(), two.leave()]);
});

test("a member's -0 has the bits of 0: a recording with it in every kind of input replays to every hash", async () => {
  const { token } = await createRoom(server.url, "victim", "zeros");
  const bot = await Bot.join(server.url, "zeros", { joinToken: String(token) });
  await bot.frames(5);
  const { tune, grab, move, spawn, release, impulse } = ClientMessage;
  // Floats only: by default the encoder writes -0 as the integer 0. Clients in other languages send it as it is.
  const send = (...message: unknown[]): void => bot.socket.send(encode(message, { forceIntegerToFloat: true }));
  send(tune, { gravity: [-0, -9.81, -0], wind: { velocity: [-0, -0, -0] } });
  send(grab, 1, 0, 0, -0, -0, -0, -0, -0);
  await bot.frames(5);
  send(move, 1, -0, -0, -0);
  send(spawn, 1, 5, -0, -0, { heading: [-0, 1] });
  await bot.frames(5);
  send(release, 1);
  send(impulse, 0, 0, -0, -0, -0, 1, -0);
  await bot.until(() => bot.tick > 130, "two hashes");
  const bytes = await recordingOf("zeros");
  const types = decodeRecording(bytes).records.flatMap(({ inputs }) => inputs.map(({ type }) => type));
  expect(types).toEqual(["tune", "grab", "move", "spawn", "release", "impulse"]);
  const again = replay(bytes);
  expect(again.stdout).toMatch(/hashes compared, all match/);
  expect(again.status).toBe(0);
  await bot.leave();
});
