/**
 * docs/ENVIRONMENT.md: every environment variable, with default and limits from server/config.ts. `node
 * tests/server/writeEnvironment.ts` rewrites it.
 */
import { describeVariables, type Variable } from "../../server/config.ts";

export const ENVIRONMENT_PAGE = "docs/ENVIRONMENT.md";

const HEAD = `# Environment variables

\`server/config.ts\` reads all of them. A value that the server cannot use ends the start with code 2 and names variable, value and limit. \`node tests/server/writeEnvironment.ts\` writes this page from \`config.ts\`; a test compares them.

| variable | default | limits | meaning |
| --- | --- | --- | --- |
`;

interface Row extends Partial<Variable> {
  meaning: string;
}

/**
 * Meanings, in the order of the page. `fallback`: for a default that config.ts computes. `limits`: for a text that
 * config.ts checks as a whole.
 */
export const ROWS: Readonly<Record<string, Row>> = {
  PORT: { meaning: "0 takes a free port" },
  HOST: { meaning: "address to listen on" },
  PLIANT_OPERATIONS_PORT: {
    fallback: "`PORT` + 1000",
    meaning: "port of operators' routes. same: they are on `PORT` ([two ports](OPERATIONS.md#two-ports))",
  },
  PLIANT_OPERATIONS_HOST: { meaning: "address of that port" },
  LOG_LEVEL: { meaning: "pino, JSON lines" },
  PLIANT_WORKERS: {
    fallback: "cores - 1, two at least",
    meaning:
      "threads that step shared rooms. With a single thread, ticks of a heavy room delay the frames of all others",
  },
  PLIANT_ROOM_THREADS: {
    fallback: "workers, at most 16",
    meaning: "most threads that step one room. 1: one thread for each room",
  },
  PLIANT_HEAVY_MS: { meaning: "a shared room whose mean tick takes longer gets helpers" },
  PLIANT_SCENES_DIR: { fallback: "scenes", meaning: "scene files, read again at every listing" },
  PLIANT_CLIENT_DIR: { fallback: "build/client", meaning: "the built page" },
  PLIANT_REPORT_DIR: { fallback: "build/report", meaning: "the physics report, served at `/report`" },
  PLIANT_MAX_ROOMS: { meaning: "rooms of this process" },
  PLIANT_MAX_MEMBERS: { meaning: "members of one room" },
  PLIANT_CONNECTIONS_PER_ADDRESS: { meaning: "sockets from one address" },
  PLIANT_HTTP_CONNECTIONS_PER_ADDRESS: {
    meaning:
      "plain HTTP connections from one address (thirty browsers open 180). Above it, the connection that was idle longest closes",
  },
  PLIANT_MEMBERS_PER_ADDRESS: {
    meaning:
      "seats in a room for members of one address without tokens, and at most three times the seats that remain. Equal to `PLIANT_MAX_MEMBERS`: no limit",
  },
  PLIANT_ROOMS_PER_ADDRESS: {
    meaning:
      "open rooms that one address has made, and at most as many as remain. Equal to `PLIANT_MAX_ROOMS`: no limit",
  },
  PLIANT_ROOMS_PER_MINUTE: { meaning: "rooms that one address may make in a minute" },
  PLIANT_OBJECTS_FILE_MB: {
    fallback: "16, with tokens 64",
    meaning: "largest file that visitors may upload, MB. 0: no uploads. In `tokens` mode only owners upload",
  },
  PLIANT_OBJECTS_MAX: {
    fallback: "200, with tokens 1000",
    meaning: "stored objects, a tenth of them reserved for operators; ten times as many scenes made from them",
  },
  PLIANT_OBJECTS_TOTAL_MB: {
    fallback: "512, with tokens 4096",
    meaning: "their total size, MB. Scenes made from them may take another quarter of it",
  },
  PLIANT_OBJECTS_PER_ADDRESS: {
    fallback: "20, with tokens 200",
    meaning:
      "objects of one address (an IPv6 /56 has 4 times as many, a /48 16 times, a /32 64 times). Admins are not counted",
  },
  PLIANT_OBJECTS_PER_MINUTE: { meaning: "uploads of one address in a minute; three times as many scenes" },
  PLIANT_OBJECTS_KEEP_HOURS: {
    fallback: "1, with tokens 720",
    meaning: "how long unused objects and their scenes are kept",
  },
  PLIANT_SAVED_SCENES_MAX: {
    fallback: "200, with tokens 1000",
    meaning: "scenes in the gallery, each of 128 KiB at most. 0: owners cannot save their rooms' scenes",
  },
  PLIANT_SAVED_SCENES_PER_ADDRESS: {
    fallback: "20, with tokens 200",
    meaning:
      "saved scenes of one address (an IPv6 /56 has 4 times as many, a /48 16 times, a /32 64 times). Admins are not counted",
  },
  PLIANT_OBJECTS_DEADLINE_MS: {
    meaning: "processor time for reading one file, ms; wall time at most four times as much",
  },
  PLIANT_ADDRESS_BUDGET: {
    meaning:
      "ms of the main thread that one address may use in a second, by requests and socket messages, with ten seconds' worth at once. `routes/rules.ts` has the cost of each route",
  },
  PLIANT_AUTH: { meaning: "open: every visitor with the address is a player. tokens: nothing without a token" },
  PLIANT_TOKEN_SECRET: { meaning: "keys of join tokens. The first signs, all verify. Absent: made at start" },
  PLIANT_ADMIN_TOKEN: { meaning: "the operator's own token. Absent: only signed tokens make an admin" },
  PLIANT_EMPTY_ROOM_SECONDS: { meaning: "until an empty room ends" },
  PLIANT_RESUME_SECONDS: { meaning: "until a lost member's session ends" },
  PLIANT_TAKEOVER_ATTEMPTS: {
    meaning: "takeovers after which a room is quarantined, if a process or thread ended each time",
  },
  PLIANT_OTHER_VERSIONS: {
    meaning:
      "rooms that another program or scene file stepped: quarantine them, or start their scene again. watch, for development: also as soon as a scene's file is saved",
  },
  PLIANT_QUARANTINE_DAYS: { meaning: "how long quarantined pieces of a room are kept" },
  PLIANT_QUARANTINE_MB: { meaning: "how much of them is kept for one room; the newest stay" },
  PLIANT_HISTORY_SECONDS: { meaning: "how far back undo, replay and recording reach" },
  PLIANT_SEND_HZ: { meaning: "frames per second: the nearest divisor of the scene's tick rate" },
  PLIANT_STEP_DEADLINE_MS: {
    meaning:
      "CPU time in a step without progress after which the thread is ended; a blocked thread ends after twelve times as long. Long steps with progress continue",
  },
  PLIANT_BUILD_DEADLINE_MS: { meaning: "processor time for building a scene; wall time at most four times as much" },
  PLIANT_ROOM_MEMORY_MB: {
    meaning:
      "MiB to which a room's memory may grow for contact lists. Fixed when the scene is built. A room that opens larger does not grow",
  },
  PLIANT_THREAD_MEMORY_MB: {
    meaning:
      "heap of a stepping thread, without room memories. A larger thread is ended, and its rooms continue elsewhere",
  },
  PLIANT_BUILD_MEMORY_MB: { meaning: "heap of a building thread; an object-reading thread has half of it" },
  PLIANT_ROOM_POOL: { meaning: "for rooms that do not choose" },
  PLIANT_DEDICATED_ROOMS: { meaning: "most rooms with a thread of their own" },
  PLIANT_PREWARM: {
    limits: "all, none, or a list of scenes",
    meaning:
      "scenes built at the start. all: in the background, one after another, and the server is ready at once. A list: the server is ready when they are built, or after a minute",
  },
  PLIANT_ORIGINS: {
    limits: "list of same, *, scheme://host:port",
    meaning: "page origins that may open sockets. The server's own pages (`same`) always may",
  },
  PLIANT_EMBED_ORIGINS: {
    limits: "list of scheme://host:port",
    meaning:
      "page origins that may use the HTTP API (CORS) and frame room pages (`frame-ancestors`). Pages that open sockets with [pliant-client](../client/sdk/README.md) also need `PLIANT_ORIGINS`",
  },
  PLIANT_LOCAL_PAGES: {
    meaning:
      "on: pages at localhost, 127.0.0.1 and [::1], on any port, may do all that listed origins may. For the development of pages",
  },
  PLIANT_TRUST_PROXY: {
    limits: "false, 1 to 16, or a list of addresses (CIDR)",
    meaning: "number of proxies in front, or their addresses. Only their X-Forwarded-* entries are believed",
  },
  PLIANT_HOSTS: {
    limits: "list of auto, *, names",
    meaning:
      "host names that the server answers for, against DNS rebinding. auto: addresses, one-word and local names, this machine's names, those of `PLIANT_ORIGINS`; behind a trusted proxy all",
  },
  PLIANT_STORE: {
    limits: "sqlite, none, postgres://...",
    meaning: "where rooms outlive the process. `none`: memory only",
  },
  PLIANT_DATA_DIR: { meaning: "folder of the SQLite file, relative to the working folder" },
  PLIANT_TLS_CERT: {
    limits: "a file (PEM)",
    meaning: "certificate; the server then speaks TLS to visitors and processes. It must match `PLIANT_ADVERTISE_URL`",
  },
  PLIANT_TLS_KEY: { limits: "a file (PEM)", meaning: "its key" },
  PLIANT_PUBLIC_URL: {
    limits: "a list of http(s)://host:port",
    meaning:
      "where visitors reach this process, then the other processes (`https://*.play.example`). Pages then open sockets and read recordings there directly. The page's origin must be in `PLIANT_ORIGINS`",
  },
  PLIANT_CLUSTER_CA: {
    limits: "a file (PEM)",
    meaning: "authorities for the certificates of other processes. Absent: the system's",
  },
  PLIANT_ADVERTISE_URL: {
    limits: "http(s)://host:port",
    meaning:
      "where other processes reach this one. Absent: `HOST` if it is an address; with PostgreSQL the machine's first address; else 127.0.0.1",
  },
  PLIANT_CLUSTER_SECRET: {
    meaning: "seals forwarded identities. The same for all processes. Absent: derived from the token secret",
  },
  PLIANT_BALANCE: {
    meaning:
      "with several processes. on: busy processes give running rooms away, and new rooms open at the least busy process. place: only new rooms. off: neither",
  },
  PLIANT_SHUTDOWN_SECONDS: { meaning: "longest orderly shutdown" },
};

export function environmentPage(): string {
  const known = describeVariables();
  const rows = Object.entries(ROWS).map(([name, { meaning, ...own }]) => {
    const { fallback, limits } = { ...known.get(name)!, ...own };
    return `| \`${name}\` | ${fallback} | ${limits} | ${meaning} |\n`;
  });
  return HEAD + rows.join("");
}
