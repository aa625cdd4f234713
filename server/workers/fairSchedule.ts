/**
 * Which room's tick a thread runs next. Pure: it is told the time and never asks for it.
 *
 *   due and within its share   light rooms first, each group by deadline
 *   due and beyond its share   whoever has had least, by weight (start-time fair queueing: Goyal, Vin and Cheng 1996)
 *   not due yet                nobody: the thread sleeps
 *
 * Rooms of one address have one account, and a share together (rooms/weights.ts): first accounts are fair to each
 * other, then the rooms within each.
 *
 * A share is counted in virtual time: seconds of the thread over the weight. The schedule's own virtual
 * time follows the room that has had least of those that want a turn, so a room that asks for less than its share is
 * never behind, and one that asks for more falls behind alone. Nothing is saved up: a room that was idle starts at the
 * schedule's time, and when nobody is due all debts are forgotten.
 *
 * That is not enough where one tick takes longer than others can wait. A long tick is therefore preempted: between the
 * phases of its step, those that are due and have had less run in its middle: much shorter ones, and of accounts that
 * will have had less even after it any that take no longer than the long one. So whoever keeps to its share waits for a
 * piece of the ticks of whoever does not, never for their end. What cannot be preempted
 * (a piece: a phase, encoding, lists) may still cost light rooms ticks. What it costs them beyond what they catch up
 * with (rooms/clock.ts) is a stall; stalls get STALL_SHARE of the wall time, and a tick that would stall others for
 * longer waits until there is enough of it. It never waits for ever.
 */

/**
 * A room may be this far ahead of its share and still take its turn by deadline, s of the thread: rooms that tick more
 * often are not behind others while there is time for all.
 */
const SLACK_SECONDS = 0.004;
/** Ticks that take longer than this, s, may have to wait for light rooms; rooms whose ticks take less are light. */
const LONG_SECONDS = 0.004;
/**
 * Part of the wall time for which long ticks may stall light rooms, and what can be saved up of it, s: a tick that
 * stalls for longer than that waits until all of it is there.
 */
const STALL_SHARE = 0.04;
const MOST_STALL_SECONDS = 1;
/** A light room that is late catches up with so many ticks: only what is beyond them is lost to it. */
const CATCH_UP_TICKS = 2;
/** Of a tick's expected time: what takes no longer than this part of it, or is light, is much shorter. */
const MUCH_SHORTER = 1 / 4;
/**
 * Ticks that are not much shorter run in the middle of no more than so many: stacks stay shallow. Two, for a long tick
 * may have a shorter one of its own address in its middle.
 */
const DEEPEST = 2;
/**
 * And only rooms whose ticks have come to their end so often: the loss of the thread in one of them costs the room
 * around it a restore, though it is not charged with that.
 */
const PROVEN_TICKS = 60;
/**
 * But a room that is new does not wait for the ends of ticks that take this long, s: after so many ticks it is known
 * well enough for them, and its first ones take the place of one that is not much shorter, or one place more.
 */
const VERY_LONG_SECONDS = 0.05;
const KNOWN_TICKS = 3;
/** Nobody asks again sooner, ms: the last nanosecond of a stall is rounded away. */
const LEAST_WAIT_MS = 0.1;
/** A room that has asked for nothing for so long is not stalled by anybody, ms. */
const GONE_MS = 500;

/** Others cannot wait for the end of what takes so many seconds. */
export const isLong = (seconds: number): boolean => seconds > LONG_SECONDS;

/** Rooms that have a share together. */
export class Account {
  /** Seconds that they have had, over their weights, on the schedule's scale. */
  virtualSeconds = 0;
  /** Those that want turns here. */
  readonly flows = new Set<Flow>();

  get weight(): number {
    let sum = 0;
    for (const { weight } of this.flows) sum += weight;
    return sum;
  }
}

/** One room, as the schedule sees it. */
export class Flow {
  readonly periodMs: number;
  /** Among the rooms of all accounts. */
  weight = 1;
  account = new Account();
  /**
   * What its next tick is expected to take, s: the median of the last three, so that one that was interrupted by
   * something else says nothing.
   */
  expectedSeconds = 0;
  /** Seconds that it has had, over its weight, on the schedule's scale. */
  virtualSeconds = 0;
  /** When the last tick that it asked for is or was due. */
  dueMs = -Infinity;
  /** A tick is asked for and has not begun. */
  waits = false;
  /**
   * What of it is expected to be the longest without a point at which it can be preempted, s: a median, too; 0 until it
   * is known.
   */
  pieceSeconds = 0;
  /** That have come to their end. */
  #ticks: number;
  #lastSeconds: number[];
  #lastPieces = [0, 0, 0];

