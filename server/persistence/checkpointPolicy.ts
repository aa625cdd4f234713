/**
 * When a room's state is taken, and what the room is made from again when a thread was lost in the middle of a tick.
 */
import type { Input } from "../sim/types.ts";
import type { SavedState, StepResult } from "../workers/messages.ts";
import { type Checkpoint, type Rebuild, RoomHistory } from "./history.ts";

/** A state is taken at least this often while the room ticks, s: what an undo by seconds has to step again at most. */
const MOST_SECONDS = 2.5;
/**
 * And as soon as stepping again what came after it would take this long, s: a room is to be back within a second of the
 * loss of its thread.
 */
const MOST_REPLAY_SECONDS = 0.4;
/** But so that it costs no more than this share of the ticks' own time. */
const MOST_SHARE = 0.02;
/** A tick that has taken its thread with it this often is tried alone; once less, and its inputs are left out. */
const TRIED_ALONE = 3;
/** So is a room that has lost so many threads in so many seconds of its ticks. */
const MOST_LOSSES = 4;
const LOSS_SECONDS = 10;

/** The room cannot be stepped on: its threads are lost again and again, and the last one had no other room. */
export class Hopeless extends Error {}

/** The same inputs may be tried again; they are left out; the scene has started again. */
export type LossOutcome = "again" | "without inputs" | "anew";

export class CheckpointPolicy {
  readonly history: RoomHistory;
  readonly #tickHz: number;
  readonly #beginsAnew: boolean;
  /** Since the last state: s in ticks, and ticks. */
  #stepSeconds = 0;
  /** Since the room was opened here, s. */
  #allSeconds = 0;
  #ticks = 0;
  #saveSeconds = 0;
  #lastSavedMs = performance.now();
  /** Ticks that the losses of the last LOSS_SECONDS are charged to, and how often in a row the last one. */
  #lossTicks: number[] = [];
  #losses = 0;
  #alone = false;
  /** Of the losses that have not been taken. */
  #outcome: LossOutcome = "again";
  /** Since the scene began anew. */
  #ticksAnew = Infinity;

  /**
   * @param beginsAnew a tick that nothing can be made of starts the scene again, and forgets what was: for rooms that
   *   live in memory only
   */
  constructor(tickHz: number, keepSeconds: number, beginsAnew = false) {
    this.history = new RoomHistory(tickHz, keepSeconds);
    this.#tickHz = tickHz;
    this.#beginsAnew = beginsAnew;
  }

  /** Since the last state of a room that has moved since then, s; 0 where there is nothing to take. */
  get unsavedSeconds(): number {
    return this.#ticks > 0 ? (performance.now() - this.#lastSavedMs) / 1000 : 0;
  }

  /** Has it ticked since the last state? */
  get moved(): boolean {
    return this.#ticks > 0;
  }

  /** Is the state to be taken after the next tick? */
  get saveDue(): boolean {
    if (this.#stepSeconds * MOST_SHARE < this.#saveSeconds) return false;
    return this.#ticks >= MOST_SECONDS * this.#tickHz || this.#stepSeconds >= MOST_REPLAY_SECONDS;
  }

  /** A tick was stepped; if its state was taken, `saved` is to be told next. */
  stepped(inputs: Input[], { tick, stateHash, seconds, wholeSeconds }: StepResult): void {
    this.history.stepped(tick, inputs, stateHash);
    this.#ticks += 1;
    this.#ticksAnew += 1;
    if (this.#alone) this.#acquit();
    this.#stepSeconds += wholeSeconds - seconds.encode;
    this.#allSeconds += wholeSeconds - seconds.encode;
  }

  /**
   * A state was taken after the last tick. Resolves when it is packed, with null when the room went back behind it
   * meanwhile.
   */
  saved({ tick, state, stateHash, seconds }: SavedState): Promise<Checkpoint | null> {
    this.#ticks = this.#stepSeconds = 0;
    this.#saveSeconds = seconds;
    this.#lastSavedMs = performance.now();
    this.history.marked();
    return this.history.keep(tick, stateHash, state, this.#allSeconds);
  }

  /**
   * A thread was lost in the tick after the last one.
   * @param charged the thread executed this very room; else it is as if nothing had happened
   * @returns what the room is made from again, and whether its next tick is to be tried alone
   * @throws Hopeless: that failed, too
   */
  afterLoss(charged: boolean): Rebuild & { alone: boolean } {
    if (charged && this.#alone) this.#failAlone();
    else if (charged) this.#charge();
    return { ...this.history.rebuild(this.history.tick), alone: this.#alone };
  }

  /** What the losses since the last call have led to: one beside another does not take back what that has led to. */
  takeOutcome(): LossOutcome {
    const outcome = this.#outcome;
    this.#outcome = "again";
    return outcome;
  }

  /** The room's next tick runs on a thread of its own. */
  get triedAlone(): boolean {
    return this.#alone;
  }

  #charge(): void {
    const { tick } = this.history;
    this.#losses = tick === this.#lossTicks.at(-1) ? this.#losses + 1 : 1;
    this.#lossTicks = [...this.#lossTicks.filter((at) => tick - at < LOSS_SECONDS * this.#tickHz), tick];
    if (this.#losses >= TRIED_ALONE - 1) this.#outcome = "without inputs";
    this.#alone = this.#losses >= TRIED_ALONE || this.#lossTicks.length >= MOST_LOSSES;
  }

  #failAlone(): void {
    const { tick } = this.history;
    if (!this.#beginsAnew || this.#ticksAnew < LOSS_SECONDS * this.#tickHz)
      throw new Hopeless(`tick ${tick + 1} has taken its thread with it again and again, the last time alone on it`);
    this.#acquit();
    this.#ticksAnew = 0;
    this.#outcome = "anew";
    this.history.begin();
  }

  #acquit(): void {
    this.#alone = false;
    this.#losses = 0;
    this.#lossTicks = [];
  }
}
