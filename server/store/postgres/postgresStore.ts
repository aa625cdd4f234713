/**
 * The store for several processes or machines: PostgreSQL. Every method is one transaction, most of them a single
 * statement, so no work is left half done.
 *
 * Fencing. A write for a room first locks the room's row `FOR NO KEY UPDATE`, and name, epoch and process must match. A
 * claim updates that row. (`FOR SHARE` would suffice, but overlapping writes would share the row forever while a
 * renewal waits for it; this lock has a queue.) So a write that a claim overtakes waits, sees the new epoch and writes
 * nothing: READ COMMITTED reads the row again after the wait; stricter levels fail with 40001 and are retried. A claim
 * waits for a write that has begun.
 *
 * Leases run by the database's clock. They use `clock_timestamp()`, not `now()`: a transaction that has waited for a
 * lock must not use the time of its beginning. If that clock jumps, leases end early or late, but epochs still order
 * all owners, and no two processes can write.
 */
import { listingOf, quarantinedPieceOf } from "../listing.ts";
import { bytesOf, PostgresClient, type Query, type Row } from "./postgresClient.ts";
import { PostgresObjects } from "./postgresObjects.ts";
import { CREATED_MEANWHILE, MIGRATIONS, VERSION_TABLE } from "./postgresSchema.ts";
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
import {
  AUDIT_ENTRIES,
  daysBefore,
  LEASE_SECONDS,
  LeaseLost,
  PROCESS_KEPT_SECONDS,
  StoreBehind,
  StoreRefused,
} from "../store.ts";

const LISTED = `name, scene, pool, created_at, settings, epoch, process, url, members, parked, attempts,
  CASE WHEN process IS NULL THEN 0 ELSE extract(epoch FROM lease_until - clock_timestamp()) END AS seconds_left`;
const NEXT_EPOCH = "WITH next AS (UPDATE pliant_counter SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch)";
/**
 * Locks the room's row until the end of the transaction if the lease $1, $2, $3 is the current one. $4: number of the
 * write, which must be the highest so far. $5: number of the last acknowledged write, which must be there.
 */
const MINE = {
  anyWrite: `SELECT name FROM pliant_rooms WHERE name = $1 AND epoch = $2 AND process = $3
    AND $4::bigint IS NULL AND $5::bigint IS NOT NULL FOR NO KEY UPDATE`,
  nextWrite: `UPDATE pliant_rooms SET writes = $4::bigint
    WHERE name = $1 AND epoch = $2 AND process = $3 AND writes < $4::bigint AND writes >= $5::bigint RETURNING name`,
};
const UNOWNED = "process = NULL, url = NULL, lease_until = NULL, members = 0";
/** Query for each kind of bad piece: columns tick, after and bytes; table and condition on room $1 and tick $2. */
const SOURCES: Record<BadPiece["what"], { columns: string; where: string }> = {
  checkpoint: {
    columns: "tick, NULL::bigint, state",
    where: "pliant_checkpoints WHERE room = $1 AND tick = $2::bigint",
  },
  journal: {
    columns: "until_tick, after_tick, bytes",
    where: "pliant_journal WHERE room = $1 AND until_tick = $2::bigint",
  },
  members: { columns: "0, NULL::bigint, records", where: "pliant_members WHERE room = $1 AND $2::bigint IS NOT NULL" },
};
/** Number of attempts to create the tables, if another process creates them at the same time. */
const SCHEMA_ATTEMPTS = 10;

export interface PostgresOptions {
  /** postgres://user:password@host:port/database */
  url: string;
  leaseSeconds?: number;
  auditEntries?: number;
}

export class PostgresStore implements Store {
  readonly kind = "postgres";
  readonly leaseSeconds: number;
  readonly objects: PostgresObjects;
  readonly #client: PostgresClient;
  readonly #auditEntries: number;

