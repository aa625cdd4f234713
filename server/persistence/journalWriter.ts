/**
 * Writes the history of this process's rooms to the store, in the background: no tick waits for it. A flush of a room
 * writes, in this order:
 *
 *     settings      if they have changed
 *     journal       the inputs since the last flush, up to the last tick; if the room or the store went back, they
 *                   replace later stored data
 *     members       if they have changed
 *     attempts      whether the room has settled here
 *     checkpoint    if a state is due and the journal has passed it
 *     prune         deletes data that neither a restart nor the history needs any more
 *
 * 1. Members are written after the journal, because the journal has the releases of members that have left.
 * 2. Writes are numbered, so that a delayed write that was given up does no harm. Each names the last acknowledged one.
 *    A store that has gone back (a replica without the last transactions) refuses it and names its own last write. Then
 *    settings, members and journal since that write are sent again from memory. The newest state is sent, too, in case
 *    the memory does not reach back so far. A room without writes checks regularly whether it would be refused.
 * 3. A room's flushes run one after another. A failed write is repeated with the next flush. A lost lease ends the room
 *    here.
 */
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errorCodes.ts";
import type { Metrics } from "../metrics/metrics.ts";
import {
  type JournalSegment,
  type Lease,
  LeaseLost,
  type Quarantined,
  type Rewritten,
  type Store,
  StoreBehind,
  type Checkpoint as StoredState,
} from "../store/store.ts";
import { encodeCheckpoint, encodeMembers, encodeSegment, type MemberRecords } from "./format.ts";
import type { Checkpoint, RoomHistory } from "./history.ts";
import type { CheckpointPolicy } from "./checkpointPolicy.ts";

/**
 * Interval between two stored checkpoints of a moving room, s. After a restart at most this much is replayed from the
 * journal.
 */
const STORE_SECONDS = 2.5;
/** A checkpoint is also stored once replaying up to it would take this long, s: a restart restores many rooms. */
const STORE_COST_SECONDS = 1;
/** Number of stored checkpoints for a restart: if the newest is damaged, an older one is used. */
const SPARE = 3;
/** Interval between two checks that the store still has its acknowledged writes, ms. */
const LOOK_MS = 2000;
/** Most restarts of one flush because the store has gone back. */
const MOST_RETURNS = 3;

/** The journal writer's view of a room. */
export interface JournaledRoom {
  readonly name: string;
  readonly checkpointPolicy: CheckpointPolicy;
  /** State identity of its scene (workers/stateIdentity.ts). */
  readonly identity: string;
  readonly tickHz: number;
  memberRecords(): MemberRecords;
  /** The restored room is on probation: its claim counts as an attempt. */
  readonly onProbation?: boolean;
  /** Stops the room after its lease is lost. */
  leaseLost(): void;
  /** Current settings: access and other data of the room's record. */
  settings(): Record<string, unknown>;
}

export interface JournalWriterOptions {
  store: Store;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Interval between two flushes, ms: a killed process loses at most this much of the inputs. */
  flushMs: number;
}

/** A stored checkpoint or segment: its (last) tick, and the number of its write. */
interface Piece {
  tick: number;
  write: number;
}

interface Entry {
  room: JournaledRoom;
  lease: Lease;
  /** Number of the history's rewinds that are already handled. */
  rewindsSeen: number;
  writtenTick: number;
  /** Ends of the stored segments, ascending. */
  ends: Piece[];
  /** Stored checkpoints, ascending. */
  stored: Piece[];
  /** `Checkpoint.cost` of the last stored checkpoint. */
  storedCost: number;
  /** The stored members, as JSON. */
  members: string;
  /** The number of attempts of this claim, and the stored number. */
  attempts: { claimed: number; stored: number };
  /** Number of writes under this lease, and number of the last acknowledged one. */
  writes: number;
  acknowledged: number;
  /** Number of the store's last write, if the store has gone back; otherwise Infinity. */
  has: number;
  /** Time from which data has waited to be written, ms; 0: none waits. */
  waitingMs: number;
  /** A flush is queued behind the running one. */
  waits: boolean;
  tail: Promise<void>;
  /** The settings are not stored yet. */
  settingsChanged: boolean;
  /** Error of the last flush; null: it succeeded. */
  failure: unknown;
  /** Time of the first failure since the last success, ms; 0: the last flush succeeded. */
  failingMs: number;
}

