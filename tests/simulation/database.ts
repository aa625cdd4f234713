/**
 * The virtual database: the server's own SQL (sqliteWork.ts) on a SQLite database in memory. All processes share it,
 * each over its own connection (line.ts). Its clock is virtual. It can be full, fail, be away, and fail over to a
 * replica without the last transactions. After a failover those transactions never happened.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqliteWork } from "../../server/store/sqlite/sqliteWork.ts";
import { Random } from "../fuzz/random.ts";
import { globalsFor, type Machine } from "./globals.ts";
import type { Program } from "./load.ts";
import type { Timeline } from "./timeline.ts";

/** Methods of SqliteWork that only read. */
const LOOKS = /^(ping|rooms?|processes|checkpointTicks|read[A-Z]\w*)$/;

/** Methods that change or clear the owner of a room. */
const CLAIMS: ReadonlySet<string> = new Set([
  "createRoom",
  "claim",
  "release",
  "endLeases",
  "removeRoom",
  "quarantine",
]);

/** A transaction that changed something. */
export interface Commit {
  method: string;
  args: readonly unknown[];
  result: unknown;
  /** Time on the database's own clock, ms. */
  clockMs: number;
}

/** The disk failed: nothing was done. */
export class DiskError extends Error {}

const AUDIT_ENTRIES = 1000;

export class Database {
  readonly #load: (globals: ReturnType<typeof globalsFor>) => Program;
  readonly #machine: Machine;
  readonly #program: Program;
  readonly #file: DatabaseSync;
  readonly #count: StatementSync;
  /** Statements that empty all tables. */
  readonly #emptying: StatementSync[];
  /** Result of #count; null: #count has to run again. */
  #changed: unknown = null;
  #work!: SqliteWork;
  #commits: Commit[] = [];
  /** By lease term, so that each prepares its statements once. */
  readonly #works = new Map<number, SqliteWork>();
  /** Clock of the original transaction while a prefix is replayed; otherwise null. */
  #clockMs: number | null = null;
  /** Clock offset since a replica with another clock took over, ms. */
  #offsetMs = 0;
  failedOver = false;
  /** True while the database answers no process. */
  away = false;
  full = false;
  /** Chance that a transaction fails with an input/output error. */
  errorRate = 0;
  /** Called with every transaction that changed something. */
  onCommit: (commit: Commit, late: boolean) => void = () => {};

  constructor(load: (globals: ReturnType<typeof globalsFor>) => Program, machine: Machine) {
    this.#load = load;
    this.#machine = machine;
    const globals = globalsFor(machine);
    globals.process = { env: {}, hrtime: { bigint: () => BigInt(Math.round(1e6 * this.clockMs)) } };
    this.#program = this.#load(globals);
    this.#file = new DatabaseSync(":memory:");
    for (const statements of this.#program.MIGRATIONS) this.#file.exec(statements);
    const tables = this.#file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const deleting = tables
      .map(({ name }) => String(name))
      .filter((name) => name !== "counter" && !name.startsWith("sqlite_"))
      .map((name) => `DELETE FROM ${name}`);
    this.#emptying = ["BEGIN", ...deleting, "UPDATE counter SET epoch = 0", "COMMIT"].map((sql) =>
      this.#file.prepare(sql),
    );
    this.#count = this.#file.prepare("SELECT total_changes() AS n");
  }

  /** Resets it to its first state, for another history. */
  attach(timeline: Timeline, seed: number, leaseSeconds: number): void {
    Object.assign(this.#machine, { timeline, random: new Random(seed) });
    const known = this.#works.get(leaseSeconds);
    this.#work = known ?? new this.#program.SqliteWork(this.#file, leaseSeconds, AUDIT_ENTRIES);
    this.#works.set(leaseSeconds, this.#work);
    this.#commits = [];
    this.#clockMs = null;
    this.#offsetMs = 0;
    this.failedOver = false;
    this.heal();
    this.#empty();
  }

  /** Ends all faults: it answers, has space, and its disk works. */
  heal(): void {
    this.away = false;
    this.full = false;
    this.errorRate = 0;
  }

  get clockMs(): number {
    return this.#clockMs ?? 1e6 + this.#machine.timeline.nowMs + this.#offsetMs;
  }

  /** Number of transactions so far. */
  get position(): number {
    return this.#commits.length;
  }

  /** Transactions since the last one that changed an owner. */
  get sinceClaim(): number {
    return this.#commits.length - 1 - this.#commits.findLastIndex(({ method }) => CLAIMS.has(method));
  }

  /**
   * @param late no caller waits for the answer any more
   * @throws DiskError, LeaseLost: nothing was done
   */
  run(method: string, args: readonly unknown[], late = false): unknown {
    const looks = LOOKS.test(method);
    if (this.full && !looks) throw new DiskError("database or disk is full");
    if (this.errorRate > 0 && this.#machine.random.chance(this.errorRate)) throw new DiskError("disk I/O error");
    // A ping writes as well, which changes total_changes().
    if (method === "ping") this.#changed = null;
    if (looks) return this.#do(method, args);
    const before = this.#changed ?? this.#changes;
    // If the call fails, total_changes() still includes its rolled-back changes.
    this.#changed = null;
    const result = this.#do(method, args);
    this.#changed = this.#changes;
    if (this.#changed !== before) {
      const commit = { method, args, result, clockMs: this.clockMs };
      this.#commits.push(commit);
      this.onCommit(commit, late);
    }
    return result;
  }

  get #changes(): unknown {
    return this.#count.get()!.n;
  }

  /**
   * A replica takes over.
   * @param lost transactions that the replica does not have
   * @param clockMs clock of the replica minus the clock before
   * @returns transactions that the replica has
   */
  failOver(lost: number, clockMs: number): readonly Commit[] {
    const kept = this.#commits.slice(0, Math.max(0, this.#commits.length - lost));
    this.#empty();
    for (const { method, args, clockMs: thenMs } of kept) {
      this.#clockMs = thenMs;
      this.#do(method, args);
    }
    this.#clockMs = null;
    this.#changed = null;
    this.failedOver = true;
    this.#commits = kept;
    this.#offsetMs += clockMs;
    return kept;
  }

  #do(method: string, args: readonly unknown[]): unknown {
    return (this.#work[method as keyof SqliteWork] as (...given: unknown[]) => unknown)(...(args as never[]));
  }

  #empty(): void {
    for (const statement of this.#emptying) statement.run();
    this.#changed = null;
  }
}
