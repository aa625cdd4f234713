/**
 * Chooses which room's tick a thread runs next. Pure: the caller passes the time.
 *
 *   due and within its share   light rooms first, then the others, each by deadline
 *   due and beyond its share   the least served room, by weight (start-time fair queueing: Goyal, Vin and Cheng
 *   1996)
 *   not due yet                none: the thread sleeps
 *
 * Rooms of one address have one account with a common share (rooms/ticks/weights.ts). Scheduling is fair first between
 * accounts, then between the rooms of each account.
 *
 * A share is counted in virtual time: thread seconds over weight. The schedule's own virtual time follows the least
 * served room among those that want a turn. So a room that asks for less than its share is never behind, and a room
 * that asks for more falls behind alone. Unused time is not saved: an idle room starts at the schedule's time, and when
 * no room is due all debts are forgotten.
 *
 * That does not suffice if one tick takes longer than other rooms can wait. Therefore a long tick is preempted: between
 * the phases of its step, due ticks of less served rooms run in its middle. These are much shorter ticks; and
 * ticks no longer than the long one, of accounts that stay less served even afterwards. So a room within its share
 * waits for a piece of a heavy room's tick, never for its end.
 *
 * A piece that cannot be preempted (a phase, encoding, lists) may still cost light rooms ticks. The part that they
 * cannot catch up with (rooms/ticks/tickClock.ts) is a stall. Stalls get STALL_SHARE of the wall time. A tick that
 * would stall other rooms for longer waits until enough stall time has accumulated; it never waits forever.
 */

/**
 * A room may be this far ahead of its share and still take its turn by deadline, thread s. So rooms with a higher tick
 * rate are not put behind while there is time for all.
 */
const SLACK_SECONDS = 0.004;
/** A tick that takes longer than this, s, is long and may have to wait for light rooms; a room below it is light. */
const LONG_SECONDS = 0.004;
/**
 * Share of the wall time in which long ticks may stall light rooms, and the most that accumulates, s. A tick that
 * stalls for longer waits until all of it has accumulated.
 */
const STALL_SHARE = 0.04;
const MOST_STALL_SECONDS = 1;
/** Number of ticks that a late light room catches up with: only ticks beyond them are lost. */
const CATCH_UP_TICKS = 2;
/** A tick is much shorter than another if it takes at most this part of its expected time, or is light. */
const MUCH_SHORTER = 1 / 4;
/**
 * Limit of nesting for ticks that are not much shorter, so that stacks stay shallow. It is two because a long tick may
 * already have a shorter one of its own address in its middle.
 */
const DEEPEST = 2;
/**
 * A nested tick must be of a room with this many finished ticks. If its thread is lost, the outer room must be
 * restored, too, although it is not charged.
 */
const PROVEN_TICKS = 60;
/**
 * For ticks that take this long, s, KNOWN_TICKS finished ticks suffice, so that a new room does not wait for their
 * ends. Its first ticks use a nesting level of ticks that are not much shorter, or one further level.
 */
const VERY_LONG_SECONDS = 0.05;
const KNOWN_TICKS = 3;
/** Least time until the next call, ms: rounding could remove the last nanosecond of a stall. */
const LEAST_WAIT_MS = 0.1;
/** A room that has asked for no tick for this time cannot be stalled, ms. */
const GONE_MS = 500;

/** Returns whether the tick is too long for other rooms to wait for its end. */
export const isLong = (seconds: number): boolean => seconds > LONG_SECONDS;

/** Rooms with a common share. */
export class Account {
  /** Thread seconds of these rooms over their weights, on the schedule's scale. */
  virtualSeconds = 0;
  /** Its rooms that want turns on this thread. */
  readonly flows = new Set<Flow>();

  get weight(): number {
    let sum = 0;
    for (const { weight } of this.flows) sum += weight;
    return sum;
  }
}

type Three = readonly [number, number, number];

/** One room in the schedule. */
export class Flow {
  readonly periodMs: number;
  /** Weight among the rooms of all accounts. */
  weight = 1;
  account = new Account();
  /**
   * Expected time of the next tick, s: the median of the last three, so that a single interrupted tick does not count.
   */
  expectedSeconds = 0;
  /** Thread seconds of the room over its weight, on the schedule's scale. */
  virtualSeconds = 0;
  /** Due time of the last requested tick. */
  dueMs = -Infinity;
  /** A tick is requested and has not begun. */
  waits = false;
  /** Expected longest piece of a tick without a preemption point, s: the median of the last three. 0: unknown. */
  pieceSeconds = 0;
  /** Number of finished ticks. */
  #ticks: number;
  #lastSeconds: Three;
  #lastPieces: Three = [0, 0, 0];

  /** @param ticks number of ticks finished on other threads */
  constructor(periodMs: number, expectedSeconds = 0, ticks = 0) {
    this.periodMs = periodMs;
    this.#ticks = ticks;
    this.expectedSeconds = expectedSeconds;
    this.#lastSeconds = [expectedSeconds, expectedSeconds, expectedSeconds];
  }

