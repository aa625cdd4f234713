/**
 * A real server in a process of its own to be fuzzed, a member in it that watches, and counts of the resources that it
 * holds.
 */
import { fileURLToPath } from "node:url";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { type RunningServer, serveCommand, startServer } from "../../load-tests/measuredServer.ts";
import type { FuzzRoom } from "./frameRun.ts";

export interface FuzzedServer {
  server: RunningServer;
  rooms: FuzzRoom[];
  /** Counts frames of a room that is being fuzzed. */
  witness: Bot;
  holds(): Promise<Holdings>;
  stop(): Promise<number>;
}

export interface Holdings {
  rssMb: number;
  heapMb: number;
  /** Buffers and shared memories outside the heap. */
  externalMb: number;
  files: number;
  sessions: number;
  rooms: number;
}

export async function startFuzzedServer(): Promise<FuzzedServer> {
  const scenes = fileURLToPath(new URL("../integration/scenes", import.meta.url));
  const command = serveCommand("--expose-gc", "--import", new URL("./collect.mjs", import.meta.url).href);
  const server = await startServer({
    command,
    env: {
      PLIANT_SCENES_DIR: scenes,
      PLIANT_PREWARM: "cube,spare",
      LOG_LEVEL: "warn",
      PLIANT_RESUME_SECONDS: "2",
      PLIANT_HISTORY_SECONDS: "10",
      PLIANT_CONNECTIONS_PER_ADDRESS: "1000",
    },
  });
  const rooms: FuzzRoom[] = [];
  for (const [name, scene, owned] of [
    ["plain", "cube", false],
    ["spare", "spare", false],
    ["owned", "spare", true],
  ] as const) {
    const { token } = await createRoom(server.url, scene, name);
    rooms.push({ name, ...(owned && { token: token! }), target: { bodies: 2, triangles: 40, members: 20 } });
  }
  const witness = await Bot.join(server.url, "plain", { name: "witness" });
  const metric = (text: string, name: string): number =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  return {
    server,
    rooms,
    witness,
    holds: async () => {
      // Twice: finalizers of the first round release objects that the second one frees.
      for (let round = 0; round < 2; round++) {
        server.process.kill("SIGUSR2");
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const mb = (name: string): number => metric(text, name) / 2 ** 20;
      return {
        rssMb: mb("process_resident_memory_bytes"),
        heapMb: mb("nodejs_heap_size_used_bytes"),
        externalMb: mb("nodejs_external_memory_bytes"),
        files: metric(text, "process_open_fds"),
        sessions: metric(text, "pliant_sessions"),
        rooms: metric(text, "pliant_rooms"),
      };
    },
    stop: async () => {
      await witness.leave();
      return server.stop();
    },
  };
}

/** Log lines that report an unexpected error. */
export function alarms(output: string): string[] {
  return output.split("\n").filter((line) => /"level":(50|60)|failed to handle a message|Unhandled|Error:/.test(line));
}
