/**
 * The store's methods as plain synchronous SQL; runs in the store's thread (sqliteThread.ts). Each method that writes
 * is one transaction that holds the write lock.
 *
 * Leases run by the machine's monotonic clock, not the time of day. All processes that can share a SQLite file share a
 * kernel, and a jump of the time of day would end or extend leases. A lease stores the id of the boot that it belongs
 * to; after a reboot all leases have expired.
 */
import { hostname } from "node:os";
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { bootId } from "../processName.ts";
import { transaction } from "./sqliteFile.ts";
import { listingOf, quarantinedPieceOf } from "../listing.ts";
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
  StoredReport,
} from "../store.ts";
import { daysBefore, LeaseLost, PROCESS_KEPT_SECONDS, StoreBehind } from "../store.ts";

type Row = Record<string, SQLOutputValue>;

/**
 * Id of this boot. If the system does not tell it, the host name is used. Then the clock still restarts with each boot,
 * so a lease may outlive a reboot by its term.
 */
const boot = bootId === "" ? hostname() : bootId;

/** Seconds on a clock that all processes of this machine share and that never jumps. */
const clock = (): number => Number(process.hrtime.bigint()) / 1e9;

const LISTED =
  "SELECT name, scene, pool, created_at, settings, epoch, process, url, boot, lease_until, members, parked, attempts FROM rooms";
const LISTED_ALL = `${LISTED} ORDER BY created_at, name`;
const LISTED_BY_NAME = `${LISTED} WHERE name = ?`;
const LISTED_BY_KEY = `${LISTED} WHERE request_key = ?`;

/** Source of the rows of each kind: columns tick, after, bytes; condition by room and tick. */
const SOURCES: Record<BadPiece["what"], { columns: string; where: string }> = {
  checkpoint: { columns: "tick, NULL, state", where: "checkpoints WHERE room = ? AND tick = ?" },
  journal: { columns: "until_tick, after_tick, bytes", where: "journal WHERE room = ? AND until_tick = ?" },
  members: { columns: "0, NULL, records", where: "members WHERE room = ?" },
};

