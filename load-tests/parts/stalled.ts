/**
 * One client that stops reading, among a hundred in its room. Frames are due in step with the room's ticks; what a
 * frame comes later than the earliest did is its latency, of every frame to each of the others. Stretches with and
 * without the stalled client take turns, so that whatever else the machine does is in both.
 */
import { fileURLToPath } from "node:url";
import { Bot, createRoom } from "../bot.ts";
import { noCounts, Player } from "../load/player.ts";
import { quantile, type Row } from "../part.ts";
import { startServer } from "../server.ts";

export const name = "stalled";
export const about =
  "one stalled client among a hundred of a room: latency of frames to the others, with and without it";
export const runs = 3;
export const groups = ["survival", "load"];

const CLIENTS = 100;
const TICK_MS = 1000 / 60;
/** Long enough for the kernel's buffers of the stalled line to fill and the server to act, s. */
const STRETCH_SECONDS = 15;
const TURNS = 4;
const SEND_HZ = 60;
const sleep = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

export async function run(): Promise<Row[]> {
  const scenesDir = fileURLToPath(new URL("../scenes", import.meta.url));
  const server = await startServer({
    env: {
      PLIANT_SCENES_DIR: scenesDir,
      PLIANT_PREWARM: "cloth-1681",
      PLIANT_WORKERS: "1",
      PLIANT_SEND_HZ: String(SEND_HZ),
      PLIANT_MAX_MEMBERS: "200",
      PLIANT_CONNECTIONS_PER_ADDRESS: "200",
    },
  });
  const players: Player[] = [];
  const counts = noCounts();
  let arrivals: number[] | null = null;
  try {
    const { room } = await createRoom(server.url, "cloth-1681");
    for (let i = 1; i < CLIENTS; i++) {
      players.push(
        new Player({
          url: server.url,
          room,
          decodes: false,
          counts,
          onEvent: (event, receivedMs) => {
            if (event.type === "delta") arrivals?.push(receivedMs - TICK_MS * event.tick);
          },
        }),
      );
    }
    await Promise.all(players.map((player) => player.joined()));
    // It swings, so that every frame has something in it.
    players[0]!.play(
      {
        kind: "circle",
        players: 1,
        body: 0,
        triangle: 1500,
        center: [0, 0, 0],
        radii: [0.3, 0.05, 0.15],
        movesPerSecond: 30,
        period: 1.5,
      },
      0,
    );
    await sleep(2);
    const p95: Record<"alone" | "beside", number[]> = { alone: [], beside: [] };
    const p50: typeof p95 = { alone: [], beside: [] };
    let stalls = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      for (const kind of ["alone", "beside"] as const) {
        const stalled = kind === "beside" ? await Bot.join(server.url, room) : null;
        await sleep(0.5);
        stalled?.pauseReading();
        const found = (arrivals = [] as number[]);
        await sleep(STRETCH_SECONDS);
        arrivals = null;
        if (stalled) {
          const before = stalled.counts.deltas;
          stalled.resumeReading();
          await sleep(0.2);
          // Frames that it had not been sent are not in what it catches up with.
          if (stalled.counts.deltas - before < SEND_HZ * STRETCH_SECONDS * 0.9) stalls += 1;
          stalled.drop();
        }
        const first = found.reduce((least, ms) => Math.min(least, ms), Infinity);
        p95[kind].push(quantile(found, 0.95) - first);
        p50[kind].push(quantile(found, 0.5) - first);
      }
    }
    if (counts.failures > 0) throw new Error(`${counts.failures} lines of the others were lost`);
    const alone = quantile(p95.alone, 0.5);
    const beside = quantile(p95.beside, 0.5);
    return [
      {
        what: "frames to 99 clients, latency p95, alone",
        value: alone,
        unit: "ms",
        absolute: true,
        note: `p50 ${quantile(p50.alone, 0.5).toFixed(1)}`,
      },
      {
        what: "frames to 99 clients, latency p95, beside one that stalls",
        value: beside,
        unit: "ms",
        absolute: true,
        note: `p50 ${quantile(p50.beside, 0.5).toFixed(1)}`,
      },
      {
        what: "latency p95 beside one that stalls, more than alone",
        value: 100 * (beside / alone - 1),
        unit: "%",
        absolute: true,
        target: { atMost: 5 },
        note: `medians of ${TURNS} turns of ${STRETCH_SECONDS} s`,
      },
      {
        what: "turns in which frames to the stalled client were left out",
        value: stalls,
        unit: "",
        note: `of ${TURNS}`,
      },
    ];
  } finally {
    for (const player of players) player.leave();
    await server.stop();
  }
}
