/**
 * Makes a clone ready to run: dependencies, the Node runtime, the compiled kernel, the built client. Up-to-date parts
 * are skipped, so a second start costs only a few hashes. Plain JavaScript without dependencies, because Node 20 runs
 * it before anything is installed.
 *
 *   node setup.mjs [--quiet] [--only kernel] [run <file> [arguments]]        --only none: build nothing
 *
 * `run` starts a file with the project's runtime after the build, forwards signals to it, and ends with its exit code.
 * It is a single process below npm, not `setup && npm run serve`: a shell between two commands would end on a SIGTERM
 * that npm forwards, and the server would keep running without a parent.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(root, ...parts);
const modules = at("node_modules");
const bin = join(modules, ".bin");
const windows = process.platform === "win32";
const runtimePath = windows ? join(modules, "node", "bin", "node.exe") : join(bin, "node");

/**
 * Oldest Node that runs the server: it needs to run `.ts` files directly, and `node:sqlite`. The types are of this
 * version (@types/node). The npm package `node` has a newer one, the current LTS.
 */
const NODE_MAJOR = 24;

/**
 * Build steps with their inputs and output. A step runs again when the hash of its inputs changes; `.stamps` holds the
 * hashes.
 */
const STEPS = [
  {
    name: "kernel",
    script: "build:kernel",
    inputs: ["server/kernel", "shared/compileAssembly.mjs"],
    output: "build/kernel.wasm",
  },
  {
    name: "client",
    script: "build:client",
    inputs: ["client", "shared", "vite.config.ts", "tsconfig.json"],
    output: "build/client/index.html",
  },
  {
    name: "sdk",
    script: "build:sdk",
    inputs: ["client/sdk", "client/view", "client/state", "shared", "tsconfig.json", "LICENSE"],
    output: "build/sdk/package.json",
    /** The server does not need it: built only with --only. */
    onDemand: true,
  },
  {
    name: "threads",
    script: "build:threads",
    inputs: ["server", "shared", "scenes/schema.json", "tests/support/run/bundleThreads.ts"],
    output: "build/threads/simWorker.mjs",
    onDemand: true,
  },
];

class SetupError extends Error {}

let quiet = false;
const started = Date.now();
/** Prints progress to stderr, because stdout belongs to the started program. */
const say = (text) => {
  if (!quiet) process.stderr.write(`setup: ${text}\n`);
};
/** Announces a slow step, also with --quiet. */
const announce = (text) => process.stderr.write(`setup: ${text}\n`);

const digest = (data) => createHash("sha256").update(data).digest("hex");
const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
};
const major = (version) => Number(/^v?(\d+)\./.exec(version ?? "")?.[1] ?? 0);

/** PATH without this project's own binaries: npm must not run with the Node that `npm ci` is about to delete. */
const outsidePath = () =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .filter((entry) => entry !== bin && !entry.startsWith(modules + sep))
    .join(delimiter);

/** The machine's own node, first on PATH outside of node_modules; else the one that runs this file. */
function outsideNode() {
  for (const directory of outsidePath().split(delimiter)) {
    const candidate = join(directory, windows ? "node.exe" : "node");
    if (directory && existsSync(candidate)) return candidate;
  }
  return process.execPath;
}

function npm(args, { inside = false, silent = false } = {}) {
  const env = { ...process.env, PATH: inside ? bin + delimiter + outsidePath() : outsidePath() };
  // The caller's npm sets it; an npm that runs in a package's folder must find its own.
  delete env.npm_config_local_prefix;
  const stdio = ["ignore", silent || quiet ? "pipe" : 2, "pipe"];
  const cli = process.env.npm_execpath;
  const result = cli?.endsWith("npm-cli.js")
    ? spawnSync(outsideNode(), [cli, ...args], { cwd: root, env, stdio, encoding: "utf8", maxBuffer: 1 << 26 })
    : spawnSync("npm", args, { cwd: root, env, stdio, encoding: "utf8", maxBuffer: 1 << 26, shell: windows });
  const output = `${result.stdout ?? ""}${result.stderr ?? ""}${result.error ? String(result.error) : ""}`;
  return { ok: result.status === 0, output: output.trim() };
}

