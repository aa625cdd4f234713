/**
 * Writes what the rooms of this process remember into the store, behind them: no tick waits for it. Every flush of a
 * room is, in this order,
 *
 *     went back?    what came later is dropped
 *     journal       what went in since the last flush, up to the last tick
 *     members       who is in the room, if that has changed
 *     attempts      whether the room has settled here
 *     checkpoint    a state that is due, once the journal has passed it
 *     prune         what neither a restart nor the history needs any more
 *
 * Members come after the journal: who is not among them any more has let go in it. Writes are numbered, so that one
 * which was given up and is carried out late does no harm. A room's flushes follow each other; what could not be written is written with the next one. A lost lease ends the
 * room here.
 */
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type Lease, LeaseLost, type Parked, type Store } from "../store/store.ts";
import { encodeCheckpoint, encodeMembers, encodeSegment, type MemberRecords } from "./format.ts";
import type { Checkpoint } from "./history.ts";
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

interface Entry {
  room: JournaledRoom;
  lease: Lease;
  /** Of the room's history. */
  rewindsSeen: number;
  writtenTick: number;
  /** Where the store's segments end, ascending. */
  ends: number[];
  storedTicks: number[];
  /** `Checkpoint.cost` of the last of them. */
  storedCost: number;
  /** As they are in the store. */
  members: string;
  /** How often the room was claimed, and what of it the store has. */
  attempts: { claimed: number; stored: number };
  /** How many writes there were under this lease. */
  writes: number;
  /** Since when something waits to be written, ms; 0: nothing does. */
  waitingMs: number;
  /** Its history was cut: the newest state is to be written whenever it was taken. */
  cut: boolean;
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

/** Between two lines about a store that does not take what rooms do, ms: all rooms fail then, several times a second. */
const COMPLAINT_MS = 60_000;

export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  /** When it was last said that the store does not take something, and how often it has not since. */
  #complaint = { atMs: -Infinity, failures: 0 };

