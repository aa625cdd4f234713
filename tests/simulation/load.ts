/**
 * Loads the server's modules for a virtual machine. They are bundled once and evaluated for each machine with its own
 * clock, timers, random numbers and disk in place of the globals and of Node's modules. The server has no code for
 * this. Loading fails if a module imports anything that is not listed below, because a history must depend on its seed
 * only.
 *
 * Five modules are replaced. openStore.ts opens the virtual store, and threadCalls.ts calls it over a virtual
 * connection (line.ts). processName.ts knows virtual processes. processClock.ts compares clocks of threads, which do
 * not exist here. balanceRules.ts has shorter times.
 *
 * A mutation changes the text of one module on its way into the bundle.
 */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { build, type Plugin } from "vite";
import type { Globals } from "./globals.ts";
import type { Fault } from "./plan.ts";

export type Program = typeof import("./processProgram.ts");

export interface Mutation {
  name: string;
  /** Path from the repository's root. */
  file: string;
  /** Occurs once. */
  find: string;
  replace: string;
  /** Faults that reveal it, if all faults together rarely do. */
  faults?: readonly Fault[];
  /** First of a thousand histories, one of which reveals it; default: 1. */
  seed?: number;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const entry = fileURLToPath(new URL("./processProgram.ts", import.meta.url));
const requireHere = createRequire(import.meta.url);

const REPLACED: Record<string, string> = {
  "server/cluster/balanceRules.ts": `export const BALANCE = { busy: 0.15, calm: 0.05, gap: 0.1, placeGap: 0.05, leastShare: 0.01,
    sustainedMs: 300, pauseMs: 500, atOnce: 2, residenceMs: 500, offerSeconds: 1, newRoomShare: 0.05 };`,
  "server/store/openStore.ts": `import { SqliteStore } from ${JSON.stringify("./sqlite/sqliteStore.ts")};
    export const openStore = async () => new SqliteStore({ path: "virtual", leaseSeconds: $host.leaseSeconds() });`,
  "server/store/sqlite/threadCalls.ts": `export class Caller {
      #revive;
      constructor(file, workerData, revive) { this.#revive = revive; }
      call(method, args) { return $host.call(method, args, this.#revive); }
      async end() {}
    }`,
  "server/store/processName.ts": `export const bootId = "virtual";
    export const processName = () => $host.processName();
    export const isCertainlyDead = (name) => $host.isCertainlyDead(name);`,
  "server/workers/processClock.ts": "export const toProcessMs = (ms) => ms; export const fromProcessMs = (ms) => ms;",
};

/** Modules that depend only on their arguments. The machine provides node:crypto and node:zlib. */
const HARMLESS = new Set([
  "@msgpack/msgpack",
  "node:diagnostics_channel",
  "node:net",
  "node:util",
  // Imported by modules in the bundle, but never called.
  "node:fs",
  "node:os",
  "node:path",
  "node:sqlite",
  "node:worker_threads",
  "jose",
  "prom-client",
  "unhomoglyph",
]);

/** Names that the bundle takes from its machine instead of from the global object. */
const GLOBALS = [
  "performance",
  "Date",
  "Math",
  "process",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "clearInterval",
  "clearImmediate",
] as const;

function substitutions(mutations: readonly Mutation[]): Plugin {
  const found = new Set<Mutation>();
  return {
    name: "virtual-machine",
    enforce: "pre",
    load(id) {
      const path = id.startsWith(root) ? id.slice(root.length) : id;
      return REPLACED[path] ?? null;
    },
    transform(code, id) {
      let text = code;
      for (const mutation of mutations) {
        if (id !== root + mutation.file) continue;
        if (text.split(mutation.find).length !== 2)
          throw new Error(`mutation "${mutation.name}": its text must occur exactly once in ${mutation.file}`);
        text = text.replace(mutation.find, () => mutation.replace);
        found.add(mutation);
      }
      return text === code ? null : text;
    },
    buildEnd(error) {
      if (error) return;
      const missing = mutations.find((mutation) => !found.has(mutation));
      if (missing) throw new Error(`mutation "${missing.name}": ${missing.file} is not loaded`);
    },
  };
}

async function bundle(mutations: readonly Mutation[]): Promise<string> {
  const result = await build({
    configFile: false,
    root,
    logLevel: "error",
    plugins: [substitutions(mutations)],
    define: { "import.meta.url": JSON.stringify("file:///virtual/server.ts") },
    ssr: { noExternal: [] },
    build: {
      ssr: entry,
      write: false,
      minify: false,
      target: "esnext",
      rolldownOptions: { output: { format: "cjs" } },
    },
  });
  const [output] = (Array.isArray(result) ? result[0]! : (result as { output: { code?: string }[] })).output as {
    code?: string;
  }[];
  return output!.code!;
}

/** The program's text, and the function that evaluates it for one machine. */
export interface Loaded {
  /** Hash of the text, hexadecimal. */
  hash: string;
  load: (globals: Globals) => Program;
}

export async function loadProgram(mutations: readonly Mutation[] = []): Promise<Loaded> {
  const code = await bundle(mutations);
  const script = new Script(`(function (exports, require, $host, ${GLOBALS.join(", ")}) {${code}\n})`, {
    filename: "simulated-server.cjs",
  });
  const load = (globals: Globals): Program => {
    const exports = {};
    const requireFor = (name: string): unknown => {
      const own = globals.modules[name];
      if (own !== undefined) return own;
      if (!HARMLESS.has(name)) throw new Error(`a simulated server must not load ${name}`);
      return requireHere(name);
    };
    const evaluate = script.runInThisContext() as (...given: unknown[]) => void;
    evaluate(exports, requireFor, globals.host, ...GLOBALS.map((name) => globals[name]));
    return exports as Program;
  };
  return { hash: createHash("sha256").update(code).digest("hex").slice(0, 16), load };
}
