/**
 * Effect of one anonymous address that runs all attacks at once on the members of other rooms. A real server with
 * default settings; three rooms with members at addresses of their own, each with a grab. A probe in the server
 * measures in CPU time how long its main thread works without returning to the event loop (attack/probe.ts); other load
 * does not change this. Everything runs on one machine: the attacker is a process of its own, all of whose threads have
 * idle priority.
 *
 * Calm and attacked windows of ten seconds alternate, so that other load of the machine affects both. Before each
 * window an operator ends the rooms of the attack, and the window begins once the server counts only the members' own
 * rooms and sessions. The figure is attacked over calm: the 99th percentile of all gaps of a window (about 900), and of
 * the windows of a kind the median, which one disturbance does not move. Also shown are the quartiles of the windows,
 * and the figure relative to the first calm window, before any attack.
 *
 * Windows of a third kind show the effect of the attacker's own CPU time: beside a process that is as busy as the
 * attacker but sends no requests (attack/busy.ts). On two cores: calm 38 ms, busy 39, attacked 51.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Bot } from "../../bot.ts";
import { FrameWatch } from "../../frameWatch.ts";
import { forkGivingWay } from "../../givingWay.ts";
import { quantile, type Row } from "../../part.ts";
import { serveCommand, startServer } from "../../measuredServer.ts";
import { ATTACKS } from "../../attack/attacks.ts";
import { addThreads, describeThreads, type Threads, threadsOf } from "../../attack/threads.ts";

export const name = "attack";
export const about = "one anonymous address with all attacks at once: frame gaps of members at other addresses";
export const runs = 1;
export const onDemand = true;
export const timeoutSeconds = 900;

/** Light scenes, so that a late frame is caused by other work. */
const SCENES = ["bunny", "put-in", "jelly-stack"];
/** Number of windows of each kind. */
const ROUNDS = 6;
const SECONDS = 10;
const SETTLE_SECONDS = 2;
/** The bench's own address for operator requests, because the attacker's address has no budget left. */
const OPERATOR = "127.0.2.1";
const ADMIN_TOKEN = "token-of-the-operator";
/** Timeout until nothing of an attack is left, ms. */
const GONE_MS = 60_000;
/** Work that is longer than the time between two frames at 30 Hz delays a frame, ms. */
const FRAME_MS = 1000 / 30;
/** Limit relative to the calm 99th percentile. */
const MOST = 1.2;

/**
 * Sends a request from this address: each address has its own limit of requests and rooms.
 * @returns the answer's text
 */
