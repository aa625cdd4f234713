/** docker-compose.yml and its mounted files match each other and the server. No Docker engine is needed or used. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { relative } from "node:path";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";
import { parseDockerfile } from "./dockerfile.ts";

interface Service {
  mem_limit?: string;
  secrets?: string[];
  image?: string;
  build?: string;
  ports?: string[];
  volumes?: string[];
  command?: string[];
  environment?: Record<string, string>;
  stop_grace_period?: string;
  depends_on?: unknown;
}

const compose = parse(readFileSync("docker-compose.yml", "utf8")) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  secrets: Record<string, { environment: string }>;
};
const { pliant, prometheus, grafana, alertmanager } = compose.services;
const yaml = (path: string): any => parse(readFileSync(path, "utf8"));

/** Repository path of a path inside a container, by the service's mounts; the longest mount wins. */
function onHost(service: Service, path: string): string | undefined {
  const mounts = (service.volumes ?? [])
    .map((volume) => volume.split(":"))
    .filter(([host, inside]) => host.startsWith("./") && path.startsWith(inside));
  const [best] = mounts.sort((a, b) => b[1].length - a[1].length);
  return best && best[0] + path.slice(best[1].length);
}

test("every mounted file and folder is in the repository or made by one of its commands, and every named volume is declared", () => {
  const mounts = Object.values(compose.services)
    .flatMap((service) => service.volumes ?? [])
    .map((volume) => volume.split(":")[0]);
  expect(mounts.length).toBeGreaterThan(0);
  for (const source of mounts) {
    // Docker creates a missing folder.
    if (source === "./build/report")
      expect(pliant.volumes).toContain(`${source}:/app/${relative(process.cwd(), readConfig({}).reportDir)}:ro`);
    else if (source.startsWith(".")) expect(existsSync(source), source).toBe(true);
    else expect(Object.keys(compose.volumes)).toContain(source);
  }
});

test("images are pinned to a version", () => {
  for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
});

test("the server's port is the same in its configuration, the image and Prometheus", () => {
  const { port, operationsPort, shutdownSeconds } = readConfig({});
  // Only this machine reaches the operations page.
  expect(pliant.ports).toEqual([`${port}:${port}`, `127.0.0.1:${operationsPort}:${operationsPort}`]);
  expect(Number.parseInt(pliant.stop_grace_period as string, 10)).toBeGreaterThan(shutdownSeconds);
  const last = parseDockerfile(readFileSync("Dockerfile", "utf8")).at(-1);
  expect(last?.expose).toEqual([String(port), String(operationsPort)]);
  expect(last?.env.PORT).toBe(String(port));
  expect(readConfig(last?.env ?? {})).toMatchObject({ port, operationsPort, operationsHost: "0.0.0.0" });
  const [job] = yaml("server/ops/prometheus/prometheus.yml").scrape_configs;
  expect(job).toMatchObject({
    job_name: "pliant",
    metrics_path: "/metrics",
    dns_sd_configs: [{ names: ["pliant"], type: "A", port: operationsPort }],
  });
  expect(Object.keys(compose.services)).toContain("pliant");
});

test("the server has an admin token, and every service a limit of memory", () => {
  expect(pliant.environment?.PLIANT_ADMIN_TOKEN).toMatch(/^\$\{PLIANT_ADMIN_TOKEN:\?/);
  for (const [name, { mem_limit: limit }] of Object.entries(compose.services)) expect(limit, name).toMatch(/^\d+[mg]$/);
});

test("Prometheus sends its alerts to Alertmanager, which sends them to the operator's address", () => {
  const [port] = /\d+$/.exec((alertmanager.ports as string[])[0]!)!;
  for (const file of ["server/ops/prometheus/prometheus.yml", "server/ops/cluster/prometheus.yml"])
    expect(yaml(file).alerting.alertmanagers[0].static_configs[0].targets).toEqual([`alertmanager:${port}`]);
  const config = alertmanager.command?.find((word) => word.startsWith("--config.file="))?.split("=")[1] as string;
  const { receivers } = yaml(onHost(alertmanager, config) as string);
  const [secret] = alertmanager.secrets!;
  expect(receivers[0].webhook_configs[0].url_file).toBe(`/run/secrets/${secret}`);
  expect(compose.secrets[secret!]!.environment).toBe("PLIANT_ALERT_URL");
});

test("Prometheus gets its configuration and rules", () => {
  const config = prometheus.command?.find((word) => word.startsWith("--config.file="))?.split("=")[1] as string;
  const path = onHost(prometheus, config) as string;
  expect(existsSync(path), path).toBe(true);
  for (const rule of yaml(path).rule_files) expect(existsSync(`server/ops/prometheus/${rule}`), rule).toBe(true);
});

test("Grafana finds its data source, the provider its dashboards, and every panel the reader's data source", () => {
  const provisioning = onHost(grafana, "/etc/grafana/provisioning") as string;
  const [source] = yaml(`${provisioning}/datasources/prometheus.yml`).datasources;
  const [, prometheusPort] = (prometheus.ports as string[])[0].match(/:(\d+)$/) as RegExpMatchArray;
  expect(source.url).toBe(`http://prometheus:${prometheusPort}`);
  expect(source.jsonData.timeInterval).toBe(yaml("server/ops/prometheus/prometheus.yml").global.scrape_interval);

  const [provider] = yaml(`${provisioning}/dashboards/pliant.yml`).providers;
  const dashboards = onHost(grafana, provider.options.path) as string;
  const home = onHost(grafana, grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH as string) as string;
  expect(existsSync(home), home).toBe(true);
  for (const name of readdirSync(dashboards)) {
    const dashboard = JSON.parse(readFileSync(`${dashboards}/${name}`, "utf8"));
    // Every panel takes the data source that the reader chooses, so that the file works in any Grafana.
    const named = JSON.stringify(dashboard).match(/"uid":"[^"]*"/g) ?? [];
    expect(new Set(named), name).toEqual(new Set([`"uid":"${dashboard.uid}"`, '"uid":"$datasource"']));
    const [variable] = dashboard.templating.list;
    expect(variable, name).toMatchObject({ name: "datasource", type: "datasource", query: source.type });
    const ids = dashboard.panels.map((panel: { id: number }) => panel.id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});
