/**
 * The store: all data that outlives a process, that is rooms, their leases, and their states. One interface, tested by
 * one conformance suite (tests/server/store/conformance.ts) against every implementation.
 *
 *     room     -> a name, a scene, settings                         listed as long as it exists, with or without owner
 *     lease    -> the process that may step the room and write      ends by the store's own clock; each new lease has a
 *              for it                                               higher epoch
 *     checkpoints, journal                                          the state at some ticks, and every input after them
 *     objects, and scenes of them                                   visitors' uploads (objectStore.ts)
 *
 * 1. Every write for a room names its lease. The store compares the epoch in the transaction and throws `LeaseLost` if
 *    the room was claimed again, released or removed. So a process that was stopped, cut off or slow cannot write
 *    over its successor.
 * 2. The writes of a lease are numbered, and each names the last acknowledged one before it. If the store no longer has
 *    that write (a replica without the last transactions took over), it writes nothing and throws `StoreBehind`;
 *    otherwise the journal would have a gap. The writer then sends the missing writes again.
 * 3. An expired lease that no process has claimed since may still write and be renewed. This is safe, because a claim
 *    raises the epoch in one transaction. So a process that was away from the store longer than a term finds its rooms
 *    unharmed if no other process could claim them. It must not step them meanwhile; its own clock ensures that
 *    (server/cluster).
 */

import type { QuarantineReason } from "../metrics/cluster.ts";
import type { ObjectStore } from "./objects/objectStore.ts";

/**
 * Term of a lease, s. It is renewed every third of the term, so that one lost renewal does no harm. Rooms of a dead
 * process stay paused for at most one term.
 */
export const LEASE_SECONDS = 6;
/** Most entries of the audit log. The newest are kept, so that repeated refusals cannot fill the disk. */
export const AUDIT_ENTRIES = 100_000;

/** A process as the store knows it. */
export interface Holder {
  /** Unique over all processes and restarts. */
  process: string;
  /** URL at which other processes reach it, http://host:port. */
  url: string;
}

export interface RoomRecord {
  name: string;
  scene: string;
  pool: "shared" | "dedicated";
  /** ISO 8601. */
  createdAt: string;
  /** Choices of the room's creator (password hash, roles, ...): JSON that the store reads and writes as a whole. */
  settings: Record<string, unknown>;
}

/** The right to step a room. Plain data; the store checks its `epoch`. */
export interface Lease {
  room: string;
  process: string;
  epoch: number;
  /** In a claim: how often the room was claimed since it last settled, this claim included (`countAttempts`). */
  attempts?: number;
  /**
   * Ascending number of this write within the lease. A delayed write that arrives after a later one is refused with
   * LeaseLost. Absent: not checked.
   */
  write?: number;
  /** Number of the lease's last acknowledged write, which the store must have. Absent: not checked. */
  after?: number;
}

/** Why a room is quarantined. All its data is kept until an operator decides. */
export interface Quarantined {
  reason: QuarantineReason;
  /** ISO 8601, by the clock of the process that quarantined it. */
  since: string;
  /** Explanation for the operator. */
  details: string;
  /** With reason `version`: the state identity that can read the room's states (workers/stateIdentity.ts). */
  identity?: string;
}

export interface Listing extends RoomRecord {
  /** null: the room has no owner, because its lease was released or has expired. */
  owner: (Holder & { epoch: number; secondsLeft: number }) | null;
  /** Last owner's process if its lease has expired; null while the room is owned and after a release. */
  expired: string | null;
  /** Connected members at the last renewal. */
  members: number;
  /** null: not quarantined. */
  quarantined: Quarantined | null;
  /** See `Lease.attempts`. */
  attempts: number;
}

export interface Checkpoint {
  /** Wire tick of the state. */
  tick: number;
  /** State identity that can read `state`: kernel, scene and format (server/persistence). */
  identity: string;
  /** State bytes, compressed or not. The writer adds a checksum, and the reader checks it to detect damage on disk. */
  state: Uint8Array;
}

/**
 * All inputs after tick `after` up to and including tick `until` (wire ticks). A room with a checkpoint at or before
 * `after` and all segments from there can be stepped to `until`.
 */
export interface JournalSegment {
  after: number;
  until: number;
  bytes: Uint8Array;
}

/** Returns the time `days` before `at`, ISO 8601: the limit for rows that are kept for `days`. */
export const daysBefore = (at: string, days: number): string =>
  new Date(Date.parse(at) - days * 24 * 3600 * 1000).toISOString();

/** Replacement for the data that `truncate` deletes. */
export interface Rewritten {
  /** All inputs since its `after`, which is not later than the last kept tick. */
  segment?: JournalSegment;
  checkpoint?: Checkpoint;
}

/** A stored row of a room that goes into quarantine, and the reason. */
export interface BadPiece {
  what: PieceKind;
  /** Tick of a checkpoint, last tick of a journal segment, 0 for members. */
  tick: number;
  reason: string;
}

export type PieceKind = "checkpoint" | "journal" | "members";

