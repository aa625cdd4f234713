/**
 * The server's configuration: every environment variable with its default and limits, in one table that `readConfig`
 * checks. Only `main.ts` calls it with `process.env`; nothing else reads the environment.
 */
import { hinted, nearest } from "../shared/didYouMean.ts";
import { parseTrustProxy, type TrustProxy } from "./trust.ts";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

export interface Config {
  port: number;
  host: string;
  /** Port of operators' routes; null: they are on the visitors' port. */
  operationsPort: number | null;
  operationsHost: string;
  logLevel: string;
  /** Threads that step rooms, shared by all rooms. */
  workers: number;
  /** Most threads that step one room at a time. */
  roomThreads: number;
  /** Tick time above which several threads step a room, ms. */
  heavyMs: number;
  scenesDir: string;
  clientDir: string;
  /** Folder in which `npm run report` writes its page. */
  reportDir: string;
  maxRooms: number;
  maxMembers: number;
  /** Members that one address may have in a room without a token. */
  membersPerAddress: number;
  connectionsPerAddress: number;
  /** Main-thread time that one address may use per second, ms; requests and messages count together. */
  addressBudget: number;
  /** Limit of rooms that have a thread of their own. */
  dedicatedRooms: number;
  /** Open rooms that one address may have created. */
  roomsPerAddress: number;
  /** Rooms that one address may create in a minute. */
  roomsPerMinute: number;
  /** Largest object file that is accepted, MB; 0: uploads are off. */
  objectsFileMb: number;
  /** Most objects that are stored, and their total size, MB. */
  objectsMax: number;
  objectsTotalMb: number;
  /** Objects that one address may have stored. */
  objectsPerAddress: number;
  /** Objects that one address may upload in a minute. */
  objectsPerMinute: number;
  /** An object that no room uses is deleted after this time, h. */
  objectsKeepHours: number;
  /** Scenes in the gallery; 0: owners cannot save any. */
  savedScenesMax: number;
  /** Saved scenes of one address. */
  savedScenesPerAddress: number;
  /** Reading an object may take this long, ms; after that it is refused. */
  objectsDeadlineMs: number;
  /** `open`: every visitor is a player. `tokens`: a visitor needs a token. */
  auth: "open" | "tokens";
  /** Keys for tokens: the first signs, all verify. Empty: the server generates one. */
  tokenSecrets: string[];
  /** The operator's own token; null: only signed tokens make an admin. */
  adminToken: string | null;
  /** A room without members closes after this time, s. */
  emptyRoomSeconds: number;
  /** A member whose socket is lost may resume its session within this time, s. */
  resumeSeconds: number;
  /** A room is quarantined after this many processes in a row died while they took it over. */
  takeoverAttempts: number;
  /**
   * For rooms whose state another version wrote: `quarantine` quarantines the room, `restart` starts its scene again.
   * `watch` does so, too, and for open rooms as soon as a file of their scene is saved.
   */
  otherVersions: "quarantine" | "restart" | "watch";
  /** Quarantined rows of a room are kept for this long, days, and up to this total size, MB. */
  quarantineDays: number;
  quarantineMb: number;
  /** Time that recordings and undo can reach back, s. */
  historySeconds: number;
  /** Frames per second on the wire; the nearest divisor of the scene's tick rate is used. */
  sendHz: number;
  /**
   * CPU time that a thread may spend in a step without progress, ms. After that the step counts as hung: the thread is
   * ended and the room is restored.
   */
  stepDeadlineMs: number;
  /** Building a scene may take this long, ms; after that it fails. */
  buildDeadlineMs: number;
  /** JavaScript heap limit of the thread that builds scenes, MB. */
  buildMemoryMb: number;
  /** Limit to which a room's memory may grow while it runs, MB, if it begins with less. */
  roomMemoryMb: number;
  /** Heap of a thread that steps rooms, MB. The rooms' own memories are not part of it. */
  threadMemoryMb: number;
  /** Pool of a room whose creator did not choose one. */
  roomPool: "shared" | "dedicated";
  /** Scenes to build at start: all (in the background), none, or a list of names (before the server is ready). */
  prewarm: "all" | "none" | string[];
  /**
   * Origins (scheme://host:port) whose pages may open sockets; `*` is any origin, `localhost` any page of this
   * computer. The server's own pages always may; `same` names them.
   */
  origins: string[];
  /** Origins (scheme://host[:port]) whose pages may embed ours and use the HTTP API; `localhost` as above. */
  embedOrigins: string[];
  /** Pages of this computer may do all that listed origins may, for development. */
  localPages: boolean;
  /** Trust X-Forwarded-For and X-Forwarded-Host. Set it only behind a proxy that sets these headers. */
  trustProxy: TrustProxy;
  /** Host names that requests may address: `auto`, `*`, or a list. */
  hosts: string[];
  /** Plain HTTP connections that one address may have open. */
  httpConnectionsPerAddress: number;
  /** Store of the rooms: `sqlite` (a file in `dataDir`), `none` (in memory only), or a postgres:// URL. */
  store: string;
  /** Folder for all files that the server writes. */
  dataDir: string;
  /** PEM files of the TLS certificate and its key; empty: the server speaks plain HTTP. */
  tlsCert: string;
  tlsKey: string;
  /** PEM file of the authorities that sign other processes' certificates; empty: the system's authorities. */
  clusterCa: string;
  /**
   * First the URL at which visitors reach this process, http(s)://host[:port]; then the URLs of the other processes.
   * Empty: not configured.
   */
  publicUrls: string[];
  /**
   * URL at which other processes on the same store reach this one, http(s)://host:port; empty: found when it listens.
   */
  advertiseUrl: string;
  /**
   * Keys that seal messages between processes: the first key seals, all keys open. Empty: derived from the token
   * secrets.
   */
  clusterSecrets: string[];
  /**
   * Rooms go to less busy processes: `on` moves running rooms and places new ones, `place` only new ones, `off` none.
   */
  balance: "on" | "place" | "off";
  /** A shutdown after a signal is aborted after this time, s. */
  shutdownSeconds: number;
}

