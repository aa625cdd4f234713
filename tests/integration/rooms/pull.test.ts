/** The central function: two real socket clients in one room both pull on one body, and both see the server's state. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { Bot, createRoom, type Point } from "../../../load-tests/bot.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const add = ([ax, ay, az]: Point, [bx, by, bz]: Point): Point => [ax + bx, ay + by, az + bz];

/** The surface triangle whose centroid is furthest along the direction. */
function extreme(bot: Bot, [dx, dy, dz]: Point): { body: number; triangle: number; u: number; v: number } {
  const triangles = bot.topology.bodies[0]!.triangles.byteLength / 12;
  const at = (triangle: number) => ({ body: 0, triangle, u: 1 / 3, v: 1 / 3 });
  const reach = (triangle: number): number => {
    const [x, y, z] = bot.surfacePosition(at(triangle));
    return dx * x + dy * y + dz * z;
  };
  let best = 0;
  for (let triangle = 1; triangle < triangles; triangle++) if (reach(triangle) > reach(best)) best = triangle;
  return at(best);
}

test("both members' forces act on the same body, and both see the server's shape", async () => {
  await createRoom(server.url, "cube", "together");
  const [ann, ben] = [
    await Bot.join(server.url, "together", { name: "Ann", keepFrames: 60 }),
    await Bot.join(server.url, "together", { name: "Ben", keepFrames: 60 }),
  ];
  const start = ann.center(0);

  // Ann pulls along x alone: the cube moves along x only.
  const right = extreme(ann, [1, 0, 0]);
  ann.grab(1, right, add(ann.surfacePosition(right), [0.5, 0, 0]));
  await ann.until(() => ann.center(0)[0] > start[0] + 0.1, "Ann's pull");
  const pulled = ann.center(0);
  expect(Math.abs(pulled[1] - start[1])).toBeLessThan(0.05);

  // Ben pulls up as well: now it moves along both, and each sees the other's grab.
  const top = extreme(ben, [0, 1, 0]);
  ben.grab(7, top, add(ben.surfacePosition(top), [0, 0.5, 0]));
  await ben.until(() => ben.center(0)[1] > start[1] + 0.1, "Ben's pull");
  expect(ben.center(0)[0]).toBeGreaterThan(start[0] + 0.05);
  expect(ann.memberGrabs.get(ben.welcome.member)?.grabs[0]?.grab).toBe(7);
  expect(ben.memberGrabs.get(ann.welcome.member)?.grabs[0]?.grab).toBe(1);

  // The last frame that both decoded has the server's integers.
  ann.release(1);
  ben.release(7);
  await Promise.all([ann.frames(5), ben.frames(5)]);
  const state = (await (await fetch(`${server.url}/api/rooms/together/positions`)).json()) as {
    frameTick: number;
    tick: number;
    quantized: number[];
    positions: number[];
  };
  await ann.until(() => ann.tick >= state.frameTick, "the inspected frame");
  await ben.until(() => ben.tick >= state.frameTick, "the inspected frame");
  for (const bot of [ann, ben]) expect([...(bot.recent.get(state.frameTick) ?? [])]).toEqual(state.quantized);
  // Positions are of the same tick or of a few ticks later. They differ by at most the motion in those ticks plus half
  // a grid step.
  const { quantum } = ann.topology.bodies[0]!;
  const apart = state.positions.map((x, i) => Math.abs(x - state.quantized[i]! * quantum));
  expect(Math.max(...apart)).toBeLessThan(state.tick === state.frameTick ? quantum : 0.05);

  await Promise.all([ann.leave(), ben.leave()]);
});

test("an impulse pushes a body, a reset restores everything for all members", async () => {
  await createRoom(server.url, "cube", "reset");
  const [ann, ben] = [await Bot.join(server.url, "reset"), await Bot.join(server.url, "reset")];
  const start = ben.center(0);
  ann.impulse(extreme(ann, [0, 0, 1]), [0, 0, -10]);
  await ben.until(() => ben.center(0)[2] < start[2] - 0.1, "the push");
  ann.reset();
  await ben.until(() => ben.resets === 1 && Math.abs(ben.center(0)[2] - start[2]) < 0.01, "the reset");
  expect(ben.center(0)[2]).toBeCloseTo(start[2], 2);
  ann.reset();
  await ann.until(() => ann.notices.some(({ code }) => code === "RESET_TOO_SOON"), "the refusal of the next one");
  await Promise.all([ann.leave(), ben.leave()]);
});

test("a resting room sends almost nothing and wakes at a grab", async () => {
  await createRoom(server.url, "cube", "rest");
  const bot = await Bot.join(server.url, "rest");
  await bot.until(() => bot.counts.emptyDeltas >= 3, "rest");
  // On a busy machine late frames may arrive in a burst; a room that sends more does so all the time.
  let kbps = Infinity;
  for (let tries = 0; tries < 5 && !(kbps < 15); tries++) {
    const before = bot.counts.bytes;
    const startMs = performance.now();
    await bot.frames(12);
    kbps = ((bot.counts.bytes - before) * 8) / (performance.now() - startMs);
  }
  expect(kbps).toBeLessThan(15);
  const start = bot.center(0);
  bot.impulse(extreme(bot, [0, 1, 0]), [0, -5, 0]);
  await bot.until(() => bot.center(0)[1] < start[1] - 0.05, "the push");
  expect(bot.counts.keyframes).toBe(1);
  await bot.leave();
});

test("a member who joins late gets a keyframe and then the same chain", async () => {
  await createRoom(server.url, "cube", "late");
  const first = await Bot.join(server.url, "late");
  first.impulse(extreme(first, [0, 1, 0]), [0, -5, 0]);
  await first.frames(20);
  const second = await Bot.join(server.url, "late");
  await second.frames(20);
  await first.until(() => first.tick >= second.tick, "the same tick");
  expect(second.counts.keyframes).toBe(1);
  expect(first.counts.keyframes).toBe(1);
  await second.until(() => second.tick === first.tick, "the same tick");
  expect([...second.frame]).toEqual([...first.frame]);
  await Promise.all([first.leave(), second.leave()]);
});
