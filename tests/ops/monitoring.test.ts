/**
 * A real Prometheus scrapes a real server with active grabs in its rooms, and runs every query of every dashboard. Each
 * must return numbers, with the labels in its legend. So no panel can be empty because a metric was renamed.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { parseMetrics } from "../../load-tests/metrics.ts";
import { startServer } from "../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../load-tests/measuredServer.ts";
import { findOnPath, lacks } from "../support/run/tools.ts";
import { startPrometheus } from "./prometheus.ts";
import type { RunningPrometheus } from "./prometheus.ts";
import { testFolder } from "../support/testFolder.ts";

interface Target {
  expr: string;
  legendFormat: string;
  instant?: boolean;
  datasource: { uid: string };
}
interface Panel {
  type: string;
  title: string;
  description?: string;
  targets?: Target[];
}
interface Dashboard {
  title: string;
  tags: string[];
  links: { type: string; tags: string[]; keepTime: boolean; includeVars: boolean }[];
  panels: Panel[];
  templating: { list: { name: string; definition: string }[] };
}

const folder = "server/ops/grafana/dashboards";
// balancer.test.ts and databaseMetrics.test.ts check the metrics of the balancer and the database.
const dashboards = readdirSync(folder)
  .filter((name) => name !== "pliant-cluster.json")
  .map((name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as Dashboard);
const panels = dashboards.flatMap(({ title, panels }) =>
  panels.filter(({ type }) => type !== "row").map((panel) => ({ ...panel, title: `${title}: ${panel.title}` })),
);
const queries = panels.flatMap((panel) =>
  (panel.targets ?? []).map((target) => ({
    title: `${panel.title}: ${target.legendFormat || target.expr}`,
    ...target,
  })),
);

/** Replaces Grafana's variables; with one scrape a second its rate interval is four of them. */
const substitute = (expr: string): string => expr.replaceAll("$__rate_interval", "4s").replaceAll("$instance", ".*");

const LOAD_SECONDS = 8;

/**
 * One member grabs, pushes, moves its cursor and violates some rules, so that every counter of the dashboard changes.
 * @param counted whether Prometheus has seen the rarest of them count
 */
async function load(url: string, room: string, counted: () => Promise<boolean>): Promise<void> {
  const bot = await Bot.join(url, room, { name: "puller" });
  const point = { body: 0, triangle: 0, u: 0.3, v: 0.3 };
  const [x, y, z] = bot.surfacePosition(point);
  const untilMs = performance.now() + LOAD_SECONDS * 1000;
  bot.grab(1, point, [x, y, z]);
  // The time until a room's first checkpoint, and until its scrape, depends on the machine.
  for (let step = 0; performance.now() < untilMs || !(await counted()); step++) {
    bot.move(1, [x + 0.1 * Math.sin(step / 5), y + 0.2, z]);
    bot.cursor([x, y, z]);
    if (step % 10 === 0) bot.impulse(point, [0, 0.1, 0]);
    // A body that does not exist: a rejected input.
    if (step % 10 === 5) bot.grab(2, { body: 99, triangle: 0, u: 0, v: 0 }, [0, 0, 0]);
    if (step % 30 === 0) await (await Bot.join(url, room)).leave(); // A socket that is closed.
    // One successful response, two errors.
    if (step % 20 === 0) for (const path of ["/api/rooms", "/api/rooms/nobody", "/nowhere"]) await fetch(url + path);
    await sleep(50);
  }
  bot.release(1);
}

test("every panel has a description, and every query lets the reader choose the server", () => {
  expect(dashboards.length).toBeGreaterThanOrEqual(4);
  expect(queries.length).toBeGreaterThan(90);
  for (const panel of panels) expect(panel.description, panel.title).toBeTruthy();
  for (const { expr, title } of queries) expect(expr, title).toContain('job="pliant",instance=~"$instance"');
});

test("dashboards link to each other, with the reader's time and choice of servers", () => {
  for (const { title, tags, links } of dashboards) {
    expect(tags, title).toContain("pliant");
    expect(links, title).toContainEqual(
      expect.objectContaining({ type: "dashboards", tags: ["pliant"], keepTime: true, includeVars: true }),
    );
  }
});

