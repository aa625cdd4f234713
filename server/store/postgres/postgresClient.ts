/**
 * The pools of connections to PostgreSQL, with time limits, transactions and retries. A lost connection is dropped, and
 * the next query opens a new one.
 *
 * Retried here: 40001 (serialization failure, usual in distributed databases, see their documentation of retries) and
 * 40P01 (deadlock), and 25006 (the connection is to a replica, or from a time at which the database was read-only; it
 * is dropped). All mean that the transaction had no effect. A query whose connection was lost is not retried,
 * because it may have been committed. The caller knows whether a repetition is safe.
 *
 * 53100 (disk full) is remembered. Updates within a page still succeed then, so neither they nor reads say whether
 * there is space again: only a write that needs new pages does (`lookForSpace`).
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { StoreUnavailable } from "../store.ts";

/** Connections of one process. A room needs one for some milliseconds every half second. */
const POOL_SIZE = 8;
/** Time limit of opening a connection, ms. */
const CONNECT_TIMEOUT_MS = 3000;
/** Time limit of a query, ms: shorter than a lease, so that the caller can still react before its lease expires. */
const QUERY_TIMEOUT_MS = 5000;
/** Time limit that the database enforces, ms: an abandoned query must not hold its locks for long. */
const STATEMENT_TIMEOUT_MS = 4500;
const ATTEMPTS = 8;
/**
 * Pause before the second attempt, ms; doubled for each further attempt. Half of it is random, so that two transactions
 * that collided do not collide again.
 */
const FIRST_PAUSE_MS = 5;

const DISK_FULL = "53100";
/** Size of the write that looks for space, bytes: that of a large checkpoint. */
const PROBE_BYTES = 2 ** 20;

const AGAIN: ReadonlySet<string> = new Set(["40001", "40P01", "25006"]);

export type Row = Record<string, unknown>;
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** Returns the URL without its password, for logs. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "postgres://(unreadable)";
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  for (const name of shown.searchParams.keys())
    if (/password|secret|key/i.test(name)) shown.searchParams.set(name, "***");
  return shown.href;
}

/** Wraps the bytes in a Buffer, as the driver needs it, without copying. */
export const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export class PostgresClient {
  readonly #pool: pg.Pool;
  /** Separate connections that wait for no other query of this process: one for renewals, one for reports. */
  readonly #urgent: pg.Pool;
  readonly #shown: string;
  /** Error of the last write that found no space; null: there has been space since. */
  #full: Error | null = null;

  constructor(url: string) {
    this.#shown = shownUrl(url);
    this.#pool = poolOf(url, POOL_SIZE);
    this.#urgent = poolOf(url, 2);
  }

  /**
   * Runs one statement as its own transaction.
   * @param urgentMs if given, the query uses an urgent connection and has this time limit
   * @throws StoreUnavailable
   */
  async query(sql: string, values: readonly unknown[] = [], urgentMs?: number): Promise<Row[]> {
    const config: pg.QueryConfig & { query_timeout?: number } = { text: sql, values: [...values] };
    if (urgentMs !== undefined) config.query_timeout = urgentMs;
    const pool = urgentMs === undefined ? this.#pool : this.#urgent;
    return this.#again(async () => (await pool.query<Row>(config)).rows);
  }

  /**
   * Runs several statements, all or none; each sees the data that was committed before it began.
   * @throws StoreUnavailable, or the error of `work`
   */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#again(async () => {
      const client = await this.#pool.connect();
      // Without a listener, a connection lost between two statements would end the process. The next statement reports
      // the loss.
      const ignore = (): void => {};
      client.on("error", ignore);
      let failure: Error | undefined;
      try {
        await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
        const result = await work(async (sql, values = []) => (await client.query<Row>(sql, [...values])).rows);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        client.off("error", ignore);
        // After a failure the connection is closed instead of reused, so that the database rolls the transaction back.
        client.release(failure);
      }
    });
  }

  /** @throws StoreUnavailable while the database's disk is full, as far as this process knows */
  requireSpace(): void {
    if (this.#full) throw new StoreUnavailable(`the disk of the PostgreSQL store ${this.#shown} is full`, this.#full);
  }

  /** If the disk was full, looks for space by a write that leaves nothing. @throws StoreUnavailable */
  async lookForSpace(): Promise<void> {
    if (!this.#full) return;
    await this.transaction(async (query) => {
      // A room has no such name.
      const probe = ["", randomBytes(PROBE_BYTES)];
      await query("INSERT INTO pliant_journal (room, until_tick, after_tick, bytes) VALUES ($1, -1, -1, $2)", probe);
      await query("DELETE FROM pliant_journal WHERE room = $1", [""]);
    });
    this.#full = null;
  }

  async end(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#urgent.end()]);
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (isOurs(error)) throw error;
        const code = (error as { code?: string }).code ?? "";
        if (code === DISK_FULL) {
          this.#full = error as Error;
          this.requireSpace();
        }
        if (!AGAIN.has(code) || attempt === ATTEMPTS)
          throw new StoreUnavailable(`the PostgreSQL store ${this.#shown} failed`, error);
        const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
        await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random() / 2)));
      }
    }
  }
}

function poolOf(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: "pliant",
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    allowExitOnIdle: true,
  });
  // An idle connection was lost. The pool has already dropped it; the next query opens a new one or reports its error.
  pool.on("error", () => {});
  return pool;
}

/** Returns whether the work itself threw the error, not the database. */
function isOurs(error: unknown): boolean {
  return error instanceof Error && ["LeaseLost", "StoreBehind", "StoreRefused"].includes(error.name);
}
