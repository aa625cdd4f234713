/**
 * Pictures that a real server paints of its rooms and scenes: their content, who gets them, how often they are painted,
 * and that they show motion.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { decodePng } from "../../server/pictures/png.ts";
import { SCENES_DIR, startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

/** Size limit of a lobby's thumbnail. */
const MOST_BYTES = 16_384;
/** Timeout of all waits. */
const PATIENCE_MS = 300_000;
const scenesDir = testFolder("pictures");
let server: TestServer;

beforeAll(async () => {
  for (const scene of ["cube", "sheet"])
    copyFileSync(join(SCENES_DIR, `${scene}.json`), join(scenesDir, `${scene}.json`));
  server = await startTestServer({ scenesDir });
});
afterAll(() => server?.close());

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(server.url + path, { headers });
const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());
async function listed(room: string): Promise<{ picture?: string }> {
  const { rooms } = (await (await get("/api/rooms")).json()) as { rooms: { room: string; picture?: string }[] };
  return rooms.find((one) => one.room === room)!;
}

test("a room's picture is a small PNG with opacity that no cache shares; a client that has it gets 304", async () => {
  await createRoom(server.url, "cube", "still");
  const { picture } = await listed("still");
  const answer = await get(picture!);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("image/png");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("cache-control")).toBe("private, max-age=5");
  const bytes = await bytesOf(answer);
  expect(bytes.length).toBeLessThan(MOST_BYTES);
  const { width, height, pixels } = decodePng(bytes);
  expect([width, height]).toEqual([240, 158]);
  // The cube is fitted: it covers a large part, and the corners are transparent.
  const solid = pixels.filter((value, i) => i % 4 === 3 && value === 255).length / (width * height);
  expect(solid).toBeGreaterThan(0.2);
  expect(solid).toBeLessThan(0.8);
  expect(pixels[3]).toBe(0);
  const etag = answer.headers.get("etag")!;
  const again = await get(picture!, { "if-none-match": etag });
  expect([again.status, (await bytesOf(again)).length]).toEqual([304, 0]);
});

test("any number of requests cause one painting; a paused room is not painted again", async () => {
  await createRoom(server.url, "sheet", "asked");
  const room = server.app.registry.get("asked");
  const inspect = vi.spyOn(room, "inspect");
  const answers = await Promise.all(Array.from({ length: 40 }, () => get("/api/rooms/asked/picture")));
  expect(new Set(answers.map((answer) => answer.headers.get("etag"))).size).toBe(1);
  expect(inspect).toHaveBeenCalledTimes(1);
});

test("a client that requests all pictures delays only itself: another address has its turn", async () => {
  const rooms = Array.from({ length: 8 }, (_, i) => `line-${i}`);
  for (const room of [...rooms, "beside"]) await createRoom(server.url, "cube", room);
  let answered = 0;
  const asked = rooms.map((room) => get(`/api/rooms/${room}/picture`).then(() => (answered += 1)));
  await Promise.race(asked);
  const other = request(`${server.url}/api/rooms/beside/picture`, { localAddress: "127.0.1.1" });
  const [{ statusCode }] = (await once(other.end(), "response")) as [IncomingMessage];
  expect(statusCode).toBe(200);
  // One is being painted when it asks, and one of the first address may be next.
  expect(answered).toBeLessThanOrEqual(4);
  await Promise.all(asked);
});

test("a body that has moved is at another place in the next picture", async () => {
  // A fixed camera: the picture of a scene without a camera would follow the body.
  const scene = JSON.parse(readFileSync(join(SCENES_DIR, "cube.json"), "utf8")) as object;
  const camera = { position: [0, 0, 4], target: [0, 0, 0] };
  writeFileSync(join(scenesDir, "watched.json"), JSON.stringify({ ...scene, camera }));
  await createRoom(server.url, "watched", "moving");
  const path = "/api/rooms/moving/picture";
  const middle = (png: Buffer): number => {
    const { width, pixels } = decodePng(png);
    let sum = 0;
    let count = 0;
    for (let at = 0; at < pixels.length / 4; at++) {
      if (pixels[4 * at + 3]! < 255) continue;
      sum += at % width;
      count += 1;
    }
    return sum / count;
  };
  const before = middle(await bytesOf(await get(path)));
  expect(before).toBeCloseTo(119.5, 0);
  const bot = await Bot.join(server.url, "moving");
  await bot.frames(1);
  bot.grab(1, { body: 0, triangle: 0, u: 0.3, v: 0.3 }, [1, 0, 0]);
  await bot.until(() => bot.center(0)[0] > 0.5, "the cube is pulled to the right");
  // A picture may be 5 s old, plus the pause between two paintings.
  await vi.waitFor(async () => expect(middle(await bytesOf(await get(path)))).toBeGreaterThan(before + 15), {
    timeout: PATIENCE_MS,
    interval: 500,
  });
  await bot.leave();
});

test("a room with a lock or a password has no picture for other visitors, and the list offers none; its owner sees it", async () => {
  const { token } = await createRoom(server.url, "cube", "shut");
  const owner = await Bot.join(server.url, "shut", { joinToken: token! });
  owner.setAccess({ locked: true });
  await vi.waitFor(async () => expect(await listed("shut")).not.toHaveProperty("picture"), PATIENCE_MS);
  expect((await get("/api/rooms/shut/picture")).status).toBe(423);
  expect((await get("/api/rooms/shut/picture", { authorization: `Bearer ${token}` })).status).toBe(200);
  owner.setAccess({ locked: false, password: "open sesame" });
  await vi.waitFor(async () => expect((await get("/api/rooms/shut/picture")).status).toBe(401), PATIENCE_MS);
  expect(await listed("shut")).not.toHaveProperty("picture");
  await owner.leave();
});

test("a scene without its own picture gets a painted one once it is built, and a request for it builds nothing", async () => {
  writeFileSync(join(scenesDir, "mine.json"), readFileSync(join(SCENES_DIR, "cube.json")));
  const summary = async (): Promise<{ picture?: string }> =>
    (await (await get("/api/scenes/mine")).json()) as { picture?: string };
  expect(await summary()).not.toHaveProperty("picture");
  expect((await get("/api/scenes/mine/picture")).status).toBe(404);
  expect(await summary()).not.toHaveProperty("picture");
  await createRoom(server.url, "mine", "of-mine");
  const { picture } = await summary();
  const answer = await get(picture!);
  expect(answer.headers.get("cache-control")).toBe("public, max-age=300");
  const { width, height } = decodePng(await bytesOf(answer));
  expect([width, height]).toEqual([480, 315]);
  expect((await get("/api/scenes/nobodys/picture")).status).toBe(404);
});

test("every process shows the pictures of another one's rooms", async () => {
  const data = testFolder("pictures-two");
  const shared = { store: "sqlite", dataDir: data, scenesDir, workers: 1 };
  const [first, second] = [await startTestServer(shared), await startTestServer(shared)];
  try {
    await createRoom(first.url, "cube", "there");
    const listing = async (): Promise<{ room: string; picture?: string }[]> =>
      ((await (await fetch(`${second.url}/api/rooms`)).json()) as { rooms: { room: string; picture?: string }[] })
        .rooms;
    await vi.waitFor(async () => expect((await listing()).map(({ room }) => room)).toContain("there"), PATIENCE_MS);
    const { picture } = (await listing()).find(({ room }) => room === "there")!;
    const answer = await fetch(second.url + picture!);
    expect(answer.headers.get("content-type")).toBe("image/png");
    expect(decodePng(await bytesOf(answer)).width).toBe(240);
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
});