/** A variable with an invalid value: names the variable, the value and the limit. */
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

/** The repository's root, found from this file's path. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** A variable with its default and its limits, as docs/ENVIRONMENT.md shows them. */
export interface Variable {
  fallback: string;
  /** Empty: any text. */
  limits: string;
}

/** Reads the environment by name: an absent or empty variable takes its default, a value outside its limits throws. */
class Variables {
  readonly #env: Environment;
  readonly known = new Map<string, Variable>();

  constructor(env: Environment) {
    this.#env = env;
  }

  text(name: string, fallback: string, limits = ""): string {
    this.known.set(name, { fallback, limits });
    const value = this.#env[name];
    return value === undefined || value === "" ? fallback : value;
  }

  number(name: string, fallback: number, min: number, max: number, integer = true): number {
    const raw = this.text(name, String(fallback), `${min} to ${max}`);
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
    const value = this.text(name, fallback, choices.join(", ")) as T;
    if (!choices.includes(value)) throw new ConfigError(name, value, `one of ${choices.join(", ")}`);
    return value;
  }

  /** A port, or null for "same". */
  otherPort(name: string, fallback: number): number | null {
    const limits = "same, or 0 to 65535";
    const raw = this.text(name, String(fallback), limits);
    if (raw === "same") return null;
    if (!/^\d{1,5}$/.test(raw) || Number(raw) > 65535) throw new ConfigError(name, raw, limits);
    return Number(raw);
  }