  took(seconds: number, pieceSeconds: number): void {
    this.virtualSeconds += seconds / this.weight;
    this.account.virtualSeconds += seconds / Math.max(this.weight, this.account.weight);
    this.#ticks += 1;
    this.#lastSeconds = [this.#lastSeconds[1], this.#lastSeconds[2], seconds];
    this.expectedSeconds = medianOfThree(this.#lastSeconds);
    this.#lastPieces = [this.#lastPieces[1], this.#lastPieces[2], pieceSeconds];
    this.pieceSeconds = medianOfThree(this.#lastPieces);
  }

  /** Whether the room's ticks are too long for other rooms to wait for their end. */
  get isLong(): boolean {
    return isLong(this.expectedSeconds);
  }

  get #isProven(): boolean {
    return this.#ticks >= PROVEN_TICKS;
  }

  /** Returns whether the room's ticks may run in the middle of a tick that takes this long. */
  fitsInto(seconds: number): boolean {
    const ticks = seconds >= VERY_LONG_SECONDS ? KNOWN_TICKS : PROVEN_TICKS;
    return this.#ticks >= ticks && this.expectedSeconds <= Math.max(LONG_SECONDS, MUCH_SHORTER * seconds);
  }

  /**
   * Returns whether the room's first ticks, of unknown length, may run in the middle of a tick that takes this long.
   */
  isNewFor(seconds: number): boolean {
    return this.#ticks < KNOWN_TICKS && seconds >= VERY_LONG_SECONDS;
  }

  /**
   * Has it been served less than the running room, which has used `seconds` of its tick? Compares rooms within an
   * account, otherwise accounts.
   */
  hasHadLess(running: Flow, seconds: number): boolean {
    return this.account === running.account
      ? this.virtualSeconds <= running.virtualSeconds + seconds / running.weight + SLACK_SECONDS
      : this.account.virtualSeconds <= running.#reached(seconds);
  }

  /**
   * Returns whether the room's tick may run in the middle of the running one, of `wholeSeconds`: it is not expected to
   * be longer, and after it the room's account is still less served than the running room's.
   */
  fitsByShare(running: Flow, seconds: number, wholeSeconds: number): boolean {
    if (this.account === running.account || !this.#isProven || this.expectedSeconds > wholeSeconds) return false;
    const { virtualSeconds, weight } = this.account;
    return virtualSeconds + this.expectedSeconds / weight <= running.#reached(seconds);
  }

  #reached(seconds: number): number {
    const { virtualSeconds, weight } = this.account;
    return virtualSeconds + seconds / Math.max(this.weight, weight) + SLACK_SECONDS;
  }

  /** A tick that begins before this time is late, but not lost. */
  get lostMs(): number {
    return this.dueMs + (this.waits ? 0 : this.periodMs) + (CATCH_UP_TICKS + 1) * this.periodMs;
  }
}

const medianOfThree = ([a, b, c]: Three): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));

interface Entry<T> {
  flow: Flow;
  dueMs: number;
  item: T;
}

export class FairSchedule<T> {
  readonly #flows = new Set<Flow>();
  #entries: Entry<T>[] = [];
  #virtualSeconds = 0;
  /** Accumulated stall time, s; negative after a tick that took longer than expected. */
  #stallSeconds = 0;
  #countedMs: number | null = null;
  /** Number of ticks that have begun and not ended: one, and those in its middle. */
  #running = 0;

  /** Returns whether a due tick waits for the thread. */
  isDue(nowMs: number): boolean {
    return this.#entries.some(({ dueMs }) => dueMs <= nowMs);
  }

  /** Requests a tick that begins at `dueMs` or later. A room has at most one request at a time. */
  submit(flow: Flow, dueMs: number, item: T): void {
    flow.dueMs = dueMs;
    flow.waits = true;
    const { account } = flow;
    for (const one of [flow, account]) one.virtualSeconds = Math.max(one.virtualSeconds, this.#virtualSeconds);
    this.#flows.add(flow);
    account.flows.add(flow);
    this.#entries.push({ flow, dueMs, item });
  }

  /**
   * @returns the tick that begins now, removed from the schedule; or when to call again, ms (Infinity: after the next
   *   `submit`)
   */
  next(nowMs: number): { flow: Flow; item: T } | { againMs: number } {
    this.#credit(nowMs);
    const due = this.#entries.filter((entry) => entry.dueMs <= nowMs);
    let againMs = this.#entries.reduce(
      (soonest, { dueMs }) => (dueMs > nowMs ? Math.min(soonest, dueMs) : soonest),
      Infinity,
    );
    if (due.length === 0) {
      this.#forgive();
      return { againMs };
    }
    for (const entry of this.#ordered(due)) {
      const missing = this.#missing(entry.flow, nowMs);
      if (missing <= 0) return this.#begin(entry);
      againMs = Math.min(againMs, nowMs + Math.max(LEAST_WAIT_MS, (1000 * missing) / STALL_SHARE));
    }
    return { againMs };
  }

