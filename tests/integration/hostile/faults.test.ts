/**
 * A fault in one room affects only that room: a body that blows up, a thread that dies inside a step, a step that
 * hangs, a scene that cannot be built.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import { endlessSteps, withBody } from "./endless.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ adminToken: ADMIN, workers: 2 });
});
afterAll(() => server.close());

test("a body that blows up is held and reported, and the room continues", async () => {
  await createRoom(server.url, "runaway", "held");
  const bot = await Bot.join(server.url, "held");
  await bot.until(() => bot.notices.some(({ code }) => code === "BODY_HELD"), "the notice");
  expect(bot.notices[0]).toMatchObject({ code: "BODY_HELD", details: { body: 1 } });
  const room = (await (await fetch(`${server.url}/api/rooms/held`)).json()) as { heldBodies: number[] };
  expect(room.heldBodies).toEqual([1]);
  expect(await server.metric("pliant_bodies_held")).toBe(1);
  // The other body moves on; the held one stays at its place, inside the world.
  const [stays, leaves] = [bot.center(0), bot.center(1)];
  await bot.until(() => bot.center(0)[1] > stays[1] + 0.02, "the other body's motion");
  expect(bot.center(1)).toEqual(leaves);
  expect(Math.abs(leaves[0])).toBeLessThan(5);
  // A reset releases it, until it blows up again.
  bot.reset();
  await bot.until(() => bot.resets === 1, "the reset");
  await bot.until(() => bot.notices.filter(({ code }) => code === "BODY_HELD").length === 2, "the second notice");
  await bot.leave();
});

test("bodies that intersect from the start are reported to all members, and so is the end of the intersection", async () => {
  await createRoom(server.url, "overlap", "overlapping");
  const bot = await Bot.join(server.url, "overlapping");
  await bot.until(() => bot.notices.some(({ code }) => code === "UNTANGLED"), "the end of the intersection");
  expect(bot.notices.map(({ code }) => code)).toEqual(["TANGLED", "UNTANGLED"]);
  expect(bot.notices[0]).toMatchObject({ details: { held: [], pairs: [{ between: [{ body: 0 }, { body: 1 }] }] } });
  expect(await server.metric("pliant_intersecting_starts_total")).toBe(1);
  await bot.leave();
});

test("a thread killed in the middle of a step costs its room only a moment, and other rooms nothing", async () => {
  await createRoom(server.url, "victim", "victim", "dedicated", ADMIN);
  const dedicated = server.workers.at(-1)!;
  await createRoom(server.url, "cube", "bystander");
  const victim = await Bot.join(server.url, "victim");
  const bystander = await Bot.join(server.url, "bystander");
  await victim.frames(5);
  victim.spawn(1, [5, 0, 0]);
  await victim.until(() => victim.spawnable.bodies.length === 0, "the ball");
  const keyframes = bystander.counts.keyframes;
  let worker = dedicated;
  // A grab keeps the sheet awake, so that its thread is inside a step about a third of the time. Frames arrive just
  // after a step. Delays spread over a tick's 16.7 ms let some kills tear the room, while others hit between two steps.
  const point = { body: 0, triangle: 7199, u: 0.3, v: 0.3 };
  const [x, y, z] = victim.surfacePosition(point);
  victim.grab(1, point, [x, y, z]);
  for (let kill = 0; kill < 60 && victim.notices.length === 0; kill++) {
    victim.move(1, [x, y + 0.05 * (kill % 2), z]);
    await sleep((kill * 5) % 17);
    await worker.terminate();
    await victim.frames(3);
    worker = server.workers.at(-1)!;
  }
  expect(victim.notices.map(({ code }) => code)).toEqual(["ROOM_RESTORED"]);
  expect(victim.closed).toBeNull();
  await victim.frames(10);
  // It resumes from the tick before: no restart, the ball is still there, and so is the grab.
  expect(victim.resets).toBe(0);
  expect(victim.spawnable.bodies).toEqual([]);
  expect(victim.notices[0]!.details.tick).toBeGreaterThan(10);
  victim.move(1, [x, y + 0.3, z]);
  await victim.until(() => victim.surfacePosition(point)[1] > y + 0.1, "the hand's pull");
  expect(await server.metric("pliant_rooms_restored_total")).toBeGreaterThanOrEqual(1);
  expect(bystander.counts.keyframes).toBe(keyframes);
  expect(bystander.resets).toBe(0);
  await Promise.all([victim.leave(), bystander.leave()]);
});

test("threads that are lost while they start are replaced, and rooms open", async () => {
  const own = await startTestServer({ workers: 2 });
  await createRoom(own.url, "cube", "first");
  const started = [...own.workers];
  for (const worker of started) await worker.terminate();
  // Their replacements have not loaded their code when they end.
  const replaced = (): boolean => own.workers.length >= started.length + 2;
  await expect.poll(replaced, { timeout: 300_000, interval: 5 }).toBe(true);
  for (const worker of own.workers.slice(started.length)) await worker.terminate();
  await createRoom(own.url, "cube", "second");
  const bot = await Bot.join(own.url, "second");
  await bot.frames(3);
  await bot.leave();
  await own.close();
});

test("a step that hangs is ended at its deadline, and a room that always hangs is closed; its statistics arrive until then", async () => {
  const restore = endlessSteps(withBody("stuck"));
  const hasty = await startTestServer({ workers: 2, stepDeadlineMs: 400 });
  await createRoom(hasty.url, "cube", "beside");
  const beside = await Bot.join(hasty.url, "beside");
  await createRoom(hasty.url, "stuck", "stuck");
  const stuck = Bot.connect(hasty.url, "stuck");
  expect(await stuck.untilClosed()).toEqual({ code: CloseCode.roomGone, reason: "the simulation failed" });
  // Statistics go out by the clock: they arrive although no tick has completed, since eight hanging ones take over 1 s.
  expect(stuck.stats).toMatchObject({ stepMs: 0, clients: 1 });
  expect(stuck.stats!.timeDilation).toBeLessThan(0.1);
  expect((await fetch(`${hasty.url}/api/rooms/stuck`)).status).toBe(404);
  await beside.frames(5);
  expect(beside.resets).toBe(0);
  await beside.leave();
  await hasty.close();
  restore();
});

test("a scene that cannot be built gives an error with the reason, and no room", async () => {
  const answer = await postJson(`${server.url}/api/rooms`, { scene: "broken", room: "broken" });
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({
    code: "BUILD_FAILED",
    message: expect.stringContaining("no-such-mesh.obj") as string,
  });
  expect((await fetch(`${server.url}/api/rooms/broken`)).status).toBe(404);
});
