/**
 * What outlives a process: rooms, who owns them, and what they need to go on. One interface, one conformance suite
 * (tests/server/store/conformance.ts), run against every implementation.
 *
 *     room     -> a name, a scene, settings                         listed as long as it exists, whoever steps it
 *     lease    -> which process may step it and write for it        ends by the store's own clock; each new one has a
 *              higher epoch
 *     checkpoints, journal                                          the state at some ticks, and every input after them
 *     objects, scenes of them                                       what visitors brought along (objectStore.ts)
 *
 * Whatever writes for a room names its lease. The store compares the epoch in the transaction that writes and throws
 * `LeaseLost` if somebody has claimed the room since, or it was released or removed: a process that was stopped, cut
 * off or slow cannot write over its successor.
 *
 * Writes of a lease are numbered, and each names the last one that it follows. A store which has not got that one any
 * more, because a replica without the last transactions took over, writes nothing and throws `StoreBehind`: what is
 * written next would stand behind a hole. The writer sends again what is missing.
 *
 * A lease that has run out while nobody has claimed the room still writes and may still be renewed. That is safe,
 * because a claim raises the epoch in one transaction, and it is kinder: a process that was away from its store for
 * longer than a term finds its rooms unharmed if nobody else could take them either. What it must not do is step them
 * meanwhile; that is its own clock's business (server/cluster).
 */

import type { ParkedReason } from "../metrics/cluster.ts";
import type { ObjectStore } from "./objectStore.ts";

/**
 * Full term of a lease, s. Renewed every third of it, so that one lost renewal ends nothing; a room of a dead process
 * stands still for at most this long.
 */
export const LEASE_SECONDS = 6;
/** Of the audit log: the newest are kept, so that nobody can fill a disk by being refused. */
export const AUDIT_ENTRIES = 100_000;

/** A process as the store knows it. */
export interface Holder {
  /** Unique over all processes and restarts. */
  process: string;
  /** Where other processes reach it, http://host:port. */
  url: string;
}

export interface RoomRecord {
  name: string;
  scene: string;
  pool: "shared" | "dedicated";
  /** ISO 8601. */
  createdAt: string;
  /** What the room's creator chose (password's hash, roles, ...): JSON, for others to read and write as a whole. */
  settings: Record<string, unknown>;
}

/** The right to step a room. Plain data; `epoch` is what counts. */
export interface Lease {
  room: string;
  process: string;
  epoch: number;
  /** Of a claim: how often the room was claimed since it last settled, this time included (`countAttempts`). */
  attempts?: number;
  /**
   * Which write of this lease it is, ascending. One that is carried out after a later one, because it was held up on
   * its way and given up meanwhile, is refused with LeaseLost. Absent: not compared.
   */
  write?: number;
  /** The last write of this lease that was acknowledged: what `write` rests on. Absent: not compared. */
  after?: number;
}

/** Why a room is not served until an operator says otherwise. Nothing of it is lost. */
export interface Parked {
  reason: ParkedReason;
  /** ISO 8601, by the clock of the process that parked it. */
  since: string;
  /** For the operator to read. */
  details: string;
  /** version: what can read it (workers/identity.ts). */
  identity?: string;
}

export interface Listing extends RoomRecord {
  /** Absent while nobody owns the room: its lease was released or has run out. */
  owner: (Holder & { epoch: number; secondsLeft: number }) | null;
  /** Who had it, if its lease ran out; null while it is owned and after a release. */
  lapsed: string | null;
  /** Connected members, as of the last renewal. */
  members: number;
  /** null: whoever claims it may serve it. */
  parked: Parked | null;
  /** As of `Lease.attempts`. */
  attempts: number;
}

export interface Checkpoint {
  /** Wire tick that the state stands at. */
  tick: number;
  /** What can read `state`: kernel, scene and format; see server/persistence. */
  identity: string;
  /**
   * Compressed or not: bytes to the store. Its checksum is the writer's business, for what is damaged on disk must be
   * noticed by whoever reads it.
   */
  state: Uint8Array;
}

/**
 * Everything that went in after `after` up to and with `until` (wire ticks): a room with a checkpoint at or before
 * `after` and all segments from there can be stepped to `until`.
 */
export interface JournalSegment {
  after: number;
  until: number;
  bytes: Uint8Array;
}

/** Since then something is kept for so many days, ISO 8601. */
export const daysBefore = (at: string, days: number): string =>
  new Date(Date.parse(at) - days * 24 * 3600 * 1000).toISOString();

