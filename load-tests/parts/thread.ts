/**
 * A thread that steps a room is ended, mostly in the middle of a step: how long until the room's next frame is with a
 * member, and what a room on another thread notices of it. A torn room comes back from its newest state and the inputs
 * since (ROOM_RESTORED); one that was between two steps goes on as it is. Server and members share this process: its
 * threads cannot be ended from another one.
 */
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { buildApp } from "../../server/app.ts";
import { readConfig } from "../../server/config.ts";
import { Bot, createRoom } from "../bot.ts";
import { quantile, type Row } from "../part.ts";

export const name = "thread";
export const about =
  "a room's thread ended in the middle of a step: time until the room goes on, and what another room notices";
export const runs = 3;
export const groups = ["survival"];

const SCENE = "dragon";
/** Kills that tore the room. */
const TORN = 6;
const MOST_KILLS = 60;
/** A room may be restored three times in ten seconds, s. */
const PAUSE_SECONDS = 3.5;
/** What the hands hold. */
const POINT = { body: 0, triangle: 100, u: 0.3, v: 0.3 };

export async function run(): Promise<Row[]> {
  const threads: Worker[] = [];
  process.on("worker", (thread) => threads.push(thread));
  const app = await buildApp({
    ...readConfig({}),
    scenesDir: fileURLToPath(new URL("../../scenes", import.meta.url)),
    prewarm: [SCENE],
    store: "none",
    logLevel: "fatal",
    workers: 1,
  });
  const url = await app.fastify.listen({ port: 0, host: "127.0.0.1" });
  let hands: NodeJS.Timeout | undefined;
  let watch: NodeJS.Timeout | undefined;
  try {
    await createRoom(url, SCENE, "torn", "dedicated");
    let own = threads.at(-1)!;
    await createRoom(url, SCENE, "beside");
    const torn = await Bot.join(url, "torn");
    const beside = await Bot.join(url, "beside");
    // A hand that moves keeps them from falling asleep.
    const middles = [torn, beside].map((bot) => bot.surfacePosition(POINT));
    [torn, beside].forEach((bot, i) => bot.grab(1, POINT, middles[i]!));
    let beats = 0;
    let lastMs = performance.now();
    let gaps: number[] = [];
    let seen = beside.tick;
    hands = setInterval(() => {
      beats += 1;
      [torn, beside].forEach((bot, i) =>
        bot.move(1, [middles[i]![0] + 0.1 * Math.sin(beats / 10), middles[i]![1] + 0.2, middles[i]![2]]),
      );
    }, 33);
    watch = setInterval(() => {
      if (beside.tick === seen) return;
      gaps.push(performance.now() - lastMs);
      lastMs = performance.now();
      seen = beside.tick;
    }, 1);
    await sleep(3000);
    const calm = Math.max(...gaps);
    gaps = [];
    const backMs: number[] = [];
    const untornMs: number[] = [];
    for (let kill = 0; backMs.length < TORN; kill++) {
      if (kill === MOST_KILLS)
        throw new Error(`${backMs.length} of ${MOST_KILLS} kills came in the middle of a step, not ${TORN}`);
      await torn.frames(1);
      await sleep((kill * 5) % 17);
      const {
        tick,
        notices: { length },
      } = torn;
      const startMs = performance.now();
      await own.terminate();
      // Of the 30 frames a second, one or two of before may still be on their way: four ticks.
      await torn.until(() => torn.tick > tick + 4, "the room's next frames");
      (torn.notices.length > length ? backMs : untornMs).push(performance.now() - startMs);
      own = threads.at(-1)!;
      await sleep(1000 * PAUSE_SECONDS);
    }
    await Promise.all([torn.leave(), beside.leave()]);
    return [
      {
        what: "thread ended in the middle of a step, until the room's next frames, most",
        value: Math.max(...backMs),
        unit: "ms",
        absolute: true,
        target: { atMost: 1000 },
        note: `median ${quantile(backMs, 0.5).toFixed(0)}, ${backMs.length} times`,
      },
      ...(untornMs.length > 0
        ? [
            {
              what: "thread ended between two steps, the same",
              value: Math.max(...untornMs),
              unit: "ms",
              absolute: true,
              note: `${untornMs.length} times`,
            } satisfies Row,
          ]
        : []),
      {
        what: "longest gap between two frames of the room beside it",
        value: Math.max(...gaps),
        unit: "ms",
        absolute: true,
        note: `without any kill ${calm.toFixed(0)}`,
      },
    ];
  } finally {
    clearInterval(hands);
    clearInterval(watch);
    await app.close();
  }
}
