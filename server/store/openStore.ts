/** Opens the store that the configuration names. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type SqliteOptions, SqliteStore } from "./sqlite/sqliteStore.ts";
import type { StoreLoss } from "./sqlite/sqliteFile.ts";
import type { FilesChange } from "./sqlite/sqliteRescue.ts";
import type { Store } from "./store.ts";

/** Name of the SQLite file in the data folder. */
export const STORE_FILE = "pliant.sqlite";

export interface StoreConfig {
  /** `sqlite`, `none`, or a postgres:// URL. */
  store: string;
  /** Folder of the SQLite file. */
  dataDir: string;
}

export interface StoreLog {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
}

/**
 * @returns null for `none`: rooms then live in memory and end with the process
 * @throws StoreRefused, StoreUnavailable; their messages contain no password
 */
export async function openStore(
  { store: wanted, dataDir }: StoreConfig,
  log: StoreLog,
  { onLoss, onFilesChanged, ...options }: Pick<SqliteOptions, "leaseSeconds" | "onLoss" | "onFilesChanged"> = {},
): Promise<Store | null> {
  if (wanted === "none") return null;
  if (wanted !== "sqlite") {
    // Only servers with PostgreSQL load its client.
    const { PostgresStore } = await import("./postgres/postgresStore.ts");
    const { shownUrl } = await import("./postgres/postgresClient.ts");
    const store = new PostgresStore({ url: wanted, ...options });
    await opened(store);
    log.info({ store: shownUrl(wanted) }, "store opened");
    return store;
  }
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, STORE_FILE);
  const store = new SqliteStore({
    path,
    ...options,
    onLoss: (loss) => {
      sayLoss(log, path, loss);
      onLoss?.(loss);
    },
    onFilesChanged: (change) => {
      sayFilesChanged(log, path, change);
      onFilesChanged?.(change);
    },
  });
  await opened(store);
  log.info({ store: path }, "store opened");
  return store;
}

function sayLoss(log: StoreLog, store: string, { code, reason, keptAs, rooms }: StoreLoss): void {
  if (code === "STORE_DAMAGED")
    log.error(
      { store, code, reason, keptAs, rooms },
      "the store's file is damaged: it was moved aside, and the server starts with an empty store",
    );
  else if (code === "STORE_LOG_DELETED")
    log.error(
      { store, code, reason, keptAs, rooms },
      "the store's log is gone: rooms are restored from the file, and later changes are lost",
    );
  else
    log.error(
      { store, code, reason, keptAs, rooms },
      "the store's log is damaged: rooms are restored up to the damage, and later changes are lost",
    );
}

function sayFilesChanged(log: StoreLog, store: string, { code, reason, keptAs }: FilesChange): void {
  if (code === "STORE_FILES_REWRITTEN" || code === "STORE_FILES_FOLLOWED")
    log.error(
      { store, code, reason, keptAs },
      "the store's files were deleted while the server ran: all acknowledged data was written again",
    );
  else if (code === "STORE_FILES_GONE")
    log.error(
      { store, code, reason, keptAs },
      "the store's files were deleted while the server ran, and cannot be written again: nothing is stored",
    );
  else
    log.error(
      { store, code, reason, keptAs },
      "the store's file was replaced while the server ran: nothing is stored until the next start",
    );
}

/** Opens a store; if that fails, ends its thread and connections. */
async function opened(store: Store): Promise<void> {
  try {
    await store.open();
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}
