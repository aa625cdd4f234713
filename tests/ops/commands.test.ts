/**
 * The commands of README.md and docs/USING.md in a fresh copy of the repository, with the machine's own Node and npm.
 * `npm run simulate` installs and builds its requirements. `npm start` builds the rest and serves, ends cleanly on a
 * signal to npm, and repeats nothing. A machine that cannot get the runtime gets an error with the reason. In `npm
 * test` the copy uses this checkout's packages and kernel, which CI has just installed and built in a fresh clone by
 * the same setup.mjs.
 */
import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { freePort, waitForOk } from "../../load-tests/measuredServer.ts";
import { repositoryFiles } from "../architecture/sources.ts";
import { inLong } from "../support/run/long.ts";
import { testFolder } from "../support/testFolder.ts";

const folder = testFolder("clone");
const clone = join(folder, "pliant");

/**
 * The environment of a user's shell, without variables of the npm that runs these tests, and without its runtime on
 * PATH.
 */
function shellEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([key]) =>
      !/^(npm_|INIT_CWD$|VITEST|NODE_ENV$|TEST)/i.test(key) ||
      /^npm_config_(registry|cache|userconfig|globalconfig)$/i.test(key),
  );
  const path = (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.includes("node_modules"));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), npm_config_prefer_offline: "true", ...extra };
}

interface Start {
  npm: ChildProcess;
  url: string;
  /** Origin of the operations port. */
  operators: string;
  output(): string;
  ended: Promise<number | null>;
}

async function npmStart(): Promise<Start> {
  const [port, operationsPort] = [await freePort(), await freePort()];
  const ports = { PORT: String(port), PLIANT_OPERATIONS_PORT: String(operationsPort) };
  const npm = spawn("npm", ["start"], {
    cwd: clone,
    env: shellEnvironment({ ...ports, HOST: "127.0.0.1", PLIANT_PREWARM: "none" }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [npm.stdout, npm.stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => npm.once("exit", (code) => resolve(code)));
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitForOk(`${url}/healthz`, 240_000, () =>
      npm.exitCode === null ? undefined : `npm start ended with code ${npm.exitCode}`,
    );
  } catch (error) {
    npm.kill("SIGTERM");
    throw new Error(`${(error as Error).message}\n${text}`);
  }
  return { npm, url, operators: `http://127.0.0.1:${operationsPort}`, output: () => text, ended };
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

const FRESH = inLong(true, false);

/** Packages that a test may delete are copied; all others are links. */
function borrowPackages(): void {
  const copied = ["node", ".bin", ".package-lock.json", ".pliant-install.json"];
  mkdirSync(join(clone, "node_modules"));
  for (const name of readdirSync("node_modules")) {
    const [from, to] = [resolve("node_modules", name), join(clone, "node_modules", name)];
    if (copied.includes(name)) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
}

beforeAll(() => {
  for (const path of repositoryFiles()) {
    mkdirSync(join(clone, dirname(path)), { recursive: true });
    cpSync(path, join(clone, path));
  }
  if (FRESH) return;
  borrowPackages();
  for (const path of ["build/kernel.wasm", "build/.stamps/kernel"]) cpSync(path, join(clone, path));
});

const DOES = FRESH ? "installs, builds the kernel, and nothing else," : "installs and builds nothing that is there,";
test(`npm run simulate in a fresh clone ${DOES} and prints the state hash`, { timeout: 300_000 }, () => {
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["run", "--silent", "simulate", "--", "scenes/jelly-stack.json", "--ticks", "5"],
    { cwd: clone, env: shellEnvironment(), encoding: "utf8" },
  );
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/hash\W+[0-9a-f]{16}/i);
  if (FRESH) expect(stderr).toMatch(/installing dependencies/);
  else expect(stderr).not.toMatch(/installing|building/);
  expect(existsSync(join(clone, "build/kernel.wasm"))).toBe(true);
  expect(existsSync(join(clone, "build/client"))).toBe(false);
});

test("npm start refuses a wrong environment before it builds anything, and shows no value of an unknown variable", () => {
  const env = shellEnvironment({ PLIANT_ADMIN_TOKN: "hush-hush-hush-hush" });
  const { status, stdout, stderr } = spawnSync("npm", ["start"], { cwd: clone, env, encoding: "utf8" });
  expect(status).toBe(2);
  expect(stderr).toMatch(/PLIANT_ADMIN_TOKN .* did you mean PLIANT_ADMIN_TOKEN\?/);
  expect(stdout + stderr).not.toMatch(/building|hush/);
  expect(existsSync(join(clone, "build/client"))).toBe(false);
});

test("npm start builds missing parts, serves the page, and ends cleanly when npm gets SIGTERM", {
  timeout: 300_000,
}, async () => {
  const { npm, url, operators, output, ended } = await npmStart();
  expect(output()).toMatch(/building the client/);
  expect(output()).not.toMatch(/installing dependencies|building the kernel/);
  const page = await fetch(url);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toContain("text/html");
  await vi.waitUntil(() => output().includes(`Pliant is ready on ${url}, for operators on ${operators}/admin`), 60_000);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  for (const path of ["/metrics", "/admin", "/docs/json"])
    expect([path, (await fetch(operators + path)).status]).toEqual([path, 200]);
  npm.kill("SIGTERM");
  expect(await ended, output()).toBe(0);
  expect(await answers(url)).toBe(false);
  expect(await answers(operators)).toBe(false);
});

test("a second start builds nothing, and SIGINT ends it as cleanly", async () => {
  const { npm, url, output, ended } = await npmStart();
  expect(output()).not.toMatch(/installing|building|fetching/);
  npm.kill("SIGINT");
  expect(await ended, output()).toBe(0);
  expect(await answers(url)).toBe(false);
});

test("setup keeps the result of a manual npm install, and renews its own note", () => {
  const stamp = join(clone, "node_modules/.pliant-install.json");
  rmSync(stamp);
  const { status, stderr } = spawnSync("node", ["setup.mjs", "--only", "kernel"], {
    cwd: clone,
    env: shellEnvironment(),
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  expect(stderr).not.toMatch(/installing/);
  expect(existsSync(stamp)).toBe(true);
});

test("an argument that setup does not know is refused", () => {
  const { status, stderr } = spawnSync("node", ["setup.mjs", "--fast"], {
    cwd: clone,
    env: shellEnvironment(),
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toContain('unknown argument "--fast"');
});

test("if setup cannot get the runtime, it uses the machine's own Node if that is suitable, and otherwise explains what to do", () => {
  const env = shellEnvironment({
    npm_config_registry: "http://127.0.0.1:9",
    npm_config_cache: join(folder, "empty-cache"),
    npm_config_fetch_retries: "0",
  });
  const own = Number(spawnSync("node", ["--version"], { env, encoding: "utf8" }).stdout.slice(1).split(".")[0]);
  rmSync(join(clone, "node_modules/node/bin"), { recursive: true });
  rmSync(join(clone, "node_modules/node/node_modules"), { recursive: true, force: true });
  const { status, stderr } = spawnSync("node", ["setup.mjs", "--only", "kernel"], {
    cwd: clone,
    env,
    encoding: "utf8",
  });
  const needed = Number(/^const NODE_MAJOR = (\d+);$/m.exec(readFileSync(join(clone, "setup.mjs"), "utf8"))![1]);
  expect(status, stderr).toBe(own >= needed ? 0 : 1);
  expect(stderr).toContain(
    own >= needed ? "using this machine's own Node" : `The server needs Node ${needed} or newer`,
  );
});
