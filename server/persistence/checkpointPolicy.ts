/** Decides when a room's state is saved, and from which state the room is rebuilt after a thread loss. */
import type { Input } from "../sim/types.ts";
import type { SavedState, StepResult } from "../workers/messages.ts";
import { type Checkpoint, type Rebuild, RoomHistory } from "./history.ts";
import { SaveTurns } from "./saveTurns.ts";

/** Interval between two states of a ticking room, s. */
const MOST_SECONDS = 2.5;
/**
 * A state is also saved once replaying the ticks after the last one would take this long, s: a room must be back within
 * a second after a thread loss.
 */
const MOST_REPLAY_SECONDS = 0.4;
/** A room does not wait for its turn beyond these times: an undo replays at most 5 s. */
const OVERDUE_SECONDS = 5;
const OVERDUE_REPLAY_SECONDS = 0.5;
/** Limit of the time for saving, as a share of the ticks' own time. */
const MOST_SHARE = 0.02;
/** Losses of one tick after which it runs alone on a thread; after one loss less, its inputs are left out. */
const TRIED_ALONE = 3;
/** A room with MOST_LOSSES thread losses within LOSS_SECONDS of its ticks runs alone, too. */
const MOST_LOSSES = 4;
const LOSS_SECONDS = 10;

/** The room cannot be stepped: it lost its threads repeatedly, the last time without any other room on the thread. */
export class RecoveryExhausted extends Error {}

/** again: retry with the same inputs. without inputs: leave them out. anew: the scene has started again. */
export type LossOutcome = "again" | "without inputs" | "anew";

export class CheckpointPolicy {
  readonly history: RoomHistory;
  readonly #tickHz: number;
  readonly #beginsAnew: boolean;
  readonly #turns: SaveTurns;
  /** Step time since the last state, s. */
  #stepSeconds = 0;
  /** Step time since the room was opened here, s. */
  #allSeconds = 0;
  #ticks = 0;
  #saveSeconds = 0;
  #lastSavedMs = performance.now();
  /** Ticks of the losses in the last LOSS_SECONDS, and the number of losses in a row of the last tick. */
  #lossTicks: number[] = [];
  #losses = 0;
  #alone = false;
  /** Outcome of the losses since the last `takeOutcome`. */
  #outcome: LossOutcome = "again";
  /** Ticks since the scene started again. */
  #ticksAnew = Infinity;

  /**
   * @param beginsAnew true for rooms that live in memory only: a tick that cannot be stepped starts the scene again and
   *   forgets the history
   * @param turns of all rooms of the process
   */
  constructor(tickHz: number, keepSeconds: number, beginsAnew = false, turns = new SaveTurns(1)) {
    this.history = new RoomHistory(tickHz, keepSeconds);
    this.#tickHz = tickHz;
    this.#beginsAnew = beginsAnew;
    this.#turns = turns;
  }

  /** Time since the last state of a room that has ticked since, s; 0: there is nothing to save. */
  get unsavedSeconds(): number {
    return this.#ticks > 0 ? (performance.now() - this.#lastSavedMs) / 1000 : 0;
  }

  /** Returns whether the room has ticked since the last state. */
  get moved(): boolean {
    return this.#ticks > 0;
  }

  /** Returns whether the state must be saved after the next tick, and then takes the room's turn. */
  takeTurn(): boolean {
    if (this.#stepSeconds * MOST_SHARE < this.#saveSeconds) return false;
    const [seconds, replaySeconds] = this.#turns.isFree
      ? [MOST_SECONDS, MOST_REPLAY_SECONDS]
      : [OVERDUE_SECONDS, OVERDUE_REPLAY_SECONDS];
    if (this.#ticks < seconds * this.#tickHz && this.#stepSeconds < replaySeconds) return false;
    this.#turns.take();
    return true;
  }

  /** Records a tick. If its state was saved, `saved` must be called next. */
  stepped(inputs: Input[], { tick, stateHash, seconds, wholeSeconds }: StepResult): void {
    this.history.stepped(tick, inputs, stateHash);
    this.#ticks += 1;
    this.#ticksAnew += 1;
    if (this.#alone) this.#acquit();
    this.#stepSeconds += wholeSeconds - seconds.encode;
    this.#allSeconds += wholeSeconds - seconds.encode;
  }

  /**
   * Adds the state after the last tick. Resolves when it is compressed; with null if the room went back before this
   * tick meanwhile.
   */
  saved({ tick, state, stateHash, seconds }: SavedState): Promise<Checkpoint | null> {
    this.#ticks = this.#stepSeconds = 0;
    this.#saveSeconds = seconds;
    this.#turns.took(seconds);
    this.#lastSavedMs = performance.now();
    this.history.marked();
    return this.history.keep(tick, stateHash, state, this.#allSeconds);
  }

  /**
   * Chooses how to rebuild the room after a thread was lost in the next tick.
   * @param charged the thread was executing this room; otherwise the loss does not count
   * @returns the state to rebuild from, and whether the next tick runs alone
   * @throws RecoveryExhausted: the tick already ran alone
   */
  afterLoss(charged: boolean): Rebuild & { alone: boolean } {
    if (charged && this.#alone) this.#failAlone();
    else if (charged) this.#charge();
    return { ...this.history.rebuild(this.history.tick), alone: this.#alone };
  }

  /** Returns the outcome of the losses since the last call. A later uncharged loss does not reset it. */
  takeOutcome(): LossOutcome {
    const outcome = this.#outcome;
    this.#outcome = "again";
    return outcome;
  }

  /** Returns whether the room's next tick runs on its own thread. */
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
      throw new RecoveryExhausted(`tick ${tick + 1} lost its thread repeatedly, the last time alone on it`);
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