  constructor({ url, leaseSeconds, auditEntries }: PostgresOptions) {
    this.leaseSeconds = leaseSeconds ?? LEASE_SECONDS;
    this.#auditEntries = auditEntries ?? AUDIT_ENTRIES;
    this.#client = new PostgresClient(url);
    this.objects = new PostgresObjects(this.#client);
  }

  async open(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        for (const statement of VERSION_TABLE) await this.#client.query(statement);
        return await this.#migrate();
      } catch (error) {
        const code = ((error as Error).cause as { code?: string } | undefined)?.code ?? "";
        if (!CREATED_MEANWHILE.has(code) || attempt === SCHEMA_ATTEMPTS) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async ping(): Promise<void> {
    await this.#client.lookForSpace();
    // The row lock is a write: a replica or a database in read-only mode refuses it. It waits for no claim, and no
    // claim waits for it.
    await this.#client.query("SELECT epoch FROM pliant_counter WHERE id = 1 FOR KEY SHARE");
  }

  async createRoom(
    record: RoomRecord,
    holder: Holder,
    key?: string,
  ): Promise<{ created: true; lease: Lease } | { created: false; room: Listing }> {
    return this.#client.transaction(async (query) => {
      for (;;) {
        const found =
          (key === undefined
            ? []
            : await query(`SELECT ${LISTED} FROM pliant_rooms WHERE request_key = $1`, [key]))[0] ??
          (await query(`SELECT ${LISTED} FROM pliant_rooms WHERE name = $1`, [record.name]))[0];
        if (found) return { created: false as const, room: toListing(found) };
        const [made] = await query(
          `${NEXT_EPOCH} INSERT INTO pliant_rooms (name, scene, pool, created_at, settings, request_key, epoch, process, url, lease_until)
           SELECT $1, $2, $3, $4, $5, $6, epoch, $7, $8, clock_timestamp() + $9 * INTERVAL '1 second' FROM next ON CONFLICT DO NOTHING RETURNING epoch`,
          [
            record.name,
            record.scene,
            record.pool,
            record.createdAt,
            JSON.stringify(record.settings),
            key ?? null,
            holder.process,
            holder.url,
            this.leaseSeconds,
          ],
        );
        // No row: another process created the room between our SELECT and INSERT. Look again; if it is gone by then,
        // create it.
        if (made)
          return {
            created: true as const,
            lease: { room: record.name, process: holder.process, epoch: Number(made.epoch) },
          };
      }
    });
  }

