/**
 * A real HAProxy with the project's configuration before a real server: visitors reach rooms and no operators' route,
 * however the address is written, and the metrics in alerts and dashboards exist.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { freePort, waitForOk } from "../../load-tests/measuredServer.ts";
import { startTestServer, type TestServer } from "../integration/testServer.ts";
import { findOnPath, lacks } from "../support/run/tools.ts";
import { testFolder } from "../support/testFolder.ts";

const haproxy = findOnPath("haproxy");
const ADMIN = "the-operators-own-token";
const folder = testFolder("balancer");

/** Sends the path as it is, without the normalization of `fetch`. */
const ask = (origin: string, path: string): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    request({ hostname, port, path, headers: { authorization: `Bearer ${ADMIN}` } }, (response) => {
      let body = "";
      response.on("data", (piece) => (body += String(piece)));
      response.on("end", () => resolve({ status: response.statusCode!, body }));
    })
      .on("error", reject)
      .end();
  });

/** The project's configuration with free ports, and one server instead of Docker's names. */
function configFor(ports: Record<string, number>, server: TestServer): string {
  const at = (url: string): string => `server one ${new URL(url).host} check`;
  const text = readFileSync("server/ops/cluster/haproxy.cfg", "utf8")
    .replace(/maxconn \d+/, "maxconn 200") // This machine may allow few open files.
    .replace(/bind :(\d+)/g, (_, port: string) => `bind 127.0.0.1:${ports[port]}`)
    .replace(/server-template \w+ \d+ pliant:8080.*/, at(server.url))
    .replace(/server-template \w+ \d+ pliant:9080.*/, at(`http://127.0.0.1:${server.app.operations?.port}`));
  const path = join(folder, `haproxy-${ports["8080"]}.cfg`);
  writeFileSync(path, text);
  return path;
}

async function startBalancer(
  server: TestServer,
): Promise<{ origin: (port: string) => string; stop: () => Promise<void> }> {
  const ports: Record<string, number> = {};
  for (const port of ["8080", "9080", "8405"]) ports[port] = await freePort();
  const child = spawn(haproxy!, ["-db", "-f", configFor(ports, server)], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const origin = (port: string): string => `http://127.0.0.1:${ports[port]}`;
  const gaveUp = (): string | undefined =>
    child.exitCode === null ? undefined : `HAProxy ended with code ${child.exitCode}`;
  await waitForOk(`${origin("8080")}/readyz`, 60_000, gaveUp);
  await waitForOk(`${origin("9080")}/healthz`, 60_000, gaveUp);
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return { origin, stop };
}

describe.skipIf(lacks("HAProxy", haproxy))("behind HAProxy", () => {
  let server: TestServer;
  let balancer: Awaited<ReturnType<typeof startBalancer>>;
  beforeAll(async () => {
    server = await startTestServer({ operationsPort: 0, adminToken: ADMIN, trustProxy: 1 });
    await server.app.operations!.listen();
    balancer = await startBalancer(server);
  });
  afterAll(async () => {
    await balancer.stop();
    await server.close();
  });

  test("a visitor opens a room and joins it", async () => {
    await createRoom(balancer.origin("8080"), "cube", "through");
    const bot = await Bot.join(balancer.origin("8080"), "through");
    await bot.frames(3);
    await bot.leave();
  });

  test("operators reach their routes by the operators' port", async () => {
    for (const path of ["/admin", "/metrics", "/api/admin/rooms"])
      expect([path, (await ask(balancer.origin("9080"), path)).status]).toEqual([path, 200]);
  });

  test("the balancer's own metrics answer at one path, with those of the alerts and the dashboard", async () => {
    const { body } = await ask(balancer.origin("8405"), "/metrics");
    expect(body).toMatch(/^haproxy_backend_active_servers\{proxy="servers"\} 1$/m);
    const files = ["server/ops/prometheus/alerts.yml", "server/ops/grafana/dashboards/pliant-cluster.json"];
    const asked = files.flatMap((file) => readFileSync(file, "utf8").match(/\bhaproxy_\w+/g) ?? []);
    expect(asked.length).toBeGreaterThan(4);
    for (const name of asked) expect(body).toContain(`# TYPE ${name} `);
    expect((await ask(balancer.origin("8405"), "/")).status).toBe(403);
  });
});

describe.skipIf(lacks("HAProxy", haproxy))("before a server with all routes on one port", () => {
  let server: TestServer;
  let balancer: Awaited<ReturnType<typeof startBalancer>>;
  beforeAll(async () => {
    server = await startTestServer({ operationsPort: null, adminToken: ADMIN, trustProxy: 1 });
    const both = { ...server, app: { ...server.app, operations: { port: Number(new URL(server.url).port) } } };
    balancer = await startBalancer(both as unknown as TestServer);
  });
  afterAll(async () => {
    await balancer.stop();
    await server.close();
  });

  test.each([
    "/metrics",
    "/%6detrics",
    "/metric%73?x",
    "/METRICS",
    "//metrics",
    "/admin",
    "/%61dmin",
    "/api/admin/rooms",
    "/api/%61dmin/rooms",
    "/%61%70i/admin/rooms",
    "/docs/json",
    "/doc%73/json",
    "/%2561dmin",
    "/%2fmetrics",
    "/./metrics",
    "/readyz/../metrics",
    "/api%2fadmin/rooms",
    "/api/%2e/admin/rooms",
  ])("%s is refused", async (path) => {
    const { status, body } = await ask(balancer.origin("8080"), path);
    expect(status).toBe(404);
    expect(body).not.toMatch(/pliant_|openapi|"rooms"/);
  });

  test("such names inside of other addresses pass", async () => {
    expect((await ask(server.url, "/metrics")).status).toBe(200);
    for (const path of ["/api/rooms?x=/metrics", "/api/scenes", "/r/metrics"])
      expect([path, (await ask(balancer.origin("8080"), path)).status]).toEqual([path, 200]);
  });
});
