/**
 * Simple mode against real servers, with a decoder written from PROTOCOL.md's half page only. On bundled scenes its
 * integers are those of the server, and of a member with the codec.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@msgpack/msgpack";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { inLong } from "../../support/run/long.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

const BUNDLED = fileURLToPath(new URL("../../../scenes", import.meta.url));

interface Body {
  first: number;
  count: number;
  quantum: number;
}

/** The client of the half page. */
class SimpleClient {
  readonly frames = new Map<number, Int32Array>();
  readonly other: number[] = [];
  readonly socket: WebSocket;
  welcome: Record<string, unknown> = {};
  bodies: Body[] = [];
  tick = -1;

  constructor(url: string, room: string, options: Record<string, unknown>) {
    this.socket = new WebSocket(`${url.replace("http", "ws")}/api/rooms/${room}/socket`);
    this.socket.on("open", () => this.socket.send(encode([1, 2, options])));
    this.socket.on("message", (data: Buffer) => {
      const [type, ...fields] = decode(data) as [number, ...unknown[]];
      if (type === 64) this.welcome = fields[0] as Record<string, unknown>;
      if (type !== 76) return void this.other.push(type);
      const bytes = fields[1] as Uint8Array;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.tick = fields[0] as number;
      this.frames.set(
        this.tick,
        Int32Array.from({ length: bytes.byteLength / 4 }, (_, i) => view.getInt32(4 * i, true)),
      );
    });
  }

  static async join(url: string, room: string, options: Record<string, unknown> = {}): Promise<SimpleClient> {
    const client = new SimpleClient(url, room, { mode: "simple", ...options });
    await until(() => client.tick >= 0, "the first frame");
    const answer = await fetch(`${url}/api/topologies/${client.welcome.topology as string}`);
    client.bodies = (decode(new Uint8Array(await answer.arrayBuffer())) as { bodies: Body[] }).bodies;
    return client;
  }

  /** m */
  positions(body: number): number[] {
    const { first, count, quantum } = this.bodies[body]!;
    return [...this.frames.get(this.tick)!.subarray(3 * first, 3 * (first + count))].map((c) => c * quantum);
  }

  async leave(): Promise<void> {
    this.socket.close(1000);
    await once(this.socket, "close");
  }
}

/** The time of several frames; reading metrics and positions takes as long as a tick. */
const POLL_MS = 100;

async function until(done: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const endMs = performance.now() + 120_000; !(await done()); await sleep(POLL_MS))
    if (performance.now() > endMs) throw new Error(`${what}: not within two minutes`);
}

async function inspect(url: string, room: string): Promise<{ frameTick: number; quantized: number[] }> {
  return (await (await fetch(`${url}/api/rooms/${room}/positions`)).json()) as never;
}

const same = (a: Int32Array, b: Int32Array): boolean => a.length === b.length && a.every((value, i) => value === b[i]);

/** The close code and reason for a hello with these options. */
async function refusal(url: string, options: Record<string, unknown>): Promise<[number, string]> {
  const { socket } = new SimpleClient(url, "room", options);
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return [code, reason.toString()];
}

const FRAMES = inLong(40, 20);

describe("bundled scenes", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenesDir: BUNDLED });
  });
  afterAll(() => server.close());

  test.each(inLong(["one-cube", "one-sheet", "put-in", "funnel", "rigid-playground"], ["rigid-playground"]))(
    "%s: every integer is the server's",
    async (scene) => {
      await createRoom(server.url, scene, scene);
      const bot = await Bot.join(server.url, scene, { keepFrames: 10_000 });
      const simple = await SimpleClient.join(server.url, scene);
      expect(simple.welcome).toMatchObject({ mode: "simple", scene });
      bot.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0.5, 1.5, 0.2]);
      const told = new Map<number, number[]>();
      await until(async () => {
        const { frameTick, quantized } = await inspect(server.url, scene);
        told.set(frameTick, quantized);
        return [...told.keys()].filter((tick) => simple.frames.has(tick)).length >= 5 && simple.frames.size >= FRAMES;
      }, "frames, five of them also from the server");
      await until(() => bot.tick >= simple.tick, "the other member's frame");
      for (const [tick, frame] of simple.frames) {
        if (told.has(tick)) expect([...frame]).toEqual(told.get(tick));
        // The codec's member has been there for longer.
        expect(same(frame, bot.recent.get(tick)!)).toBe(true);
      }
      expect(new Set([...simple.frames.values()].map((frame) => frame.join())).size).toBeGreaterThan(FRAMES / 2);
      expect(simple.positions(0)).toHaveLength(3 * simple.bodies[0]!.count);
      expect(simple.other).not.toContain(65);
      expect(simple.other).not.toContain(66);
      await Promise.all([bot.leave(), simple.leave()]);
    },
  );
});

