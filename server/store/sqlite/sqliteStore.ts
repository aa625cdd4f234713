/**
 * The embedded store: one SQLite file, without any setup. A separate thread does the work (sqliteThread.ts);
 * sqliteFile.ts explains how safe it is and why. Several processes of one machine may share the file. Bytes are copied
 * once on their way to the thread.
 */
import { OBJECT_OPERATIONS } from "../../metrics/store.ts";
import type { ObjectStore } from "../objects/objectStore.ts";
import { Caller, type PlainError } from "./threadCalls.ts";
import type { Opened, StoreLoss } from "./sqliteFile.ts";
import type { FilesChange } from "./sqliteRescue.ts";
import type { ThreadOptions } from "./sqliteThread.ts";
import type {
  QuarantineLimits,
  AuditEntry,
  BadPiece,
  Checkpoint,
  Holder,
  JournalSegment,
  Lease,
  Listing,
  Quarantined,
  ProcessReport,
  Rewritten,
  RoomRecord,
  QuarantinedPiece,
  Store,
  StoredReport,
} from "../store.ts";
import { AUDIT_ENTRIES, LEASE_SECONDS, LeaseLost, StoreBehind, StoreRefused, StoreUnavailable } from "../store.ts";
import { STORE_AWAY_SECONDS } from "../storeHealth.ts";

export interface SqliteOptions {
  /** The file. */
  path: string;
  leaseSeconds?: number;
  auditEntries?: number;
  /** Called if acknowledged data is missing. */
  onLoss?: (loss: StoreLoss) => void;
  /** Called, with the next ping, if the files were deleted or replaced. */
  onFilesChanged?: (change: FilesChange) => void;
}

const threadFile = new URL("./sqliteThread.ts", import.meta.url);

export class SqliteStore implements Store {
  readonly kind = "sqlite";
  readonly leaseSeconds: number;
  readonly objects: ObjectStore;
  readonly #options: SqliteOptions;
  readonly #caller: Caller;