const versionOf = (path) => {
  const result = spawnSync(path, ["--version"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
};

/* ---------------------------------------------------------------- install */

const stampPath = join(modules, ".pliant-install.json");
const platform = `${process.platform}-${process.arch}`;
const lockText = () => readFileSync(at("package-lock.json"), "utf8");

/** True if node_modules contains exactly the locked versions by npm's own record, e.g. after a manual `npm install`. */
function installedByHand(lock) {
  const have = readJson(join(modules, ".package-lock.json"))?.packages;
  if (!have) return false;
  const want = Object.entries(lock.packages).filter(([path]) => path !== "");
  return want.every(([path, entry]) =>
    have[path] ? have[path].version === entry.version : entry.optional === true || entry.devOptional === true,
  );
}

function install() {
  const text = lockText();
  const stamp = { lock: digest(text), platform };
  const found = readJson(stampPath);
  if (found?.lock === stamp.lock && found?.platform === stamp.platform) return;
  const foreign = found !== undefined && found.platform !== platform;
  if (foreign || !installedByHand(JSON.parse(text))) {
    announce("installing dependencies (npm ci) ...");
    // Install scripts stay off: only the package `node` needs one, and ensureRuntime runs it by name.
    const result = npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { silent: true });
    if (!result.ok)
      throw new SetupError(
        `npm ci failed. Check the network connection, and that package-lock.json matches package.json.\n${result.output}`,
      );
  }
  writeFileSync(stampPath, JSON.stringify(stamp));
}

/* ---------------------------------------------------------------- runtime */

/** Links node_modules/.bin/node as npm does, in case the package's script ran without npm. */
function linkRuntime() {
  if (windows || !existsSync(join(modules, "node", "bin", "node"))) return;
  mkdirSync(bin, { recursive: true });
  rmSync(runtimePath, { force: true });
  symlinkSync(join("..", "node", "bin", "node"), runtimePath);
}

/** Reason why the package's binary is not usable, or undefined if it is. */
function runtimeFault() {
  if (!existsSync(runtimePath)) return `${relative(root, runtimePath)} does not exist`;
  const version = versionOf(runtimePath);
  if (version === undefined) return `${relative(root, runtimePath)} does not run on this machine (${platform})`;
  return major(version) >= NODE_MAJOR ? undefined : `${relative(root, runtimePath)} is ${version}`;
}

/**
 * Returns the path of a Node that is new enough: the npm package's, installed now if necessary; else the machine's own.
 */
function ensureRuntime() {
  if (runtimeFault() === undefined) return runtimePath;
  const own = outsideNode();
  const ownVersion = versionOf(own);
  const stamp = readJson(stampPath);
  if (ownVersion !== undefined && stamp?.ownNode === ownVersion) return own;
  announce(`fetching the Node runtime (npm package "node") ...`);
  let { ok, output } = npm(["rebuild", "node", "--ignore-scripts=false", "--loglevel=error"], { silent: true });
  let fault = runtimeFault();
  if (ok && fault !== undefined) {
    // npm succeeded but did nothing: it does not run install scripts. Run the package's script directly.
    const env = { ...process.env, PATH: outsidePath() };
    delete env.npm_config_local_prefix;
    const direct = spawnSync(own, ["installArchSpecificPackage.js"], {
      cwd: join(modules, "node"),
      env,
      encoding: "utf8",
    });
    output += `\n${direct.stdout ?? ""}${direct.stderr ?? ""}`;
    linkRuntime();
    fault = runtimeFault();
  }
  if (fault === undefined) return runtimePath;
  if (major(ownVersion) >= NODE_MAJOR) {
    rmSync(runtimePath, { force: true }); // npm's scripts would find a broken link first.
    announce(`${fault}; using this machine's own Node ${ownVersion} instead`);
    // Saves later starts from waiting for the network.
    writeFileSync(stampPath, JSON.stringify({ ...stamp, ownNode: ownVersion }));
    return own;
  }
  throw new SetupError(
    `The server needs Node ${NODE_MAJOR} or newer. This machine's own is ${ownVersion ?? "not runnable"}, and the npm package "node" could not install one: ` +
      `${fault}.\nInstall Node ${NODE_MAJOR} (https://nodejs.org) or let npm reach its registry, then try again.\n${output.trim()}`,
  );
}

/* ---------------------------------------------------------------- build */

function filesBelow(path) {
  if (!existsSync(path)) return [];
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name !== "node_modules")
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** Hash over names and contents of a step's inputs, the locked dependencies and the build command. */
function inputsHash(step) {
  const hash = createHash("sha256");
  hash.update(digest(lockText()));
  hash.update(readJson(at("package.json")).scripts[step.script] ?? "");
  for (const file of step.inputs.flatMap((input) => filesBelow(at(input)))) {
    hash.update(`\0${relative(root, file).split(sep).join("/")}\0`);
    hash.update(readFileSync(file));
  }
  return hash.digest("hex");
}

const stampOf = (step) => at("build", ".stamps", step.name);

function isBuilt({ step, hash }) {
  const stamp = stampOf(step);
  return existsSync(at(step.output)) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash;
}

function build({ step, hash }) {
  say(`building the ${step.name} ...`);
  const from = Date.now();
  const result = npm(["run", "--silent", step.script], { inside: true, silent: true });
  if (!result.ok) throw new SetupError(`npm run ${step.script} failed:\n${result.output}`);
  if (!existsSync(at(step.output)))
    throw new SetupError(`npm run ${step.script} succeeded but did not create ${step.output}:\n${result.output}`);
  mkdirSync(dirname(stampOf(step)), { recursive: true });
  writeFileSync(stampOf(step), hash);
  say(`built the ${step.name} in ${((Date.now() - from) / 1000).toFixed(1)} s`);
}

/* ---------------------------------------------------------------- one setup at a time */

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * Makes concurrent setups wait for each other, e.g. `npm start` and `npm test` in two terminals. Otherwise they would
 * delete each other's node_modules.
 */
function exclusively(work) {
  const lock = at("build", ".setup-lock");
  const owner = join(lock, "pid");
  mkdirSync(at("build"), { recursive: true });
  for (let waited = 0; ; waited++) {
    try {
      mkdirSync(lock);
      writeFileSync(owner, String(process.pid));
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const pid = Number(existsSync(owner) ? readFileSync(owner, "utf8") : 0);
      // No pid after two seconds, or a dead process: the lock is left over from a killed setup.
      if (pid ? !alive(pid) : waited > 20) rmSync(lock, { recursive: true, force: true });
      else if (waited === 10) announce(`waiting for another setup (process ${pid}) to finish ...`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
  const release = () => rmSync(lock, { recursive: true, force: true });
  process.once("exit", release);
  try {
    return work();
  } finally {
    release();
    process.off("exit", release);
  }
}

/* ---------------------------------------------------------------- run */

const SERVER = "server/main.ts";

/** Ends this program with the server's exit code if the server refuses its environment: before the builds. */
function checkEnvironment(runtime) {
  const { status } = spawnSync(runtime, [SERVER, "--check"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) process.exit(status ?? 1);
}

function run(runtime, args) {
  const child = spawn(runtime, args, {
    cwd: root,
    stdio: "inherit",
    // A start compiles a thousand modules: half of its CPU time without the cache.
    env: {
      NODE_COMPILE_CACHE: at("build", "cache", "compiled"),
      ...process.env,
      PATH: bin + delimiter + outsidePath(),
    },
  });
  const forward = (signal) => child.kill(signal);
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"];
  for (const signal of signals) process.on(signal, forward);
  child.on("error", (error) => {
    announce(`could not start ${runtime}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
    for (const name of signals) process.off(name, forward);
  });
}

function main(argv) {
  let steps = STEPS.filter((step) => !step.onDemand);
  let command;
  while (argv.length > 0 && command === undefined) {
    const word = argv.shift();
    if (word === "--quiet") quiet = true;
    else if (word === "--only") {
      const names = (argv.shift() ?? "").split(",");
      steps = STEPS.filter((step) => names.includes(step.name));
    } else if (word === "run" && argv.length > 0) command = argv;
    else
      throw new SetupError(
        `unknown argument "${word}". Usage: node setup.mjs [--quiet] [--only kernel] [run <file> [arguments]]`,
      );
  }
  const runtime = exclusively(() => {
    install();
    const found = ensureRuntime();
    const due = steps.map((step) => ({ step, hash: inputsHash(step) })).filter((one) => !isBuilt(one));
    if (due.length > 0 && command?.includes(SERVER)) checkEnvironment(found);
    for (const one of due) build(one);
    return found;
  });
  say(`ready in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (command !== undefined) run(runtime, command);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`setup: ${error.message}\n`);
  process.exitCode = 1;
}
