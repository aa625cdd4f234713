/**
 * Runs a scenario: the real server in one process, its clients in another. Samples both once a second, from outside of
 * the server: /metrics, CPU time of its threads, resident memory.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { histogramQuantile, increase, readMetrics, type Sample as MetricSample, total } from "../metrics.ts";
import { quantile } from "../part.ts";
import { type RunningServer, startServer } from "../measuredServer.ts";
import type { Order, Report } from "./generator.ts";
import type { Counts } from "./player.ts";
import { noCounts } from "./player.ts";
import type { Scenario } from "./scenario.ts";
import { threadSeconds, type ThreadSeconds } from "./threads.ts";

/** One second of a test. Shares of CPU are of one core. */
export interface Second {
  /** Time since the measurement began, s. */
  at: number;
  clients: number;
  ticks: number;
  /** Ticks that began more than a tick's time late, or were skipped. */
  lateTicks: number;
  /** 99th percentile of the server's event-loop lag. */
  loopLagMs: number;
  sentBytes: number;
  rssBytes: number;
  heapBytes: number;
  /**
   * CPU of the server's main thread, of all its other threads, and of the generator. NaN if the system does not report
   * it.
   */
  mainCpu: number;
  otherCpu: number;
  generatorCpu: number;
  generatorLagMs: number;
}

export interface Outcome {
  scenario: Scenario;
  seconds: Second[];
  /** Totals of the whole measurement. */
  ticks: number;
  lateShare: number;
  latenessP99Ms: number;
  tickP50Ms: number;
  tickP99Ms: number;
  /** 99th percentile within a second; the 90th percentile of these over all seconds. */
  loopLagMs: number;
  sentBytes: number;
  deltas: number;
  cpu: ThreadSeconds;
  generatorCpu: number;
  generatorLagMs: number;
  received: Counts;
  clients: number;
  /** Resident memory of the idle server, with all rooms open, and with all clients in them, bytes. */
  rss: { idle: number; opened: number; joined: number };
  /** Length of the measurement, s. */
  span: number;
}

const LATE_BUCKET = "0.0167";
const STOP_WITHIN_MS = 10_000;
const JOIN_WITHIN_MS = 180_000;

const roomsOf = ({ rooms }: Scenario): number => rooms.reduce((sum, { count }) => sum + count, 0);
const clientsOf = ({ rooms }: Scenario): number => rooms.reduce((sum, { count, clients }) => sum + count * clients, 0);
const rssOf = (metrics: readonly MetricSample[]): number => total(metrics, "process_resident_memory_bytes");

function environmentOf(scenario: Scenario): Record<string, string> {
  const { scenes, workers, sendHz, rooms, churn } = scenario;
  // The server keeps the seats of lost clients for a while.
  const spare = churn ? 60 : 2;
  return {
    PLIANT_WORKERS: String(workers),
    ...(sendHz !== undefined && { PLIANT_SEND_HZ: String(sendHz) }),
    ...(scenes === "load" && { PLIANT_SCENES_DIR: fileURLToPath(new URL("../scenes", import.meta.url)) }),
    PLIANT_PREWARM: [...new Set(rooms.map(({ scene }) => scene))].join(","),
    PLIANT_MAX_ROOMS: String(roomsOf(scenario) + 8),
    PLIANT_ROOMS_PER_ADDRESS: String(roomsOf(scenario) + 8),
    PLIANT_ROOMS_PER_MINUTE: "100000",
    PLIANT_MAX_MEMBERS: String(Math.max(...rooms.map(({ clients }) => clients)) + spare),
    PLIANT_CONNECTIONS_PER_ADDRESS: String(clientsOf(scenario) + 8 * spare),
    PLIANT_RESUME_SECONDS: "5",
  };
}

/** The generator's process, with promises. */
class Generator {
  readonly #child;
  readonly #seen: Report["type"][] = [];
  #fault: Error | null = null;
  #wake: () => void = () => {};
  latest: Extract<Report, { type: "sample" }> | null = null;

