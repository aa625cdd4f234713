/**
 * The alert for slow motion, from end to end: a real server with a room that is too heavy for it, a real Prometheus
 * with the project's own rules. It fires for that server and not for one that keeps up.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { type RunningServer, serveCommand, startServer } from "../../load-tests/measuredServer.ts";
import { findOnPath, lacks } from "../support/run/tools.ts";
import { type RunningPrometheus, startPrometheus } from "./prometheus.ts";
import { testFolder } from "../support/testFolder.ts";

const executable = findOnPath("prometheus");
const folder = testFolder("slow");
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended) await end();
});

interface Alert {
  state: string;
  labels: { alertname: string };
}

/**
 * A server with one room, a member in it, and a Prometheus that watches it. @param nice of the server, relative to this
 * process
 */
async function watched(
  scene: string,
  nice = 0,
): Promise<{ alerts: () => Promise<string[]>; ratio: () => Promise<number> }> {
  const server: RunningServer = await startServer({
    command: ["nice", "-n", String(nice), ...serveCommand()],
    env: { PLIANT_SCENES_DIR: folder, PLIANT_PREWARM: scene, PLIANT_WORKERS: "1" },
  });
  ended.push(() => server.stop());
  const prometheus: RunningPrometheus = await startPrometheus(
    executable as string,
    new URL(server.url).host,
    "500ms",
    "1s",
  );
  ended.push(() => prometheus.stop());
  await createRoom(server.url, scene, "room");
  const bot = await Bot.join(server.url, "room");
  ended.push(() => bot.leave());
  return {
    alerts: async () =>
      ((await prometheus.get("alerts")) as { alerts: Alert[] }).alerts
        .filter(({ state }) => state === "firing")
        .map(({ labels }) => labels.alertname),
    ratio: async () => (await prometheus.instant("pliant_time_dilation_ratio"))[0]?.values[0] ?? Number.NaN,
  };
}

test.skipIf(lacks("Prometheus", executable))(
  "fires while a room cannot keep up, gives its speed, and does not fire for one that keeps up",
  async () => {
    const scenes = "tests/integration/scenes";
    const heavy = JSON.parse(readFileSync(join(scenes, "victim.json"), "utf8")) as object;
    // Many times the real-time capacity of a core, but still some ticks a second.
    writeFileSync(join(folder, "heavy.json"), JSON.stringify({ ...heavy, substeps: 200 }));
    writeFileSync(join(folder, "cube.json"), readFileSync(join(scenes, "cube.json")));
    // The one that keeps up has the higher priority: the busy server must not make it late.
    const slow = await watched("heavy", 5);
    const fast = await watched("cube");
    while (!(await slow.alerts()).includes("PliantSlowMotion")) await sleep(250);
    expect(await slow.ratio()).toBeLessThan(0.9);
    expect(await fast.alerts()).not.toContain("PliantSlowMotion");
  },
);
