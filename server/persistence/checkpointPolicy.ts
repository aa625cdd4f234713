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
/** A tick that takes its thread with it this often ends the room's way; once less, and its inputs are left out. */
const HOPELESS = 3;

/** The room cannot be stepped on: its threads are lost again and again. */
export class Hopeless extends Error {}

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
  #lossTick = -1;
  #losses = 0;

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

  /** A thread was lost in the tick after the last one. @throws Hopeless */
  afterLoss(): Rebuild {
    const { tick } = this.history;
    this.#losses = tick === this.#lossTick ? this.#losses + 1 : 1;
    this.#lossTick = tick;
    if (this.#losses >= HOPELESS && !this.#beginsAnew)
      throw new Hopeless(`tick ${tick + 1} has taken its thread with it ${this.#losses} times`);
    if (this.#losses >= HOPELESS) this.history.begin();
    return this.history.rebuild(this.history.tick);
  }

  /**
   * What `afterLoss` has led to: the same inputs may be tried again; they are left out; the scene has started again.
   */
  get lossOutcome(): "again" | "without inputs" | "anew" {
    return this.#losses >= HOPELESS ? "anew" : this.#losses === HOPELESS - 1 ? "without inputs" : "again";
  }
}
