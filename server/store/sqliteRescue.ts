/**
 * SQLite files that are deleted or replaced while the server runs. SQLite says nothing of it: it goes on writing to
 * files without a name, and the next start has nothing. So the files are looked at with every call, and a call is
 * answered only if its files are the ones that were opened:
 *
 *     gone       the open connection still has all that was acknowledged: it is written to a new file under the old
 *                name (VACUUM INTO), which is opened in place of the old one
 *     followed   another process has done that already: the new file is opened, and the call fails, for it may have
 *                written to the old one
 *     replaced   another database has the name: it is left alone, what there is is written beside it, and no call is
 *                answered any more until the server is started again
 *
 * One process at a time does this, the one that has made LOCK.
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
import type { StoreFilesCode } from "../metrics/store.ts";
import { isCertainlyDead, processName } from "./processName.ts";

/** The database, its log and the log's index. */
const SUFFIXES = ["", "-wal", "-shm"] as const;
const LOCK = "-rescue";
const OWN_NAME = processName();
/** A thread that was lost in the middle leaves a lock that nobody holds, ms. */
const LOCK_KEPT_MS = 600_000;

/** Deleted or replaced files, and the response. */
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

/** Which files were opened. */
export class HeldFiles {
  readonly #path: string;
  readonly #held: readonly (string | null)[];

  /** @param path of a database that is open and has been written to */
  constructor(path: string) {
    this.#path = path;
    this.#held = SUFFIXES.map((suffix) => identityOf(path + suffix));
  }

  /** @returns which file is not the one that was opened; null: all are */
  changed(): string | null {
    for (const [i, suffix] of SUFFIXES.entries()) {
      const now = identityOf(this.#path + suffix);
      if (now !== this.#held[i]) return `${this.#path}${suffix} was ${now === null ? "deleted" : "replaced"}`;
    }
    return null;
  }

  /** Deletes the names of the log and its index. A database of another file would take them for its own. */
  forgetLog(): void {
    for (const [i, suffix] of SUFFIXES.entries())
      if (suffix !== "" && this.#held[i] !== null && identityOf(this.#path + suffix) === this.#held[i])
        rmSync(this.#path + suffix);
  }

  /** The database's own file. */
  get main(): "held" | "gone" | "other" {
    const now = identityOf(this.#path);
    return now === this.#held[0] ? "held" : now === null ? "gone" : "other";
  }
}

interface Held {
  database: DatabaseSync;
  files: HeldFiles;
  /** The newest count of the store that was acknowledged (sqliteLog.ts). */
  beat: number;
}

/**
 * Writes lost files again. Closes the database in all cases but STORE_FILES_GONE.
 * @returns the change: all acknowledged writes, and the current call's, are under the old name
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

/** @returns what ends it */
function lock(path: string, why: string): () => void {
  const name = path + LOCK;
  try {
    if (isCertainlyDead(readFileSync(name, "utf8")) || Date.now() - statSync(name).mtimeMs > LOCK_KEPT_MS) rmSync(name);
  } catch {
    // There is none.
  }
  try {
    // The name is there with the file: linked, not written behind its creation.
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
  // A log of the old file beside the new one would be taken for its own.
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  database.close();
  // Never over a file that somebody has put there meanwhile.
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
    // No database, or none of ours.
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

/** All that is committed, on the disk when this returns. */
function copyTo(database: DatabaseSync, path: string): void {
  rmSync(path, { force: true });
  // Empty and private: SQLite takes it as it is.
  closeSync(openSync(path, "wx", 0o600));
  database.prepare("VACUUM INTO ?").run(path);
  sync(path);
}

/** Closes the connection. SQLite then deletes a log by its name, which may be another database's: that is kept. */
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
