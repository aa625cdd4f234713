/**
 * The Python package of client/python against real servers: on bundled scenes its frames are those of the server and of
 * a member with the JavaScript client.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../../load-tests/bot.ts";
import { ClientMessage } from "../../../shared/protocol/fromClient.ts";
import { inLong } from "../../support/run/long.ts";
import { findOnPath, lacks } from "../../support/run/tools.ts";
import { startTestServer, type TestServer } from "../testServer.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const python = findOnPath("python3");
const env = { ...process.env, PYTHONPATH: `${root}client/python`, PYTHONDONTWRITEBYTECODE: "1" };

/** Frames for each of five scenes in two modes: ten thousand in total in `npm run test:long`. */
const FRAMES = inLong(1000, 30);
const PATIENCE_MS = 600_000;

/** Digest of a frame, as in pythonMember.py. */
const digest = (numbers: ArrayLike<number>): string =>
  createHash("sha256")
    .update(new Uint8Array(Int32Array.from(numbers).buffer))
    .digest("hex");

interface Had {
  member: number;
  body: number;
  frames: [tick: number, digest: string][];
  /** By name: the last frame's numbers, and positions in m. */
  last: Record<string, [number[][], number[][]]>;
}

/** Runs pythonMember.py. @throws Error with its output */
const member = (url: string, frames: number, options: Record<string, unknown>): Promise<Had> =>
  run("pythonMember.py", url, String(frames), JSON.stringify(options)) as Promise<Had>;

/** @returns the output of a program of this folder, as JSON. @throws Error with its output */
async function run(program: string, ...args: string[]): Promise<unknown> {
  const child = spawn(python!, [`tests/integration/packages/${program}`, ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const read = async (stream: NodeJS.ReadableStream): Promise<string> => {
    let text = "";
    for await (const part of stream) text += part;
    return text;
  };
  const ended = new Promise((resolve) => child.once("close", resolve));
  const [out, said] = await Promise.all([read(child.stdout), read(child.stderr)]);
  if ((await ended) !== 0) throw new Error(said);
  return JSON.parse(out);
}

describe.skipIf(lacks("Python 3", python))("the Python client", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenesDir: `${root}scenes` });
  });
  afterAll(() => server.close());

  test("passes its own tests", async () => {
    const { stderr } = await promisify(execFile)(python!, ["-m", "unittest", "discover", "-s", "tests/client/python"], {
      cwd: root,
      env,
    });
    expect(stderr).toMatch(/Ran [1-9]\d* tests[\s\S]*\nOK\n/);
  });

  const scenes = inLong(["one-cube", "one-sheet", "put-in", "funnel", "rigid-playground"], ["put-in"]);
  const cases = scenes.flatMap((scene) => ["simple", "codec"].map((mode): [string, string] => [scene, mode]));
  test.each(inLong(cases, [cases[0]!, ["one-sheet", "codec"]]))(
    "%s, %s: a member pulls, and has every integer of the server",
    async (scene, mode) => {
      const name = `${scene}-${mode}`;
      await createRoom(server.url, scene, name);
      const bot = await Bot.join(server.url, name, { keepFrames: 10_000, timeoutMs: 300_000 });
      const seen: number[][] = [];
      const hand = bot.until(() => {
        const grabs = [...bot.memberGrabs.values()].flatMap(({ grabs }) => grabs);
        seen.push(...grabs.map(({ grab, body, target }) => [grab, body, target[1]]));
        return seen.length > 5 && grabs.length === 0;
      }, "a grab and its release");
      const had = await member(`${server.url}/r/${name}`, FRAMES, { mode });
      await Promise.all([hand, bot.until(() => bot.tick >= had.frames.at(-1)![0], "the other member's frame")]);
      expect(had.frames).toHaveLength(FRAMES);
      for (const [tick, frame] of had.frames) expect([tick, frame]).toEqual([tick, digest(bot.recent.get(tick)!)]);
      expect(new Set(had.frames.map(([, frame]) => frame)).size).toBeGreaterThan(FRAMES / 2);
      const [lastTick] = had.frames.at(-1)!;
      const { bodies } = bot.topology;
      bodies.forEach(({ name, first, count, quantum }) => {
        const numbers = [...bot.recent.get(lastTick)!.slice(3 * first, 3 * (first + count))];
        const [quantized, positions] = had.last[name]!;
        expect(quantized.flat()).toEqual(numbers);
        expect(positions.flat()).toEqual(numbers.map((number) => number * quantum));
      });
      expect(new Set(seen.map(([grab, body]) => `${grab} ${body}`))).toEqual(new Set([`0 ${had.body}`]));
      expect(bot.members.find(([number]) => number === had.member)).toMatchObject({ 1: "Python" });
      await bot.leave();
    },
    PATIENCE_MS,
  );

  test(
    "tunes, sends and hears messages, and is told of contacts",
    async () => {
      const { token } = await createRoom(server.url, "rigid-playground", "events");
      const bot = await Bot.join(server.url, "events", { name: "Ann", timeoutMs: 300_000 });
      const ran = run("pythonEvents.py", `${server.url}/r/events`, token!);
      await bot.until(() => bot.heard.length > 0, "the first message");
      bot.send([ClientMessage.message, "hello", { answer: 42 }]);
      await bot.until(() => bot.heard.length > 1, "the second message");
      expect(await ran).toEqual({
        contact: [true, [expect.any(String), expect.any(String)]],
        heard: ["hello", { answer: 42 }],
        tuning: [[0, -3, 0], 0.5, true],
        talk: ["🎉", true, "Python", "from Python"],
        pin: [true, true, false, 3],
        refused: ["body", "mass", "kind", "reaction", "text"],
      });
      expect(bot.heard.map(({ kind, data }) => [kind, data])).toEqual([
        ["ready", { bytes: Uint8Array.of(1, 2), list: [1, 0.5, null, true, "Zoë"] }],
        ["done", null],
      ]);
      await bot.leave();
    },
    PATIENCE_MS,
  );

  test("opens a room by its scene, and gets error codes", async () => {
    expect((await member(`${server.url}/r/opened`, 3, { scene: "one-cube", hz: 5 })).frames).toHaveLength(3);
    const bot = await Bot.join(server.url, "opened", { timeoutMs: 300_000 });
    const hand = bot.until(
      () => [...bot.memberGrabs.values()].some(({ grabs }) => grabs.some(({ together }) => together)),
      "a grab of all cubes",
    );
    await Promise.all([hand, member(`${server.url}/r/opened`, 3, {})]);
    const refusals: [string, Record<string, unknown>, string][] = [
      ["/r/nowhere", {}, "ROOM_GONE"],
      ["/r/opened-not", { scene: "no-such-scene" }, "SCENE_NOT_FOUND"],
      ["/rooms/opened", {}, "BAD_ARGUMENT"],
      ["/r/opened", { mode: "raw" }, "BAD_ARGUMENT"],
      ["/r/opened", { mode: "codec", hz: 5 }, "BAD_ARGUMENT"],
      ["/r/opened", { hz: 50 }, "4400 hello: hz is 50, not a number from 1 to 20"],
    ];
    // All at once: the room is stepped until the slowest has finished.
    await Promise.all(
      refusals.map(([path, options, text]) => expect(member(server.url + path, 1, options)).rejects.toThrow(text)),
    );
    // Until now the bot has kept the room open.
    await bot.leave();
    await expect(member("http://127.0.0.1:9/r/room", 1, {})).rejects.toThrow("UNREACHABLE");
  });
});
