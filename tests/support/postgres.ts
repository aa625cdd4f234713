/**
 * A real PostgreSQL server for tests: a new cluster in a temporary folder on a free port of 127.0.0.1, ended and
 * removed afterwards. The programs come from the system (Debian's package `postgresql`, which
 * tests/support/install-tools.sh installs), or from PATH or PGBIN. The server refuses to run as root: then it runs as
 * the user `postgres`, which the package creates.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "../../load-tests/measuredServer.ts";

const DEBIAN = "/usr/lib/postgresql";
const START_MS = 30_000;

/** Folder of `postgres` and `initdb`, or undefined; undefined also for root without a user to run them as. */
export function findPostgres(): string | undefined {
  if (process.getuid?.() === 0 && serverUser() === undefined) return undefined;
  const named = process.env.PGBIN;
  if (named) return existsSync(join(named, "initdb")) ? named : undefined;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const [newest] = versions
    .map((version) => join(DEBIAN, version, "bin"))
    .filter((path) => existsSync(join(path, "initdb")));
  return (
    newest ?? (process.env.PATH ?? "").split(delimiter).find((path) => path !== "" && existsSync(join(path, "initdb")))
  );
}

function serverUser(): { uid: number; gid: number } | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout || NaN),
  );
  return Number.isNaN(uid) || Number.isNaN(gid) ? undefined : { uid, gid };
}

export class PostgresServer {
  readonly port: number;
  readonly #bin: string;
  readonly #folder: string;
  readonly #as: { uid?: number; gid?: number };
  #process: ChildProcess | null = null;
  #databases = 0;

  private constructor(bin: string, folder: string, port: number, as: { uid?: number; gid?: number }) {
    this.#bin = bin;
    this.#folder = folder;
    this.port = port;
    this.#as = as;
  }

  /** @param bin from `findPostgres` */
  static async start(bin: string, port?: number): Promise<PostgresServer> {
    const as: { uid?: number; gid?: number } = process.getuid?.() === 0 ? (serverUser() ?? {}) : {};
    const folder = mkdtempSync(join(tmpdir(), "pliant-postgres-"));
    if (as.uid !== undefined) chownSync(folder, as.uid, as.gid as number);
    execFileSync(
      join(bin, "initdb"),
      ["-D", join(folder, "data"), "-U", "pliant", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"],
      { ...as, cwd: folder, stdio: "pipe", env: { PATH: process.env.PATH } },
    );
    const server = new PostgresServer(bin, folder, port ?? (await freePort()), as);
    await server.resume();
    return server;
  }

  /** Creates an empty database. */
  async database(): Promise<string> {
    const name = `test${++this.#databases}`;
    await this.#ask(this.url("postgres"), `CREATE DATABASE ${name}`);
    return this.url(name);
  }

  /** Creates an empty database with its tables in a folder, whose disk may be full later. */
  async databaseOn(folder: string): Promise<string> {
    const location = join(folder, `tables${++this.#databases}`);
    mkdirSync(location);
    if (this.#as.uid !== undefined) chownSync(location, this.#as.uid, this.#as.gid as number);
    const name = `test${this.#databases}`;
    await this.#ask(this.url("postgres"), `CREATE TABLESPACE ${name} LOCATION '${location}'`);
    await this.#ask(this.url("postgres"), `CREATE DATABASE ${name} TABLESPACE ${name}`);
    return this.url(name);
  }

  /** The server does not check the password; tests search for it where it must not appear. */
  url(database: string): string {
    return `postgres://pliant:hush-hush@127.0.0.1:${this.port}/${database}`;
  }

  async #ask(url: string, sql: string): Promise<void> {
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(sql);
    } finally {
      await client.end();
    }
  }

  /** Ends the server at once, as a crash would, and keeps its data. */
  async halt(): Promise<void> {
    const child = this.#process;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    // SIGQUIT: immediate shutdown, with recovery at the next start.
    child.kill("SIGQUIT");
    await gone;
    this.#process = null;
  }

  /** Starts it again on the same port and waits until it answers. */
  async resume(): Promise<void> {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: this.port,
      unix_socket_directories: "",
      fsync: "off",
      max_connections: 100,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    let log = "";
    const child = spawn(join(this.#bin, "postgres"), ["-D", join(this.#folder, "data"), ...flags], {
      ...this.#as,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.on("data", (data: Buffer) => (log = (log + data.toString()).slice(-4000)));
    this.#process = child;
    for (const until = Date.now() + START_MS; ; ) {
      try {
        return await this.#ask(this.url("postgres"), "SELECT 1");
      } catch (error) {
        if (child.exitCode !== null || Date.now() > until)
          throw new Error(`PostgreSQL does not start: ${(error as Error).message}\n${log}`, { cause: error });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async stop(): Promise<void> {
    await this.halt();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
