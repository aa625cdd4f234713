/**
 * A real process receives SIGTERM while it has the maximum number of rooms, with a member in each. It ends within the
 * time in the Kubernetes manifests, and each member is in the same room again with its session, at the other process.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { Connection } from "../../../client/sdk/connection/roomConnection.ts";
import { createRoom } from "../../../load-tests/bot.ts";
import { freePort, type RunningServer, startServer } from "../../../load-tests/measuredServer.ts";
import { readConfig } from "../../../server/config.ts";
import type { Welcome } from "../../../shared/protocol/fromServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const ROOMS = 40;
const SCENES = fileURLToPath(new URL("../scenes", import.meta.url));
const folder = testFolder("down");
const running: RunningServer[] = [];
const lines: Connection[] = [];
afterAll(async () => {
  for (const line of lines) line.close();
  await Promise.all(running.map((server) => server.stop()));
});

async function start(): Promise<RunningServer> {
  const port = await freePort();
  const server = await startServer({
    port,
    env: {
      PLIANT_STORE: "sqlite",
      PLIANT_DATA_DIR: folder,
      PLIANT_SCENES_DIR: SCENES,
      PLIANT_PREWARM: "cube",
      PLIANT_WORKERS: "1",
      PLIANT_CONNECTIONS_PER_ADDRESS: "1000",
      PLIANT_ROOMS_PER_ADDRESS: "64",
      PLIANT_ROOMS_PER_MINUTE: "1000",
      // Rooms must stay where they are created.
      PLIANT_BALANCE: "off",
      PLIANT_PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
  });
  running.push(server);
  return server;
}

/** Times of the pod, s: until SIGTERM, and from there until it is killed. */
function grace(): { wait: number; kill: number } {
  const manifest = fileURLToPath(new URL("../../../server/ops/kubernetes/pliant.yaml", import.meta.url));
  const deployment = parseAllDocuments(readFileSync(manifest, "utf8"))
    .map((document) => document.toJS() as any)
    .find(({ kind }) => kind === "Deployment");
  const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
  const wait = Number(containers[0].lifecycle.preStop.exec.command[1]);
  return { wait, kill: terminationGracePeriodSeconds - wait };
}

test(`SIGTERM with ${ROOMS} rooms ends in time, and no member is lost`, async () => {
  const [leaving, staying] = [await start(), await start()];
  const welcomes: Welcome[][] = [];
  for (let i = 0; i < ROOMS; i++) {
    await createRoom(leaving.url, "cube", `room-${i}`);
    const own: Welcome[] = [];
    welcomes.push(own);
    // Through the remaining process, like a load balancer that knows which process ends.
    lines.push(
      new Connection({
        url: `${staying.url.replace("http", "ws")}/api/rooms/room-${i}/socket`,
        profile: () => ({ name: `Ada ${i}`, color: "#112233" }),
        onEvent: (event) => void (event.type === "welcome" && own.push(event.welcome)),
        onStatus: () => {},
      }),
    );
  }
  const until = async (what: string, done: () => boolean): Promise<void> => {
    for (const endMs = performance.now() + 300_000; !done(); await new Promise((resolve) => setTimeout(resolve, 20)))
      if (performance.now() > endMs) throw new Error(`${what}: not within 300 s\n${leaving.output()}`);
  };
  const at = (server: RunningServer) => (own: Welcome[]) => own.at(-1)?.url === server.url;
  await until("all members are in", () => welcomes.every(at(leaving)) && lines.every((line) => line.isOpen));
  const before = welcomes.map((own) => own.at(-1)!.session);
  const startMs = performance.now();
  expect(await leaving.stop()).toBe(0);
  const seconds = (performance.now() - startMs) / 1000;
  expect(seconds).toBeLessThan(readConfig({}).shutdownSeconds);
  expect(seconds).toBeLessThan(grace().kill);
  await until("all members are in again", () => welcomes.every(at(staying)) && lines.every((line) => line.isOpen));
  const back = (performance.now() - startMs) / 1000;
  expect(welcomes.map((own) => own.at(-1)!.session)).toEqual(before);
  console.info(`${ROOMS} rooms: ended after ${seconds.toFixed(2)} s, all members back after ${back.toFixed(2)} s`);
});
