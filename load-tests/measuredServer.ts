/**
 * Starts the real server as a process of its own on a free port, and stops it. For load tests and for tests that need
 * the whole program.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

export interface RunningServer {
  /** http://127.0.0.1:<port> */
  url: string;
  port: number;
  process: ChildProcess;
  /** Returns the server's output so far (the last 100,000 characters). */
  output(): string;
  /** Sends SIGTERM and resolves with the exit code, or -1 if it had to be killed after `withinMs`. */
  stop(withinMs?: number): Promise<number>;
}

export interface ServerOptions {
  /** Folder that contains server/main.ts; default: this repository. */
  folder?: string;
  /** Command line; default `serveCommand()`. */
  command?: string[];
  env?: Record<string, string>;
  /** Default: a free port. */
  port?: number;
  /** Timeout until /readyz answers 200, ms. */
  readyWithinMs?: number;
}

const { scripts } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  scripts: { serve: string };
};
/**
 * The command of `npm run serve`, run by this Node.
 * @param options further options of Node, for example a module to load before the server
 */
export const serveCommand = (...options: string[]): string[] => [
  process.execPath,
  ...options,
  ...scripts.serve.split(" ").slice(1),
];

/** Range of ports for servers. Systems assign higher ports to outgoing connections, Linux from 32,768 on. */
const PORTS = { first: 20_000, end: 32_768 };

/** Returns a port that was free a moment ago, outside of the range that the system assigns by itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve, reject) => {
      probe.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error),
      );
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/**
 * Polls every 50 ms until the address answers 200.
 * @throws Error at the timeout, or with the reason returned by `gaveUp`
 */
export async function waitForOk(
  url: string,
  withinMs: number,
  gaveUp: () => string | undefined = () => undefined,
): Promise<void> {
  const until = performance.now() + withinMs;
  for (;;) {
    const ok = await fetch(url, { signal: AbortSignal.timeout(2000) }).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return;
    const reason =
      gaveUp() ?? (performance.now() > until ? `${url} did not answer 200 within ${withinMs} ms` : undefined);
    if (reason !== undefined) throw new Error(reason);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @throws Error with the server's output if it ends or is not ready in time */
export async function startServer({
  folder,
  command,
  env = {},
  port: wanted,
  readyWithinMs = 300_000,
}: ServerOptions = {}): Promise<RunningServer> {
  const port = wanted ?? (await freePort());
  const [file, ...args] = command ?? serveCommand();
  const child = spawn(file, args, {
    cwd: folder ?? fileURLToPath(new URL("..", import.meta.url)),
    // All requests of a load test come from one address, so its limits are raised.
    env: {
      ...process.env,
      HOST: "127.0.0.1",
      LOG_LEVEL: "warn",
      PLIANT_STORE: "none",
      // One address for all requests of a test.
      ...(folder === undefined && {
        PLIANT_OPERATIONS_PORT: "same",
        PLIANT_ADDRESS_BUDGET: "1000000",
        PLIANT_MEMBERS_PER_ADDRESS: "10000",
      }),
      ...env,
      PORT: String(port),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const keep = (chunk: Buffer): void => void (text = (text + chunk.toString()).slice(-100_000));
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = new Promise<number>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? (signal ? -1 : 0))),
  );
  child.once("error", (error) => keep(Buffer.from(String(error))));

  const stop = async (withinMs = 25_000): Promise<number> => {
    if (child.exitCode !== null || child.signalCode !== null) return ended;
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
    const code = await ended;
    clearTimeout(timer);
    return code;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitForOk(`${url}/readyz`, readyWithinMs, () =>
      child.exitCode !== null ? `the server ended with code ${child.exitCode}` : undefined,
    );
  } catch (error) {
    await stop(1000);
    throw new Error(`${(error as Error).message}\n${text}`);
  }
  return { url, port, process: child, output: () => text, stop };
}
