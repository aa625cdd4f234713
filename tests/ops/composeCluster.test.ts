/**
 * docker-compose.cluster.yml, its load balancer and its Prometheus match each other, the server and the compose file of
 * one server. No Docker engine is needed or used.
 */
import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";

const read = (path: string): any => parse(readFileSync(path, "utf8"));
const { services, volumes } = read("docker-compose.cluster.yml");
const single = read("docker-compose.yml");
const haproxy = readFileSync("server/ops/cluster/haproxy.cfg", "utf8");
const { port, operationsPort, shutdownSeconds } = readConfig({});

test("mounted files are in the repository or declared; images are pinned, shared ones to the same version", () => {
  for (const [name, { volumes: mounts = [], image }] of Object.entries<any>(services)) {
    for (const mount of mounts as string[]) {
      const [source] = mount.split(":");
      if (source.startsWith(".")) expect(existsSync(source), source).toBe(true);
      else expect(Object.keys(volumes)).toContain(source);
    }
    expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/);
    if (single.services[name]) expect(image).toBe(single.services[name].image);
    expect(services[name].mem_limit, name).toMatch(/^\d+[mg]$/);
  }
});

test("the server can be scaled: no fixed port or name, time to hand over, a valid environment", () => {
  const { pliant } = services;
  expect([pliant.ports, pliant.container_name, pliant.volumes]).toEqual([undefined, undefined, undefined]);
  expect(Number.parseInt(pliant.stop_grace_period, 10)).toBeGreaterThan(shutdownSeconds);
  const env = Object.fromEntries(
    Object.entries<string>(pliant.environment).map(([name, value]) => [
      name,
      value.replace(/\$\{[^}]*\}/g, "0123456789abcdef0123456789abcdef"),
    ]),
  );
  const config = readConfig(env);
  expect(config.trustProxy).toBe(1);
  const store = new URL(config.store);
  expect([store.hostname, store.username, store.pathname.slice(1)]).toEqual([
    "postgres",
    services.postgres.environment.POSTGRES_USER,
    services.postgres.environment.POSTGRES_DB,
  ]);
  expect(pliant.environment.PLIANT_STORE).toContain(services.postgres.environment.POSTGRES_PASSWORD);
});

test("the load balancer checks readiness, finds the servers by name and port, and ignores forwarded addresses of clients", () => {
  expect(haproxy).toMatch(/option httpchk GET \/readyz\n/);
  expect(haproxy).toMatch(new RegExp(`server-template \\w+ \\d+ pliant:${port} resolvers docker`));
  expect(haproxy).toMatch(/http-request set-header X-Forwarded-For %\[src\]\n/);
  expect(haproxy).toMatch(/http-request del-header X-Pliant-Hop\n/);
  expect(haproxy).toMatch(new RegExp(`server-template \\w+ \\d+ pliant:${operationsPort} resolvers docker`));
  const [visitors, operators, metrics] = [...haproxy.matchAll(/^ {2}bind :(\d+)/gm)].map(([, bound]) => bound);
  // Only this machine reaches the operations page, only the other containers the balancer's metrics.
  expect(services.balancer.ports).toEqual([`${port}:${visitors}`, `127.0.0.1:${operationsPort}:${operators}`]);
  expect(services.balancer.expose).toEqual([metrics]);
  expect(haproxy.endsWith("\n")).toBe(true); // HAProxy refuses a last line without a line break.
});

test("Grafana and Alertmanager are those of a single server", () => {
  for (const name of ["grafana", "alertmanager"]) expect(services[name]).toEqual(single.services[name]);
  expect(read("docker-compose.cluster.yml").secrets).toEqual(single.secrets);
});

test("the exporter logs in to the database of the servers", () => {
  const {
    DATA_SOURCE_URI: uri,
    DATA_SOURCE_USER: user,
    DATA_SOURCE_PASS: password,
  } = services["postgres-exporter"].environment;
  const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = services.postgres.environment;
  expect([uri.split(/[:/?]/).filter(Boolean).slice(0, 3), user, password]).toEqual([
    ["postgres", "5432", POSTGRES_DB],
    POSTGRES_USER,
    POSTGRES_PASSWORD,
  ]);
});

test("Prometheus scrapes every server, with the rules of a single one", () => {
  const {
    scrape_configs: [job, ...others],
    rule_files,
  } = read("server/ops/cluster/prometheus.yml");
  const {
    scrape_configs: [known],
    global,
  } = read("server/ops/prometheus/prometheus.yml");
  expect(job).toMatchObject({
    job_name: known.job_name,
    metrics_path: known.metrics_path,
    dns_sd_configs: [{ names: ["pliant"], type: "A", port: operationsPort }],
  });
  expect(read("server/ops/cluster/prometheus.yml").global).toEqual(global);
  for (const { job_name: name, static_configs: configs } of others) {
    const [host, at] = configs[0].targets[0].split(":");
    expect(services[host].expose, name).toEqual([at]);
  }
  const inside = services.prometheus.volumes.map((mount: string) => mount.split(":")[1]);
  expect(inside).toEqual(expect.arrayContaining([...rule_files, services.prometheus.command[0].split("=")[1]]));
});
