/**
 * The server's configuration. One table lists every environment variable with its default and limits, and `readConfig`
 * checks it. Only `main.ts` calls `readConfig` with `process.env`; no other file reads the environment.
 */
import { parseTrustProxy, type TrustProxy } from "./trust.ts";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

export interface Config {
  port: number;
  host: string;
  logLevel: string;
  /** Number of threads that step rooms, shared by all rooms. */
  workers: number;
  /** Maximum number of these threads that step one room at a time. */
  roomThreads: number;
  /** Tick time above which several threads step a room, ms. */
  heavyMs: number;
  scenesDir: string;
  clientDir: string;
  /** Output folder of `npm run report`. */
  reportDir: string;
  maxRooms: number;
  maxMembers: number;
  /** Members that one address may have in a room without a token. */
  membersPerAddress: number;
  connectionsPerAddress: number;
  /** Main-thread time that one address may use per second, by requests and messages together, ms. */
  addressBudget: number;
  /** Limit of rooms that have a thread of their own. */
  dedicatedRooms: number;
  /** Open rooms that one address may have created. */
  roomsPerAddress: number;
  /** Rooms that one address may create per minute. */
  roomsPerMinute: number;
  /** Largest object file that the server accepts, MB; 0 disables uploads. */
  objectsFileMb: number;
  /** Limits of the stored objects: count, and total size in MB. */
  objectsMax: number;
  objectsTotalMb: number;
  /** Stored objects that one address may have. */
  objectsPerAddress: number;
  /** Objects that one address may upload per minute. */
  objectsPerMinute: number;
  /** Retention time of an object that no room uses, h. */
  objectsKeepHours: number;
  /** Time limit for reading an object, ms; slower objects are refused. */
  objectsDeadlineMs: number;
  /** `open`: every visitor is a player. `tokens`: entering needs a token. */
  auth: "open" | "tokens";
  /** Keys of the join tokens: the first signs, all verify. If empty, the server generates one. */
  tokenSecrets: string[];
  /** The operator's own token; null: only a signed token can make an admin. */
  adminToken: string | null;
  /** Time after which an empty room closes, s. */
  emptyRoomSeconds: number;
  /** Time that a member has to come back after losing its socket, s. */
  resumeSeconds: number;
  /** Number of consecutive processes that may crash after taking a room over. Then the room is quarantined. */
  adoptionAttempts: number;
  /** Policy for a room that another version of program or scene stepped: quarantine it, or restart its scene. */
  otherVersions: "park" | "restart";
  /** Retention time of quarantined room data, days, and its size limit per room, MB. */
  setAsideDays: number;
  setAsideMb: number;
  /** Length of a room's history, s. It limits recordings and undo. */
  historySeconds: number;
  /** Frames per second on the wire. The server uses the nearest divisor of the scene's tick rate. */
  sendHz: number;
  /**
   * CPU time limit of a step without progress, ms. Beyond it, the step counts as hung: its thread is ended and the room
   * is restored.
   */
  stepDeadlineMs: number;
  /** Time limit for building a scene, ms. */
  buildDeadlineMs: number;
  /** JavaScript heap limit of the thread that builds scenes, MB. */
  buildMemoryMb: number;
  /** Size to which a running room's memory may grow, MB, unless it starts larger. */
  roomMemoryMb: number;
  /** JavaScript heap limit of a thread that steps rooms, MB, without the rooms' WebAssembly memories. */
  threadMemoryMb: number;
  /** Default pool of a room. */
  roomPool: "shared" | "dedicated";
  /** Scenes to build at startup: all, none or a list. */
  prewarm: "all" | "none" | string[];
  /** Origins (scheme://host:port) whose pages may open sockets; `same` is the server's own host, `*` any origin. */
  origins: string[];
  /** Origins (scheme://host[:port]) whose pages may embed our pages in frames and use the HTTP API; empty: none. */
  embedOrigins: string[];
  /** Trust X-Forwarded-For and X-Forwarded-Host. Use it only behind a proxy that sets them. */
  trustProxy: TrustProxy;
  /** Host names that this server accepts in requests: `auto`, `*`, or a list. */
  hosts: string[];
  /** Plain HTTP connections that one address may hold. */
  httpConnectionsPerAddress: number;
  /** Store of the rooms: `sqlite` (a file in `dataDir`), `none` (memory only), or a postgres:// URL. */
  store: string;
  /** Folder for the files that the server writes. */
  dataDir: string;
  /** PEM files of the TLS certificate and its key; empty: the server speaks plain HTTP. */
  tlsCert: string;
  tlsKey: string;
  /** PEM file of the authorities that sign the other processes' certificates; empty: the system's authorities. */
  clusterCa: string;
  /**
   * Public addresses, http(s)://host[:port]: first this process's, then those of the other processes. Empty: visitors
   * may use any address.
   */
  publicUrls: string[];
  /**
   * Address of this process for the other processes on the same store, http(s)://host:port; empty: found when it
   * listens.
   */
  advertiseUrl: string;
  /**
   * Keys that encrypt the requests and messages forwarded between processes: the first encrypts, all decrypt. Empty:
   * derived from the token secrets.
   */
  clusterSecrets: string[];
  /** Balancing over the processes: `on` moves running and new rooms, `place` only new ones, `off` none. */
  balance: "on" | "place" | "off";
  /** Time limit of a shutdown after a signal, s. */
  shutdownSeconds: number;
}

