/**
 * The thread of the SQLite store: opens the file with the first call and answers calls, so that no write and no sync of
 * the disk holds up the main thread.
 */
import { OBJECT_OPERATIONS } from "../metrics/store.ts";
import type { DatabaseSync } from "node:sqlite";
import { answerCalls, threadOptions } from "./rpc.ts";
import { followLog, isDamage, type Opened as OpenedFile, openFile } from "./sqliteFile.ts";
import { forgetBeat, noteBeat } from "./sqliteLog.ts";
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

interface Opened extends OpenedFile {
  work: SqliteWork;
  objects: SqliteObjects;
  following: NodeJS.Timeout;
}

const { path, leaseSeconds, auditEntries } = threadOptions() as ThreadOptions;
let opened: Opened | null = null;

/**
 * Opens when it is needed, not when the thread starts: an error then reaches the caller whole, and a thread that had to
 * be replaced opens by itself.
 */
function ready(): Opened {
  if (opened === null) {
    const { database, loss } = openFile(path);
    opened = {
      database,
      loss,
      work: new SqliteWork(database, leaseSeconds, auditEntries),
      objects: new SqliteObjects(database),
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

const methods = Object.getOwnPropertyNames(SqliteWork.prototype).filter(
  (name) => name !== "constructor",
) as (keyof SqliteWork)[];

answerCalls(
  {
    ...Object.fromEntries(
      methods.map((name) => [
        name,
        (...args: unknown[]) => (ready().work[name] as (...args: unknown[]) => unknown).apply(ready().work, args),
      ]),
    ),
    ...Object.fromEntries(
      OBJECT_OPERATIONS.map((name) => [
        name,
        (...args: unknown[]) => (ready().objects[name] as (...args: unknown[]) => unknown).apply(ready().objects, args),
      ]),
    ),
    open: () => ({ loss: ready().loss }),
    // What is noted is committed: should the store be behind it at a start, something is missing.
    ping: () => noteBeat(path, ready().work.ping()),
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