  list(name: string, fallback: string, limits?: string): string[] {
    return this.text(name, fallback, limits)
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

  /** Reads a comma-separated list of keys. The error for a short key does not show the key. */
  secrets(name: string, minBytes: number): string[] {
    const keys = this.list(name, "", `secrets of ${minBytes} bytes or more`);
    const short = keys.find((key) => Buffer.byteLength(key) < minBytes);
    if (short !== undefined)
      throw new ConfigError(
        name,
        `(${Buffer.byteLength(short)} bytes, not shown)`,
        `secrets of at least ${minBytes} bytes each`,
      );
    return keys;
  }

  /** Throws for an unknown PLIANT_ variable, so that a misspelt name is noticed. `PLIANT_DATA` belongs to the tests. */
  refuseOthers(): void {
    for (const name of Object.keys(this.#env)) {
      if (!name.startsWith("PLIANT_") || name === "PLIANT_DATA" || this.known.has(name)) continue;
      const limit = "absent: docs/ENVIRONMENT.md, which lists all variables, has none of this name";
      const meant = nearest(name, [...this.known.keys()], 1 / 3);
      // The value of a misspelt PLIANT_ADMIN_TOKEN is a secret, too.
      throw new ConfigError(name, "(not shown)", hinted(limit, meant));
    }
  }
}

/** Default of the operations port: 1000 above the visitors'; a free one if the visitors' is. */
const operationsPortOf = (port: number): number => (port === 0 ? 0 : port + (port <= 64535 ? 1000 : -1000));

/** Threads, folders and scenes. */
function readServer(env: Variables) {
  // At least two: a heavy room's tick cannot be interrupted, and on a single thread it would delay all rooms' frames.
  const workers = env.number("PLIANT_WORKERS", Math.max(2, availableParallelism() - 1), 1, 256);
  const scenes = env.list("PLIANT_PREWARM", "all");
  const prewarm: Config["prewarm"] =
    scenes.length === 1 && (scenes[0] === "all" || scenes[0] === "none") ? scenes[0] : scenes;
  const port = env.number("PORT", 8080, 0, 65535);
  return {
    port,
    host: env.text("HOST", "0.0.0.0"),
    operationsPort: env.otherPort("PLIANT_OPERATIONS_PORT", operationsPortOf(port)),
    operationsHost: env.text("PLIANT_OPERATIONS_HOST", "127.0.0.1"),
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

/** Access control and the limits of each address. */
function readDoors(env: Variables) {
  const auth = env.choice("PLIANT_AUTH", "open", ["open", "tokens"]);
  // In open mode objects have small limits and are deleted soon after their room.
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
    savedScenesMax: env.number("PLIANT_SAVED_SCENES_MAX", guarded ? 1000 : 200, 0, 10_000),
    savedScenesPerAddress: env.number("PLIANT_SAVED_SCENES_PER_ADDRESS", guarded ? 200 : 20, 1, 10_000),
    objectsDeadlineMs: env.number("PLIANT_OBJECTS_DEADLINE_MS", 30000, 50, 600000),
  };
}

/** Lifetimes of rooms and of their stored data. */
function readRooms(env: Variables) {
  return {
    emptyRoomSeconds: env.number("PLIANT_EMPTY_ROOM_SECONDS", 60, 0, 86400, false),
    resumeSeconds: env.number("PLIANT_RESUME_SECONDS", 30, 0, 3600, false),
    takeoverAttempts: env.number("PLIANT_TAKEOVER_ATTEMPTS", 3, 1, 100),
    otherVersions: env.choice("PLIANT_OTHER_VERSIONS", "quarantine", ["quarantine", "restart", "watch"]),
    quarantineDays: env.number("PLIANT_QUARANTINE_DAYS", 30, 1, 3650, false),
    quarantineMb: env.number("PLIANT_QUARANTINE_MB", 64, 1, 65536),
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

/** Addresses, origins, store and cluster. */
function readNetwork(env: Variables) {
  return {
    origins: env.list("PLIANT_ORIGINS", "same"),
    embedOrigins: env.list("PLIANT_EMBED_ORIGINS", ""),
    localPages: env.choice("PLIANT_LOCAL_PAGES", "off", ["on", "off"]) === "on",
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
  if (config.localPages) for (const origins of [config.origins, config.embedOrigins]) origins.push("localhost");
  env.refuseOthers();
  return config;
}

/** All variables by name, in the order in which they are read. */
export function describeVariables(): ReadonlyMap<string, Variable> {
  const env = new Variables({});
  for (const read of [readServer, readDoors, readRooms, readNetwork]) read(env);
  return env.known;
}

function checkStore(config: Config): void {
  if (!["sqlite", "none"].includes(config.store) && !isPostgresUrl(config.store)) {
    // A malformed URL may contain a password, so it is not shown.
    throw new ConfigError(
      "PLIANT_STORE",
      config.store.includes("@") ? "(not shown)" : config.store,
      "sqlite, none or postgres://user:password@host:port/database",
    );
  }
  if (isPostgresUrl(config.store) && config.tokenSecrets.length === 0) {
    // Without a common secret each process would generate its own, and other processes would refuse an owner's token.
    throw new ConfigError(
      "PLIANT_TOKEN_SECRET",
      "",
      "set, and the same for all processes, because PLIANT_STORE is a database",
    );
  }
}

function checkAddresses(config: Config): void {
  if (config.operationsPort === config.port && config.port !== 0)
    throw new ConfigError("PLIANT_OPERATIONS_PORT", String(config.port), "another port than PORT, or same");
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
        "http(s)://host[:port] of this process, then those of other processes, where *.domain matches all hosts of a domain",
      );
  }
  if ((config.tlsCert === "") !== (config.tlsKey === ""))
    throw new ConfigError("PLIANT_TLS_KEY", config.tlsKey, "set if and only if PLIANT_TLS_CERT is");
  // The characters that an Authorization header allows (RFC 6750 section 2.1).
  if (config.adminToken !== null && !/^[A-Za-z0-9._~+/-]+=*$/.test(config.adminToken))
    throw new ConfigError("PLIANT_ADMIN_TOKEN", "(not shown)", "made of the characters A-Z a-z 0-9 . _ ~ + / -");
}

/** Only in the form that browsers send: another one would match no page, and some are written into a header. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && !text.includes("*") && URL.canParse(text) && new URL(text).origin === text;
}

const isHostName = (text: string): boolean =>
  !text.includes("*") && URL.canParse(`http://${text}`) && new URL(`http://${text}`).hostname === text.toLowerCase();

/** A value that could never match locks visitors out without a word. */
function checkOrigins({ origins, embedOrigins, hosts }: Config): void {
  const origin = "http(s)://host[:port], in lower case, without the scheme's own port";
  const check = (name: string, values: readonly string[], isRight: (value: string) => boolean, limit: string): void => {
    const wrong = values.find((value) => !isRight(value));
    if (wrong !== undefined) throw new ConfigError(name, wrong, `a list of ${limit}`);
  };
  check("PLIANT_ORIGINS", origins, (value) => ["same", "*"].includes(value) || isOrigin(value), `same, * or ${origin}`);
  check("PLIANT_EMBED_ORIGINS", embedOrigins, isOrigin, origin);
  check(
    "PLIANT_HOSTS",
    hosts,
    (value) => ["auto", "*"].includes(value) || isHostName(value),
    "auto, * or names, without port",
  );
}