export class SqliteWork {
  readonly #database: DatabaseSync;
  readonly #leaseSeconds: number;
  readonly #auditEntries: number;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, leaseSeconds: number, auditEntries: number) {
    this.#database = database;
    this.#leaseSeconds = leaseSeconds;
    this.#auditEntries = auditEntries;
  }

  /** Writes a beat. @returns the number of beats so far */
  ping(): number {
    return this.#write(() => Number(this.#get("UPDATE counter SET beat = beat + 1 RETURNING beat")?.beat));
  }

  createRoom(
    record: RoomRecord,
    holder: Holder,
    key: string | null,
  ): { created: true; lease: Lease } | { created: false; room: Listing } {
    return this.#write(() => {
      const found =
        (key === null ? undefined : this.#get(LISTED_BY_KEY, key)) ?? this.#get(LISTED_BY_NAME, record.name);
      if (found) return { created: false, room: toListing(found) };
      const epoch = this.#nextEpoch();
      this.#run(
        "INSERT INTO rooms (name, scene, pool, created_at, settings, request_key, epoch, process, url, boot, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        record.name,
        record.scene,
        record.pool,
        record.createdAt,
        JSON.stringify(record.settings),
        key,
        epoch,
        holder.process,
        holder.url,
        boot,
        this.#leaseEnd(),
      );
      return { created: true, lease: { room: record.name, process: holder.process, epoch } };
    });
  }

  claim(room: string, holder: Holder, quarantinedToo = false): Lease | null {
    return this.#write(() => {
      const row = this.#get("SELECT process, boot, lease_until, parked, attempts FROM rooms WHERE name = ?", room);
      if (!row || secondsLeft(row) > 0 || (row.parked !== null && !quarantinedToo)) return null;
      const epoch = this.#nextEpoch();
      const attempts = Number(row.attempts) + (row.parked === null ? 1 : 0);
      this.#run(
        "UPDATE rooms SET epoch = ?, process = ?, url = ?, boot = ?, lease_until = ?, members = 0, attempts = ?, writes = 0 WHERE name = ?",
        epoch,
        holder.process,
        holder.url,
        boot,
        this.#leaseEnd(),
        attempts,
        room,
      );
      return { room, process: holder.process, epoch, attempts };
    });
  }

  readWrites(leases: readonly Lease[]): number[] {
    return leases.map((lease) => this.#writesOf(lease));
  }

  countAttempts(lease: Lease, attempts: number): void {
    this.#fenced(lease, () => this.#run("UPDATE rooms SET attempts = ? WHERE name = ?", attempts, lease.room));
  }

  quarantine(lease: Lease, quarantined: Quarantined): void {
    this.#fenced(lease, () =>
      this.#run(
        "UPDATE rooms SET parked = ?, process = NULL, url = NULL, lease_until = NULL, members = 0 WHERE name = ?",
        JSON.stringify(quarantined),
        lease.room,
      ),
    );
  }

  endQuarantine(lease: Lease): void {
    this.#fenced(lease, () => this.#run("UPDATE rooms SET parked = NULL, attempts = 0 WHERE name = ?", lease.room));
  }

  renew(holder: Holder, leases: readonly (Lease & { members: number })[]): string[] {
    return this.#write(() => {
      const until = this.#leaseEnd();
      return leases
        .filter(
          (lease) =>
            this.#run(
              "UPDATE rooms SET boot = ?, lease_until = ?, members = ?, url = ? WHERE name = ? AND epoch = ? AND process = ?",
              boot,
              until,
              lease.members,
              holder.url,
              lease.room,
              lease.epoch,
              holder.process,
            ) === 0,
        )
        .map((lease) => lease.room);
    });
  }

  report(report: ProcessReport): void {
    this.#write(() => {
      this.#run("DELETE FROM processes WHERE boot <> ? OR lease_until < ?", boot, clock() - PROCESS_KEPT_SECONDS);
      this.#run(
        "INSERT OR REPLACE INTO processes (process, report, boot, lease_until) VALUES (?, ?, ?, ?)",
        report.process,
        JSON.stringify(report),
        boot,
        this.#leaseEnd(),
      );
    });
  }

  processes(): StoredReport[] {
    return this.#all("SELECT process, report, lease_until FROM processes WHERE boot = ? ORDER BY process", boot).map(
      ({ process, report, lease_until: until }) => ({
        process: String(process),
        text: String(report),
        secondsLeft: Number(until) - clock(),
      }),
    );
  }

  release(lease: Lease): void {
    this.#write(() =>
      this.#run(
        "UPDATE rooms SET process = NULL, url = NULL, lease_until = NULL, members = 0 WHERE name = ? AND epoch = ? AND process = ?",
        lease.room,
        lease.epoch,
        lease.process,
      ),
    );
  }

  endLeases(process: string): string[] {
    return this.#write(() => {
      this.#run("UPDATE processes SET lease_until = min(lease_until, ?) WHERE process = ?", clock(), process);
      return this.#all(
        "UPDATE rooms SET lease_until = ?1, members = 0 WHERE process = ?2 AND lease_until > ?1 RETURNING name",
        clock(),
        process,
      ).map((row) => String(row.name));
    });
  }

  removeRoom(lease: Lease): void {
    this.#fenced(lease, () => {
      this.#run("DELETE FROM rooms WHERE name = ?", lease.room);
      this.#run("DELETE FROM members WHERE room = ?", lease.room);
      this.#run("DELETE FROM checkpoints WHERE room = ?", lease.room);
      this.#run("DELETE FROM journal WHERE room = ?", lease.room);
      this.#run("DELETE FROM set_aside WHERE room = ?", lease.room);
    });
  }

  changeScene(lease: Lease, scene: string): void {
    this.#fenced(lease, () => {
      this.#run("UPDATE rooms SET scene = ? WHERE name = ?", scene, lease.room);
      this.#run("DELETE FROM checkpoints WHERE room = ?", lease.room);
      this.#run("DELETE FROM journal WHERE room = ?", lease.room);
    });
  }

  writeMembers(lease: Lease, records: Uint8Array): void {
    this.#fenced(lease, () =>
      this.#run("INSERT OR REPLACE INTO members (room, records) VALUES (?, ?)", lease.room, records),
    );
  }

  readMembers(room: string): Uint8Array | null {
    return (this.#get("SELECT records FROM members WHERE room = ?", room)?.records as Uint8Array | undefined) ?? null;
  }

  writeSettings(lease: Lease, settings: Record<string, unknown>): void {
    this.#fenced(lease, () =>
      this.#run("UPDATE rooms SET settings = ? WHERE name = ?", JSON.stringify(settings), lease.room),
    );
  }

  rooms(): Listing[] {
    return this.#all(LISTED_ALL).map(toListing);
  }

  room(name: string): Listing | null {
    const row = this.#get(LISTED_BY_NAME, name);
    return row ? toListing(row) : null;
  }

  writeCheckpoint(lease: Lease, checkpoint: Checkpoint): void {
    this.#fenced(lease, () => this.#putCheckpoint(lease.room, checkpoint));
  }

  appendJournal(lease: Lease, segment: JournalSegment): void {
    this.#fenced(lease, () => this.#putSegment(lease.room, segment));
  }

  checkpointTicks(room: string): { tick: number; bytes: number }[] {
    return this.#all("SELECT tick, length(state) AS bytes FROM checkpoints WHERE room = ? ORDER BY tick", room).map(
      (row) => ({ tick: Number(row.tick), bytes: Number(row.bytes) }),
    );
  }

  readCheckpoint(room: string, tick: number): Checkpoint | null {
    const row = this.#get("SELECT identity, state FROM checkpoints WHERE room = ? AND tick = ?", room, tick);
    return row ? { tick, identity: String(row.identity), state: row.state as Uint8Array } : null;
  }

  readJournal(room: string, after: number): JournalSegment[] {
    return this.#all(
      "SELECT after_tick, until_tick, bytes FROM journal WHERE room = ? AND until_tick > ? ORDER BY until_tick",
      room,
      after,
    ).map((row) => ({ after: Number(row.after_tick), until: Number(row.until_tick), bytes: row.bytes as Uint8Array }));
  }

  prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): void {
    this.#fenced(lease, () => {
      this.#run(
        "DELETE FROM checkpoints WHERE room = ? AND tick NOT IN (SELECT value FROM json_each(?))",
        lease.room,
        JSON.stringify(keepTicks),
      );
      this.#run("DELETE FROM journal WHERE room = ? AND until_tick <= ?", lease.room, journalAfter);
    });
  }

  truncate(lease: Lease, tick: number, { segment, checkpoint }: Rewritten = {}): void {
    const { room } = lease;
    this.#fenced(lease, () => {
      this.#run("DELETE FROM checkpoints WHERE room = ? AND tick > ?", room, tick);
      this.#run("DELETE FROM journal WHERE room = ? AND until_tick > ?", room, tick);
      if (segment) this.#putSegment(room, segment);
      if (checkpoint) this.#putCheckpoint(room, checkpoint);
    });
  }

  quarantinePieces(lease: Lease, pieces: readonly BadPiece[], at: string, { days, bytes }: QuarantineLimits): void {
    const { room } = lease;
    this.#fenced(lease, () => {
      if (pieces.length === 0) return;
      for (const { what, tick, reason } of pieces) {
        const { columns, where } = SOURCES[what];
        const key = what === "members" ? [room] : [room, tick];
        this.#run(
          `INSERT INTO set_aside (room, what, tick, after_tick, bytes, reason, at) SELECT room, '${what}', ${columns}, ?, ? FROM ${where}`,
          reason,
          at,
          ...key,
        );
        this.#run(`DELETE FROM ${where}`, ...key);
      }
      this.#run("DELETE FROM set_aside WHERE at < ?", daysBefore(at, days));
      this.#run(
        `DELETE FROM set_aside WHERE room = ? AND id <= (SELECT max(id) FROM
           (SELECT id, sum(length(bytes)) OVER (ORDER BY id DESC) AS total FROM set_aside WHERE room = ?) WHERE total > ?)`,
        room,
        room,
        bytes,
      );
    });
  }

  listQuarantinedPieces(room: string): QuarantinedPiece[] {
    return this.#all(
      "SELECT id, what, tick, after_tick, reason, at, length(bytes) AS bytes FROM set_aside WHERE room = ? ORDER BY id",
      room,
    ).map(quarantinedPieceOf);
  }

  readQuarantinedPiece(room: string, id: number): Uint8Array | null {
    const row = this.#get("SELECT bytes FROM set_aside WHERE room = ? AND id = ?", room, id);
    return (row?.bytes as Uint8Array | undefined) ?? null;
  }

  removeQuarantinedPiece(room: string, id: number): boolean {
    return this.#write(() => this.#run("DELETE FROM set_aside WHERE room = ? AND id = ?", room, id) > 0);
  }

  expireQuarantinedPieces(before: string): void {
    this.#write(() => this.#run("DELETE FROM set_aside WHERE at < ?", before));
  }

  audit({ at, actor, action, room, details }: AuditEntry): void {
    this.#write(() => {
      this.#run(
        "INSERT INTO audit (at, actor, action, room, details) VALUES (?, ?, ?, ?, ?)",
        at,
        actor,
        action,
        room,
        JSON.stringify(details),
      );
      this.#run("DELETE FROM audit WHERE id <= last_insert_rowid() - ?", this.#auditEntries);
    });
  }

  readAudit({ room, limit }: { room?: string; limit: number }): AuditEntry[] {
    const rows =
      room === undefined
        ? this.#all("SELECT at, actor, action, room, details FROM audit ORDER BY id DESC LIMIT ?", limit)
        : this.#all(
            "SELECT at, actor, action, room, details FROM audit WHERE room = ? ORDER BY id DESC LIMIT ?",
            room,
            limit,
          );
    return rows.map((row) => ({
      at: String(row.at),
      actor: String(row.actor),
      action: String(row.action),
      room: row.room as string | null,
      details: JSON.parse(String(row.details)) as Record<string, unknown>,
    }));
  }

  #leaseEnd(): number {
    return clock() + this.#leaseSeconds;
  }

  #nextEpoch(): number {
    return Number(this.#get("UPDATE counter SET epoch = epoch + 1 RETURNING epoch")?.epoch);
  }

  #write<T>(work: () => T): T {
    return transaction(this.#database, work);
  }

  #putCheckpoint(room: string, { tick, identity, state }: Checkpoint): void {
    this.#run(
      "INSERT OR REPLACE INTO checkpoints (room, tick, identity, state) VALUES (?, ?, ?, ?)",
      room,
      tick,
      identity,
      state,
    );
  }

  #putSegment(room: string, { after, until, bytes }: JournalSegment): void {
    this.#run("DELETE FROM journal WHERE room = ? AND until_tick > ? AND after_tick < ?", room, after, until);
    this.#run(
      "INSERT INTO journal (room, until_tick, after_tick, bytes) VALUES (?, ?, ?, ?)",
      room,
      until,
      after,
      bytes,
    );
  }

  /** Returns the lease's last write number; -1: the lease is not the current one. */
  #writesOf({ room, epoch, process }: Lease): number {
    const row = this.#get(
      "SELECT writes FROM rooms WHERE name = ? AND epoch = ? AND process = ?",
      room,
      epoch,
      process,
    );
    return row ? Number(row.writes) : -1;
  }

  /** Runs work under the lease. @throws LeaseLost, StoreBehind, with nothing written */
  #fenced(lease: Lease, work: () => void): void {
    const { room, epoch, process, write, after = 0 } = lease;
    this.#write(() => {
      const current =
        write === undefined
          ? this.#get("SELECT 1 FROM rooms WHERE name = ? AND epoch = ? AND process = ?", room, epoch, process)
          : this.#get(
              "UPDATE rooms SET writes = ? WHERE name = ? AND epoch = ? AND process = ? AND writes < ? AND writes >= ? RETURNING 1",
              write,
              room,
              epoch,
              process,
              write,
              after,
            );
      if (!current) {
        const has = this.#writesOf(lease);
        if (has >= 0 && has < after) throw new StoreBehind(lease, has);
        throw new LeaseLost(lease);
      }
      work();
    });
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  #get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepare(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepare(sql).all(...values);
  }

  /** @returns number of changed rows */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }
}

/** Time until the row's lease expires, s; 0: expired, or no lease. */
function secondsLeft(row: Row): number {
  if (row.process === null || row.boot !== boot) return 0;
  return Math.max(0, Number(row.lease_until) - clock());
}

const toListing = (row: Row): Listing => listingOf(row, secondsLeft(row));