/** Kind of data that could not be written, for logs and metrics. */
type What = "settings" | "journal" | "members" | "checkpoint";

/**
 * Interval between two log lines about a store that accepts no writes, ms: all rooms then fail several times a second.
 */
const COMPLAINT_MS = 60_000;

export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #entries = new Map<string, Entry>();
  /** Ended rooms that could not be removed from the store yet. */
  readonly #over = new Map<string, Lease>();
  #removing = false;
  readonly #timers: NodeJS.Timeout[];
  /** Time of the last log line about a failed write, and number of failures since. */
  #complaint = { atMs: -Infinity, failures: 0 };

  constructor(options: JournalWriterOptions) {
    this.#options = options;
    this.#timers = [
      setInterval(() => void this.flushAll(), options.flushMs),
      setInterval(() => void this.#look(), LOOK_MS),
    ];
    for (const timer of this.#timers) timer.unref();
    options.metrics.persistence.sources = {
      checkpointAgeSeconds: () => Math.max(0, ...this.#all().map(({ room }) => room.checkpointPolicy.unsavedSeconds)),
      journalAgeSeconds: () =>
        Math.max(0, ...this.#all().map(({ waitingMs }) => (waitingMs ? (performance.now() - waitingMs) / 1000 : 0))),
    };
  }

  /**
   * Starts writing a room, from `stored.tick` on.
   * @param stored data in the store: the last tick, the ticks of checkpoints, and the ends of segments
   */
  hold(
    room: JournaledRoom,
    lease: Lease,
    stored: { tick: number; checkpoints: readonly number[]; segments: readonly number[] } = {
      tick: 0,
      checkpoints: [],
      segments: [],
    },
  ): void {
    const { rewinds } = room.checkpointPolicy.history;
    // An ended room of this name is no longer in the store. Its pending removal must not delete the new room.
    this.#over.delete(room.name);
    this.#entries.set(room.name, {
      room,
      lease,
      rewindsSeen: rewinds.length,
      writtenTick: stored.tick,
      ends: stored.segments.map((tick) => ({ tick, write: 0 })),
      stored: stored.checkpoints.map((tick) => ({ tick, write: 0 })),
      storedCost: 0,
      members: "",
      attempts: { claimed: lease.attempts ?? 0, stored: lease.attempts ?? 0 },
      writes: 0,
      acknowledged: 0,
      has: Infinity,
      waitingMs: 0,
      waits: false,
      tail: Promise.resolve(),
      settingsChanged: false,
      failure: null,
      failingMs: 0,
    });
  }

  async flushAll(): Promise<void> {
    await Promise.all([...this.#all().map((entry) => this.#flush(entry)), this.#removeAgain()]);
  }

  /**
   * Writes changed settings. Resolves when they are stored, together with all ticks up to now.
   * @throws as `durable` does
   */
  async settingsChanged(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) entry.settingsChanged = true;
    await this.durable(room);
  }

  /**
   * Resolves when all ticks and changes of the room up to now are stored. An acknowledgement after this is safe.
   * @throws CodedError STORE_AWAY; the write is still repeated, unless the room was handed over or lost meanwhile
   */
  async durable(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) await this.#flush(entry);
    // This process does not hold the room (any more) and writes nothing, so success must not be reported.
    if (!entry || entry.failure !== null) throw new CodedError("STORE_AWAY", { field: "room", value: room });
  }

  /** Resolves when everything up to now is stored, or could not be written. */
  async flush(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) await this.#flush(entry);
  }

  /** Longest time for which a room has not been written, s; 0: all writes succeed. */
  get failingSeconds(): number {
    return Math.max(0, ...this.#all().map(({ failingMs }) => (failingMs && performance.now() - failingMs) / 1000));
  }

  /** Writes the room for the last time and releases its lease. @returns true: everything is stored */
  async release(room: string): Promise<boolean> {
    const entry = this.#entries.get(room);
    if (!entry) return false;
    // The process has survived the room, so its attempts are reset.
    entry.attempts.claimed = 0;
    await this.#flush(entry);
    this.#entries.delete(room);
    await this.#options.store.release(entry.lease);
    return entry.writtenTick === entry.room.checkpointPolicy.history.tick;
  }

  /**
   * Writes the room for the last time and quarantines it.
   * @throws LeaseLost, StoreBehind, StoreUnavailable: the room is not quarantined, and any process may take it over
   */
  async quarantine(room: string, quarantined: Quarantined): Promise<void> {
    const entry = this.#entries.get(room);
    if (!entry) return;
    for (let returns = 0; ; returns++) {
      await this.#flush(entry);
      this.#entries.delete(room);
      try {
        await this.#ask(entry, (lease) => this.#options.store.quarantine(lease, quarantined));
        return;
      } catch (error) {
        if (!(error instanceof StoreBehind) || returns === MOST_RETURNS) {
          // The next owner quarantines the room. A lease that is not released would be renewed, without a room.
          await this.#options.store.release(entry.lease).catch(() => {});
          throw error;
        }
        this.#wentBack(entry, error.has);
        this.#entries.set(room, entry);
      }
    }
  }

  /**
   * Removes an ended room from the store. Resolves when all its data is deleted.
   * @throws CodedError STORE_AWAY: another process has the room; or the removal is repeated until the store is back
   */
  async remove(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    // The lease was released or lost: another process may have the room, so it must not be reported as removed.
    if (!entry) throw new CodedError("STORE_AWAY", { field: "room", value: room });
    this.#entries.delete(room);
    await entry.tail;
    try {
      await this.#options.store.removeRoom(entry.lease);
    } catch (error) {
      if (!(error instanceof LeaseLost)) this.#over.set(room, entry.lease);
      this.#options.log.warn({ room, err: error }, "an ended room could not be removed from the store");
      throw new CodedError("STORE_AWAY", { field: "room", value: room });
    }
  }

  /** Returns whether the room has ended here but is still in the store. */
  isRemoving(room: string): boolean {
    return this.#over.has(room);
  }

  /** Repeats failed removals. The leases are renewed until then, so that no process restores the rooms meanwhile. */
  async #removeAgain(): Promise<void> {
    if (this.#removing) return;
    this.#removing = true;
    for (const [room, lease] of this.#over)
      try {
        await this.#options.store.removeRoom(lease);
        this.#over.delete(room);
        this.#options.log.info({ room }, "an ended room was removed from the store");
      } catch (error) {
        if (error instanceof LeaseLost) this.#over.delete(room);
        else break;
      }
    this.#removing = false;
  }

  /** Stops writing the room, because its lease is lost. */
  drop(room: string): void {
    const entry = this.#entries.get(room);
    if (!this.#entries.delete(room) || !entry) return;
    entry.room.leaseLost();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#all().map(({ tail }) => tail));
  }

  #all(): Entry[] {
    return [...this.#entries.values()];
  }

  /** Queues a flush. At most one runs and one waits: a store that does not answer must not accumulate flushes. */
  #flush(entry: Entry): Promise<void> {
    if (entry.waits) return entry.tail;
    entry.waits = true;
    entry.tail = entry.tail.then(() => {
      entry.waits = false;
      return this.#write(entry);
    });
    return entry.tail;
  }

  async #write(entry: Entry): Promise<void> {
    const { room, lease } = entry;
    const { log, metrics } = this.#options;
    if (this.#entries.get(room.name) !== entry) {
      entry.failure = new Error("the room was handed over or its lease is lost");
      return;
    }
    const progress: { what: What } = { what: "settings" };
    entry.failure = null;
    try {
      await this.#writeAll(entry, progress);
      entry.failingMs = 0;
    } catch (error) {
      const { what } = progress;
      entry.failure = error;
      entry.failingMs ||= performance.now();
      if (error instanceof LeaseLost) {
        log.error({ room: room.name, epoch: lease.epoch }, "the room's lease is lost; another process may step it now");
        this.drop(room.name);
        return;
      }
      metrics.persistence.failed(what);
      this.#complain(room.name, what, error);
    }
  }

  /** Writes everything that is due; starts again if the store has gone back. */
  async #writeAll(entry: Entry, progress: { what: What }): Promise<void> {
    for (let returns = 0; ; returns++) {
      try {
        progress.what = "settings";
        await this.#writeSettings(entry);
        progress.what = "journal";
        await this.#writeJournal(entry);
        progress.what = "members";
        await this.#writeMembers(entry);
        await this.#countAttempts(entry);
        progress.what = "checkpoint";
        return await this.#writeCheckpoint(entry);
      } catch (error) {
        if (!(error instanceof StoreBehind) || returns === MOST_RETURNS) throw error;
        this.#wentBack(entry, error.has);
      }
    }
  }

  /** The store has only the writes up to `has`: marks everything later as not stored. */
  #wentBack(entry: Entry, has: number): void {
    entry.has = Math.min(entry.has, has);
    entry.acknowledged = has;
    entry.settingsChanged = true;
    entry.members = "";
    entry.attempts.stored = -1;
  }

  /** Checks for all rooms at once whether the store still has their last writes. */
  async #look(): Promise<void> {
    const asked = this.#all().map((entry) => ({ entry, acknowledged: entry.acknowledged }));
    if (asked.length === 0) return;
    const answered = await this.#options.store.readWrites(asked.map(({ entry }) => entry.lease)).catch(() => []);
    for (const [i, has] of answered.entries()) {
      const { entry, acknowledged } = asked[i]!;
      if (has < 0 || has >= acknowledged) continue;
      // Force a write: the store refuses it and so reports its last write.
      entry.settingsChanged = true;
      void this.#flush(entry);
    }
  }

  /** Logs a failed write at once, then every COMPLAINT_MS. */
  #complain(room: string, what: string, err: unknown): void {
    const nowMs = performance.now();
    this.#complaint.failures += 1;
    if (nowMs - this.#complaint.atMs < COMPLAINT_MS) return;
    this.#options.log.error(
      { room, what, err, failures: this.#complaint.failures },
      "a room could not be stored; the write is repeated",
    );
    this.#complaint = { atMs: nowMs, failures: 0 };
  }

  /**
   * Runs the lease's next write.
   * @returns its number
   * @throws LeaseLost, StoreBehind, StoreUnavailable
   */
  async #ask(entry: Entry, work: (lease: Lease) => Promise<void>): Promise<number> {
    entry.writes += 1;
    const { writes: write, acknowledged: after } = entry;
    await work({ ...entry.lease, write, after });
    entry.acknowledged = write;
    return write;
  }

  async #writeMembers(entry: Entry): Promise<void> {
    const records = entry.room.memberRecords();
    const known = JSON.stringify(records);
    if (known === entry.members) return;
    await this.#ask(entry, (lease) => this.#options.store.writeMembers(lease, encodeMembers(records)));
    entry.members = known;
  }

  async #countAttempts(entry: Entry): Promise<void> {
    const { room, attempts } = entry;
    const wanted = room.onProbation ? attempts.claimed : 0;
    if (wanted === attempts.stored) return;
    await this.#ask(entry, (lease) => this.#options.store.countAttempts(lease, wanted));
    attempts.stored = wanted;
  }

  async #writeSettings(entry: Entry): Promise<void> {
    if (!entry.settingsChanged) return;
    entry.settingsChanged = false;
    try {
      const settings = entry.room.settings();
      await this.#ask(entry, (lease) => this.#options.store.writeSettings(lease, settings));
    } catch (error) {
      entry.settingsChanged = true;
      throw error;
    }
  }

  async #writeJournal(entry: Entry): Promise<void> {
    const { history } = entry.room.checkpointPolicy;
    if (entry.has !== Infinity || history.rewinds.length !== entry.rewindsSeen) return this.#rewriteJournal(entry);
    const after = entry.writtenTick;
    const until = history.tick;
    if (until <= after) return;
    entry.waitingMs ||= performance.now();
    const startMs = performance.now();
    const segment = segmentOf(history, after);
    const write = await this.#ask(entry, (lease) => this.#options.store.appendJournal(lease, segment));
    this.#options.metrics.persistence.journalFlush((performance.now() - startMs) / 1000, segment.bytes.byteLength);
    entry.writtenTick = until;
    entry.ends.push({ tick: until, write });
    entry.waitingMs = 0;
  }

  /**
   * Replaces the stored journal after the room or the store has gone back: from the last tick on which both agree, in
   * one transaction.
   *
   *     store, gone back       |-------------|------X      X: a segment that this room does not have, or has rewound
   *     memory           oldest ...|---------|--------|----> tick
   *     rewritten                            |============>   and the newest state
   */
  async #rewriteJournal(entry: Entry): Promise<void> {
    const { has, room } = entry;
    const { store, metrics, log } = this.#options;
    const { history } = room.checkpointPolicy;
    const { tick: until, newestState: newest, oldestTick, rewinds } = history;
    const seen = rewinds.length;
    const back = Math.min(Infinity, ...rewinds.slice(entry.rewindsSeen));
    const agreed = ({ tick, write }: Piece): boolean => tick <= back && write <= has;
    // A segment that reaches beyond the agreed tick is replaced as a whole.
    const ends = entry.ends.filter(agreed);
    const end = ends.at(-1)?.tick ?? (has === Infinity ? oldestTick : -1);
    const after = Math.max(end, oldestTick);
    const kept = has === Infinity ? back : Math.min(back, end);
    const segment = until > after ? segmentOf(history, after) : undefined;
    const checkpoint = newest.packed ? checkpointOf(room, newest) : undefined;
    const instead: Rewritten = { ...(segment && { segment }), ...(checkpoint && { checkpoint }) };
    const write = await this.#ask(entry, (lease) => store.truncate(lease, kept, instead));
    entry.rewindsSeen = seen;
    entry.has = Infinity;
    entry.writtenTick = until;
    entry.ends = segment ? [...ends, { tick: until, write }] : ends;
    entry.stored = entry.stored.filter((piece) => agreed(piece) && piece.tick <= kept && piece.tick !== newest.tick);
    if (checkpoint) this.#hasStored(entry, newest, write);
    if (has === Infinity) return;
    const whole = oldestTick === 0 || end >= oldestTick;
    metrics.persistence.sentAgain(whole);
    log.error(
      { room: room.name, epoch: entry.lease.epoch, tick: until, after, whole },
      "the store has gone back and lost acknowledged data of a room; the data was sent again",
    );
  }

  async #writeCheckpoint(entry: Entry): Promise<void> {
    const { room } = entry;
    const { history } = room.checkpointPolicy;
    // If the room went back since the journal was written, the stored journal contradicts the newest state and does not
    // mark that it was saved. The next flush corrects both in one transaction.
    if (history.rewinds.length !== entry.rewindsSeen) return;
    const newest = history.newestState;
    const last = entry.stored.at(-1)?.tick ?? 0;
    // Store the state of a paused room at once, so that a restore has nothing to replay.
    const { cost = 0 } = newest;
    const due =
      newest.tick >= last + STORE_SECONDS * room.tickHz ||
      cost - entry.storedCost >= STORE_COST_SECONDS ||
      (newest.tick > last && newest.tick === history.tick);
    if (!due || newest.packed === null || newest.tick > entry.writtenTick) return;
    const startMs = performance.now();
    const checkpoint = checkpointOf(room, newest);
    const write = await this.#ask(entry, (lease) => this.#options.store.writeCheckpoint(lease, checkpoint));
    this.#options.metrics.persistence.checkpoint((performance.now() - startMs) / 1000, checkpoint.state.byteLength);
    this.#hasStored(entry, newest, write);
    await this.#prune(entry);
  }

  #hasStored(entry: Entry, { tick, cost = 0 }: Checkpoint, write: number): void {
    entry.stored = [...entry.stored.filter((piece) => piece.tick !== tick), { tick, write }];
    entry.storedCost = cost;
  }

  async #prune(entry: Entry): Promise<void> {
    const { history } = entry.room.checkpointPolicy;
    const wanted = new Set(history.states.map(({ tick }: Checkpoint) => tick));
    const retained = entry.stored.filter(({ tick }, i) => wanted.has(tick) || i >= entry.stored.length - SPARE);
    if (retained.length === entry.stored.length) return;
    // Segments before the oldest state are useless. A scene's start counts as a state that needs no stored bytes.
    const oldest = Math.min(retained[0]!.tick, history.oldestTick);
    const ticks = retained.map(({ tick }) => tick);
    await this.#ask(entry, (lease) => this.#options.store.prune(lease, ticks, oldest));
    entry.stored = retained;
    entry.ends = entry.ends.filter(({ tick }) => tick > oldest);
  }
}

/** Encodes the inputs after tick `after`. */
function segmentOf(history: RoomHistory, after: number): JournalSegment {
  const until = history.tick;
  const bytes = encodeSegment({
    after,
    until,
    records: history.records(after, until),
    hashes: history.hashes.filter(({ tick }) => tick > after && tick <= until),
    members: null,
  });
  return { after, until, bytes };
}

function checkpointOf(room: JournaledRoom, checkpoint: Checkpoint): StoredState {
  const { identity } = room;
  return { tick: checkpoint.tick, identity, state: encodeCheckpoint({ checkpoint, members: room.memberRecords() }) };
}
