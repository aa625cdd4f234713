/**
 * A server whose rooms survive its restart, for parts that stop it: the same port, the same data, the scenes of the
 * load tests.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, type RunningServer, startServer } from "../measuredServer.ts";

export interface LastingServer {
  url: string;
  /** Starts it; after the first time with the stored data. */
  start(): Promise<RunningServer>;
  /** Deletes its data. */
  forget(): void;
}

/** @param limits in addition to those that allow one address everything */
export async function lastingServer(scene: string, limits: Record<string, string> = {}): Promise<LastingServer> {
  const port = await freePort();
  const data = mkdtempSync(join(tmpdir(), "pliant-bench-"));
  const env = {
    PLIANT_STORE: "sqlite",
    PLIANT_DATA_DIR: data,
    PLIANT_WORKERS: "1",
    PLIANT_SCENES_DIR: fileURLToPath(new URL("../scenes", import.meta.url)),
    PLIANT_PREWARM: scene,
    PLIANT_MAX_ROOMS: "1000",
    PLIANT_ROOMS_PER_ADDRESS: "1000",
    PLIANT_ROOMS_PER_MINUTE: "100000",
    PLIANT_CONNECTIONS_PER_ADDRESS: "10000",
    ...limits,
  };
  return {
    url: `http://127.0.0.1:${port}`,
    start: () => startServer({ port, env }),
    forget: () => rmSync(data, { recursive: true, force: true }),
  };
}

/** Kills the server and resolves when its process has ended. */
export async function killed({ process: child }: RunningServer): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** Resolves when the server lists at least `count` rooms. */
export async function untilListed(url: string, count: number, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  for (;;) {
    const { rooms } = (await (await fetch(`${url}/api/rooms`)).json()) as { rooms: unknown[] };
    if (rooms.length >= count) return;
    if (performance.now() > end) throw new Error(`${rooms.length} of ${count} rooms within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