/** A quarantined row: no longer used for its room, but kept for an operator. */
export interface QuarantinedPiece extends BadPiece {
  id: number;
  /** For a journal segment: the tick after which it begins. */
  after: number | null;
  /** ISO 8601, by the clock of the process that quarantined it. */
  at: string;
  bytes: number;
}

/** Limits of quarantined rows: age and size. */
export interface QuarantineLimits {
  days: number;
  /** Limit of each room; the newest rows are kept. */
  bytes: number;
}

export interface AuditEntry {
  /** ISO 8601, by the process's clock. */
  at: string;
  /** A token's subject, `visitor at <address>`, or `member <number> (<name>)`. */
  actor: string;
  /** kick, ban, dispose, undo, token, ... */
  action: string;
  room: string | null;
  details: Record<string, unknown>;
}

/** starting: not ready now. draining: handing its rooms over. gone: shut down properly. */
export type ProcessState = "starting" | "ready" | "draining" | "gone";

/** A room that a process has handed over. */
export interface GivenRoom {
  room: string;
  /** Receiver of the room; null: any process of the same version. */
  to: string | null;
  /** Age of the report, s. */
  secondsAgo: number;
}

/** A process's report about itself, for the other processes. */
export interface ProcessReport extends Holder {
  /** URL for visitors; null: not configured. */
  publicUrl: string | null;
  /** Version of the program. Processes of one version can read each other's states of the same scene. */
  version: string;
  state: ProcessState;
  /** Share of the stepping threads' time that its shared rooms take, 0 to 1. */
  load: number;
  rooms: number;
  maxRooms: number;
  /** Connected members. */
  members: number;
  memoryBytes: number;
  /** Wall time by its own clock, ms; absent: a process of an earlier version. */
  clockMs?: number;
  given: GivenRoom[];
}

/** A report as it was written, which may have any form. */
export interface StoredReport {
  /** Name of the process that wrote it. The report speaks for no other process. */
  process: string;
  /** JSON. */
  text: string;
  /** Time until the report expires, s; negative after its end. */
  secondsLeft: number;
}

export interface ListedProcess extends ProcessReport {
  /** Time until the report expires, s; negative after its end. */
  secondsLeft: number;
}

/** Expired reports are kept for this long, s: the log can then name the dead owner of a room. */
export const PROCESS_KEPT_SECONDS = 600;

/** The writer's lease is not the current one: the room was claimed again, released or removed. Nothing was written. */
export class LeaseLost extends Error {
  readonly room: string;

  constructor(lease: Lease) {
    super(`the lease of room ${lease.room} (epoch ${lease.epoch}) is not the current one`);
    this.name = "LeaseLost";
    this.room = lease.room;
  }
}

/** The store has gone back: it has lost writes of this lease that it had acknowledged. Nothing was written. */
export class StoreBehind extends Error {
  readonly room: string;
  /** Number of the lease's last write that the store has; 0: none. */
  readonly has: number;

  constructor(lease: Lease, has: number) {
    super(
      `the store has write ${has} of room ${lease.room} (epoch ${lease.epoch}), but had acknowledged ${lease.after}`,
    );
    this.name = "StoreBehind";
    this.room = lease.room;
    this.has = has;
  }
}

/** The existing data belongs to another application or a newer program. It is left unchanged, and opening fails. */
export class StoreRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StoreRefused";
  }
}

/**
 * The store did not answer, or not in time, so the outcome is unknown. The operation may be repeated: a repetition has
 * no further effect, and a lease whose answer was lost expires.
 */
