/**
 * The servers under test: real processes of the real program on one real PostgreSQL, each with its own connection to
 * it. Also collects their logs and the notes of their witnesses.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort, serveCommand, waitForOk } from "../../load-tests/measuredServer.ts";
import { PostgresServer } from "../support/postgres.ts";
import { TcpProxy } from "./tcpProxy.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const ADMIN_TOKEN = "admin-of-the-chaos-suite";

/** Machine's monotonic time, ms. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export interface Member {
  name: string;
  url: string;
  child: ChildProcess;
  line: TcpProxy;
  witness: string;
  /** Log lines, parsed, with the machine's monotonic time. */
  log: {
    ms: number;
    msg: string;
    level: number;
    room?: string;
    tick?: number;
    cause?: string;
    stateHash?: string;
    err?: { message: string };
  }[];
  output: string[];
}

export interface Stepped {
  by: string;
  tick: number;
  ms: number;
}

/** A requested undo. */
export interface Undo {
  room: string;
  askedMs: number;
  /** Infinity: there was no answer. */
  answeredMs: number;
  /** Tick that the answer reported; null: it failed, or the result is unknown. */
  tick: number | null;
}

export class Fleet {
  readonly members: Member[] = [];
  /** All members of the fleet that ever existed. */
  readonly everybody: Member[] = [];
  /** True once the time of day of any process has been changed. */
  clocksJumped = false;
  readonly undos: Undo[] = [];
  /** Killed members, and the times of the kills, ms. */
  readonly kills: { by: string; ms: number }[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), "pliant-chaos-"));
  readonly database: PostgresServer;
  readonly #name: string;
  #started = 0;

  private constructor(database: PostgresServer, name: string) {
    this.database = database;
    this.#name = name;
  }

  /** @param bin PostgreSQL's programs */
  static async start(bin: string, members: number): Promise<Fleet> {
    const database = await PostgresServer.start(bin);
    const fleet = new Fleet(database, new URL(await database.database()).pathname.slice(1));
    await Promise.all(Array.from({ length: members }, () => fleet.add()));
    return fleet;
  }

  async add(): Promise<Member> {
    const name = `server-${++this.#started}`;
    const [line, port] = [await TcpProxy.open(this.database.port), await freePort()];
    const store = new URL(this.database.url(this.#name));
    store.port = String(line.port);
    const witness = join(this.folder, `${name}.ticks`);
    const [file, ...args] = serveCommand("--import", new URL("./witness.ts", import.meta.url).href);
    const child = spawn(file!, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        WITNESS_FILE: witness,
        HOST: "127.0.0.1",
        PORT: String(port),
        PLIANT_OPERATIONS_PORT: "same",
        LOG_LEVEL: "info",
        PLIANT_WORKERS: "1",
        PLIANT_STORE: store.href,
        PLIANT_DATA_DIR: join(this.folder, name),
        PLIANT_SCENES_DIR: join(root, "tests/integration/scenes"),
        PLIANT_PREWARM: "cube",
        PLIANT_EMPTY_ROOM_SECONDS: "600",
        PLIANT_TOKEN_SECRET: "the secret that all servers of this suite share",
        PLIANT_ADMIN_TOKEN: ADMIN_TOKEN,
        PLIANT_CONNECTIONS_PER_ADDRESS: "10000",
        PLIANT_MEMBERS_PER_ADDRESS: "10000",
        PLIANT_ROOMS_PER_ADDRESS: "10000",
        PLIANT_ROOMS_PER_MINUTE: "100000",
        PLIANT_MAX_ROOMS: "1000",
        PLIANT_ADDRESS_BUDGET: "1000000",
      },
    });
    const member: Member = { name, url: `http://127.0.0.1:${port}`, child, line, witness, log: [], output: [] };
    // The log has the time of day; its offset from the monotonic clock is the same for all processes of this machine.
    const offsetMs = Date.now() - nowMs();
    let shiftMs = 0;
    createInterface({ input: child.stdout }).on("line", (text) => {
      if (!text.startsWith("{")) return void member.output.push(text);
      const entry = JSON.parse(text) as { time: number; shiftMs?: number } & Member["log"][number];
      if (entry.msg === "clock jumped") shiftMs = entry.shiftMs!;
      member.log.push({ ...entry, ms: entry.time - offsetMs - shiftMs });
    });
    createInterface({ input: child.stderr }).on("line", (text) => member.output.push(text));
    this.members.push(member);
    this.everybody.push(member);
    await waitForOk(`${member.url}/readyz`, 300_000, () =>
      child.exitCode === null ? undefined : `${name} ended with ${child.exitCode}: ${member.output.join("\n")}`,
    );
    return member;
  }

  /** Removes a member that has ended or will end, so that nothing calls it any more. */
  remove(member: Member): void {
    const index = this.members.indexOf(member);
    if (index >= 0) this.members.splice(index, 1);
  }

  /** Shifts its time of day by `shiftMs` from now on. Resolves when it is shifted. */
  async setClock({ child, witness, log, name }: Member, shiftMs: number): Promise<void> {
    this.clocksJumped = true;
    const jumps = (): number => log.filter(({ msg }) => msg === "clock jumped").length;
    const before = jumps();
    writeFileSync(`${witness}.clock`, String(shiftMs));
    child.kill("SIGUSR2");
    const untilMs = nowMs() + 10_000;
    while (jumps() === before) {
      if (nowMs() > untilMs) throw new Error(`${name}'s clock did not jump`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Owner of a room at a time, by the log: the last member that opened it. */
  ownerOf(room: string, atMs = Infinity): Member | undefined {
    let found: { member: Member; ms: number } | null = null;
    for (const member of this.everybody)
      for (const { msg, room: opened, ms } of member.log)
        if (msg === "room opened" && opened === room && ms <= atMs && ms >= (found?.ms ?? -Infinity))
          found = { member, ms };
    return found?.member;
  }

  /** Ticks of every room, by time. */
  ticks(): Map<string, Stepped[]> {
    const rooms = new Map<string, Stepped[]>();
    for (const { name, witness } of this.everybody) {
      if (!existsSync(witness)) continue;
      for (const line of readFileSync(witness, "utf8").split("\n")) {
        if (!line.endsWith("]")) continue; // The last line, cut off in the middle.
        const [room, tick, ms] = JSON.parse(line) as [string, number, number];
        const list = rooms.get(room) ?? [];
        rooms.set(room, list);
        list.push({ by: name, tick, ms });
      }
    }
    for (const list of rooms.values()) list.sort((a, b) => a.ms - b.ms);
    return rooms;
  }

  async close(): Promise<void> {
    for (const { child, line } of this.everybody) {
      child.kill("SIGKILL");
      line.close();
    }
    await this.database.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
