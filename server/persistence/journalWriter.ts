/**
 * Writes what the rooms of this process remember into the store, behind them: no tick waits for it. Every flush of a
 * room is, in this order,
 *
 *     settings      if they have changed
 *     journal       what went in since the last flush, up to the last tick; if the room or the store went back, instead
 *                   of what the store has of later
 *     members       who is in the room, if that has changed
 *     attempts      whether the room has settled here
 *     checkpoint    a state that is due, once the journal has passed it
 *     prune         what neither a restart nor the history needs any more
 *
 * Members come after the journal: who is not among them any more has let go in it. Writes are numbered, so that one
 * which was given up and is carried out late does no harm, and each names the last one that was acknowledged: a store
 * that has gone back (a replica without the last transactions) refuses it and says what it has. Then the room's
 * settings, members and journal since that are sent again from memory, with its newest state, in case the memory does
 * not reach back so far. A room that has nothing to write looks now and then whether it would be refused.
 *
 * A room's flushes follow each other; what could not be written is written with the next one. A lost lease ends the
 * room here.
 */
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { Metrics } from "../metrics/metrics.ts";
import {
  type JournalSegment,
  type Lease,
  LeaseLost,
  type Parked,
  type Rewritten,
  type Store,
  StoreBehind,
  type Checkpoint as StoredState,
} from "../store/store.ts";
import { encodeCheckpoint, encodeMembers, encodeSegment, type MemberRecords } from "./format.ts";
import type { Checkpoint, RoomHistory } from "./history.ts";
import type { CheckpointPolicy } from "./checkpointPolicy.ts";

/**
 * A checkpoint goes to the store this often while its room moves, s: with the journal after it, it is what a restart
 * has to step again.
 */
const STORE_SECONDS = 2.5;
/** Or as soon as stepping it again would take so long, s: a restart has many rooms to bring back. */
const STORE_COST_SECONDS = 1;
/** Checkpoints in the store for a restart: should the newest be damaged, there is one before it. */
const SPARE = 3;
/** Between two looks whether the store still has what it has taken, ms. */
const LOOK_MS = 2000;
/** How often one flush begins again because the store has gone back. */
const MOST_RETURNS = 3;

/** What the journal writer sees of a room. */
export interface JournaledRoom {
  readonly name: string;
  readonly checkpointPolicy: CheckpointPolicy;
  /** What the states of its scene can be read by (workers/identity.ts). */
  readonly identity: string;
  readonly tickHz: number;
  memberRecords(): MemberRecords;
  /** It was taken from the store and has not shown yet that it does no harm: its claim counts as an attempt. */
  readonly onTrial?: boolean;
  /** Its lease is lost: it must not step any more. */
  leaseLost(): void;
  /** As they are now: access and whatever else is kept with the room's record. */
  settings(): Record<string, unknown>;
}

export interface JournalWriterOptions {
  store: Store;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Between two flushes, ms: what a killed process loses at most of what went in. */
  flushMs: number;
}

/** A piece that the store has: the tick at which it is or ends, and by which write. */
interface Piece {
  tick: number;
  write: number;
}

interface Entry {
  room: JournaledRoom;
  lease: Lease;
  /** Of the room's history. */
  rewindsSeen: number;
  writtenTick: number;
  /** Where the store's segments end, ascending. */
  ends: Piece[];
  /** Checkpoints in the store, ascending. */
  stored: Piece[];
  /** `Checkpoint.cost` of the last of them. */
  storedCost: number;
  /** As they are in the store. */
  members: string;
  /** How often the room was claimed, and what of it the store has. */
  attempts: { claimed: number; stored: number };
  /** How many writes there were under this lease, and the last one that was acknowledged. */
  writes: number;
  acknowledged: number;
  /** The store has gone back, and has no more than this write; Infinity: it has not. */
  has: number;
  /** Since when something waits to be written, ms; 0: nothing does. */
  waitingMs: number;
  /** A flush waits behind the one that runs. */
  waits: boolean;
  tail: Promise<void>;
  /** The store has not got the settings as they are. */
  settingsChanged: boolean;
  /** Why the last write did not go through; null: it did. */
  failure: unknown;
  /** Since when none has, ms; 0: the last one has. */
  failingMs: number;
}

