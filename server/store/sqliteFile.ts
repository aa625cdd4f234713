/**
 * Opening the SQLite file: settings, tables, versions, and what to do with a file that is damaged or not ours.
 *
 * WAL with synchronous=NORMAL. A commit is a write to the log that the operating system has taken: the process may be
 * killed at any moment and nothing committed is lost. The log is synced to the disk at its checkpoints only, so a power
 * cut may lose the last transactions (some seconds of journal), but SQLite guarantees that the database is a consistent
 * state from shortly before (https://www.sqlite.org/pragma.html#pragma_synchronous). synchronous=FULL would sync two
 * hundred times a second with a hundred rooms, for seconds of cloth.
 *
 * Processes of one machine may share the file, but there is one write lock: who is stopped (SIGSTOP, a debugger) in the
 * middle of a transaction keeps it until it goes on or is killed, and the others' writes fail meanwhile, takeover too.
 * PostgreSQL has a lock for each room, and ends transactions that idle.
 *
 * A damaged file is moved aside with its log, never deleted and never repaired, and an empty one begins. A log that was
 * deleted or damaged (sqliteLog.ts) is said, and what there is of it is used; the file itself follows it closely, so
 * that little is missing then.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { StoreLossCode } from "../metrics/store.ts";
import { copyLog, findDamage, hasLog, noteBeat, notedBeat } from "./sqliteLog.ts";
import { StoreRefused } from "./store.ts";

/** "PLNT": what `file` and SQLite's own tools show, and how we know our file. */
const APPLICATION_ID = 0x504c4e54;
/**
 * How long a transaction waits for another process's, ms: longer than the slowest disk we have seen take a checkpoint,
 * shorter than a lease.
 */
