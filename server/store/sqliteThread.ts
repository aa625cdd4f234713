/**
 * The thread of the SQLite store: opens the file with the first call and answers calls, so that no write and no sync of
 * the disk holds up the main thread.
 */
import type { DatabaseSync } from "node:sqlite";
import { answerCalls, threadOptions } from "./rpc.ts";
import { isDamage, openFile } from "./sqliteFile.ts";
import { SqliteWork } from "./sqliteWork.ts";

export interface ThreadOptions {
  path: string;
  leaseSeconds: number;
  auditEntries: number;
}

interface Opened {
  database: DatabaseSync;
  work: SqliteWork;
  movedTo: string | null;
  damage: string | null;
}

const { path, leaseSeconds, auditEntries } = threadOptions() as ThreadOptions;
let opened: Opened | null = null;

/**
 * Opens when it is needed, not when the thread starts: an error then reaches the caller whole, and a thread that had to
 * be replaced opens by itself.
 */
function ready(): Opened {
  if (opened === null) {
    const { database, movedTo, damage } = openFile(path);
    opened = { database, work: new SqliteWork(database, leaseSeconds, auditEntries), movedTo, damage };
  }
  return opened;
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
    open: () => ({ movedTo: ready().movedTo, damage: ready().damage }),
    close: () => {
      // The last one that closes leaves one whole file, without a log beside it.
      opened?.database.close();
      opened = null;
    },
  },
  (error) => ({ damaged: isDamage(error) }),
);
