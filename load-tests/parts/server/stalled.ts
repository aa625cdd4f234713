/**
 * One client that stops reading, among a hundred in its room. Frames are due in step with the room's ticks; the latency
 * of a frame is its delay relative to the earliest one, for every frame and each of the other clients. Stretches with
 * and without the stalled client alternate, so that other load of the machine is in both.
 */
import { fileURLToPath } from "node:url";
import { Bot, createRoom } from "../../bot.ts";
import { noCounts, Player } from "../../load/player.ts";
import { quantile, type Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "stalled";
export const about =
  "one stalled client among a hundred of a room: latency of frames to the others, with and without it";
export const runs = 3;
export const groups = ["survival", "load"];

const CLIENTS = 100;
const TICK_MS = 1000 / 60;
/** Long enough for the kernel's buffers of the stalled connection to fill and for the server to react, s. */
const STRETCH_SECONDS = 15;
const TURNS = 4;
const SEND_HZ = 60;
const sleep = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/** Latencies of the stretches, ms behind the earliest frame, one value per turn. */
interface Latencies {
  p50: number[];
  p95: number[];
}

export async function run(): Promise<Row[]> {
  const server = await startServer({
    env: {
      PLIANT_SCENES_DIR: fileURLToPath(new URL("../../scenes", import.meta.url)),
      PLIANT_PREWARM: "cloth-1681",
      PLIANT_WORKERS: "1",
      PLIANT_SEND_HZ: String(SEND_HZ),
      PLIANT_MAX_MEMBERS: "200",
      PLIANT_CONNECTIONS_PER_ADDRESS: "200",
    },
  });
  const room = new WatchedRoom();
  try {
    await room.fill(server.url);
    const alone: Latencies = { p50: [], p95: [] };
    const beside: Latencies = { p50: [], p95: [] };
    let stalls = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      await room.stretch(alone);
      if (await room.stretchBesideStalled(server.url, beside)) stalls += 1;
    }
    if (room.counts.failures > 0) throw new Error(`${room.counts.failures} connections of other clients were lost`);
    return rows(alone, beside, stalls);
  } finally {
    room.leave();
    await server.stop();
  }
}

/** A room of many reading clients, and the arrival times of their frames. */
class WatchedRoom {
  readonly counts = noCounts();
  readonly #players: Player[] = [];
  #name = "";
  #arrivals: number[] | null = null;

  async fill(url: string): Promise<void> {
    this.#name = (await createRoom(url, "cloth-1681")).room;
    for (let i = 1; i < CLIENTS; i++) {
      this.#players.push(
        new Player({
          url,
          room: this.#name,
          decodes: false,
          counts: this.counts,
          onEvent: (event, receivedMs) => {
            if (event.type === "delta") this.#arrivals?.push(receivedMs - TICK_MS * event.tick);
          },
        }),
      );
    }
    await Promise.all(this.#players.map((player) => player.joined()));
    // A moving grab, so that every frame has changes.
    this.#players[0]!.play(
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
  }

  async stretch(into: Latencies): Promise<void> {
    await sleep(0.5);
    const found: number[] = (this.#arrivals = []);
    await sleep(STRETCH_SECONDS);
    this.#arrivals = null;
    const first = found.reduce((least, ms) => Math.min(least, ms), Infinity);
    into.p95.push(quantile(found, 0.95) - first);
    into.p50.push(quantile(found, 0.5) - first);
  }

  /** @returns true if the server skipped frames of the stalled client */
  async stretchBesideStalled(url: string, into: Latencies): Promise<boolean> {
    const stalled = await Bot.join(url, this.#name);
    stalled.pauseReading();
    await this.stretch(into);
    const before = stalled.counts.deltas;
    stalled.resumeReading();
    await sleep(0.2);
    // Skipped frames are missing among the frames that it receives afterwards.
    const leftOut = stalled.counts.deltas - before < SEND_HZ * STRETCH_SECONDS * 0.9;
    stalled.drop();
    return leftOut;
  }

  leave(): void {
    for (const player of this.#players) player.leave();
  }
}

function rows(alone: Latencies, beside: Latencies, stalls: number): Row[] {
  const latency = (what: string, { p50, p95 }: Latencies): Row => ({
    what: `frames to 99 clients, latency p95, ${what}`,
    value: quantile(p95, 0.5),
    unit: "ms",
    absolute: true,
    note: `p50 ${quantile(p50, 0.5).toFixed(1)}`,
  });
  return [
    latency("alone", alone),
    latency("beside one that stalls", beside),
    {
      what: "latency p95 beside one that stalls, more than alone",
      value: 100 * (quantile(beside.p95, 0.5) / quantile(alone.p95, 0.5) - 1),
      unit: "%",
      absolute: true,
      target: { atMost: 5 },
      note: `medians of ${TURNS} turns of ${STRETCH_SECONDS} s`,
    },
    { what: "turns in which frames to the stalled client were left out", value: stalls, unit: "", note: `of ${TURNS}` },
  ];
}
