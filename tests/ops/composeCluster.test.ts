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
const { port, shutdownSeconds } = readConfig({});

test("mounted files are in the repository or declared; images are pinned, shared ones to the same version", () => {
  for (const [name, { volumes: mounts = [], image }] of Object.entries<any>(services)) {
    for (const mount of mounts as string[]) {
      const [source] = mount.split(":");
      if (source.startsWith(".")) expect(existsSync(source), source).toBe(true);
      else expect(Object.keys(volumes)).toContain(source);
    }
    expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?$/);
    if (single.services[name]) expect(image).toBe(single.services[name].image);
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
  const [, bound] = /^ {2}bind :(\d+)/m.exec(haproxy) as RegExpExecArray;
  expect(services.balancer.ports).toEqual([`${port}:${bound}`]);
  expect(haproxy.endsWith("\n")).toBe(true); // HAProxy refuses a last line without a line break.
});

test("Prometheus scrapes every server, with the rules of a single one", () => {
  const {
    scrape_configs: [job],
    rule_files,
  } = read("server/ops/cluster/prometheus.yml");
  const {
    scrape_configs: [known],
    global,
  } = read("server/ops/prometheus/prometheus.yml");
  expect(job).toMatchObject({
    job_name: known.job_name,
    metrics_path: known.metrics_path,
    dns_sd_configs: [{ names: ["pliant"], type: "A", port }],
  });
  expect(read("server/ops/cluster/prometheus.yml").global).toEqual(global);
  const inside = services.prometheus.volumes.map((mount: string) => mount.split(":")[1]);
  expect(inside).toEqual(expect.arrayContaining([...rule_files, services.prometheus.command[0].split("=")[1]]));
});