async function ask(port: number, from: string, method: string, path: string, body?: object): Promise<string> {
  const headers = {
    ...(body && { "content-type": "application/json" }),
    ...(from === OPERATOR && { authorization: `Bearer ${ADMIN_TOKEN}` }),
  };
  const asked = request({ host: "127.0.0.1", port, path, method, localAddress: from, headers });
  asked.end(body && JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return text(answer);
}

const makeRoom = async (port: number, scene: string, from: string): Promise<string> =>
  (JSON.parse(await ask(port, from, "POST", "/api/rooms", { scene })) as { room: string }).room;

/** Ends all other rooms, and waits until the server has forgotten them and their members. */
async function untilCalm(port: number, rooms: readonly string[]): Promise<void> {
  const endMs = monotonicMs() + GONE_MS;
  for (;;) {
    const listed = JSON.parse(await ask(port, OPERATOR, "GET", "/api/admin/rooms")) as { rooms: { room: string }[] };
    const others = listed.rooms.map(({ room }) => room).filter((room) => !rooms.includes(room));
    for (const room of others) await ask(port, OPERATOR, "DELETE", `/api/admin/rooms/${room}`);
    const metrics = await ask(port, OPERATOR, "GET", "/metrics");
    const count = (name: string): number =>
      Number(
        metrics
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")[1],
      );
    const left = [
      ["pliant_rooms", rooms.length],
      ['pliant_sessions{state="connected"}', rooms.length],
      ['pliant_sessions{state="resumable"}', 0],
    ] as const;
    const wrong = left.filter(([name, wanted]) => count(name) !== wanted);
    if (wrong.length === 0) return;
    if (monotonicMs() > endMs)
      throw new Error(`after the attack ${wrong.map(([name]) => `${name} is ${count(name)}`).join(", ")}`);
    await sleep(200);
  }
}

const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Measurements of the probe in some time spans. */
interface Seen {
  /** Longest piece of the main thread's work, ms of CPU time, and the number of pieces longer than a frame. */
  most: number;
  above: number;
  /** 99th percentile of the time between two written frames of a room, ms. */
  gap99: number;
  /** 99th percentiles of a frame's wait, its time in the thread, and the time until it was written, ms. */
  parts99: string;
}

function seen(probe: string, rooms: readonly string[], spans: readonly [number, number][]): Seen {
  const lines = readFileSync(probe, "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, at]) => spans.some(([from, until]) => Number(at) >= from && Number(at) < until));
  const pieces = lines.filter(([what]) => what === "work").map(([, , ms]) => Number(ms));
  const frames = lines.filter(([what, , room]) => what === "frame" && rooms.includes(room!));
  const gaps = rooms.flatMap((room) => {
    const times = frames.filter(([, , of]) => of === room).map(([, at]) => Number(at));
    // A gap from one span to the next does not count.
    return times.slice(1).flatMap((at, i) => (at - times[i]! < 1000 * SETTLE_SECONDS ? [at - times[i]!] : []));
  });
  const part99 = (part: number): string =>
    quantile(
      frames.map((fields) => Number(fields[part])),
      0.99,
    ).toFixed(0);
  return {
    most: Math.max(0, ...pieces),
    above: pieces.filter((ms) => ms > FRAME_MS).length,
    gap99: quantile(gaps, 0.99),
    parts99: `p99 of waiting ${part99(3)} (5 of it on purpose), stepping ${part99(4)}, writing ${part99(5)} ms`,
  };
}

/** @returns CPU time of the attacker, s */
async function attackWith(attacks: readonly string[], url: string, seconds: number): Promise<number> {
  const child = forkGivingWay(new URL("../../attack/main.ts", import.meta.url), [
    url,
    attacks.join(","),
    String(seconds),
  ]);
  let had = 0;
  child.once("message", (message) => (had = message as number));
  await ended(child, "the attacker's process");
  return had;
}

/** Runs a process as busy as the attacker, without requests. */
async function besideBusy(cpuSeconds: number, seconds: number): Promise<void> {
  const program = new URL("../../attack/busy.ts", import.meta.url);
  await ended(forkGivingWay(program, [String(cpuSeconds / seconds), String(seconds)]), "the busy process");
}

async function ended(child: ChildProcess, who: string): Promise<void> {
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`${who} ended with ${code}`);
}

const PHASES = ["calm", "attacked", "busy"] as const;
type Phase = (typeof PHASES)[number];
const each = <T>(make: (phase: Phase) => T): Record<Phase, T> => ({
  calm: make("calm"),
  attacked: make("attacked"),
  busy: make("busy"),
});

export async function run({ scenes }: { scenes?: string[] }): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "pliant-attack-"));
  // `--scenes` names attacks here, to measure some alone.
  const attacks = scenes ?? Object.keys(ATTACKS);
  const probe = join(dataDir, "work");
  writeFileSync(probe, "");
  const server = await startServer({
    command: serveCommand("--import", new URL("../../attack/probe.ts", import.meta.url).href),
    env: {
      ATTACK_PROBE: probe,
      HOST: "0.0.0.0",
      PLIANT_STORE: "sqlite",
      PLIANT_DATA_DIR: dataDir,
      PLIANT_PREWARM: [...SCENES, "drape"].join(","),
      // The default limits; the harness of other parts raises them.
      PLIANT_ADDRESS_BUDGET: "",
      PLIANT_MEMBERS_PER_ADDRESS: "",
      PLIANT_ADMIN_TOKEN: ADMIN_TOKEN,
    },
    readyWithinMs: 120_000,
  });
  const members = new Members();
  try {
    await members.join(server);
    const windows = new Windows(server.process.pid!, members.watches);
    for (let round = 0; round < ROUNDS; round++) {
      await untilCalm(server.port, members.rooms);
      await sleep(1000 * SETTLE_SECONDS);
      await windows.watch("calm");
      const attack = attackWith(attacks, server.url, SETTLE_SECONDS + SECONDS);
      await sleep(1000 * SETTLE_SECONDS);
      await windows.watch("attacked");
      const cpuSeconds = await attack;
      await untilCalm(server.port, members.rooms);
      const busy = besideBusy(cpuSeconds, SETTLE_SECONDS + SECONDS);
      await sleep(1000 * SETTLE_SECONDS);
      await windows.watch("busy");
      await busy;
    }
    await sleep(1000); // The probe writes its last lines.
    return rows(
      windows,
      each((phase) => seen(probe, members.rooms, windows.spans[phase])),
      members.lost,
    );
  } finally {
    members.stop();
    await server.stop();
    rmSync(dataDir, { recursive: true });
  }
}

/** One member in each room, at an address of its own, with a grab that moves in a circle. */
class Members {
  readonly rooms: string[] = [];
  readonly watches: FrameWatch[] = [];
  #hands: NodeJS.Timeout | undefined;