/** What a room goes on with instead of what is forgotten (`truncate`). */
export interface Rewritten {
  /** Everything since its `after`, which is not later than what is kept. */
  segment?: JournalSegment;
  checkpoint?: Checkpoint;
}

/** Which piece of a room is to be set aside, and why. */
export interface BadPiece {
  what: PieceKind;
  /** Of a checkpoint its tick, of a journal segment its end, of members 0. */
  tick: number;
  reason: string;
}

export type PieceKind = "checkpoint" | "journal" | "members";

/** Something of a room that nothing could be made of: out of the room's way, kept for an operator to look at. */
export interface SetAside extends BadPiece {
  id: number;
  /** Of a journal segment: the tick that it begins after. */
  after: number | null;
  /** ISO 8601, by the clock of the process that set it aside. */
  at: string;
  bytes: number;
}

/** How long and how much is kept of what is set aside. */
export interface AsideLimits {
  days: number;
  /** Of one room; the newest stay. */
  bytes: number;
}

export interface AuditEntry {
  /** ISO 8601, by the process's clock. */
  at: string;
  /** Who: a token's subject, a member's name, `system`. */
  actor: string;
  /** kick, ban, dispose, undo, token, ... */
  action: string;
  room: string | null;
  details: Record<string, unknown>;
}

/** starting: not ready yet, or not now. draining: it gives its rooms up. gone: it has ended in order. */
export type ProcessState = "starting" | "ready" | "draining" | "gone";

/** A room that a process has given up. */
export interface GivenRoom {
  room: string;
  /** For whom; null: for anybody of its version. */
  to: string | null;
  /** When the report was written, s. */
  secondsAgo: number;
}

/** What a process says of itself, for the others. */
export interface ProcessReport extends Holder {
  /** Where visitors reach it; null: nobody has said so. */
  publicUrl: string | null;
  /** Of the program: processes of one version can read each other's states of the same scene. */
  version: string;
  state: ProcessState;
  /** Share of the stepping threads' time that its shared rooms take, 0 to 1. */
  load: number;
  rooms: number;
  maxRooms: number;
  /** Connected. */
  members: number;
  memoryBytes: number;
  given: GivenRoom[];
}

export interface ListedProcess extends ProcessReport {
  /** Until its word has run out; negative: since then. */
  secondsLeft: number;
}

/** Words that have run out are kept for so long, s: whose a room was is worth knowing when its process is dead. */
export const PROCESS_KEPT_SECONDS = 600;

/**
 * Somebody else owns the room now, or nobody: the writer's lease is not the current one any more. Nothing was written.
 */
export class LeaseLost extends Error {
  readonly room: string;

  constructor(lease: Lease) {
    super(`the lease of room ${lease.room} (epoch ${lease.epoch}) is not the current one`);
    this.name = "LeaseLost";
    this.room = lease.room;
  }
}

/**
 * The store has gone back: it has forgotten writes of this lease which it had acknowledged. Nothing was written.
 */
export class StoreBehind extends Error {
  readonly room: string;
  /** The last write of the lease that it has; 0: none. */
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

/** What is there is somebody else's or a newer program's: it is left as it is, and this program cannot use it. */
export class StoreRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StoreRefused";
  }
}

/**
 * The store could not be asked, or did not answer in time; whether the work was done is unknown. It may be tried again:
 * done twice is done once, and a lease whose answer was lost runs out by itself.
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
 * Every method rejects with an Error that says what could not be reached or done; none of them leaves half of its work
 * behind. What throws LeaseLost throws StoreBehind, too, if the lease says what its write follows.
 */