  /** @param ticks that have come to their end on other threads */
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
    this.#lastSeconds = [...this.#lastSeconds.slice(1), seconds];
    this.expectedSeconds = medianOfThree(this.#lastSeconds);
    this.#lastPieces = [...this.#lastPieces.slice(1), pieceSeconds];
    this.pieceSeconds = medianOfThree(this.#lastPieces);
  }

  /** Its ticks are such that others cannot wait for their end. */
  get isLong(): boolean {
    return isLong(this.expectedSeconds);
  }

  get #isProven(): boolean {
    return this.#ticks >= PROVEN_TICKS;
  }

  /** May its ticks run in the middle of one of so many seconds? */
  fitsInto(seconds: number): boolean {
    const ticks = seconds >= VERY_LONG_SECONDS ? KNOWN_TICKS : PROVEN_TICKS;
    return this.#ticks >= ticks && this.expectedSeconds <= Math.max(LONG_SECONDS, MUCH_SHORTER * seconds);
  }

  /** May its first ticks run in the middle of one of so many seconds, though nothing is known of them? */
  isNewFor(seconds: number): boolean {
    return this.#ticks < KNOWN_TICKS && seconds >= VERY_LONG_SECONDS;
  }

  /**
   * Has it had less than one that runs and has had so many seconds of its tick? Within an account rooms are compared.
   */
  hasHadLess(running: Flow, seconds: number): boolean {
    return this.account === running.account
      ? this.virtualSeconds <= running.virtualSeconds + seconds / running.weight + SLACK_SECONDS
      : this.account.virtualSeconds <= running.#reached(seconds);
  }

  /** Its account will have had less than that of the running one, even after it, and it takes no longer than that. */
  fitsByShare(running: Flow, seconds: number, wholeSeconds: number): boolean {
    if (this.account === running.account || !this.#isProven || this.expectedSeconds > wholeSeconds) return false;
    const { virtualSeconds, weight } = this.account;
    return virtualSeconds + this.expectedSeconds / weight <= running.#reached(seconds);
  }

  #reached(seconds: number): number {
    const { virtualSeconds, weight } = this.account;
    return virtualSeconds + seconds / Math.max(this.weight, weight) + SLACK_SECONDS;
  }

  /** Ticks that begin before then are late at most, and not lost. */
  get lostMs(): number {
    return this.dueMs + (this.waits ? 0 : this.periodMs) + (CATCH_UP_TICKS + 1) * this.periodMs;
  }
}

const medianOfThree = (three: readonly number[]): number => [...three].sort((a, b) => a - b)[1]!;

interface Entry<T> {
  flow: Flow;
  dueMs: number;
  item: T;
}

export class FairSchedule<T> {
  readonly #flows = new Set<Flow>();
  #entries: Entry<T>[] = [];
  #virtualSeconds = 0;
  /** For how long others may be stalled now, s; less than nothing after a tick that took longer than expected. */
  #stallSeconds = 0;
  #countedMs: number | null = null;
  /** Ticks that have begun and are not over: one, and those in its middle. */
  #running = 0;

  /** Does anybody's tick wait for the thread? */
  isDue(nowMs: number): boolean {
    return this.#entries.some(({ dueMs }) => dueMs <= nowMs);
  }

  /** A tick is to begin at `dueMs` or later. A room has at most one at a time. */
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
   * @returns the tick that begins now, which is the caller's from then on; or when to ask again, ms (Infinity: when
   *   something is submitted)
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
   * In the middle of a long tick: what need not wait for its end.
   * @param running its room; seconds it has had of this tick until now
   * @returns the tick that begins now, light ones and then the soonest due first; undefined if there is none
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
   * A tick that `next` or `preempting` gave is over.
   * @param seconds it took, without others in its middle; nowMs the time after it; pieceSeconds the longest that others
   *   could not begin
   */
  done(flow: Flow, seconds: number, nowMs: number, pieceSeconds: number = seconds): void {
    this.#running = Math.max(0, this.#running - 1);
    const stalled = seconds > LONG_SECONDS ? this.#stallOf(flow, nowMs - 1000 * seconds, () => nowMs) : 0;
    flow.took(seconds, pieceSeconds);
    this.#stallSeconds = Math.max(-MOST_STALL_SECONDS, this.#stallSeconds - stalled);
  }

  /** The room does not want its tick any more. @returns what it had asked for */
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

  /** Those within their share by deadline, light ones first; then the others by what they have had. */
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

  /** How much more stall there would have to be for this room's tick to begin now, s. */
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
   * By how much the light room that is hit hardest would lose ticks if it could not begin until then, s. One that has
   * not asked for a tick though it was due before `fromMs` waits for somebody else, has moved or has ended; and one
   * whose account has had more waits because of that.
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
