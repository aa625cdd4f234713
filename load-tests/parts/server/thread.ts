/**
 * Terminates a thread that steps a room, mostly in the middle of a step. Measures the time until a member has the
 * room's next frame, and the effect on a room on another thread. An interrupted room is restored from its newest state
 * and the inputs since (ROOM_RESTORED); a room between two steps continues as it is. Server and members share this
 * process, because threads cannot be terminated from another one.
 */
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { buildApp } from "../../../server/app.ts";
import { readConfig } from "../../../server/config.ts";
import { Bot, createRoom } from "../../bot.ts";
import { quantile, type Row } from "../../part.ts";

export const name = "thread";
export const about =
  "a room's thread ended in the middle of a step: time until the room continues, and the effect on another room";
export const runs = 3;
export const groups = ["survival"];

const SCENE = "dragon";
/** Number of kills that must hit in the middle of a step. */
const TORN = 6;
const MOST_KILLS = 60;
/** Pause after a kill, s: a room may be restored three times in ten seconds. */
const PAUSE_SECONDS = 3.5;
const OPERATOR = "the-operators-own-token";
/** Surface point of the grabs. */
const POINT = { body: 0, triangle: 100, u: 0.3, v: 0.3 };

export async function run(): Promise<Row[]> {
  const threads: Worker[] = [];
  process.on("worker", (thread) => threads.push(thread));
  const app = await buildApp({
    ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
    scenesDir: fileURLToPath(new URL("../../../scenes", import.meta.url)),
    prewarm: [SCENE],
    store: "none",
    logLevel: "fatal",
    workers: 1,
    adminToken: OPERATOR,
  });
  const url = await app.fastify.listen({ port: 0, host: "127.0.0.1" });
  const timers: NodeJS.Timeout[] = [];
  try {
    await createRoom(url, SCENE, "torn", "dedicated", OPERATOR);
    const own = threads.at(-1)!;
    await createRoom(url, SCENE, "beside");
    const torn = await Bot.join(url, "torn");
    const beside = await Bot.join(url, "beside");
    timers.push(pull([torn, beside]));
    const gaps = new Gaps(beside);
    timers.push(gaps.timer);
    await sleep(3000);
    const calm = gaps.take();
    const times = await kill(torn, own, threads);
    await Promise.all([torn.leave(), beside.leave()]);
    return rows(times, gaps.take(), calm);
  } finally {
    timers.forEach(clearInterval);
    await app.close();
  }
}

/** Moving grabs keep the rooms awake. */
function pull(bots: readonly Bot[]): NodeJS.Timeout {
  const middles = bots.map((bot) => bot.surfacePosition(POINT));
  bots.forEach((bot, i) => bot.grab(1, POINT, middles[i]!));
  let beats = 0;
  return setInterval(() => {
    beats += 1;
    bots.forEach((bot, i) =>
      bot.move(1, [middles[i]![0] + 0.1 * Math.sin(beats / 10), middles[i]![1] + 0.2, middles[i]![2]]),
    );
  }, 33);
}

/** Measures the longest time between two frames of a room. */
class Gaps {
  readonly timer: NodeJS.Timeout;
  #longestMs = 0;

  constructor(bot: Bot) {
    let lastMs = performance.now();
    let seen = bot.tick;
    this.timer = setInterval(() => {
      if (bot.tick === seen) return;
      this.#longestMs = Math.max(this.#longestMs, performance.now() - lastMs);
      lastMs = performance.now();
      seen = bot.tick;
    }, 1);
  }

  /** @returns longest time since the last call, ms */
  take(): number {
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }
}

/**
 * Time until the next frames of a room after its thread was killed, ms: during a step (torn), and between two (whole).
 */
interface KillTimes {
  torn: number[];
  whole: number[];
}

async function kill(room: Bot, first: Worker, threads: readonly Worker[]): Promise<KillTimes> {
  const times: KillTimes = { torn: [], whole: [] };
  let own = first;
  for (let kills = 0; times.torn.length < TORN; kills++) {
    if (kills === MOST_KILLS)
      throw new Error(`${times.torn.length} of ${MOST_KILLS} kills came in the middle of a step, not ${TORN}`);
    await room.frames(1);
    await sleep((kills * 5) % 17);
    const { tick } = room;
    const notices = room.notices.length;
    const startMs = performance.now();
    await own.terminate();
    // At 30 frames a second, one or two earlier frames may still arrive: four ticks.
    await room.until(() => room.tick > tick + 4, "the room's next frames");
    (room.notices.length > notices ? times.torn : times.whole).push(performance.now() - startMs);
    own = threads.at(-1)!;
    await sleep(1000 * PAUSE_SECONDS);
  }
  return times;
}

function rows({ torn, whole }: KillTimes, gapMs: number, calmMs: number): Row[] {
  const ms = { unit: "ms", absolute: true } as const;
  const between: Row = {
    what: "thread ended between two steps, the same",
    value: Math.max(...whole),
    ...ms,
    note: `${whole.length} times`,
  };
  return [
    {
      what: "thread ended in the middle of a step, until the room's next frames, most",
      value: Math.max(...torn),
      ...ms,
      target: { atMost: 1000 },
      note: `median ${quantile(torn, 0.5).toFixed(0)}, ${torn.length} times`,
    },
    ...(whole.length > 0 ? [between] : []),
    {
      what: "longest gap between two frames of the room beside it",
      value: gapMs,
      ...ms,
      note: `without any kill ${calmMs.toFixed(0)}`,
    },
  ];
}
