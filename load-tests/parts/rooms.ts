/**
 * A real server with several rooms full of pulling members, then one room at rest: how long ticks take and how late they start while the rooms share the
 * threads, and what a member costs on the wire. The members run in this process, on the same machine, so they take their share of the cores too.
 * Tick times come from the server's histograms and are as fine as their buckets; the part `tick` measures exact ones.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Bot, createRoom } from "../bot.ts";
import type { SurfacePoint } from "../bot.ts";
import { histogramQuantile, increase, readMetrics } from "../metrics.ts";
import type { Row } from "../part.ts";
import { startServer } from "../server.ts";

export const name = "rooms";
export const about = "three rooms (one of each scene) of three pulling members each for 10 s, and one room at rest";
export const runs = 2;

const SCENES = ["jelly-stack", "bunny", "drape"];
const ROOMS = 3;
const MEMBERS = 3;
const SECONDS = 10;
/** How often a hand moves; a mouse moves about this often. */
const MOVES_PER_SECOND = 30;
/** A room is at rest when no frame has changed anything for this long, s. */
const STILL_SECONDS = 3;
const REST_WITHIN_SECONDS = 90;

const POINT: SurfacePoint = { body: 0, triangle: 0, u: 0.3, v: 0.3 };

/** Pulls a point round a circle, 0.2 m wide, until told to stop. @returns the function that stops it */
function pull(bot: Bot, phase: number): () => void {
  const [x, y, z] = bot.surfacePosition(POINT);
  let step = 0;
  const target = (): [number, number, number] => {
    const angle = phase + (step++ * 2 * Math.PI) / (2 * MOVES_PER_SECOND);
    return [x + 0.2 * Math.cos(angle), y + 0.3 + 0.1 * Math.sin(angle), z + 0.2 * Math.sin(angle)];
  };
  bot.grab(1, POINT, target());
  const timer = setInterval(() => bot.move(1, target()), 1000 / MOVES_PER_SECOND);
  return () => {
    clearInterval(timer);
    bot.release(1);
  };
}

async function busyRooms(url: string): Promise<Row[]> {
  const bots: Bot[] = [];
  for (let room = 0; room < ROOMS; room++) {
    const opened = await createRoom(url, SCENES[room % SCENES.length]);
    for (let member = 0; member < MEMBERS; member++) bots.push(await Bot.join(url, opened.room, { name: `bot ${member}` }));
  }
  const stops = bots.map(pull);
  await sleep(2000); // Joining and first keyframes are over.
  const before = await readMetrics(url);
  const bytesBefore = bots.map((bot) => bot.counts.bytes);
  await sleep(SECONDS * 1000);
  const after = await readMetrics(url);
  const kbps = bots.reduce((sum, bot, i) => sum + bot.counts.bytes - bytesBefore[i], 0) / bots.length / SECONDS / 125;
  for (const stop of stops) stop();
  await Promise.all(bots.map((bot) => bot.leave()));

  const ms = (metric: string, q: number): number => 1000 * histogramQuantile(before, after, metric, q);
  const ticks = increase(before, after, "pliant_ticks_total");
  const skipped = increase(before, after, "pliant_ticks_skipped_total");
  const where = `${ROOMS} rooms x ${MEMBERS}`;
  return [
    { what: `${where}, tick p50`, value: ms("pliant_tick_seconds", 0.5), unit: "ms" },
    { what: `${where}, tick p99`, value: ms("pliant_tick_seconds", 0.99), unit: "ms" },
    { what: `${where}, tick with queueing p99`, value: ms("pliant_tick_round_trip_seconds", 0.99), unit: "ms" },
    { what: `${where}, lateness p50`, value: ms("pliant_tick_lateness_seconds", 0.5), unit: "ms" },
    { what: `${where}, lateness p99`, value: ms("pliant_tick_lateness_seconds", 0.99), unit: "ms" },
    { what: `${where}, ticks dropped`, value: (100 * skipped) / (ticks + skipped), unit: "%" },
    { what: `${where}, received per member`, value: kbps, unit: "kbps" },
  ];
}

/** A room nobody pulls in, once everything has come to rest. */
async function restingRoom(url: string): Promise<Row[]> {
  const scene = "jelly-stack";
  const { room } = await createRoom(url, scene);
  const bot = await Bot.join(url, room);
  const until = performance.now() + REST_WITHIN_SECONDS * 1000;
  const changes = (): number => bot.counts.deltas - bot.counts.emptyDeltas;
  for (let still = 0, last = changes(); still < STILL_SECONDS; ) {
    if (performance.now() > until) throw new Error(`${scene} did not come to rest within ${REST_WITHIN_SECONDS} s`);
    await sleep(1000);
    still = changes() === last ? still + 1 : 0;
    last = changes();
  }
  const before = bot.counts.bytes;
  await sleep(SECONDS * 1000);
  const kbps = (bot.counts.bytes - before) / SECONDS / 125;
  await bot.leave();
  return [{ what: `${scene} at rest, received per member`, value: kbps, unit: "kbps", target: { atMost: 15 } }];
}

export async function run(): Promise<Row[]> {
  const server = await startServer();
  try {
    return [...(await busyRooms(server.url)), ...(await restingRoom(server.url))];
  } finally {
    await server.stop();
  }
}
