/**
 * Metrics of the store's operations: duration, number in flight, failures. Writes that are refused because a lease was
 * lost, or because the store has lost data, show that fencing works; they are not errors.
 */
import type { Counter, Histogram } from "prom-client";
import type { ObjectStore } from "../store/objects/objectStore.ts";
import type { Store } from "../store/store.ts";
import { IO_BUCKETS, type Maker } from "./maker.ts";

/** Methods of the store that send a query. */
type RoomOperation = Exclude<keyof Store, "kind" | "leaseSeconds" | "objects" | "open" | "close">;
export type StoreOperation = RoomOperation | keyof ObjectStore;

export const ROOM_OPERATIONS: readonly RoomOperation[] = [
  "ping",
  "createRoom",
  "claim",
  "readWrites",
  "countAttempts",
  "quarantine",
  "endQuarantine",
  "renew",
  "report",
  "processes",
  "release",
  "endLeases",
  "removeRoom",
  "changeScene",
  "writeSettings",
  "writeMembers",
  "readMembers",
  "rooms",
  "room",
  "writeCheckpoint",
  "appendJournal",
  "checkpointTicks",
  "readCheckpoint",
  "readJournal",
  "prune",
  "truncate",
  "quarantinePieces",
  "listQuarantinedPieces",
  "readQuarantinedPiece",
  "removeQuarantinedPiece",
  "expireQuarantinedPieces",
  "audit",
  "readAudit",
];

export const OBJECT_OPERATIONS = [
  "putObject",
  "object",
  "readShape",
  "readPicture",
  "listObjects",
  "removeObject",
  "objectTotals",
  "putScene",
  "readScene",
  "expireObjects",
  "putSaved",
  "saved",
  "savedWith",
  "readSavedPicture",
  "listSaved",
  "renameSaved",
  "removeSaved",
] as const satisfies readonly (keyof ObjectStore)[];

/** Acknowledged data that is missing at a start: the file, its log, or the end of its log. */
const STORE_LOSSES = ["STORE_DAMAGED", "STORE_LOG_DELETED", "STORE_LOG_DAMAGED"] as const;
export type StoreLossCode = (typeof STORE_LOSSES)[number];

/** Reactions to SQLite files that were deleted or replaced while the server ran (store/sqlite/sqliteRescue.ts). */
const STORE_FILES_CHANGES = [
  "STORE_FILES_REWRITTEN",
  "STORE_FILES_FOLLOWED",
  "STORE_FILE_REPLACED",
  "STORE_FILES_GONE",
] as const;
export type StoreFilesCode = (typeof STORE_FILES_CHANGES)[number];

export type StoreOutcome = "ok" | "refused" | "failed";

export class StoreMetrics {
  readonly #seconds: Histogram<"operation">;
  readonly #errors: Counter<"operation">;
  readonly #fenced: Counter;
  /** Counts losses of acknowledged data. */
  readonly lost: (code: StoreLossCode) => void;
  /** Counts deleted or replaced SQLite files. */
  readonly filesChanged: (code: StoreFilesCode) => void;
  /** Time since the store last accepted a write, s; 0 while it does. Set by the monitor of the store. */
  awaySeconds: () => number = () => 0;
  #underWay = 0;

  constructor(maker: Maker) {
    this.#seconds = maker.histogram(
      "pliant_store_operation_seconds",
      "Time of one operation of the store, by name, whatever its result.",
      IO_BUCKETS,
      ["operation"],
    );
    this.#errors = maker.counter("pliant_store_errors_total", "Operations of the store that failed.", ["operation"]);
    this.#fenced = maker.counter(
      "pliant_store_fenced_writes_total",
      "Refused writes: another process held the room's lease, or the store had lost the preceding data.",
    );
    maker.gauge(
      "pliant_store_away_seconds",
      "Time for which the store has not accepted writes; 0 while it does. From 2 s on the process is not ready.",
      () => this.awaySeconds(),
    );
    this.lost = maker.countBy(
      "pliant_store_losses_total",
      "Starts on a store that lacks acknowledged data; the log has the details.",
      "code",
      STORE_LOSSES,
    );
    this.filesChanged = maker.countBy(
      "pliant_store_files_changed_total",
      "SQLite files deleted or replaced while the server ran, by the server's reaction.",
      "code",
      STORE_FILES_CHANGES,
    );
    maker.gauge("pliant_store_operations_in_flight", "Operations of the store in flight.", () => this.#underWay);
    for (const operation of [...ROOM_OPERATIONS, ...OBJECT_OPERATIONS]) {
      this.#errors.inc({ operation }, 0);
      this.#seconds.zero({ operation });
    }
  }

  /** Starts an operation. @returns a function to call once when it has ended */
  begin(operation: StoreOperation): (outcome: StoreOutcome) => void {
    const startMs = performance.now();
    this.#underWay += 1;
    return (outcome) => {
      this.#underWay -= 1;
      this.#seconds.observe({ operation }, (performance.now() - startMs) / 1000);
      if (outcome === "failed") this.#errors.inc({ operation });
      if (outcome === "refused") this.#fenced.inc();
    };
  }
}
