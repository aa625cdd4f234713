/**
 * A real server is killed and started again beside a real Prometheus: the room is restored, the alert for that fires,
 * and the log agrees.
 */
import { afterAll, describe, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { freePort, startServer } from "../../load-tests/measuredServer.ts";
import type { RunningServer } from "../../load-tests/measuredServer.ts";
import { findOnPath, lacks } from "../support/run/tools.ts";
import { faults, linesOf } from "./logLines.ts";
import { startPrometheus } from "./prometheus.ts";
import type { RunningPrometheus } from "./prometheus.ts";
import { testFolder } from "../support/testFolder.ts";

interface Alert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: string;
}

const prometheus = findOnPath("prometheus");
describe.skipIf(lacks("Prometheus", prometheus))("a crash", () => {
  const data = testFolder("crash");
  let server: RunningServer;
  let monitor: RunningPrometheus;
  afterAll(async () => {
    await monitor?.stop();
    await server?.stop();
  });

  test("raises the alert for restored rooms, which names the server and its runbook section", async () => {
    const port = await freePort();
    const start = (): Promise<RunningServer> =>
      startServer({
        port,
        env: { PLIANT_PREWARM: "none", PLIANT_STORE: "sqlite", PLIANT_DATA_DIR: data, LOG_LEVEL: "info" },
      });
    server = await start();
    monitor = await startPrometheus(prometheus as string, `127.0.0.1:${port}`, "1s");
    await createRoom(server.url, "one-sheet", "crashed");
    const bot = await Bot.join(server.url, "crashed");
    await bot.frames(30);
    server.process.kill("SIGKILL");
    await server.stop();
    server = await start();

    const firing = async (): Promise<Alert | undefined> => {
      const { alerts } = (await monitor.get("alerts")) as { alerts: Alert[] };
      return alerts.find(({ labels, state }) => labels.alertname === "PliantRoomsRestored" && state === "firing");
    };
    await expect.poll(firing, { timeout: 300_000, interval: 500 }).toBeDefined();
    const { labels, annotations } = (await firing())!;
    expect(labels).toMatchObject({ severity: "ticket", cause: "restart", instance: `127.0.0.1:${port}` });
    expect(annotations).toEqual({
      summary: `127.0.0.1:${port} started and restored 1 rooms of a process that died`,
      runbook: "server/ops/RUNBOOK.md#pliantroomsrestored",
    });

    const lines = linesOf(server);
    expect(faults(lines)).toEqual([]);
    expect(lines.find(({ msg }) => msg === "room restored")).toMatchObject({ room: "crashed", cause: "restart" });
    expect(await server.stop()).toBe(0);
    expect(faults(linesOf(server))).toEqual([]);
  });
});
