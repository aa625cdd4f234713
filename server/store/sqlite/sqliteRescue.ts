/**
 * Recovers from SQLite files that are deleted or replaced while the server runs. SQLite does not notice: it continues
 * to write to files without a name, and the next start finds nothing. Therefore every call checks the files, and it is
 * acknowledged only if they are the files that were opened:
 *
 *     gone       the open connection still has all acknowledged data: write it to a new file under the old name (VACUUM
 *                INTO), and open that file instead
 *     followed   another process has done so already: open the new file. The current call fails, because it may have
 *                written to the old file
 *     replaced   another database has the name: leave it alone, write our data to a file beside it, and refuse all
 *                calls until the server is restarted
 *
 * One process at a time does this: the one that has created LOCK.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreFilesCode } from "../../metrics/store.ts";
import { isCertainlyDead, processName } from "../processName.ts";

/** The database, its log and the log's index. */
const SUFFIXES = ["", "-wal", "-shm"] as const;
const LOCK = "-rescue";
const OWN_NAME = processName();
/** A lock that is older than this was left by a lost thread, ms. */
const LOCK_KEPT_MS = 600_000;

/** Report of deleted or replaced files, and of the recovery. */
export interface FilesChange {
  code: StoreFilesCode;
  reason: string;
  /** File with all acknowledged writes; null: only the lost files have them. */
  keptAs: string | null;
}

export class FilesChanged extends Error {
  readonly change: FilesChange;

  constructor(change: FilesChange) {
    super(change.reason);
    this.name = "FilesChanged";
    this.change = change;
  }
}

const identityOf = (path: string): string | null => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.dev} ${found.ino}` : null;
};

/** Identities of the files that were opened. */
export class HeldFiles {
  readonly #path: string;
  readonly #held: readonly (string | null)[];

  /** @param path of a database that is open and has been written to */
  constructor(path: string) {
    this.#path = path;
    this.#held = SUFFIXES.map((suffix) => identityOf(path + suffix));
  }

  /** @returns which file is no longer the one that was opened; null: none has changed */
  changed(): string | null {
    for (const [i, suffix] of SUFFIXES.entries()) {
      const now = identityOf(this.#path + suffix);
      if (now !== this.#held[i]) return `${this.#path}${suffix} was ${now === null ? "deleted" : "replaced"}`;
    }
    return null;
  }

  /** Deletes the log and its index by name. Otherwise a new database of this name would take them for its own. */
  forgetLog(): void {
    for (const [i, suffix] of SUFFIXES.entries())
      if (suffix !== "" && this.#held[i] !== null && identityOf(this.#path + suffix) === this.#held[i])
        rmSync(this.#path + suffix);
  }

  /** State of the database's own file. */
  get main(): "held" | "gone" | "other" {
    const now = identityOf(this.#path);
    return now === this.#held[0] ? "held" : now === null ? "gone" : "other";
  }
}

interface Held {
  database: DatabaseSync;
  files: HeldFiles;
  /** Last acknowledged beat of the store (sqliteLog.ts). */
  beat: number;
}

/**
 * Writes lost files again. Closes the database in all cases except STORE_FILES_GONE.
 * @returns the change: all acknowledged writes, and those of the current call, are in the file of the old name
 * @throws FilesChanged the call must not be acknowledged
 */
export function rescue(path: string, held: Held): FilesChange {
  const why = held.files.changed() ?? `${path} was replaced`;
  mkdirSync(dirname(path), { recursive: true });
  const unlock = lock(path, why);
  try {
    return held.files.main === "other" ? followed(path, held, why) : rewritten(path, held, why);
  } finally {
    unlock();
  }
}

/** Takes LOCK. @returns call it to release the lock */
function lock(path: string, why: string): () => void {
  const name = path + LOCK;
  try {
    if (isCertainlyDead(readFileSync(name, "utf8")) || Date.now() - statSync(name).mtimeMs > LOCK_KEPT_MS) rmSync(name);
  } catch {
    // There is no lock.
  }
  try {
    // Write the file first and link it then, so that the lock never exists without its content.
    writeFileSync(`${name}-${process.pid}`, OWN_NAME, { mode: 0o600 });
    linkSync(`${name}-${process.pid}`, name);
  } catch (error) {
    throw gone(`${why}, and ${name} cannot be made: ${(error as Error).message}`);
  } finally {
    rmSync(`${name}-${process.pid}`, { force: true });
  }
  return () => rmSync(name, { force: true });
}

const gone = (reason: string): FilesChanged => new FilesChanged({ code: "STORE_FILES_GONE", reason, keptAs: null });

function rewritten(path: string, { database, files }: Held, why: string): FilesChange {
  const copy = `${path}.rewritten`;
  try {
    copyTo(database, copy);
  } catch (error) {
    throw gone(`${why}, and could not be written again: ${(error as Error).message}`);
  }
  const isHeld = files.main === "held";
  // SQLite would take the old file's log for that of the new file.
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  database.close();
  // Link instead of rename, so that a file created meanwhile is not overwritten.
  if (isHeld) renameSync(copy, path);
  else {
    linkSync(copy, path);
    rmSync(copy);
  }
  syncFolder(path);
  return { code: "STORE_FILES_REWRITTEN", reason: why, keptAs: path };
}

function followed(path: string, { database, files, beat }: Held, why: string): never {
  files.forgetLog();
  const own = identityIn(database);
  let other: ReturnType<typeof identityIn> | null = null;
  try {
    const found = new DatabaseSync(path, { readOnly: true });
    other = identityIn(found);
    found.close();
  } catch {
    // The file is no database, or one of another program.
  }
  if (other && other.id === own.id && other.beat >= beat) {
    closeApart(path, database);
    throw new FilesChanged({ code: "STORE_FILES_FOLLOWED", reason: why, keptAs: path });
  }
  const copy = `${path}.replaced-${new Date().toISOString().replaceAll(":", "-")}`;
  let keptAs: string | null = copy;
  try {
    copyTo(database, copy);
  } catch {
    keptAs = null;
  }
  closeApart(path, database);
  throw new FilesChanged({ code: "STORE_FILE_REPLACED", reason: why, keptAs });
}

const identityIn = (database: DatabaseSync): { id: string; beat: number } => {
  const row = database.prepare("SELECT id, beat FROM counter").get();
  return { id: String(row?.id), beat: Number(row?.beat) };
};

/** Copies all committed data; it is synced to the disk when this returns. */
function copyTo(database: DatabaseSync, path: string): void {
  rmSync(path, { force: true });
  // Create an empty private file, which SQLite accepts as the target.
  closeSync(openSync(path, "wx", 0o600));
  database.prepare("VACUUM INTO ?").run(path);
  sync(path);
}

/** Closes the connection. SQLite then deletes the log by name, so a log of another database is renamed meanwhile. */
function closeApart(path: string, database: DatabaseSync): void {
  const logs = ["-wal", "-shm"].map((suffix) => path + suffix).filter((log) => identityOf(log) !== null);
  for (const log of logs) renameSync(log, `${log}.apart`);
  try {
    database.close();
  } finally {
    for (const log of logs) renameSync(`${log}.apart`, log);
  }
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