/** What could not be written. */
type What = "settings" | "journal" | "members" | "checkpoint";

/**
 * Between two lines about a store that does not take what rooms do, ms: all rooms fail then, several times a second.
 */
const COMPLAINT_MS = 60_000;

export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #entries = new Map<string, Entry>();
  /** Rooms that are over, and that the store would not remove. */
  readonly #over = new Map<string, Lease>();
  #removing = false;
  readonly #timers: NodeJS.Timeout[];
  /** When it was last said that the store does not take something, and how often it has not since. */
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
   * What the room did since `stored.tick` and does from now on is written.
   * @param stored what the store has of it already: up to which tick, ticks of checkpoints, and where segments end
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
    // A room of this name that is over is none of the store's any more: this one must not go with it.
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
   * The room's settings are others now. Resolves when they are in the store, with all that the room has done by now.
   * @throws as `durable` does
   */
  async settingsChanged(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) entry.settingsChanged = true;
    await this.durable(room);
  }

  /**
   * Resolves when all that the room has done by now is in the store: what is acknowledged after this outlives the
   * process.
   * @throws CodedError STORE_AWAY; it is tried again all the same, unless the room was given up or lost meanwhile
   */
  async durable(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) await this.#flush(entry);
    // Nobody writes for a room that is not held (any more): it must not be said that somebody did.
    if (!entry || entry.failure !== null) throw new CodedError("STORE_AWAY", { field: "room", value: room });
  }

  /** Resolves when all that the room has done by now is in the store, or could not be written. */
  async flush(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (entry) await this.#flush(entry);
  }

  /** s since the room that has waited longest could write; 0: all could. */
  get failingSeconds(): number {
    return Math.max(0, ...this.#all().map(({ failingMs }) => (failingMs && performance.now() - failingMs) / 1000));
  }

  /** The room ends here and may go on elsewhere, at once. @returns whether all of it is in the store */
  async release(room: string): Promise<boolean> {
    const entry = this.#entries.get(room);
    if (!entry) return false;
    // Whoever can give it up has survived it.
    entry.attempts.claimed = 0;
    await this.#flush(entry);
    this.#entries.delete(room);
    await this.#options.store.release(entry.lease);
    return entry.writtenTick === entry.room.checkpointPolicy.history.tick;
  }

  /**
   * The room ends here, and nobody is to serve it for now. All that it has done stays in the store.
   * @throws LeaseLost, StoreBehind, StoreUnavailable: it is not parked, and whoever is first may take it
   */
  async park(room: string, parked: Parked): Promise<void> {
    const entry = this.#entries.get(room);
    if (!entry) return;
    for (let returns = 0; ; returns++) {
      await this.#flush(entry);
      this.#entries.delete(room);
      try {
        await this.#ask(entry, (lease) => this.#options.store.park(lease, parked));
        return;
      } catch (error) {
        if (!(error instanceof StoreBehind) || returns === MOST_RETURNS) {
          // Whoever takes it parks it. A lease that is not released would be renewed, with no room under it.
          await this.#options.store.release(entry.lease).catch(() => {});
          throw error;
        }
        this.#wentBack(entry, error.has);
        this.#entries.set(room, entry);
      }
    }
  }

  /**
   * The room ends for good. Resolves when nothing of it is in the store.
   * @throws CodedError STORE_AWAY: another process has it, or is about to; or it is tried again until the store is back
   */
  async remove(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    // It was given up or lost: whoever has it now has all of it, and it must not be said that nobody has.
    if (!entry) throw new CodedError("STORE_AWAY", { field: "room", value: room });
    this.#entries.delete(room);
    await entry.tail;
    try {
      await this.#options.store.removeRoom(entry.lease);
    } catch (error) {
      if (!(error instanceof LeaseLost)) this.#over.set(room, entry.lease);
      this.#options.log.warn({ room, err: error }, "a room that is over could not be removed from the store");
      throw new CodedError("STORE_AWAY", { field: "room", value: room });
    }
  }

  /** Is the room over here, and still to be removed from the store? */
  isRemoving(room: string): boolean {
    return this.#over.has(room);
  }

  /** Their leases are renewed until then, so nobody else brings them back meanwhile; nor does this process. */
  async #removeAgain(): Promise<void> {
    if (this.#removing) return;
    this.#removing = true;
    for (const [room, lease] of this.#over)
      try {
        await this.#options.store.removeRoom(lease);
        this.#over.delete(room);
        this.#options.log.info({ room }, "a room that is over was removed from the store");
      } catch (error) {
        if (error instanceof LeaseLost) this.#over.delete(room);
        else break;
      }
    this.#removing = false;
  }

  /** Writes no more of the room: its lease is lost. */
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

  /**
   * One runs and one waits at most: a store that does not answer must not have a queue of the same question behind it.
   */
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
      entry.failure = new Error("the room was given up or lost");
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

  /** Again from the beginning whenever it turns out that the store has gone back. */
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

  /** The store has the room's writes up to `has` only: what it has of later is not known any more. */
  #wentBack(entry: Entry, has: number): void {
    entry.has = Math.min(entry.has, has);
    entry.acknowledged = has;
    entry.settingsChanged = true;
    entry.members = "";
    entry.attempts.stored = -1;
  }

  /** Asks for all rooms at once whether the store still has their last writes. */
  async #look(): Promise<void> {
    const asked = this.#all().map((entry) => ({ entry, acknowledged: entry.acknowledged }));
    if (asked.length === 0) return;
    const answered = await this.#options.store.readWrites(asked.map(({ entry }) => entry.lease)).catch(() => []);
    for (const [i, has] of answered.entries()) {
      const { entry, acknowledged } = asked[i]!;
      if (has < 0 || has >= acknowledged) continue;
      // Any write will do: the store refuses it.
      entry.settingsChanged = true;
      void this.#flush(entry);
    }
  }

  /** At once, and then now and then for as long as it lasts. */
  #complain(room: string, what: string, err: unknown): void {
    const nowMs = performance.now();
    this.#complaint.failures += 1;
    if (nowMs - this.#complaint.atMs < COMPLAINT_MS) return;
    this.#options.log.error(
      { room, what, err, failures: this.#complaint.failures },
      "the store did not take what a room did; it is tried again",
    );
    this.#complaint = { atMs: nowMs, failures: 0 };
  }

  /**
   * The next write of the lease.
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
    const wanted = room.onTrial ? attempts.claimed : 0;
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
   * The room has gone back, or the store has: from where both agree on, the store gets what the room remembers in place
   * of what it has, in one transaction.
   *
   *     store, gone back       |-------------|------X      X: a segment that this room has not got, or does not want
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
    // A segment that went on beyond is gone with all that was in it.
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
      "the store has gone back and lost what it had taken of a room; the room has sent it again",
    );
  }

  async #writeCheckpoint(entry: Entry): Promise<void> {
    const { room } = entry;
    const { history } = room.checkpointPolicy;
    // Gone back since the journal was written: of what is newest now the store has another future, in whose journal
    // nothing says that this state was taken. The next flush puts both right at once.
    if (history.rewinds.length !== entry.rewindsSeen) return;
    const newest = history.newestState;
    const last = entry.stored.at(-1)?.tick ?? 0;
    // The state of a room that stands still goes out at once: nobody steps anything again to have it.
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
    // Segments before the oldest state that there is lead nowhere; a scene's start is one that nobody has to store.
    const oldest = Math.min(retained[0]!.tick, history.oldestTick);
    const ticks = retained.map(({ tick }) => tick);
    await this.#ask(entry, (lease) => this.#options.store.prune(lease, ticks, oldest));
    entry.stored = retained;
    entry.ends = entry.ends.filter(({ tick }) => tick > oldest);
  }
}

/** What went in after `after`. */
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