  async join(server: { port: number; url: string }): Promise<void> {
    const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
    for (const [i, scene] of SCENES.entries()) {
      // All addresses of 127.0.0.0/8 are local; the attacker's is 127.0.0.1.
      const from = `127.0.1.${i + 1}`;
      const room = await makeRoom(server.port, scene, from);
      this.rooms.push(room);
      const bot = await Bot.join(server.url, room, { timeoutMs: 60_000, from });
      bot.grab(1, point, bot.surfacePosition(point));
      this.watches.push(new FrameWatch(bot));
    }
    const from = this.watches.map(({ bot }) => bot.surfacePosition(point));
    let moves = 0;
    this.#hands = setInterval(() => {
      moves += 1;
      for (const [i, { bot }] of this.watches.entries()) {
        const [x, y, z] = from[i]!;
        bot.move(1, [x + 0.1 * Math.sin(moves / 5), y + 0.2, z + 0.1 * Math.cos(moves / 5)]);
      }
    }, 40);
  }

  get lost(): number {
    return this.watches.filter(({ bot }) => bot.closed !== null).length;
  }

  stop(): void {
    clearInterval(this.#hands);
  }
}

/** Measurements of the windows of each kind. */
class Windows {
  /** Gaps between frames by room, and 99th percentiles of windows, ms. */
  readonly gaps = each(() => SCENES.map((): number[] => []));
  readonly p99 = each((): number[] => []);
  readonly spans = each((): [number, number][] => []);
  /** The server's threads, and the threads of this process, which has the members. */
  readonly threads = each((): Threads => new Map());
  readonly own = each((): Threads => new Map());
  readonly #pid: number;
  readonly #watches: readonly FrameWatch[];

  constructor(pid: number, watches: readonly FrameWatch[]) {
    this.#pid = pid;
    this.#watches = watches;
  }

  async watch(phase: Phase): Promise<void> {
    for (const watch of this.#watches) watch.take();
    const [before, ownBefore] = [threadsOf(this.#pid), threadsOf(process.pid)];
    const fromMs = monotonicMs();
    await sleep(1000 * SECONDS);
    this.spans[phase].push([fromMs, monotonicMs()]);
    addThreads(this.threads[phase], before, threadsOf(this.#pid));
    addThreads(this.own[phase], ownBefore, threadsOf(process.pid));
    const gaps = this.#watches.map((watch) => watch.take());
    this.p99[phase].push(quantile(gaps.flat(), 0.99));
    for (const [i, all] of this.gaps[phase].entries()) all.push(...gaps[i]!);
  }

  /** Describes how much each thread ran. */
  ran(phase: Phase): string {
    const elapsedMs = 1000 * SECONDS * ROUNDS;
    const own = describeThreads(this.own[phase], elapsedMs).split(", ")[0];
    return `server: ${describeThreads(this.threads[phase], elapsedMs)}; members' own process: ${own}`;
  }
}

function rows(windows: Windows, within: Record<Phase, Seen>, lost: number): Row[] {
  const p99 = each((phase) => quantile(windows.p99[phase], 0.5));
  const [first] = windows.p99.calm as [number];
  return [
    ...PHASES.map((phase) => ({
      what: `${phase}: main thread, longest work`,
      value: within[phase].most,
      unit: "ms",
      note: `${within[phase].above} above ${FRAME_MS.toFixed(0)} ms`,
      ...(phase === "attacked" && { target: { atMost: FRAME_MS } }),
    })),
    ...PHASES.map((phase) => ({
      what: `${phase}: frame gap p99 as the server writes`,
      value: within[phase].gap99,
      unit: "ms",
      absolute: true,
      note: `${within[phase].parts99}; ${windows.ran(phase)}`,
    })),
    ...PHASES.flatMap((phase) => gapRows(phase, windows, p99[phase])),
    {
      what: "attacked over calm, p99",
      value: p99.attacked / p99.calm,
      unit: "times",
      target: { atMost: MOST },
      note: `${(p99.attacked / first).toFixed(2)} of the first calm window`,
    },
    { what: "busy over calm, p99", value: p99.busy / p99.calm, unit: "times" },
    { what: "attacked over busy, p99", value: p99.attacked / p99.busy, unit: "times" },
    { what: "members lost", value: lost, unit: "members", target: { atMost: 0 } },
  ];
}

function gapRows(phase: Phase, windows: Windows, p99: number): Row[] {
  const gaps = windows.gaps[phase];
  const all = gaps.flat();
  const spread = [0, 0.25, 0.75, 1].map((q) => quantile(windows.p99[phase], q).toFixed(0)).join("/");
  const rooms = gaps.map((own, i) => `${SCENES[i]} ${quantile(own, 0.99).toFixed(0)}`).join(", ");
  return [
    { what: `${phase}: frame gap p50`, value: quantile(all, 0.5), unit: "ms", absolute: true },
    {
      what: `${phase}: frame gap p99, median of windows`,
      value: p99,
      unit: "ms",
      absolute: true,
      note: `windows from/quarter/three quarters/to ${spread} ms; longest gap ${Math.max(...all).toFixed(0)} ms; ${rooms}`,
    },
  ];
}
