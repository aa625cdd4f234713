/**
 * The thread of the SQLite store. It opens the file with the first call and answers calls, so that writes and disk
 * syncs do not block the main thread.
 */
import { OBJECT_OPERATIONS } from "../../metrics/store.ts";
import type { DatabaseSync } from "node:sqlite";
import { answerCalls, threadOptions } from "./threadCalls.ts";
import { followLog, isDamage, type Opened as OpenedFile, openFile } from "./sqliteFile.ts";
import { forgetBeat, noteBeat } from "./sqliteLog.ts";
import { FilesChanged, type FilesChange, HeldFiles, rescue } from "./sqliteRescue.ts";
import { SqliteObjects } from "./sqliteObjects.ts";
import { SqliteWork } from "./sqliteWork.ts";
import { StoreBehind } from "../store.ts";

export interface ThreadOptions {
  path: string;
  leaseSeconds: number;
  auditEntries: number;
}

/** Interval at which the log is copied into the file, ms: a lost log loses at most this much. */
const FOLLOW_MS = 10_000;

/** Interval between two attempts to write lost files again, ms. */
const RESCUE_MS = 1_000;

interface Opened extends OpenedFile {
  work: SqliteWork;
  objects: SqliteObjects;
  files: HeldFiles;
  following: NodeJS.Timeout;
}

const { path, leaseSeconds, auditEntries } = threadOptions() as ThreadOptions;
let opened: Opened | null = null;
/** Last acknowledged beat. */
let beat = 0;
/** Error of all further calls, once another database has the file's name. */
let refused: FilesChanged | null = null;
/** Changes of the files that the main thread has not fetched yet. */
const changes: FilesChange[] = [];
let rescueAtMs = -Infinity;

/**
 * Opens the file with the first call instead of at the thread's start. So the caller gets the error of opening, and a
 * thread that replaces a lost one opens the file again.
 */
function ready(): Opened {
  if (refused) throw refused;
  if (opened === null) {
    const { database, loss } = openFile(path);
    opened = {
      database,
      loss,
      work: new SqliteWork(database, leaseSeconds, auditEntries),
      objects: new SqliteObjects(database),
      files: new HeldFiles(path),
      following: setInterval(() => follow(database), FOLLOW_MS),
    };
  }
  return opened;
}

function follow(database: DatabaseSync): void {
  try {
    followLog(database);
  } catch {
    // The disk is full, or another process holds the lock: the next write reports it.
  }
}

/** Checks the files after a call. @throws FilesChanged the call must not be acknowledged */
function keepFiles({ database, files, following }: Opened): void {
  const why = files.changed();
  if (why === null) return;
  // After a failure (for example a full disk) wait RESCUE_MS, instead of retrying with each of a thousand calls.
  if (performance.now() < rescueAtMs) throw new FilesChanged({ code: "STORE_FILES_GONE", reason: why, keptAs: null });
  try {
    changes.push(rescue(path, { database, files, beat }));
    rescueAtMs = -Infinity;
  } catch (error) {
    if (!(error instanceof FilesChanged)) throw error;
    const isGone = error.change.code === "STORE_FILES_GONE";
    // Report it once, not with each retry.
    if (!(isGone && rescueAtMs > 0)) changes.push(error.change);
    if (isGone) rescueAtMs = performance.now() + RESCUE_MS;
    if (error.change.code === "STORE_FILE_REPLACED") refused = error;
    throw error;
  } finally {
    if (!database.isOpen) {
      clearInterval(following);
      opened = null;
    }
  }
}

/** Runs a call and acknowledges it only if its data is in the files that the next start will find. */
function answered<T>(work: (to: Opened) => T): T {
  const to = ready();
  const result = work(to);
  keepFiles(to);
  return result;
}

const methods = Object.getOwnPropertyNames(SqliteWork.prototype).filter(
  (name) => name !== "constructor",
) as (keyof SqliteWork)[];

answerCalls(
  {
    ...Object.fromEntries(
      methods.map((name) => [
        name,
        (...args: unknown[]) =>
          answered(({ work }) => (work[name] as (...args: unknown[]) => unknown).apply(work, args)),
      ]),
    ),
    ...Object.fromEntries(
      OBJECT_OPERATIONS.map((name) => [
        name,
        (...args: unknown[]) =>
          answered(({ objects }) => (objects[name] as (...args: unknown[]) => unknown).apply(objects, args)),
      ]),
    ),
    open: () => ({ loss: ready().loss }),
    // The noted beat is committed. If the store is behind it at a start, data is missing.
    ping: () => {
      beat = answered(({ work }) => work.ping());
      noteBeat(path, beat);
    },
    changes: () => changes.splice(0),
    close: () => {
      // The last connection that closes copies the log into the file and deletes the log.
      if (!opened) return;
      clearInterval(opened.following);
      const { database } = opened;
      opened = null;
      database.close();
      forgetBeat(path);
    },
  },
  (error) => ({ damaged: isDamage(error), ...(error instanceof StoreBehind && { has: error.has }) }),
);
