/**
 * Prometheus' own tools check its configuration and rules; every alert has a unit test and a section in the runbook,
 * and none is superfluous.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { findOnPath, lacks } from "../support/run/tools.ts";
import { loggedOnPage } from "./logCalls.ts";

const folder = "server/ops/prometheus";
const promtool = findOnPath("promtool");
const rules = parse(readFileSync(`${folder}/alerts.yml`, "utf8")) as {
  groups: {
    rules: { alert: string; expr: string; labels: Record<string, string>; annotations: Record<string, string> }[];
  }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);
const names = alerts.map((rule) => rule.alert).sort();

describe.skipIf(lacks("promtool", promtool))("promtool", () => {
  const accepts = (...args: string[]): void => {
    const { status, stdout, stderr } = spawnSync(promtool as string, args, { encoding: "utf8" });
    expect(status, `promtool ${args.join(" ")}\n${stdout}${stderr}`).toBe(0);
  };
  test("accepts prometheus.yml", () => accepts("check", "config", `${folder}/prometheus.yml`));
  test("accepts alerts.yml", () => accepts("check", "rules", `${folder}/alerts.yml`));
  test("every alert fires exactly in its unit tests' conditions", () =>
    accepts("test", "rules", "tests/ops/alerts.test.yml"));
});

test("every alert is unit-tested", () => {
  const units = parse(readFileSync("tests/ops/alerts.test.yml", "utf8")) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  const firing = units.tests
    .flatMap((unit) => unit.alert_rule_test)
    .filter((check) => (check.exp_alerts?.length ?? 0) > 0);
  expect([...new Set(firing.map((check) => check.alertname))].sort()).toEqual(names);
});

test("every alert links to its section of the runbook, and every section has an alert", () => {
  const headings = [...readFileSync("server/ops/RUNBOOK.md", "utf8").matchAll(/^## (.+)$/gm)].map((match) => match[1]);
  expect([...headings].sort()).toEqual(names);
  for (const { alert, annotations } of alerts)
    expect(annotations.runbook).toBe(`server/ops/RUNBOOK.md#${alert.toLowerCase()}`);
});

test("every panel that the runbook names exists, and nothing else is in italics", () => {
  const folder = "server/ops/grafana/dashboards";
  const dashboards = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(`${folder}/${name}`, "utf8")) as { title: string; panels: { title: string }[] },
  );
  const titles = new Set(dashboards.flatMap(({ title, panels }) => [title, ...panels.map((panel) => panel.title)]));
  const named = [...readFileSync("server/ops/RUNBOOK.md", "utf8").matchAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g)]
    .map(([, name]) => name)
    .filter((name) => name !== "italics");
  expect(named.length).toBeGreaterThan(20);
  for (const name of named) expect([...titles], name).toContain(name);
});

test("every log message in the runbook exists", () => {
  const messages = loggedOnPage().map(({ message }) => message);
  const quoted = [...readFileSync("server/ops/RUNBOOK.md", "utf8").matchAll(/`([a-z][a-z' ;,]+)`/g)]
    .map(([, text]) => text!)
    .filter((text) => text.split(" ").length > 1 && !/^(docker|npm) /.test(text));
  expect(quoted.length).toBeGreaterThan(3);
  for (const text of quoted) expect([...messages, "without inputs"], text).toContain(text);
});

test("the jobs that alerts and dashboards select are jobs of the cluster's Prometheus, and operators are told their names", () => {
  const dashboards = "server/ops/grafana/dashboards";
  const files = ["server/ops/prometheus/alerts.yml", ...readdirSync(dashboards).map((name) => `${dashboards}/${name}`)];
  const jobs = new Set(
    files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/job=~?\\?"([\w|]+)/g)].flatMap(([, names]) => names!.split("|")),
    ),
  );
  const { scrape_configs: configs } = parse(readFileSync("server/ops/cluster/prometheus.yml", "utf8"));
  expect([...jobs].sort()).toEqual(configs.map((config: { job_name: string }) => config.job_name).sort());
  const page = readFileSync("docs/OPERATIONS.md", "utf8");
  for (const job of jobs) expect(page).toMatch(new RegExp(`name the jobs [^.]*\`${job}\``));
});

test("every alert has one of the two severities", () => {
  for (const { alert, labels } of alerts) expect(["page", "ticket"], alert).toContain(labels.severity);
});
