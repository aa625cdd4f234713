/**
 * A replay of a room: the room's own frames, with grabs and spawnable bodies. A client that leaves frees the thread,
 * and the number of replays at once is limited.
 */
import { once } from "node:events";
import { decode } from "@msgpack/msgpack";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { type ReplayPlan, planReplay } from "../../../server/rooms/replay/replayStream.ts";
import { ReplayStreams } from "../../../server/rooms/replay/replayStreams.ts";
import type { StepTask } from "../../../server/workers/messages.ts";
import { WorkerPools } from "../../../server/workers/pool.ts";
import type { ReplayHead } from "../../../shared/protocol/protocol.ts";
import { ServerMessage } from "../../../shared/protocol/fromServer.ts";
import { createSnapshotModel, decodeDelta, decodeKeyframe } from "../../../shared/snapshot/index.ts";
import type { Topology } from "../../../shared/topology.ts";
import { sleep, startTestServer, type TestServer } from "../testServer.ts";

let server: TestServer;
beforeAll(async () => (server = await startTestServer({ workers: 1 })));
afterAll(() => server.close());

const replay = (room: string, seconds?: number, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}/api/rooms/${room}/replay${seconds === undefined ? "" : `?seconds=${seconds}`}`, init);

interface Played {
  head: ReplayHead;
  frames: Map<number, Int32Array>;
  kinds: string;
  messages: unknown[][];
  bytes: number;
}

/** Decodes it as a member would. */
async function play(answer: Response): Promise<Played> {
  expect(answer.status).toBe(200);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const parts: unknown[] = [];
  let at = 0;
  while (at < bytes.byteLength) {
    const length = view.getUint32(at);
    parts.push(decode(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  expect(at).toBe(bytes.byteLength);
  const [head, ...messages] = parts as [ReplayHead, ...unknown[][]];
  const topology = decode(
    new Uint8Array(await (await fetch(`${server.url}/api/topologies/${head.topology}`)).arrayBuffer()),
  ) as Topology;
  const model = createSnapshotModel(
    topology.bodies.map(({ count, triangles }) => ({ count, triangles: new Uint32Array(triangles.slice().buffer) })),
  );
  const frames = new Map<number, Int32Array>();
  let last = -1;
  let kinds = "";
  for (const [type, tick, ...rest] of messages as [number, number, ...unknown[]][]) {
    const frame = new Int32Array(3 * model.total);
    if (type === ServerMessage.keyframe) decodeKeyframe(model, rest[0] as Uint8Array, frame);
    else if (type === ServerMessage.delta) {
      expect(rest[0]).toBe(last);
      decodeDelta(model, frames.get(last)!, rest[1] as Uint8Array, frame);
    } else continue;
    expect(tick).toBeGreaterThan(last);
    frames.set(tick, frame);
    kinds += type === ServerMessage.keyframe ? "K" : "d";
    last = tick;
  }
  return { head, frames, kinds, messages, bytes: bytes.byteLength };
}

interface State {
  tick: number;
  frameTick: number;
  quantized: number[];
}

/** Waits until the empty room is paused. */
async function standing(room: string): Promise<State> {
  const { members } = server.app.registry.get(room);
  await vi.waitUntil(() => members.connected === 0, { timeout: 300_000 });
  // Except for a tick in progress.
  for (let before = -1; ; ) {
    const state = (await (await fetch(`${server.url}/api/rooms/${room}/positions`)).json()) as State;
    if (state.tick === before) return state;
    before = state.tick;
    await sleep(200);
  }
}

const of = ({ messages }: Played, type: number): unknown[][] => messages.filter(([found]) => found === type);

test("its frames are those of the members, to the integer, up to the room's last tick", async () => {
  await createRoom(server.url, "cube", "replayed");
  const bot = await Bot.join(server.url, "replayed", { keepFrames: 1000 });
  const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
  await bot.frames(20);
  const [x, y, z] = bot.surfacePosition(point);
  bot.grab(3, point, [x, y, z]);
  for (let step = 1; step <= 10; step++) {
    bot.move(3, [x, y + 0.05 * step, z]);
    await bot.frames(2);
  }
  bot.release(3);
  await bot.until(() => bot.tick > 150, "two and a half seconds");
  const { member } = bot.welcome;
  await bot.leave();
  const state = await standing("replayed");
  const whole = await play(await replay("replayed"));
  expect(whole.head).toMatchObject({
    format: "pliant-replay-1",
    room: "replayed",
    scene: "cube",
    tickHz: 60,
    sendHz: 30,
    from: 0,
    until: state.tick,
  });
  expect([...whole.frames.keys()].at(-1)).toBe(state.tick - (state.tick % 2));
  expect([...whole.frames.values()].at(-1)).toEqual(Int32Array.from(state.quantized));
  let compared = 0;
  for (const [tick, ints] of bot.recent) {
    const again = whole.frames.get(tick);
    if (!again) continue;
    expect(again, `tick ${tick}`).toEqual(ints);
    compared += 1;
  }
  expect(compared).toBeGreaterThan(15);
  // A keyframe at the beginning and then every second, for seeking.
  const [first, ...later] = of(whole, ServerMessage.keyframe).map(([, tick]) => tick as number);
  expect(first).toBe(2);
  expect(later).toEqual(Array.from({ length: Math.floor(state.tick / 60) }, (_, second) => 60 * (second + 1)));

  const hands = of(whole, ServerMessage.grabs).map(([, , rows]) => rows as [number, null, number[][]][]);
  expect(hands.length).toBeGreaterThan(5);
  expect(new Set(hands.flat().map(([who]) => who))).toEqual(new Set([member]));
  expect(hands[0]![0]![2][0]!.slice(0, 3)).toEqual([3, 0, 0]);
  expect(Math.max(...hands.flat().flatMap(([, , grabs]) => grabs.map((grab) => grab[6]!)))).toBeCloseTo(y + 0.5, 5);
  expect(hands.at(-1)).toEqual([[member, null, []]]);

  // Its last second alone: the same frames, except for bodies that slept when it began.
  const end = await play(await replay("replayed", 1));
  expect(end.head).toMatchObject({ from: state.tick - 60, until: state.tick });
  expect(Math.min(...end.frames.keys())).toBeLessThanOrEqual(state.tick - 58);
  // A keyframe at the beginning and at the end of the second, which may be the same.
  expect(end.kinds).toBe([...end.frames.keys()].map((tick, i) => (i === 0 || tick % 60 === 0 ? "K" : "d")).join(""));
  for (const [tick, ints] of end.frames) {
    const wanted = whole.frames.get(tick);
    if (wanted)
      expect(Math.max(...ints.map((value, i) => Math.abs(value - wanted[i]!))), `tick ${tick}`).toBeLessThanOrEqual(1);
  }
});

test("it includes physics, spawned and removed bodies, resets, and saved states", async () => {
  const { token } = await createRoom(server.url, "spare", "spares");
  const bot = await Bot.join(server.url, "spares", { joinToken: token! });
  bot.tune({ gravity: [0, -1, 0] });
  await bot.until(() => bot.tuned!.tuning.gravity[1] === -1, "gravity");
  bot.spawn(1, [1, 0.5, 0.2]);
  await bot.until(() => bot.spawnable.bodies.length === 1, "the spare");
  const came = bot.spawnable.tick;
  bot.reset();
  await bot.until(() => bot.resets === 1 && bot.spawnable.bodies.length === 2, "the reset, and the absent bodies");
  const back = bot.spawnable.tick;
  // States are saved every five seconds, and leave a mark.
  await bot.until(() => bot.tick > 330, "five seconds and a half");
  await bot.leave();
  const state = await standing("spares");
  const played = await play(await replay("spares", 30));
  expect(of(played, ServerMessage.spawnable)).toEqual([
    [73, 2, [1, 2], 0],
    [73, came, [2], bot.welcome.member],
    [73, back, [1, 2], 0],
  ]);
  expect(of(played, ServerMessage.reset)).toEqual([[72, back, bot.welcome.member]]);
  expect(of(played, ServerMessage.tuned).map(([, tick, gravity]) => [tick, gravity])).toEqual([
    [2, [0, -9.81, 0]],
    [bot.tuned!.tick, [0, -1, 0]],
  ]);
  const recording = await (await fetch(`${server.url}/api/rooms/spares/recording`)).arrayBuffer();
  expect(
    (decode(new Uint8Array(recording, 4)) as { records: { fresh: boolean }[] }).records.some(({ fresh }) => fresh),
  ).toBe(true);
  expect([...played.frames.values()].at(-1)).toEqual(Int32Array.from(state.quantized));
});

test("one replay for an address, and a client that leaves makes room for the next", async () => {
  await createRoom(server.url, "victim", "watched");
  const bot = await Bot.join(server.url, "watched");
  await bot.until(() => bot.tick > 30, "half a second");
  await bot.leave();
  const abort = new AbortController();
  const first = await replay("watched", 120, { signal: abort.signal });
  const second = await replay("watched");
  expect(first.status).toBe(200);
  expect([second.status, await second.json()]).toEqual([
    429,
    expect.objectContaining({ code: "REPLAY_LIMIT", field: "replays", value: 1, limit: "1 at a time for an address" }),
  ]);
  abort.abort();
  let answer = await replay("watched");
  for (let tries = 0; tries < 100 && answer.status === 429; tries++) {
    await sleep(50);
    answer = await replay("watched");
  }
  expect((await play(answer)).frames.size).toBeGreaterThan(10);
});

test("the number at once is limited; a replay that ends, is abandoned or is not read steps no further", async () => {
  await createRoom(server.url, "cube", "few");
  const bot = await Bot.join(server.url, "few");
  await bot.until(() => bot.tick > 60, "a second");
  await bot.leave();
  await standing("few");
  const room = server.app.registry.get("few");
  const plan = (): ReplayPlan => planReplay(room, 120);
  const pools = new WorkerPools({
    workers: 1,
    roomThreads: 1,
    heavyMs: 1000,
    stepDeadlineMs: 60_000,
    onError: (error) => {
      throw error;
    },
  });
  const pool = pools.forReplays();
  let steps = 0;
  const counted = {
    ...pool,
    step: (task: StepTask) => {
      steps++;
      return pool.step(task);
    },
  };
  // At most a few hundred bytes are made ahead.
  const replays = new ReplayStreams(counted, { bufferedBytes: 256 });
  const streams = ["a", "b", "c", "d"].map((address) => replays.open(address, plan));
  expect(() => replays.open("a", plan)).toThrow(
    expect.objectContaining({ code: "REPLAY_LIMIT", details: expect.objectContaining({ value: 1 }) }),
  );
  expect(() => replays.open("e", plan)).toThrow(
    expect.objectContaining({
      code: "REPLAY_LIMIT",
      details: { field: "replays", value: 4, limit: "4 at a time in all" },
    }),
  );
  for (const stream of streams) stream.once("readable", () => {});
  const settled = async (): Promise<number> => {
    for (let before = -1; steps !== before; await sleep(150)) before = steps;
    return steps;
  };
  // No client reads: each has stepped until its buffer is full, and no further.
  while (steps === 0) await sleep(20);
  expect(await settled()).toBeLessThan(4 * 60);
  for (const stream of streams) stream.destroy();
  while (replays.size > 0) await sleep(20);
  const before = await settled();
  let bytes = 0;
  for await (const part of replays.open("e", plan)) bytes += (part as Buffer).byteLength;
  expect(steps - before).toBe(room.tick);
  expect(bytes).toBeGreaterThan(256);
  expect(replays.size).toBe(0);

  const impatient = new ReplayStreams(counted, { bufferedBytes: 256, stalledMs: 100 });
  const stalled = impatient.open("f", plan);
  stalled.once("readable", () => {});
  await once(stalled, "close");
  expect(impatient.size).toBe(0);
  await pools.close();
});

test("a HEAD request streams nothing", async () => {
  const { room } = await createRoom(server.url, "cube");
  for (const path of [`rooms/${room}/replay`, `rooms/${room}/recording`, `admin/rooms/${room}/recording`])
    expect([path, (await fetch(`${server.url}/api/${path}`, { method: "HEAD" })).status]).toEqual([path, 404]);
  expect((await fetch(`${server.url}/api/rooms/${room}`, { method: "HEAD" })).status).toBe(200);
});

test("refusals name the reason", async () => {
  await createRoom(server.url, "cube", "refused");
  for (const seconds of ["0", "121", "9999"]) {
    expect(await (await fetch(`${server.url}/api/rooms/refused/replay?seconds=${seconds}`)).json()).toMatchObject({
      code: "BODY_INVALID",
      field: "seconds",
      value: Number(seconds),
      limit: "1 to 120",
    });
  }
  expect(await (await replay("refused", -1)).json()).toMatchObject({ code: "BODY_INVALID" });
  expect(await (await replay("nowhere")).json()).toMatchObject({ code: "ROOM_NOT_FOUND" });
  // A room that has not ticked yet.
  expect(await play(await replay("refused"))).toMatchObject({ head: { from: 0, until: 0 }, kinds: "" });
});