export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** Full term of its leases, s. */
  readonly leaseSeconds: number;
  /** What visitors bring along. */
  readonly objects: ObjectStore;

  /** Makes or migrates its tables. @throws StoreRefused when they are newer than this program */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Asks for something trivial: is it there, and does it take what is written? */
  ping(): Promise<void>;

  /**
   * Makes the room and claims it in one transaction; finds it when the name is taken.
   * @param key of the request that asks: the same key again gets the room that it made, even by another name generated
   *   for it. Forgotten with the room.
   * @returns created: false and the listing when it was there; the lease only to whoever created it
   */
  createRoom(
    record: RoomRecord,
    holder: Holder,
    key?: string,
  ): Promise<{ created: true; lease: Lease } | { created: false; room: Listing }>;
  /**
   * Takes a room that nobody owns, and counts it as an attempt at serving it.
   * @param options parked: also one that is parked, which is no attempt
   * @returns null when there is no such room, somebody's lease still runs, or it is parked
   */
  claim(room: string, holder: Holder, options?: { parked?: boolean }): Promise<Lease | null>;
  /**
   * Of each lease the highest number of a write that the store has; -1: it is not the current one. For whoever has
   * nothing to write and wants to know all the same whether the store has gone back.
   */
  readWrites(leases: readonly Lease[]): Promise<number[]>;
  /** Attempts that the room has behind it; 0: it has settled. @throws LeaseLost */
  countAttempts(lease: Lease, attempts: number): Promise<void>;
  /** Nobody is to serve the room until it is `unpark`ed; ends the lease. @throws LeaseLost */
  park(lease: Lease, parked: Parked): Promise<void>;
  /** May be served again, with no attempts behind it. The lease goes on. @throws LeaseLost */
  unpark(lease: Lease): Promise<void>;
  /**
   * Prolongs leases to a full term from now, also those that ran out while nobody claimed the room; tells how many
   * members each has. Has a line of its own: it waits for no other operation of this process that waits.
   * @returns rooms whose lease was lost
   */
  renew(holder: Holder, leases: readonly (Lease & { members: number })[]): Promise<string[]>;
  /**
   * Replaces what the process has said of itself; holds for a full term from now. Goes by the renewals' line, and is
   * nothing that a room depends on.
   */
  report(report: ProcessReport): Promise<void>;
  /** What processes have said of themselves lately, also those whose word has run out. */
  processes(): Promise<ListedProcess[]>;
  /** Gives a room up for others to claim at once. Nothing happens when the lease is lost already. */
  release(lease: Lease): Promise<void>;
  /**
   * Ends all leases of a process that is known to be dead (processName.ts), so that nobody waits for them. Its rooms
   * have lapsed: whose they were is still known.
   * @returns its rooms
   */
  endLeases(process: string): Promise<string[]>;
  /** Ends the room: record, members, checkpoints, journal and what was set aside of it. @throws LeaseLost */
  removeRoom(lease: Lease): Promise<void>;
  /** @throws LeaseLost */
  writeSettings(lease: Lease, settings: Record<string, unknown>): Promise<void>;
  rooms(): Promise<Listing[]>;
  room(name: string): Promise<Listing | null>;

  /** Who is in the room, as a whole. @throws LeaseLost */
  writeMembers(lease: Lease, records: Uint8Array): Promise<void>;
  /** @returns null: none were written */
  readMembers(room: string): Promise<Uint8Array | null>;

  /** Replaces one of the same tick. @throws LeaseLost */
  writeCheckpoint(lease: Lease, checkpoint: Checkpoint): Promise<void>;
  /**
   * Replaces whatever overlaps it: an append whose answer was lost may be repeated, also with what has come since, and
   * every tick is in the journal once. @throws LeaseLost
   */
  appendJournal(lease: Lease, segment: JournalSegment): Promise<void>;
  /** Ticks of what there is, ascending, with the bytes of each. */
  checkpointTicks(room: string): Promise<{ tick: number; bytes: number }[]>;
  readCheckpoint(room: string, tick: number): Promise<Checkpoint | null>;
  /** Segments with `until` > `after`, ascending. */
  readJournal(room: string, after: number): Promise<JournalSegment[]>;
  /**
   * Drops checkpoints of all ticks but these, and journal segments that end at or before `journalAfter`.
   * @throws LeaseLost
   */
  prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): Promise<void>;

  /**
   * Forgets everything after `tick`: checkpoints later than it, and journal segments that end later. For a room that
   * goes on from an earlier state (undo, a damaged checkpoint; -1: a new beginning): what it lived through before must
   * not be taken for its future.
   * @param instead takes its place in the same transaction; its segment also that of whatever overlaps it
   * @throws LeaseLost, StoreBehind
   */
  truncate(lease: Lease, tick: number, instead?: Rewritten): Promise<void>;

  /**
   * Takes pieces out of a room's way and keeps them, in one transaction. Pieces that are not there are no error.
   * @param at now, ISO 8601
   * @throws LeaseLost, also if there are no pieces
   */
  setAside(lease: Lease, pieces: readonly BadPiece[], at: string, limits: AsideLimits): Promise<void>;
  /** Oldest first. */
  readSetAside(room: string): Promise<SetAside[]>;
  /** @returns as it was stored, or null: there is no such piece of this room */
  readSetAsideBytes(room: string, id: number): Promise<Uint8Array | null>;
  /** @returns was there such a piece? */
  removeSetAside(room: string, id: number): Promise<boolean>;
  /** Forgets what was set aside before then, ISO 8601. */
  expireSetAside(before: string): Promise<void>;

  /** Keeps so many of the newest at most. */
  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  readAudit(options: { room?: string; limit: number }): Promise<AuditEntry[]>;
}
