/**
 * The pool of connections to PostgreSQL: time limits, transactions, and what is tried again. Connections that are lost
 * go, and the next question makes new ones.
 *
 * Tried again here: 40001 (serialization failure; usual in distributed databases, see their documentation of retries)
 * and 40P01 (deadlock). Both say that nothing was done. A lost connection is not tried again, for the commit may have
 * happened; the caller knows whether doing it twice is well.
 */
import pg from "pg";
import { StoreUnavailable } from "./store.ts";

/** Connections of one process; a room needs one for some milliseconds every half second. */
const POOL_SIZE = 8;
/** Until a connection stands, ms. */
const CONNECT_TIMEOUT_MS = 3000;
/** Until an answer is here, ms: less than a lease, so that whoever waits learns of it while that still matters. */
const QUERY_TIMEOUT_MS = 5000;
/** The server's own limits, ms: what we have given up waiting for must not hold locks for long. */
const STATEMENT_TIMEOUT_MS = 4500;
const ATTEMPTS = 8;
/**
 * Before the second attempt, ms; doubled for each further one, half of it by chance so that two that collided do not
 * meet again.
 */
const FIRST_PAUSE_MS = 5;

const AGAIN: ReadonlySet<string> = new Set(["40001", "40P01"]);

export type Row = Record<string, unknown>;
export type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A URL that may be shown: without its password. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "postgres://(unreadable)";
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  for (const name of shown.searchParams.keys())
    if (/password|secret|key/i.test(name)) shown.searchParams.set(name, "***");
  return shown.href;
}

/** The driver wants a Buffer; this one shares the bytes. */
export const bytesOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export class PostgresClient {
  readonly #pool: pg.Pool;
  /** Connections that wait for no other question of this process: one for renewals, one for reports. */
  readonly #urgent: pg.Pool;
  readonly #shown: string;

  constructor(url: string) {
    this.#shown = shownUrl(url);
    this.#pool = poolOf(url, POOL_SIZE);
    this.#urgent = poolOf(url, 2);
  }

  /**
   * One statement, which is a transaction of its own.
   * @param urgentMs given: it does not wait for a connection of the pool, and is to be known within so long
   * @throws StoreUnavailable
   */
  async query(sql: string, values: readonly unknown[] = [], urgentMs?: number): Promise<Row[]> {
    const config: pg.QueryConfig & { query_timeout?: number } = { text: sql, values: [...values] };
    if (urgentMs !== undefined) config.query_timeout = urgentMs;
    const pool = urgentMs === undefined ? this.#pool : this.#urgent;
    return this.#again(async () => (await pool.query<Row>(config)).rows);
  }

  /**
   * Several statements, all or none; each sees what was committed before it began.
   * @throws StoreUnavailable, or what `work` throws
   */
  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#again(async () => {
      const client = await this.#pool.connect();
      // Without a listener a connection lost between two statements would end the program; the next statement reports
      // it.
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
        // Closed, not given back: the server then rolls back whatever the connection had begun.
        client.release(failure);
      }
    });
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
  // A connection that is lost while nobody uses it: the pool has dropped it already, and whoever asks next gets a new
  // one or an error of their own.
  pool.on("error", () => {});
  return pool;
}

/** Thrown by the work itself, about what it found rather than about the database. */
function isOurs(error: unknown): boolean {
  return error instanceof Error && ["LeaseLost", "StoreBehind", "StoreRefused"].includes(error.name);
}
