/**
 * What outlives a process: rooms, who owns them, and what they need to go on. One interface, one conformance suite (tests/server/store/conformance.ts), run
 * against every implementation.
 *
 *     room     -> a name, a scene, settings                         listed as long as it exists, whoever steps it
 *     lease    -> which process may step it and write for it        ends by the store's own clock; each new one has a higher epoch
 *     checkpoints, journal                                          the state at some ticks, and every input after them
 *
 * Whatever writes for a room names its lease. The store compares the epoch in the transaction that writes and throws `LeaseLost` if somebody has claimed the
 * room since, or the lease has run out: a process that was stopped, cut off or slow cannot write over its successor.
 */

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
}

export interface Listing extends RoomRecord {
  /** Absent while nobody owns the room: its lease was released or has run out. */
  owner: (Holder & { epoch: number; secondsLeft: number }) | null;
  /** Connected members, as of the last renewal. */
  members: number;
}

export interface Checkpoint {
  /** Wire tick that the state stands at. */
  tick: number;
  /** What can read `state`: kernel, scene and format; see server/persistence. */
  identity: string;
  /** Compressed or not: bytes to the store. Its checksum is the writer's business, for what is damaged on disk must be noticed by whoever reads it. */
  state: Uint8Array;
}

/** Everything that went in after `after` up to and with `until` (wire ticks): a room with a checkpoint at or before `after` and all segments from there can be stepped to `until`. */
export interface JournalSegment {
  after: number;
  until: number;
  bytes: Uint8Array;
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

/** Somebody else owns the room now, or nobody: the writer's lease is not the current one any more. Nothing was written. */
export class LeaseLost extends Error {
  readonly room: string;

  constructor(lease: Lease) {
    super(`the lease of room ${lease.room} (epoch ${lease.epoch}) is not the current one`);
    this.name = "LeaseLost";
    this.room = lease.room;
  }
}

/** Every method rejects with an Error that says what could not be reached or done; none of them leaves half of its work behind. */
export interface Store {
  readonly kind: "sqlite" | "postgres";

  /** Makes or migrates its tables. @throws when the schema is newer than this program */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Asks for something trivial: is it there? */
  ping(): Promise<void>;

  /**
   * Makes the room and claims it in one transaction; finds it when the name is taken.
   * @param key of the request that asks: the same key again gets the room that it made, even by another name generated for it
   * @returns created: false and the listing when it was there; the lease only to whoever created it
   */
  createRoom(record: RoomRecord, holder: Holder, key?: string): Promise<{ created: true; lease: Lease } | { created: false; room: Listing }>;
  /** Takes a room that nobody owns. @returns null when there is no such room or somebody's lease still runs */
  claim(room: string, holder: Holder): Promise<Lease | null>;
  /** Prolongs leases to a full term from now; tells how many members each has. @returns rooms whose lease was lost */
  renew(holder: Holder, leases: readonly (Lease & { members: number })[]): Promise<string[]>;
  /** Gives a room up for others to claim at once. Nothing happens when the lease is lost already. */
  release(lease: Lease): Promise<void>;
  /** Ends the room: record, checkpoints and journal. @throws LeaseLost */
  removeRoom(lease: Lease): Promise<void>;
  /** @throws LeaseLost */
  writeSettings(lease: Lease, settings: Record<string, unknown>): Promise<void>;
  rooms(): Promise<Listing[]>;
  room(name: string): Promise<Listing | null>;

  /** Replaces one of the same tick. @throws LeaseLost */
  writeCheckpoint(lease: Lease, checkpoint: Checkpoint): Promise<void>;
  /** @throws LeaseLost */
  appendJournal(lease: Lease, segment: JournalSegment): Promise<void>;
  /** Ticks of what there is, ascending, with the bytes of each. */
  checkpointTicks(room: string): Promise<{ tick: number; bytes: number }[]>;
  readCheckpoint(room: string, tick: number): Promise<Checkpoint | null>;
  /** Segments with `until` > `after`, ascending. */
  readJournal(room: string, after: number): Promise<JournalSegment[]>;
  /** Drops checkpoints of all ticks but these, and journal segments that end at or before `journalAfter`. @throws LeaseLost */
  prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): Promise<void>;

  /** The room went back to `tick` (-1: to a new beginning): drops checkpoints of later ticks and journal segments that end later. @throws LeaseLost */
  truncate(lease: Lease, tick: number): Promise<void>;

  audit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  readAudit(options: { room?: string; limit: number }): Promise<AuditEntry[]>;
}
