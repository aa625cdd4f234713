/**
 * Opens, joins, steps, leaves and deletes ten thousand rooms, one after another. Measures the growth of the server's
 * resident memory after the first thousand, during which code is compiled and heaps find their size. The server
 * collects garbage of ended rooms whenever its memory has grown by an eighth of a gigabyte or by a quarter
 * (server/workers/stepping/reclaim.ts). Memory is therefore read after a pause, in which it collects the rest.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Bot, createRoom, deleteRoom } from "../../bot.ts";
import { readMetrics, total } from "../../metrics.ts";
import type { Row } from "../../part.ts";
import type { RunningServer } from "../../measuredServer.ts";
import { killed, lastingServer } from "../../survival/lasting.ts";

export const name = "churn";
export const about = "ten thousand rooms opened, joined, stepped and deleted: growth of the server's memory";
export const runs = 1;
export const onDemand = true;
export const groups = ["survival"];
export const timeoutSeconds = 3600;

const ROOMS = 10_000;
const WARM_UP = 1000;
const LOOK = 50;
/** Rooms at the same time. */
const BESIDE = 4;
/** Pause before memory is read, s: the server collects the rest if no room has ended for ten. */
const PAUSE_SECONDS = 20;
const MB = 2 ** 20;

export async function run(): Promise<Row[]> {
  const { url, start, forget } = await lastingServer("cube");
  let server: RunningServer | undefined;
  try {
    server = await start();
    const rss: number[] = [];
    const resident = async (): Promise<number> => total(await readMetrics(url), "process_resident_memory_bytes") / MB;
    let next = 0;
    const visit = async (until: number): Promise<void> => {
      while (next < until) {
        const i = next++;
        const { room, token } = await createRoom(url, "cube", `c-${i}`);
        const bot = await Bot.join(url, room);
        await bot.frames(2);
        await bot.leave();
        const status = await deleteRoom(url, room, token);
        if (status !== 204) throw new Error(`DELETE of room ${i} answered ${status}`);
        if (i % LOOK === LOOK - 1) rss.push(await resident());
        if (i % WARM_UP === WARM_UP - 1) console.log(`  ${i + 1} of ${ROOMS} rooms, ${rss.at(-1)!.toFixed(0)} MB`);
      }
    };
    const visitAll = async (until: number): Promise<number> => {
      await Promise.all(Array.from({ length: BESIDE }, () => visit(until)));
      await sleep(1000 * PAUSE_SECONDS);
      return resident();
    };
    const before = await visitAll(WARM_UP);
    const after = await visitAll(ROOMS);
    return [
      {
        what: `resident memory, growth from ${WARM_UP} to ${ROOMS} rooms`,
        value: 100 * (after / before - 1),
        unit: "%",
        target: { atMost: 5 },
        series: rss,
      },
      { what: `resident memory after ${ROOMS} rooms`, value: after, unit: "MB" },
      { what: "most resident memory on the way", value: Math.max(...rss), unit: "MB" },
    ];
  } finally {
    if (server) await killed(server);
    forget();
  }
}