  constructor() {
    this.#child = fork(fileURLToPath(new URL("./generator.ts", import.meta.url)), [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (report: Report) => {
      if (report.type === "sample") this.latest = report;
      else if (report.type === "failed") this.#fault ??= new Error(`load generator: ${report.message}`);
      else this.#seen.push(report.type);
      this.#wake();
    });
    this.#child.on("exit", (code, signal) => {
      if (!this.#seen.includes("stopped"))
        this.#fault ??= new Error(`load generator ended with ${signal ?? `code ${code}`}`);
      this.#wake();
    });
  }

  order(order: Order): void {
    this.#child.send(order);
  }

  async until(type: Report["type"], withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (!this.#seen.includes(type)) {
      this.check();
      const left = end - performance.now();
      if (left <= 0) throw new Error(`load generator: not ${type} within ${withinMs / 1000} s`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** @throws the error of the generator, if it failed */
  check(): void {
    if (this.#fault) throw this.#fault;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/**
 * @param onSecond called at the end of every second
 * @throws Error if the server or the generator fails; a ScenarioError has been thrown before
 */
export async function drive(scenario: Scenario, onSecond: (second: Second) => void = () => {}): Promise<Outcome> {
  const server = await startServer({ env: environmentOf(scenario) });
  const generator = new Generator();
  try {
    return await measure(scenario, server, generator, onSecond);
  } finally {
    generator.kill();
    await server.stop();
  }
}

/** A sample of server and generator. */
interface Sample {
  metrics: readonly MetricSample[];
  cpu: ReturnType<typeof threadSeconds>;
  generator: NonNullable<Generator["latest"]>;
  atMs: number;
}

async function sample({ url, process }: RunningServer, generator: Generator): Promise<Sample> {
  return {
    metrics: await readMetrics(url),
    cpu: threadSeconds(process.pid!),
    generator: generator.latest!,
    atMs: performance.now(),
  };
}

function secondBetween(last: Sample, now: Sample, startMs: number): Second {
  const span = (now.atMs - last.atMs) / 1000;
  return {
    at: (now.atMs - startMs) / 1000,
    clients: now.generator.clients,
    ticks: increase(last.metrics, now.metrics, "pliant_ticks_total"),
    lateTicks: late(last.metrics, now.metrics),
    loopLagMs: 1000 * histogramQuantile(last.metrics, now.metrics, "pliant_event_loop_lag_seconds", 0.99),
    sentBytes: increase(last.metrics, now.metrics, "pliant_socket_sent_bytes_total"),
    rssBytes: rssOf(now.metrics),
    heapBytes: total(now.metrics, "nodejs_heap_size_used_bytes"),
    mainCpu: share(last.cpu?.main, now.cpu?.main, span),
    otherCpu: share(last.cpu?.others, now.cpu?.others, span),
    generatorCpu: share(last.generator.cpuSeconds, now.generator.cpuSeconds, span),
    generatorLagMs: now.generator.loopLagMs,
  };
}

async function measure(
  scenario: Scenario,
  server: RunningServer,
  generator: Generator,
  onSecond: (second: Second) => void,
): Promise<Outcome> {
  const { url } = server;
  const idle = rssOf(await readMetrics(url));
  generator.order({ type: "start", url, scenario });
  await generator.until("opened", JOIN_WITHIN_MS);
  const opened = rssOf(await readMetrics(url));
  await generator.until("joined", JOIN_WITHIN_MS);
  await sleep(1000 * Math.max(1.1, scenario.settleSeconds)); // At least one sample of the generator.
  const first = await sample(server, generator);
  const seconds: Second[] = [];
  let last = first;
  while (performance.now() - first.atMs < 1000 * scenario.seconds - 500) {
    await sleep(first.atMs + 1000 * (seconds.length + 1) - performance.now());
    generator.check();
    const now = await sample(server, generator);
    const second = secondBetween(last, now, first.atMs);
    seconds.push(second);
    onSecond(second);
    last = now;
  }
  generator.order({ type: "stop" });
  await generator.until("stopped", STOP_WITHIN_MS);
  return {
    scenario,
    seconds,
    ...outcomeOf(first, last, seconds),
    clients: clientsOf(scenario),
    rss: { idle, opened, joined: rssOf(first.metrics) },
  };
}

function outcomeOf(
  first: Sample,
  last: Sample,
  seconds: readonly Second[],
): Omit<Outcome, "scenario" | "seconds" | "clients" | "rss"> {
  const count = (name: string): number => increase(first.metrics, last.metrics, name);
  const ms = (name: string, q: number): number => 1000 * histogramQuantile(first.metrics, last.metrics, name, q);
  const ticks = count("pliant_ticks_total");
  const lateTicks = late(first.metrics, last.metrics);
  const span = (last.atMs - first.atMs) / 1000;
  const received = noCounts();
  for (const key of Object.keys(received) as (keyof Counts)[])
    received[key] = last.generator.counts[key] - first.generator.counts[key];
  return {
    ticks,
    span,
    received,
    lateShare: ticks + lateTicks === 0 ? 0 : lateTicks / (ticks + count("pliant_ticks_skipped_total")),
    latenessP99Ms: ms("pliant_tick_lateness_seconds", 0.99),
    tickP50Ms: ms("pliant_tick_seconds", 0.5),
    tickP99Ms: ms("pliant_tick_seconds", 0.99),
    loopLagMs: quantile(
      seconds.map(({ loopLagMs }) => loopLagMs),
      0.9,
    ),
    sentBytes: count("pliant_socket_sent_bytes_total"),
    deltas: count("pliant_deltas_total"),
    cpu: {
      main: (last.cpu?.main ?? NaN) - (first.cpu?.main ?? NaN),
      others: (last.cpu?.others ?? NaN) - (first.cpu?.others ?? NaN),
    },
    generatorCpu: (last.generator.cpuSeconds - first.generator.cpuSeconds) / span,
    generatorLagMs: quantile(
      seconds.map(({ generatorLagMs }) => generatorLagMs),
      0.9,
    ),
  };
}

/** Number of ticks that began more than 16.7 ms late, and of skipped ticks. */
export function late(before: readonly MetricSample[], after: readonly MetricSample[]): number {
  const name = "pliant_tick_lateness_seconds";
  return (
    increase(before, after, `${name}_count`) -
    increase(before, after, `${name}_bucket`, { le: LATE_BUCKET }) +
    increase(before, after, "pliant_ticks_skipped_total")
  );
}

const share = (before: number | undefined, after: number | undefined, span: number): number =>
  ((after ?? NaN) - (before ?? NaN)) / span;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