  async claim(room: string, holder: Holder, { quarantined = false } = {}): Promise<Lease | null> {
    // Each takeover that cannot be stored would count as an attempt, up to the quarantine of a sound room.
    this.#client.requireSpace();
    const [row] = await this.#client.query(
      `${NEXT_EPOCH} UPDATE pliant_rooms
       SET epoch = (SELECT epoch FROM next), process = $2, url = $3, lease_until = clock_timestamp() + $4 * INTERVAL '1 second', members = 0,
         attempts = attempts + CASE WHEN parked IS NULL THEN 1 ELSE 0 END, writes = 0
       WHERE name = $1 AND (process IS NULL OR lease_until <= clock_timestamp()) AND (parked IS NULL OR $5) RETURNING epoch, attempts`,
      [room, holder.process, holder.url, this.leaseSeconds, quarantined],
    );
    return row ? { room, process: holder.process, epoch: Number(row.epoch), attempts: Number(row.attempts) } : null;
  }

  async readWrites(leases: readonly Lease[]): Promise<number[]> {
    if (leases.length === 0) return [];
    const rows = await this.#client.query(
      `SELECT asked.n, pliant_rooms.writes FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS asked (name, epoch, process, n)
       JOIN pliant_rooms ON pliant_rooms.name = asked.name AND pliant_rooms.epoch = asked.epoch AND pliant_rooms.process = asked.process`,
      [leases.map(({ room }) => room), leases.map(({ epoch }) => epoch), leases.map(({ process }) => process)],
    );
    const writes = leases.map(() => -1);
    for (const row of rows) writes[Number(row.n) - 1] = Number(row.writes);
    return writes;
  }

  async countAttempts(lease: Lease, attempts: number): Promise<void> {
    await this.#updated(lease, "attempts = $4", [attempts]);
  }

  async quarantine(lease: Lease, quarantined: Quarantined): Promise<void> {
    await this.#updated(lease, `parked = $4, ${UNOWNED}`, [JSON.stringify(quarantined)]);
  }

  async endQuarantine(lease: Lease): Promise<void> {
    await this.#updated(lease, "parked = NULL, attempts = 0", []);
  }

  async renew(holder: Holder, leases: readonly (Lease & { members: number })[]): Promise<string[]> {
    if (leases.length === 0) return [];
    // A renewal needs no new page. Without space the leases end nevertheless: the rooms' journals cannot be stored.
    this.#client.requireSpace();
    const held = await this.#client.query(
      `UPDATE pliant_rooms SET lease_until = clock_timestamp() + $3 * INTERVAL '1 second', url = $2, members = held.members
       FROM unnest($4::text[], $5::bigint[], $6::bigint[]) AS held (name, epoch, members)
       WHERE pliant_rooms.name = held.name AND pliant_rooms.epoch = held.epoch AND pliant_rooms.process = $1 RETURNING pliant_rooms.name`,
      [
        holder.process,
        holder.url,
        this.leaseSeconds,
        leases.map(({ room }) => room),
        leases.map(({ epoch }) => epoch),
        leases.map(({ members }) => members),
      ],
      // A lost renewal must leave time for another one before the leases end.
      (1000 * this.leaseSeconds) / 3,
    );
    const names = new Set(held.map((row) => String(row.name)));
    return leases.map(({ room }) => room).filter((room) => !names.has(room));
  }

  async report(report: ProcessReport): Promise<void> {
    await this.#client.query(
      `WITH old AS (DELETE FROM pliant_processes
         WHERE lease_until < clock_timestamp() - $4 * INTERVAL '1 second' AND process <> $1 RETURNING 1)
       INSERT INTO pliant_processes (process, report, lease_until)
       VALUES ($1, $2, clock_timestamp() + $3 * INTERVAL '1 second')
       ON CONFLICT (process) DO UPDATE SET report = excluded.report, lease_until = excluded.lease_until`,
      [report.process, JSON.stringify(report), this.leaseSeconds, PROCESS_KEPT_SECONDS],
      // After a full term the report would be outdated.
      1000 * this.leaseSeconds,
    );
  }

  async processes(): Promise<StoredReport[]> {
    const rows = await this.#client.query(
      `SELECT process, report, extract(epoch FROM lease_until - clock_timestamp()) AS seconds_left
       FROM pliant_processes ORDER BY process`,
    );
    return rows.map(({ process, report, seconds_left: left }) => ({
      process: String(process),
      text: String(report),
      secondsLeft: Number(left),
    }));
  }

  async release(lease: Lease): Promise<void> {
    await this.#client.query(
      `UPDATE pliant_rooms SET ${UNOWNED} WHERE name = $1 AND epoch = $2 AND process = $3`,
      fence(lease),
    );
  }

  async endLeases(process: string): Promise<string[]> {
    const rows = await this.#client.query(
      `WITH ended AS (UPDATE pliant_processes SET lease_until = least(lease_until, clock_timestamp())
         WHERE process = $1 RETURNING 1)
       UPDATE pliant_rooms SET lease_until = clock_timestamp(), members = 0
         WHERE process = $1 AND lease_until > clock_timestamp() RETURNING name`,
      [process],
    );
    return rows.map((row) => String(row.name));
  }

  async removeRoom(lease: Lease): Promise<void> {
    // Separate statements: the second sees a checkpoint that was being written while the first waited for its lock.
    await this.#client.transaction(async (query) => {
      const gone = await query(
        "DELETE FROM pliant_rooms WHERE name = $1 AND epoch = $2 AND process = $3 RETURNING name",
        fence(lease),
      );
      if (gone.length === 0) throw new LeaseLost(lease);
      await query("DELETE FROM pliant_members WHERE room = $1", [lease.room]);
      await query("DELETE FROM pliant_checkpoints WHERE room = $1", [lease.room]);
      await query("DELETE FROM pliant_journal WHERE room = $1", [lease.room]);
      await query("DELETE FROM pliant_set_aside WHERE room = $1", [lease.room]);
    });
  }

  async changeScene(lease: Lease, scene: string): Promise<void> {
    // Separate statements, as in removeRoom.
    await this.#client.transaction(async (query) => {
      const changed = await query(
        "UPDATE pliant_rooms SET scene = $4 WHERE name = $1 AND epoch = $2 AND process = $3 RETURNING name",
        [...fence(lease), scene],
      );
      if (changed.length === 0) throw new LeaseLost(lease);
      await query("DELETE FROM pliant_checkpoints WHERE room = $1", [lease.room]);
      await query("DELETE FROM pliant_journal WHERE room = $1", [lease.room]);
    });
  }

  async writeSettings(lease: Lease, settings: Record<string, unknown>): Promise<void> {
    await this.#updated(lease, "settings = $4", [JSON.stringify(settings)]);
  }

  async writeMembers(lease: Lease, records: Uint8Array): Promise<void> {
    await this.#fenced(
      lease,
      `INSERT INTO pliant_members (room, records) SELECT name, $6::bytea FROM mine
       ON CONFLICT (room) DO UPDATE SET records = excluded.records RETURNING 1 AS done`,
      [bytesOf(records)],
    );
  }

  async readMembers(room: string): Promise<Uint8Array | null> {
    const [row] = await this.#client.query("SELECT records FROM pliant_members WHERE room = $1", [room]);
    return row ? (row.records as Buffer) : null;
  }

  async rooms(): Promise<Listing[]> {
    return (await this.#client.query(`SELECT ${LISTED} FROM pliant_rooms ORDER BY created_at, name`)).map(toListing);
  }

  async room(name: string): Promise<Listing | null> {
    const [row] = await this.#client.query(`SELECT ${LISTED} FROM pliant_rooms WHERE name = $1`, [name]);
    return row ? toListing(row) : null;
  }

  async writeCheckpoint(lease: Lease, { tick, identity, state }: Checkpoint): Promise<void> {
    await this.#fenced(
      lease,
      `INSERT INTO pliant_checkpoints (room, tick, identity, state) SELECT name, $6::bigint, $7::text, $8::bytea FROM mine
       ON CONFLICT (room, tick) DO UPDATE SET identity = excluded.identity, state = excluded.state RETURNING 1 AS done`,
      [tick, identity, bytesOf(state)],
    );
  }

  async appendJournal(lease: Lease, { after, until, bytes }: JournalSegment): Promise<void> {
    await this.#fenced(
      lease,
      // The row with the same end is replaced by the INSERT below: a statement can change a row only once.
      `, before AS (DELETE FROM pliant_journal USING mine WHERE room = mine.name AND until_tick > $7::bigint AND after_tick < $6::bigint AND until_tick <> $6::bigint RETURNING 1)
       INSERT INTO pliant_journal (room, until_tick, after_tick, bytes) SELECT name, $6::bigint, $7::bigint, $8::bytea FROM mine
       ON CONFLICT (room, until_tick) DO UPDATE SET after_tick = excluded.after_tick, bytes = excluded.bytes RETURNING 1 AS done`,
      [until, after, bytesOf(bytes)],
    );
  }

  async checkpointTicks(room: string): Promise<{ tick: number; bytes: number }[]> {
    const rows = await this.#client.query(
      "SELECT tick, length(state) AS bytes FROM pliant_checkpoints WHERE room = $1 ORDER BY tick",
      [room],
    );
    return rows.map((row) => ({ tick: Number(row.tick), bytes: Number(row.bytes) }));
  }

  async readCheckpoint(room: string, tick: number): Promise<Checkpoint | null> {
    const [row] = await this.#client.query(
      "SELECT identity, state FROM pliant_checkpoints WHERE room = $1 AND tick = $2",
      [room, tick],
    );
    return row ? { tick, identity: String(row.identity), state: row.state as Buffer } : null;
  }

  async readJournal(room: string, after: number): Promise<JournalSegment[]> {
    const rows = await this.#client.query(
      "SELECT after_tick, until_tick, bytes FROM pliant_journal WHERE room = $1 AND until_tick > $2 ORDER BY until_tick",
      [room, finite(after)],
    );
    return rows.map((row) => ({
      after: Number(row.after_tick),
      until: Number(row.until_tick),
      bytes: row.bytes as Buffer,
    }));
  }

  async prune(lease: Lease, keepTicks: readonly number[], journalAfter: number): Promise<void> {
    await this.#fenced(
      lease,
      `, old_checkpoints AS (DELETE FROM pliant_checkpoints USING mine WHERE room = mine.name AND NOT (tick = ANY($6::bigint[])) RETURNING 1),
       old_journal AS (DELETE FROM pliant_journal USING mine WHERE room = mine.name AND until_tick <= $7::bigint RETURNING 1)
       SELECT 1 AS done FROM mine`,
      [[...keepTicks], finite(journalAfter)],
    );
  }

  async truncate(lease: Lease, tick: number, { segment, checkpoint }: Rewritten = {}): Promise<void> {
    const { room } = lease;
    // Separate statements: one statement cannot delete a row and insert another in its place.
    await this.#fencedSteps(lease, async (query) => {
      const from = Math.min(tick, segment?.after ?? tick);
      await query("DELETE FROM pliant_checkpoints WHERE room = $1 AND tick > $2", [room, tick]);
      await query("DELETE FROM pliant_journal WHERE room = $1 AND until_tick > $2", [room, from]);
      if (segment)
        await query("INSERT INTO pliant_journal (room, until_tick, after_tick, bytes) VALUES ($1, $2, $3, $4)", [
          room,
          segment.until,
          segment.after,
          bytesOf(segment.bytes),
        ]);
      if (checkpoint)
        await query(
          `INSERT INTO pliant_checkpoints (room, tick, identity, state) VALUES ($1, $2, $3, $4)
           ON CONFLICT (room, tick) DO UPDATE SET identity = excluded.identity, state = excluded.state`,
          [room, checkpoint.tick, checkpoint.identity, bytesOf(checkpoint.state)],
        );
    });
  }

  async quarantinePieces(
    lease: Lease,
    pieces: readonly BadPiece[],
    at: string,
    { days, bytes }: QuarantineLimits,
  ): Promise<void> {
    const { room } = lease;
    await this.#fencedSteps(lease, async (query) => {
      if (pieces.length === 0) return;
      for (const { what, tick, reason } of pieces) {
        const { columns, where } = SOURCES[what];
        await query(
          `INSERT INTO pliant_set_aside (room, what, tick, after_tick, bytes, reason, at)
           SELECT room, '${what}', ${columns}, $3::text, $4::text FROM ${where}`,
          [room, tick, reason, at],
        );
        await query(`DELETE FROM ${where}`, [room, tick]);
      }
      await query("DELETE FROM pliant_set_aside WHERE at < $1", [daysBefore(at, days)]);
      await query(
        `DELETE FROM pliant_set_aside WHERE room = $1 AND id <= (SELECT max(id) FROM
           (SELECT id, sum(length(bytes)) OVER (ORDER BY id DESC) AS total FROM pliant_set_aside WHERE room = $1) AS sizes
           WHERE total > $2::bigint)`,
        [room, bytes],
      );
    });
  }

  async listQuarantinedPieces(room: string): Promise<QuarantinedPiece[]> {
    const rows = await this.#client.query(
      "SELECT id, what, tick, after_tick, reason, at, length(bytes) AS bytes FROM pliant_set_aside WHERE room = $1 ORDER BY id",
      [room],
    );
    return rows.map(quarantinedPieceOf);
  }

  async readQuarantinedPiece(room: string, id: number): Promise<Uint8Array | null> {
    const [row] = await this.#client.query("SELECT bytes FROM pliant_set_aside WHERE room = $1 AND id = $2", [
      room,
      id,
    ]);
    return row ? (row.bytes as Buffer) : null;
  }

  async removeQuarantinedPiece(room: string, id: number): Promise<boolean> {
    const removed = await this.#client.query("DELETE FROM pliant_set_aside WHERE room = $1 AND id = $2 RETURNING id", [
      room,
      id,
    ]);
    return removed.length > 0;
  }

  async expireQuarantinedPieces(before: string): Promise<void> {
    await this.#client.query("DELETE FROM pliant_set_aside WHERE at < $1", [before]);
  }

  async audit({ at, actor, action, room, details }: AuditEntry): Promise<void> {
    await this.#client.query(
      `WITH made AS (INSERT INTO pliant_audit (at, actor, action, room, details) VALUES ($1, $2, $3, $4, $5) RETURNING id)
       DELETE FROM pliant_audit USING made WHERE pliant_audit.id <= made.id - $6::bigint`,
      [at, actor, action, room, JSON.stringify(details), this.#auditEntries],
    );
  }

  async readAudit({ room, limit }: { room?: string; limit: number }): Promise<AuditEntry[]> {
    const rows = await this.#client.query(
      "SELECT at, actor, action, room, details FROM pliant_audit WHERE $1::text IS NULL OR room = $1::text ORDER BY id DESC LIMIT $2",
      [room ?? null, limit],
    );
    return rows.map((row) => ({
      at: String(row.at),
      actor: String(row.actor),
      action: String(row.action),
      room: row.room as string | null,
      details: JSON.parse(String(row.details)) as Record<string, unknown>,
    }));
  }

  /**
   * @param statement follows `WITH mine AS (...)`; must return a row if the lease was the current one
   * @throws LeaseLost, StoreBehind
   */
  async #fenced(lease: Lease, statement: string, values: readonly unknown[]): Promise<void> {
    const rows = await this.#client.query(`WITH mine AS (${mineBy(lease)}) ${statement}`, [
      ...numbered(lease),
      ...values,
    ]);
    if (rows.length === 0) throw await this.#refusal(lease);
  }

  /** Runs several statements in one fenced transaction. @throws LeaseLost, StoreBehind */
  async #fencedSteps(lease: Lease, work: (query: Query) => Promise<void>): Promise<void> {
    const isMine = await this.#client.transaction(async (query) => {
      if ((await query(mineBy(lease), numbered(lease))).length === 0) return false;
      await work(query);
      return true;
    });
    if (!isMine) throw await this.#refusal(lease);
  }

  /** Updates columns of the room's own row. @param values from $4 on. @throws LeaseLost, StoreBehind */
  async #updated(lease: Lease, columns: string, values: readonly unknown[]): Promise<void> {
    const n = values.length + 4;
    const rows = await this.#client.query(
      `UPDATE pliant_rooms SET ${columns}, writes = coalesce($${n}::bigint, writes)
       WHERE name = $1 AND epoch = $2 AND process = $3 AND writes < coalesce($${n}::bigint, writes + 1) AND writes >= $${n + 1}::bigint
       RETURNING name`,
      [...fence(lease), ...values, lease.write ?? null, lease.after ?? 0],
    );
    if (rows.length === 0) throw await this.#refusal(lease);
  }

  /** Returns the reason of a refused write. It is queried afterwards, so it may report a claim that came meanwhile. */
  async #refusal(lease: Lease): Promise<LeaseLost | StoreBehind> {
    const { after = 0 } = lease;
    const [has = -1] = await this.readWrites([lease]);
    return has >= 0 && has < after ? new StoreBehind(lease, has) : new LeaseLost(lease);
  }

  async #migrate(): Promise<void> {
    await this.#client.transaction(async (query) => {
      // The row lock lets processes migrate one at a time.
      const version = Number((await query("SELECT version FROM pliant_schema WHERE id = 1 FOR UPDATE"))[0].version);
      if (version > MIGRATIONS.length) {
        throw new StoreRefused(
          `the PostgreSQL store was set up by a newer program: its tables have version ${version}, this program knows up to ${MIGRATIONS.length}`,
        );
      }
      for (const statement of MIGRATIONS.slice(version).flat()) await query(statement);
      if (version < MIGRATIONS.length)
        await query("UPDATE pliant_schema SET version = $1 WHERE id = 1", [MIGRATIONS.length]);
    });
  }
}

const fence = (lease: Lease): unknown[] => [lease.room, lease.epoch, lease.process];

const mineBy = ({ write }: Lease): string => (write === undefined ? MINE.anyWrite : MINE.nextWrite);

/** Values $1 to $5 of MINE. */
const numbered = (lease: Lease): unknown[] => [...fence(lease), lease.write ?? null, lease.after ?? 0];

/** Clamps infinities, which a bigint column cannot store. */
const finite = (tick: number): number => Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, tick));

const toListing = (row: Row): Listing => listingOf(row, Number(row.seconds_left));