  /**
   * Chooses a tick that need not wait for the end of a running long tick.
   * @param running room of the running tick; seconds: time that this tick has used so far
   * @returns the tick that begins now, light ones first, then by due time; undefined: none
   */
  preempting(running: Flow, seconds: number, nowMs: number): { flow: Flow; item: T } | undefined {
    const whole = Math.max(seconds, running.expectedSeconds);
    const fits = ({ flow }: Entry<T>): boolean =>
      (flow.fitsInto(whole) && flow.hasHadLess(running, seconds)) ||
      (this.#running <= DEEPEST && flow.fitsByShare(running, seconds, whole)) ||
      (this.#running <= DEEPEST + 1 && flow.isNewFor(whole) && flow.hasHadLess(running, seconds));
    let first: Entry<T> | undefined;
    for (const entry of this.#entries) {
      if (entry.dueMs > nowMs || !fits(entry)) continue;
      const { isLong } = entry.flow;
      if (!first || (isLong === first.flow.isLong ? entry.dueMs <= first.dueMs : !isLong)) first = entry;
    }
    return first && this.#begin(first);
  }

  /**
   * Records the end of a tick that `next` or `preempting` chose.
   * @param seconds time of this tick, without the ticks that preempted it. nowMs: time of its end. pieceSeconds:
   *   longest time between two of its preemption points
   */
  done(flow: Flow, seconds: number, nowMs: number, pieceSeconds: number = seconds): void {
    this.#running = Math.max(0, this.#running - 1);
    const stalled = seconds > LONG_SECONDS ? this.#stallOf(flow, nowMs - 1000 * seconds, () => nowMs) : 0;
    flow.took(seconds, pieceSeconds);
    this.#stallSeconds = Math.max(-MOST_STALL_SECONDS, this.#stallSeconds - stalled);
  }

  /** Cancels a room's request. @returns the cancelled items */
  withdraw(flow: Flow): T[] {
    const own = this.#entries.filter((entry) => entry.flow === flow);
    this.#entries = this.#entries.filter((entry) => entry.flow !== flow);
    flow.waits = false;
    return own.map(({ item }) => item);
  }

  #begin(entry: Entry<T>): { flow: Flow; item: T } {
    const { flow, item } = entry;
    this.#entries.splice(this.#entries.indexOf(entry), 1);
    flow.waits = false;
    this.#running += 1;
    this.#virtualSeconds = Math.max(this.#virtualSeconds, flow.account.virtualSeconds - SLACK_SECONDS);
    return { flow, item };
  }

  /** Sorts due ticks: rooms within their share by deadline, light ones first; then the others, least served first. */
  #ordered(due: Entry<T>[]): Entry<T>[] {
    const beyond = ({ virtualSeconds }: Flow | Account): number =>
      Math.max(0, virtualSeconds - this.#virtualSeconds - SLACK_SECONDS);
    const long = ({ flow }: Entry<T>): number => Number(flow.isLong);
    return due.sort(
      (a, b) =>
        beyond(a.flow.account) - beyond(b.flow.account) ||
        beyond(a.flow) - beyond(b.flow) ||
        long(a) - long(b) ||
        a.dueMs - b.dueMs,
    );
  }

  /** Stall time that this room's tick lacks to begin now, s. */
  #missing(flow: Flow, nowMs: number): number {
    if (!flow.isLong) return 0;
    const stall = this.#stallOf(
      flow,
      nowMs,
      (other) => nowMs + 1000 * (other.fitsInto(flow.expectedSeconds) ? flow.pieceSeconds : flow.expectedSeconds),
    );
    return stall <= 0 ? 0 : Math.min(stall, MOST_STALL_SECONDS) - this.#stallSeconds;
  }

  /**
   * Longest stall of a light room if it cannot begin before `untilMs`, s. A room that has not requested its tick
   * although it was due before `fromMs` does not count: it waits elsewhere, has moved or has ended. Nor does a room
   * whose account was served more, because it would wait anyway.
   */
  #stallOf(flow: Flow, fromMs: number, untilMs: (other: Flow) => number): number {
    let stallMs = -Infinity;
    const most = flow.account.virtualSeconds + SLACK_SECONDS;
    for (const other of this.#flows) {
      if (other === flow || other.isLong || other.account.virtualSeconds > most) continue;
      if (!other.waits && fromMs > other.dueMs + other.periodMs) continue;
      stallMs = Math.max(stallMs, untilMs(other) - other.lostMs);
    }
    return Math.max(0, stallMs) / 1000;
  }

  #credit(nowMs: number): void {
    const elapsedMs = nowMs - (this.#countedMs ?? nowMs);
    this.#countedMs = nowMs;
    this.#stallSeconds = Math.min(MOST_STALL_SECONDS, this.#stallSeconds + (STALL_SHARE * elapsedMs) / 1000);
    for (const flow of this.#flows)
      if (!flow.waits && nowMs - flow.dueMs > GONE_MS + flow.periodMs && flow.dueMs < nowMs) {
        this.#flows.delete(flow);
        flow.account.flows.delete(flow);
      }
  }

  #forgive(): void {
    for (const { account } of this.#flows)
      this.#virtualSeconds = Math.max(this.#virtualSeconds, account.virtualSeconds);
  }
}
