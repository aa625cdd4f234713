/** A real app on a free port of this process, with real worker threads and the scenes of this folder. */
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { type App, buildApp } from "../../server/app.ts";
import { type Config, readConfig } from "../../server/config.ts";

/** Scenes that cost almost nothing to build and to step, and some that must fail. */
export const SCENES_DIR = fileURLToPath(new URL("./scenes", import.meta.url));

export interface TestServer {
  app: App;
  url: string;
  /** Threads that this server has started, including ended ones. */
  workers: Worker[];
  /** A metric's value, summed over the series that have all the given labels. */
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  close(): Promise<void>;
}

export async function startTestServer(changes: Partial<Config> = {}, port = 0): Promise<TestServer> {
  const workers: Worker[] = [];
  const note = (worker: Worker): void => void workers.push(worker);
  process.on("worker", note);
  const app = await buildApp({
    ...readConfig({ PLIANT_OPERATIONS_PORT: "same" }),
    scenesDir: SCENES_DIR,
    prewarm: "none",
    store: "none",
    emptyRoomSeconds: 30,
    roomsPerAddress: 10_000,
    membersPerAddress: 10_000,
    roomsPerMinute: 100_000,
    objectsPerMinute: 100_000,
    addressBudget: 1_000_000,
    ...changes,
  });
  const url = await app.fastify.listen({ port, host: "127.0.0.1" });
  return {
    app,
    url,
    workers,
    metric: async (name, labels = {}) => {
      const lines = (await (await fetch(`${url}/metrics`)).text())
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      const wanted = lines.filter((line) =>
        Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)),
      );
      return wanted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    close: async () => {
      process.off("worker", note);
      await app.close();
    },
  };
}

/** Environment of a server in a process of its own: a SQLite store in the folder, one thread, the tests' scenes. */
export const storedIn = (dataDir: string): Record<string, string> => ({
  PLIANT_STORE: "sqlite",
  PLIANT_DATA_DIR: dataDir,
  PLIANT_PREWARM: "none",
  PLIANT_WORKERS: "1",
  PLIANT_SCENES_DIR: SCENES_DIR,
});

/** Sends bytes and returns everything that the server sends until it closes the connection. */
export async function rawAnswer(server: TestServer, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  const parts: Buffer[] = [];
  socket.on("data", (data: Buffer) => parts.push(data));
  socket.on("error", () => {});
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(parts).toString("latin1");
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
