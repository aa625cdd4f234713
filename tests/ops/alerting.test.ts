/**
 * An alert reaches an address: a real Prometheus with the project's rules watches a server, a real Alertmanager with
 * the project's routes posts to a local receiver when the server is gone, and again when it is back.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { freePort, waitForOk } from "../../load-tests/measuredServer.ts";
import { findAlertmanager, findOnPath, lacks } from "../support/run/tools.ts";
import { startPrometheus } from "./prometheus.ts";
import { testFolder } from "../support/testFolder.ts";

interface Notification {
  receiver: string;
  alerts: { status: string; labels: Record<string, string>; annotations: Record<string, string> }[];
}

const prometheus = findOnPath("prometheus");
const alertmanager = findAlertmanager();
const skipped = lacks("Prometheus", prometheus) || lacks("Alertmanager", alertmanager);
const folder = testFolder("alerting");
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended.reverse()) await end();
});

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  ended.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The project's configuration with short waits, and the address itself: Debian's version does not read `url_file`. */
function configFor(url: string): string {
  const config = parse(readFileSync("server/ops/alertmanager/alertmanager.yml", "utf8"));
  Object.assign(config.route, { group_wait: "100ms", group_interval: "1s" });
  const [webhook] = config.receivers[0].webhook_configs;
  delete webhook.url_file;
  webhook.url = url;
  const path = join(folder, "alertmanager.yml");
  writeFileSync(path, stringify(config));
  return path;
}

async function startAlertmanager(config: string): Promise<string> {
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    alertmanager!,
    [
      `--config.file=${config}`,
      `--storage.path=${join(folder, "alertmanager")}`,
      `--web.listen-address=${address}`,
      "--cluster.listen-address=",
    ],
    { stdio: "ignore" },
  );
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  ended.push(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await waitForOk(`http://${address}/-/ready`, 60_000, () =>
    child.exitCode === null ? undefined : `Alertmanager ended with code ${child.exitCode}`,
  );
  return address;
}

test.skipIf(skipped)(
  "the operator's address gets an alert when a server is gone, and its end when it is back",
  { timeout: 300_000 },
  async () => {
    const received: Notification[] = [];
    const receiver = createServer((request, response) => {
      void json(request).then((body) => {
        received.push(body as Notification);
        response.end();
      });
    });
    const address = await startAlertmanager(configFor(`http://127.0.0.1:${await listen(receiver)}/alerts`));
    const port = await freePort();
    const monitor = await startPrometheus(prometheus!, `127.0.0.1:${port}`, "500ms", "1s", address);
    ended.push(() => monitor.stop());
    const newsOf = (name: string, status: string) =>
      received
        .flatMap(({ receiver: to, alerts }) => alerts.map((alert) => ({ to, ...alert })))
        .find((alert) => alert.labels.alertname === name && alert.status === status);
    const news = (name: string, status: string) =>
      vi.waitUntil(() => newsOf(name, status), { timeout: 200_000, interval: 100 });
    expect(await news("PliantDown", "firing")).toMatchObject({
      to: "operator",
      labels: { severity: "page", instance: `127.0.0.1:${port}` },
      annotations: { runbook: "server/ops/RUNBOOK.md#pliantdown" },
    });
    await news("PliantNoneUp", "firing");
    await listen(
      createServer((_request, response) => response.end("pliant_rooms 0\n")),
      port,
    );
    await news("PliantDown", "resolved");
  },
);
