/**
 * Limits on one abusive visitor: the share of threads, main thread and slots that an address may take, and its effect
 * on other members.
 */
import { rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { MESSAGE_COST } from "../../../server/auth/budgets.ts";
import {
  decodeRecording,
  encodeRecording,
  type RoomRecording,
  recordingStream,
} from "../../../server/persistence/recording.ts";
import { SharedRead } from "../../../server/rooms/coalescedRead.ts";
import { Slots } from "../../../server/rooms/replay/slots.ts";
import { RULES } from "../../../server/routes/rules.ts";
import { sleep, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";
import { postJson } from "../../support/request.ts";

const ADMIN = "an-operators-own-token";
const open = (server: TestServer, body: object, token?: string): Promise<Response> =>
  postJson(`${server.url}/api/rooms`, body, token);

describe("dedicated threads of a room", () => {
  test("are granted by the operator, and their number is limited", async () => {
    const server = await startTestServer({ adminToken: ADMIN, dedicatedRooms: 2, workers: 1 });
    const threads = server.workers.length;
    for (let i = 0; i < 6; i++) {
      const refused = await open(server, { scene: "cube", room: `mine-${i}`, pool: "dedicated" });
      expect([refused.status, await refused.json()]).toMatchObject([
        403,
        { code: "NOT_ALLOWED", field: "pool", limit: "admin" },
      ]);
    }
    const owned = (await (await open(server, { scene: "cube", room: "owned" })).json()) as { token: string };
    expect((await open(server, { scene: "cube", room: "mine", pool: "dedicated" }, owned.token)).status).toBe(403);
    expect(server.app.registry.size).toBe(1);
    const given = await Promise.all(
      [0, 1, 2, 3].map((i) => open(server, { scene: "cube", room: `given-${i}`, pool: "dedicated" }, ADMIN)),
    );
    const pools = await Promise.all(
      given.filter(({ ok }) => ok).map(async (answer) => ((await answer.json()) as { pool: string }).pool),
    );
    expect(pools.filter((pool) => pool === "dedicated")).toHaveLength(2);
    expect((await open(server, { scene: "cube", room: "more", pool: "dedicated" }, ADMIN)).status).toBe(503);
    // A dedicated room that ends makes room for the next.
    const [first] = server.app.registry.list().filter(({ pool }) => pool === "dedicated");
    await server.app.registry.remove(first!.name);
    expect(await (await open(server, { scene: "cube", room: "next", pool: "dedicated" }, ADMIN)).json()).toMatchObject({
      pool: "dedicated",
    });
    // The builder's thread, the two allowed ones, and the one that replaced the first.
    expect(server.workers.length - threads).toBeLessThanOrEqual(4);
    await server.close();
  });

  test("if rooms get them by default, further rooms share threads", async () => {
    const server = await startTestServer({ roomPool: "dedicated", dedicatedRooms: 1 });
    const pools = [];
    for (const room of ["a", "b", "c"])
      pools.push(((await (await open(server, { scene: "cube", room })).json()) as { pool: string }).pool);
    expect(pools).toEqual(["dedicated", "shared", "shared"]);
    await server.close();
  });
});

describe("the budget of an address", () => {
  test("covers requests and sockets; an address without budget is told when to retry, and health checks are always answered", async () => {
    const server = await startTestServer({ addressBudget: 4 });
    const startMs = performance.now();
    await createRoom(server.url, "cube", "room");
    const bot = await Bot.join(server.url, "room");
    // The budget of ten seconds at 4 ms/s, minus earlier requests, plus the refill meanwhile.
    const cost = RULES["GET /api/rooms/:room/positions"]!.cost;
    const statuses: number[] = [];
    let refused: Response | undefined;
    for (let i = 0; i < 15; i++) {
      const answer = await fetch(`${server.url}/api/rooms/room/positions`);
      statuses.push(answer.status);
      if (answer.status === 429) refused ??= answer;
      else await answer.text();
    }
    const passedSeconds = (performance.now() - startMs) / 1000;
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual((40 + 4 * passedSeconds) / cost);
    expect([refused!.headers.get("retry-after"), await refused!.json()]).toEqual([
      "3",
      {
        code: "TOO_MANY_REQUESTS",
        message: expect.any(String) as string,
        field: "budget",
        value: cost,
        limit: "4 ms/s",
      },
    ]);
    for (let i = 0; i < 20; i++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    // Socket messages use the remaining budget, and then they are dropped; the socket stays open.
    while ((await fetch(`${server.url}/r/room`)).status !== 429);
    for (let i = 0; i < 2 + 1 / MESSAGE_COST; i++) bot.cursor([0, 0, 0]);
    await bot.until(() => bot.notices.some(({ code }) => code === "RATE_LIMITED"), "the notice");
    await bot.frames(3);
    expect(bot.closed).toBeNull();
    expect(
      await server.app.fastify.inject({ method: "GET", url: "/api/scenes", remoteAddress: "192.0.2.9" }),
    ).toMatchObject({ statusCode: 200 });
    await server.close();
  });

  test("is enough for a class: thirty phones behind one address load everything at once, and act at the highest allowed rate", async () => {
    const server = await startTestServer({ addressBudget: 200, workers: 2 });
    const load = async (i: number): Promise<Bot> => {
      for (let file = 0; file < 14; file++) await fetch(`${server.url}/assets/file-${file}.js`);
      for (const path of ["/api/scenes", "/api/rooms", "/api/scenes/cube"])
        expect([i, (await fetch(`${server.url}${path}`)).status]).toEqual([i, 200]);
      expect((await open(server, { scene: "cube", room: "class" })).ok).toBe(true);
      return Bot.join(server.url, "class");
    };
    const bots = await Promise.all(Array.from({ length: 30 }, (_, i) => load(i)));
    for (let beat = 0; beat < 30; beat++) {
      for (const bot of bots) for (let i = 0; i < 2; i++) bot.cursor([0, 0.01 * beat, 0]);
      await sleep(33);
    }
    expect(bots.flatMap(({ notices, closed }) => [...notices, ...(closed ? [closed] : [])])).toEqual([]);
    expect(await server.metric("pliant_connections_refused_total", { reason: "budget" })).toBe(0);
    await server.close();
  });
});

describe("scenes", () => {
  let folder: string;
  let server: TestServer;
  beforeAll(async () => {
    folder = testFolder("scenes");
    server = await startTestServer({ scenesDir: folder });
  });
  afterAll(() => server.close());
  const titles = async (): Promise<string[]> =>
    ((await (await fetch(`${server.url}/api/scenes`)).json()) as { scenes: { title: string }[] }).scenes.map(
      ({ title }) => title,
    );

  test("a listing reads only changed files", async () => {
    const { default: source } = await import("../scenes/cube.json", { with: { type: "json" } });
    const write = (id: string, title: string): void =>
      writeFileSync(join(folder, `${id}.json`), JSON.stringify({ ...source, title }));
    for (let i = 0; i < 20; i++) write(`scene-${i}`, `title ${i}`);
    await sleep(150);
    await titles();
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (...args) => {
      parsed += args[0].includes('"bodies":') && !args[0].startsWith('{"scenes"') ? 1 : 0;
      return parse(...args) as unknown;
    };
    try {
      for (let i = 0; i < 5; i++) expect(await titles()).toHaveLength(20);
      expect(parsed).toBe(0);
      // A change without a new file size, immediately after.
      write("scene-7", "title X");
      await expect.poll(titles, { timeout: 30_000 }).toContain("title X");
      expect(parsed).toBe(1);
      write("scene-7", "title Y");
      await expect.poll(titles, { timeout: 30_000 }).toContain("title Y");
      rmSync(join(folder, "scene-7.json"));
      await expect.poll(titles, { timeout: 30_000 }).toHaveLength(19);
    } finally {
      JSON.parse = parse;
    }
  });
});

test("concurrent readers of a room share a result newer than their request, and readings take at most a tenth of the time", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let reads = 0;
  const shared = new SharedRead(async () => {
    const number = ++reads;
    await sleep(10);
    return number;
  });
  const first = shared.get();
  const second = shared.get();
  await vi.advanceTimersByTimeAsync(2);
  const later = [shared.get(), shared.get(), shared.get()];
  let asking = true;
  const askers = Promise.all(later).then(async () => {
    while (asking) await Promise.all([shared.get(), shared.get()]);
  });
  await vi.advanceTimersByTimeAsync(998);
  expect([await first, await second, ...(await Promise.all(later))]).toEqual([1, 1, 2, 2, 2]);
  // One immediately, then one after every 10 ms of reading and a pause nine times as long.
  expect(reads).toBe(1 + 1000 / 100);
  asking = false;
  await vi.advanceTimersByTimeAsync(200);
  await askers;
  const failing = new SharedRead(() => Promise.reject(new Error("lost")));
  await expect(failing.get()).rejects.toThrow("lost");
  await expect(failing.get()).rejects.toThrow("lost");
});

describe("recordings", () => {
  const recordingWith = (history: Pick<RoomRecording, "until" | "states" | "records" | "hashes">): RoomRecording => ({
    format: "pliant-room-1",
    room: "r",
    scene: "s",
    sceneText: "{}",
    identity: "i",
    topology: "t",
    tickHz: 60,
    recordedAt: "now",
    from: 0,
    ...history,
  });
  const piecesOf = async (recording: RoomRecording): Promise<Uint8Array[]> => {
    const parts: Uint8Array[] = [];
    for await (const part of recordingStream(recording, new AbortController().signal)) parts.push(part);
    return parts;
  };

  test("sent piece by piece, the bytes are those of the whole recording, and no piece blocks the main thread for long", async () => {
    const states = Array.from({ length: 12 }, (_, i) => ({
      tick: 100 * i,
      stateHash: `${i}`,
      packed: i === 0 ? null : new Uint8Array(300_000).fill(i),
      cost: i / 7,
    }));
    const records = Array.from({ length: 70_000 }, (_, i) => ({ tick: 1 + i, inputs: [], fresh: i % 100 === 0 }));
    const recording = recordingWith({
      until: 70_001,
      states,
      records,
      hashes: records.slice(0, 400).map(({ tick }) => ({ tick, stateHash: "h" })),
    });
    const parts = await piecesOf(recording);
    const bytes = Buffer.concat(parts);
    expect(bytes.equals(encodeRecording(recording))).toBe(true);
    expect(decodeRecording(bytes).records).toHaveLength(70_000);
    expect(Math.max(...parts.map(({ byteLength }) => byteLength))).toBeLessThan(400_000);
  });

  test("an empty recording is split correctly, too", async () => {
    const recording = recordingWith({
      until: 0,
      states: [{ tick: 0, stateHash: "", packed: null }],
      records: [],
      hashes: [],
    });
    const parts = await piecesOf(recording);
    expect(Buffer.concat(parts).equals(encodeRecording(recording))).toBe(true);
  });
});

describe("slots", () => {
  const endless = async function* (signal: AbortSignal): AsyncGenerator<Uint8Array> {
    while (!signal.aborted) {
      await new Promise((resolve) => setImmediate(resolve));
      yield new Uint8Array(1000);
    }
  };

  beforeAll(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
  afterAll(() => void vi.useRealTimers());
  /** Advances virtual time; readers in this process continue to read. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(10);
    }
  };

  test("a caller that does not read yields its slot to the next one after a while; a caller that reads keeps it", async () => {
    const slots = new Slots({
      field: "replays",
      code: "REPLAY_LIMIT",
      atOnce: 2,
      perAddress: 1,
      bufferedBytes: 1000,
      yieldsAfterMs: 100,
    });
    const stalled = slots.open("a", endless);
    const read = slots.open("b", endless);
    stalled.once("readable", () => {});
    read.resume();
    expect(() => slots.open("c", endless)).toThrow(expect.objectContaining({ code: "REPLAY_LIMIT" }));
    await pass(200);
    const next = slots.open("c", endless);
    next.resume();
    expect([stalled.destroyed, read.destroyed, slots.size]).toEqual([true, false, 2]);
    expect(() => slots.open("d", endless)).toThrow(expect.objectContaining({ code: "REPLAY_LIMIT" }));
    for (const stream of [read, next]) stream.destroy();
    await pass(20);
    expect(slots.size).toBe(0);
  });

  test("a caller that reads too slowly is cut off", async () => {
    const slots = new Slots({
      field: "replays",
      code: "REPLAY_LIMIT",
      atOnce: 2,
      perAddress: 1,
      bufferedBytes: 100,
      stalledMs: 200,
    });
    const slow = slots.open("a", endless);
    slow.on("error", () => {});
    // 1000 bytes every 120 ms: never 200 ms without a read, and 8 KB/s.
    for (let read = 0; read < 16; read++) {
      slow.read();
      await pass(120);
    }
    expect(slow.destroyed).toBe(true);
  });
});

describe("one room", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ workers: 1 });
  });
  afterAll(() => server.close());

  test("the number of undos of a room is limited", async () => {
    const { token } = await createRoom(server.url, "cube", "back");
    const undo = async (): Promise<number> =>
      (await postJson(`${server.url}/api/rooms/back/undo`, { seconds: 1 }, token)).status;
    const statuses: number[] = [];
    for (let i = 0; i < 15; i++) statuses.push(await undo());
    expect(statuses.slice(0, 10)).toEqual(new Array(10).fill(200));
    expect(statuses.at(-1)).toBe(429);
  });

  test("eighty readers of a room's positions cause only a few readings", async () => {
    await createRoom(server.url, "victim", "read");
    const bot = await Bot.join(server.url, "read");
    const room = server.app.registry.get("read");
    const inspect = room.inspect.bind(room);
    let looks = 0;
    room.inspect = () => {
      looks += 1;
      return inspect();
    };
    const one = (): Promise<number> =>
      new Promise((resolve, reject) =>
        httpRequest(`${server.url}/api/rooms/read/positions`, (answer) =>
          answer.resume().on("end", () => resolve(answer.statusCode!)),
        )
          .on("error", reject)
          .end(),
      );
    expect(new Set(await Promise.all(Array.from({ length: 80 }, one)))).toEqual(new Set([200]));
    await bot.frames(5);
    // The requests do not all arrive in the same millisecond.
    expect(looks).toBeLessThanOrEqual(10);
    await bot.leave();
  });
});

describe("the store", () => {
  const folder = testFolder("asked");
  let server: TestServer;
  const asked = (operation: string): Promise<number> =>
    server.metric("pliant_store_operation_seconds_count", { operation });
  beforeAll(async () => {
    server = await startTestServer({ store: "sqlite", dataDir: folder, addressBudget: 20, trustProxy: 1 });
  });
  afterAll(() => server.close());
  const get = (path: string, address: string): Promise<number> =>
    fetch(`${server.url}${path}`, { headers: { "x-forwarded-for": address } }).then(async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    });
  const name = (i: number): string => i.toString(16).padStart(32, "0");
  /** Budget that an address gets since then, and list queries of the takeover, which polls twice a second. */
  const since = (startMs: number): { budgetMs: number; lists: number } => {
    const seconds = (performance.now() - startMs) / 1000;
    return { budgetMs: 20 * seconds, lists: 1 + 2 * seconds };
  };

  test("is not queried for an invalid name", async () => {
    const startMs = performance.now();
    const [room, rooms] = [await asked("room"), await asked("rooms")];
    for (const path of ["/api/rooms/UPPER", "/api/rooms/a%20b", `/api/rooms/${"x".repeat(41)}`])
      expect([path, await get(path, "192.0.2.1")]).toEqual([path, 404]);
    for (const hash of ["x", "ABCDEF", name(1).slice(1)])
      expect(await get(`/api/topologies/${hash}`, "192.0.2.1")).toBe(404);
    expect(await asked("room")).toBe(room);
    expect((await asked("rooms")) - rooms).toBeLessThanOrEqual(since(startMs).lists);
  });

  test("is queried for missing rooms at most as often as an address has budget", async () => {
    const before = await asked("room");
    const startMs = performance.now();
    const statuses = await Promise.all(Array.from({ length: 300 }, (_, i) => get(`/api/rooms/no-${i}`, "192.0.2.2")));
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    // 200 ms at once, 6 for each missing room, and the refill meanwhile. Requests before the first room was known to be
    // missing cost only 1.
    expect((await asked("room")) - before).toBeLessThanOrEqual(200 + since(startMs).budgetMs);
    await sleep(500);
    const again = await Promise.all(Array.from({ length: 100 }, (_, i) => get(`/api/rooms/nor-${i}`, "192.0.2.2")));
    expect(again.filter((status) => status === 404).length).toBeLessThanOrEqual(since(startMs).budgetMs);
    expect(await get("/api/rooms/no-0", "192.0.2.3")).toBe(404);
  });

  test("is asked for its list once for all requests of unknown topologies", async () => {
    const startMs = performance.now();
    const before = await asked("rooms");
    const statuses = await Promise.all(
      Array.from({ length: 80 }, (_, i) => get(`/api/topologies/${name(i)}`, `192.0.2.${10 + (i % 8)}`)),
    );
    expect(new Set(statuses)).toEqual(new Set([404]));
    expect((await asked("rooms")) - before).toBeLessThan(15 + since(startMs).lists);
  });
});
