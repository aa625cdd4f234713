/**
 * Number of rooms that one core steps. A server with one stepping thread; every room has a client with a grab; clients
 * are in a process of their own. Wall-time figures (late ticks, the largest number of rooms that holds) need a machine
 * without other load. CPU time per tick does not depend on it, so the number of rooms that a core's time is enough for
 * is shown, too. Then three rooms of heavier scenes with three members each, and one room at rest.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Bot, createRoom } from "../../bot.ts";
import { drive, type Outcome } from "../../load/drive.ts";
import { knee } from "../../load/knee.ts";
import { readScenario, type Scenario } from "../../load/scenario.ts";
import type { Row } from "../../part.ts";
import { startServer } from "../../measuredServer.ts";

export const name = "rooms";
export const about =
  "rooms of a 1,024-particle cloth at 60 Hz on one stepping thread: late ticks, CPU and memory per room, how many hold; three heavier scenes; a room at rest";
export const runs = 2;
export const groups = ["load"];
export const timeoutSeconds = 900;

const TICK_HZ = 60;
/** Share of late ticks that an operator may accept. */
const LATE = 0.001;
/** A room counts as at rest when no frame has changed anything for this long, s. */
const STILL_SECONDS = 3;
const REST_WITHIN_SECONDS = 90;
const REST_SECONDS = 10;
/** Length of a try in the search, s. */
const TRY_SECONDS = 4;
const MB = 2 ** 20;

const withRooms = (scenario: Scenario, count: number, seconds = scenario.seconds): Scenario => ({
  ...scenario,
  seconds,
  rooms: scenario.rooms.map((room) => ({ ...room, count })),
});

/** Rows that describe the rooms of any scenario's outcome. */
function common(
  where: string,
  {
    scenario,
    ticks,
    lateShare,
    latenessP99Ms,
    tickP50Ms,
    tickP99Ms,
    loopLagMs,
    cpu,
    span,
    generatorCpu,
    rss,
    sentBytes,
    clients,
    seconds,
  }: Outcome,
): Row[] {
  const rooms = scenario.rooms.reduce((sum, { count }) => sum + count, 0);
  return [
    {
      what: `${where}, late ticks`,
      value: 100 * lateShare,
      unit: "%",
      series: seconds.map((second) => second.lateTicks),
      note: `${ticks} ticks`,
    },
    { what: `${where}, lateness p99`, value: latenessP99Ms, unit: "ms", absolute: true },
    { what: `${where}, tick p50`, value: tickP50Ms, unit: "ms" },
    { what: `${where}, tick p99`, value: tickP99Ms, unit: "ms" },
    {
      what: `${where}, event loop lag p99`,
      value: loopLagMs,
      unit: "ms",
      absolute: true,
      series: seconds.map((second) => second.loopLagMs),
    },
    {
      what: `${where}, CPU of the stepping thread per tick`,
      value: (1000 * cpu.others) / ticks,
      unit: "ms",
      note: "compiling and collecting included",
    },
    { what: `${where}, CPU of the main thread per tick`, value: (1000 * cpu.main) / ticks, unit: "ms" },
    {
      what: `${where}, memory per room`,
      value: (rss.joined - rss.idle) / rooms / MB,
      unit: "MB",
      series: seconds.map((second) => second.rssBytes / MB),
    },
    { what: `${where}, sent per client`, value: sentBytes / span / clients / 125, unit: "kbps" },
    { what: `${where}, CPU of the generator`, value: 100 * generatorCpu, unit: "% of a core" },
  ];
}

/** Number of rooms whose ticks fill one core's time. */
const roomsPerCore = ({ cpu, ticks }: Outcome): number => ticks / cpu.others / TICK_HZ;

async function clothRooms(): Promise<Row[]> {
  const scenario = readScenario("rooms");
  const outcome = await drive(scenario);
  const { count } = scenario.rooms[0]!;
  const where = `${count} rooms`;
  const [late, ...others] = common(where, outcome);
  const most = await knee(async (rooms) => (await drive(withRooms(scenario, rooms, TRY_SECONDS))).lateShare < LATE, {
    from: count,
    most: 8 * count,
    precision: 0.1,
  });
  return [
    { ...late!, target: { atMost: 100 * LATE } },
    {
      what: "rooms that one core's time is enough for",
      value: roomsPerCore(outcome),
      unit: "rooms",
      target: { atLeast: 40 },
      note: "by CPU time of the stepping thread",
    },
    {
      what: "rooms that hold, late ticks < 0.1 %",
      value: most,
      unit: "rooms",
      target: { atLeast: 40 },
      note: `tries of ${TRY_SECONDS} s`,
    },
    ...others,
  ];
}

/** Measures a room without grabs, after everything has come to rest. */
async function restingRoom(): Promise<Row[]> {
  const server = await startServer({ env: { PLIANT_PREWARM: "jelly-stack" } });
  const scene = "jelly-stack";
  try {
    const { room } = await createRoom(server.url, scene);
    const bot = await Bot.join(server.url, room);
    const until = performance.now() + REST_WITHIN_SECONDS * 1000;
    const changes = (): number => bot.counts.deltas - bot.counts.emptyDeltas;
    for (let still = 0, last = changes(); still < STILL_SECONDS; ) {
      if (performance.now() > until) throw new Error(`${scene} did not come to rest within ${REST_WITHIN_SECONDS} s`);
      await sleep(1000);
      still = changes() === last ? still + 1 : 0;
      last = changes();
    }
    const before = bot.counts.bytes;
    await sleep(REST_SECONDS * 1000);
    const kbps = (bot.counts.bytes - before) / REST_SECONDS / 125;
    await bot.leave();
    return [{ what: `${scene} at rest, received per member`, value: kbps, unit: "kbps", target: { atMost: 15 } }];
  } finally {
    await server.stop();
  }
}

export async function run(): Promise<Row[]> {
  const rows = await clothRooms();
  const contact = await drive(readScenario("rooms-contact"));
  rows.push({
    what: "with self-contact, rooms that one core's time is enough for",
    value: roomsPerCore(contact),
    unit: "rooms",
    note: "by CPU time of the stepping thread",
  });
  rows.push(...common("3 rooms x 3", await drive(readScenario("mixed"))));
  return [...rows, ...(await restingRoom())];
}
