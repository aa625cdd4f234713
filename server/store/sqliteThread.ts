/**
 * The thread of the SQLite store: opens the file with the first call and answers calls, so that no write and no sync of
 * the disk holds up the main thread.
 */
import { OBJECT_OPERATIONS } from "../metrics/store.ts";
import type { DatabaseSync } from "node:sqlite";
import { answerCalls, threadOptions } from "./rpc.ts";
import { followLog, isDamage, type Opened as OpenedFile, openFile } from "./sqliteFile.ts";
import { forgetBeat, noteBeat } from "./sqliteLog.ts";
import { FilesChanged, type FilesChange, HeldFiles, rescue } from "./sqliteRescue.ts";
import { SqliteObjects } from "./sqliteObjects.ts";
import { SqliteWork } from "./sqliteWork.ts";
import { StoreBehind } from "./store.ts";

export interface ThreadOptions {
  path: string;
  leaseSeconds: number;
  auditEntries: number;
}

/** Should the log be lost, the file is no older than this, ms. */
const FOLLOW_MS = 10_000;

/** Between two tries to write lost files again, ms. */
const RESCUE_MS = 1_000;

interface Opened extends OpenedFile {
  work: SqliteWork;
  objects: SqliteObjects;
  files: HeldFiles;
  following: NodeJS.Timeout;
}

const { path, leaseSeconds, auditEntries } = threadOptions() as ThreadOptions;
let opened: Opened | null = null;
/** The newest count that was acknowledged. */
let beat = 0;
/** Why no call is answered: another database has the file's name. */
let refused: FilesChanged | null = null;
/** Changes of the files that the main thread has not asked for yet. */
const changes: FilesChange[] = [];
let rescueAtMs = -Infinity;

/**
 * Opens when it is needed, not when the thread starts: an error then reaches the caller whole, and a thread that had to
 * be replaced opens by itself.
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
    // The disk is full, or somebody else is at it: whoever writes hears of it.
  }
}

/** @throws FilesChanged the call that has just been made must not be acknowledged */
function keepFiles({ database, files, following }: Opened): void {
  const why = files.changed();
  if (why === null) return;
  // What failed, e.g. for want of room, is not tried with each of a thousand calls.
  if (performance.now() < rescueAtMs) throw new FilesChanged({ code: "STORE_FILES_GONE", reason: why, keptAs: null });
  try {
    changes.push(rescue(path, { database, files, beat }));
    rescueAtMs = -Infinity;
  } catch (error) {
    if (!(error instanceof FilesChanged)) throw error;
    const isGone = error.change.code === "STORE_FILES_GONE";
    // Said once, not with each try.
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

/** What was written is acknowledged only if it is in the files that the next start will find. */
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
    // What is noted is committed: should the store be behind it at a start, something is missing.
    ping: () => {
      beat = answered(({ work }) => work.ping());
      noteBeat(path, beat);
    },
    changes: () => changes.splice(0),
    close: () => {
      // The last one that closes leaves one whole file, without a log beside it.
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