const prometheus = findOnPath("prometheus");
describe.skipIf(lacks("Prometheus", prometheus))("with a server under load", () => {
  let server: RunningServer;
  let monitor: RunningPrometheus;
  let metrics = "";
  let data = "";
  /** End of the load, Unix time in s. */
  let loaded = 0;

  beforeAll(async () => {
    data = testFolder("monitored");
    server = await startServer({
      env: { PLIANT_PREWARM: "jelly-stack", PLIANT_STORE: "sqlite", PLIANT_DATA_DIR: data },
    });
    monitor = await startPrometheus(prometheus as string, `127.0.0.1:${server.port}`, "1s");
    const { room } = await createRoom(server.url, "jelly-stack");
    const checkpoints = substitute("sum(rate(pliant_checkpoint_seconds_count[$__rate_interval]))");
    await load(server.url, room, async () =>
      (await monitor.instant(checkpoints, Date.now() / 1000)).some(({ values }) => values.some((rate) => rate > 0)),
    );
    loaded = Date.now() / 1000;
    metrics = await (await fetch(`${server.url}/metrics`)).text();
  });

  afterAll(async () => {
    await monitor?.stop();
    expect(await server?.stop()).toBe(0);
    if (data) rmSync(data, { recursive: true });
  });

  test.each(queries)("$title", async ({ expr, legendFormat, instant }) => {
    const query = substitute(expr);
    // At the time of the load, however long all queries take.
    const series = instant ? await monitor.instant(query, loaded) : await monitor.range(query, LOAD_SECONDS, loaded);
    const withNumbers = series.filter(({ values }) => values.some(Number.isFinite));
    // A server that keeps real time has no slow room.
    if (!query.includes("pliant_slowest_")) expect(withNumbers.length, query).toBeGreaterThan(0);
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      for (const { metric } of withNumbers) expect(Object.keys(metric), query).toContain(label);
  });

  test("the server's name can be chosen", async () => {
    for (const {
      templating: { list },
    } of dashboards) {
      const variable = list.find(({ name }) => name === "instance")!;
      const [, selector, label] = /^label_values\((.+), (\w+)\)$/.exec(variable.definition) as RegExpExecArray;
      expect(await monitor.get(`label/${label}/values`, { "match[]": selector })).toEqual([`127.0.0.1:${server.port}`]);
    }
  });

  test("Prometheus evaluates every alert without an error, and no alert fires for a healthy server", async () => {
    const { groups } = (await monitor.get("rules")) as {
      groups: { rules: { name: string; health: string; state: string; lastError?: string }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(8);
    for (const { name, health, state, lastError } of rules) {
      expect(health, `${name}: ${lastError}`).toBe("ok");
      expect(state, name).not.toBe("firing");
    }
  });

  test("every metric in an alert is exposed", () => {
    const exposed = new Set(parseMetrics(metrics).map(({ name }) => name));
    const asked =
      readFileSync("server/ops/prometheus/alerts.yml", "utf8").match(/\b(pliant|process|nodejs)_\w+/g) ?? [];
    expect(asked.length).toBeGreaterThan(8);
    for (const name of asked) expect([...exposed], name).toContain(name);
  });

  test("METRICS.md lists exactly the exposed metrics", () => {
    const exposed = metrics
      .split("\n")
      .flatMap((line) => /^# TYPE (pliant_\w+) (\w+)$/.exec(line)?.slice(1).join(" ") ?? []);
    const listed = readFileSync("server/ops/METRICS.md", "utf8")
      .split("\n")
      .flatMap((line) => /^\| `(\w+)` \| (\w+) \|/.exec(line)?.slice(1).join(" ") ?? []);
    expect(exposed.sort()).toEqual(listed.sort());
  });

  test("metrics have the prefix, a help text, and a room as a label only of the busiest and slowest", () => {
    const ours = metrics.split("\n").filter((line) => line.startsWith("# HELP pliant_"));
    expect(ours.length).toBeGreaterThan(20);
    for (const line of ours) expect(line).toMatch(/^# HELP \w+ \S/);
    const foreign = parseMetrics(metrics)
      .filter(({ name }) => !/^(pliant|process|nodejs)_/.test(name))
      .map(({ name }) => name);
    expect(foreign).toEqual([]);
    const named = parseMetrics(metrics).filter(({ name }) => /^pliant_(busiest|slowest)_/.test(name));
    expect(named.length).toBeLessThanOrEqual(30);
    const labels = new Set(
      parseMetrics(metrics)
        .filter((sample) => !named.some(({ name }) => name === sample.name))
        .flatMap((sample) => Object.keys(sample.labels)),
    );
    for (const label of ["room", "user", "member", "session", "scene", "name", "address"])
      expect([...labels]).not.toContain(label);
  });
});