/** An invalid variable. The message names it, its value and its limit. */
export class ConfigError extends Error {
  readonly variable: string;
  readonly value: string;
  readonly limit: string;

  constructor(variable: string, value: string, limit: string) {
    super(`${variable} is ${JSON.stringify(value)}, but must be ${limit}`);
    this.name = "ConfigError";
    this.variable = variable;
    this.value = value;
    this.limit = limit;
  }
}

function isPostgresUrl(value: string): boolean {
  return URL.canParse(value) && ["postgres:", "postgresql:"].includes(new URL(value).protocol);
}

type Environment = Record<string, string | undefined>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** Root of the repository, relative to this file. */
const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Reads environment variables by name. An absent or empty variable takes its default; one outside its limits throws.
 */
class Variables {
  readonly #env: Environment;
  readonly #known = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  text(name: string, fallback: string): string {
    this.#known.add(name);
    const value = this.#env[name];
    return value === undefined || value === "" ? fallback : value;
  }

  number(name: string, fallback: number, min: number, max: number, integer = true): number {
    const raw = this.text(name, String(fallback));
    const value = Number(raw);
    if (
      raw.trim() === "" ||
      !Number.isFinite(value) ||
      value < min ||
      value > max ||
      (integer && !Number.isInteger(value))
    ) {
      throw new ConfigError(name, raw, `${integer ? "an integer" : "a number"} from ${min} to ${max}`);
    }
    return value;
  }

  choice<T extends string>(name: string, fallback: T, choices: readonly T[]): T {
    const value = this.text(name, fallback) as T;
    if (!choices.includes(value)) throw new ConfigError(name, value, `one of ${choices.join(", ")}`);
    return value;
  }

  list(name: string, fallback: string): string[] {
    return this.text(name, fallback)
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }

  trust(name: string, fallback: string): TrustProxy {
    const trusted = parseTrustProxy(this.text(name, fallback));
    if (trusted === null) {
      const limit =
        "false, the number of proxies in front (1 to 16; the nearest one sets X-Forwarded-For), or a list of their addresses (CIDR)";
      throw new ConfigError(name, this.text(name, fallback), limit);
    }
    return trusted;
  }

  /** Reads comma-separated keys. Errors do not show the key. */
  secrets(name: string, minBytes: number): string[] {
    const keys = this.list(name, "");
    const short = keys.find((key) => Buffer.byteLength(key) < minBytes);
    if (short !== undefined)
      throw new ConfigError(
        name,
        `(${Buffer.byteLength(short)} bytes, not shown)`,
        `secrets of at least ${minBytes} bytes each`,
      );
    return keys;
  }

  /** Refuses unknown PLIANT_ variables, because a misspelled one would have no effect. Tests use `PLIANT_DATA`. */
  refuseOthers(): void {
    for (const name of Object.keys(this.#env)) {
      if (!name.startsWith("PLIANT_") || name === "PLIANT_DATA" || this.#known.has(name)) continue;
      const limit = `absent: no such variable exists. Known variables: ${[...this.#known].join(", ")}`;
      throw new ConfigError(name, this.#env[name] ?? "", limit);
    }
  }
}

/** Reads settings of threads, folders and scenes. */
function readServer(env: Variables) {
  // At least two threads: the ticks of a heavy room cannot be interrupted, and on a single thread they would delay all
  // frames.
  const workers = env.number("PLIANT_WORKERS", Math.max(2, availableParallelism() - 1), 1, 256);
  const scenes = env.list("PLIANT_PREWARM", "all");
  const prewarm: Config["prewarm"] =
    scenes.length === 1 && (scenes[0] === "all" || scenes[0] === "none") ? scenes[0] : scenes;
  return {
    port: env.number("PORT", 8080, 0, 65535),
    host: env.text("HOST", "0.0.0.0"),
    logLevel: env.choice("LOG_LEVEL", "info", LOG_LEVELS),
    workers,
    roomThreads: env.number("PLIANT_ROOM_THREADS", Math.min(workers, 16), 1, 16),
    heavyMs: env.number("PLIANT_HEAVY_MS", 4, 0.1, 1000, false),
    scenesDir: env.text("PLIANT_SCENES_DIR", `${root}scenes`),
    clientDir: env.text("PLIANT_CLIENT_DIR", `${root}build/client`),
    reportDir: env.text("PLIANT_REPORT_DIR", `${root}build/report`),
    maxRooms: env.number("PLIANT_MAX_ROOMS", 64, 1, 10000),
    maxMembers: env.number("PLIANT_MAX_MEMBERS", 64, 1, 10000),
    membersPerAddress: env.number("PLIANT_MEMBERS_PER_ADDRESS", 48, 1, 10000),
    roomsPerAddress: env.number("PLIANT_ROOMS_PER_ADDRESS", 32, 1, 10000),
    roomsPerMinute: env.number("PLIANT_ROOMS_PER_MINUTE", 30, 1, 100000),
    prewarm,
  };
}

/** Reads settings of access and of limits per address. */
function readDoors(env: Variables) {
  const auth = env.choice("PLIANT_AUTH", "open", ["open", "tokens"]);
  // On an open server uploads are small and do not outlive their rooms.
  const guarded = auth === "tokens";
  return {
    auth,
    tokenSecrets: env.secrets("PLIANT_TOKEN_SECRET", 32),
    adminToken: env.secrets("PLIANT_ADMIN_TOKEN", 16)[0] ?? null,
    connectionsPerAddress: env.number("PLIANT_CONNECTIONS_PER_ADDRESS", 64, 1, 100000),
    addressBudget: env.number("PLIANT_ADDRESS_BUDGET", 200, 1, 1000000),
    dedicatedRooms: env.number("PLIANT_DEDICATED_ROOMS", 4, 0, 1000),
    objectsFileMb: env.number("PLIANT_OBJECTS_FILE_MB", guarded ? 64 : 16, 0, 64, false),
    objectsMax: env.number("PLIANT_OBJECTS_MAX", guarded ? 1000 : 200, 0, 1_000_000),
    objectsTotalMb: env.number("PLIANT_OBJECTS_TOTAL_MB", guarded ? 4096 : 512, 0, 1_000_000),
    objectsPerAddress: env.number("PLIANT_OBJECTS_PER_ADDRESS", guarded ? 200 : 20, 1, 1_000_000),
    objectsPerMinute: env.number("PLIANT_OBJECTS_PER_MINUTE", 10, 1, 10000),
    objectsKeepHours: env.number("PLIANT_OBJECTS_KEEP_HOURS", guarded ? 720 : 1, 0.1, 87_600, false),
    objectsDeadlineMs: env.number("PLIANT_OBJECTS_DEADLINE_MS", 30000, 50, 600000),
  };
}

/** Reads lifetimes and limits of rooms. */
function readRooms(env: Variables) {
  return {
    emptyRoomSeconds: env.number("PLIANT_EMPTY_ROOM_SECONDS", 60, 0, 86400, false),
    resumeSeconds: env.number("PLIANT_RESUME_SECONDS", 30, 0, 3600, false),
    adoptionAttempts: env.number("PLIANT_ADOPTION_ATTEMPTS", 3, 1, 100),
    otherVersions: env.choice("PLIANT_OTHER_VERSIONS", "park", ["park", "restart"]),
    setAsideDays: env.number("PLIANT_SET_ASIDE_DAYS", 30, 1, 3650, false),
    setAsideMb: env.number("PLIANT_SET_ASIDE_MB", 64, 1, 65536),
    historySeconds: env.number("PLIANT_HISTORY_SECONDS", 120, 0, 3600),
    sendHz: env.number("PLIANT_SEND_HZ", 30, 1, 240),
    stepDeadlineMs: env.number("PLIANT_STEP_DEADLINE_MS", 5000, 50, 600000),
    buildDeadlineMs: env.number("PLIANT_BUILD_DEADLINE_MS", 120000, 50, 3600000),
    roomMemoryMb: env.number("PLIANT_ROOM_MEMORY_MB", 512, 16, 2047),
    threadMemoryMb: env.number("PLIANT_THREAD_MEMORY_MB", 1024, 16, 65536),
    buildMemoryMb: env.number("PLIANT_BUILD_MEMORY_MB", 2048, 16, 65536),
    roomPool: env.choice("PLIANT_ROOM_POOL", "shared", ["shared", "dedicated"]),
  };
}

/** Reads addresses, origins, the store and the cluster. */
function readNetwork(env: Variables) {
  return {
    origins: env.list("PLIANT_ORIGINS", "same"),
    embedOrigins: env.list("PLIANT_EMBED_ORIGINS", ""),
    trustProxy: env.trust("PLIANT_TRUST_PROXY", "false"),
    hosts: env.list("PLIANT_HOSTS", "auto"),
    httpConnectionsPerAddress: env.number("PLIANT_HTTP_CONNECTIONS_PER_ADDRESS", 512, 1, 100000),
    store: env.text("PLIANT_STORE", "sqlite"),
    dataDir: env.text("PLIANT_DATA_DIR", "data"),
    tlsCert: env.text("PLIANT_TLS_CERT", ""),
    tlsKey: env.text("PLIANT_TLS_KEY", ""),
    clusterCa: env.text("PLIANT_CLUSTER_CA", ""),
    publicUrls: env.list("PLIANT_PUBLIC_URL", ""),
    advertiseUrl: env.text("PLIANT_ADVERTISE_URL", ""),
    clusterSecrets: env.secrets("PLIANT_CLUSTER_SECRET", 32),
    balance: env.choice("PLIANT_BALANCE", "on", ["on", "place", "off"]),
    shutdownSeconds: env.number("PLIANT_SHUTDOWN_SECONDS", 20, 1, 600),
  };
}

/**
 * Reads and checks the environment.
 * @param environment variables by name; an absent or empty one takes its default
 * @throws ConfigError for the first variable outside its limits, and for a PLIANT_ variable that does not exist
 */
export function readConfig(environment: Environment): Config {
  const env = new Variables(environment);
  const config: Config = { ...readServer(env), ...readDoors(env), ...readRooms(env), ...readNetwork(env) };
  checkStore(config);
  checkAddresses(config);
  checkOrigins(config);
  env.refuseOthers();
  return config;
}

function checkStore(config: Config): void {
  if (!["sqlite", "none"].includes(config.store) && !isPostgresUrl(config.store)) {
    // A misspelled URL may contain a password.
    throw new ConfigError(
      "PLIANT_STORE",
      config.store.includes("@") ? "(not shown)" : config.store,
      "sqlite, none or postgres://user:password@host:port/database",
    );
  }
  if (isPostgresUrl(config.store) && config.tokenSecrets.length === 0) {
    // Each process would generate its own key, so a token from one process would be invalid at the others.
    throw new ConfigError(
      "PLIANT_TOKEN_SECRET",
      "",
      "set, and the same for all processes, because PLIANT_STORE is a database",
    );
  }
}

function checkAddresses(config: Config): void {
  if (
    config.advertiseUrl !== "" &&
    !(URL.canParse(config.advertiseUrl) && /^https?:$/.test(new URL(config.advertiseUrl).protocol))
  ) {
    throw new ConfigError(
      "PLIANT_ADVERTISE_URL",
      config.advertiseUrl,
      "http://host:port or https://host:port, where the other processes reach this one",
    );
  }
  for (const [i, url] of config.publicUrls.entries()) {
    if (!/^https?:\/\/(\*\.)?[^/*\s;]+$/.test(url) || (i === 0 && url.includes("*")))
      throw new ConfigError(
        "PLIANT_PUBLIC_URL",
        url,
        "http(s)://host[:port] of this process, then those of the others, where *.domain matches many",
      );
  }
  if ((config.tlsCert === "") !== (config.tlsKey === ""))
    throw new ConfigError("PLIANT_TLS_KEY", config.tlsKey, "set if and only if PLIANT_TLS_CERT is");
  // Characters that an Authorization header allows (RFC 6750 section 2.1).
  if (config.adminToken !== null && !/^[A-Za-z0-9._~+/-]+=*$/.test(config.adminToken))
    throw new ConfigError("PLIANT_ADMIN_TOKEN", "(not shown)", "of A-Z a-z 0-9 . _ ~ + / - only");
}

function checkOrigins(config: Config): void {
  for (const origin of config.origins) {
    if (origin !== "same" && origin !== "*" && !/^https?:\/\/[^/]+$/.test(origin)) {
      throw new ConfigError("PLIANT_ORIGINS", origin, "a list of same, * or scheme://host[:port]");
    }
  }
  for (const origin of config.embedOrigins) {
    // The origin goes into a header, so it must have exactly the form that browsers send.
    if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin || origin.includes("*"))
      throw new ConfigError("PLIANT_EMBED_ORIGINS", origin, "a list of http(s)://host[:port], in lower case");
  }
}
