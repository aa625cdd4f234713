/** The real program: `node server/main.ts` with environment, signals and exit codes. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Bot, createRoom } from "../../load-tests/bot.ts";
import { type RunningServer, startServer } from "../../load-tests/measuredServer.ts";
import { readConfig } from "../../server/config.ts";
import { HELPERS, isHelper } from "../../server/workers/helperThreads.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const env = { PLIANT_SCENES_DIR: fileURLToPath(new URL("./scenes", import.meta.url)), PLIANT_PREWARM: "cube" };

/** A server for one test. */
async function started(): Promise<RunningServer> {
  const server = await startServer({ env });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** Ends it while three bots are in one of its rooms. */
async function endsInOrder({ url, process: child }: RunningServer, signal: NodeJS.Signals): Promise<void> {
  await createRoom(url, "sheet", "room");
  const bots = await Promise.all([1, 2, 3].map(() => Bot.join(url, "room")));
  await bots[0]!.frames(10);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const startMs = performance.now();
  child.kill(signal);
  for (const bot of bots) expect((await bot.untilClosed()).code).toBe(CloseCode.restarting);
  expect(await ended).toBe(0);
  expect(performance.now() - startMs).toBeLessThan(1000 * readConfig({}).shutdownSeconds);
}

describe("a server", () => {
  let server: RunningServer;
  beforeAll(async () => void (server = await startServer({ env })));
  afterAll(() => server.stop());

  test.runIf(process.platform === "linux")(
    "threads of V8 and libuv have a lower priority than all other threads of the server",
    async () => {
      const tasks = `/proc/${server.process.pid}/task`;
      const threads = readdirSync(tasks).map((thread) => {
        const [name, fields] = readFileSync(`${tasks}/${thread}/stat`, "utf8").split(/[()]/).slice(1) as [
          string,
          string,
        ];
        return { name, nice: Number(fields.trim().split(" ")[16]) };
      });
      const own = getPriority();
      for (const helper of HELPERS) {
        const behind = threads
          .filter(({ name }) => isHelper(name) && name.endsWith(helper))
          .map(({ nice }) => nice - own);
        expect(new Set(behind)).toEqual(new Set([Math.min(10, 19 - own)]));
      }
      expect(threads.find(({ name }) => !isHelper(name))!.nice).toBe(own);
    },
  );

  test("a port in use ends it with code 1", async () => {
    const run = spawnSync(process.execPath, ["server/main.ts"], {
      cwd: root,
      encoding: "utf8",
      env: {
        ...process.env,
        PLIANT_STORE: "none",
        ...env,
        HOST: "127.0.0.1",
        PORT: String(server.port),
        PLIANT_OPERATIONS_PORT: "0",
      },
      timeout: 120_000,
    });
    expect(run.status).toBe(1);
    expect(run.stdout).toContain("EADDRINUSE");
  });

  test("SIGTERM closes the sockets with 1012 and ends with code 0 within the time limit", () =>
    endsInOrder(server, "SIGTERM"));
});

test("SIGINT does the same", async () => endsInOrder(await started(), "SIGINT"));

test("a signal during the build of a scene does not wait for it", async () => {
  const { url, process: child } = await started();
  const pending = createRoom(url, "sheet", "room").catch((error: unknown) => error);
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  await pending;
});

test.each([
  ["PORT", "eighty", 'PORT is "eighty", but must be an integer from 0 to 65535'],
  ["PLIANT_ROOMS", "3", 'PLIANT_ROOMS is "(not shown)", but must be absent'],
])("%s=%s ends it with code 2 and a reason", (variable, value, message) => {
  const run = spawnSync(process.execPath, ["server/main.ts"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, [variable]: value },
    timeout: 120_000,
  });
  expect(run.status).toBe(2);
  expect(run.stderr).toContain(message);
});

test("a store that is unreachable, or of a newer program, ends it with code 1 and a reason without the password", () => {
  const closed = "postgres://me:hush-hush@127.0.0.1:1/pliant";
  const run = spawnSync(process.execPath, ["server/main.ts"], {
    cwd: root,
    encoding: "utf8",
    timeout: 120_000,
    env: {
      ...process.env,
      ...env,
      HOST: "127.0.0.1",
      PORT: "0",
      PLIANT_STORE: closed,
      PLIANT_TOKEN_SECRET: "0123456789abcdef0123456789abcdef",
    },
  });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(
    /^pliant: the PostgreSQL store postgres:\/\/me:\*\*\*@127\.0\.0\.1:1\/pliant failed: .*ECONNREFUSED.*\n$/,
  );
  expect(run.stdout + run.stderr).not.toContain("hush-hush");
});