describe("limits", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ workers: 1 });
    await createRoom(server.url, "cube", "room");
  });
  afterAll(() => server.close());

  test.each([
    [{ mode: "raw" }, 'hello: mode is "raw", must be simple'],
    [{ mode: 7 }, "hello: mode is 7, must be simple"],
    [{ mode: `\u0000\ud83c\udf0d${"x".repeat(200)}` }, /^hello: mode is "/],
    [{ mode: "simple", hz: 21 }, "hello: hz is 21, not a number from 1 to 20"],
    [{ mode: "simple", hz: 0 }, "hello: hz is 0, not a number from 1 to 20"],
    [{ mode: "simple", hz: Number.NaN }, "hello: hz is NaN, not a number from 1 to 20"],
    [{ mode: "simple", hz: "10" }, 'hello: hz is "10", not a number from 1 to 20'],
    [{ mode: "simple", hz: { valueOf: 10 } }, "hello: hz is [object Object], not a num"],
  ])("%j closes the connection with a reason", async (options, reason) => {
    expect(await refusal(server.url, options)).toEqual([
      4400,
      typeof reason === "string" ? expect.stringContaining(reason) : expect.stringMatching(reason),
    ]);
  });

  test("a resting room gives a new member its one frame, and a late reader the last one", async () => {
    const bot = await Bot.join(server.url, "room", { keepFrames: 10_000 });
    const heartbeats = (count: number): Promise<void> => {
      const goal = bot.counts.emptyDeltas + count;
      return bot.until(() => bot.counts.emptyDeltas >= goal, `${count} empty deltas`);
    };
    /** Resolves when nothing has moved during six empty deltas: a slow motion has single ones, too. */
    const atRest = async (): Promise<void> => {
      for (let before = new Int32Array(0); !same(bot.frame, before); await heartbeats(6)) before = bot.frame.slice();
    };
    await atRest();
    const simple = await SimpleClient.join(server.url, "room", { hz: 1 });
    expect([...simple.frames.get(simple.tick)!]).toEqual([...bot.frame]);
    await heartbeats(6);
    expect(simple.frames.size).toBe(1);

    bot.impulse({ body: 0, triangle: 0, u: 0.3, v: 0.3 }, [0.5, 0, 0]);
    await until(() => simple.frames.size >= 4, "frames of a cube that flies");
    bot.reset();
    await bot.until(() => bot.resets === 1, "the reset");
    await atRest();
    const rest = bot.frame;
    await until(() => same(simple.frames.get(simple.tick)!, rest), "rest");
    await heartbeats(6);
    const ticks = [...simple.frames.keys()];
    // One in each second of a grid, at any place in it: three of them span more than a second, less one send interval.
    for (let i = 3; i < ticks.length; i++) expect(ticks[i]! - ticks[i - 2]!).toBeGreaterThanOrEqual(60 - 2);
    expect([...simple.frames.get(simple.tick)!]).toEqual([...bot.frame]);
    await Promise.all([bot.leave(), simple.leave()]);
  });

  test("a client that does not read misses frames, and gets the newest when it reads again", async () => {
    await createRoom(server.url, "sheet", "slow");
    const bot = await Bot.join(server.url, "slow");
    const simple = await SimpleClient.join(server.url, "slow");
    const frameBytes = 4 * simple.frames.get(simple.tick)!.length;
    const rate = async (): Promise<number> => {
      const [from, had] = [bot.tick, simple.frames.size];
      await until(() => bot.tick >= from + 150, "two and a half seconds");
      return (60 * (simple.frames.size - had)) / (bot.tick - from);
    };
    expect(await rate()).toBeLessThanOrEqual(Math.min(20, 2 ** 21 / frameBytes) + 1);

    simple.socket.pause();
    const talking = setInterval(() => simple.socket.send(encode([8, 1])), 500);
    await until(async () => (await server.metric("pliant_frames_skipped_total")) >= 30, "skipped frames");
    expect(await server.metric("pliant_socket_buffered_bytes")).toBeLessThan(65536 + frameBytes + 4096);
    const before = simple.tick;
    simple.socket.resume();
    await until(() => simple.tick > before && simple.tick > bot.tick - 30, "the newest frame");
    clearInterval(talking);
    expect(simple.socket.readyState).toBe(WebSocket.OPEN);
    await Promise.all([bot.leave(), simple.leave()]);
  });
});