  constructor(options: JournalWriterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flushAll(), options.flushMs);
    this.#timer.unref();
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
    this.#entries.set(room.name, {
      room,
      lease,
      rewindsSeen: rewinds.length,
      writtenTick: stored.tick,
      ends: [...stored.segments],
      storedTicks: [...stored.checkpoints],
      storedCost: 0,
      members: "",
      attempts: { claimed: lease.attempts ?? 0, stored: lease.attempts ?? 0 },
      writes: 0,
      waitingMs: 0,
      cut: false,
      waits: false,
      tail: Promise.resolve(),
      settingsChanged: false,
      failure: null,
      failingMs: 0,
    });
  }

  async flushAll(): Promise<void> {
    await Promise.all(this.#all().map((entry) => this.#flush(entry)));
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

  /** The room ends here, and nobody is to serve it for now. All that it has done stays in the store. */
  async park(room: string, parked: Parked): Promise<void> {
    const entry = this.#entries.get(room);
    if (!entry) return;
    await this.#flush(entry);
    this.#entries.delete(room);
    await this.#options.store.park(this.#next(entry), parked);
  }

  /** The room ends for good. Resolves when nothing of it is in the store. @throws CodedError STORE_AWAY */
  async remove(room: string): Promise<void> {
    const entry = this.#entries.get(room);
    if (!entry) return;
    this.#entries.delete(room);
    await entry.tail;
    try {
      await this.#options.store.removeRoom(entry.lease);
    } catch (error) {
      // Another process has it, or the store is away: then its lease runs out, and whoever claims it finds an empty
      // room and ends it.
      this.#options.log.warn({ room, err: error }, "a room that is over could not be removed from the store");
      throw new CodedError("STORE_AWAY", { field: "room", value: room });
    }
  }

  /** Writes no more of the room: its lease is lost. */
  drop(room: string): void {
    const entry = this.#entries.get(room);
    if (!this.#entries.delete(room) || !entry) return;
    entry.room.leaseLost();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
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
    let what: "settings" | "journal" | "members" | "checkpoint" = "settings";
    entry.failure = null;
    try {
      await this.#writeSettings(entry);
      what = "journal";
      await this.#truncate(entry);
      await this.#writeJournal(entry);
      what = "members";
      await this.#writeMembers(entry);
      await this.#countAttempts(entry);
      what = "checkpoint";
      await this.#writeCheckpoint(entry);
      entry.failingMs = 0;
    } catch (error) {
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

  /** The lease, for its next write. */
  #next(entry: Entry): Lease {
    entry.writes += 1;
    return { ...entry.lease, write: entry.writes };
  }

  async #writeMembers(entry: Entry): Promise<void> {
    const records = entry.room.memberRecords();
    const known = JSON.stringify(records);
    if (known === entry.members) return;
    await this.#options.store.writeMembers(this.#next(entry), encodeMembers(records));
    entry.members = known;
  }

  async #countAttempts(entry: Entry): Promise<void> {
    const { room, attempts } = entry;
    const wanted = room.onTrial ? attempts.claimed : 0;
    if (wanted === attempts.stored) return;
    await this.#options.store.countAttempts(this.#next(entry), wanted);
    attempts.stored = wanted;
  }

  async #writeSettings(entry: Entry): Promise<void> {
    if (!entry.settingsChanged) return;
    entry.settingsChanged = false;
    try {
      await this.#options.store.writeSettings(this.#next(entry), entry.room.settings());
    } catch (error) {
      entry.settingsChanged = true;
      throw error;
    }
  }

  async #truncate(entry: Entry): Promise<void> {
    const { rewinds } = entry.room.checkpointPolicy.history;
    if (rewinds.length === entry.rewindsSeen) return;
    const seen = rewinds.length;
    const back = Math.min(...rewinds.slice(entry.rewindsSeen));
    await this.#options.store.truncate(this.#next(entry), back);
    entry.rewindsSeen = seen;
    // A segment that went on beyond is gone with all that was in it.
    entry.ends = entry.ends.filter((end) => end <= back);
    entry.writtenTick = Math.min(
      entry.writtenTick,
      entry.ends.at(-1) ?? entry.room.checkpointPolicy.history.oldestTick,
    );
    entry.cut = true;
    entry.storedTicks = entry.storedTicks.filter((tick) => tick <= back);
  }

  async #writeJournal(entry: Entry): Promise<void> {
    const { history } = entry.room.checkpointPolicy;
    const after = entry.writtenTick;
    const until = history.tick;
    if (until <= after) return;
    entry.waitingMs ||= performance.now();
    const startMs = performance.now();
    const bytes = encodeSegment({
      after,
      until,
      records: history.records(after, until),
      hashes: history.hashes.filter(({ tick }) => tick > after && tick <= until),
      members: null,
    });
    await this.#options.store.appendJournal(this.#next(entry), { after, until, bytes });
    entry.writtenTick = until;
    entry.ends.push(until);
    entry.waitingMs = 0;
    this.#options.metrics.persistence.journalFlush((performance.now() - startMs) / 1000, bytes.byteLength);
  }

  async #writeCheckpoint(entry: Entry): Promise<void> {
    const { room } = entry;
    const { history } = room.checkpointPolicy;
    const newest = history.newestState;
    const last = entry.storedTicks.at(-1) ?? 0;
    // The state of a room that stands still goes out at once: nobody steps anything again to have it.
    const { cost = 0 } = newest;
    const due =
      entry.cut ||
      newest.tick >= last + STORE_SECONDS * room.tickHz ||
      cost - entry.storedCost >= STORE_COST_SECONDS ||
      (newest.tick > last && newest.tick === history.tick);
    if (!due || newest.packed === null || newest.tick > entry.writtenTick) return;
    const startMs = performance.now();
    const state = encodeCheckpoint({ checkpoint: newest, members: room.memberRecords() });
    await this.#options.store.writeCheckpoint(this.#next(entry), { tick: newest.tick, identity: room.identity, state });
    this.#options.metrics.persistence.checkpoint((performance.now() - startMs) / 1000, state.byteLength);
    entry.storedTicks = [...entry.storedTicks.filter((tick) => tick !== newest.tick), newest.tick];
    entry.storedCost = cost;
    entry.cut = false;
    await this.#prune(entry);
  }

  async #prune(entry: Entry): Promise<void> {
    const { history } = entry.room.checkpointPolicy;
    const wanted = new Set(history.states.map(({ tick }: Checkpoint) => tick));
    const retained = entry.storedTicks.filter((tick, i) => wanted.has(tick) || i >= entry.storedTicks.length - SPARE);
    if (retained.length === entry.storedTicks.length) return;
    // Segments before the oldest state that there is lead nowhere; a scene's start is one that nobody has to store.
    const oldest = Math.min(retained[0]!, history.oldestTick);
    await this.#options.store.prune(this.#next(entry), retained, oldest);
    entry.storedTicks = retained;
    entry.ends = entry.ends.filter((end) => end > oldest);
  }
}
