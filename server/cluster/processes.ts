/**
 * The processes' reports to each other. Three times in a term each process stores its load, its version, and the rooms
 * that it has just handed over, and reads the other reports. Rooms do not depend on these reports: leases decide which
 * process has a room. Without reports a free room goes to the first process that claims it.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { readReport } from "../store/processReport.ts";
import type {
  GivenRoom,
  Holder,
  ListedProcess,
  ProcessReport,
  ProcessState,
  Store,
  StoredReport,
} from "../store/store.ts";
import { isAlive } from "./balance.ts";
import type { Log } from "./leaseKeeper.ts";
import type { ClusterRooms, RoomLoad } from "./rooms.ts";

const REPORTS_PER_TERM = 3;
/** Number of reports whose loads are averaged. */
const REPORTS_IN_LOAD = 3;
/** Handed-over rooms are reported for this long, ms. */
const GIVEN_MS = 60_000;
/** Longest wait until a report is stored, ms. Without it the other processes notice the change themselves. */
const TELL_MS = 1000;

/** State of this process for its reports, beside its rooms. */
export interface OwnState {
  version: string;
  state: "starting" | "ready";
  publicUrl: string | null;
  /** Number of threads that step shared rooms. */
  threads: number;
  memoryBytes: number;
}

export interface ProcessesOptions {
  store: Store;
  holder: Holder;
  rooms: Pick<ClusterRooms, "members" | "names" | "loads">;
  maxRooms: number;
  own: () => OwnState;
  metrics: ClusterMetrics;
  log: Log;
}

