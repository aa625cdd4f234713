/**
 * Number of clients that one I/O core serves: a thousand in four rooms, 30 frames a second of 2 KB and more to each.
 * The event-loop lag is wall time and needs a machine without other load. CPU time of the main thread per client does
 * not depend on other load. From it follows the number of clients that one core can serve.
 */
import { drive, type Outcome } from "../../load/drive.ts";
import { knee } from "../../load/knee.ts";
import { readScenario, type Scenario } from "../../load/scenario.ts";
import type { Row } from "../../part.ts";

export const name = "clients";
export const about =
  "a thousand clients, 2 KB x 30 Hz to each: event-loop lag, CPU and memory per client, how many hold";
export const runs = 2;
export const groups = ["load"];
export const timeoutSeconds = 900;

const LAG_MS = 20;
const FRAME_BYTES = 2048;
/** Length of a try in the search, s. */
const TRY_SECONDS = 5;
/** Share of the due frames that must arrive; with fewer the lag is low only because nothing is sent. */
const FRAMES_SENT = 0.95;

const withClients = (scenario: Scenario, clients: number, seconds: number): Scenario => ({
  ...scenario,
  seconds,
  rooms: scenario.rooms.map((room) => ({ ...room, clients: Math.ceil(clients / room.count) })),
});

const framesDue = ({ scenario, span, clients }: Outcome): number => (scenario.sendHz ?? 30) * span * clients;

export async function run(): Promise<Row[]> {
  const scenario = readScenario("clients");
  const outcome = await drive(scenario);
  const { clients, cpu, span, received, rss, seconds } = outcome;
  const most = await knee(
    async (count) => {
      const tried = await drive(withClients(scenario, count, TRY_SECONDS));
      return tried.loopLagMs <= LAG_MS && tried.received.frames >= FRAMES_SENT * framesDue(tried);
    },
    { from: clients, most: 4 * clients, precision: 0.1 },
  );
  const where = `${clients} clients`;
  const bytes = received.frameBytes / received.frames;
  return [
    {
      what: `${where}, event loop lag p99`,
      value: outcome.loopLagMs,
      unit: "ms",
      target: { atMost: LAG_MS },
      absolute: true,
      series: seconds.map(({ loopLagMs }) => loopLagMs),
    },
    {
      what: `${where}, frames that arrived of those due`,
      value: (100 * received.frames) / framesDue(outcome),
      unit: "%",
    },
    { what: `${where}, bytes per frame`, value: bytes, unit: "bytes", target: { atLeast: FRAME_BYTES } },
    { what: `${where}, CPU of the main thread per frame sent`, value: (1e6 * cpu.main) / received.frames, unit: "µs" },
    {
      what: "clients that one core's time is enough for",
      value: received.frames / cpu.main / (scenario.sendHz ?? 30),
      unit: "clients",
      target: { atLeast: 1000 },
      note: "by CPU time of the main thread",
    },
    {
      what: `clients that hold, lag p99 <= ${LAG_MS} ms`,
      value: most,
      unit: "clients",
      target: { atLeast: 1000 },
      note: `tries of ${TRY_SECONDS} s`,
    },
    { what: `${where}, CPU of the main thread`, value: (100 * cpu.main) / span, unit: "% of a core" },
    { what: `${where}, CPU of the generator`, value: 100 * outcome.generatorCpu, unit: "% of a core" },
    { what: `${where}, generator's lag p99`, value: outcome.generatorLagMs, unit: "ms", absolute: true },
    {
      what: `${where}, memory per client`,
      value: (rss.joined - rss.opened) / clients / 1024,
      unit: "KB",
      series: seconds.map(({ rssBytes }) => rssBytes / 1024),
    },
  ];
}