  constructor(options: SqliteOptions) {
    this.#options = options;
    this.leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;
    this.#caller = new Caller(
      threadFile,
      {
        path: options.path,
        leaseSeconds: this.leaseSeconds,
        auditEntries: options.auditEntries ?? AUDIT_ENTRIES,
      } satisfies ThreadOptions,
      (error) => this.#revive(error),
    );
    this.objects = Object.fromEntries(
      OBJECT_OPERATIONS.map((name) => [name, (...args: unknown[]) => this.#requested(name, ...args)]),
    ) as unknown as ObjectStore;
  }

  async open(): Promise<void> {
    let opened: Pick<Opened, "loss">;
    try {
      opened = (await this.#caller.call("open", [])) as typeof opened;
    } catch (error) {
      if (error instanceof StoreRefused) throw error;
      throw new StoreUnavailable(`the SQLite store ${this.#options.path} cannot be opened`, error);
    }
    if (opened.loss) this.#options.onLoss?.(opened.loss);
  }

  async close(): Promise<void> {
    await this.#call("close");
    await this.#caller.end();
  }

  async ping(): Promise<void> {
    try {
      await this.#call("ping");
    } finally {
      const changes = await this.#call<FilesChange[]>("changes");
      for (const change of changes) this.#options.onFilesChanged?.(change);
    }
  }

  async createRoom(
    record: RoomRecord,
    holder: Holder,
    key?: string,
  ): Promise<{ created: true; lease: Lease } | { created: false; room: Listing }> {
    return this.#requested("createRoom", record, holder, key ?? null);
  }

  async claim(room: string, holder: Holder, { quarantined = false } = {}): Promise<Lease | null> {
    return this.#call("claim", room, holder, quarantined);
  }

  async readWrites(leases: readonly Lease[]): Promise<number[]> {
    return this.#call("readWrites", leases);
  }

  async countAttempts(lease: Lease, attempts: number): Promise<void> {
    await this.#fenced(lease, "countAttempts", attempts);
  }

  async quarantine(lease: Lease, quarantined: Quarantined): Promise<void> {
    await this.#fenced(lease, "quarantine", quarantined);
  }

  async endQuarantine(lease: Lease): Promise<void> {
    await this.#fenced(lease, "endQuarantine");
  }

  async renew(holder: Holder, leases: readonly (Lease & { members: number })[]): Promise<string[]> {
    return this.#answered("renew", this.#caller.call("renew", [holder, leases], { urgent: true }));
  }

  async report(report: ProcessReport): Promise<void> {
    await this.#answered("report", this.#caller.call("report", [report], { urgent: true }));
  }

  async processes(): Promise<StoredReport[]> {
    return this.#call("processes");
  }

  async release(lease: Lease): Promise<void> {
    await this.#call("release", lease);
  }

  async endLeases(process: string): Promise<string[]> {
    return this.#call("endLeases", process);
  }

  async removeRoom(lease: Lease): Promise<void> {
    await this.#fenced(lease, "removeRoom");
  }

  async changeScene(lease: Lease, scene: string): Promise<void> {
    await this.#fenced(lease, "changeScene", scene);
  }

  async writeSettings(lease: Lease, settings: Record<string, unknown>): Promise<void> {
    await this.#fenced(lease, "writeSettings", settings);
  }

  async writeMembers(lease: Lease, records: Uint8Array): Promise<void> {
    await this.#fenced(lease, "writeMembers", records);
  }

  async readMembers(room: string): Promise<Uint8Array | null> {
    return this.#call("readMembers", room);
  }

  async rooms(): Promise<Listing[]> {
    return this.#requested("rooms");
  }

  async room(name: string): Promise<Listing | null> {
    return this.#requested("room", name);
  }

  async writeCheckpoint(lease: Lease, checkpoint: Checkpoint): Promise<void> {
    await this.#fenced(lease, "writeCheckpoint", checkpoint);
  }

  async appendJournal(lease: Lease, segment: JournalSegment): Promise<void> {
    await this.#fenced(lease, "appendJournal", segment);
  }

  async checkpointTicks(room: string): Promise<{ tick: number; bytes: number }[]> {
    return this.#call("checkpointTicks", room);
  }

  async readCheckpoint(room: string, tick: number): Promise<Checkpoint | null> {
    return this.#call("readCheckpoint", room, tick);
  }

  async readJournal(room: string, after: number): Promise<JournalSegment[]> {
    return this.#call("readJournal", room, after);
  }

  async prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): Promise<void> {
    await this.#fenced(lease, "prune", keepTicks, journalAfter);
  }

  async truncate(lease: Lease, tick: number, instead?: Rewritten): Promise<void> {
    await this.#fenced(lease, "truncate", tick, instead);
  }

  async quarantinePieces(
    lease: Lease,
    pieces: readonly BadPiece[],
    at: string,
    limits: QuarantineLimits,
  ): Promise<void> {
    await this.#fenced(lease, "quarantinePieces", pieces, at, limits);
  }

  async listQuarantinedPieces(room: string): Promise<QuarantinedPiece[]> {
    return this.#call("listQuarantinedPieces", room);
  }

  async readQuarantinedPiece(room: string, id: number): Promise<Uint8Array | null> {
    return this.#call("readQuarantinedPiece", room, id);
  }

  async removeQuarantinedPiece(room: string, id: number): Promise<boolean> {
    return this.#call("removeQuarantinedPiece", room, id);
  }

  async expireQuarantinedPieces(before: string): Promise<void> {
    await this.#call("expireQuarantinedPieces", before);
  }

  async audit(entry: AuditEntry): Promise<void> {
    await this.#call("audit", entry);
  }

  async readAudit(options: { room?: string; limit: number }): Promise<AuditEntry[]> {
    return this.#requested("readAudit", options);
  }

  #call<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#answered(method, this.#caller.call(method, args));
  }

  /**
   * For visitors' requests. While another process holds the file's lock, each write waits for it; a request then fails
   * after STORE_AWAY_SECONDS instead of waiting for all earlier writes.
   */
  #requested<T>(method: string, ...args: unknown[]): Promise<T> {
    return this.#answered(method, this.#caller.call(method, args, { waitMs: STORE_AWAY_SECONDS * 1000 }));
  }

  async #answered<T>(method: string, answer: Promise<unknown>): Promise<T> {
    try {
      return (await answer) as T;
    } catch (error) {
      throw error instanceof StoreUnavailable
        ? error
        : new StoreUnavailable(`the SQLite store ${this.#options.path} could not ${method}`, error);
    }
  }

  /** @throws LeaseLost, StoreBehind */
  async #fenced(lease: Lease, method: string, ...args: unknown[]): Promise<void> {
    try {
      await this.#caller.call(method, [lease, ...args]);
    } catch (error) {
      if ((error as Error).name === "LeaseLost") throw new LeaseLost(lease);
      if ((error as Error).name === "StoreBehind") throw new StoreBehind(lease, (error as StoreBehind).has);
      throw new StoreUnavailable(
        `the SQLite store ${this.#options.path} could not ${method} of room ${lease.room}`,
        error,
      );
    }
  }

  #revive({ name, message, details }: PlainError): Error {
    if (name === "StoreRefused") return new StoreRefused(message);
    const hint =
      details.damaged === true
        ? "; the file is damaged: the next start moves it aside and begins with an empty store"
        : "";
    return Object.assign(new Error(message + hint), { name, has: details.has });
  }
}
