/**
 * A client that does not read misses frames and costs other members nothing. When it reads again it gets a keyframe and
 * rejoins the chain.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { sleep, startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
});
afterAll(() => server.close());

test("skipped frames, then a keyframe", async () => {
  await createRoom(server.url, "sheet", "slow");
  const quick = await Bot.join(server.url, "slow");
  const slow = await Bot.join(server.url, "slow");
  slow.pauseReading();
  // It still sends, so it is slow and not dead. The operating system buffers some megabytes before the server notices.
  const talking = setInterval(() => slow.ping(), 500);
  const untilMs = performance.now() + 200_000; // A minute on an idle machine.
  while ((await server.metric("pliant_frames_skipped_total")) < 10 && performance.now() < untilMs) await sleep(100);
  expect(await server.metric("pliant_frames_skipped_total")).toBeGreaterThanOrEqual(10);

  // The quick one has lost nothing: its chain never broke.
  await quick.frames(15);
  expect(quick.counts.keyframes).toBe(1);

  const seen = slow.counts.keyframes;
  slow.resumeReading();
  await slow.until(() => slow.counts.keyframes > seen && slow.tick > quick.tick - 30, "the return to the chain");
  await slow.frames(10);
  clearInterval(talking);
  await slow.until(() => slow.tick === quick.tick, "the same tick");
  expect([...slow.frame]).toEqual([...quick.frame]);
  expect(slow.closed).toBeNull();
  await Promise.all([quick.leave(), slow.leave()]);
});
