/**
 * Ten light rooms beside one room with eight grabs, on one stepping thread: the share of real time that each keeps, and
 * the frame gaps in the light rooms. Measured by clients in this process, from outside of the server.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Bot, createRoom } from "../../bot.ts";
import { FrameWatch } from "../../frameWatch.ts";
import { quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "beside";
export const about =
  "ten light rooms beside one room with eight hands on drape, on one stepping thread: real time in each";
export const runs = 1;
export const groups = ["load"];

const HEAVY = "drape";
const LIGHT = "cloth-1024";
const LIGHT_ROOMS = 10;
const HANDS = 8;
/** Circles of the targets: radius, m, and period, s; moves a second. */
const RADIUS = 0.3;
const PERIOD = 1;
const MOVES_HZ = 30;
const SETTLE_SECONDS = 4;
const SECONDS = 20;

async function enter(url: string, scene: string, room: string, members: number): Promise<Bot[]> {
  await createRoom(url, scene, room);
  const bots: Bot[] = [];
  for (let i = 0; i < members; i++) bots.push(await Bot.join(url, room, { timeoutMs: 60_000 }));
  return bots;
}

/** Each member moves a grab of its own at its own height, alternating between the two directions of rotation. */
function pull(bots: readonly Bot[]): NodeJS.Timeout {
  const triangles = bots[0]!.topology.bodies[0]!.triangles.byteLength / 12;
  const points = bots.map((_, i) => ({
    body: 0,
    triangle: Math.floor(((i + 0.5) * triangles) / bots.length),
    u: 0.3,
    v: 0.3,
  }));
  const from = points.map((point) => bots[0]!.surfacePosition(point));
  bots.forEach((bot, i) => bot.grab(1, points[i]!, from[i]!));
  let moves = 0;
  return setInterval(() => {
    moves += 1;
    bots.forEach((bot, i) => {
      const angle = ((i % 2 ? 2 : -2) * Math.PI * moves) / MOVES_HZ / PERIOD;
      const [x, y, z] = from[i]!;
      bot.move(1, [x + RADIUS * Math.cos(angle), y + (0.6 * i) / bots.length, z + RADIUS * Math.sin(angle)]);
    });
  }, 1000 / MOVES_HZ);
}

export async function run(): Promise<Row[]> {
  const scenesDir = mkdtempSync(join(tmpdir(), "pliant-beside-"));
  for (const folder of ["../../../scenes", "../../scenes"])
    await cp(fileURLToPath(new URL(folder, import.meta.url)), scenesDir, { recursive: true });
  const server = await startServer({
    env: {
      PLIANT_WORKERS: "1",
      PLIANT_PREWARM: `${HEAVY},${LIGHT}`,
      PLIANT_STORE: "none",
      PLIANT_SCENES_DIR: scenesDir,
      PLIANT_ROOMS_PER_MINUTE: "1000",
    },
  });
  let hands: NodeJS.Timeout | undefined;
  try {
    const heavy = await enter(server.url, HEAVY, "heavy", HANDS);
    const light = (
      await Promise.all(Array.from({ length: LIGHT_ROOMS }, (_, i) => enter(server.url, LIGHT, `light-${i}`, 1)))
    ).flat();
    hands = pull(heavy);
    // A grab keeps each of them awake.
    const point = { body: 0, triangle: 900, u: 0.3, v: 0.3 };
    for (const bot of light) bot.grab(1, point, bot.surfacePosition(point));
    await sleep(1000 * SETTLE_SECONDS);
    const rooms = [heavy[0]!, ...light];
    const watches = light.map((bot) => new FrameWatch(bot));
    const before = rooms.map(({ tick }) => tick);
    const startMs = performance.now();
    await sleep(1000 * SECONDS);
    const seconds = (performance.now() - startMs) / 1000;
    const [heavyRate, ...rates] = rooms.map((bot, i) => (bot.tick - before[i]!) / seconds / bot.welcome.tickHz);
    return [
      {
        what: "slowest light room",
        value: Math.min(...rates),
        unit: "of real time",
        target: { atLeast: 0.95 },
        note: `${LIGHT}, of ${LIGHT_ROOMS}`,
      },
      {
        what: "light rooms: frame gap p99",
        value: quantile(
          watches.flatMap((watch) => watch.take()),
          0.99,
        ),
        unit: "ms",
        absolute: true,
        note: `a frame every ${(1000 / light[0]!.welcome.sendHz).toFixed(0)} ms`,
      },
      { what: "the heavy room", value: heavyRate!, unit: "of real time", note: `${HEAVY}, ${HANDS} hands` },
    ];
  } finally {
    clearInterval(hands);
    await server.stop();
    rmSync(scenesDir, { recursive: true });
  }
}