const BUSY_TIMEOUT_MS = 4000;
/** The log is cut back to this after a checkpoint, bytes. */
const JOURNAL_SIZE_LIMIT = 64 * 2 ** 20;

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * What changes from one version of the tables to the next; the file's `user_version` counts how many of them it has
 * seen. Append only.
 * `counter` gives epochs: it never goes back, also not when a room is removed and another of its name is made.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE counter (epoch INTEGER NOT NULL) STRICT;
   INSERT INTO counter VALUES (0);
   CREATE TABLE rooms (
     name TEXT PRIMARY KEY, scene TEXT NOT NULL, pool TEXT NOT NULL, created_at TEXT NOT NULL, settings TEXT NOT NULL, request_key TEXT UNIQUE,
     epoch INTEGER NOT NULL, process TEXT, url TEXT, boot TEXT, lease_until REAL, members INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE TABLE checkpoints (
     room TEXT NOT NULL, tick INTEGER NOT NULL, identity TEXT NOT NULL, state BLOB NOT NULL, PRIMARY KEY (room, tick)
   ) STRICT;
   CREATE TABLE journal (
     room TEXT NOT NULL, until_tick INTEGER NOT NULL, after_tick INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (room, until_tick)
   ) STRICT;
   CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, room TEXT, details TEXT NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_room ON audit (room, id);`,
  `ALTER TABLE rooms ADD COLUMN parked TEXT;
   ALTER TABLE rooms ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE rooms ADD COLUMN writes INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE counter ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE members (room TEXT PRIMARY KEY, records BLOB NOT NULL) STRICT;`,
  `CREATE TABLE set_aside (
     id INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT NOT NULL, what TEXT NOT NULL, tick INTEGER NOT NULL, after_tick INTEGER,
     reason TEXT NOT NULL, at TEXT NOT NULL, bytes BLOB NOT NULL
   ) STRICT;
   CREATE INDEX set_aside_by_room ON set_aside (room, id);`,
  `CREATE TABLE processes (process TEXT PRIMARY KEY, report TEXT NOT NULL, boot TEXT NOT NULL, lease_until REAL NOT NULL) STRICT;`,
  `CREATE TABLE objects (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, about TEXT NOT NULL, bytes INTEGER NOT NULL, address TEXT, created_at TEXT NOT NULL, used_at TEXT NOT NULL,
     shape BLOB NOT NULL, picture BLOB NOT NULL
   ) STRICT;
   CREATE INDEX objects_by_address ON objects (address);
   CREATE TABLE scenes (id TEXT PRIMARY KEY, text TEXT NOT NULL, used_at TEXT NOT NULL) STRICT;
   CREATE TABLE scene_objects (scene TEXT NOT NULL, object TEXT NOT NULL, PRIMARY KEY (scene, object)) STRICT;`,
  // By it a copy of this database is told from another one (sqliteRescue.ts).
  `ALTER TABLE counter ADD COLUMN id TEXT NOT NULL DEFAULT '';
   UPDATE counter SET id = lower(hex(randomblob(16)));`,
];

/** What was acknowledged is missing, or some of it may be. */
export interface StoreLoss {
  code: StoreLossCode;
  reason: string;
  /** Where what was damaged is now; null: there is nothing of it. */
  keptAs: string | null;
  /** Rooms that there are all the same. */
  rooms: number;
}

export interface Opened {
  database: DatabaseSync;
  /** null: all was well. */
  loss: StoreLoss | null;
}

/** Prepared once for each file: every write needs both. */
const brackets = new WeakMap<DatabaseSync, { begin: StatementSync; commit: StatementSync }>();

function bracketsOf(database: DatabaseSync): { begin: StatementSync; commit: StatementSync } {
  let found = brackets.get(database);
  if (!found) {
    found = { begin: database.prepare("BEGIN IMMEDIATE"), commit: database.prepare("COMMIT") };
    brackets.set(database, found);
  }
  return found;
}

/**
 * Runs work in a transaction that holds SQLite's one write lock from its beginning, so that what it reads stays true
 * until it commits.
 */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  const { begin, commit } = bracketsOf(database);
  begin.run();
  try {
    const result = work();
    commit.run();
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * @param path of the file; its folder is made
 * @throws StoreRefused when the file is a newer version's or not ours; Error when the folder cannot be written
 */
export function openFile(path: string): Opened {
  mkdirSync(dirname(path), { recursive: true });
  // Looked at twice: another process may have been writing its log while it was read.
  const [noted, logged, damage] = [notedBeat(path), hasLog(path), findDamage(path) && findDamage(path)];
  let database: DatabaseSync;
  let loss: Omit<StoreLoss, "rooms"> | null = damage
    ? { code: "STORE_LOG_DAMAGED", reason: damage, keptAs: copyLog(path) }
    : null;
  try {
    database = openChecked(path);
  } catch (error) {
    if (!isDamage(error)) throw error;
    loss = { code: "STORE_DAMAGED", reason: (error as Error).message, keptAs: moveAside(path) };
    database = openChecked(path);
  }
  const beat = Number(database.prepare("SELECT beat FROM counter").get()?.beat);
  if (beat < noted)
    loss ??= {
      code: logged ? "STORE_LOG_DAMAGED" : "STORE_LOG_DELETED",
      reason: `the store had counted to ${noted}, and is at ${beat}`,
      keptAs: null,
    };
  noteBeat(path, beat);
  const rooms = Number(database.prepare("SELECT count(*) AS n FROM rooms").get()?.n);
  return { database, loss: loss && { ...loss, rooms } };
}

/** Brings the file up to its log, without waiting for anybody. */
export function followLog(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

/** True for errors that say that the file's bytes are wrong, rather than that it is busy, full or out of reach. */
export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode;
  // The low byte is the error, the rest says which kind of it.
  return code !== undefined && [SQLITE_CORRUPT, SQLITE_NOTADB].includes(code & 0xff);
}

function openChecked(path: string): DatabaseSync {
  keepPrivate(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const pragma = (text: string): unknown => Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
    // First of all whose file it is: nothing may be written into another program's.
    const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n);
    if (tables > 0 && pragma("application_id") !== APPLICATION_ID)
      throw new StoreRefused(`${path} is a database of another program`);
    const version = Number(pragma("user_version"));
    if (version > MIGRATIONS.length) {
      throw new StoreRefused(
        `${path} was written by a newer program: its tables have version ${version}, this program knows up to ${MIGRATIONS.length}`,
      );
    }
    pragma("journal_mode = WAL");
    pragma("synchronous = NORMAL");
    pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
    const verdict = String(pragma("quick_check(1)"));
    if (verdict !== "ok") throw Object.assign(new Error(verdict), { errcode: SQLITE_CORRUPT });
    transaction(database, () => migrate(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Hashes of passwords, addresses and the audit log are in it; SQLite gives its log the same mode. */
function keepPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    // Somebody else's file that we may write all the same: its mode is their business.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

function migrate(database: DatabaseSync): void {
  // Read again under the lock: another process may have been here since.
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  for (const statements of MIGRATIONS.slice(version)) database.exec(statements);
  database.exec(
    `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${Math.max(version, MIGRATIONS.length)}`,
  );
}

function moveAside(path: string): string {
  const stem = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
  let target = stem;
  for (let n = 2; existsSync(target); n++) target = `${stem}-${n}`;
  renameSync(path, target);
  // The log belongs to the file: beside a new one it would be taken for that one's.
  for (const suffix of ["-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix);
  return target;
}