export class Processes {
  readonly #options: ProcessesOptions;
  readonly #tell: () => Promise<void>;
  readonly #read: () => Promise<ListedProcess[]>;
  readonly #given = new Map<string, { to: string | null; ms: number }>();
  readonly #loads: number[] = [];
  #known: ListedProcess[] = [];
  readonly #aheadMs = new Map<string, number>();
  /** Processes whose last report was invalid. */
  #invalid: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | null = null;
  /** The process is shutting down. */
  #ending: "draining" | "gone" | null = null;
  #started = false;
  #failing = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
    const { store, metrics } = options;
    this.#tell = oneByOne(() => store.report(this.report()));
    this.#read = oneByOne(async () => this.#valid(await store.processes()));
    metrics.load = () => this.load;
    metrics.processes = () => {
      const count = (wanted: ProcessState): number =>
        this.#known.filter((process) => isAlive(process) && process.state === wanted).length;
      return { starting: count("starting"), ready: count("ready"), draining: count("draining") };
    };
  }

  /** Starts reporting. @param looked called after each read of the other reports */
  start(looked: () => void): void {
    if (this.#started || this.#ending) return;
    this.#started = true;
    const periodMs = (1000 * this.#options.store.leaseSeconds) / REPORTS_PER_TERM;
    const again = async (): Promise<void> => {
      this.#sample();
      await this.#told();
      await this.table();
      if (this.#ending) return;
      looked();
      this.#timer = setTimeout(() => void again(), periodMs * (0.9 + 0.2 * Math.random()));
    };
    void again();
  }

  /** Recent share of the stepping threads' time that rooms take. */
  get load(): number {
    return this.#loads.reduce((sum, load) => sum + load, 0) / Math.max(1, this.#loads.length);
  }

  get threads(): number {
    return this.#options.own().threads;
  }

  /** Reports of the last read, including this process's. Empty while the store does not answer. */
  get known(): readonly ListedProcess[] {
    return this.#known;
  }

  get loads(): RoomLoad[] {
    return this.#options.rooms.loads?.() ?? [];
  }

  /** Composes this process's report. */
  report(): ProcessReport {
    const { holder, rooms, maxRooms, own } = this.#options;
    const { version, state, publicUrl, memoryBytes } = own();
    const names = rooms.names();
    const nowMs = performance.now();
    for (const [room, { ms }] of this.#given) if (nowMs - ms > GIVEN_MS) this.#given.delete(room);
    const given = [...this.#given].map(
      ([room, { to, ms }]): GivenRoom => ({ room, to, secondsAgo: (nowMs - ms) / 1000 }),
    );
    return {
      ...holder,
      version,
      state: this.#ending ?? state,
      publicUrl,
      load: this.load,
      rooms: names.length,
      maxRooms,
      members: names.reduce((sum, name) => sum + rooms.members(name), 0),
      memoryBytes,
      clockMs: Date.now(),
      given,
    };
  }

  /** Reads all reports now. Never rejects: the table is empty while the store does not answer. */
  async table(): Promise<readonly ListedProcess[]> {
    try {
      const { leaseSeconds } = this.#options.store;
      this.#known = aged(await this.#read(), leaseSeconds);
      const nowMs = Date.now();
      for (const known of this.#known) this.#aheadMs.set(known.process, aheadMs(known, leaseSeconds, nowMs));
      for (const gone of this.#aheadMs.keys())
        if (!this.#known.some(({ process }) => process === gone)) this.#aheadMs.delete(gone);
    } catch {
      this.#known = [];
    }
    return this.#known;
  }

  /** Returns the time by which the clock of a process is ahead of this one's, ms; 0 if unknown. */
  aheadMs(process: string): number {
    return this.#aheadMs.get(process) ?? 0;
  }

  /** Adds a room that is about to be created at a process, until the next read. */
  expect({ process }: ListedProcess, load: number): void {
    this.#known = this.#known.map((known) =>
      known.process === process ? { ...known, rooms: known.rooms + 1, load: Math.min(1, known.load + load) } : known,
    );
  }

  /** Reports handed-over rooms and their receivers, before the rooms are released. Never rejects. */
  async give(rooms: ReadonlyMap<string, string | null>): Promise<void> {
    if (!this.#started || rooms.size === 0) return;
    const ms = performance.now();
    for (const [room, to] of rooms) this.#given.set(room, { to, ms });
    await this.#told();
  }

  /** Reports `draining`: the process takes no more rooms. */
  drain(): void {
    this.#ending = "draining";
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Reports `gone`. Never rejects. */
  async close(): Promise<void> {
    this.drain();
    this.#ending = "gone";
    if (this.#started) await this.#told();
  }

  /**
   * Drops invalid reports, and those of former processes at this one's address. An invalid one is logged once until its
   * process writes a valid one.
   */
  #valid(stored: readonly StoredReport[]): ListedProcess[] {
    const invalid = new Set<string>();
    const valid = stored.flatMap((one) => {
      const report = readReport(one);
      const { holder, log } = this.#options;
      const { process } = one;
      if (!("invalid" in report)) return report.url === holder.url && process !== holder.process ? [] : [report];
      invalid.add(process);
      if (!this.#invalid.has(process)) log.warn({ process, reason: report.invalid }, "a process's report is ignored");
      return [];
    });
    this.#invalid = invalid;
    return valid;
  }

  #sample(): void {
    const shares = this.loads.reduce((sum, { share }) => sum + share, 0);
    this.#loads.push(Math.min(1, shares / this.threads));
    if (this.#loads.length > REPORTS_IN_LOAD) this.#loads.shift();
  }

  async #told(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, TELL_MS)));
    const told = this.#tell().then(
      () => (this.#failing = false),
      (error: unknown) => {
        if (!this.#failing) this.#options.log.warn({ err: error }, "this process's report cannot be stored");
        this.#failing = true;
      },
    );
    await Promise.race([told, waited]);
    clearTimeout(timer);
  }
}

/** The store's clock tells the age of a report. So it need not agree with that of any process. */
function aheadMs({ clockMs, secondsLeft }: ListedProcess, leaseSeconds: number, nowMs: number): number {
  return clockMs === undefined ? 0 : clockMs + 1000 * (leaseSeconds - secondsLeft) - nowMs;
}

/** Adds a report's own age to the ages in it. */
const aged = (table: readonly ListedProcess[], leaseSeconds: number): ListedProcess[] =>
  table.map((process) => ({
    ...process,
    given: process.given.map((room) => ({
      ...room,
      secondsAgo: room.secondsAgo + Math.max(0, leaseSeconds - process.secondsLeft),
    })),
  }));

/** Runs one call at a time. A caller never gets an answer that is older than its call. */
function oneByOne<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () =>
    (next ??= running.then(() => {
      next = null;
      const answer = ask();
      running = answer.catch(() => {});
      return answer;
    }));
}
