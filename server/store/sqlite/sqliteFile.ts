/**
 * Opens the SQLite file: settings, tables, versions, and the treatment of damaged or foreign files.
 *
 * WAL with synchronous=NORMAL. A commit is a write to the log that the operating system has accepted, so a killed
 * process loses nothing that was committed. The log is synced to the disk only at its checkpoints. Therefore a power
 * cut may lose the last transactions (some seconds of journal), but SQLite guarantees that the database is a consistent
 * state from shortly before (https://www.sqlite.org/pragma.html#pragma_synchronous). With a hundred rooms,
 * synchronous=FULL would sync two hundred times a second to save some seconds of cloth.
 *
 * Processes of one machine may share the file, but there is one write lock. A process that is stopped (SIGSTOP, a
 * debugger) in a transaction keeps the lock until it continues or is killed. Meanwhile the other processes cannot write
 * or take rooms over. PostgreSQL has a lock for each room, and ends idle transactions.
 *
 * A damaged file is moved aside with its log, never deleted and never repaired, and the server starts with an empty
 * one. A deleted or damaged log (sqliteLog.ts) is reported, and its undamaged part is used. Little is missing then,
 * because the log is copied into the file every few seconds.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { StoreLossCode } from "../../metrics/store.ts";
import { copyLog, findDamage, hasLog, noteBeat, notedBeat } from "./sqliteLog.ts";
import { StoreRefused } from "../store.ts";

/** "PLNT": shown by `file` and SQLite's tools; identifies a file of this program. */
const APPLICATION_ID = 0x504c4e54;
/**
 * Longest wait of a transaction for another process's transaction, ms: longer than the slowest checkpoint that we have
 * seen on a disk, and shorter than a lease.
 */
const BUSY_TIMEOUT_MS = 4000;
/** Size to which the log is cut after a checkpoint, bytes. */
const JOURNAL_SIZE_LIMIT = 64 * 2 ** 20;

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Migrations from one version of the tables to the next; the file's `user_version` counts how many it has applied.
 * Append only.
 * `counter` gives epochs: it never goes back, even if a room is removed and another one of its name is created.
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
  // The id tells whether another database is a copy of this one (sqliteRescue.ts).
  `ALTER TABLE counter ADD COLUMN id TEXT NOT NULL DEFAULT '';
   UPDATE counter SET id = lower(hex(randomblob(16)));`,
  `CREATE TABLE saved_scenes (
     id TEXT PRIMARY KEY, title TEXT NOT NULL, scene TEXT NOT NULL, origin TEXT NOT NULL, address TEXT, bytes INTEGER NOT NULL,
     created_at TEXT NOT NULL, changed_at TEXT NOT NULL, picture BLOB
   ) STRICT;
   CREATE INDEX saved_scenes_by_scene ON saved_scenes (scene);`,
];

/** Report that acknowledged data is, or may be, missing. */
export interface StoreLoss {
  code: StoreLossCode;
  reason: string;
  /** Path of the damaged file or log; null: nothing is left of it. */
  keptAs: string | null;
  /** Number of rooms that the store still has. */
  rooms: number;
}

export interface Opened {
  database: DatabaseSync;
  /** null: no loss. */
  loss: StoreLoss | null;
}

/** BEGIN and COMMIT, prepared once for each database, because every write needs both. */
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
 * Runs work in a transaction. It takes SQLite's write lock at its beginning, so that the data it reads does not change
 * before the commit.
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
 * @param path of the file; its folder is created
 * @throws StoreRefused if the file belongs to a newer version or another program; Error if the folder is not writable
 */
export function openFile(path: string): Opened {
  mkdirSync(dirname(path), { recursive: true });
  // findDamage runs twice: another process may have been writing its log during the first read.
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
      reason: `the last noted beat of the store is ${noted}, but the store is at ${beat}`,
      keptAs: null,
    };
  noteBeat(path, beat);
  const rooms = Number(database.prepare("SELECT count(*) AS n FROM rooms").get()?.n);
  return { database, loss: loss && { ...loss, rooms } };
}

/** Copies the log into the file, without waiting for other connections. */
export function followLog(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

/** Returns true for errors that mean damaged bytes, rather than a busy, full or unreachable file. */
export function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode;
  // The low byte is the error; the other bytes tell its kind.
  return code !== undefined && [SQLITE_CORRUPT, SQLITE_NOTADB].includes(code & 0xff);
}

function openChecked(path: string): DatabaseSync {
  keepPrivate(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const pragma = (text: string): unknown => Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
    // First check whose file it is: another program's file must not be written.
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

/**
 * Makes the file private: it contains password hashes, addresses and the audit log. SQLite gives its log the same mode.
 */
function keepPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    // Another user's file that we may write: leave its mode.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

function migrate(database: DatabaseSync): void {
  // Read the version again under the lock: another process may have migrated meanwhile.
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
  // Move the log, too: SQLite would take it for the log of the new file.
  for (const suffix of ["-wal", "-shm"]) if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix);
  return target;
}
