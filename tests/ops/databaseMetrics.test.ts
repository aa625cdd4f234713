/**
 * A real PostgreSQL and the exporter with the cluster's settings: the metrics in alerts and dashboard exist, and tell a
 * lost database from a running one.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../load-tests/measuredServer.ts";
import { findPostgres, PostgresServer } from "../support/postgres.ts";
import { findExporter, lacks } from "../support/run/tools.ts";

const bin = findPostgres();
const exporter = findExporter();
const skipped = lacks("PostgreSQL", bin) || lacks("postgres_exporter", exporter);
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended.reverse()) await end();
});

test.skipIf(skipped)("the exporter has the metrics of alerts and dashboard, and notices a lost database", async () => {
  const database = await PostgresServer.start(bin!);
  ended.push(() => database.stop());
  const { services } = parse(readFileSync("docker-compose.cluster.yml", "utf8"));
  const settings = services["postgres-exporter"].environment as Record<string, string>;
  const port = await freePort();
  const child = spawn(exporter!, [`--web.listen-address=127.0.0.1:${port}`], {
    env: {
      ...settings,
      DATA_SOURCE_URI: settings.DATA_SOURCE_URI!.replace("postgres:5432/pliant", `127.0.0.1:${database.port}/postgres`),
      DATA_SOURCE_PASS: "hush-hush",
    },
    stdio: "ignore",
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  ended.push(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const metrics = (): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/metrics`).then(
      (answer) => answer.text(),
      () => "",
    );
  const until = (line: RegExp) =>
    vi.waitUntil(async () => line.test(await metrics()), { timeout: 60_000, interval: 200 });
  await until(/^pg_up 1$/m);
  const files = ["server/ops/prometheus/alerts.yml", "server/ops/grafana/dashboards/pliant-cluster.json"];
  const asked = files.flatMap((file) => readFileSync(file, "utf8").match(/\bpg_\w+/g) ?? []);
  expect(asked.length).toBeGreaterThan(8);
  const text = await metrics();
  for (const name of asked) expect(text).toContain(`# TYPE ${name} `);
  await database.halt();
  await until(/^pg_up 0$/m);
});