export class StoreUnavailable extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what}: ${reasonOf(cause)}`, { cause });
    this.name = "StoreUnavailable";
  }
}

/** An AggregateError (both addresses of a name refused) has no message of its own. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.errors.length > 0)
    return [...new Set(cause.errors.map(reasonOf))].join(", ");
  return cause instanceof Error ? cause.message : String(cause);
}

/**
 * Every method rejects with an Error that names the failed operation; none leaves partial work behind. A method that
 * throws LeaseLost also throws StoreBehind if the lease has `after`.
 */
export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** Full term of its leases, s. */
  readonly leaseSeconds: number;
  /** Visitors' objects and their scenes. */
  readonly objects: ObjectStore;

  /** Creates or migrates the tables. @throws StoreRefused if they are newer than this program */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Runs a trivial operation. Rejects if the store does not answer, or accepts no writes. */
  ping(): Promise<void>;

  /**
   * Creates the room and claims it in one transaction; returns the existing room if the name is taken.
   * @param key idempotency key of the request: a repeated key returns the room that it created, even under a
   *   generated name. Deleted with the room.
   * @returns created: false and the listing if the room existed; only the creator gets a lease
   */
  createRoom(
    record: RoomRecord,
    holder: Holder,
    key?: string,
  ): Promise<{ created: true; lease: Lease } | { created: false; room: Listing }>;
  /**
   * Claims a room without owner and counts an attempt.
   * @param options quarantined: claim a quarantined room, too, without counting an attempt
   * @returns null: the room does not exist, its lease has not expired, or it is quarantined
   */
  claim(room: string, holder: Holder, options?: { quarantined?: boolean }): Promise<Lease | null>;
  /**
   * Returns for each lease the highest write number in the store; -1: the lease is not the current one. With it a
   * process that has nothing to write detects that the store has gone back.
   */
  readWrites(leases: readonly Lease[]): Promise<number[]>;
  /** Sets the number of attempts; 0: the room has settled. @throws LeaseLost */
  countAttempts(lease: Lease, attempts: number): Promise<void>;
  /** Quarantines the room until `endQuarantine`, and ends the lease. @throws LeaseLost */
  quarantine(lease: Lease, quarantined: Quarantined): Promise<void>;
  /** Ends the quarantine and sets the attempts to 0. The lease continues. @throws LeaseLost */
  endQuarantine(lease: Lease): Promise<void>;
  /**
   * Renews leases for a full term from now, including expired ones that no process has claimed, and stores the member
   * counts. Uses a separate connection, so that it waits for no other operation of this process.
   * @returns rooms whose lease was lost
   */
  renew(holder: Holder, leases: readonly (Lease & { members: number })[]): Promise<string[]>;
  /**
   * Replaces the process's report, which is valid for a full term from now. Uses the connection of the renewals; rooms
   * do not depend on it.
   */
  report(report: ProcessReport): Promise<void>;
  /** Lists recent reports of processes, including expired ones. */
  processes(): Promise<StoredReport[]>;
  /** Releases a room, so that any process can claim it at once. Does nothing if the lease is already lost. */
  release(lease: Lease): Promise<void>;
  /**
   * Ends all leases of a process that is known to be dead (processName.ts), so that its rooms can be claimed at once.
   * The listings still name the process as their last owner.
   * @returns the names of its rooms
   */
  endLeases(process: string): Promise<string[]>;
  /** Deletes the room: record, members, checkpoints, journal and quarantined rows. @throws LeaseLost */
  removeRoom(lease: Lease): Promise<void>;
  /** Gives the room another scene and deletes its checkpoints and journal, in one transaction. @throws LeaseLost */
  changeScene(lease: Lease, scene: string): Promise<void>;
  /** @throws LeaseLost */
  writeSettings(lease: Lease, settings: Record<string, unknown>): Promise<void>;
  rooms(): Promise<Listing[]>;
  room(name: string): Promise<Listing | null>;

  /** Replaces the stored members of the room. @throws LeaseLost */
  writeMembers(lease: Lease, records: Uint8Array): Promise<void>;
  /** @returns null: no members are stored */
  readMembers(room: string): Promise<Uint8Array | null>;

  /** Writes a checkpoint; replaces one of the same tick. @throws LeaseLost */
  writeCheckpoint(lease: Lease, checkpoint: Checkpoint): Promise<void>;
  /**
   * Appends a segment and replaces all segments that overlap it. So an append whose answer was lost may be repeated,
   * also with further ticks, and every tick is in the journal once. @throws LeaseLost
   */
  appendJournal(lease: Lease, segment: JournalSegment): Promise<void>;
  /** Ticks of all checkpoints, ascending, with their sizes. */
  checkpointTicks(room: string): Promise<{ tick: number; bytes: number }[]>;
  readCheckpoint(room: string, tick: number): Promise<Checkpoint | null>;
  /** Segments with `until` > `after`, ascending. */
  readJournal(room: string, after: number): Promise<JournalSegment[]>;
  /**
   * Deletes checkpoints of all other ticks, and journal segments that end at or before `journalAfter`.
   * @throws LeaseLost
   */
  prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): Promise<void>;

  /**
   * Deletes all checkpoints and journal segments that end after `tick`. Used when a room continues from an earlier
   * state (undo, a damaged checkpoint; -1: from the start), so that its old ticks are not replayed after the new ones.
   * @param instead replacement, written in the same transaction; its segment also replaces all segments that overlap it
   * @throws LeaseLost, StoreBehind
   */
  truncate(lease: Lease, tick: number, instead?: Rewritten): Promise<void>;

  /**
   * Moves rows into quarantine, in one transaction. Missing rows are no error.
   * @param at now, ISO 8601
   * @throws LeaseLost, even for an empty list
   */
  quarantinePieces(lease: Lease, pieces: readonly BadPiece[], at: string, limits: QuarantineLimits): Promise<void>;
  /** Lists the quarantined rows, oldest first. */
  listQuarantinedPieces(room: string): Promise<QuarantinedPiece[]>;
  /** @returns the bytes as they were stored; null: the room has no such row */
  readQuarantinedPiece(room: string, id: number): Promise<Uint8Array | null>;
  /** @returns true: the row existed */
  removeQuarantinedPiece(room: string, id: number): Promise<boolean>;
  /** Deletes rows that were quarantined before this time, ISO 8601. */
  expireQuarantinedPieces(before: string): Promise<void>;

  /** Adds an entry; only the newest AUDIT_ENTRIES are kept. */
  audit(entry: AuditEntry): Promise<void>;
  /** Lists entries, newest first. */
  readAudit(options: { room?: string; limit: number }): Promise<AuditEntry[]>;
}
